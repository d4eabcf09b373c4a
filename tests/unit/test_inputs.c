/* Which recordings are of one run, where no communicator tells: processes of a host that lived at the same time. Runs are
 * numbered by the time of their first process, whatever their files are called. */
#include "script.h"

#include "trace/inputs.h"

enum { STARTED, OVER }; /* of notes->ns */

static int64_t noted(int what)
{
    return __atomic_load_n(&notes->ns[what], __ATOMIC_ACQUIRE);
}

/* A communicator without a hash; lives until all have started. */
static void lives(void)
{
    void *ctx = init(0, NULL, 1, 0);
    __atomic_fetch_add(&notes->ns[STARTED], 1, __ATOMIC_ACQ_REL);
    while (!noted(OVER)) nap_us(1000);
    finalize(ctx);
}

static size_t run_of(const struct rs_inputs *in, pid_t pid)
{
    for (size_t i = 0; i < in->n; i++)
        if (in->sources[i].recording->header.pid == (uint32_t)pid) return in->sources[i].run;
    fail_msg("no recording of process %d", (int)pid);
    return 0;
}

static void test_hosts(void **unused)
{
    (void)unused;
    static const char *const hosts[] = {"z", "a", "z", "a"}; /* one after the other, all at the same time */
    enum { N = sizeof hosts / sizeof *hosts };
    pid_t pids[N];
    empty_folder();
    memset(notes, 0, sizeof *notes);
    for (int i = 0; i < N; i++) {
        setenv("RINGSCOPE_TEST_HOST", hosts[i], 1);
        pids[i] = play_begin(lives);
        while (noted(STARTED) <= i) nap_us(1000);
    }
    unsetenv("RINGSCOPE_TEST_HOST");
    __atomic_store_n(&notes->ns[OVER], 1, __ATOMIC_RELEASE);
    for (int i = 0; i < N; i++) play_end(pids[i], 0);

    struct rs_inputs in = {0};
    struct rs_err err = {0};
    char *paths[] = {folder};
    if (rs_inputs_open(&in, paths, 1, NULL, &err) != RS_OK) fail_msg("%s", err.msg);
    assert_int_equal(in.n, N);
    assert_int_equal(in.nruns, 2);
    for (int i = 0; i < N; i++) assert_int_equal(run_of(&in, pids[i]), i % 2);
    assert_int_equal(rs_inputs_choose(&in, 2, &err), RS_NOT_FOUND); /* they are 0 and 1 */
    assert_int_equal(rs_inputs_choose(&in, RS_RUN_NEWEST, &err), RS_OK);
    assert_int_equal(in.n, 2);
    assert_int_equal(run_of(&in, pids[3]), 1);
    rs_inputs_close(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hosts)};
    return cmocka_run_group_tests(tests, script_set_up, script_tear_down);
}

/* Clocks that were set, went back or changed their rate while recordings were made: said, and times stay right.
 *
 * Two recordings of real processes of one host are opened, and their clock samples changed as a wall clock that is set
 * would have changed them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "import/import.h"

#define HOUR_NS INT64_C(3600000000000)

static struct rs_inputs in;
static struct rs_model m;

static int set_up(void **state)
{
    (void)state;
    char first[] = "tests/data/h200-ddp/vm.1656.rsc", second[] = "tests/data/h200-ddp/vm.1657.rsc";
    char *paths[] = {first, second};
    struct rs_err err;
    assert_int_equal(rs_inputs_open(&in, paths, 2, NULL, &err), RS_OK);
    assert_int_equal(in.n, 2);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rs_model_free(&m);
    rs_inputs_close(&in);
    return 0;
}

static bool noted(const char *text)
{
    for (uint32_t i = 0; i < m.nnotes; i++)
        if (strstr(m.notes[i].text, text)) return true;
    return false;
}

static void import(void)
{
    struct rs_err err;
    for (size_t i = 0; i < in.n; i++) /* as rs_inputs_open() did, with the samples as they are now */
        rs_clock_prepare(&in.sources[i].clock, in.sources[i].recording, &in.sources[i].process);
    assert_int_equal(rs_import(&m, &in, NULL, &err), RS_OK);
    rs_model_link(&m);
}

static void test_as_it_was(void **state)
{
    (void)state;
    import();
    assert_int_equal(m.nnotes, 0);
    assert_int_equal(m.nhosts, 1);
}

/* Set back by an hour between the starts of the two processes. */
static void test_set_between(void **state)
{
    (void)state;
    struct rs_fact_clock *c = in.sources[1].process.clocks;
    for (size_t i = 0; i < in.sources[1].process.nclocks; i++) c[i].real.ns -= (uint64_t)HOUR_NS;
    import();
    assert_true(noted("was changed by -3600.000 s before it began"));
    int64_t apart = m.procs[1].first - m.procs[0].first; /* they were started together */
    assert_true(apart > -1000000000 && apart < 1000000000);
}

/* Set forward by an hour in the middle. */
static void test_set_within(void **state)
{
    (void)state;
    struct rs_fact_clock *c = in.sources[0].process.clocks;
    size_t n = in.sources[0].process.nclocks;
    for (size_t i = n / 2; i < n; i++) c[i].real.ns += (uint64_t)HOUR_NS;
    import();
    assert_true(noted("was changed by 3600.000 s while it ran"));
    assert_true(m.procs[0].last - m.procs[0].first < HOUR_NS / 60);
}

static void test_went_back(void **state)
{
    (void)state;
    struct rs_fact_clock *c = in.sources[0].process.clocks;
    c[2].raw.ns = c[1].raw.ns - 5000;
    import();
    assert_true(noted("went backwards between two samples"));
}

static void test_rate(void **state)
{
    (void)state;
    in.sources[0].process.clocks[3].rate_jump = 1;
    import();
    assert_true(noted("changed 1 time by more than 100 ppm"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_as_it_was), TEST(test_set_between), TEST(test_set_within), TEST(test_went_back), TEST(test_rate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

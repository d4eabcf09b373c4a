/* The recorder's settings: what is understood, what falls back to its default, and what is said of it. */
#include "format/settings.h"
#include "plugin/config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "nccl/abi.h"

static const char *const names[] = {"DIR", "EVENTS", "MEMORY", "LIMIT", "KEEP", "BUFFERS", "TEST_HOST", "TEST_CLOCK"};

static struct rs_config with(const char *name, const char *value)
{
    char full[64];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(full, sizeof full, "RINGSCOPE_%s", names[i]);
        unsetenv(full);
    }
    unsetenv("SLURM_JOB_ID");
    if (name) setenv(name, value, 1);
    struct rs_config c;
    memset(&c, 0x55, sizeof c);
    rs_config_read(&c);
    return c;
}

static void test_masks(void **state)
{
    (void)state;
    int ops = 0, net = 0, all = 0, mask;
    assert_true(rs_setting_mask("ops", &ops) && rs_setting_mask("net", &net) && rs_setting_mask("all", &all));
    assert_int_equal(net & ~ops, RS_PROXY_OP | RS_PROXY_STEP | RS_NET_PLUGIN);
    assert_int_equal(all & ~net, RS_PROXY_CTRL);
    assert_int_equal(all, (1 << RS_NCCL_TYPE_BITS) - 1);
    assert_true(rs_setting_mask("Off", &mask) && mask == 0);
    assert_true(rs_setting_mask("0x10", &mask) && mask == 16);
    assert_true(rs_setting_mask("10", &mask) && mask == 10);
    mask = 77;
    const char *const bad[] = {"",   "x",  "0x",  "1 2",        "ops,net",
                               "-1", " 5", "10k", "4294967296", "99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(rs_setting_mask(bad[i], &mask));
    assert_int_equal(mask, 77);
    assert_int_equal(with(NULL, NULL).mask, net);
}

static void test_bytes(void **state)
{
    (void)state;
    const size_t usual = (size_t)64 << 20;
    assert_int_equal(with(NULL, NULL).memory, usual);
    assert_string_equal(with(NULL, NULL).bad, "");
    const struct {
        const char *text;
        size_t bytes; /* 0: not understood */
        bool bad; /* not as it should be: the nearest bound, or the default */
    } cases[] = {{"4M", 4 << 20, false},
                 {"4m", 4 << 20, false},
                 {"4MiB", 4 << 20, false},
                 {"4194304", 4 << 20, false},
                 {"4194304B", 4 << 20, false},
                 {"1G", 1 << 30, false},
                 {"1023M", 1023u << 20, false},
                 {"8192k", 8 << 20, false},
                 {"3M", 4 << 20, true},
                 {"1025M", 1 << 30, true},
                 {"-4M", 0, true},
                 {"4Mx", 0, true},
                 {"M", 0, true},
                 {"4 M", 0, true},
                 {"16777216T", 0, true},
                 {"18446744073709551616", 0, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct rs_config c = with("RINGSCOPE_MEMORY", cases[i].text);
        assert_int_equal(c.memory, cases[i].bytes ? cases[i].bytes : usual);
        assert_string_equal(c.bad, cases[i].bad ? "RINGSCOPE_MEMORY" : "");
    }
    assert_int_equal(with("RINGSCOPE_LIMIT", "3G").limit, (uint64_t)3 << 30);
    assert_int_equal(with("RINGSCOPE_LIMIT", "0").limit, 0);
    assert_string_equal(with("RINGSCOPE_LIMIT", "1000").bad, "RINGSCOPE_LIMIT");
    assert_int_equal(with("RINGSCOPE_LIMIT", "1000").limit, 1 << 20); /* never none at all */
    /* The flight recorder needs a size. */
    struct rs_config c = with("RINGSCOPE_KEEP", "last");
    assert_true(c.keep_last && c.limit > 0);
    assert_true(!with("RINGSCOPE_KEEP", "first").keep_last && !with("RINGSCOPE_KEEP", "first").bad[0]);
    assert_string_equal(with("RINGSCOPE_KEEP", "newest").bad, "RINGSCOPE_KEEP");
}

static void test_places(void **state)
{
    (void)state;
    char here[2048], want[4096];
    assert_non_null(getcwd(here, sizeof here));
    snprintf(want, sizeof want, "%s/ringscope-run", here);
    assert_string_equal(with(NULL, NULL).dir, want);
    assert_string_equal(with("RINGSCOPE_DIR", "").dir, want);
    snprintf(want, sizeof want, "%s/ringscope-123", here);
    assert_string_equal(with("SLURM_JOB_ID", "123").dir, want);
    assert_string_equal(with("RINGSCOPE_DIR", "/a/b").dir, "/a/b");
    snprintf(want, sizeof want, "%s/x", here);
    assert_string_equal(with("RINGSCOPE_DIR", "x").dir, want);
    /* Too long: nowhere, and no other folder in its place. */
    char name[5000];
    for (size_t n = 2000; n < sizeof name; n += 10) {
        memset(name, 'x', n);
        name[0] = '/';
        name[n] = 0;
        struct rs_config c = with("RINGSCOPE_DIR", name);
        bool fits = n < sizeof c.dir;
        assert_string_equal(c.dir, fits ? name : "");
        assert_string_equal(c.bad, fits ? "" : "RINGSCOPE_DIR (too long)");
        assert_true(with("RINGSCOPE_DIR", name + 1).dir[0] == (n + strlen(here) < sizeof c.dir ? '/' : 0));
    }
    assert_int_equal(with(NULL, NULL).buffers, RS_BUFFERS_SHM);
    assert_int_equal(with("RINGSCOPE_BUFFERS", "Disk").buffers, RS_BUFFERS_DISK);
    assert_int_equal(with("RINGSCOPE_BUFFERS", "memory").buffers, RS_BUFFERS_MEMORY);
    assert_string_equal(with("RINGSCOPE_BUFFERS", "nfs").bad, "RINGSCOPE_BUFFERS");
}

static void test_for_tests(void **state)
{
    (void)state;
    assert_string_equal(with("RINGSCOPE_TEST_HOST", "far").test_host, "far");
    struct rs_config c = with("RINGSCOPE_TEST_CLOCK", "-5000000000:-12.5");
    assert_true(c.test_clock && c.test_offset_ns == -5000000000 && c.test_ppm == -12.5);
    assert_false(with(NULL, NULL).test_clock);
    assert_string_equal(with("RINGSCOPE_TEST_CLOCK", "5").bad, "RINGSCOPE_TEST_CLOCK");
    assert_false(with("RINGSCOPE_TEST_CLOCK", "5").test_clock);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_masks), cmocka_unit_test(test_bytes),
                                       cmocka_unit_test(test_places), cmocka_unit_test(test_for_tests)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Steps in sequences of symbols that are known: one letter an operation.
 *
 * Small letters are sizes of one collective (buckets); capitals are functions of their own on the same communicator, those
 * from T on another one; digits are scalars. A blank is a long pause before the next operation. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/repeats.h"

static struct rs_item *items;
static struct rs_repeats found;
static uint32_t n;

static int forget(void **state)
{
    (void)state;
    rs_repeats_free(&found);
    free(items);
    items = NULL;
    n = 0;
    return 0;
}

static uint32_t find(const char *text)
{
    int64_t t = 0, pause = 10000;
    uint32_t symbols[128] = {0}, nsymbols = 0; /* from 1 */
    forget(NULL);
    items = calloc(strlen(text) + 1, sizeof *items);
    assert_non_null(items);
    for (; *text; text++) {
        char c = *text;
        if (c == ' ') {
            pause = 1000000;
            continue;
        }
        struct rs_item *x = &items[n];
        if (!symbols[(int)c]) symbols[(int)c] = ++nsymbols;
        *x = (struct rs_item){.op = n, .symbol = symbols[(int)c] - 1, .pause = n ? pause : 0, .bytes = 1 << 20};
        x->kind = c >= 'a' && c <= 'z' ? 0 : (uint32_t)c;
        x->class = c >= 'T' && c <= 'Z';
        x->scalar = c <= '9';
        if (c == 'w') x->bytes = 6 << 20; /* as much as six others */
        x->first = t + pause;
        x->over = t = x->first + 50000;
        pause = 10000;
        n++;
    }
    assert_int_equal(rs_repeats_find(&found, items, n, NULL), RS_OK);
    return found.n;
}

/* `times` times `text`, between `before` and `behind`. */
static uint32_t find_times(const char *before, const char *text, int times, const char *behind)
{
    size_t length = strlen(text);
    char *all = calloc(strlen(before) + (size_t)times * length + strlen(behind) + 1, 1), *at = all;
    assert_non_null(all);
    at = stpcpy(at, before);
    for (int i = 0; i < times; i++) at = stpcpy(at, text);
    stpcpy(at, behind);
    uint32_t count = find(all);
    free(all);
    return count;
}

/* A unit, begins and ends behind what comes once. */
static void test_units(void **state)
{
    (void)state;
    static const char *const units[] = {
        "AaTTUU12", /* tensor- and data-parallel, two of all ranks */
        "ABABABTTTT1", /* micro-batches */
        "GGGGRGRGRG", /* FSDP: gathered twice */
        "AGGGGGGRGRGRGRGRGRS12", /* ...with a root of another size, a norm and a loss */
        "AGGGGGGRRRRRRS1", /* ...gathered once */
        "AGGGGRTGRTGRTGRTSU1", /* ...in replicas, which add their gradients */
        "XXXXXXXXXXXXXXXXabc", /* experts: all-to-alls of every layer, there and back, then gradients */
        "XXGXXGXXRXXRab1", /* ...with FSDP */
        "SRSRSRSRQPQPQPQP", /* a pipeline without any collective: no symbol comes once */
        "ABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABABTU",
        " abcd",
        " hijhij1",
        " aaaa",
        " abcdabcdabc1",
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        for (int times = 3; times <= 50; times++) {
            assert_int_equal(find_times("", units[i], times, ""), times);
            assert_int_equal(find_times("LMN", units[i], times, "3"), times);
            uint32_t length = (uint32_t)strlen(units[i]) - (*units[i] == ' ');
            assert_int_equal(found.firsts[0], 3);
            assert_int_equal(found.firsts[times], 3 + (uint32_t)times * length);
            for (int k = 0; k < times; k++) assert_int_equal(found.firsts[k + 1] - found.firsts[k], length);
        }
}

/* Something between two steps, a step that differs, a scalar with some steps only, a function now and then. */
static void test_disturbed(void **state)
{
    (void)state;
    assert_int_equal(find("AAVV1AAVV1AAVV13AAVV1AAVV1AAVV1AAVV1AAVV13"), 8);
    assert_int_equal(find("AAVV1AAVVV1AAVV1AAVV1AVV1AAVV1AAVV1AAVV1AAVV1"), 9);
    assert_int_equal(find("AAVVAAVVAAVVAAVVAAVV1AAVVAAVVAAVVAAVVAAVV1AAVVAAVVAAVVAAVVAAVV1"), 15);
    assert_int_equal(find(" abcd abcd abcd abcd abcd1 abcd abcd abcd abcd abcd1 abcd abcd abcd abcd abcd1"), 15);
    assert_int_equal(find("BSRAASRAASRAASRAABSRAASRAASRAASRAABSRAASRAASRAASRAA"), 12);
    assert_int_equal(find_times("", "SRSRTT", 20, "SRSRTTSRSR"), 22); /* the end of a recording: two thirds */
    assert_int_equal(find_times("", "SRSRTT", 20, "SR"), 20);
}

/* PyTorch's first step moves the same bytes in one bucket, and only then makes the others. */
static void test_first_step(void **state)
{
    (void)state;
    assert_int_equal(find("GBw1BB hijhij1 hijhij1 hijhij1 hijhij1 hijhij1kk"), 6);
    assert_int_equal(found.firsts[0], 2);
    assert_int_equal(found.firsts[1], 6);
    assert_int_equal(find("Gw hij hij hij hij hij"), 6);
}

/* One group call is of one step, whatever repeats in it. */
static void test_groups(void **state)
{
    (void)state;
    find(" abc abc abcabc abc abc abcabc abc abc abcabc");
    for (uint32_t i = 0; i < n; i++) items[i].grouped = i % 12 != 0 && i % 12 != 3 && i % 12 != 6;
    rs_repeats_free(&found);
    assert_int_equal(rs_repeats_find(&found, items, n, NULL), RS_OK);
    assert_int_equal(found.n, 9);
}

static void test_two(void **state)
{
    (void)state;
    assert_int_equal(find("LTTTABTTTAB"), 2);
    assert_int_equal(found.firsts[1], 6);
    assert_int_equal(find("abcdabcd"), 0); /* or the layers of one */
    assert_int_equal(find("LMNOPTABTAB"), 0); /* there is too much else */
}

/* One step, however much repeats in it; and none. */
static void test_none(void **state)
{
    (void)state;
    static const char *const one[] = {
        "",
        "a",
        "aaaa",
        "aaaaaaa",
        "hijhijhijhijhijhij1",
        "AaTTUU12",
        "ABABABTTTT1",
        "GGGGGRGRGRGR",
        "GGGGGGGGRGRGRGRGRGRGR",
        "SSSSSSSSSQQQQQQQQQA1",
        "SRSRSRSRQPQPQPQP",
        "abcdabcdabc1",
        "aaaaaaaaaaaaaaaaab1aaaa1aaaaaaaaa",
        "bccccdbccccdbccccdEEEEEEEE1EEEEEEEE1EEEEEEEE1GGHGGGGGGGGHGGGGGGGGHGGGGGGijkijkijkijklTmlTmlTm",
    };
    for (size_t i = 0; i < sizeof one / sizeof *one; i++) assert_int_equal(find(one[i]), 0);
    uint64_t x = 88172645463325252;
    for (int seed = 0; seed < 500; seed++) {
        char text[301] = "";
        uint64_t letters = 2 + (uint64_t)seed % 7, length = 20 + (uint64_t)seed % 280;
        for (uint64_t i = 0; i < length; i++) {
            x ^= x << 13, x ^= x >> 7, x ^= x << 17;
            text[i] = "AbTcUdVe"[x % letters];
        }
        assert_int_equal(find(text), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_units, forget),      cmocka_unit_test_teardown(test_disturbed, forget),
        cmocka_unit_test_teardown(test_first_step, forget), cmocka_unit_test_teardown(test_groups, forget),
        cmocka_unit_test_teardown(test_two, forget),        cmocka_unit_test_teardown(test_none, forget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Texts with ids: base/texts.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/mix.h"
#include "base/texts.h"

static uint32_t id_of(struct rs_texts *t, const char *text, size_t n)
{
    uint32_t id;
    rs_texts_id(t, text, n, &id);
    return id;
}

static void test_each_once(void **state)
{
    (void)state;
    struct rs_texts t = {0};
    assert_string_equal(rs_texts_at(&t, 0), ""); /* nothing is in yet */
    assert_int_equal(id_of(&t, "AllReduce", 9), 1);
    assert_int_equal(id_of(&t, "", 0), 0);
    assert_int_equal(id_of(&t, "AllReduceMin", 9), 1); /* only n bytes count */
    assert_int_equal(id_of(&t, "AllReduceMin", 12), 2);
    assert_int_equal(id_of(&t, "AllR", 4), 3);
    assert_int_equal(id_of(&t, "AllReduce", 9), 1);
    assert_string_equal(rs_texts_at(&t, 1), "AllReduce");
    assert_string_equal(rs_texts_at(&t, 3), "AllR");
    assert_string_equal(rs_texts_at(&t, 4), "");
    rs_texts_free(&t);
    assert_int_equal(t.n, 0);
}

/* Texts that differ in one byte, wherever it is, in blocks of the hash and behind them. */
static void test_long_ones(void **state)
{
    (void)state;
    enum { LONG = 77 };
    struct rs_texts t = {0};
    char text[LONG];
    for (uint32_t i = 0; i < LONG; i++) {
        memset(text, 'k', sizeof text);
        text[i] = 0; /* bytes of any value */
        assert_int_equal(id_of(&t, text, sizeof text), i + 1);
    }
    assert_int_equal(id_of(&t, text, sizeof text), LONG);
    rs_texts_free(&t);
}

/* A key that another text has already: the next one is taken, and both are found again. */
static void test_same_hash(void **state)
{
    (void)state;
    struct rs_texts t = {0};
    assert_int_equal(id_of(&t, "first", 5), 1);
    rs_map_put(&t.ids, rs_mix_bytes(0, "second", 6), 1);
    assert_int_equal(id_of(&t, "second", 6), 2);
    assert_int_equal(id_of(&t, "second", 6), 2);
    assert_int_equal(id_of(&t, "first", 5), 1);
    rs_texts_free(&t);
}

static void test_ids_of_16_bits(void **state)
{
    (void)state;
    struct rs_texts t = {0};
    char text[16];
    uint16_t id;
    for (unsigned i = 1; i < 70000; i++) {
        int n = snprintf(text, sizeof text, "%u", i);
        rs_texts_small_id(&t, text, (size_t)n, &id);
        assert_string_equal(rs_texts_at(&t, id), i < RS_TEXTS_SMALL - 1 ? text : "?");
    }
    assert_int_equal(t.n, RS_TEXTS_SMALL);
    rs_texts_small_id(&t, "17", 2, &id); /* what is known stays known */
    assert_int_equal(id, 17);
    rs_texts_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_once),
        cmocka_unit_test(test_long_ones),
        cmocka_unit_test(test_same_hash),
        cmocka_unit_test(test_ids_of_16_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

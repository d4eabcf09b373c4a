/* The pickle reader against bytes of every protocol that hold the same value, against bytes cut at every place, and
 * against what would have Python run something. */
#include "foreign/flight/pickle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

struct bytes {
    const char *data;
    size_t n;
};
#define BYTES(text)                                                                                                    \
    {                                                                                                                  \
        text, sizeof text - 1                                                                                          \
    }

/* {'a': [1, -2, 300, 70000, 2**40, -2**40], 't': (1, 'x', None, True, False), 'f': 1.5, 's': 'n\nq', 'e': {}} */
#define SHORT_INTS "K\x01J\xfe\xff\xff\xffM,\x01Jp\x11\x01\x00"
#define LONGS "\x8a\x06\x00\x00\x00\x00\x00\x01\x8a\x06\x00\x00\x00\x00\x00\xff"
#define HALF "G?\xf8\x00\x00\x00\x00\x00\x00"
#define TEXT(c) "X\x01\x00\x00\x00" c
#define BODY_2                                                                                                         \
    "}q\x00(" TEXT("a") "q\x01]q\x02(" SHORT_INTS LONGS                                                                \
                        "e" TEXT("t") "q\x03(K\x01" TEXT("x") "q\x04N\x88\x89tq\x05" TEXT("f") "q\x06" HALF TEXT(      \
                            "s") "q\x07X\x03\x00\x00\x00n\nqq\x08" TEXT("e") "q\t}q\nu."
#define BODY_4                                                                                                         \
    "}\x94(\x8c\x01"                                                                                                   \
    "a\x94]\x94(" SHORT_INTS LONGS "e\x8c\x01t\x94(K\x01\x8c\x01x\x94N\x88\x89t\x94\x8c\x01"                           \
    "f\x94" HALF "\x8c\x01s\x94\x8c\x03n\nq\x94\x8c\x01"                                                               \
    "e\x94}\x94u."

static const struct bytes protocols[] = {
    BYTES("(dp0\nVa\np1\n(lp2\nI1\naI-2\naI300\naI70000\naL1099511627776L\naL-1099511627776L\nasVt\np3\n("
          "I1\nVx\np4\nNI01\nI00\n"
          "tp5\nsVf\np6\nF1.5\nsVs\np7\nVn\\u000aq\np8\nsVe\np9\n(dp10\ns."),
    BYTES("}q\x00(" TEXT(
        "a") "q\x01]q\x02(" SHORT_INTS
             "L1099511627776L\nL-1099511627776L\ne" TEXT("t") "q\x03(K\x01" TEXT("x") "q\x04NI01\nI00\ntq\x05" TEXT(
                 "f") "q\x06" HALF TEXT("s") "q\x07X\x03\x00\x00\x00n\nqq\x08" TEXT("e") "q\t}q\nu."),
    BYTES("\x80\x02" BODY_2),
    BYTES("\x80\x03" BODY_2),
    BYTES("\x80\x04\x95\x58\x00\x00\x00\x00\x00\x00\x00" BODY_4),
    BYTES("\x80\x05\x95\x58\x00\x00\x00\x00\x00\x00\x00" BODY_4),
};

static void test_protocols(void **state)
{
    (void)state;
    static const int64_t ints[] = {1, -2, 300, 70000, INT64_C(1) << 40, -(INT64_C(1) << 40)};
    for (size_t p = 0; p < 6; p++) {
        struct rs_arena arena = {0};
        const struct rs_value *root, *v;
        struct rs_err err = {0};
        assert_true(rs_pickle_is(protocols[p].data, protocols[p].n));
        enum rs_status status = rs_pickle_read(&arena, protocols[p].data, protocols[p].n, "file", &root, &err);
        assert_string_equal(err.msg, "");
        assert_int_equal(status, RS_OK);
        assert_int_equal(root->kind, RS_V_DICT);
        assert_int_equal(root->n, 10);
        v = rs_value_get(root, "a");
        assert_int_equal(v->kind, RS_V_LIST);
        assert_int_equal(v->n, 6);
        for (uint32_t i = 0; i < 6; i++) {
            assert_int_equal(v->items[i]->kind, RS_V_INT);
            assert_true(v->items[i]->i == ints[i]);
        }
        v = rs_value_get(root, "t");
        assert_int_equal(v->kind, RS_V_TUPLE);
        assert_int_equal(v->n, 5);
        assert_true(rs_value_is(v->items[1], "x"));
        assert_int_equal(v->items[2]->kind, RS_V_NONE);
        assert_int_equal(v->items[3]->kind, RS_V_BOOL);
        assert_int_equal(v->items[3]->i, 1);
        assert_int_equal(v->items[4]->kind, RS_V_BOOL);
        assert_int_equal(v->items[4]->i, 0);
        v = rs_value_get(root, "f");
        assert_int_equal(v->kind, RS_V_DOUBLE);
        assert_true(v->d == 1.5);
        assert_true(rs_value_is(rs_value_get(root, "s"), "n\nq"));
        v = rs_value_get(root, "e");
        assert_int_equal(v->kind, RS_V_DICT);
        assert_int_equal(v->n, 0);
        assert_null(rs_value_get(root, "z"));
        rs_arena_free(&arena);
    }
}

/* Nothing is read that is not there, and the message says where it ended. */
static void test_cut(void **state)
{
    (void)state;
    for (size_t p = 0; p < 6; p++)
        for (size_t n = 0; n < protocols[p].n; n++) {
            struct rs_arena arena = {0};
            const struct rs_value *root;
            struct rs_err err = {0};
            assert_int_equal(rs_pickle_read(&arena, protocols[p].data, n, "file", &root, &err), RS_BAD_INPUT);
            assert_non_null(strstr(err.msg, "file: at byte "));
            rs_arena_free(&arena);
        }
}

/* A dict and a list that were open when the bytes ended: both are kept, marked, with what was whole. */
static void test_salvage(void **state)
{
    (void)state;
    static const char cut[] = "\x80\x02}(X\x01\x00\x00\x00vK\x07X\x01\x00\x00\x00l](K\x01K\x02}(X\x01\x00\x00\x00kK";
    struct rs_arena arena = {0};
    const struct rs_value *root, *list;
    assert_int_equal(rs_pickle_read(&arena, cut, sizeof cut - 1, "file", &root, NULL), RS_BAD_INPUT);
    assert_true(root->cut);
    assert_int_equal(rs_value_i64(rs_value_get(root, "v"), 0), 7);
    list = rs_value_get(root, "l");
    assert_true(list->cut);
    assert_int_equal(list->n, 3);
    assert_int_equal(list->items[1]->i, 2);
    assert_true(list->items[2]->cut);
    assert_int_equal(list->items[2]->n, 0);
    rs_arena_free(&arena);
}

/* os.system("x") is a tag with a text; an old dump's list of integers gives its list. */
static void test_tags(void **state)
{
    (void)state;
    static const char danger[] = "cos\nsystem\n(S'x'\ntR.",
                      old[] = "\x80\x02"
                              "ctorch.jit._pickle\nbuild_intlist\n](K\x01K\x02"
                              "e\x85R.",
                      ordered[] = "\x80\x04\x8c\x0b"
                                  "collections\x8c\x0bOrderedDict\x93)R(\x8c\x01kK\x05u.";
    struct rs_arena arena = {0};
    const struct rs_value *v;
    assert_int_equal(rs_pickle_read(&arena, danger, sizeof danger - 1, "file", &v, NULL), RS_OK);
    assert_int_equal(v->kind, RS_V_TAG);
    assert_string_equal(v->name, "os system");
    assert_int_equal(v->n, 1);
    assert_true(rs_value_is(v->items[0], "x"));
    assert_ptr_equal(rs_value_plain(v), v);
    assert_int_equal(rs_pickle_read(&arena, old, sizeof old - 1, "file", &v, NULL), RS_OK);
    assert_string_equal(v->name, "torch.jit._pickle build_intlist");
    v = rs_value_plain(v);
    assert_int_equal(v->kind, RS_V_LIST);
    assert_int_equal(v->items[1]->i, 2);
    assert_int_equal(rs_pickle_read(&arena, ordered, sizeof ordered - 1, "file", &v, NULL), RS_OK);
    assert_int_equal(rs_value_i64(rs_value_get(rs_value_plain(v), "k"), 0), 5);
    rs_arena_free(&arena);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct bytes bad[] = {
        BYTES("."),
        BYTES("(."),
        BYTES("e."),
        BYTES("]u."),
        BYTES("](K\x01u."),
        BYTES("}(K\x01u."),
        BYTES("K\x01"
              "a."),
        BYTES("h\x05."),
        BYTES("q\x00."),
        BYTES("R."),
        BYTES("NR."),
        BYTES("\x80\x09N."),
        BYTES("X\xff\xff\xff\xff."),
        BYTES("\x8d\xff\xff\xff\xff\xff\xff\xff\xff."),
        BYTES("Pid\n."),
        BYTES("\x82\x01."),
        BYTES("\x97."),
        BYTES("(0."),
        BYTES("]((e."),
        BYTES("S'x\n."),
        BYTES("Ix\n."),
        BYTES("(o."),
        BYTES(""),
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct rs_arena arena = {0};
        const struct rs_value *root;
        struct rs_err err = {0};
        assert_int_equal(rs_pickle_read(&arena, bad[i].data, bad[i].n, "file", &root, &err), RS_BAD_INPUT);
        assert_non_null(strstr(err.msg, "file: at byte "));
        rs_arena_free(&arena);
    }
    char marks[2000];
    struct rs_arena arena = {0};
    const struct rs_value *root;
    struct rs_err err = {0};
    memset(marks, '(', sizeof marks);
    assert_int_equal(rs_pickle_read(&arena, marks, sizeof marks, "file", &root, &err), RS_BAD_INPUT);
    assert_non_null(strstr(err.msg, "at byte 1000: pickle: nested"));
    rs_arena_free(&arena);
    assert_false(rs_pickle_is("{\"a\"", 4));
    assert_false(rs_pickle_is("[\n", 2));
    assert_false(rs_pickle_is("", 0));
}

/* Integers at the edges of 64 bits, and a list within itself. */
static void test_edges(void **state)
{
    (void)state;
    static const char least[] = "\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80.",
                      most[] = "\x8a\x09\xff\xff\xff\xff\xff\xff\xff\xff\x00.", zero[] = "\x8a\x00.",
                      within[] = "]q\x00h\x00"
                                 "a.";
    struct rs_arena arena = {0};
    const struct rs_value *v;
    assert_int_equal(rs_pickle_read(&arena, least, sizeof least - 1, "file", &v, NULL), RS_OK);
    assert_true(v->i == INT64_MIN);
    assert_int_equal(rs_pickle_read(&arena, most, sizeof most - 1, "file", &v, NULL), RS_OK);
    assert_int_equal(v->kind, RS_V_DOUBLE);
    assert_true(v->d == 18446744073709551616.0);
    assert_int_equal(rs_pickle_read(&arena, zero, sizeof zero - 1, "file", &v, NULL), RS_OK);
    assert_true(v->kind == RS_V_INT && v->i == 0);
    assert_int_equal(rs_pickle_read(&arena, within, sizeof within - 1, "file", &v, NULL), RS_OK);
    assert_ptr_equal(v->items[0], v);
    rs_arena_free(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_protocols), cmocka_unit_test(test_cut),     cmocka_unit_test(test_salvage),
        cmocka_unit_test(test_tags),      cmocka_unit_test(test_refused), cmocka_unit_test(test_edges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

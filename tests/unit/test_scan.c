/* The scanner: JSON of all kinds, what tools write in its place, tokens across blocks. The truth is
 * written out: each text with its tokens in a short notation. */
#include "base/scan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "packed.h"

/* All tokens: { [ ) for brackets, k: s: n: w: and the text in <> for the rest, ! at the end when it was cut. */
static void tokens(struct rs_scan *s, char *to, size_t bytes)
{
    static const char *const names[] = {"", "{", "[", ")", "k", "s", "n", "w"};
    size_t n = 0;
    enum rs_token t;
    while ((t = rs_scan_next(s)) != RS_T_END && n + s->n + 8 < bytes) {
        n += (size_t)sprintf(to + n, "%s", names[t]);
        if (t >= RS_T_KEY) n += (size_t)sprintf(to + n, "<%.*s>", (int)s->n, s->text);
    }
    sprintf(to + n, "%s", s->cut ? "!" : "");
    assert_int_equal(s->depth, 0);
    assert_int_equal(rs_scan_next(s), RS_T_END);
}

/* Over memory (an exact copy, so that a sanitizer sees a byte too far), and packed in blocks of any size. */
static void expect_n(const char *text, size_t len, const char *want)
{
    static char got[1 << 16];
    struct rs_scan s;
    char *copy = malloc(len + !len);
    memcpy(copy, text, len);
    rs_scan_memory(&s, copy, len);
    tokens(&s, got, sizeof got);
    if (strcmp(got, want) != 0) fail_msg("%s\n got %s\nwant %s", text, got, want);
    rs_scan_free(&s);
    free(copy);
    for (int packing = RS_GZIP; packing <= RS_ZSTD; packing++) {
        if (!can_pack(packing)) continue;
        struct packed p = {0};
        pack(&p, packing, text, len);
        for (size_t block = 1; block < 9; block++) {
            struct rs_bytes *b;
            assert_int_equal(rs_bytes_memory(&b, "it", p.data, p.n, block, NULL), RS_OK);
            rs_scan_bytes(&s, b);
            tokens(&s, got, sizeof got);
            if (strcmp(got, want) != 0) fail_msg("%s\nin blocks of %zu: %s\nwant %s", text, block, got, want);
            assert_int_equal(s.offset, len);
            rs_scan_free(&s);
            rs_bytes_close(b);
        }
        free(p.data);
    }
}

static void expect(const char *text, const char *want)
{
    expect_n(text, strlen(text), want);
}

static void test_json(void **state)
{
    (void)state;
    expect("", "");
    expect(" \n\t ", "");
    expect("{}", "{)");
    expect("[]", "[)");
    expect("7", "n<7>");
    expect("\"\"", "s<>");
    expect("{\"a\":1,\"b\":[true,false,null],\"c\":{\"d\":-1.5e-3}}",
           "{k<a>n<1>k<b>[w<true>w<false>w<null>)k<c>{k<d>n<-1.5e-3>))");
    expect("[ \"x\" , [ ] , { } , \"y\" ]", "[s<x>[){)s<y>)");
    expect("{\"a\": \"b\", \"c\": \"\"}\n{\"d\": \"e\"}\n", "{k<a>s<b>k<c>s<>){k<d>s<e>)");
    expect("[\"a\\\"b\", \"c\\\\\", \"\\\\\\\"\", \"\\u00e4\"]", "[s<a\\\"b>s<c\\\\>s<\\\\\\\">s<\\u00e4>)");
    expect("[\"{\", \"]\", \"a, b: c\", \"\\\"}\"]", "[s<{>s<]>s<a, b: c>s<\\\"}>)");
    expect("{\"a long key that is more than one word\": \"and a value just as long as that is\"}",
           "{k<a long key that is more than one word>s<and a value just as long as that is>)");
}

static void test_tolerance(void **state)
{
    (void)state;
    expect("[1,2,]", "[n<1>n<2>)");
    expect("{\"a\":1,}", "{k<a>n<1>)");
    expect("[1 2\n3]", "[n<1>n<2>n<3>)");
    expect("{\"a\": \"x\"\n\"b\": 2}", "{k<a>s<x>k<b>n<2>)");
    expect("{\"datatype\": ncclFloat32, \"Stream\": 0x4142e90}", "{k<datatype>w<ncclFloat32>k<Stream>n<0x4142e90>)");
    expect("{\"bw\": inf, \"x\": -nan, \"y\": -inf}", "{k<bw>w<inf>k<x>w<-nan>k<y>w<-inf>)");
    expect("{a: 1, b_2: c}", "{k<a>n<1>k<b_2>w<c>)");
    expect("[+1 .5 -.5 - . a.b]", "[n<+1>n<.5>n<-.5>w<->w<.>w<a.b>)");
    expect("[\n{\"a\": 1},\n{}]", "[{k<a>n<1>){))");
    expect("{\"a\": 1},\n{}]\n", "{k<a>n<1>){))");
    expect("]}{\"a\": 1}", ")){k<a>n<1>)");
    expect("\xef\xbb\xbf{\"a\": 1}", "{k<a>n<1>)");
    expect_n("[1,\0\0\0 2]\0", 11, "[n<1>n<2>)");
    /* a key always has a value */
    expect("{\"a\": , \"b\": 1}", "{k<a>w<>k<b>n<1>)");
    expect("{\"a\"}", "{k<a>w<>)");
    expect("{\"a\", \"b\": 1, \"c\":}", "{k<a>w<>k<b>n<1>k<c>w<>)");
    expect("{\"a\": [\"b\"}, \"c\": 1", "{k<a>[s<b>)k<c>n<1>!");
}

static void test_quotes(void **state)
{
    (void)state;
    /* typographic ones: both, one of them, and where they belong to the text */
    expect("{“a”: “b”, \"c\": 1}", "{k<a>s<b>k<c>n<1>)");
    expect("{\"a”: 1, \"b\": 2}", "{k<a>n<1>k<b>n<2>)");
    expect("{\"Stream\": \"0x1”}},\n{\"name\": 2}", "{k<Stream>s<0x1>)){k<name>n<2>)");
    expect("{“a\": 1, \"b\": 2}", "{k<a>n<1>k<b>n<2>)");
    expect("[\"he said “yes”, then no\", “→ and …”, →x]", "[s<he said “yes”, then no>s<→ and …>w<→x>)");
    expect("[\"a “b”\"]", "[s<a “b”>)");
    /* such as nobody escaped */
    expect("[\"\", \"\"sum\"\", 1]", "[s<>s<\"sum\">n<1>)");
    expect("{\"name\": \"say \"hi\" now\", \"pid\": 1}", "{k<name>s<say \"hi\" now>k<pid>n<1>)");
    expect("{\"name\": \"say \"hi\", you\", \"pid\": 1}", "{k<name>s<say \"hi\", you>k<pid>n<1>)");
    expect("{\"name\": \"{\"device\": \"cpu\", \"dtype\": \"float32\"}(12): run\", \"pid\": 421,\n \"x\": 1}",
           "{k<name>s<{\"device\": \"cpu\", \"dtype\": \"float32\"}(12): run>k<pid>n<421>k<x>n<1>)");
    /* a bracket that never closes costs no more than a line */
    expect("{\"name\": \"a \"{\" b\", \"pid\": 1,\n\"x\": {\"y\": 2}}",
           "{k<name>s<a \"{\" b>k<pid>n<1>k<x>{k<y>n<2>))");
    /* backslashes that nobody doubled, control characters */
    expect("{\"name\": \"torch\\cuda\\__init__.py(219)\", \"b\": 1}",
           "{k<name>s<torch\\cuda\\__init__.py(219)>k<b>n<1>)");
    expect("[\"a\x01\x1f\x7f\tb\nc\xff\"]", "[s<a\x01\x1f\x7f\tb\nc\xff>)");
    expect("[\"a\"  , \"b\"\t]", "[s<a>s<b>)");
}

static void test_cut(void **state)
{
    (void)state;
    expect("{\"a\": [1, {\"b\": \"c", "{k<a>[n<1>{k<b>s<c>!");
    expect("{\"a", "{k<a>!");
    expect("{\"a\":", "{k<a>!");
    expect("\"", "s<>!");
    expect("[\"a\\", "[s<a\\>!");
    expect("[12", "[n<12>!");
    expect("[\xe2\x80", "[w<\xe2\x80>!");
    /* any begin of a whole text has the same tokens, but for the last */
    const char *text = "{\"a\": [1, \"b\\\"\", {“c”: tru}], \"d\": \"say \"hi\" now\", \"e\": 0x1f}";
    struct rs_scan s;
    for (size_t n = 0; n < strlen(text); n++) {
        char *copy = malloc(n + 1), got[256];
        memcpy(copy, text, n);
        rs_scan_memory(&s, copy, n);
        tokens(&s, got, sizeof got);
        assert_true(s.cut == (n > 0));
        free(copy);
    }
}

static void test_deep(void **state)
{
    (void)state;
    enum { DEEP = 10000 };
    struct rs_scan s;
    char *text = malloc(6 * DEEP + 32), *p = text;
    for (int i = 0; i < DEEP; i++) p += sprintf(p, i % 2 ? "[" : "{\"a\":");
    for (int i = DEEP; i-- > 0;) *p++ = i % 2 ? ']' : '}';
    p += sprintf(p, "{\"b\": 7}");
    rs_scan_memory(&s, text, (size_t)(p - text));
    unsigned deepest = 0, keys = 0;
    enum rs_token t;
    while ((t = rs_scan_next(&s)) != RS_T_CLOSE) {
        if (s.depth > deepest) deepest = s.depth;
        keys += t == RS_T_KEY;
    }
    assert_int_equal(deepest, DEEP);
    assert_int_equal(keys, 512); /* of the first 1024 levels; below that they are strings */
    for (int i = 1; i < DEEP; i++) assert_int_equal(rs_scan_next(&s), RS_T_CLOSE);
    assert_int_equal(s.depth, 0);
    assert_int_equal(rs_scan_next(&s), RS_T_OBJECT);
    assert_int_equal(rs_scan_next(&s), RS_T_KEY);

    rs_scan_memory(&s, text, (size_t)(p - text));
    assert_int_equal(rs_scan_next(&s), RS_T_OBJECT);
    rs_scan_skip(&s);
    assert_int_equal(s.depth, 0);
    assert_int_equal(rs_scan_next(&s), RS_T_OBJECT);
    assert_int_equal(rs_scan_next(&s), RS_T_KEY);
    assert_true(rs_scan_is(&s, "b"));
    assert_false(rs_scan_is(&s, "bb"));
    free(text);
}

static void test_skip_and_leave(void **state)
{
    (void)state;
    static const char text[] =
        "{\"a\": {\"x\": [1, \"}]\", {“}”: →}]}, \"b\": \"s\", \"c\": , \"d\": [[1], {\"e\": [2, 3]}, 4]}";
    struct rs_scan s;
    for (size_t block = 0; block < 12; block++) {
        struct packed p = {0};
        struct rs_bytes *b;
        int packing = can_pack(RS_GZIP) && block ? RS_GZIP : RS_PLAIN;
        pack(&p, packing, text, strlen(text));
        assert_int_equal(rs_bytes_memory(&b, "it", p.data, p.n, block, NULL), RS_OK);
        rs_scan_bytes(&s, b);
        assert_int_equal(rs_scan_next(&s), RS_T_OBJECT);
        for (const char *key = "abcd"; *key; key++) {
            assert_int_equal(rs_scan_next(&s), RS_T_KEY);
            assert_true(s.n == 1 && *s.text == *key);
            assert_int_equal(s.depth, 1);
            if (*key != 'd') rs_scan_skip(&s);
            if (*key == 'b') rs_scan_skip(&s); /* behind a value: nothing */
        }
        assert_int_equal(rs_scan_next(&s), RS_T_ARRAY);
        assert_int_equal(rs_scan_next(&s), RS_T_ARRAY);
        rs_scan_skip(&s); /* the rest of it */
        assert_int_equal(rs_scan_next(&s), RS_T_OBJECT);
        assert_int_equal(rs_scan_next(&s), RS_T_KEY);
        assert_int_equal(rs_scan_next(&s), RS_T_ARRAY);
        assert_int_equal(rs_scan_next(&s), RS_T_NUMBER);
        assert_int_equal(s.depth, 4);
        rs_scan_leave(&s, 3);
        assert_int_equal(s.depth, 2);
        assert_int_equal(rs_scan_next(&s), RS_T_NUMBER);
        assert_true(rs_scan_is(&s, "4"));
        rs_scan_leave(&s, 1);
        assert_int_equal(s.depth, 0);
        assert_int_equal(rs_scan_next(&s), RS_T_END);
        assert_false(s.cut);
        rs_scan_free(&s);
        rs_bytes_close(b);
        free(p.data);
    }
    rs_scan_memory(&s, "{\"a\": [1, \"b", 12);
    rs_scan_next(&s);
    rs_scan_skip(&s);
    assert_true(s.cut);
    assert_int_equal(rs_scan_next(&s), RS_T_END);
}

/* A token longer than the blocks of a file, and a stream that breaks: what came before is kept. */
static void test_broken_bytes(void **state)
{
    (void)state;
    if (!can_pack(RS_GZIP)) skip();
    enum { LONG = 1 << 20 };
    char *text = malloc(LONG + 64);
    size_t n = (size_t)sprintf(text, "{\"a\": \"");
    memset(text + n, 'x', LONG);
    n += LONG;
    n += (size_t)sprintf(text + n, "\", \"b\": 17}");
    struct packed p = {0};
    pack(&p, RS_GZIP, text, n);
    for (int cut = 0; cut < 2; cut++) {
        struct rs_bytes *b;
        struct rs_scan s;
        assert_int_equal(rs_bytes_memory(&b, "it", p.data, p.n - (cut ? 8 : 0), 0, NULL), RS_OK);
        rs_scan_bytes(&s, b);
        rs_scan_next(&s);
        rs_scan_next(&s);
        assert_int_equal(rs_scan_next(&s), RS_T_STRING);
        assert_int_equal(s.n, LONG);
        assert_int_equal(rs_scan_next(&s), RS_T_KEY);
        assert_int_equal(s.offset, LONG + 10);
        assert_int_equal(rs_scan_next(&s), RS_T_NUMBER);
        assert_true(rs_scan_is(&s, "17"));
        rs_scan_next(&s);
        assert_int_equal(rs_scan_next(&s), RS_T_END);
        assert_int_equal(s.err.code, cut ? RS_BAD_INPUT : RS_OK);
        assert_true(s.cut == (cut == 1));
        if (cut) assert_non_null(strstr(s.err.msg, "it: at byte "));
        rs_scan_free(&s);
        rs_bytes_close(b);
    }
    free(p.data);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_json),         cmocka_unit_test(test_tolerance), cmocka_unit_test(test_quotes),
        cmocka_unit_test(test_cut),          cmocka_unit_test(test_deep),      cmocka_unit_test(test_skip_and_leave),
        cmocka_unit_test(test_broken_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Words, ruler and colours of pictures. */
#include "pictured.h"

#include "base/file.h"
#include "picture/conclusion.h"
#include "picture/palette.h"
#include "picture/ruler.h"
#include "picture/words.h"

static void check_clean(const char *text, const char *wanted, unsigned columns)
{
    char out[64];
    assert_int_equal(rs_words_clean(text, out, sizeof(out)), columns);
    assert_string_equal(out, wanted);
}

static void test_clean(void **state)
{
    (void)state;
    check_clean("", "", 0);
    check_clean("plain", "plain", 5);
    check_clean("<b>&\"'", "<b>&\"'", 6); /* markup is the back end's */
    check_clean("a\033[2Jb\n\t\x7f", "a?[2Jb???", 9);
    check_clean("\xc2\x9b"
                "31m",
                "?31m", 4); /* a control of two bytes */
    check_clean("\xff\xfe\x80", "???", 3);
    check_clean("\xc3", "?", 1); /* cut short */
    check_clean("\xe2\x82", "??", 2);
    check_clean("\xc0\xaf", "??", 2); /* overlong */
    check_clean("\xed\xa0\x80", "?", 1); /* a surrogate: XML forbids it */
    check_clean("\xef\xbf\xbe", "?", 1); /* U+FFFE likewise */
    check_clean("\xe2\x80\xae"
                "gpj",
                "?gpj", 4); /* turns the direction */
    check_clean("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f", 4);
    check_clean("\xe6\x97\xa5", "\xe6\x97\xa5", 2); /* wide */
}

/* The lines of a text, between bars. */
static void check_wrapped(const char *text, unsigned columns, const char *wanted)
{
    char out[200] = "", line[64];
    while (rs_conclusion_line(&text, columns, line, sizeof(line))) {
        strcat(out, line);
        strcat(out, "|");
    }
    assert_string_equal(out, wanted);
}

static void test_wrapped(void **state)
{
    (void)state;
    check_wrapped("", 10, "");
    check_wrapped("one two three", 7, "one two|three|");
    check_wrapped("one two three", 6, "one|two|three|");
    check_wrapped("one two three", 13, "one two three|");
    check_wrapped("one two  three", 12, "one two|three|"); /* spaces at a break are none of a line */
    check_wrapped("a abcdefghij b", 6, "a|abcd..|b|"); /* longer than a line */
    check_wrapped("gr\xc3\xbc\xc3\x9f dich", 9, "gr\xc3\xbc\xc3\x9f dich|"); /* characters, not bytes */
    check_wrapped("a\033b c", 5, "a?b c|");
}

static void test_clean_cuts_between_characters(void **state)
{
    (void)state;
    char out[4];
    rs_words_clean("ab\xc3\xbc", out, sizeof(out));
    assert_string_equal(out, "ab");
    rs_words_clean("a\xc3\xbcz", out, sizeof(out));
    assert_string_equal(out, "a\xc3\xbc");
    char one[1] = {'x'};
    rs_words_clean("abc", one, sizeof(one));
    assert_string_equal(one, "");
}

static void test_fit(void **state)
{
    (void)state;
    char out[64];
    assert_int_equal(rs_words_fit("AllReduce", 9, out, sizeof(out)), 9);
    assert_string_equal(out, "AllReduce");
    assert_int_equal(rs_words_fit("AllReduce", 6, out, sizeof(out)), 6);
    assert_string_equal(out, "AllR..");
    assert_int_equal(rs_words_fit("\xe6\x97\xa5\xe6\x97\xa5\xe6\x97\xa5", 5, out, sizeof(out)), 4);
    assert_string_equal(out, "\xe6\x97\xa5..");
    assert_int_equal(rs_words_fit("abc", 1, out, sizeof(out)), 1);
    assert_int_equal(rs_words_fit("abc", 0, out, sizeof(out)), 0);
}

static void test_units(void **state)
{
    (void)state;
    static const struct {
        int64_t ns;
        const char *text;
    } times[] = {{0, "0 ns"},         {999, "999 ns"},     {1000, "1.00 us"},      {12340, "12.3 us"},
                 {999600, "1.00 ms"}, {-1500, "-1.50 us"}, {2500000000, "2.50 s"}, {INT64_MIN, "-9223372037 s"}};
    static const struct {
        int64_t bytes;
        const char *text;
    } sizes[] = {{0, "0 B"}, {1023, "1023 B"}, {1024, "1 KiB"}, {1536, "1.5 KiB"}, {64 << 20, "64 MiB"}};
    char out[64];
    for (size_t i = 0; i < sizeof(times) / sizeof(times[0]); i++) {
        rs_words_duration(times[i].ns, out, sizeof(out));
        assert_string_equal(out, times[i].text);
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        rs_words_bytes(sizes[i].bytes, out, sizeof(out));
        assert_string_equal(out, sizes[i].text);
    }
}

static void test_ruler(void **state)
{
    (void)state;
    char out[64];
    struct rs_ruler r = rs_ruler_make(0, 1000000, 10);
    assert_int_equal(r.step, 100000);
    assert_int_equal(r.first, 0);
    rs_ruler_label(&r, 0, out, sizeof(out));
    assert_string_equal(out, "0");
    rs_ruler_label(&r, 300000, out, sizeof(out));
    assert_string_equal(out, "0.3 ms");
    rs_ruler_base(&r, out, sizeof(out));
    assert_string_equal(out, "");

    /* Far from t = 0: counted from the first tick, which is told. */
    r = rs_ruler_make(3201150000, 3201350000, 10);
    assert_int_equal(r.step, 20000);
    assert_int_equal(r.base, 3201160000);
    rs_ruler_label(&r, r.base, out, sizeof(out));
    assert_string_equal(out, "+0");
    rs_ruler_label(&r, r.base + 40000, out, sizeof(out));
    assert_string_equal(out, "+40 us");
    rs_ruler_base(&r, out, sizeof(out));
    assert_string_equal(out, "t = 3.20116 s");

    /* Wild spans end. */
    r = rs_ruler_make(INT64_MIN, INT64_MAX, 5);
    assert_true(r.step > 0);
    r = rs_ruler_make(INT64_MAX - 1, INT64_MAX, 5);
    assert_int_equal(r.step, 1);
    r = rs_ruler_make(5, 6, 0);
    assert_int_equal(r.step, 1);
}

static void test_tooltip(void **state)
{
    (void)state;
    struct made d;
    made_make(&d, 1);
    struct rs_picture_bar bar = {.start = 1500,
                                 .dur = 2000,
                                 .wait = 500,
                                 .fade = 1000,
                                 .args = {1 << 20, (int64_t)made_text(&d, "ri\nng")},
                                 .kind = MADE_ALLREDUCE,
                                 .flags = RS_BAR_END_BOUNDED | RS_BAR_LAST};
    struct rs_strbuf out = {0};
    rs_words_tooltip(&d.t, &bar, &out);
    assert_string_equal(
        rs_strbuf_borrow(&out),
        "AllReduce\nat 0.000001s, at least 2.00 us, at most 3.00 us, of which 500 ns waiting for the last "
        "rank\nthe last to arrive\nbytes: 1 MiB\nalgorithm: ri?ng");
    rs_strbuf_free(&out);
    bar.kind = 200; /* of no kind that there is */
    assert_string_equal(rs_words_name(&d.t, &bar), "?");
    made_free(&d);
}

/* ---- colours ---- */

static uint32_t hex_after(const char *text, const char *key)
{
    char wanted[40];
    snprintf(wanted, sizeof(wanted), "%s: \"#", key);
    const char *at = strstr(text, wanted);
    if (!at) fail_msg("viewer/src/scene/palette.ts has no %s", key);
    return (uint32_t)strtoul(at + strlen(wanted), NULL, 16);
}

/* The page and pictures have the same colours: names and hues are read from the page's source. */
static void test_palette_is_the_pages(void **state)
{
    (void)state;
    struct rs_file_map map;
    struct rs_err err;
    if (rs_file_map(&map, "viewer/src/scene/palette.ts", &err) != RS_OK)
        fail_msg("%s (tests run in the root of the sources)", err.msg);
    static char text[1 << 16];
    assert_true(map.size < sizeof(text));
    memcpy(text, map.data, map.size);
    rs_file_unmap(&map);

    const struct rs_theme *themes[] = {&rs_theme_light, &rs_theme_dark};
    static const char *const begins[] = {"const LIGHT", "const DARK"};
    for (int i = 0; i < 2; i++) {
        const char *at = strstr(text, begins[i]);
        assert_non_null(at);
        const struct rs_theme *t = themes[i];
        assert_int_equal(t->background, hex_after(at, "background"));
        assert_int_equal(t->row, hex_after(at, " row"));
        assert_int_equal(t->heading, hex_after(at, "heading"));
        assert_int_equal(t->grid, hex_after(at, "grid"));
        assert_int_equal(t->text, hex_after(at, " text"));
        assert_int_equal(t->dim, hex_after(at, "dim"));
        assert_int_equal(t->on_bar, hex_after(at, "onBar"));
        assert_int_equal(t->relation, hex_after(at, "relation"));
        assert_int_equal(t->same_op, hex_after(at, "sameOp"));
        assert_int_equal(t->arrow, hex_after(at, "arrow"));
    }
    /* Every named colour, one a line: `word: "#rrggbb",` */
    const char *line = strstr(text, "const NAMED");
    assert_non_null(line);
    unsigned seen = 0;
    for (line = strchr(line, '\n') + 1; *line && *line != '}'; line = strchr(line, '\n') + 1) {
        char word[40];
        unsigned colour;
        if (sscanf(line, " \"%39[A-Za-z-]\": \"#%6x\"", word, &colour) != 2 &&
            sscanf(line, " %39[A-Za-z]: \"#%6x\"", word, &colour) != 2)
            continue;
        if (rs_colour_of(word, 0, &rs_theme_light) != colour)
            fail_msg("%s: %06x here, %06x in the page", word, rs_colour_of(word, 0, &rs_theme_light), colour);
        seen++;
    }
    assert_true(seen >= 20);
    assert_int_equal(rs_colour_of("nothing like it", 8, &rs_theme_light), rs_colour_of(NULL, 0, &rs_theme_light));
}

static void test_mix(void **state)
{
    (void)state;
    assert_int_equal(rs_colour_mix(0x000000, 0xff8040, 0), 0);
    assert_int_equal(rs_colour_mix(0x000000, 0xff8040, 1), 0xff8040);
    assert_int_equal(rs_colour_mix(0x000000, 0xff8040, 0.5), 0x804020);
    assert_int_equal(rs_colour_256(0x000000), 16);
    assert_int_equal(rs_colour_256(0xffffff), 231);
    assert_int_equal(rs_colour_256(0x0072b2), 16 + 6 * 1 + 3); /* 0, 95, 175 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_wrapped),
        cmocka_unit_test(test_clean_cuts_between_characters),
        cmocka_unit_test(test_fit),
        cmocka_unit_test(test_units),
        cmocka_unit_test(test_ruler),
        cmocka_unit_test(test_tooltip),
        cmocka_unit_test(test_palette_is_the_pages),
        cmocka_unit_test(test_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The option parser, the suggestions, the units and the table: known words in, known values out. */
#include "base/moment.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/options/common.h"
#include "cli/options/suggest.h"
#include "cli/print/plain.h"
#include "cli/print/table.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct pairs {
    char text[128];
};

static const char *take_pair(void *to, const char *value)
{
    struct pairs *p = to;
    if (strchr(value, ':') == NULL) return "expected A:B";
    snprintf(p->text + strlen(p->text), sizeof(p->text) - strlen(p->text), "[%s]", value);
    return NULL;
}

static struct {
    bool verbose, quiet;
    const char *output;
    int64_t size;
    double factor;
    struct pairs pairs;
    int noperands;
    char *argv[32];
} got;

static int parse(bool operands_last, const char *line)
{
    static char words[256];
    memset(&got, 0, sizeof(got));
    got.quiet = true;
    got.size = 42;
    const struct rs_opt opts[] = {
        {RS_OPT_FLAG, 'v', "verbose", &got.verbose, NULL, "talk"},
        {RS_OPT_FLAG, 'q', "quiet", &got.quiet, NULL, "do not"},
        {RS_OPT_STRING, 'o', "output", &got.output, "FILE", "where to"},
        {RS_OPT_INT, 's', "size", &got.size, "N", "how much"},
        {RS_OPT_DOUBLE, 0, "factor", &got.factor, "X", "times"},
        {RS_OPT_EACH, 0, "pair", RS_EACH(take_pair, &got.pairs), "A:B", "again and again"},
        {0},
    };
    struct rs_command cmd = {.name = "test", .summary = "s", .usage = "u", .operands_last = operands_last};
    int argc = 0;
    snprintf(words, sizeof(words), "test %s", line);
    for (char *w = strtok(words, " "); w != NULL; w = strtok(NULL, " ")) got.argv[argc++] = w;
    return rs_opt_parse(&cmd, opts, argc, got.argv, &got.noperands);
}

static void test_forms(void **state)
{
    (void)state;
    assert_int_equal(parse(false, "a --output f b -s 7 --factor=2.5 c"), -1);
    assert_string_equal(got.output, "f");
    assert_int_equal(got.size, 7);
    assert_true(got.factor > 2.49 && got.factor < 2.51);
    assert_int_equal(got.noperands, 3);
    assert_string_equal(got.argv[1], "a");
    assert_string_equal(got.argv[2], "b");
    assert_string_equal(got.argv[3], "c");
    assert_false(got.verbose);
    assert_true(got.quiet);

    assert_int_equal(parse(false, "-vofile --no-quiet -s-3 -"), -1);
    assert_true(got.verbose);
    assert_false(got.quiet);
    assert_string_equal(got.output, "file");
    assert_int_equal(got.size, -3);
    assert_int_equal(got.noperands, 1);
    assert_string_equal(got.argv[1], "-");

    assert_int_equal(parse(false, "--output=a=b --pair 1:2 --pair=3:4 --output= -- -v --help"), -1);
    assert_string_equal(got.output, "");
    assert_string_equal(got.pairs.text, "[1:2][3:4]");
    assert_int_equal(got.noperands, 2);
    assert_string_equal(got.argv[1], "-v");
    assert_string_equal(got.argv[2], "--help");
    assert_false(got.verbose);

    assert_int_equal(parse(false, ""), -1);
    assert_int_equal(got.noperands, 0);
    assert_int_equal(got.size, 42); /* the default stays */
}

static void test_operands_last(void **state)
{
    (void)state;
    assert_int_equal(parse(true, "-v cmd -o x --help -- y"), -1);
    assert_true(got.verbose);
    assert_null(got.output);
    assert_int_equal(got.noperands, 6);
    assert_string_equal(got.argv[5], "--");
    assert_int_equal(parse(true, "-- -o x"), -1);
    assert_int_equal(got.noperands, 2);
}

/* Runs `line` with stderr in a file and gives back what it said. */
static const char *complaint(const char *line)
{
    static char text[512];
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stderr);
    int saved = dup(STDERR_FILENO);
    assert_true(saved >= 0 && dup2(fileno(file), STDERR_FILENO) >= 0);
    int status = parse(false, line);
    fflush(stderr);
    dup2(saved, STDERR_FILENO);
    close(saved);
    rewind(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    assert_int_equal(status, RS_EXIT_USAGE);
    return text;
}

static void expect_complaint(const char *line, const char *about)
{
    const char *said = complaint(line);
    if (strstr(said, about) == NULL) fail_msg("'%s' said: %s", line, said);
    assert_non_null(strstr(said, "see: ringscope test --help\n"));
}

static void test_complaints(void **state)
{
    (void)state;
    expect_complaint("--verbos", "unknown option --verbos; did you mean --verbose?");
    expect_complaint("--zzz=3", "unknown option --zzz\n");
    expect_complaint("-x", "unknown option -x\n");
    expect_complaint("--output", "--output needs a value (FILE)");
    expect_complaint("-vs", "-s needs a value (N)");
    expect_complaint("--verbose=1", "--verbose takes no value");
    expect_complaint("--no-output", "unknown option --no-output");
    expect_complaint("--size 3x", "--size 3x: not a whole number");
    expect_complaint("--factor=nan", "--factor nan: not a number");
    expect_complaint("--pair 12", "--pair 12: expected A:B");
}

static void test_int(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t value;
    } good[] = {
        {"0", 0},
        {"-17", -17},
        {"+5", 5},
        {"010", 10},
        {"0x10", 16},
        {"0xFB", 251},
        {"64k", 64000},
        {"64Ki", 65536},
        {"64KiB", 65536},
        {"3MB", 3000000},
        {"2Gi", 2147483648},
        {"1T", 1000000000000},
        {"9223372036854775807", INT64_MAX},
        {"-9223372036854775808", INT64_MIN},
    };
    static const char *const bad[] = {"",           " 1",  "x", "1 ",  "1.5", "1e3", "--1", "-",
                                      "12q",        "1kk", "i", "1iB", "0x",  "B",   "k",   "9223372036854775808",
                                      "9999999999G"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        int64_t value = 99;
        if (!rs_opt_int(good[i].text, &value) || value != good[i].value) fail_msg("%s", good[i].text);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        int64_t value;
        if (rs_opt_int(bad[i], &value)) fail_msg("'%s' was taken", bad[i]);
    }
}

static void test_suggest(void **state)
{
    (void)state;
    assert_int_equal(rs_edit_distance("", ""), 0);
    assert_int_equal(rs_edit_distance("kitten", "sitting"), 3);
    assert_int_equal(rs_edit_distance("ab", "ba"), 1);
    assert_int_equal(rs_edit_distance("info", ""), 4);
    static const char *const names[] = {"run", "sim", "info", "export", "gather"};
    static const struct {
        const char *typed, *best;
    } cases[] = {{"inof", "info"}, {"exprot", "export"}, {"gath", "gather"},
                 {"rum", "run"},   {"banana", NULL},     {"x", NULL}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct rs_suggest s = {.typed = cases[i].typed};
        for (size_t k = 0; k < 5; k++) rs_suggest_offer(&s, names[k]);
        if (cases[i].best == NULL) {
            assert_null(s.best);
        } else {
            assert_non_null(s.best);
            assert_string_equal(s.best, cases[i].best);
        }
    }
}

static void test_units(void **state)
{
    (void)state;
    assert_string_equal(rs_text_rate(0.00001).s, "<0.001");
    assert_string_equal(rs_text_rate(0.1314).s, "0.131");
    assert_string_equal(rs_text_rate(29.06).s, "29.1");
    assert_string_equal(rs_text_rate(181.7).s, "182");
    assert_string_equal(rs_text_rate(NAN).s, "?");
    assert_string_equal(rs_text_ns(0).s, "0 ns");
    assert_string_equal(rs_text_ns(999).s, "999 ns");
    assert_string_equal(rs_text_ns(1000).s, "1.0 us");
    assert_string_equal(rs_text_ns(12345).s, "12.3 us");
    assert_string_equal(rs_text_ns(123456).s, "123 us");
    assert_string_equal(rs_text_ns(999999).s, "1.0 ms");
    assert_string_equal(rs_text_ns(-2500000).s, "-2.5 ms");
    assert_string_equal(rs_text_ns(59900000000).s, "59.9 s");
    assert_string_equal(rs_text_ns(185000000000).s, "3 min 05 s");
    assert_string_equal(rs_text_ns(7500000000000).s, "2 h 05 min");
    assert_string_equal(rs_text_ns(INT64_MIN).s, "-2562047 h 47 min");
    assert_string_equal(rs_text_bytes(0).s, "0 B");
    assert_string_equal(rs_text_bytes(1023).s, "1023 B");
    assert_string_equal(rs_text_bytes(1024).s, "1.0 KiB");
    assert_string_equal(rs_text_bytes(1258291).s, "1.2 MiB");
    assert_string_equal(rs_text_bytes(1048575).s, "1.0 MiB");
    assert_string_equal(rs_text_bytes(UINT64_MAX).s, "16.0 EiB");
    assert_string_equal(rs_text_count(0).s, "0");
    assert_string_equal(rs_text_count(999).s, "999");
    assert_string_equal(rs_text_count(1000).s, "1,000");
    assert_string_equal(rs_text_count(UINT64_MAX).s, "18,446,744,073,709,551,615");
}

static void test_table(void **state)
{
    (void)state;
    struct rs_table t = {0};
    rs_table_column(&t, RS_LEFT, RS_H_HOST);
    rs_table_column(&t, RS_RIGHT, RS_H_CALLS);
    rs_table_column(&t, RS_LEFT, RS_H_ENDED);
    rs_table_cell(&t, "n%d", 1);
    rs_table_cell(&t, "%s", rs_text_count(1234567).s);
    rs_table_cell(&t, "killed");
    rs_table_cell(&t, "kn\xc3\xb6tchen");
    rs_table_cell(&t, "0");
    rs_table_cell(&t, "ok");
    rs_table_cell(&t, "n2"); /* no blanks at the end of a line */
    rs_table_cell(&t, "5");
    rs_table_cell(&t, "%s", "");
    char *text = NULL;
    size_t n = 0;
    FILE *file = open_memstream(&text, &n);
    assert_non_null(file);
    rs_table_print(&t, "  ", file);
    fclose(file);
    assert_string_equal(text, "  host          calls  ended\n"
                              "  n1        1,234,567  killed\n"
                              "  kn\xc3\xb6tchen          0  ok\n"
                              "  n2                5\n");
    free(text);
    rs_table_free(&t);
    rs_table_free(NULL);
}

/* ---- common options ---- */

/* Every word of `takes` is an option or a set, and what a command does not take it refuses. */
static void test_common_known(void **state)
{
    (void)state;
    for (size_t i = 0; i < RS_NCOMMANDS; i++)
        if (rs_common_unknown(rs_commands[i]))
            fail_msg("%s takes '%s'", rs_commands[i]->name, rs_common_unknown(rs_commands[i]));
    const struct rs_command wrong = {.name = "x", .takes = "filter -func ranks"};
    assert_string_equal(rs_common_unknown(&wrong), "ranks");
}

static void test_common(void **state)
{
    (void)state;
    struct rs_common c;
    const char *own = NULL;
    const struct rs_opt opts[] = {{RS_OPT_STRING, 0, "to", &own, "X", "in place of the common one"},
                                  {.kind = RS_OPT_END}};
    const struct rs_command cmd = {
        .name = "test", .summary = "s", .usage = "u", .json = "one object", .takes = "filter -func run"};
    char *argv[] = {"test", "-j", "--rank", "3,5-7", "in", "--to", "here", "--run=2", NULL};
    int n;
    assert_int_equal(rs_common_parse(&cmd, &c, opts, 8, argv, &n), -1);
    assert_int_equal(n, 1);
    assert_true(c.json && c.align && !c.same_host);
    assert_int_equal(c.filters.filter.nranks, 2);
    assert_int_equal(c.filters.filter.ranks[1].to, 7);
    assert_string_equal(c.run, "2");
    assert_string_equal(own, "here");
    assert_false(c.filters.filter.has_to);
    assert_int_equal(rs_common_parse(&cmd, &c, RS_NO_OPTIONS, 8, argv, &n), RS_EXIT_USAGE); /* no time */
    assert_int_equal(rs_common_parse(&cmd, &c, opts, 1, argv, &n), -1);
    assert_false(c.json || c.run || c.filters.filter.nranks); /* the defaults again */
    static const char *const refused[] = {"--func", "--level", "--align", "--no-align", "--same-host", "--rows"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char *line[] = {"test", (char *)refused[i], "x", NULL};
        assert_int_equal(rs_common_parse(&cmd, &c, opts, 3, line, &n), RS_EXIT_USAGE);
    }
}

/* ---- text of others ---- */

static void test_plain_text(void **state)
{
    (void)state;
    char text[] = "a\033[31mb\x7f\tc\xc2\x9b"
                  "d\xc3\xa4";
    rs_plain(text);
    assert_string_equal(text, "a?[31mb??c??d\xc3\xa4");

    char *line = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&line, &size);
    rs_plain_line("x\ny\xc2\x9bz\xc2", to);
    fclose(to);
    assert_string_equal(line, "x?y?z\xc2\n");
    free(line);
}

static void test_cut_names(void **state)
{
    (void)state;
    char fits[] = "0123456789ab", longer[] = "0123456789abcdef",
         wide[] = "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4"
                  "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4";
    rs_plain_cut(fits, 12);
    assert_string_equal(fits, "0123456789ab");
    rs_plain_cut(longer, 12);
    assert_string_equal(longer, "012345...def");
    rs_plain_cut(wide, 8); /* no character is cut in two */
    assert_string_equal(wide, "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4...\xc3\xa4");
}

static void test_dates(void **state)
{
    (void)state;
    assert_string_equal(rs_text_when(1700000000 * INT64_C(1000000000)).s, ", from 2023-11-14 22:13:20 UTC");
    assert_string_equal(rs_text_when(6123456789).s, ""); /* since a tool's own zero */
}

/* What one command prints another takes: moments as tables have them, spans as sentences do, dates. */
static void test_times(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int64_t ns;
        bool relative;
    } taken[] = {
        {"867ms", 867000000, true},
        {"867 ms", 867000000, true},
        {"5.503211s", 5503211000, true},
        {"0.012742 s", 12742000, true},
        {"1794711703.992551001s", 1794711703992551001, true},
        {"12.3 us", 12300, true},
        {"3 min 05 s", 185000000000, true},
        {"2 h 05 min", 7500000000000, true},
        {"7ns", 7, true},
        {"7m", 420000000000, true},
        {"7h", 25200000000000, true},
        {"1794711703992551001", 1794711703992551001, false},
        {"2026-11-15 03:01:43.992551 UTC", 1794711703992551000, false},
        {"2026-11-15T03:01:43Z", 1794711703000000000, false},
        {"2026-11-15 03:01:43.5", 1794711703500000000, false},
    };
    int64_t ns;
    bool relative;
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++) {
        if (!rs_filters_time(taken[i].text, &ns, &relative)) fail_msg("%s is not taken", taken[i].text);
        assert_int_equal(ns, taken[i].ns);
        assert_int_equal(relative, taken[i].relative);
    }
    static const char *const refused[] = {
        "", "5", "s", "5 parsecs", "-1s", "1s x", "1s2", "ns", "2026-11-15", "2026-11-15 03:01:43x", "infs"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (rs_filters_time(refused[i], &ns, &relative)) fail_msg("%s is taken", refused[i]);
    char text[RS_MOMENT_ROOM];
    rs_moment_text(5503211999, text, sizeof text); /* rounded down */
    assert_string_equal(text, "5.503211s");
    rs_moment_text(-1, text, sizeof text);
    assert_string_equal(text, "-0.000001s");
    assert_true(rs_moment_utc(1794711703992551001, text, sizeof text));
    assert_string_equal(text, "2026-11-15 03:01:43.992551 UTC");
    assert_false(rs_moment_utc(6123456789, text, sizeof text)); /* since a tool's own zero */
    assert_string_equal(text, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),  cmocka_unit_test(test_operands_last), cmocka_unit_test(test_complaints),
        cmocka_unit_test(test_int),    cmocka_unit_test(test_suggest),       cmocka_unit_test(test_units),
        cmocka_unit_test(test_table),  cmocka_unit_test(test_plain_text),    cmocka_unit_test(test_cut_names),
        cmocka_unit_test(test_dates),  cmocka_unit_test(test_times),         cmocka_unit_test(test_common_known),
        cmocka_unit_test(test_common),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

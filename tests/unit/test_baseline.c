/* Baselines: what is written is read back; files of other versions, of other kinds, and cut at any byte. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "compare/baseline.h"

static void fill(struct rs_run_figures *run)
{
    run->path = strdup("a \"run\"");
    run->ranks = 8;
    run->hosts = 2;
    run->steps = 30;
    run->operations = 120;
    rs_run_figure(run, &(struct rs_figure){RS_M_STEP_P50, NULL, -1, 2.5e6, 1e4, 0, 1});
    rs_run_figure(run, &(struct rs_figure){RS_M_WAIT, (char *)(uintptr_t) "AllReduce, 8 MiB", -1, 0, NAN, 3e5, 0.25});
    rs_run_figure(run, &(struct rs_figure){RS_M_RANK_GPU, NULL, 3, 1e6 / 3, 7, 2.5e6, 1});
    rs_run_figure(run, &(struct rs_figure){RS_M_STEP_P99, NULL, -1, 0, 0, 0, 1}); /* a ratio of 0: not kept */
    rs_run_setting(run, "NCCL_PROTO", "LL,SIMPLE");
    rs_run_finding(run, &(struct rs_run_finding){.kind = (char *)(uintptr_t) "persistent",
                                                 .scope = (char *)(uintptr_t) "rank",
                                                 .name = (char *)(uintptr_t) "rank 3",
                                                 .rank = 3,
                                                 .late = 1e6,
                                                 .cost = 0.1,
                                                 .cost_low = NAN,
                                                 .text = (char *)(uintptr_t) "it is late\n"});
}

static enum rs_status read_text(struct rs_baseline *b, const char *text, size_t n, struct rs_err *err)
{
    struct rs_bytes *bytes;
    assert_int_equal(rs_bytes_memory(&bytes, "x.json", text, n, 0, err), RS_OK);
    enum rs_status status = rs_baseline_read(b, bytes, err);
    rs_bytes_close(bytes);
    return status;
}

static char *written(void)
{
    struct rs_run_figures runs[2] = {{0}};
    struct rs_json *j = malloc(sizeof *j);
    struct rs_strbuf s = {0};
    struct rs_err err;
    char *text;
    fill(&runs[0]);
    fill(&runs[1]);
    rs_json_to_text(j, &s, "x.json");
    rs_baseline_write(j, runs, 2);
    assert_int_equal(rs_json_finish(j, &err), RS_OK);
    rs_run_figures_free(&runs[0]);
    rs_run_figures_free(&runs[1]);
    free(j);
    rs_strbuf_take(&s, &text);
    return text;
}

static void test_round(void **state)
{
    struct rs_baseline b;
    struct rs_err err;
    char *text = written();
    (void)state;
    assert_true(rs_baseline_is(text, 40));
    assert_int_equal(read_text(&b, text, strlen(text), &err), RS_OK);
    assert_int_equal(b.n, 2);
    const struct rs_run_figures *run = &b.runs[1];
    assert_string_equal(run->path, "a \"run\"");
    assert_int_equal(run->ranks, 8);
    assert_int_equal(run->hosts, 2);
    assert_int_equal(run->steps, 30);
    assert_int_equal(run->operations, 120);
    assert_int_equal(run->nfigures, 3);
    assert_int_equal(run->figures[1].measure, RS_M_WAIT);
    assert_string_equal(run->figures[1].of, "AllReduce, 8 MiB");
    assert_true(isnan(run->figures[1].error));
    assert_true(run->figures[1].whole == 3e5 && run->figures[1].share == 0.25);
    assert_int_equal(run->figures[2].rank, 3);
    assert_true(run->figures[2].value == 1e6 / 3); /* to the last bit */
    assert_string_equal(run->settings[0].value, "LL,SIMPLE");
    assert_string_equal(run->findings[0].name, "rank 3");
    assert_string_equal(run->findings[0].text, "it is late\n");
    assert_true(run->findings[0].cost == 0.1 && isnan(run->findings[0].cost_low) && !run->findings[0].why);
    rs_baseline_free(&b);
    free(text);
}

/* Cut at any byte but the last it is refused, with the place. */
static void test_cut(void **state)
{
    char *text = written();
    size_t n = strlen(text);
    (void)state;
    while (n && text[n - 1] == '\n') n--;
    for (size_t cut = 0; cut < n; cut++) {
        struct rs_baseline b;
        struct rs_err err;
        if (read_text(&b, text, cut, &err) != RS_BAD_INPUT) fail_msg("cut at %zu of %zu: accepted", cut, n);
        assert_non_null(strstr(err.msg, "x.json: "));
    }
    free(text);
}

static void refused(const char *text, const char *why)
{
    struct rs_baseline b;
    struct rs_err err;
    assert_int_equal(read_text(&b, text, strlen(text), &err), RS_BAD_INPUT);
    if (!strstr(err.msg, why)) fail_msg("'%s' without '%s'", err.msg, why);
}

static void test_others(void **state)
{
    struct rs_baseline b;
    struct rs_err err;
    (void)state;
    refused("", "not a baseline");
    refused("[1,2]", "not a baseline");
    refused("{\"traceEvents\":[]}", "not a baseline");
    refused("{\"format\":\"ringscope baseline\",\"version\":1,\"runs\":[]}", "without runs");
    refused("{\"format\":\"ringscope baseline\",\"version\":2,\"runs\":[{}]}", "of version 2");
    assert_false(rs_baseline_is("{\"traceEvents\":[]}", 18));
    /* What is not known is skipped; what has no meaning is unknown. */
    const char *later =
        "{\"format\":\"ringscope baseline\",\"version\":1,\"more\":{\"a\":[1]},\"runs\":[7,{\"ranks\":-1,\"figures\":["
        "{\"measure\":\"later\",\"value\":1},{\"measure\":\"busbw\",\"value\":[1]},"
        "{\"measure\":\"busbw\",\"value\":12,\"error\":\"x\",\"whole\":-5,\"rank\":-3,\"of\":{}}],"
        "\"settings\":{\"A\":1,\"B\":\"2\"},\"findings\":[{\"kind\":\"x\"}]}]}";
    assert_int_equal(read_text(&b, later, strlen(later), &err), RS_OK);
    assert_int_equal(b.n, 1);
    assert_int_equal(b.runs[0].nfigures, 1);
    assert_int_equal(b.runs[0].figures[0].rank, -1);
    assert_true(b.runs[0].figures[0].value == 12 && isnan(b.runs[0].figures[0].error) &&
                b.runs[0].figures[0].whole == 0);
    assert_int_equal(b.runs[0].nsettings, 1);
    assert_int_equal(b.runs[0].nfindings, 0);
    rs_baseline_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round), cmocka_unit_test(test_cut),
                                       cmocka_unit_test(test_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

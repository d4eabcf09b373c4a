/* The table of terms: nothing of NCCL's interface is missing, every row says something, and words find their rows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyse/critical.h"
#include "analyse/hang.h"
#include "analyse/hang_state.h"
#include "analyse/pipeline.h"
#include "analyse/stragglers.h"
#include "cli/explain_terms.h"
#include "conclude/compute.h"
#include "nccl/abi.h"
#include "nccl/names.h"

static const struct rs_term *find(const struct rs_term_table *t, const char *typed)
{
    for (size_t i = 0; i < t->n; i++)
        if (rs_term_is(&t->terms[i], typed)) return &t->terms[i];
    return NULL;
}

static const struct rs_term_table *table(const char *format)
{
    const struct rs_term_table *t;
    for (size_t i = 0; (t = rs_explain_table(i)); i++)
        if (!strcmp(t->format, format)) return t;
    fail_msg("no table of %s", format);
    return NULL;
}

static void test_all_of_nccl(void **state)
{
    (void)state;
    for (unsigned bit = 0; bit < RS_NCCL_TYPE_BITS; bit++) {
        const char *name = rs_nccl_type_name(UINT64_C(1) << bit);
        const struct rs_term *term = name ? find(&rs_terms_nccl, name) : NULL;
        assert_non_null(term);
        assert_string_equal(term->name, name);
        assert_string_equal(term->kind, "event");
    }
    for (int i = 0; i < RS_NCCL_STATES; i++) {
        const char *name = rs_nccl_state_name(i);
        if (!name) continue;
        const struct rs_term *term = find(&rs_terms_nccl, name);
        assert_non_null(term);
        assert_string_equal(term->kind, "state");
    }
}

static void test_rows(void **state)
{
    (void)state;
    static const char *const kinds[] = {"event", "state",  "category", "field",   "column", "value",
                                        "word",  "kernel", "heading",  "verdict", "reason"};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    const struct rs_term_table *t;
    size_t tables = 0;
    for (; (t = rs_explain_table(tables)); tables++) {
        for (size_t i = 0; i < t->n; i++) {
            size_t n = strlen(t->terms[i].text), kind = 0;
            while (kind < KINDS && strcmp(kinds[kind], t->terms[i].kind) != 0) kind++;
            if (kind == KINDS || n < 4 || n > 240 || t->terms[i].text[n - 1] != '.')
                fail_msg("%s: %s", t->format, t->terms[i].name);
            /* Each is read alone: what the row before says is not there. */
            if (!strncmp(t->terms[i].text, "The same", 8) && strncmp(t->terms[i].text, "The same process", 16) != 0)
                fail_msg("%s: %s: the same as what?", t->format, t->terms[i].name);
            for (size_t k = 0; k < i; k++) /* the same name twice in one format only where its kind differs */
                if (!strcmp(t->terms[k].name, t->terms[i].name) && !strcmp(t->terms[k].kind, t->terms[i].kind))
                    fail_msg("%s: %s twice", t->format, t->terms[i].name);
        }
    }
    assert_int_equal(tables, 16);
}

static void known(const char *name, const char *kind)
{
    for (size_t i = 0; i < rs_terms_words.n; i++)
        if (!strcmp(rs_terms_words.terms[i].name, name) && !strcmp(rs_terms_words.terms[i].kind, kind)) return;
    fail_msg("%s \"%s\" is printed, and not explained", kind, name);
}

/* Verdicts and reasons are those that the analyses print; headings cannot be printed without an entry. */
static void test_all_that_is_printed(void **state)
{
    (void)state;
    for (int i = 0; i <= RS_VERDICT_OUTSIDE_NCCL; i++) known(rs_verdict_name((enum rs_verdict)i), "verdict");
    for (int i = 0; i <= RS_STAGE_UNSEEN; i++)
        if (i != RS_STAGE_NOT_RECORDED) known(rs_stage_text((enum rs_stage)i), "reason");
    known(rs_stage_text(RS_STAGE_NOT_RECORDED), "word");
    for (int i = 0; i < RS_WHYS; i++) known(rs_why_text((enum rs_why)i), "reason");
    for (uint8_t i = 0; i < RS_CRITICAL_KINDS; i++) known(rs_critical_kind_name(i), "reason");
    for (int i = 0; i <= RS_SERIALISED; i++)
        if (rs_pipeline_verdict_name((enum rs_pipeline_verdict)i))
            known(rs_pipeline_verdict_name((enum rs_pipeline_verdict)i), "verdict");
    const struct rs_compute_row more = {.excess_ns = 1}, slower = {.excess_ns = 1, .slower_ns = 1};
    known(rs_compute_why(&more), "reason");
    known(rs_compute_why(&slower), "reason");
}

static void test_words(void **state)
{
    (void)state;
    assert_non_null(find(table("kineto"), "\"Comms Id\""));
    assert_non_null(find(table("kineto"), "comms_id"));
    assert_non_null(find(table("kineto"), "ProfilerStep#"));
    assert_string_equal(find(&rs_terms_nccl, "sendgpuwait")->name, "ProxyStepSendGPUWait");
    assert_string_equal(find(&rs_terms_nccl, "InProgress")->name, "ProxyOpInProgress");
    assert_string_equal(find(&rs_terms_words, "Fan Out")->name, "fan-out");
    assert_null(find(&rs_terms_nccl, ""));
    assert_null(find(&rs_terms_nccl, "ProxySte"));
    assert_null(find(&rs_terms_nccl, "ProxyStepX"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_of_nccl),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_all_that_is_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

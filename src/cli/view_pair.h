/* Two runs in one page, the first above the second, aligned by step: for `whatif` (the recorded and the replayed run) and
 * `diff` (run A and run B).
 *
 *     const struct rs_view_pair pair = {.title = "A against B", .sentences = said, .nsentences = n,
 *                                       .runs = {{.model = &a, .inputs = &in_a, .filters = &filters, .title = "A: rec1",
 *                                                 .rows = rs_view_rows(RS_LEVEL_OPS), .zero = RS_TIME_NONE, ...}, ...}};
 *     RS_TRY(rs_view_pair_write(&pair, "out.html", force, err));
 *
 * Models, inputs and texts are the caller's. The page opens with both runs aligned at their `zero`, and can be aligned at
 * any step that both have. One thread at a time. */
#ifndef RS_CLI_VIEW_PAIR_H
#define RS_CLI_VIEW_PAIR_H

#include "analyse/steps.h"
#include "cli/view_bundle.h"

struct rs_view_run {
    struct rs_model *model; /* joined; timelines may add notes to it */
    struct rs_inputs *inputs;
    const struct rs_filters
        *filters; /* resolved; of what is drawn, and of its report. NULL: everything, and no report */
    const char *title; /* above its rows: "recorded" */
    uint64_t rows; /* what is drawn: bits 1 << enum rs_row */
    const struct rs_bundle_step *steps; /* by time; NULL: unknown */
    uint32_t nsteps;
    int64_t zero; /* on its common axis: where it is aligned. RS_TIME_NONE: at the first step that both have (else at
                   * its first operation) */
};

struct rs_view_pair {
    const char *title; /* of the page */
    const char *const *sentences; /* what the comparison says */
    uint32_t nsentences;
    struct rs_view_run runs[2];
};

/* Writes the page to a file; "-": standard output. */
enum rs_status rs_view_pair_write(const struct rs_view_pair *pair, const char *out, bool force, struct rs_err *err);

/* The steps of a run, as the page shows them: those with a known start. *n: how many. To be freed. */
struct rs_bundle_step *rs_view_steps(const struct rs_steps *steps, uint32_t *n);

#endif

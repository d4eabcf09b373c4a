/* ringscope critical: the critical path across ranks, and whose time it is. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "cli/commands.h"
#include "cli/print/output.h"
#include "cli/print/screen.h"
#include "cli/print/table.h"
#include "cli/print/time_zero.h"
#include "cli/reading.h"
#include "conclude/report.h"
#include "fields/critical.h"

/* ---- text ---- */

enum { MOST_ROWS = 15, MOST_SEGMENTS = 10 }; /* in the text; --json has them all */

static void cells_who(struct rs_table *t, const struct rs_view *v, uint32_t rank_id)
{
    const struct rs_rank *s = &v->model->ranks[rank_id];
    const char *host = rs_host_label(v->model, s->host);
    if (s->number >= 0)
        rs_table_cell(t, "%" PRId32, s->number);
    else
        rs_table_cell(t, "?");
    rs_table_cell(t, "%s", host);
}

static void cell_name(struct rs_table *t, const struct rs_critical *c, uint32_t name)
{
    rs_table_name(t, *c->names[name] ? c->names[name] : "?");
}

static void print_rows(const struct rs_critical *c, const struct rs_view *v)
{
    struct rs_table t = {0};
    double window = (double)rs_time_minus(c->to, c->from);
    rs_table_column(&t, RS_RIGHT, RS_H_SHARE);
    rs_table_column(&t, RS_RIGHT, RS_H_TIME);
    rs_table_column(&t, RS_RIGHT, RS_H_SEGMENTS);
    rs_table_column(&t, RS_RIGHT, RS_H_RANK);
    rs_table_column(&t, RS_LEFT, RS_H_HOST);
    rs_table_column(&t, RS_LEFT, RS_H_KIND);
    rs_table_column(&t, RS_LEFT, RS_H_NAME);
    for (uint32_t i = 0; i < c->nrows && i < MOST_ROWS; i++) {
        const struct rs_critical_row *r = &c->rows[i];
        rs_table_cell(&t, "%.1f %%", 100 * (double)r->ns / window);
        rs_table_cell(&t, "%s", rs_text_ns(r->ns).s);
        rs_table_cell(&t, "%" PRIu32, r->segments);
        cells_who(&t, v, r->rank_id);
        rs_table_cell(&t, "%s%s", rs_critical_kind_name(r->kind), r->tie_ns > r->ns / 2 ? " (tie)" : "");
        cell_name(&t, c, r->name);
    }
    rs_table_print(&t, "", stdout);
    rs_table_free(&t);
    if (c->nrows > MOST_ROWS) rs_screen_print("and %" PRIu32 " more (--json has all)\n", c->nrows - MOST_ROWS);
}

/* The longest segments, in the order of time. */
static uint32_t find_longest(const struct rs_critical *c, uint32_t *longest)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->nsegments; i++) {
        int64_t ns = rs_time_minus(c->segments[i].to, c->segments[i].from);
        bool full = n == MOST_SEGMENTS;
        uint32_t at = full ? 0 : n++;
        if (full) { /* replaces the shortest */
            for (uint32_t k = 1; k < n; k++) {
                const struct rs_critical_segment *x = &c->segments[longest[k]], *y = &c->segments[longest[at]];
                if (rs_time_minus(x->to, x->from) < rs_time_minus(y->to, y->from)) at = k;
            }
            const struct rs_critical_segment *y = &c->segments[longest[at]];
            if (rs_time_minus(y->to, y->from) >= ns) continue;
            for (; at + 1 < n; at++) longest[at] = longest[at + 1];
        }
        longest[at] = i;
    }
    return n;
}

static void print_segments(const struct rs_critical *c, const struct rs_view *v)
{
    struct rs_table t = {0};
    uint32_t longest[MOST_SEGMENTS], n = find_longest(c, longest);
    rs_table_column(&t, RS_RIGHT, RS_H_AT);
    rs_table_column(&t, RS_RIGHT, RS_H_DURATION);
    rs_table_column(&t, RS_RIGHT, RS_H_RANK);
    rs_table_column(&t, RS_LEFT, RS_H_HOST);
    rs_table_column(&t, RS_LEFT, RS_H_KIND);
    rs_table_column(&t, RS_LEFT, RS_H_NAME);
    for (uint32_t i = 0; i < n; i++) {
        const struct rs_critical_segment *s = &c->segments[longest[i]];
        rs_table_cell(&t, "%s", rs_zero_moment(v->model, s->from).s);
        rs_table_cell(&t, "%s", rs_text_ns(rs_time_minus(s->to, s->from)).s);
        cells_who(&t, v, s->rank_id);
        rs_table_cell(&t, "%s%s", rs_critical_kind_name(s->kind), s->tie ? " (tie)" : "");
        cell_name(&t, c, s->name);
    }
    rs_screen_print("\nlongest segments\n");
    rs_table_print(&t, "", stdout);
    rs_table_free(&t);
    rs_zero_print(v->model);
}

static void print_text(const struct rs_critical *c, const struct rs_view *v, const struct rs_steps *steps,
                       const bool *named)
{
    rs_screen_conclude_named((const char *const *)c->conclusion, c->nconclusion, v->model, named);
    if (c->from != RS_TIME_NONE) {
        rs_screen_print("\ncritical path of %s over %" PRIu32 " rank%s: %s segment%s, %s change%s of rank, %s tied",
                        rs_text_ns(rs_time_minus(c->to, c->from)).s, c->ranks, c->ranks == 1 ? "" : "s",
                        rs_text_count(c->nsegments).s, c->nsegments == 1 ? "" : "s", rs_text_count(c->jumps).s,
                        c->jumps == 1 ? "" : "s", rs_text_count(c->ties).s);
        if (c->error_ns > 0) rs_screen_print("; clock error up to %s", rs_text_ns(c->error_ns).s);
        rs_screen_print("\n");
        if (steps->left_out) rs_screen_print("%s\n", steps->left_out);
        rs_screen_print("\n");
        print_rows(c, v);
        print_segments(c, v);
    }
}

/* ---- the command ---- */

struct options {
    struct rs_common common;
    int warmup; /* -1: the start-up */
};

static enum rs_status print(const struct options *o, struct rs_view *view, const struct rs_steps *steps,
                            const bool *named, int *status, struct rs_err *err)
{
    struct rs_filter filter = rs_steps_filter(steps, &o->common.filters.filter);
    struct rs_critical c;
    rs_critical_find(&c, view, &filter, named);
    enum rs_status done = RS_OK;
    if (o->common.json) {
        struct rs_json *j = rs_output_json();
        rs_out_json(j, &rs_out_critical, &(struct rs_critical_fields){&c, view, steps});
        rs_json_newline(j);
        done = rs_json_finish(j, err);
    } else {
        print_text(&c, view, steps, named);
    }
    if (c.from == RS_TIME_NONE && (c.unended || c.timeless)) *status = RS_EXIT_FAILURE; /* these inputs cannot answer */
    rs_critical_free(&c);
    return done;
}

static enum rs_status show(const struct rs_command *self, struct rs_model *m, struct rs_inputs *in, void *options,
                           int *status, struct rs_err *err)
{
    (void)self, (void)in;
    const struct options *o = options;
    struct rs_report_options report = {.filter = &o->common.filters.filter,
                                       .warmup = o->warmup < 0 ? RS_NONE : (uint32_t)o->warmup};
    struct rs_filter any_time = *report.filter; /* work outside the window may be waited for inside it */
    any_time.has_from = any_time.has_to = false;
    bool *named;
    RS_TRY(rs_report_named(&named, m, &report, err));
    struct rs_view view;
    struct rs_steps steps;
    rs_view_init(&view, m, &any_time);
    enum rs_status done = rs_steps_find(&steps, &view, err);
    if (done == RS_OK) {
        rs_steps_within(&steps, report.filter, report.warmup);
        done = print(o, &view, &steps, named, status, err);
        rs_steps_free(&steps);
    }
    rs_view_free(&view);
    free(named);
    return done;
}

static int run(const struct rs_command *self, int argc, char **argv)
{
    struct options o = {.warmup = -1};
    const struct rs_opt opts[] = {
        {RS_OPT_COUNT, 0, "warmup", &o.warmup, "N", "leave out the first N steps (those recognised as start-up)"},
        {.kind = RS_OPT_END},
    };
    int n, done = rs_common_parse(self, &o.common, opts, argc, argv, &n);
    return done >= 0 ? done : rs_reading_model(self, argv + 1, n, &o.common, show, &o);
}

const struct rs_command rs_cmd_critical = {
    .name = "critical",
    .summary = "the critical path across ranks, by rank and kind of work",
    .usage = "[options] IN...",
    .text =
        "Walks back from the last end in the window: through the work of a rank, and at an operation to the rank that\n"
        "started it last. Only work on this path determines how long the run takes. Its segments add up to the "
        "window,\n"
        "which --from and --to select.",
    .examples = "ringscope critical rec                       # by rank and kind, and the longest segments\n"
                "ringscope critical --from 2s --to 3s rec     # of one second\n"
                "ringscope critical --json rec | jq '.by[0]'",
    .json = "one JSON object, with every segment",
    .takes = "filter run same-host",
    .run = run,
};

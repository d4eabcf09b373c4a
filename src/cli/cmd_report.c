/* ringscope report: a conclusion, time by function and size, late ranks and why, the network, outlier steps. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/print/output.h"
#include "cli/print/plain.h"
#include "cli/print/screen.h"
#include "cli/print/table.h"
#include "cli/print/time_zero.h"
#include "cli/reading.h"
#include "cli/report_reference.h"
#include "cli/report_roofline.h"
#include "cli/settings.h"
#include "conclude/report.h"
#include "fields/statistics.h"
#include "foreign/nccl_tests/nccl_tests.h"
#include "join/waits.h"
#include "trace/differences.h"

/* ---- text ----
 * The text of `ringscope report`: the conclusion, and the tables. Prints to stdout and borrows everything. */

enum {
    MOST_ROWS = 10,
    MOST_FUNCS = 20,
    MOST_WINDOWS = 60,
    MOST_OPERATIONS = 12,
    MOST_METRICS = 24
}; /* --json has them all */

static const char *plural(uint64_t n)
{
    return n == 1 ? "" : "s";
}

static void print_table(struct rs_table *t)
{
    rs_table_print(t, "", stdout);
    rs_table_free(t);
}

static void print_more(uint64_t all, uint64_t shown)
{
    if (all > shown) rs_screen_print("and %s more (--json has all)\n", rs_text_count(all - shown).s);
}

/* ---- the head ---- */

static void print_head(const struct rs_report *r)
{
    const struct rs_report_basis *b = &r->basis;
    if (!b->totals.ops && (r->statistics.cells || r->view.model->nmetrics)) {
        rs_screen_print("summaries of %" PRIu32 " process%s, without a time axis\n", r->view.model->nprocs,
                        r->view.model->nprocs == 1 ? "" : "es");
        return;
    }
    rs_screen_print("%" PRIu32 " rank%s", b->ranks, plural(b->ranks));
    if (b->hosts) rs_screen_print(" on %" PRIu32 " host%s", b->hosts, plural(b->hosts));
    if (b->unseen > 0) rs_screen_print(" (%" PRId64 " more without a recording)", b->unseen);
    rs_screen_print(", %s operation%s", rs_text_count(b->totals.ops).s, plural(b->totals.ops));
    if (b->from_ns != RS_TIME_NONE) {
        rs_screen_print("%s, for %s", rs_text_when(b->from_ns).s, rs_text_ns(rs_time_minus(b->to_ns, b->from_ns)).s);
    }
    rs_screen_print("\n");
    if (!b->totals.ops) return;
    const struct rs_steps *s = &r->steps;
    if (s->counted) {
        rs_screen_print("%" PRIu32 " step%s", s->counted, plural(s->counted));
        if (s->ops) rs_screen_print(" of %" PRIu32 " operation%s", s->ops, plural(s->ops));
        if (s->usual_ns != RS_TIME_NONE) {
            rs_screen_print(", %s each", rs_text_ns(s->usual_ns).s);
            if (s->counted >= 10) rs_screen_print(" (p90 %s)", rs_text_ns(s->time_ns.p90).s);
        }
        if (s->counted_marked == s->counted)
            rs_screen_print(", as the framework marked them");
        else if (s->counted_marked)
            rs_screen_print(", %" PRIu32 " of them marked by the framework", s->counted_marked);
    } else {
        rs_screen_print(s->n ? "no step begins here" : "no steps found");
    }
    if (b->totals.error_ns == RS_ONE_CLOCK_NS)
        rs_screen_print("; all on one clock, to %s", rs_text_ns(b->totals.error_ns).s);
    else if (b->totals.error_ns > 0)
        rs_screen_print("; clock error up to %s", rs_text_ns(b->totals.error_ns).s);
    if (r->layout.text) rs_screen_print("\nlayout: %s", r->layout.text);
    rs_screen_print("\n%s compared: %s with a last rank, %s tie%s", rs_text_count(b->totals.compared).s,
                    rs_text_count(b->totals.compared - b->totals.ties).s, rs_text_count(b->totals.ties).s,
                    plural(b->totals.ties));
    uint64_t rest = b->totals.ops - b->totals.compared;
    if (rest) {
        rs_screen_print("; %s not (", rs_text_count(rest).s);
        const struct {
            uint64_t n;
            const char *why;
        } why[] = {{b->alone, "on one rank"},
                   {b->untimed, "without known starts"},
                   {b->not_measured, "not measured, outside of windows of detail"},
                   {b->unaligned, "on clocks apart"},
                   {b->totals.violations, "with times that cannot be"}};
        for (size_t i = 0, any = 0; i < sizeof why / sizeof *why; i++)
            if (why[i].n) rs_screen_print("%s%s %s", any++ ? ", " : "", rs_text_count(why[i].n).s, why[i].why);
        rs_screen_print(")");
    }
    if (b->totals.mismatches) rs_screen_print("; %s with mismatched arguments", rs_text_count(b->totals.mismatches).s);
    rs_screen_print("\n");
    if (s->left_out) rs_screen_print("%s\n", s->left_out);
    if (b->from_ns == RS_TIME_NONE) return;
    rs_screen_print("operations from %s to %s. ", rs_zero_moment(r->view.model, b->from_ns).s,
                    rs_zero_moment(r->view.model, b->to_ns).s);
    rs_zero_print(r->view.model);
}

/* ---- tables ---- */

static void cell_ns(struct rs_table *t, int64_t ns, bool known)
{
    rs_table_cell(t, "%s", known ? rs_text_ns(ns).s : "?");
}

/* A sum of nothing is not a time. */
static void cell_sum(struct rs_table *t, int64_t ns)
{
    rs_table_cell(t, "%s", ns ? rs_text_ns(ns).s : "-");
}

/* The mean wait for the last rank; below twice the clock error it is not shown. */
static void cell_wait(struct rs_table *t, const struct rs_report *r, const struct rs_func_row *x)
{
    int64_t mean = x->waited ? x->wait_sum_ns / (int64_t)x->waited : 0, least = 2 * r->basis.totals.error_ns;
    if (x->waited && mean < least)
        rs_table_cell(t, "<%s", rs_text_ns(least).s);
    else
        cell_ns(t, mean, x->waited);
}

static void cell_rate(struct rs_table *t, double gbs)
{
    rs_table_cell(t, "%s", rs_text_rate(gbs).s);
}

static void print_funcs(const struct rs_report *r, bool by_comm)
{
    static const enum rs_heading numbers[] = {RS_H_BYTES,     RS_H_CALLS,    RS_H_P50,   RS_H_P90,      RS_H_P99,
                                              RS_H_MEAN_WAIT, RS_H_TRANSFER, RS_H_BUSBW, RS_H_INCL_WAIT};
    const struct rs_model *m = r->view.model;
    struct rs_table t = {0};
    rs_table_column(&t, RS_LEFT, RS_H_FUNCTION);
    rs_table_numbers(&t, numbers, sizeof numbers / sizeof *numbers);
    rs_table_column(&t, RS_LEFT, by_comm ? RS_H_COMMUNICATOR : RS_H_COMMUNICATORS);
    for (uint32_t i = 0; i < r->bandwidth.nrows && i < MOST_FUNCS; i++) {
        const struct rs_func_row *x = &r->bandwidth.rows[i];
        rs_table_cell(&t, "%s", rs_model_text(m, x->func));
        if (x->unsized)
            rs_table_cell(&t, "?");
        else if (x->bytes_min != x->bytes_max)
            rs_table_cell(&t, "~%s", rs_text_bytes(x->bytes).s);
        else
            rs_table_cell(&t, "%s", rs_text_size(x->bytes).s);
        rs_table_cell(&t, "%s", rs_text_count(x->calls).s);
        cell_ns(&t, x->p50_ns, x->timed);
        cell_ns(&t, x->p90_ns, x->timed);
        cell_ns(&t, x->p99_ns, x->timed);
        cell_wait(&t, r, x);
        cell_ns(&t, rs_func_row_transfer(x), x->transferred);
        cell_rate(&t, x->busbw);
        cell_rate(&t, x->busbw_seen);
        const char *text = x->class != RS_NONE ? m->classes[x->class].text : NULL;
        if (x->comm != RS_NONE && (by_comm || !text))
            rs_table_cell(&t, "0x%016" PRIx64 "%s%s", m->comms[x->comm].hash, m->comms[x->comm].name ? " " : "",
                          m->comms[x->comm].name ? m->comms[x->comm].name : "");
        else
            rs_table_cell(&t, "%s", text ? text : "?");
    }
    rs_screen_print(
        "\ntime of a call as the ranks saw it; mean wait of a rank for the last one; mean transfer after that\n");
    print_table(&t);
    print_more(r->bandwidth.nrows, MOST_FUNCS);
}

static void cell_rank(struct rs_table *t, const struct rs_report *r, uint32_t rank_id)
{
    const struct rs_rank *x = &r->view.model->ranks[rank_id];
    if (x->number >= 0)
        rs_table_cell(t, "%" PRId32, x->number);
    else
        rs_table_cell(t, "?");
}

static void print_stragglers(const struct rs_report *r)
{
    static const enum rs_heading numbers[] = {RS_H_COST, RS_H_INHERITED, RS_H_PASSED_ON, RS_H_GPU_TIME_LOST, RS_H_LAST};
    const struct rs_stragglers *s = &r->stragglers;
    struct rs_table t = {0};
    uint32_t rows = 0, all = 0;
    rs_table_column(&t, RS_RIGHT, RS_H_RANK);
    rs_table_column(&t, RS_LEFT, RS_H_HOST);
    rs_table_column(&t, RS_RIGHT, RS_H_GPU);
    rs_table_numbers(&t, numbers, sizeof numbers / sizeof *numbers);
    rs_table_column(&t, RS_LEFT, RS_H_WHY);
    for (uint32_t i = 0; i < s->nrows; i++) {
        const struct rs_straggler *x = &s->rows[i];
        if (!rs_report_matters(r, x) || ++all > MOST_ROWS) continue;
        rows++;
        if (x->rank_id != RS_NONE && r->named[x->rank_id]) rs_table_mark(&t);
        if (x->rank_id != RS_NONE)
            cell_rank(&t, r, x->rank_id);
        else
            rs_table_cell(&t, "all");
        rs_table_cell(&t, "%s", rs_host_label(r->view.model, x->host));
        if (x->rank_id != RS_NONE && r->view.model->ranks[x->rank_id].device >= 0)
            rs_table_cell(&t, "%" PRId32, r->view.model->ranks[x->rank_id].device);
        else
            rs_table_cell(&t, x->rank_id != RS_NONE ? "?" : "");
        cell_sum(&t, x->cost_ns);
        cell_sum(&t, x->inherited_ns);
        cell_sum(&t, x->passed_on_ns);
        cell_sum(&t, x->gpu_time_lost_ns);
        rs_table_cell(&t, "%.0f %% (%.0f-%.0f)", 100 * x->share, 100 * x->share_low, 100 * x->share_high);
        rs_table_cell(&t, "%s", rs_why_text(x->why));
    }
    if (!rows) {
        rs_table_free(&t);
        return;
    }
    rs_screen_print("\nlate ranks, by cost to the others\n");
    print_table(&t);
    print_more(all, MOST_ROWS);
}

static void print_compute(const struct rs_report *r)
{
    const struct rs_compute *c = &r->compute;
    if (!c->n) return;
    struct rs_table t = {0};
    static const enum rs_heading numbers[] = {RS_H_EQUALS,    RS_H_COMPUTE, RS_H_OF_EQUALS,
                                              RS_H_LONGER_BY, RS_H_RATIO,   RS_H_STEPS};
    rs_table_column(&t, RS_RIGHT, RS_H_RANK);
    rs_table_numbers(&t, numbers, sizeof numbers / sizeof *numbers);
    rs_table_column(&t, RS_LEFT, RS_H_WHY);
    for (uint32_t i = 0; i < c->n && i < MOST_ROWS; i++) {
        const struct rs_compute_row *x = &c->rows[i];
        const char *kernel = x->nkernels ? rs_model_name_text(r->view.model, x->kernels[0].name) : "?";
        cell_rank(&t, r, x->rank_id);
        rs_table_cell(&t, "%" PRIu32, x->equals);
        cell_ns(&t, x->usual_ns + x->excess_ns, true);
        cell_ns(&t, x->usual_ns, true);
        cell_ns(&t, x->excess_ns, true);
        rs_table_cell(&t, "%.2f (%.2f-%.2f)", x->ratio, x->ratio_low, x->ratio_high);
        rs_table_cell(&t, "%" PRIu32 " of %" PRIu32, x->late, x->steps);
        rs_table_cell(&t, "%s: %.60s", rs_compute_why(x), kernel);
    }
    rs_screen_print("\nGPUs that compute longer than their equals, per step\n");
    print_table(&t);
    print_more(c->n, MOST_ROWS);
}

static void print_network(const struct rs_report *r)
{
    static const enum rs_heading numbers[] = {RS_H_PEER,   RS_H_BYTES, RS_H_MESSAGES, RS_H_NET_RATE, RS_H_OWN_GPU,
                                              RS_H_CREDIT, RS_H_NET,   RS_H_RECEIVE,  RS_H_FLUSH,    RS_H_CONSUME};
    struct rs_table t = {0};
    if (!r->network.nrows) return;
    rs_table_column(&t, RS_RIGHT, RS_H_RANK);
    rs_table_numbers(&t, numbers, sizeof numbers / sizeof *numbers);
    rs_table_column(&t, RS_LEFT, RS_H_NONE);
    for (uint32_t i = 0; i < r->network.nrows && i < MOST_ROWS; i++) {
        const struct rs_link_row *x = &r->network.rows[i];
        cell_rank(&t, r, x->rank_id);
        if (x->peer >= 0)
            rs_table_cell(&t, "%" PRId32, x->peer);
        else
            rs_table_cell(&t, "?");
        rs_table_cell(&t, "%s", x->messages ? rs_text_bytes(x->bytes).s : "-"); /* only received from this peer */
        rs_table_cell(&t, "%s", x->messages ? rs_text_count(x->messages).s : "-");
        if (x->messages)
            cell_rate(&t, x->net_ns > 0 ? (double)x->bytes / (double)x->net_ns : NAN);
        else
            rs_table_cell(&t, "-");
        const int64_t times[] = {x->gpu_ns, x->credit_ns, x->net_ns, x->recv_ns, x->flush_ns, x->consume_ns};
        for (size_t k = 0; k < sizeof times / sizeof *times; k++) cell_sum(&t, times[k]);
        if (x->slower >= 2)
            rs_table_cell(&t, "%.1f times the median", x->slower);
        else
            rs_table_cell(&t, "%s", "");
    }
    rs_screen_print(
        "\nnetwork by rank and peer: what its steps waited for (sums; several steps are in flight at once)\n");
    print_table(&t);
    print_more(r->network.nrows, MOST_ROWS);
}

static void print_one_offs(const struct rs_report *r)
{
    struct rs_table t = {0};
    if (!r->one_offs.n || !r->view.model->aligned) return; /* else steps begin on one clock and end on another */
    static const enum rs_heading numbers[] = {RS_H_STEP, RS_H_AT, RS_H_TOOK, RS_H_USUAL};
    rs_table_numbers(&t, numbers, sizeof numbers / sizeof *numbers);
    rs_table_column(&t, RS_LEFT, RS_H_WHAT_DIFFERED);
    for (uint32_t i = 0; i < r->one_offs.n && i < MOST_ROWS; i++) {
        const struct rs_one_off *x = &r->one_offs.rows[i];
        if (x->mark != RS_NONE)
            rs_table_cell(&t, "%" PRIu32 " (#%" PRIu32 ")", x->step, x->mark);
        else
            rs_table_cell(&t, "%" PRIu32, x->step);
        rs_table_cell(&t, "%s", rs_zero_moment(r->view.model, x->from_ns).s);
        cell_ns(&t, x->duration_ns, true);
        cell_ns(&t, x->usual_ns, true);
        rs_table_cell(&t, "%s%s", x->text, x->left_out ? "; left out" : "");
    }
    rs_screen_print("\nsteps that took longer than usual\n");
    print_table(&t);
    print_more(r->one_offs.n, MOST_ROWS);
}

static void print_course(const struct rs_report *r)
{
    const struct rs_course *c = &r->course;
    struct rs_table t = {0};
    if (!c->nrows) return;
    static const enum rs_heading numbers[] = {RS_H_FROM, RS_H_STEP,  RS_H_STEPS,      RS_H_CALLS, RS_H_P50,
                                              RS_H_WAIT, RS_H_BUSBW, RS_H_WORST_RANK, RS_H_COST};
    rs_table_numbers(&t, numbers, sizeof numbers / sizeof *numbers);
    for (uint32_t i = 0; i < c->nrows && i < MOST_WINDOWS; i++) {
        const struct rs_course_row *x = &c->rows[i];
        rs_table_cell(&t, "%s", rs_zero_moment(r->view.model, x->from_ns).s);
        if (x->steps)
            rs_table_cell(&t, "%" PRIu32, x->first_step);
        else
            rs_table_cell(&t, "%s", "");
        rs_table_cell(&t, "%" PRIu32, x->steps);
        rs_table_cell(&t, "%s", rs_text_count(x->calls).s);
        cell_ns(&t, x->p50_ns, x->timed);
        if (isnan(x->wait_share))
            rs_table_cell(&t, "?");
        else
            rs_table_cell(&t, "%.0f %%", 100 * x->wait_share);
        cell_rate(&t, x->busbw);
        if (x->worst != RS_NONE)
            cell_rank(&t, r, x->worst);
        else
            rs_table_cell(&t, "-");
        cell_ns(&t, x->worst_ns, true);
    }
    const struct rs_func_row *lead = c->leading != RS_NONE ? &r->bandwidth.rows[c->leading] : NULL;
    if (lead)
        rs_screen_print("\nchanges over time; p50 and busbw of %s of %s\n", rs_model_text(r->view.model, lead->func),
                        rs_text_bytes(lead->bytes).s);
    else
        rs_screen_print("\nchanges over time; no times of operations are known\n");
    print_table(&t);
    print_more(c->nrows, MOST_WINDOWS);
    for (uint32_t i = 0; i < c->nchanges; i++) {
        rs_screen_print("change: ");
        rs_screen_print("%s\n", c->changes[i].text);
    }
}

/* ---- statistics: sums without a time axis ---- */

static void print_titled(struct rs_table *t, const char *title, uint64_t all, uint64_t shown)
{
    rs_screen_print("\n%s\n", title);
    print_table(t);
    print_more(all, shown);
}

static void cell_time(struct rs_table *t, int64_t ns)
{
    rs_table_cell(t, "%s", ns == RS_TIME_NONE ? "?" : rs_text_ns(ns).s);
}

static void cell_process(struct rs_table *t, const struct rs_statistics *s, uint32_t proc)
{
    if (s->model->procs[proc].pid)
        rs_table_cell(t, "%" PRIu32, s->model->procs[proc].pid);
    else
        rs_table_cell(t, "?");
}

static void cell_name(struct rs_table *t, const struct rs_statistics *s, uint32_t name)
{
    rs_table_name(t, rs_model_name_text(s->model, name));
}

static void cell_share(struct rs_table *t, double share)
{
    if (isnan(share))
        rs_table_cell(t, "?");
    else
        rs_table_cell(t, "%.1f %%", 100 * share);
}

static void print_stat_operations(const struct rs_statistics *s)
{
    static const enum rs_heading numbers[] = {RS_H_PROCESS, RS_H_CALLS, RS_H_TIME, RS_H_OF_GPU,
                                              RS_H_AVG,     RS_H_MIN,   RS_H_MAX,  RS_H_WAIT};
    uint32_t n = s->nrows[RS_TABLE_OPERATIONS], shown = 0;
    struct rs_table t = {0};
    if (!n) return;
    rs_table_column(&t, RS_LEFT, RS_H_FUNCTION);
    rs_table_numbers(&t, numbers, sizeof numbers / sizeof *numbers);
    rs_table_column(&t, RS_LEFT, RS_H_NAME);
    for (; shown < n && shown < MOST_OPERATIONS; shown++) {
        const struct rs_stat_row *row = &s->rows[RS_TABLE_OPERATIONS][shown];
        for (uint32_t i = 0; i < row->n; i++) {
            const struct rs_cell *c = &s->cells[row->first + i];
            rs_table_cell(&t, "%s", i ? "" : row->func ? rs_model_text(s->model, row->func) : "?");
            cell_process(&t, s, c->proc);
            rs_table_cell(&t, "%s", rs_text_count(c->calls).s);
            cell_time(&t, c->total_ns);
            cell_share(&t, row->kind == RS_STAT_COMM ? rs_statistics_share(s, c->proc, c->total_ns) : NAN);
            cell_time(&t, rs_cell_average(c));
            cell_time(&t, c->min_ns);
            cell_time(&t, c->max_ns);
            cell_time(&t, c->wait_ns);
            if (i)
                rs_table_cell(&t, "%s", "");
            else
                cell_name(&t, s, row->name);
        }
    }
    print_titled(&t, "NCCL by process; wait: the time above the fastest process", n, shown);
}

/* Rows of host calls and kernels alike. */
static void print_stat_rows(const struct rs_statistics *s, enum rs_table_of table, const char *title)
{
    static const enum rs_heading numbers[] = {RS_H_PROCESS, RS_H_CALLS, RS_H_TIME, RS_H_OF_GPU, RS_H_AVG, RS_H_MAX};
    uint32_t n = s->nrows[table], shown = 0;
    struct rs_table t = {0};
    if (!n) return;
    rs_table_column(&t, RS_LEFT, RS_H_NAME);
    if (table == RS_TABLE_CALLS) rs_table_column(&t, RS_RIGHT, RS_H_DIFFERS_BY);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (i != 3 || table == RS_TABLE_KERNELS) rs_table_column(&t, RS_RIGHT, numbers[i]);
    for (; shown < n && shown < MOST_ROWS; shown++) {
        const struct rs_stat_row *row = &s->rows[table][shown];
        for (uint32_t i = 0; i < row->n; i++) {
            const struct rs_cell *c = &s->cells[row->first + i];
            if (i)
                rs_table_cell(&t, "%s", "");
            else
                cell_name(&t, s, row->name);
            if (table == RS_TABLE_CALLS && i) rs_table_cell(&t, "%s", "");
            if (table == RS_TABLE_CALLS && !i) cell_time(&t, row->spread_ns);
            cell_process(&t, s, c->proc);
            rs_table_cell(&t, "%s", rs_text_count(c->calls).s);
            cell_time(&t, c->total_ns);
            if (table == RS_TABLE_KERNELS) cell_share(&t, rs_statistics_share(s, c->proc, c->total_ns));
            cell_time(&t, rs_cell_average(c));
            cell_time(&t, c->max_ns);
        }
    }
    print_titled(&t, title, n, shown);
}

static void print_stat_ranges(const struct rs_statistics *s)
{
    static const enum rs_heading numbers[] = {RS_H_CALLS, RS_H_TIME, RS_H_AVG, RS_H_GPU_TIME_INSIDE};
    uint32_t n = s->nrows[RS_TABLE_RANGES], shown = 0;
    struct rs_table t = {0};
    if (!n) return;
    rs_table_column(&t, RS_RIGHT, RS_H_PROCESS);
    rs_table_column(&t, RS_RIGHT, RS_H_THREAD);
    rs_table_column(&t, RS_LEFT, RS_H_RANGE);
    rs_table_numbers(&t, numbers, sizeof numbers / sizeof *numbers);
    for (; shown < n && shown < MOST_ROWS; shown++) {
        const struct rs_stat_row *row = &s->rows[RS_TABLE_RANGES][shown];
        const struct rs_cell *c = &s->cells[row->first];
        cell_process(&t, s, c->proc);
        rs_table_cell(&t, "%s", row->thread ? rs_model_name_text(s->model, row->thread) : "?");
        cell_name(&t, s, row->name);
        rs_table_cell(&t, "%s", rs_text_count(c->calls).s);
        cell_time(&t, c->total_ns);
        cell_time(&t, rs_cell_average(c));
        rs_table_cell(&t, "%s", c->gpu_calls ? rs_text_ns(c->gpu_ns).s : "-");
    }
    print_titled(&t, "annotated ranges (NVTX), by process and thread", n, shown);
}

static void cell_value(struct rs_table *t, double value, const char *unit)
{
    if (isnan(value))
        rs_table_cell(t, "?");
    else
        rs_table_cell(t, "%.6g%s%s", value, *unit && *unit != '%' ? " " : "", unit);
}

static void print_metrics(const struct rs_model *m)
{
    static const enum rs_heading numbers[] = {RS_H_CALLS, RS_H_MIN, RS_H_MAX, RS_H_MEAN};
    struct rs_table t = {0};
    uint32_t shown = 0;
    if (!m->nmetrics) return;
    rs_table_column(&t, RS_RIGHT, RS_H_PROCESS);
    rs_table_column(&t, RS_LEFT, RS_H_METRIC);
    rs_table_numbers(&t, numbers, sizeof numbers / sizeof *numbers);
    rs_table_column(&t, RS_LEFT, RS_H_OF);
    for (; shown < m->nmetrics && shown < MOST_METRICS; shown++) {
        const struct rs_metric *x = &m->metrics[shown];
        const char *unit = rs_model_name_text(m, x->unit);
        if (x->proc != RS_NONE && m->procs[x->proc].pid)
            rs_table_cell(&t, "%" PRIu32, m->procs[x->proc].pid);
        else
            rs_table_cell(&t, "?");
        rs_table_name(&t, rs_model_name_text(m, x->name));
        if (x->calls)
            rs_table_cell(&t, "%s", rs_text_count(x->calls).s);
        else
            rs_table_cell(&t, "?");
        cell_value(&t, x->min, unit);
        cell_value(&t, x->max, unit);
        cell_value(&t, x->mean, unit);
        rs_table_name(&t, rs_model_name_text(m, x->of));
    }
    print_titled(&t, "metrics, as the log has them", m->nmetrics, shown);
}

static void print_statistics(const struct rs_statistics *s)
{
    if (s->cells) {
        print_stat_operations(s);
        print_stat_ranges(s);
        print_stat_rows(s, RS_TABLE_CALLS,
                        "host calls, by how much they differ between the processes that ran kernels");
        print_stat_rows(s, RS_TABLE_KERNELS, "other work on the GPU");
    }
    print_metrics(s->model);
}

/* ---- all of it ---- */

/* `by_comm`: a row for each communicator, not for each class of them. */
static void report_print(const struct rs_report *r, const struct rs_differences *settings,
                         const struct rs_reference_files *reference, bool by_comm)
{
    rs_screen_conclude_named((const char *const *)r->conclusion, r->nconclusion, r->view.model, r->named);
    if (r->nconclusion) rs_screen_print("\n");
    print_head(r);
    if (r->bandwidth.nrows) print_funcs(r, by_comm);
    if (reference && r->bandwidth.nrows) rs_reached_print(r, reference);
    if (!isnan(r->link_gbs) && r->bandwidth.nrows) rs_link_print(r);
    if (r->basis.totals.ops) { /* else steps are of what was filtered away */
        print_stragglers(r);
        print_compute(r);
        print_network(r);
        print_one_offs(r);
        print_course(r);
    }
    print_statistics(&r->statistics);
    rs_settings_print(settings);
}

/* ---- --table nccl-tests ---- */

/* What can be said of a row, in the order in which it is shown. */
enum known_of { OF_TRANSFERS, AS_SEEN, MANY_SIZES, NO_SIZE, NO_TIME };

static enum known_of known_of(const struct rs_func_row *x)
{
    if (x->unsized) return NO_SIZE;
    if (rs_func_row_transfer(x) <= 0 && rs_func_row_mean(x) <= 0) return NO_TIME; /* none is below 0, too */
    if (x->bytes_min != x->bytes_max) return MANY_SIZES;
    return rs_func_row_transfer(x) > 0 ? OF_TRANSFERS : AS_SEEN;
}

/* ---- blocks: a function on communicators of one shape ---- */

struct sorting {
    const struct rs_model *model;
    const struct rs_func_row *rows;
    bool by_comm;
};

static int by_shape(const struct sorting *s, const struct rs_func_row *x, const struct rs_func_row *y)
{
    int c = strcmp(rs_model_text(s->model, x->func), rs_model_text(s->model, y->func));
    if (!c) c = (x->kind > y->kind) - (x->kind < y->kind);
    if (!c) c = (x->nranks > y->nranks) - (x->nranks < y->nranks);
    if (!c) c = (x->class > y->class) - (x->class < y->class);
    return c || !s->by_comm ? c : (x->comm > y->comm) - (x->comm < y->comm);
}

static int by_size(const void *a, const void *b, void *of)
{
    const struct sorting *s = of;
    const struct rs_func_row *x = &s->rows[*(const uint32_t *)a], *y = &s->rows[*(const uint32_t *)b];
    int c = by_shape(s, x, y);
    if (!c) c = (int)known_of(x) - (int)known_of(y);
    if (!c) c = (x->bytes > y->bytes) - (x->bytes < y->bytes);
    return c ? c : (x > y) - (x < y);
}

/* ---- lines ---- */

static void print_device(const struct rs_model *m, const struct rs_rank *s)
{
    char line[600], rank[16] = " ?", device[16] = " ?", pid[16] = "     ?";
    const char *bus = s->member != RS_NONE ? m->members[s->member].bus_id : "";
    if (s->number >= 0) snprintf(rank, sizeof rank, "%2" PRId32, s->number);
    if (s->device >= 0) snprintf(device, sizeof device, "%2" PRId32, s->device);
    if (m->procs[s->proc].pid) snprintf(pid, sizeof pid, "%6" PRIu32, m->procs[s->proc].pid);
    snprintf(line, sizeof line, "#  Rank %s Group  0 Pid %s on %10.256s device %s [%.31s]", rank, pid,
             rs_host_label(m, s->host), device, *bus ? bus : "?");
    rs_plain_line(line, stdout);
}

static void print_table_head(void)
{
    printf(
        "# ringscope report: achieved bandwidth, in the format of nccl-tests\n"
        "# time: the mean transfer of the operations, from the last rank's start to the last end: without the wait "
        "for\n"
        "#   late ranks, as calls one behind the other have none. algbw and busbw are over it. Where it is not known,\n"
        "#   rows say so. The mean as ranks saw it, waiting included, is in --json (time_ns.mean, busbw_seen_gbs)\n"
        "# redop, and whether operations were in place, are not recorded; results are not checked\n"
        "#\n");
}

static void print_block_heading(const struct rs_report *r, const struct rs_func_row *x, bool by_comm)
{
    const struct rs_model *m = r->view.model;
    const char *func = rs_model_text(m, x->func), *program = rs_nccl_tests_program(func);
    char line[400], ranks[32] = "", comm[40] = "";
    bool alike = rs_func_row_alike(m, x);
    if (x->nranks > 0) snprintf(ranks, sizeof ranks, " nranks %" PRId32, x->nranks);
    if (by_comm && x->comm != RS_NONE) snprintf(comm, sizeof comm, "0x%016" PRIx64 ", ", m->comms[x->comm].hash);
    snprintf(line, sizeof line, "# Collective: %s%s (%s on %s%.200s)", program && alike ? program : "no test", ranks,
             *func ? func : "?", comm, x->class != RS_NONE ? m->classes[x->class].text : "?");
    printf("#\n");
    rs_plain_line(line, stdout);
    if (!alike)
        printf("# size: the bytes of %s; nccl-tests count in another way\n", x->kind == RS_OP_FANOUT
                                                                                 ? "all sends of a group call"
                                                                             : x->kind == RS_OP_PAIR ? "one send"
                                                                                                     : "one rank");
    printf("#\n# %10s  %12s  %8s  %6s  %6s  %7s  %6s  %6s  %6s\n", "size", "count", "type", "redop", "root", "time",
           "algbw", "busbw", "#wrong");
    printf("# %10s  %12s  %8s  %6s  %6s  %7s  %6s  %6s  %6s\n", "(B)", "(elements)", "", "", "", "(us)", "(GB/s)",
           "(GB/s)", "");
}

/* As many digits behind the point as there is room for. */
static const char *fixed(char *to, size_t room, int width, double value)
{
    if (isnan(value)) return "N/A";
    for (int digits = 2; digits >= 0; digits--)
        if (snprintf(to, room, "%.*f", digits, value) <= width) return to;
    snprintf(to, room, "%.1e", value);
    return to;
}

static void print_block_row(const struct rs_report *r, const struct rs_func_row *x, bool seen)
{
    const struct rs_model *m = r->view.model;
    char count[32] = "N/A", root[16] = "n/a", time[48], algbw[48], busbw[48];
    const char *dtype = rs_model_text(m, x->dtype), *type = rs_nccl_tests_type(dtype);
    uint64_t elements;
    int64_t ns = seen ? rs_func_row_mean(x) : rs_func_row_transfer(x);
    if (rs_func_row_count(m, x, &elements)) snprintf(count, sizeof count, "%" PRIu64, elements);
    if (!x->roots) snprintf(root, sizeof root, "%" PRId32, x->root);
    printf("%12" PRIu64 "  %12s  %8s  %6s  %6s  %7s  %6s  %6s  %6s\n", x->bytes, count,
           x->dtypes ? "several"
           : type    ? type
                     : "n/a",
           "n/a", root, fixed(time, sizeof time, 7, (double)ns / 1e3),
           fixed(algbw, sizeof algbw, 6, seen ? x->algbw_seen : x->algbw),
           fixed(busbw, sizeof busbw, 6, seen ? x->busbw_seen : x->busbw), "N/A");
}

/* What has no place in the columns. */
static void print_block_rest(const struct rs_func_row *x, enum known_of known)
{
    const char *many = x->calls == 1 ? "" : "s";
    if (known == NO_SIZE)
        printf("# %s operation%s: size not known\n", rs_text_count(x->calls).s, many);
    else if (known == NO_TIME)
        printf("# %s operation%s of %s: time not known\n", rs_text_count(x->calls).s, many, rs_text_bytes(x->bytes).s);
    else
        printf("# %s operation%s of many sizes, %s to %s, in the mean %s: busbw %s GB/s, as seen %s GB/s\n",
               rs_text_count(x->calls).s, many, rs_text_bytes(x->bytes_min).s, rs_text_bytes(x->bytes_max).s,
               rs_text_bytes(x->bytes).s, rs_text_rate(x->busbw).s, rs_text_rate(x->busbw_seen).s);
}

static void print_nccl_tests(const struct rs_report *r, bool by_comm)
{
    print_table_head();
    printf("# Using devices\n");
    for (uint32_t i = 0; i < r->view.model->nranks; i++) print_device(r->view.model, &r->view.model->ranks[i]);
    uint32_t n = r->bandwidth.nrows, *order = rs_alloc(((size_t)n + 1) * sizeof *order);
    struct sorting sorting = {r->view.model, r->bandwidth.rows, by_comm};
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    qsort_r(order, n, sizeof *order, by_size, &sorting);
    enum known_of before = OF_TRANSFERS;
    for (uint32_t i = 0; i < n; i++) {
        const struct rs_func_row *x = &r->bandwidth.rows[order[i]];
        enum known_of known = known_of(x);
        if (!i || by_shape(&sorting, x, &r->bandwidth.rows[order[i - 1]])) {
            print_block_heading(r, x, by_comm);
            before = OF_TRANSFERS;
        }
        if (known == AS_SEEN && before != AS_SEEN)
            printf("# transfer times unknown: mean time as the ranks saw it, wait included\n");
        if (known <= AS_SEEN)
            print_block_row(r, x, known == AS_SEEN);
        else
            print_block_rest(x, known);
        before = known;
    }
    if (!n) printf("#\n# no operations to report\n");
    free(order);
}

/* ---- the command ---- */

struct options {
    struct rs_common common;
    const char *every, *output;
    bool force;
    double link_gbs; /* NAN: not given */
    int by, table, warmup; /* table -1: the report; warmup -1: the start-up */
    struct rs_report_options report;
    struct rs_reference_files reference;
};

static enum rs_status show(const struct rs_command *self, struct rs_model *m, struct rs_inputs *in, void *options,
                           int *exit_status, struct rs_err *err)
{
    (void)self, (void)exit_status;
    struct options *o = options;
    struct rs_report r;
    struct rs_differences settings;
    o->report.filter = &o->common.filters.filter;
    o->report.network = o->common.filters.level != RS_LEVEL_OPS && o->table < 0;
    if (!isnan(o->link_gbs)) o->report.link_gbs = o->link_gbs;
    if (o->reference.n) o->report.reference = &o->reference.reference;
    rs_differences_find(&settings, in);
    enum rs_status status = rs_report_init(&r, m, &o->report, err);
    if (status == RS_OK) {
        const struct rs_reference_files *reference = o->reference.n ? &o->reference : NULL;
        if (o->common.json) {
            struct rs_json *j = rs_output_json();
            rs_report_json(j, &r, &settings, reference);
            status = rs_json_finish(j, err);
        } else if (o->table >= 0) {
            print_nccl_tests(&r, o->report.by_comm);
        } else {
            report_print(&r, &settings, reference, o->report.by_comm);
        }
        if (status == RS_OK && o->output) status = rs_roofline_write(&r, reference, o->output, o->force, err);
        rs_report_free(&r);
    }
    rs_differences_free(&settings);
    return status;
}

/* "60s", "STEP", "10steps". False when it is none of these. */
static bool take_every(struct rs_report_options *o, const char *text)
{
    char *end;
    if (!strcasecmp(text, "step") || !strcasecmp(text, "steps")) {
        o->every_steps = 1;
        return true;
    }
    if (*text < '0' || *text > '9') return false;
    unsigned long n = strtoul(text, &end, 10);
    if (n > 0 && n <= UINT32_MAX / 2 && (!strcasecmp(end, "steps") || !strcasecmp(end, "step"))) {
        o->every_steps = (uint32_t)n;
        return true;
    }
    return rs_filters_span(text, &o->every_ns) && o->every_ns > 0;
}

static int run(const struct rs_command *self, int argc, char **argv)
{
    struct options o = {.link_gbs = NAN, .table = -1, .warmup = -1};
    const struct rs_opt opts[] = {
        {RS_OPT_WORD, 0, "by", &o.by, "class|comm", "functions by class of communicators, or by communicator (class)"},
        {RS_OPT_STRING, 0, "every", &o.every, "TIME|STEP",
         "changes over time, in windows of 60s, 500ms, STEP, 10steps"},
        {RS_OPT_WORD, 0, "table", &o.table, "nccl-tests", "achieved bandwidth, in the format of nccl-tests"},
        {RS_OPT_EACH, 0, "reference", RS_EACH(rs_reference_file, &o.reference), "FILE",
         "output of nccl-tests, to compare bandwidth with; may be repeated"},
        {RS_OPT_DOUBLE, 0, "link", &o.link_gbs, "GBS", "nominal rate of a link in GB/s, to compare bandwidth with"},
        {RS_OPT_STRING, 'o', "output", &o.output, "FILE",
         "also write bandwidth by size, and the possible, as a picture (.svg)"},
        {RS_OPT_FLAG, 'f', "force", &o.force, NULL, "overwrite FILE"},
        {RS_OPT_COUNT, 0, "warmup", &o.warmup, "N", "leave out the first N steps (those recognised as start-up)"},
        {.kind = RS_OPT_END},
    };
    int n, done = rs_common_parse(self, &o.common, opts, argc, argv, &n);
    if (done >= 0) return done;
    o.report.by_comm = o.by == 1;
    if (o.every && !take_every(&o.report, o.every))
        return rs_opt_usage(self, "--every takes a time (60s, 500ms), STEP or a number of steps (10steps), not '%s'",
                            o.every);
    o.report.warmup = o.warmup < 0 ? RS_NONE : (uint32_t)o.warmup;
    if (o.table >= 0 && (o.common.json || o.every || o.reference.n || o.common.filters.has_level))
        return rs_opt_usage(self, "--table prints nothing else: not with --json (which has it as by_func), --every, "
                                  "--level or --reference");
    if (o.link_gbs <= 0) return rs_opt_usage(self, "--link takes a rate in GB/s, above 0");
    if (o.table >= 0 && (o.output || !isnan(o.link_gbs)))
        return rs_opt_usage(self, "--table prints nothing else: not with -o or --link");
    if (o.output && !rs_name_ending(o.output, strlen(o.output), ".svg"))
        return rs_opt_usage(self, "-o writes a picture: its name ends in .svg, not '%s'", o.output);
    if (o.force && !o.output) return rs_opt_usage(self, "--force is for -o");
    struct rs_err err;
    int status = rs_reference_read(&o.reference, &err) == RS_OK
                     ? rs_reading_model_and_inputs(self, argv + 1, n, &o.common, show, &o)
                     : rs_print_err(self->name, &err);
    rs_reference_files_free(&o.reference);
    return status;
}

const struct rs_command rs_cmd_report = {
    .name = "report",
    .summary = "late ranks, their cost and why; times, bandwidth, network, steps that took longer",
    .usage = "[options] IN...",
    .text = "Joins the operations of all ranks on one time axis, and reports their times by function and size, which "
            "ranks were\n"
            "late and what that cost, what the network waited for, which steps took longer than usual, and what to "
            "look at.",
    .examples = "ringscope report rec                        # a conclusion, and its tables\n"
                "ringscope report rec --warmup 3 --every STEP  # by step, without the first three\n"
                "ringscope report rec --reference all_reduce_perf.txt  # compared with nccl-tests\n"
                "ringscope report rec --link 450 -o roofline.svg  # bandwidth by size against NVLink's 450 GB/s\n"
                "ringscope report rec --json | jq '.stragglers[0]'",
    .json = "one JSON object",
    .takes = "filter level reading",
    .run = run,
};

/* ringscope overlap: how much of the communication overlaps with compute, what the rest is, and how well stages
 * are pipelined. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/profile.h"
#include "base/bytes.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/options/stages.h"
#include "cli/print/output.h"
#include "cli/print/screen.h"
#include "cli/print/table.h"
#include "cli/print/time_zero.h"
#include "cli/reading.h"
#include "conclude/report.h"
#include "fields/overlap.h"
#include "foreign/stages/stages.h"

/* ---- text ---- */

enum { MOST_ROWS = 16, MOST_NAMES = 8, MOST_KERNELS = 10 }; /* --json has all */

static void finish(struct rs_table *t, uint32_t all, uint32_t shown)
{
    rs_table_print(t, "", stdout);
    rs_table_free(t);
    if (all > shown) rs_screen_print("and %s more (--json has all)\n", rs_text_count(all - shown).s);
}

static void cell_ns(struct rs_table *t, int64_t ns)
{
    rs_table_cell(t, "%s", ns == RS_TIME_NONE ? "?" : rs_text_ns(ns).s);
}

static void cell_pct(struct rs_table *t, double pct)
{
    if (isnan(pct))
        rs_table_cell(t, "?");
    else
        rs_table_cell(t, "%.*f %%", pct < 10 ? 2 : 1, pct);
}

static void cell_rank(struct rs_table *t, const struct rs_profile_row *row)
{
    if (row->rank >= 0)
        rs_table_cell(t, "%" PRId32, row->rank);
    else
        rs_table_cell(t, "?");
}

/* ---- compute and communication ---- */

/* rank, host, GPU */
static void cell_who(struct rs_table *t, const struct rs_model *m, const struct rs_profile_row *row)
{
    cell_rank(t, row);
    rs_table_cell(t, "%s", rs_host_label(m, m->procs[row->track->proc].host));
    if (row->track->device >= 0)
        rs_table_cell(t, "%" PRId32, row->track->device);
    else
        rs_table_cell(t, "?");
}

static void cell_times(struct rs_table *t, const int64_t *times, size_t n)
{
    for (size_t i = 0; i < n; i++) cell_ns(t, times[i]);
}

/* Ranks with recorded compute, or those with NCCL operations only. */
static void print_overlap(const struct rs_profile *p, bool seen)
{
    static const enum rs_heading with[] = {RS_H_GPU,     RS_H_SPAN, RS_H_COMPUTE,  RS_H_COMM,    RS_H_OVERLAP,
                                           RS_H_EXPOSED, RS_H_WAIT, RS_H_TRANSFER, RS_H_UNKNOWN, RS_H_IDLE},
                                 without[] = {RS_H_GPU, RS_H_SPAN, RS_H_COMM, RS_H_WAIT, RS_H_TRANSFER, RS_H_UNKNOWN};
    struct rs_table t = {0};
    uint32_t shown = 0, all = 0;
    bool cut = false;
    rs_table_column(&t, RS_RIGHT, RS_H_RANK);
    rs_table_column(&t, RS_LEFT, RS_H_HOST);
    rs_table_numbers(&t, seen ? with : without, seen ? sizeof with / sizeof *with : sizeof without / sizeof *without);
    for (uint32_t i = 0; i < p->nrows; i++) {
        const struct rs_profile_row *row = &p->rows[i];
        const struct rs_overlap_times *x = &row->overlap.cut;
        if (!row->track || row->track->has_work != seen || (!seen && !row->track->nparts) || ++all > MOST_ROWS)
            continue;
        shown++;
        cut |= row->overlap.grain_ns > 1;
        cell_who(&t, p->view.model, row);
        if (seen) {
            cell_times(&t, (const int64_t[]){x->span, x->compute, x->comm}, 3);
            cell_pct(&t, rs_overlap_pct(x));
            cell_times(&t, (const int64_t[]){x->exposed, x->wait, x->transfer, x->unclear}, 4);
            cell_pct(&t, rs_idle_pct(x));
        } else {
            cell_times(&t, (const int64_t[]){x->span, x->comm, x->comm_wait, x->comm_transfer, x->comm_unclear}, 5);
        }
    }
    if (!shown) {
        rs_table_free(&t);
        return;
    }
    rs_screen_print(
        seen ? "compute and communication; overlap in %% of comm, idle in %% of span; exposed = wait + transfer + "
               "unknown\n"
             : "communication alone; compute was not recorded\n");
    finish(&t, all, shown);
    if (cut)
        rs_screen_print("Kernel times are rounded to whole us, as in Holistic Trace Analysis (--exact: to the ns).\n");
    rs_screen_print("\n");
}

/* ---- the pipelines ---- */

static void cell_ranks(struct rs_table *t, const struct rs_profile *p, const struct rs_job_pipeline *x)
{
    enum { SHOWN = 4 };
    char text[80] = "";
    size_t n = 0;
    for (uint32_t i = 0; i < x->nplaces && i < SHOWN; i++) {
        int32_t rank = p->rows[x->places[i]].rank;
        n += (size_t)snprintf(text + n, sizeof text - n, rank < 0 ? "%s?" : "%s%" PRId32, i ? "," : "", rank);
    }
    rs_table_cell(t, "%s%s", text, x->nplaces > SHOWN ? ",..." : "");
}

static void print_scores(const struct rs_profile *p)
{
    static const enum rs_heading numbers[] = {RS_H_CHUNKS, RS_H_PERIOD, RS_H_P90,  RS_H_P99,
                                              RS_H_HIDDEN, RS_H_BUBBLE, RS_H_SCORE};
    struct rs_table t = {0};
    uint32_t shown = 0, stages = p->pipelines.nstages < 8 ? p->pipelines.nstages : 8, warmup = 0;
    bool pairs = false, across = false;
    for (uint32_t i = 0; i < p->pipelines.n; i++) across |= p->pipelines.rows[i].nplaces > 1;
    rs_table_column(&t, RS_RIGHT, across ? RS_H_RANKS : RS_H_RANK);
    rs_table_numbers(&t, numbers, sizeof numbers / sizeof *numbers);
    for (uint32_t s = 0; s < stages; s++) rs_table_column_named(&t, p->pipelines.names[s]);
    rs_table_column(&t, RS_LEFT, RS_H_NONE);
    for (; shown < p->pipelines.n && shown < MOST_ROWS; shown++) {
        const struct rs_job_pipeline *row = &p->pipelines.rows[shown];
        const struct rs_pipeline *x = &row->pipeline;
        warmup = x->warmup;
        pairs |= row->source == RS_PIPELINE_PAIRS;
        cell_ranks(&t, p, row);
        rs_table_cell(&t, "%" PRIu32, x->chunks);
        const int64_t times[] = {x->period.p50, x->period.p90, x->period.p99, x->hidden_ns, x->bubble_ns};
        for (size_t k = 0; k < sizeof times / sizeof *times; k++) cell_ns(&t, times[k]);
        if (isnan(x->score))
            rs_table_cell(&t, "?");
        else
            rs_table_cell(&t, "%.2f", x->score);
        for (uint32_t s = 0; s < stages; s++) cell_ns(&t, x->stages[s].p50);
        const char *verdict = rs_pipeline_verdict_name(x->verdict);
        rs_table_cell(&t, "%s", verdict ? verdict : "?");
    }
    rs_screen_print("pipeline%s; medians", pairs    ? " from one send or receive to the next"
                                           : across ? " across ranks"
                                                    : "");
    if (warmup) rs_screen_print(", %" PRIu32 " chunk%s of warm-up excluded", warmup, warmup == 1 ? "" : "s");
    rs_screen_print("\n");
    finish(&t, p->pipelines.n, shown);
    rs_screen_print("\n");
}

static void put_stages(struct rs_strbuf *s, const struct rs_profile *p, const struct rs_pipeline *x, uint32_t k)
{
    const struct rs_station *y = &x->stations[k];
    for (uint32_t i = y->first; i <= y->last; i++)
        if (x->present >> i & 1) rs_strbuf_printf(s, "%s%s", i == y->first ? "" : "+", p->pipelines.names[i]);
}

/* What made a station wait: "A+send 92 %, itself 8 %". */
static void cell_causes(struct rs_table *t, const struct rs_profile *p, const struct rs_pipeline *x, uint32_t k)
{
    struct rs_strbuf s = {0};
    const struct rs_station *y = &x->stations[k];
    double all = y->idle_ns > 0 ? (double)y->idle_ns : 1;
    for (uint32_t i = 0; i <= x->nstations; i++) {
        double share = 100 * (double)(i < x->nstations ? y->caused[i] : y->unclear_ns) / all;
        if (share < 0.5) continue;
        if (s.len) rs_strbuf_puts(&s, ", ");
        if (i == x->nstations)
            rs_strbuf_puts(&s, "unknown");
        else if (i == k)
            rs_strbuf_puts(&s, "itself");
        else
            put_stages(&s, p, x, i);
        rs_strbuf_printf(&s, " %.0f %%", share);
    }
    rs_table_cell(t, "%s", s.len ? rs_strbuf_borrow(&s) : "-");
    rs_strbuf_free(&s);
}

/* Of pipelines whose stages are given, the one with the lowest score. */
static void print_bubbles(const struct rs_profile *p)
{
    const struct rs_job_pipeline *row = p->worst;
    if (!row || row->source == RS_PIPELINE_PAIRS) return;
    const struct rs_pipeline *x = &row->pipeline;
    struct rs_table t = {0};
    rs_table_column(&t, RS_RIGHT, RS_H_RANK);
    rs_table_column(&t, RS_LEFT, RS_H_STAGES);
    rs_table_column(&t, RS_RIGHT, RS_H_IDLE);
    rs_table_column(&t, RS_RIGHT, RS_H_OF_PERIOD);
    rs_table_column(&t, RS_LEFT, RS_H_WAITS_FOR);
    for (uint32_t k = 0; k < x->nstations; k++) {
        const struct rs_station *y = &x->stations[k];
        struct rs_strbuf stages = {0};
        if (row->of_stage[y->first] == RS_NONE)
            rs_table_cell(&t, "several");
        else
            cell_rank(&t, &p->rows[row->of_stage[y->first]]);
        put_stages(&stages, p, x, k);
        rs_table_cell(&t, "%s", rs_strbuf_borrow(&stages));
        rs_strbuf_free(&stages);
        cell_ns(&t, y->idle.p50);
        cell_pct(&t, y->idle.p50 == RS_TIME_NONE ? NAN : 100 * (double)y->idle.p50 / (double)x->period.p50);
        cell_causes(&t, p, x, k);
    }
    rs_screen_print("bubbles: idle time before a chunk (median), and what it waits for");
    if (x->no_causes == RS_CAUSES_KNOWN && x->error_ns > 0)
        rs_screen_print("; unknown up to %s, twice the clock error", rs_text_ns(2 * x->error_ns).s);
    rs_screen_print("\n");
    finish(&t, 0, 0);
    const char *why = rs_pipeline_no_causes(row);
    if (why) rs_screen_print("What they wait for is unknown: %s.\n", why);
    rs_screen_print("\n");
}

static void print_pipelines(const struct rs_profile *p)
{
    if (!p->pipelines.n) return;
    print_scores(p);
    print_bubbles(p);
}

/* ---- annotations ---- */

/* One name over all ranks. */
struct named {
    uint32_t name, ranks, slowest; /* slowest: row with the largest median */
    uint64_t calls;
    int64_t wall, gpu, low, high; /* sums; lowest and highest median of a rank */
    double share; /* of the slowest */
};

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    return x->name < y->name ? -1 : x->name > y->name;
}

static int by_wall(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    return x->wall > y->wall ? -1 : x->wall < y->wall;
}

static uint32_t merge(struct named *rows, uint32_t n)
{
    uint32_t kept = 0;
    if (n) qsort(rows, n, sizeof *rows, by_name);
    for (uint32_t i = 0; i < n; i++) {
        struct named *x = kept ? &rows[kept - 1] : NULL;
        const struct named y = rows[i];
        if (!x || x->name != y.name) {
            rows[kept++] = y;
            continue;
        }
        x->ranks++;
        x->calls += y.calls;
        x->wall = rs_time_plus(x->wall, y.wall);
        x->gpu = rs_time_plus(x->gpu, y.gpu);
        if (y.low < x->low) x->low = y.low;
        if (y.high <= x->high) continue;
        x->high = y.high;
        x->slowest = y.slowest;
        x->share = y.share;
    }
    if (kept) qsort(rows, kept, sizeof *rows, by_wall);
    return kept;
}

static void print_names(const struct rs_profile *p, const struct named *rows, uint32_t n)
{
    static const enum rs_heading numbers[] = {RS_H_RANKS,   RS_H_CALLS,   RS_H_LOWEST_MEDIAN, RS_H_HIGHEST,
                                              RS_H_ON_RANK, RS_H_OF_STEP, RS_H_GPU_TIME};
    struct rs_table t = {0};
    rs_table_numbers(&t, numbers, sizeof numbers / sizeof *numbers);
    rs_table_column(&t, RS_LEFT, RS_H_ANNOTATION);
    for (uint32_t i = 0; i < n && i < MOST_NAMES; i++) {
        const struct named *x = &rows[i];
        rs_table_cell(&t, "%" PRIu32, x->ranks);
        rs_table_cell(&t, "%s", rs_text_count(x->calls).s);
        cell_ns(&t, x->low);
        cell_ns(&t, x->high);
        cell_rank(&t, &p->rows[x->slowest]);
        cell_pct(&t, 100 * x->share);
        cell_ns(&t, x->gpu < 0 ? RS_TIME_NONE : x->gpu);
        rs_table_name(&t, rs_model_name_text(p->view.model, x->name));
    }
    rs_screen_print("annotations: time of one call on the host, by rank; all GPU work launched inside\n");
    finish(&t, n, n < MOST_NAMES ? n : MOST_NAMES);
    rs_screen_print("\n");
}

static void print_annotations(const struct rs_profile *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->nrows; i++) n += p->rows[i].ranges.n;
    if (!n) return;
    struct named *rows = rs_alloc(n * sizeof *rows);
    n = 0;
    for (uint32_t i = 0; i < p->nrows; i++)
        for (uint32_t k = 0; k < p->rows[i].ranges.n; k++) {
            const struct rs_range_row *x = &p->rows[i].ranges.rows[k];
            rows[n++] =
                (struct named){x->name, 1, i, x->calls, x->wall_ns, x->gpu_ns, x->wall.p50, x->wall.p50, x->share};
        }
    print_names(p, rows, merge(rows, n));
    free(rows);
}

/* ---- launches and host calls ---- */

static void print_launches(const struct rs_profile *p)
{
    static const enum rs_heading numbers[] = {
        RS_H_STEPS,     RS_H_KERNELS_PER_STEP, RS_H_MEDIAN_KERNEL,    RS_H_LAUNCH_GAPS,
        RS_H_HOST_GAPS, RS_H_OTHER_GAPS,       RS_H_SERIALISING_CALLS};
    struct rs_table t = {0};
    uint32_t all = 0, shown = 0;
    rs_table_column(&t, RS_RIGHT, RS_H_RANK);
    rs_table_numbers(&t, numbers, sizeof numbers / sizeof *numbers);
    rs_table_column(&t, RS_LEFT, RS_H_MOSTLY);
    for (uint32_t i = 0; i < p->nrows; i++) {
        const struct rs_profile_row *row = &p->rows[i];
        const struct rs_launches *l = &row->launches;
        if (!row->track || !row->track->has_work || ++all > MOST_ROWS) continue;
        shown++;
        cell_rank(&t, row);
        if (row->steps.n)
            rs_table_cell(&t, "%" PRIu32, row->steps.n);
        else
            rs_table_cell(&t, "?");
        if (isnan(l->kernels_a_step))
            rs_table_cell(&t, "?");
        else
            rs_table_cell(&t, "%.1f", l->kernels_a_step);
        cell_ns(&t, l->median_kernel_ns);
        cell_ns(&t, l->launched ? l->launch_gap_ns : RS_TIME_NONE);
        cell_ns(&t, l->launched ? l->host_gap_ns : RS_TIME_NONE);
        cell_ns(&t, l->other_gap_ns);
        cell_ns(&t, l->calls_ns);
        if (l->ncalls)
            rs_table_cell(&t, "%s, %s times", rs_model_name_text(p->view.model, l->calls[0].name),
                          rs_text_count(l->calls[0].calls).s);
        else
            rs_table_cell(&t, "-");
    }
    if (!shown) {
        rs_table_free(&t);
        return;
    }
    rs_screen_print(
        "launches: GPU idle because the next launch came late (launch gaps: up to 100 us; host gaps: longer); "
        "serialising calls\n");
    finish(&t, all, shown);
    rs_screen_print("\n");
}

/* ---- stretches ---- */

/* One of all ranks. */
struct at_rank {
    const struct rs_profile_row *row;
    const struct rs_stretch *stretch;
};

static int by_idle(const void *a, const void *b)
{
    const struct at_rank *x = a, *y = b;
    if (x->stretch->idle_ns != y->stretch->idle_ns) return x->stretch->idle_ns > y->stretch->idle_ns ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

static void print_stretches(const struct rs_profile *p)
{
    enum { SHOWN = 5 };
    static const enum rs_heading numbers[] = {RS_H_AT, RS_H_FOR, RS_H_IDLE, RS_H_KERNELS};
    const struct rs_model *m = p->view.model;
    struct rs_table t = {0};
    uint64_t all = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->nrows; i++) n += p->rows[i].stretches.n;
    if (!n) return;
    struct at_rank *rows = rs_alloc(n * sizeof *rows);
    n = 0;
    for (uint32_t i = 0; i < p->nrows; i++) {
        all += p->rows[i].stretches.all;
        for (uint32_t k = 0; k < p->rows[i].stretches.n; k++)
            rows[n++] = (struct at_rank){&p->rows[i], &p->rows[i].stretches.rows[k]};
    }
    qsort(rows, n, sizeof *rows, by_idle);
    rs_table_column(&t, RS_RIGHT, RS_H_RANK);
    rs_table_column(&t, RS_LEFT, RS_H_BOUND_BY);
    rs_table_numbers(&t, numbers, sizeof numbers / sizeof *numbers);
    rs_table_column(&t, RS_LEFT, RS_H_HOST_WAS_IN);
    for (uint32_t i = 0; i < n && i < SHOWN; i++) {
        const struct rs_stretch *x = rows[i].stretch;
        cell_rank(&t, rows[i].row);
        rs_table_cell(&t, "%s", x->launch_bound ? "launches" : "the host");
        rs_table_cell(&t, "%s", rs_zero_moment(m, x->from).s);
        cell_ns(&t, rs_time_minus(x->to, x->from));
        cell_ns(&t, x->idle_ns);
        rs_table_cell(&t, "%s", rs_text_count(x->kernels).s);
        rs_table_name(&t, x->name ? rs_model_name_text(m, x->name) : "?");
    }
    rs_screen_print(
        "longest stretches in which a GPU waits for its host: many short kernels (launches), or nothing was "
        "launched\n");
    rs_table_print(&t, "", stdout);
    rs_table_free(&t);
    if (all > SHOWN) rs_screen_print("and %s more (--json has 16 of each rank)\n", rs_text_count(all - SHOWN).s);
    rs_screen_print("\n");
    free(rows);
}

/* ---- torch.compile ---- */

static void print_compiled(const struct rs_profile *p)
{
    static const enum rs_heading numbers[] = {RS_H_COMPILED_CALLS, RS_H_GRAPH_BREAKS, RS_H_COMPILATIONS,
                                              RS_H_RECOMPILATIONS, RS_H_TOOK,         RS_H_LONGEST};
    struct rs_table t = {0};
    uint32_t all = 0, shown = 0;
    rs_table_column(&t, RS_RIGHT, RS_H_RANK);
    rs_table_numbers(&t, numbers, sizeof numbers / sizeof *numbers);
    rs_table_column(&t, RS_LEFT, RS_H_NONE);
    for (uint32_t i = 0; i < p->nrows; i++) {
        const struct rs_compiled *c = &p->rows[i].compiled;
        if (!c->regions && !c->compilations) continue;
        if (++all > MOST_ROWS) continue;
        shown++;
        cell_rank(&t, &p->rows[i]);
        const uint64_t counts[] = {c->regions, c->breaks, c->compilations, c->recompilations};
        for (size_t k = 0; k < 4; k++) rs_table_cell(&t, "%s", rs_text_count(counts[k]).s);
        rs_table_cell(&t, "%s", c->compilations ? rs_text_ns(c->compile_ns).s : "-");
        rs_table_cell(&t, "%s", c->compilations ? rs_text_ns(c->longest_ns).s : "-");
        rs_table_cell(&t, "%s", c->longest_name ? rs_model_name_text(p->view.model, c->longest_name) : "");
    }
    if (shown) {
        rs_screen_print(
            "torch.compile: calls of compiled code, graph breaks in them, and compilations during the profile\n");
        finish(&t, all, shown);
        rs_screen_print("\n");
    } else {
        rs_table_free(&t);
    }
}

/* ---- kernels ---- */

/* The ranks of a role that ran work, and their kernels. */
struct role {
    const struct rs_kernels **of;
    uint32_t *rows, n;
};

static uint32_t role_of(const struct rs_roles *roles, const struct rs_profile_row *row)
{
    uint32_t rank = row->track->rank_id;
    return rank == RS_NONE ? RS_NONE : roles->of[rank];
}

static void print_ranks(const struct rs_profile *p, const struct role *role)
{
    rs_screen_print("%s", role->n == 1 ? "rank " : "ranks ");
    for (uint32_t i = 0, end; i < role->n; i = end) {
        int32_t from = p->rows[role->rows[i]].rank;
        for (end = i + 1; end < role->n && p->rows[role->rows[end]].rank == from + (int32_t)(end - i);) end++;
        if (from < 0)
            rs_screen_print("%s?", i ? "," : "");
        else if (end - i > 1)
            rs_screen_print("%s%" PRId32 "-%" PRId32, i ? "," : "", from, from + (int32_t)(end - i) - 1);
        else
            rs_screen_print("%s%" PRId32, i ? "," : "", from);
    }
}

static void print_role(const struct rs_profile *p, const struct role *role, uint32_t top)
{
    static const enum rs_heading numbers[] = {RS_H_GPU_TIME, RS_H_SHARE,   RS_H_CALLS,  RS_H_MEDIAN,
                                              RS_H_HIGHEST,  RS_H_ON_RANK, RS_H_LONGEST};
    struct rs_kernels k;
    struct rs_table t = {0};
    bool several = role->n > 1;
    rs_kernels_merge(&k, role->of, role->n);
    rs_screen_print("top kernels of ");
    print_ranks(p, role);
    rs_screen_print(": %s of GPU time%s, %.1f %% of it NCCL and other communication\n",
                    rs_text_ns(k.gpu_ns / role->n).s, several ? " per rank" : "",
                    100 * rs_kernels_share(&k, k.comm_ns));
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (several || (i != 4 && i != 5))
            rs_table_column(&t, RS_RIGHT, several && i == 3 ? RS_H_LOWEST_MEDIAN : numbers[i]);
    rs_table_column(&t, RS_LEFT, RS_H_KERNEL);
    uint32_t shown = k.n < top ? k.n : top;
    for (uint32_t i = 0; i < shown; i++) {
        const struct rs_kernel_row *x = &k.rows[i];
        cell_ns(&t, x->total_ns / role->n);
        cell_pct(&t, 100 * rs_kernels_share(&k, x->total_ns));
        rs_table_cell(&t, "%s", rs_text_count(x->calls / role->n).s);
        cell_ns(&t, x->low_ns);
        if (several) cell_ns(&t, x->high_ns);
        if (several) cell_rank(&t, &p->rows[role->rows[x->slowest]]);
        cell_ns(&t, x->longest_ns);
        rs_table_name(&t, rs_model_name_text(p->view.model, x->name));
    }
    finish(&t, k.n, shown);
    rs_screen_print("\n");
    rs_kernels_free(&k);
}

enum { MOST_ROLES = 8 };

/* Ranks that do the same work have one table; a rank without a role has its own. */
static void print_kernels(const struct rs_profile *p, const struct rs_roles *roles, uint32_t top)
{
    struct role role = {rs_alloc(((size_t)p->nrows + 1) * sizeof *role.of),
                        rs_alloc(((size_t)p->nrows + 1) * sizeof *role.rows), 0};
    bool *done = rs_zalloc((size_t)p->nrows + 1, sizeof *done);
    uint32_t tables = 0;
    for (uint32_t i = 0; i < p->nrows && top; i++) {
        if (done[i] || !p->rows[i].kernels.gpu_ns) continue;
        uint32_t this = role_of(roles, &p->rows[i]);
        role.n = 0;
        for (uint32_t k = i; k < p->nrows; k++) {
            if (k != i && (this == RS_NONE || !p->rows[k].kernels.gpu_ns || role_of(roles, &p->rows[k]) != this))
                continue;
            done[k] = true;
            role.rows[role.n] = k;
            role.of[role.n++] = &p->rows[k].kernels;
        }
        if (++tables <= MOST_ROLES) print_role(p, &role, top);
    }
    if (tables > MOST_ROLES)
        rs_screen_print("and the kernels of %s more roles (--json has all)\n\n", rs_text_count(tables - MOST_ROLES).s);
    free(role.of);
    free(role.rows);
    free(done);
}

static void overlap_print(const struct rs_profile *p, const struct rs_roles *roles, uint32_t top, const bool *named)
{
    rs_screen_conclude_named((const char *const *)p->conclusion, p->nconclusion, p->view.model, named);
    if (p->nconclusion) rs_screen_print("\n");
    print_overlap(p, true);
    print_overlap(p, false);
    print_pipelines(p);
    print_kernels(p, roles, top);
    print_annotations(p);
    print_launches(p);
    print_stretches(p);
    print_compiled(p);
    if (p->steps.left_out) rs_screen_print("%s\n", p->steps.left_out);
}

/* ---- the command ---- */

struct options {
    struct rs_common common;
    bool exact;
    const char *stages;
    double fail_under; /* NAN: not asked for */
    int top; /* -1: MOST_KERNELS, in JSON all */
    int warmup; /* -1: the start-up, and one chunk of a pipeline */
    struct rs_stage_options patterns;
};

/* Figures without cutting take the place of the others. */
static void use_exact(struct rs_profile *p)
{
    for (uint32_t i = 0; i < p->nrows; i++) {
        p->rows[i].overlap.cut = p->rows[i].overlap.exact;
        p->rows[i].overlap.grain_ns = 1;
    }
}

static enum rs_status print_json(const struct rs_profile *p, const struct rs_roles *roles, int top, struct rs_err *err)
{
    struct rs_json *j = rs_output_json();
    for (uint32_t i = 0; i < p->nrows && !rs_json_failed(j); i++) {
        struct rs_overlap_fields row = {p, &p->rows[i], &p->rows[i].overlap.cut, roles,
                                        top < 0 ? UINT32_MAX : (uint32_t)top};
        rs_out_json(j, &rs_out_overlap, &row);
        rs_json_newline(j);
    }
    return rs_json_finish(j, err);
}

/* Reported for the first rank without the requested stages, unless a pipeline goes across ranks: others may be in none. */
static void say_missing(const struct rs_command *self, const struct rs_profile *p)
{
    if (p->pipelines.n && p->pipelines.rows[0].nplaces > 1) return;
    for (uint32_t i = 0; i < p->nrows; i++) {
        if (!p->rows[i].no_stages) continue;
        rs_warn(self->name, "rank %" PRId32 ": %s", p->rows[i].rank, p->rows[i].no_stages);
        return;
    }
}

static int judge(const struct rs_command *self, const struct options *o, const struct rs_profile *p)
{
    if (isnan(o->fail_under)) return RS_EXIT_FINE;
    if (isnan(p->score)) {
        const char *why = p->pipelines.n ? p->pipelines.rows[0].no_score : p->pipelines.why;
        rs_warn(self->name, "--fail-under: no score is known: %s", why ? why : "name stages with --stage or --stages");
        return RS_EXIT_FAILURE;
    }
    return p->score < o->fail_under ? RS_EXIT_FOUND : RS_EXIT_FINE;
}

static enum rs_status print(const struct rs_command *self, struct options *o, const struct rs_model *m,
                            const struct rs_profile_options *profile, const struct rs_roles *roles, int *exit_status,
                            struct rs_err *err)
{
    struct rs_profile p;
    RS_TRY(rs_profile_init(&p, m, profile, err));
    if (o->exact) use_exact(&p);
    enum rs_status status = RS_OK;
    if (o->common.json)
        status = print_json(&p, roles, o->top, err);
    else
        overlap_print(&p, roles, o->top < 0 ? MOST_KERNELS : (uint32_t)o->top, profile->named);
    if (status == RS_OK) {
        *exit_status = judge(self, o, &p);
        if (*exit_status != RS_EXIT_FAILURE) say_missing(self, &p);
    }
    rs_profile_free(&p);
    return status;
}

/* ---- the file of stages ---- */

static enum rs_status open_stages(const char *path, struct rs_stage_file *f, struct rs_err *err)
{
    struct rs_bytes *bytes;
    *f = (struct rs_stage_file){0};
    RS_TRY(rs_bytes_stream(&bytes, path, err));
    enum rs_status status = rs_stage_file_read(f, bytes, err);
    rs_bytes_close(bytes);
    return status;
}

static enum rs_status use_stages(struct rs_profile_options *profile, const struct rs_stage_file *f, const char *path,
                                 struct rs_err *err)
{
    if (f->nnames > RS_STAGES_MAX)
        return rs_fail(err, RS_BAD_INPUT, "%s: %" PRIu32 " different stages, %d at most", path, f->nnames,
                       RS_STAGES_MAX);
    profile->times = rs_alloc(((size_t)f->nrows + 1) * sizeof *profile->times);
    for (uint32_t i = 0; i < f->nrows; i++) {
        const struct rs_stage_row *r = &f->rows[i];
        profile->times[i] = (struct rs_stage_time){
            .rank = r->rank, .stage = r->name, .chunk = r->chunk, .start = r->start, .end = r->end};
    }
    profile->ntimes = f->nrows;
    profile->names = f->names;
    profile->nnames = f->nnames;
    return RS_OK;
}

static enum rs_status show(const struct rs_command *self, struct rs_model *m, struct rs_inputs *in, void *options,
                           int *exit_status, struct rs_err *err)
{
    (void)in;
    struct options *o = options;
    struct rs_stage_file file = {0};
    struct rs_profile_options profile = {.filter = &o->common.filters.filter,
                                         .patterns = o->patterns.patterns,
                                         .npatterns = o->patterns.n,
                                         .one_clock = o->common.same_host,
                                         .warmup = o->warmup < 0 ? 1 : (uint32_t)o->warmup,
                                         .warmup_steps = o->warmup < 0 ? RS_NONE : (uint32_t)o->warmup};
    struct rs_report_options report = {.filter = profile.filter, .warmup = profile.warmup_steps};
    struct rs_report r = {0};
    enum rs_status status = o->stages ? open_stages(o->stages, &file, err) : RS_OK;
    if (status == RS_OK) status = rs_report_init(&r, m, &report, err); /* whom it names as late, and roles */
    profile.named = r.named;
    if (status == RS_OK && file.bad) {
        rs_warn(self->name, "%s: %s%s", o->stages, file.why, file.bad > 1 ? ", and more like it" : "");
        rs_warn(self->name, "%s: %" PRIu64 " line%s left out", o->stages, file.bad, file.bad == 1 ? "" : "s");
    }
    if (status == RS_OK && o->stages) status = use_stages(&profile, &file, o->stages, err);
    if (status == RS_OK) status = print(self, o, m, &profile, &r.roles, exit_status, err);
    rs_report_free(&r);
    free(profile.times);
    rs_stage_file_free(&file);
    return status;
}

/* ---- the command ---- */

static int run(const struct rs_command *self, int argc, char **argv)
{
    struct options o = {.fail_under = NAN, .top = -1, .warmup = -1};
    const struct rs_opt opts[] = {
        {RS_OPT_EACH, 0, "stage", RS_EACH(rs_stage_take, &o.patterns), "NAME=PATTERN",
         "a stage of a pipeline, by names of annotations or kernels; may be repeated"},
        {RS_OPT_STRING, 0, "stages", &o.stages, "FILE", "stages of a pipeline from CSV or JSON Lines; needs no IN"},
        {RS_OPT_COUNT, 0, "warmup", &o.warmup, "N",
         "leave out the first N steps (the start-up), and chunks of a pipeline (1)"},
        {RS_OPT_DOUBLE, 0, "fail-under", &o.fail_under, "SCORE",
         "exit with 3 if the overlap score of a pipeline is below"},
        {RS_OPT_COUNT, 0, "top", &o.top, "N", "kernels to list for each role (10; --json: all)"},
        {RS_OPT_FLAG, 0, "exact", &o.exact, NULL, "kernel times to the ns, not rounded to whole us as HTA does"},
        {.kind = RS_OPT_END},
    };
    int n, done = rs_common_parse(self, &o.common, opts, argc, argv, &n);
    if (done >= 0) return done;
    if (o.stages && o.patterns.n) return rs_opt_usage(self, "--stage and --stages exclude each other");
    if (o.fail_under < 0 || o.fail_under > 1) return rs_opt_usage(self, "--fail-under takes a score from 0 to 1");
    if (n || !o.stages) return rs_reading_model(self, argv + 1, n, &o.common, show, &o);
    struct rs_model none = {0};
    struct rs_err err;
    int status = RS_EXIT_FINE;
    if (show(self, &none, NULL, &o, &status, &err) != RS_OK) status = rs_print_err(self->name, &err);
    rs_model_free(&none);
    return status;
}

const struct rs_command rs_cmd_overlap = {
    .name = "overlap",
    .summary = "compute against communication: overlap, exposed waits, idle GPUs, pipelines",
    .usage = "[options] IN...",
    .text = "Reports for each rank how much of its communication overlaps with compute, how much of the rest is wait "
            "and how\n"
            "much transfer, when and why its GPU is idle, and how well the stages of a pipeline overlap. Needs traces "
            "that\n"
            "contain compute (PyTorch profiler, Nsight Systems); recordings of NCCL alone contain communication only.",
    .examples = "ringscope overlap trace_rank*.json.gz                  # a table by rank, and what to do\n"
                "ringscope overlap traces --stage load='*memcpy*' --stage run='*gemm*'  # a pipeline of two stages\n"
                "ringscope overlap --stages stages.csv --fail-under 0.30  # for CI: exit status 3 below it",
    .json = "JSON Lines: one object per rank",
    .takes = "filter reading",
    .run = run,
};

#include "cli/overlap_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/units.h"
#include "cli/plain.h"
#include "cli/table.h"

enum { MOST_ROWS = 16, MOST_NAMES = 8 }; /* --json has all */

static void columns(struct rs_table *t, const char *const *headings, size_t n)
{
    for (size_t i = 0; i < n; i++) rs_table_column(t, RS_RIGHT, headings[i]);
}

static enum rs_status finish(struct rs_table *t, uint32_t all, uint32_t shown, struct rs_err *err)
{
    enum rs_status status = rs_table_print(t, "", stdout, err);
    rs_table_free(t);
    if (all > shown) printf("and %s more (--json has all)\n", rs_text_count(all - shown).s);
    return status;
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

/* Ranks whose compute is seen, or those whose NCCL operations alone are. */
static enum rs_status print_overlap(const struct rs_profile *p, bool seen, struct rs_err *err)
{
    static const char *const with[] = {"GPU",     "span", "compute",  "comm",      "overlap",
                                       "exposed", "wait", "transfer", "not known", "idle"},
                             *const without[] = {"GPU", "span", "comm", "wait", "transfer", "not known"};
    struct rs_table t = {0};
    uint32_t shown = 0, all = 0;
    bool cut = false;
    rs_table_column(&t, RS_RIGHT, "rank");
    rs_table_column(&t, RS_LEFT, "host");
    columns(&t, seen ? with : without, seen ? sizeof with / sizeof *with : sizeof without / sizeof *without);
    for (uint32_t i = 0; i < p->nrows; i++) {
        const struct rs_profile_row *row = &p->rows[i];
        const struct rs_overlap_times *x = &row->overlap.cut;
        if (!row->track || row->track->has_work != seen || ++all > MOST_ROWS) continue;
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
        return RS_OK;
    }
    printf(seen ? "compute and communication; overlap of communication time, idle of the span; exposed: wait, "
                  "transfer, or not "
                  "known\n"
                : "communication alone; compute was not recorded\n");
    RS_TRY(finish(&t, all, shown, err));
    if (cut)
        printf("Times of kernels are cut to whole us, as Holistic Trace Analysis has them (--exact: to the ns).\n");
    printf("\n");
    return RS_OK;
}

/* ---- the pipeline ---- */

static enum rs_status print_pipeline(const struct rs_profile *p, struct rs_err *err)
{
    static const char *const numbers[] = {"chunks", "period", "p90", "p99", "hidden", "bubble", "score"};
    struct rs_table t = {0};
    uint32_t all = 0, shown = 0, stages = 0, warmup = 0;
    for (uint32_t i = 0; i < p->nrows; i++)
        if (p->rows[i].source) stages = p->rows[i].pipeline.nstages;
    if (!stages) return RS_OK;
    if (stages > 8) stages = 8;
    rs_table_column(&t, RS_RIGHT, "rank");
    columns(&t, numbers, sizeof numbers / sizeof *numbers);
    for (uint32_t s = 0; s < stages; s++) rs_table_column(&t, RS_RIGHT, p->stage_names[s]);
    rs_table_column(&t, RS_LEFT, "");
    bool pairs = false;
    for (uint32_t i = 0; i < p->nrows; i++) {
        const struct rs_profile_row *row = &p->rows[i];
        const struct rs_pipeline *x = &row->pipeline;
        if (!row->source || ++all > MOST_ROWS) continue;
        shown++;
        warmup = x->warmup;
        pairs |= row->source == RS_PIPELINE_PAIRS;
        cell_rank(&t, row);
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
    printf("pipeline%s; medians", pairs ? " from one send or receive to the next" : "");
    if (warmup) printf(", %" PRIu32 " chunk%s of warm-up left out", warmup, warmup == 1 ? "" : "s");
    printf("\n");
    RS_TRY(finish(&t, all, shown, err));
    printf("\n");
    return RS_OK;
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

static enum rs_status print_names(const struct rs_profile *p, const struct named *rows, uint32_t n, struct rs_err *err)
{
    static const char *const numbers[] = {"ranks", "calls", "median, least", "most", "of rank", "of step", "GPU time"};
    struct rs_table t = {0};
    columns(&t, numbers, sizeof numbers / sizeof *numbers);
    rs_table_column(&t, RS_LEFT, "annotation");
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
    printf("annotations: time on the host of one call, by rank; work of the GPU launched inside them, all together\n");
    RS_TRY(finish(&t, n, n < MOST_NAMES ? n : MOST_NAMES, err));
    printf("\n");
    return RS_OK;
}

static enum rs_status print_annotations(const struct rs_profile *p, struct rs_err *err)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->nrows; i++) n += p->rows[i].ranges.n;
    if (!n) return RS_OK;
    struct named *rows = malloc(n * sizeof *rows);
    if (!rows) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    n = 0;
    for (uint32_t i = 0; i < p->nrows; i++)
        for (uint32_t k = 0; k < p->rows[i].ranges.n; k++) {
            const struct rs_range_row *x = &p->rows[i].ranges.rows[k];
            rows[n++] =
                (struct named){x->name, 1, i, x->calls, x->wall_ns, x->gpu_ns, x->wall.p50, x->wall.p50, x->share};
        }
    enum rs_status status = print_names(p, rows, merge(rows, n), err);
    free(rows);
    return status;
}

/* ---- launches and host calls ---- */

static enum rs_status print_launches(const struct rs_profile *p, struct rs_err *err)
{
    static const char *const numbers[] = {"steps",     "kernels a step", "median kernel",    "launch gaps",
                                          "host gaps", "other gaps",     "serialising calls"};
    struct rs_table t = {0};
    uint32_t all = 0, shown = 0;
    rs_table_column(&t, RS_RIGHT, "rank");
    columns(&t, numbers, sizeof numbers / sizeof *numbers);
    rs_table_column(&t, RS_LEFT, "mostly");
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
        return RS_OK;
    }
    printf("launches: idle because the next launch came late (up to 100 us: launch gaps), and calls that wait or "
           "allocate\n");
    RS_TRY(finish(&t, all, shown, err));
    printf("\n");
    return RS_OK;
}

enum rs_status rs_overlap_print(const struct rs_profile *p, struct rs_err *err)
{
    RS_TRY(print_overlap(p, true, err));
    RS_TRY(print_overlap(p, false, err));
    RS_TRY(print_pipeline(p, err));
    RS_TRY(print_annotations(p, err));
    RS_TRY(print_launches(p, err));
    for (size_t i = 0; i < p->nconclusion; i++) rs_plain_line(p->conclusion[i], stdout);
    return RS_OK;
}

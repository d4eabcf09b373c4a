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
#include "cli/print/output.h"
#include "cli/print/screen.h"
#include "cli/print/table.h"
#include "cli/reading.h"
#include "conclude/report.h"
#include "fields/overlap.h"
#include "foreign/stages/stages.h"

/* ---- text ---- */

enum { MOST_ROWS = 16, MOST_NAMES = 8 }; /* --json has all */

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

/* ---- the pipeline ---- */

static void print_pipeline(const struct rs_profile *p)
{
    static const enum rs_heading numbers[] = {RS_H_CHUNKS, RS_H_PERIOD, RS_H_P90,  RS_H_P99,
                                              RS_H_HIDDEN, RS_H_BUBBLE, RS_H_SCORE};
    struct rs_table t = {0};
    uint32_t all = 0, shown = 0, stages = 0, warmup = 0;
    for (uint32_t i = 0; i < p->nrows; i++)
        if (p->rows[i].source) stages = p->rows[i].pipeline.nstages;
    if (!stages) return;
    if (stages > 8) stages = 8;
    rs_table_column(&t, RS_RIGHT, RS_H_RANK);
    rs_table_numbers(&t, numbers, sizeof numbers / sizeof *numbers);
    for (uint32_t s = 0; s < stages; s++) rs_table_column_named(&t, p->stage_names[s]);
    rs_table_column(&t, RS_LEFT, RS_H_NONE);
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
    rs_screen_print("pipeline%s; medians", pairs ? " from one send or receive to the next" : "");
    if (warmup) rs_screen_print(", %" PRIu32 " chunk%s of warm-up excluded", warmup, warmup == 1 ? "" : "s");
    rs_screen_print("\n");
    finish(&t, all, shown);
    rs_screen_print("\n");
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

static void overlap_print(const struct rs_profile *p, const bool *named)
{
    rs_screen_conclude_named((const char *const *)p->conclusion, p->nconclusion, p->view.model, named);
    if (p->nconclusion) rs_screen_print("\n");
    print_overlap(p, true);
    print_overlap(p, false);
    print_pipeline(p);
    print_annotations(p);
    print_launches(p);
    if (p->steps.left_out) rs_screen_print("%s\n", p->steps.left_out);
}

/* ---- the command ---- */

struct options {
    struct rs_common common;
    bool exact;
    const char *stages;
    double fail_under; /* NAN: not asked for */
    int warmup; /* -1: the start-up, and one chunk of a pipeline */
    struct rs_stage_pattern patterns[RS_STAGES_MAX];
    char names[RS_STAGES_MAX][64];
    uint32_t npatterns;
};

/* NAME=PATTERN */
static const char *take_stage(void *to, const char *value)
{
    struct options *o = to;
    const char *equals = strchr(value, '=');
    if (!equals || equals == value || !equals[1]) return "takes NAME=PATTERN, as in load='*memcpy*'";
    if ((size_t)(equals - value) >= sizeof o->names[0]) return "has a name that is too long";
    if (o->npatterns == RS_STAGES_MAX) return "comes too often";
    struct rs_stage_pattern *p = &o->patterns[o->npatterns];
    snprintf(o->names[o->npatterns], sizeof o->names[0], "%.*s", (int)(equals - value), value);
    *p = (struct rs_stage_pattern){o->names[o->npatterns], equals + 1};
    o->npatterns++;
    return NULL;
}

/* Figures without cutting take the place of the others. */
static void use_exact(struct rs_profile *p)
{
    for (uint32_t i = 0; i < p->nrows; i++) {
        p->rows[i].overlap.cut = p->rows[i].overlap.exact;
        p->rows[i].overlap.grain_ns = 1;
    }
}

static enum rs_status print_json(const struct rs_profile *p, struct rs_err *err)
{
    struct rs_json *j = rs_output_json();
    for (uint32_t i = 0; i < p->nrows && !rs_json_failed(j); i++) {
        struct rs_overlap_fields row = {p, &p->rows[i], &p->rows[i].overlap.cut};
        rs_out_json(j, &rs_out_overlap, &row);
        rs_json_newline(j);
    }
    return rs_json_finish(j, err);
}

/* Reported for the first rank without the requested stages. */
static void say_missing(const struct rs_command *self, const struct rs_profile *p)
{
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
        rs_warn(self->name, "--fail-under: no score is known: name stages with --stage or --stages");
        return RS_EXIT_FAILURE;
    }
    return p->score < o->fail_under ? RS_EXIT_FOUND : RS_EXIT_FINE;
}

static enum rs_status print(const struct rs_command *self, struct options *o, const struct rs_model *m,
                            const struct rs_profile_options *profile, int *exit_status, struct rs_err *err)
{
    struct rs_profile p;
    RS_TRY(rs_profile_init(&p, m, profile, err));
    if (o->exact) use_exact(&p);
    enum rs_status status = RS_OK;
    if (o->common.json)
        status = print_json(&p, err);
    else
        overlap_print(&p, profile->named);
    if (status == RS_OK) {
        say_missing(self, &p);
        *exit_status = judge(self, o, &p);
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
                                         .patterns = o->patterns,
                                         .npatterns = o->npatterns,
                                         .warmup = o->warmup < 0 ? 1 : (uint32_t)o->warmup,
                                         .warmup_steps = o->warmup < 0 ? RS_NONE : (uint32_t)o->warmup};
    struct rs_report_options report = {.filter = profile.filter, .warmup = profile.warmup_steps};
    bool *named = NULL;
    enum rs_status status = o->stages ? open_stages(o->stages, &file, err) : RS_OK;
    if (status == RS_OK) status = rs_report_named(&named, m, &report, err);
    profile.named = named;
    if (status == RS_OK && file.bad) {
        rs_warn(self->name, "%s: %s%s", o->stages, file.why, file.bad > 1 ? ", and more like it" : "");
        rs_warn(self->name, "%s: %" PRIu64 " line%s left out", o->stages, file.bad, file.bad == 1 ? "" : "s");
    }
    if (status == RS_OK && o->stages) status = use_stages(&profile, &file, o->stages, err);
    if (status == RS_OK) status = print(self, o, m, &profile, exit_status, err);
    free(named);
    free(profile.times);
    rs_stage_file_free(&file);
    return status;
}

/* ---- the command ---- */

static int run(const struct rs_command *self, int argc, char **argv)
{
    struct options o = {.fail_under = NAN, .warmup = -1};
    const struct rs_opt opts[] = {
        {RS_OPT_EACH, 0, "stage", RS_EACH(take_stage, &o), "NAME=PATTERN",
         "a stage of a pipeline, by names of annotations or kernels; may be repeated"},
        {RS_OPT_STRING, 0, "stages", &o.stages, "FILE", "stages of a pipeline from CSV or JSON Lines; needs no IN"},
        {RS_OPT_COUNT, 0, "warmup", &o.warmup, "N",
         "leave out the first N steps (the start-up), and chunks of a pipeline (1)"},
        {RS_OPT_DOUBLE, 0, "fail-under", &o.fail_under, "SCORE", "exit with 3 if the overlap score of a rank is below"},
        {RS_OPT_FLAG, 0, "exact", &o.exact, NULL, "kernel times to the ns, not rounded to whole us as HTA does"},
        {.kind = RS_OPT_END},
    };
    int n, done = rs_common_parse(self, &o.common, opts, argc, argv, &n);
    if (done >= 0) return done;
    if (o.stages && o.npatterns) return rs_opt_usage(self, "--stage and --stages exclude each other");
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

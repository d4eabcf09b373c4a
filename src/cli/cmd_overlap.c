/* ringscope overlap: how much of the communication lies behind compute, what the rest is, and how well stages are
 * pipelined. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/profile.h"
#include "base/bytes.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/overlap_json.h"
#include "cli/overlap_text.h"
#include "cli/reading.h"
#include "foreign/stages/stages.h"

struct options {
    struct rs_common common;
    bool exact;
    const char *stages;
    double fail_under; /* NAN: not asked for */
    int warmup;
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
    for (uint32_t i = 0; i < p->nrows && !rs_json_failed(j); i++) rs_overlap_json(j, p, &p->rows[i]);
    return rs_json_finish(j, err);
}

/* Said of the first rank that lacks stages which were asked for. */
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
    enum rs_status status = o->common.json ? print_json(&p, err) : rs_overlap_print(&p, err);
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
    profile->times = malloc(((size_t)f->nrows + 1) * sizeof *profile->times);
    if (!profile->times) return rs_fail(err, RS_NO_MEMORY, "out of memory");
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
                                         .warmup = (uint32_t)o->warmup};
    enum rs_status status = o->stages ? open_stages(o->stages, &file, err) : RS_OK;
    if (status == RS_OK && file.bad) {
        rs_warn(self->name, "%s: %s%s", o->stages, file.why, file.bad > 1 ? ", and more like it" : "");
        rs_warn(self->name, "%s: %" PRIu64 " line%s left out", o->stages, file.bad, file.bad == 1 ? "" : "s");
    }
    if (status == RS_OK && o->stages) status = use_stages(&profile, &file, o->stages, err);
    if (status == RS_OK) status = print(self, o, m, &profile, exit_status, err);
    free(profile.times);
    rs_stage_file_free(&file);
    return status;
}

/* ---- the command ---- */

static int run(const struct rs_command *self, int argc, char **argv)
{
    struct options o = {.fail_under = NAN, .warmup = 1};
    const struct rs_opt opts[] = {
        {RS_OPT_EACH, 0, "stage", RS_EACH(take_stage, &o), "NAME=PATTERN",
         "a stage of a pipeline, by names of annotations or kernels; may be repeated"},
        {RS_OPT_STRING, 0, "stages", &o.stages, "FILE", "stages of a pipeline from CSV or JSON Lines; needs no IN"},
        {RS_OPT_COUNT, 0, "warmup", &o.warmup, "N", "leave out the first N chunks of a pipeline (1)"},
        {RS_OPT_DOUBLE, 0, "fail-under", &o.fail_under, "SCORE", "exit 3 when a rank's overlap score is below"},
        {RS_OPT_FLAG, 0, "exact", &o.exact, NULL, "kernels to the ns, not cut to whole us as HTA does"},
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
    .text = "Says for each rank how much of its communication lies behind compute, how much of the rest is waiting and "
            "how\n"
            "much transfer, when and why its GPU is idle, and how well the stages of a pipeline lie over each other. "
            "Needs\n"
            "traces that show compute (PyTorch profiler, Nsight Systems); recordings of NCCL alone tell communication.",
    .examples = "ringscope overlap trace_rank*.json.gz                  # a table by rank, and what to do\n"
                "ringscope overlap traces --stage load='*memcpy*' --stage run='*gemm*'  # a pipeline of two stages\n"
                "ringscope overlap --stages stages.csv --fail-under 0.30  # a gate: exit status 3 below it",
    .json = "JSON Lines: one object per rank",
    .takes = "filter reading",
    .run = run,
};

/* A run in figures: what two runs are compared by, and what a baseline keeps of one.
 *
 * A figure is a measure (enum rs_measure) of something: a function with its size on a class of communicators, a rank, a
 * kernel, a stage, or the run. Its identity is (measure, of, rank): the same in runs of the same job, so no index of a
 * model is in it. Where a run does not have a figure (no kernels were recorded, no steps were found), there is none:
 * absent is unknown. `error` is the standard error inside the run: from means of consecutive parts of it, so that steps
 * that depend on their neighbours do not count as independent, with the error of the clocks where clocks are compared.
 *
 * Made from the report and the profile of a joined model, which it does not keep. Owns its texts until
 * rs_run_figures_free().
 * One thread at a time. */
#ifndef RS_COMPARE_FIGURES_H
#define RS_COMPARE_FIGURES_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/profile.h"
#include "conclude/report.h"

/* What is measured: id, name in JSON and baselines, unit, better, scale, words.
 * Better: LESS or MORE. Scale: RATIO (always above 0: compared by its logarithm) or AMOUNT (may be 0: by difference). */
/* clang-format off */
#define RS_MEASURES(X)                                                                 \
    X(STEP_P50,         "step_p50",         NS,  LESS, RATIO,  "step time, p50")       \
    X(STEP_P90,         "step_p90",         NS,  LESS, RATIO,  "step time, p90")       \
    X(STEP_P99,         "step_p99",         NS,  LESS, RATIO,  "step time, p99")       \
    X(OPS_TIME,         "operations_time",  NS,  LESS, RATIO,  "mean time of an operation") \
    X(TIME,             "time",             NS,  LESS, RATIO,  "time")                 \
    X(WAIT,             "wait",             NS,  LESS, AMOUNT, "wait")                 \
    X(TRANSFER,         "transfer",         NS,  LESS, RATIO,  "transfer")             \
    X(BUSBW,            "busbw",            GBS, MORE, RATIO,  "bus bandwidth")        \
    X(COMPUTE,          "compute",          NS,  LESS, RATIO,  "compute per step")     \
    X(OVERLAP,          "overlap_pct",      PCT, MORE, AMOUNT, "communication that overlaps with compute") \
    X(EXPOSED_WAIT,     "exposed_wait",     NS,  LESS, AMOUNT, "exposed wait per step") \
    X(EXPOSED_TRANSFER, "exposed_transfer", NS,  LESS, AMOUNT, "exposed transfer per step") \
    X(IDLE,             "idle_pct",         PCT, LESS, AMOUNT, "GPU idle")             \
    X(PERIOD,           "period",           NS,  LESS, RATIO,  "pipeline period")      \
    X(STAGE,            "stage",            NS,  LESS, RATIO,  "pipeline stage")       \
    X(SCORE,            "score",            ONE, MORE, AMOUNT, "OverlapScore")         \
    X(KERNEL,           "kernel",           NS,  LESS, RATIO,  "kernel, per step")     \
    X(RANK_GPU,         "rank_gpu",         NS,  LESS, AMOUNT, "time between operations, on the GPU") \
    X(RANK_LAUNCH,      "rank_launch",      NS,  LESS, AMOUNT, "time between operations, not launched yet") \
    X(RANK_WAIT,        "rank_wait",        NS,  LESS, AMOUNT, "wait for other ranks per step") \
    X(RANK_TRANSFER,    "rank_transfer",    NS,  LESS, AMOUNT, "transfer per step")
/* clang-format on */

enum rs_measure {
#define RS_MEASURE(id, name, unit, better, scale, words) RS_M_##id,
    RS_MEASURES(RS_MEASURE)
#undef RS_MEASURE
        RS_MEASURE_COUNT
};

enum rs_measure_unit { RS_UNIT_NS, RS_UNIT_GBS, RS_UNIT_PCT, RS_UNIT_ONE };
enum rs_measure_better { RS_BETTER_LESS, RS_BETTER_MORE };
enum rs_measure_scale { RS_SCALE_RATIO, RS_SCALE_AMOUNT };

struct rs_measure_row {
    const char *name, *words;
    enum rs_measure_unit unit;
    enum rs_measure_better better;
    enum rs_measure_scale scale;
};
extern const struct rs_measure_row rs_measures[RS_MEASURE_COUNT];

/* Whether it is about one rank: figures that explain others, and are not judged themselves. */
static inline bool rs_measure_of_rank(enum rs_measure m)
{
    return m >= RS_M_RANK_GPU && m <= RS_M_RANK_TRANSFER;
}

struct rs_figure {
    enum rs_measure measure;
    char *of; /* "AllReduce, 8.0 MiB, 8 ranks", the name of a kernel or a stage; "": the run, or a rank */
    int32_t rank; /* of the job; -1: not of one rank */
    double value; /* in the unit of its measure */
    double error; /* standard error inside the run */
    double whole; /* what an AMOUNT is a part of (the time of the operation, the step); 0: unknown */
    double share; /* of the time of all operations, or of the step: how much it matters, 0 to 1; NAN: unknown */
};

struct rs_run_setting {
    char *name, *value; /* "NCCL_PROTO", "nccl.version", "algorithm of AllReduce, 8.0 MiB, 8 ranks" */
};

/* A finding of the report, by its identity and what explains it. */
struct rs_run_finding {
    char *kind, *scope, *name; /* of fields: "persistent", "rank", "rank 3" */
    char *why; /* NULL: unknown */
    int32_t rank; /* of the job; -1: not one rank */
    double late; /* ns per step; NAN: unknown, or of a link */
    double cost,
        cost_low; /* by which share the replayed run without it is exceeded, with the lower end; NAN: unknown */
    char *text; /* its sentence */
};

struct rs_run_figures {
    char *path; /* as the user named it */
    uint32_t ranks, hosts, steps; /* hosts 0: unknown */
    uint64_t operations;
    char *no_stages; /* why the stages that were asked for are not found; NULL. Not kept in a baseline */
    struct rs_figure *figures;
    struct rs_run_setting *settings;
    struct rs_run_finding *findings;
    uint32_t nfigures, cap_figures, nsettings, cap_settings, nfindings, cap_findings;
};

/* `options`: the filter, the warm-up and the stages of pipelines; `named` is not used. */
enum rs_status rs_run_figures_init(struct rs_run_figures *f, const char *path, struct rs_model *m,
                                   const struct rs_profile_options *options, struct rs_err *err);
void rs_run_figures_free(struct rs_run_figures *f);

/* Each copies the texts. A setting that is there already gets the value added ("Ring, Tree"). */
void rs_run_figure(struct rs_run_figures *f, const struct rs_figure *figure);
void rs_run_setting(struct rs_run_figures *f, const char *name, const char *value);
void rs_run_finding(struct rs_run_figures *f, const struct rs_run_finding *finding);

/* Of the run as a whole; NAN: unknown. */
double rs_run_value(const struct rs_run_figures *f, enum rs_measure measure);

#endif

/* How well the stages of a repeating piece of work (load, compute, send...) overlap, on one rank or across ranks.
 *
 * A chunk passes through all stages. P is the median time from the start of one chunk to that of the next, s_i the
 * median time of stage i:
 * hidden = sum s - P        bubble = P - sum s        score = clamp((sum s - P) / (sum s - max s), 0, 1)
 * so the score is 1 if P is the longest stage, and 0 if the stages run one after the other; for two stages it is (s0 +
 * s1 - P) / min(s0, s1). The first chunks are warm-up and ignored.
 *
 * Stages may lie on different ranks: each length is a difference on the stage's own clock, and P is measured on that of
 * one stage, so none of the above needs a common clock. P is that of the first stage; or, if another stage falls behind
 * it (its mean period is more than a tenth longer: work piles up in front of it), that of the slowest. Where a stage
 * lies on several ranks, the one that takes longest counts.
 *
 * Bubbles are idle times between chunks: of a stage, or across ranks of consecutive stages of one rank together (a
 * station). They have a cause: the station before it was not done (then that one, or what it waited for), the station
 * after it had not taken the chunk before (back-pressure), or itself. This needs chunks that are matched across ranks,
 * and a common clock: up to twice its error the cause is unknown. Owned until rs_pipeline_free(). */
#ifndef RS_ANALYSE_PIPELINE_H
#define RS_ANALYSE_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/quantile.h"
#include "base/err.h"

enum { RS_STAGES_MAX = 32 };

/* A stage of a chunk, or a piece of it: pieces that overlap count once. */
struct rs_stage_time {
    int32_t rank; /* pieces of several ranks do not overlap */
    uint32_t stage; /* RS_STAGES_MAX: only marks the start of its chunk */
    int64_t chunk;
    int64_t start, end;
};

enum rs_pipeline_verdict {
    RS_PIPELINE_UNKNOWN,
    RS_PIPELINED, /* P is about the longest stage: score at least 0.9 */
    RS_PIPELINE_PARTLY,
    RS_SERIALISED, /* P is about the sum, or more: at most 0.1 */
};

/* Why there is no score. */
enum rs_no_score {
    RS_SCORED,
    RS_NO_SCORE_STAGES, /* only one stage occurs */
    RS_NO_SCORE_CHUNKS, /* fewer than two chunks */
    RS_NO_SCORE_WARMUP, /* fewer than two chunks after the warm-up */
    RS_NO_SCORE_GAPS, /* no chunk is followed by the next number */
    RS_NO_SCORE_MISSING, /* a stage does not occur after the warm-up: `missing` */
    RS_NO_SCORE_EMPTY, /* all but one stage take no time */
};

/* The clock of a stage. */
struct rs_stage_clock {
    uint32_t id; /* equal: one clock */
    uint32_t island; /* clocks of different ones cannot be compared */
    int64_t error_ns; /* relative to the others; RS_TIME_NONE: cannot be compared */
};

struct rs_pipeline_options {
    uint32_t nstages, warmup;
    const struct rs_stage_clock *clocks; /* by stage; NULL: bubbles have no known cause */
    const uint32_t *places; /* by stage: where it lies, for stations; NULL: each stage is one */
    bool unmatched; /* chunks of equal number on different ranks may not be the same */
};

/* Why causes of bubbles are unknown. */
enum rs_no_causes {
    RS_CAUSES_KNOWN,
    RS_NO_CAUSES_CLOCKS, /* clocks cannot be compared */
    RS_NO_CAUSES_CHUNKS, /* chunks are not matched across ranks */
    RS_NO_CAUSES_STAGES, /* a stage lies on several ranks */
    RS_NO_CAUSES_ORDER, /* a chunk is at a station before the one in front of it has begun: clocks or chunks are wrong */
};

/* Consecutive stages of one place. */
struct rs_station {
    uint32_t first, last; /* stages; those between them that do not occur are not part of it */
    struct rs_quantiles idle; /* before a chunk */
    int64_t idle_ns; /* of all chunks */
    int64_t caused[RS_STAGES_MAX]; /* of that, by station */
    int64_t unclear_ns; /* of that: the cause is unknown */
};

struct rs_pipeline {
    uint32_t nstages, present; /* present: stages that occur, as bits */
    uint32_t chunks; /* in total */
    uint32_t warmup; /* of these ignored */
    uint32_t periods; /* from the start of a chunk to that of the next, if that exists */
    uint32_t paced_by; /* the stage whose period it is */
    /* over all chunks after the warm-up: */
    struct rs_quantiles period, hidden, stages[RS_STAGES_MAX];
    double score; /* of the medians; NAN: unknown */
    double score_p50, score_p90, score_p99; /* percentiles over single chunks */
    int64_t hidden_ns, bubble_ns; /* of the medians; one of them is 0 */
    enum rs_pipeline_verdict verdict;
    enum rs_no_score no_score;
    uint32_t missing;
    struct rs_station *stations; /* bubbles */
    uint32_t nstations;
    int64_t error_ns; /* of comparing clocks of different stages, at most; RS_TIME_NONE: cannot be compared */
    enum rs_no_causes no_causes;
};

/* Sorts the rows. */
void rs_pipeline_find(struct rs_pipeline *p, struct rs_stage_time *rows, uint32_t n,
                      const struct rs_pipeline_options *o);
void rs_pipeline_free(struct rs_pipeline *p);
const char *rs_pipeline_verdict_name(enum rs_pipeline_verdict v); /* "pipelined"; NULL: unknown */

#endif

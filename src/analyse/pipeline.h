/* How well the stages of a repeating piece of work (load, compute, send...) overlap.
 *
 * A chunk passes through all stages. P is the median time from the start of one chunk to that of the next, s_i the
 * median time of stage i:
 * hidden = sum s - P        bubble = P - sum s        score = clamp((sum s - P) / (sum s - max s), 0, 1)
 * so the score is 1 if P is the longest stage, and 0 if the stages run one after the other; for two stages it is (s0 +
 * s1 - P) / min(s0, s1). The first chunks are warm-up and ignored. */
#ifndef RS_ANALYSE_PIPELINE_H
#define RS_ANALYSE_PIPELINE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyse/quantile.h"
#include "base/err.h"

enum { RS_STAGES_MAX = 32 };

/* A stage of a chunk, or a piece of it: pieces that overlap count once. */
struct rs_stage_time {
    int32_t rank;
    uint32_t stage;
    int64_t chunk;
    int64_t start, end;
};

enum rs_pipeline_verdict {
    RS_PIPELINE_UNKNOWN,
    RS_PIPELINED, /* P is about the longest stage: score at least 0.9 */
    RS_PIPELINE_PARTLY,
    RS_SERIALISED, /* P is about the sum, or more: at most 0.1 */
};

struct rs_pipeline {
    uint32_t nstages;
    uint32_t chunks; /* in total */
    uint32_t warmup; /* of these ignored */
    uint32_t periods; /* from the start of a chunk to that of the next, if that exists */
    /* over all chunks after the warm-up: */
    struct rs_quantiles period, hidden, stages[RS_STAGES_MAX];
    double score; /* of the medians; NAN: unknown */
    double score_p50, score_p90, score_p99; /* percentiles over single chunks */
    int64_t hidden_ns, bubble_ns; /* of the medians; one of them is 0 */
    enum rs_pipeline_verdict verdict;
};

/* Of one rank; sorts the rows. */
void rs_pipeline_find(struct rs_pipeline *p, struct rs_stage_time *rows, uint32_t n, uint32_t nstages, uint32_t warmup);
const char *rs_pipeline_verdict_name(enum rs_pipeline_verdict v); /* "pipelined"; NULL: unknown */

#endif

/* How well the stages of a repeating piece of work (load, compute, send...) lie over each other.
 *
 * A chunk goes through all stages. P is the median time from the start of one chunk to that of the next, s_i the
 * median time that stage i takes:
 *   hidden = sum s - P        bubble = P - sum s        score = clamp((sum s - P) / (sum s - max s), 0, 1)
 * so that the score is 1 where P is the longest stage, and 0 where the stages follow each other; for two stages it is
 * (s0 + s1 - P) / min(s0, s1). The first chunks are warm-up and left out. */
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
    RS_PIPELINED, /* P is about the longest stage: score of 0.9 at least */
    RS_PIPELINE_PARTLY,
    RS_SERIALISED, /* P is about the sum, or more: 0.1 at most */
};

struct rs_pipeline {
    uint32_t nstages;
    uint32_t chunks; /* in all */
    uint32_t warmup; /* of them left out */
    uint32_t periods; /* from the start of a chunk to that of the next one, as far as that is there */
    /* of all chunks after the warm-up: */
    struct rs_quantiles period, hidden, stages[RS_STAGES_MAX];
    double score; /* of the medians; NAN: not known */
    double score_p50, score_p90, score_p99; /* of single chunks: what so many do not exceed */
    int64_t hidden_ns, bubble_ns; /* of the medians; one of them is 0 */
    enum rs_pipeline_verdict verdict;
};

/* Of one rank; sorts the rows. */
void rs_pipeline_find(struct rs_pipeline *p, struct rs_stage_time *rows, uint32_t n, uint32_t nstages, uint32_t warmup);
const char *rs_pipeline_verdict_name(enum rs_pipeline_verdict v); /* "pipelined"; NULL: not known */

#endif

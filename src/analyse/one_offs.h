/* What happened once or a few times: steps that took far longer than usual, and what differed in them.
 *
 * Lateness has three kinds: persistent (the same rank, in most steps), sporadic (it moves from rank to rank), and
 * one-off, which is this: start-up, the start of a profiler, a checkpoint, one rank that paused. A one-off is a fact about
 * a time, and blames nobody.
 *
 * A step is listed if it is longer than the median step after the warm-up by more than RS_ONE_OFF_SPREAD median deviations
 * and by more than 1 / RS_ONE_OFF_SHARE of the median. What differed is decided by the gaps of each rank, on its own
 * clock: from the end of one of its operations to the start of the next. What the gaps of all ranks are longer than usual,
 * all paused; what those of one rank are longer than that, the others waited for it. If neither explains half of the
 * excess, transfers that took longer may.
 *
 * Owns its rows and texts until rs_one_offs_free(). One thread at a time. */
#ifndef RS_ANALYSE_ONE_OFFS_H
#define RS_ANALYSE_ONE_OFFS_H

#include "analyse/bandwidth.h"
#include "analyse/steps.h"

enum { RS_ONE_OFF_SPREAD = 8, RS_ONE_OFF_SHARE = 4 };

/* What carries the excess. */
enum rs_one_off_what {
    RS_ONE_OFF_UNKNOWN, /* none of the following explains half of it, or ends are unknown */
    RS_ONE_OFF_ALL_PAUSED, /* all ranks, outside NCCL; one of them may have paused longer */
    RS_ONE_OFF_RANK_PAUSED, /* one rank or some, outside NCCL: the others waited */
    RS_ONE_OFF_TRANSFER, /* inside NCCL, after all ranks had arrived */
};

/* What is known to have happened at that time. */
enum rs_one_off_cause {
    RS_CAUSE_UNKNOWN,
    RS_CAUSE_PROFILER, /* a profiler started, or the recorder began to record other events */
    RS_CAUSE_COMMUNICATOR, /* a communicator was created */
    RS_CAUSE_START_UP, /* a step of the start-up, or the first of a job that was recorded from its beginning */
    RS_CAUSE_PERIODIC, /* it recurs every `every` steps, as a checkpoint or an evaluation does */
};

struct rs_one_off {
    uint32_t step; /* from 0 */
    uint32_t mark; /* the framework's number; RS_NONE */
    int64_t from_ns, duration_ns, usual_ns; /* of the step */
    int64_t excess_ns; /* duration - usual */
    int64_t at_ns; /* when it happened: a pause from its start on, else the start of the step */
    enum rs_one_off_what what;
    enum rs_one_off_cause cause;
    int64_t pause_ns; /* ALL_PAUSED: for how long, longer than usual; else 0 */
    uint32_t rank_id; /* the rank that paused the longest; RS_NONE: none stands out */
    int64_t late_ns; /* by how much longer it, and all others that did, paused than the rest */
    uint32_t ranks; /* ranks that paused: all, or those that the rest waited for; 0: none did */
    uint32_t row; /* of the function whose transfers took longer; RS_NONE */
    int64_t slow_ns; /* by how much */
    uint32_t every; /* steps from one to the next; 0: it does not recur regularly */
    bool left_out; /* in the warm-up: its time is in no other part of a report */
    char *text; /* without a capital and a full stop */
};

struct rs_one_offs {
    struct rs_one_off *rows; /* by time */
    uint32_t n;
};

/* Of the steps that are counted (rs_steps_within()). */
void rs_one_offs_find(struct rs_one_offs *o, struct rs_view *view, const struct rs_steps *steps,
                      const struct rs_bandwidth *bandwidth);
void rs_one_offs_free(struct rs_one_offs *o);

const char *rs_one_off_what_name(enum rs_one_off_what what); /* "all_paused"; NULL: unknown */
const char *rs_one_off_cause_name(enum rs_one_off_cause cause); /* "start_up"; NULL: unknown */

#endif

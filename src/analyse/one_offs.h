/* What happened once or a few times: steps that took far longer than usual, and what differed in them.
 *
 * Lateness has three kinds: persistent (the same rank, in most steps), sporadic (it moves from rank to rank), and
 * one-off, which is this: start-up, the start of a profiler, a checkpoint, one rank that paused. A one-off is a fact about
 * a time, not a culprit.
 *
 * A step is listed if it is longer than the median step by more than RS_ONE_OFF_SPREAD median deviations and by more
 * than 1 / RS_ONE_OFF_SHARE of it; steps of the start-up, too. What differed is decided by the gaps of each rank, on its
 * own clock: from the end of one of its operations to the start of the next. If the gaps of all ranks are longer than
 * usual, all paused; what one rank paused beyond the others, these waited for; if neither explains half of the excess, a
 * transfer that took longer may. A step may have two: all paused, and one of them longer than the others.
 *
 * Owns its rows and texts until rs_one_offs_free(). One thread at a time. */
#ifndef RS_ANALYSE_ONE_OFFS_H
#define RS_ANALYSE_ONE_OFFS_H

#include "analyse/bandwidth.h"
#include "analyse/steps.h"

enum { RS_ONE_OFF_SPREAD = 5, RS_ONE_OFF_SHARE = 20 };

/* What carries the excess. */
enum rs_one_off_what {
    RS_ONE_OFF_UNKNOWN, /* not known: no ends, or none of the following explains half of it */
    RS_ONE_OFF_ALL_PAUSED, /* all ranks, outside NCCL */
    RS_ONE_OFF_RANK_PAUSED, /* one rank, outside NCCL: the others waited for it */
    RS_ONE_OFF_TRANSFER, /* inside NCCL, after all ranks had arrived */
};

/* What is known to have happened at that time. */
enum rs_one_off_cause {
    RS_CAUSE_UNKNOWN,
    RS_CAUSE_START_UP, /* the first step of a process, or one of those recognised as start-up */
    RS_CAUSE_PROFILER, /* a profiler started, or the recorder began to record other events */
    RS_CAUSE_COMMUNICATOR, /* a communicator was created */
    RS_CAUSE_PERIODIC, /* every `every` steps: a checkpoint, an evaluation */
};

struct rs_one_off {
    uint32_t step; /* from 0 */
    uint32_t mark; /* the framework's number; RS_NONE */
    int64_t from_ns, to_ns, usual_ns; /* of the step */
    int64_t at_ns, excess_ns; /* when it began (of a pause: its start), and by how much longer than usual it took */
    enum rs_one_off_what what;
    enum rs_one_off_cause cause;
    uint32_t rank_id; /* that paused; RS_NONE: all, or none */
    uint32_t ranks; /* how many paused; 0: none */
    uint32_t row; /* of the function whose transfers took longer; RS_NONE */
    uint32_t every; /* steps from one to the next; 0: not periodic */
    bool left_out; /* in the start-up: its time is in no other part of a report */
    char *text; /* without a capital and a full stop */
};

struct rs_one_offs {
    struct rs_one_off *rows; /* by time */
    uint32_t n;
};

void rs_one_offs_find(struct rs_one_offs *o, struct rs_view *view, const struct rs_steps *steps,
                      const struct rs_bandwidth *bandwidth);
void rs_one_offs_free(struct rs_one_offs *o);

const char *rs_one_off_what_name(enum rs_one_off_what what); /* "all_paused"; NULL: unknown */
const char *rs_one_off_cause_name(enum rs_one_off_cause cause); /* "start_up"; NULL: unknown */

#endif

/* The truth about a generated job: truth.json, one JSON document next to the recordings.
 *
 * Operations are written as they are computed; clocks, costs and faults at the end. Owns its file and its notes of lost
 * records (which grow with the losses). A NULL truth writes nothing. One thread. */
#ifndef RS_GEN_TRUTH_H
#define RS_GEN_TRUTH_H

#include "gen/slot.h"

struct rs_gen_job;
struct rs_gen_comm;
struct rs_gen_truth;

/* Which callbacks of an operation on a rank were lost. */
enum {
    RS_GEN_LOST_API = 1, /* GroupApi, CollApi, P2pApi, KernelLaunch or Group: a start, state or stop */
    RS_GEN_LOST_OP = 2, /* the Coll or P2p */
    RS_GEN_LOST_KERNEL = 4,
    RS_GEN_LOST_NET = 8,
};

enum { RS_GEN_NO_REPLAY = -1 };

/* One operation; src and dst are -1 for collectives. Ranks are those in the communicator. */
struct rs_gen_op {
    uint64_t number;
    int comm, func;
    uint64_t seq, index; /* seq of collectives, index of pairs */
    int64_t replay, step;
    uint64_t bytes;
    int src, dst;
    bool complete;
};

enum rs_status rs_gen_truth_open(struct rs_gen_truth **truth, const struct rs_gen_job *job, struct rs_err *err);
/* `start` and `end`: true ns by member (of a pair: src, dst), RS_GEN_NEVER if it did not happen. */
void rs_gen_truth_op(struct rs_gen_truth *truth, const struct rs_gen_op *op, const int64_t *start, const int64_t *end,
                     int members);
/* Operations first to first + n - 1 are one fan-out. */
void rs_gen_truth_fanout(struct rs_gen_truth *truth, int comm, int64_t step, int depth, uint64_t first, uint64_t n);
/* A count or function that differs from the others. */
void rs_gen_truth_mismatch(struct rs_gen_truth *truth, uint64_t op, int rank, uint64_t count);
/* Something that happens once in a step, from true ns `at` on, for about `ns`. `rank` -1: all. `kind` is not copied. */
void rs_gen_truth_one_off(struct rs_gen_truth *truth, const char *kind, int64_t step, int rank, int64_t at, double ns);
/* The hang, once it has happened. */
struct rs_gen_verdict {
    const char *verdict;
    int comm; /* -1: none */
    int func;
    uint64_t seq, op;
    int rank, peer; /* of the job; -1: none */
    int step;
    const char *state; /* NULL: none */
    int other_comm; /* of a deadlock; -1: none */
};
void rs_gen_truth_hang(struct rs_gen_truth *truth, const struct rs_gen_verdict *verdict);
/* Everything else, and the end of the document. `end` is true ns. */
enum rs_status rs_gen_truth_close(struct rs_gen_truth *truth, struct rs_gen_job *job, int64_t end, struct rs_err *err);
void rs_gen_truth_free(struct rs_gen_truth *truth);

void rs_gen_truth_note_slow(struct rs_gen_truth *truth, struct rs_gen_slot *slot, uint64_t op, int rank, unsigned what);
/* Notes that callbacks of `op` were lost on this slot since the last note. */
static inline void rs_gen_truth_note(struct rs_gen_truth *truth, struct rs_gen_slot *slot, uint64_t op, int rank,
                                     unsigned what)
{
    if (slot->loss) rs_gen_truth_note_slow(truth, slot, op, rank, what);
}

#endif

/* The timeline: when operations start and end on every rank, in true time.
 *
 * An operation is called by the program of each member, starts on its GPU when that is free (or 6 to 10 us after the
 * launch), moves data once the last member has started, and ends on each member separately: with a jitter, a constant
 * bias of the rank, a bias by distance from the last arriver, and rare long tails. Operations are computed in an order
 * that is consistent with each rank's own. A member that never starts (hang.h) leaves the others waiting, and they in
 * turn others. One thread. */
#ifndef RS_GEN_OP_H
#define RS_GEN_OP_H

#include "gen/call.h"
#include "gen/truth.h"

/* What a member does with an operation. */
enum rs_gen_fate {
    RS_GEN_STARTS,
    RS_GEN_ABSENT, /* never calls it */
    RS_GEN_QUEUED, /* launches it after an operation that never ends */
    RS_GEN_BLOCKED, /* launches it into a stream that is blocked; its proxy is ready */
};

/* A captured operation. */
struct rs_gen_capture {
    struct rs_gen_coll coll;
    uint64_t *api; /* CollApi by member */
    int64_t replays;
};

/* A collective of `bytes` (as nccl-tests counts them); broadcasts are from rank 0. `buffer` determines addresses. On
 * another stream than RS_GEN_MAIN it begins after what was computed so far, and what follows does not wait for it until
 * the end of the step. */
void rs_gen_op_coll(struct rs_gen_job *job, int comm, int func, uint64_t bytes, enum rs_gen_stream stream,
                    uint32_t buffer);
/* Captures one all-reduce; replays it. */
void rs_gen_op_capture(struct rs_gen_job *job, int comm, uint64_t bytes, uint32_t buffer,
                       struct rs_gen_capture *capture);
void rs_gen_op_replay(struct rs_gen_job *job, struct rs_gen_capture *capture);

/* Member m calls an operation that the others have started, after one that never ends. */
void rs_gen_op_late(struct rs_gen_job *job, const struct rs_gen_coll *coll, int m);

/* A transfer between two members. */
struct rs_gen_pair {
    int src, dst;
    uint64_t bytes;
};
/* Pairs whose members make one group call each; at most one per direction and pair of ranks. `depth`: 1 = one call of
 * the program (ncclSend, ncclAlltoAll), else an explicit group. `fanout`: they belong together; else they are
 * concurrent, each with its own members. */
void rs_gen_op_pairs(struct rs_gen_job *job, int comm, const struct rs_gen_pair *pairs, int n, int depth, bool fanout);

/* A send on a stream of its own, until it is received. */
struct rs_gen_posted {
    int comm;
    struct rs_gen_pair pair;
    enum rs_gen_stream stream;
    enum rs_gen_fate fate; /* of the sender */
    bool recorded;
    uint64_t op;
    int64_t start;
};
/* The sender calls it; what follows there does not wait for it. */
void rs_gen_op_post(struct rs_gen_job *job, int comm, struct rs_gen_pair pair, enum rs_gen_stream stream,
                    struct rs_gen_posted *posted);
/* The receiver calls it, on its main stream. Sends of one sender and stream are received in their order. */
void rs_gen_op_take(struct rs_gen_job *job, const struct rs_gen_posted *posted);

/* Modelled time of moving bytes; `net`: between hosts. */
double rs_gen_move_ns(const struct rs_gen_job *job, uint64_t bytes, bool net);

/* ---- shared with pairs.c ---- */

/* Whether the members of one process take part: the fate of all of them. */
enum rs_gen_fate rs_gen_op_fate(struct rs_gen_job *job, int rank);
/* When the kernel that was launched at `kl` starts. */
int64_t rs_gen_op_start(struct rs_gen_job *job, int rank, int64_t kl, enum rs_gen_stream stream);
/* The delay of an end after the transfer: jitter, bias, tail. `behind`: 0 to 1, distance from the last arriver. */
int64_t rs_gen_op_spread(struct rs_gen_job *job, int rank, double behind);
/* A GPU waits forever. */
void rs_gen_op_stuck(struct rs_gen_job *job, int rank);
/* A stream of the GPU of `rank` is done with an operation. */
void rs_gen_op_done(struct rs_gen_job *job, int rank, int64_t end, enum rs_gen_stream stream);
/* Adds up the cost of being last, from the starts of n ranks of the job. */
void rs_gen_op_cost(struct rs_gen_job *job, const int *ranks, const int64_t *start, int n);

#endif

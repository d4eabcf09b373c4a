/* Values of an operation and of each of its ranks, for JSON, tables and exports: the rules of what counts, what is
 * derived and what is unknown. Functions that only read a joined model. */
#ifndef RS_JOIN_OP_FACTS_H
#define RS_JOIN_OP_FACTS_H

#include "join/presence.h"
#include "model/model.h"

/* A rank's part in an operation; in a fan-out, all its sends and receives together: it has ended when all have. */
struct rs_op_rank {
    uint32_t op;
    uint32_t part; /* the part that started first */
    uint32_t at, parts; /* all of its parts: order[at .. at + parts) */
    int64_t start, end; /* RS_TIME_NONE: unknown */
    int64_t after, before; /* bounds of an unknown end; RS_TIME_NONE: none */
    uint8_t end_source; /* enum rs_time_source, of `end` */
    bool open; /* a part had not ended when the recording did */
};

/* Returns the next rank of an operation: *at goes from 0 to its nparts. False: no more. */
bool rs_op_next_rank(const struct rs_model *m, uint32_t op, uint32_t *at, struct rs_op_rank *rank);

/* Whether kernels of a process that were launched at that time should have been recorded. */
bool rs_proc_requested(const struct rs_proc *p, int64_t at);
/* Whether the times of an operation were not measured, in part or at all: a rank called it while its recorder did not
 * request kernels, between two windows of detail. Neither missing nor lost. */
bool rs_op_not_measured(const struct rs_model *m, uint32_t op);

/* Number of recorded ranks. */
uint32_t rs_op_ranks(const struct rs_model *m, uint32_t op);

/* What is known about the end of a part. */
enum rs_ending {
    RS_ENDING_KNOWN,
    RS_ENDING_BOUNDED, /* before parts.before */
    RS_ENDING_OPEN, /* started, and not stopped when its recording ended */
    RS_ENDING_UNKNOWN, /* not reported */
};
enum rs_ending rs_part_ending(const struct rs_model *m, uint32_t part);

/* How long a rank was in the operation; RS_TIME_NONE: unknown. */
int64_t rs_op_rank_duration(const struct rs_model *m, const struct rs_op_rank *rank);

/* The wait of a rank in an operation: from its own start until the last of the ranks it needs started (rs_part_wait()).
 * In a fan-out, the longest wait of its sends and receives. RS_TIME_NONE: unknown, as in all operations that were not
 * compared (join/totals.h). `shortest` is rs_op_shortest(): the duration of the fastest rank, if waits come from
 * durations alone. */
int64_t rs_op_rank_wait(const struct rs_model *m, const struct rs_op_rank *rank, int64_t shortest);
/* The same for one part: one of the sends and receives of a fan-out. */
int64_t rs_op_part_wait(const struct rs_model *m, uint32_t part, int64_t shortest);
/* The longest and the mean of the known waits of an operation's ranks; RS_TIME_NONE: none is known. */
struct rs_op_waits {
    int64_t longest_ns, mean_ns;
};
struct rs_op_waits rs_op_waits(const struct rs_model *m, uint32_t op);
/* The tool that the times of a part came from, if it is not the primary source; else NULL. */
const char *rs_part_lender(const struct rs_model *m, uint32_t part);

/* From the last start to the last end, and bytes per ns of that (GB/s); negative: unknown. If the last start is closer
 * to the last end than the clock error, wait and transfer cannot be separated. */
struct rs_op_rate {
    int64_t transfer_ns; /* RS_TIME_NONE: unknown */
    int64_t below_ns; /* only this upper bound is known; else RS_TIME_NONE */
    double algbw, busbw;
};
struct rs_op_rate rs_op_rate(const struct rs_model *m, uint32_t op);
/* Whether its bytes are known: some tools report no sizes. */
bool rs_size_known(const struct rs_model *m, uint32_t op);

/* Error of comparing its ranks' times; RS_TIME_NONE: they cannot be compared. */
static inline int64_t rs_op_error(const struct rs_model *m, uint32_t op)
{
    return m->ops.flags[op] & RS_OP_CLOCKED ? m->ops.error[op] : RS_TIME_NONE;
}

/* The source of waits and transfer, "clocks" or "durations"; NULL: unknown. */
const char *rs_op_wait_source(const struct rs_model *m, uint32_t op, int64_t shortest);
/* What NCCL does not report for operations of this kind; NULL: nothing. */
const char *rs_op_unknown(const struct rs_model *m, uint32_t op);
/* Whether its first part was reported at capture, and NCCL does not report its replays. */
static inline bool rs_op_unreported(const struct rs_model *m, uint32_t op)
{
    return m->parts.flags[m->order[m->ops.part[op]]] & RS_PART_UNREPORTED;
}

/* Returns the next rank that should be in the operation and is not: *at from 0. `missing`: ranks that did not take part
 * although their recordings are complete; else ranks that were not recorded. -1: no more. */
int32_t rs_op_next_absent(const struct rs_model *m, uint32_t op, const struct rs_presence_index *presence, bool missing,
                          int32_t *at);

const char *rs_op_kind_name(uint8_t kind); /* "coll" */
const char *rs_time_source_name(uint8_t source); /* "kernel"; NULL: none */
/* The kind of a communicator's hash; NULL: it has none. */
const char *rs_comm_source(const struct rs_comm_row *comm);

#endif

/* What is told of an operation and of each of its ranks, in JSON, tables and exports alike: one place for the rules of
 * what counts, what is derived and what is not known. Functions that only read a joined model. */
#ifndef RS_JOIN_OP_FACTS_H
#define RS_JOIN_OP_FACTS_H

#include "join/presence.h"
#include "model/model.h"

/* A rank's part in an operation; of a fan-out, all its sends and receives together: it has ended when all have. */
struct rs_op_rank {
    uint32_t op;
    uint32_t part; /* the one that started first */
    uint32_t at, parts; /* all of them: order[at .. at + parts) */
    int64_t start, end; /* RS_TIME_NONE: not known */
    int64_t after, before; /* bounds of an end that is not known; RS_TIME_NONE: none */
    uint8_t end_source; /* enum rs_time_source, of `end` */
    bool open; /* one of them had not ended when the recording did */
};

/* Takes the next rank out of an operation's parts: *at goes from 0 to its nparts. False: that was all. */
bool rs_op_next_rank(const struct rs_model *m, uint32_t op, uint32_t *at, struct rs_op_rank *rank);

/* How many ranks are here. */
uint32_t rs_op_ranks(const struct rs_model *m, uint32_t op);

/* What is known of the end of a part. */
enum rs_ending {
    RS_ENDING_KNOWN,
    RS_ENDING_BOUNDED, /* it came before parts.before */
    RS_ENDING_OPEN, /* something of it had started, and not stopped when its recording ended */
    RS_ENDING_UNKNOWN, /* neither: nobody told of it */
};
enum rs_ending rs_part_ending(const struct rs_model *m, uint32_t part);

/* How long a rank was in it; RS_TIME_NONE: not known. */
int64_t rs_op_rank_duration(const struct rs_model *m, const struct rs_op_rank *rank);

/* The wait of a rank in an operation: from its own start until the last of those it needs started (rs_part_wait()). In
 * a fan-out that is the longest wait of its sends and receives. RS_TIME_NONE: not known; so in all operations that were
 * not compared (join/totals.h). `shortest` is rs_op_shortest(): what the quickest rank took, where waits are told by
 * durations alone. */
int64_t rs_op_rank_wait(const struct rs_model *m, const struct rs_op_rank *rank, int64_t shortest);
/* Likewise of one part: of one of the sends and receives of a fan-out. */
int64_t rs_op_part_wait(const struct rs_model *m, uint32_t part, int64_t shortest);
/* The longest and the mean wait of an operation's ranks, of those whose wait is known; RS_TIME_NONE: of none. */
struct rs_op_waits {
    int64_t longest_ns, mean_ns;
};
struct rs_op_waits rs_op_waits(const struct rs_model *m, uint32_t op);
/* The tool that the times of a part came from, where that is not the one that leads; NULL: it is. */
const char *rs_part_lender(const struct rs_model *m, uint32_t part);

/* From the last start to the last end, and bytes a ns of it (GB/s); negative: not known. Where the last start comes
 * closer to the last end than the clocks may err, what is wait and what is transfer is not known. */
struct rs_op_rate {
    int64_t transfer_ns; /* RS_TIME_NONE: not known */
    int64_t below_ns; /* it is less than this, and no more is known; RS_TIME_NONE: else */
    double algbw, busbw;
};
struct rs_op_rate rs_op_rate(const struct rs_model *m, uint32_t op);
/* Whether its bytes mean anything: some tools tell no sizes. */
bool rs_size_known(const struct rs_model *m, uint32_t op);

/* Of comparing its ranks' times; RS_TIME_NONE: they cannot be compared. */
static inline int64_t rs_op_error(const struct rs_model *m, uint32_t op)
{
    return m->ops.flags[op] & RS_OP_CLOCKED ? m->ops.error[op] : RS_TIME_NONE;
}

/* What waits and transfer are told by, "clocks" or "durations"; NULL: neither is known. */
const char *rs_op_wait_source(const struct rs_model *m, uint32_t op, int64_t shortest);
/* What NCCL does not tell of such an operation; NULL: nothing is lacking by its kind. */
const char *rs_op_unknown(const struct rs_model *m, uint32_t op);
/* Whether its first part was told at capture, and NCCL does not report its replays. */
static inline bool rs_op_unreported(const struct rs_model *m, uint32_t op)
{
    return m->parts.flags[m->order[m->ops.part[op]]] & RS_PART_UNREPORTED;
}

/* Takes the next rank that should be in it and is not: *at from 0. `missing`: those that did not come, though their
 * recordings are whole; else those that were not recorded. -1: no more. */
int32_t rs_op_next_absent(const struct rs_model *m, uint32_t op, const struct rs_presence_index *presence, bool missing,
                          int32_t *at);

const char *rs_op_kind_name(uint8_t kind); /* "coll" */
const char *rs_time_source_name(uint8_t source); /* "kernel"; NULL: of nothing */
/* What the hash of a communicator is; NULL: there is none. */
const char *rs_comm_source(const struct rs_comm_row *comm);

#endif

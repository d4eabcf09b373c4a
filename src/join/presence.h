/* Whether a rank that is absent from an operation is missing, or only not recorded.
 *
 * MISSING: the rank's recording is complete there, and it did not enter. NOT_RECORDED: the event may have been lost,
 * overwritten or not requested. NO_RECORDING: there is no recording of that rank. Sequence numbers decide first (a rank
 * with later operations was in the earlier ones), then the gaps and covers of the process after its last operation of
 * that kind. The index is built once, after the join, and freed by the caller; queries are cheap. Read-only: any number
 * of threads may query. */
#ifndef RS_JOIN_PRESENCE_H
#define RS_JOIN_PRESENCE_H

#include "model/model.h"

/* The time (host ns, on the model's axis) up to which a process that kept events of `type` (RS_COLL, RS_P2P, ... of
 * nccl/abi.h) has certainly kept all of them since `from`. INT64_MAX: to its end; INT64_MIN: not even at first. */
int64_t rs_recorded_until(const struct rs_proc *p, int64_t from, uint64_t type);

enum rs_presence { RS_PRESENT, RS_MISSING, RS_NOT_RECORDED, RS_NO_RECORDING };

struct rs_presence_index {
    uint32_t *members; /* by communicator, then by rank */
    uint32_t *first; /* by communicator, and one more: its first member */
    struct rs_map streams; /* numbered streams of members (see presence.c) -> row */
    struct rs_presence_row *rows;
    uint32_t nrows, cap;
};

void rs_presence_init(struct rs_presence_index *index, const struct rs_model *m);
void rs_presence_free(struct rs_presence_index *index);

/* For a rank of an operation's communicator; in a pair: src or dst. */
enum rs_presence rs_presence(const struct rs_presence_index *index, const struct rs_model *m, uint32_t op,
                             int32_t rank);

#endif

/* What a recording can say of what is not in it: missing, or only not recorded.
 *
 * An operation lacks a rank. Either the rank's recording is whole there and it did not enter: MISSING; or the event may
 * have been lost, overwritten or not asked for: NOT_RECORDED; or there is no recording of that rank: NO_RECORDING.
 * Sequence numbers decide first (a rank that went on to later operations was in the earlier ones), then the gaps and
 * covers of the process behind its last operation of that kind. The index is made once, when everything is joined, and
 * is the caller's to free; asking is cheap. Reading only: any number of threads may ask. */
#ifndef RS_JOIN_PRESENCE_H
#define RS_JOIN_PRESENCE_H

#include "model/model.h"

/* The moment (host ns, on the axis the model is on) up to which a process that kept events of `type` (RS_COLL, RS_P2P, ...
 * of nccl/abi.h) has surely kept all of them since `from`. INT64_MAX: to its end; INT64_MIN: not even at first. */
int64_t rs_recorded_until(const struct rs_proc *p, int64_t from, uint64_t type);

enum rs_presence { RS_PRESENT, RS_MISSING, RS_NOT_RECORDED, RS_NO_RECORDING };

struct rs_presence_index {
    uint32_t *members; /* communicator by communicator, by rank */
    uint32_t *first; /* by communicator, and one more: where its members begin */
    struct rs_map streams; /* what a member does again and again, numbered (see presence.c) -> row */
    struct rs_presence_row *rows;
    uint32_t nrows, cap;
};

void rs_presence_init(struct rs_presence_index *index, const struct rs_model *m);
void rs_presence_free(struct rs_presence_index *index);

/* Of a rank of an operation's communicator; of a pair: of src or dst. */
enum rs_presence rs_presence(const struct rs_presence_index *index, const struct rs_model *m, uint32_t op,
                             int32_t rank);

#endif

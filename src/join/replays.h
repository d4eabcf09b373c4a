/* Collectives that a CUDA graph replays: how they are numbered.
 *
 * With KernelCh on, NCCL's sequence number advances with each replay, and is the key as for any other. Else it stands
 * still, and a replay is known by (captured call, how many replays came before). A recording that lost some counts
 * wrongly: where it has as many replays as the whole ones while the number stood at one value, none of these is lost, and
 * their order tells which is which; else they are certain up to the first loss. The rest is left alone.
 * Owns its tables; one thread. */
#ifndef RS_JOIN_REPLAYS_H
#define RS_JOIN_REPLAYS_H

#include "model/model.h"

struct rs_replays {
    struct rs_map funcs; /* (comm, func) with captured parts -> 1: numbers advance, 2: they stand still */
    /* NULL when there are none of the latter: */
    uint8_t *lonely; /* by part: 1: nothing certain to join it by */
    int64_t *sure; /* by member: up to when none is lost */
    uint32_t *most; /* by member: captured calls seen */
    uint32_t *whole_most; /* by communicator: the same, of members that lost none */
};

/* Looks through the collectives, and sets parts.replay right where that is certain. */
enum rs_status rs_replays_find(struct rs_replays *r, struct rs_model *m, struct rs_err *err);
void rs_replays_free(struct rs_replays *r);

/* A captured part whose number stands still. */
bool rs_replays_frozen(const struct rs_replays *r, const struct rs_model *m, uint32_t part);
static inline bool rs_replays_lonely(const struct rs_replays *r, uint32_t part)
{
    return r->lonely && r->lonely[part];
}

#endif

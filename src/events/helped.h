/* Whose work a helper does: parts of other processes of its host, by the handles that came with proxy operations (PXN).
 *
 * The owner is found as in import/pxn.h: by the nonce in the handle, on the helper's host, and by the pid that NCCL
 * passes on. The parts of an owner are put into a map when the first of its work comes. One struct for the reading of
 * one process; one thread at a time. */
#ifndef RS_EVENTS_HELPED_H
#define RS_EVENTS_HELPED_H

#include "model/model.h"

struct rs_helped {
    const struct rs_model *model;
    uint32_t helper; /* process */
    struct rs_helped_owner *owners; /* other processes of the host that were recorded; NULL: not looked for yet */
    uint32_t n, cap;
    bool looked;
};

/* The part that a foreign handle names; RS_NONE: its recording, or its operation, is not here. */
enum rs_status rs_helped_part(struct rs_helped *h, uint64_t parent, uint32_t pid, uint32_t *part, struct rs_err *err);
void rs_helped_free(struct rs_helped *h);

#endif

/* Which part represents its rank in a fan-out (an all-to-all, grouped sends and receives): the first that began.
 *
 * In a fan-out a rank has one or two parts per peer; an arrow from rank to rank needs one. Owned by the caller. */
#ifndef RS_EXPORT_FANOUT_RANKS_H
#define RS_EXPORT_FANOUT_RANKS_H

#include "timeline/timeline.h"

struct rs_fanout_ranks {
    uint64_t *bits; /* by part of the model; NULL: there are no fan-outs */
};

void rs_fanout_ranks_init(struct rs_fanout_ranks *f, const struct rs_timeline *t);
void rs_fanout_ranks_free(struct rs_fanout_ranks *f);

static inline bool rs_fanout_represents(const struct rs_fanout_ranks *f, uint32_t part)
{
    return f->bits && (f->bits[part / 64] >> (part % 64) & 1);
}

#endif

/* Components of clocks joined to islands: first through hosts' clocks, whose bounds are certain, then through sends and
 * receives, then through wide bounds. What is left is an island of its own, on wall time.
 *
 * Needs tracks, attach, gpus and pairs of the clockwork; sets placed, errors, methods and islands, and moves the tracks of an
 * island onto one axis, which shows about the wall time of one of its hosts. */
#ifndef RS_JOIN_ISLANDS_H
#define RS_JOIN_ISLANDS_H

#include "join/links.h"

struct rs_islands {
    uint8_t *methods; /* by domain: enum rs_clock_method */
    uint32_t *islands; /* by domain: a clock of its island, the same for all of it */
    uint32_t *anchors; /* by domain: the host (else the GPU) whose time the axis shows: base, and nothing to add */
};

enum rs_status rs_islands_join(struct rs_clockwork *w, uint32_t ncomponents, struct rs_islands *out,
                               struct rs_err *err);

#endif

/* Connects components of clocks to islands: first through hosts' clocks, whose bounds are certain, then through sends
 * and receives, then through wide bounds. What remains is an island of its own, on wall time.
 *
 * Needs tracks, attach, gpus and pairs of the clockwork; sets placed, errors, methods and islands, and moves the tracks
 * of an island to one axis, which is close to the wall time of one of its hosts. */
#ifndef RS_JOIN_ISLANDS_H
#define RS_JOIN_ISLANDS_H

#include "join/attach.h"
#include "join/consensus.h"

/* ---- links between components ----
 * What connects a component of clocks to those already placed: bounds between GPUs and their hosts, and pairs.
 *
 * Each function finds the shift from a component's axis to the placed ones: a curve over the component's z, and its
 * error. Bounds are certain, so those of several GPUs are intersected. A send and its receive end at about the same
 * time; which side is later is unknown, so if there are pairs in both directions their mean is used. The caller frees
 * shift.curve.points. */

/* All clocks, and the progress of placing them. */
struct rs_clockwork {
    const struct rs_model *m;
    struct rs_track *tracks; /* of placed components: on the island's axis */
    const struct rs_attach *attach; /* by domain; empty ones for hosts */
    const uint32_t *gpus, *gpus_first; /* GPUs of host domain d: gpus[gpus_first[d] .. gpus_first[d + 1]) */
    const struct rs_samples *pairs;
    bool *placed; /* by domain */
    double *errors; /* by domain, ns; of placed ones against their island's axis */
};

/* Two names of one clock: copies what is known about `from` to `to`. */
void rs_track_copy(struct rs_track *to, const struct rs_track *from);

/* ---- islands ---- */

struct rs_islands {
    uint8_t *methods; /* by domain: enum rs_clock_method */
    uint32_t *islands; /* by domain: a clock of its island, the same for all of it */
    uint32_t *anchors; /* by domain: the host (else the GPU) whose time the axis shows */
};

void rs_islands_join(struct rs_clockwork *w, uint32_t ncomponents, struct rs_islands *out);

#endif

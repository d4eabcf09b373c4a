/* What ties one component of clocks to those already placed: bounds between GPUs and their hosts, and pairs.
 *
 * Each function finds the shift that carries a component's axis onto the placed ones: a curve over the component's z, and
 * its error. Bounds are certain, so those of several GPUs are intersected. Sends and receives end at about the same time;
 * which side is the later one is not known, so where there are pairs in both directions their mean counts.
 * The caller frees shift.curve.points. */
#ifndef RS_JOIN_LINKS_H
#define RS_JOIN_LINKS_H

#include "join/attach.h"
#include "join/consensus.h"

struct rs_shift {
    struct rs_curve curve;
    double error; /* ns, with that of the clocks it was found by; INFINITY: there is no such shift */
    uint32_t n; /* pairs that were fitted */
};

/* All clocks and how far they got. */
struct rs_clockwork {
    const struct rs_model *m;
    struct rs_track *tracks; /* of placed components: on the island's axis */
    const struct rs_attach *attach; /* by domain; empty ones for hosts */
    const uint32_t *gpus, *gpus_first; /* GPUs of host domain d: gpus[gpus_first[d] .. gpus_first[d + 1]) */
    const struct rs_samples *pairs;
    bool *placed; /* by domain */
    double *errors; /* by domain, ns; of placed ones against their island's axis */
};

enum rs_status rs_link_bounds(const struct rs_clockwork *w, const uint32_t *domains, uint32_t n, double widest,
                              struct rs_shift *shift, struct rs_err *err);
enum rs_status rs_link_pairs(const struct rs_clockwork *w, const uint32_t *domains, uint32_t n, struct rs_shift *shift,
                             struct rs_err *err);

/* Two names of one clock: what is known of `from` holds for `to`. */
enum rs_status rs_track_copy(struct rs_track *to, const struct rs_track *from, struct rs_err *err);
/* Adds a shift to a track: what was z becomes z + shift(z). */
enum rs_status rs_track_move(struct rs_track *t, const struct rs_curve *shift, struct rs_err *err);

#endif

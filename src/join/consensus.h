/* Aligns clocks that saw the same collectives, component by component.
 *
 * A track converts a clock's time x (ns since its base) to z = x + curve(x), ns on the axis of its component. First the
 * axis is extended from one clock over the communicators: clocks already placed give the end of each collective, and
 * the others are fitted to it. Then sweeps follow: the end is the median over all members, and every clock is fitted
 * again. So no clock is special, and a rank that is late to every collective does not shift its clock: only ends count,
 * and they are common to all.
 *
 * A rank whose ends are always slightly later than the others' cannot be detected here: `bias` is the allowance for
 * that. Tracks own their curves: rs_tracks_free(). One thread. */
#ifndef RS_JOIN_CONSENSUS_H
#define RS_JOIN_CONSENSUS_H

#include "join/fit.h"
#include "join/samples.h"

struct rs_track {
    int64_t base; /* clock's ns at x = 0 */
    struct rs_curve curve;
    uint32_t near;
    uint32_t component;
    uint32_t hops; /* communicators between this clock and the first one of its component */
    uint32_t n; /* ends that were fitted */
    double spread, doubt, rate_doubt; /* of the fit */
    double bias; /* ns: allowance for a constant bias of its ends, and of the clocks in between */
    double z_from, z_to; /* range of its ends on the axis */
};

static inline double rs_track_z(struct rs_track *t, double x)
{
    return x + rs_curve_at(&t->curve, x, &t->near);
}

/* `tracks` has a zeroed row for every clock, with its base set. A clock without samples is a component by itself. */
void rs_consensus_find(struct rs_track *tracks, const struct rs_model *m, const struct rs_samples *s,
                       uint32_t *ncomponents);
void rs_tracks_free(struct rs_track *tracks, uint32_t n);

#endif

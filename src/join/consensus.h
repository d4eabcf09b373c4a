/* Clocks that saw the same collectives, brought onto one axis: each component of such clocks by itself.
 *
 * A track carries a clock's time x (ns since its base) to z = x + curve(x), ns on the axis of its component. First the
 * axis grows from one clock over the communicators: clocks already placed give the end of each collective, and
 * the others are fitted to those. Then sweeps: the end is the median over all members, and every clock is fitted
 * again. So no clock is special, and one that is late to every collective does not move: only ends count, and they are
 * common to all.
 *
 * What this cannot see is a rank whose ends are always a little later than the others': `bias` is what is allowed for it.
 * Tracks own their curves: rs_tracks_free(). One thread. */
#ifndef RS_JOIN_CONSENSUS_H
#define RS_JOIN_CONSENSUS_H

#include "join/fit.h"
#include "join/samples.h"

struct rs_track {
    int64_t base; /* clock's ns at x = 0 */
    struct rs_curve curve;
    uint32_t near;
    uint32_t component;
    uint32_t hops; /* communicators between this clock and the one that its component grew from */
    uint32_t n; /* ends that were fitted */
    double spread, doubt, rate_doubt; /* of the fit */
    double bias; /* ns: what a constant bias of its ends, and of the clocks on the way, may be */
    double z_from, z_to; /* where its ends lie on the axis */
};

static inline double rs_track_z(struct rs_track *t, double x)
{
    return x + rs_curve_at(&t->curve, x, &t->near);
}

/* `tracks` has a zeroed row for every clock, with its base set. Clocks without samples are components of their own. */
void rs_consensus_find(struct rs_track *tracks, const struct rs_model *m, const struct rs_samples *s,
                       uint32_t *ncomponents);
void rs_tracks_free(struct rs_track *tracks, uint32_t n);

#endif

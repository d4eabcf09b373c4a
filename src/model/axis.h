/* How the times of one clock become times of the common axis: a piecewise-linear offset, with its error.
 *
 * A knot says: at this local time, add this much. Between knots the offset is a straight line; before the first and
 * behind the last the nearest segment goes on (with one knot: constant). No knots: times stay as they are. */
#ifndef RS_MODEL_AXIS_H
#define RS_MODEL_AXIS_H

#include <stddef.h>
#include <stdint.h>

struct rs_knot {
    int64_t at; /* local ns */
    double add; /* ns */
};

struct rs_axis {
    const struct rs_knot *knots; /* by `at`, rising; the model's arena owns them */
    uint32_t n;
    struct rs_axis_segment {
        int64_t from, to; /* local ns, to excluded */
        int64_t at; /* at this local time... */
        double add; /* ...this is added, */
        double rate; /* and so much more for each ns after that */
    } segment; /* asked for last: times come nearly in order. Hence one thread at a time. Zeroed: none yet */
};

/* Finds the segment around a local time, and remembers it. */
void rs_axis_find(struct rs_axis *axis, int64_t local);
/* What is added at a local time. */
static inline double rs_axis_add(struct rs_axis *axis, int64_t local)
{
    struct rs_axis_segment *p = &axis->segment;
    if (local < p->from || local >= p->to) rs_axis_find(axis, local);
    int64_t after = (int64_t)((uint64_t)local - (uint64_t)p->at); /* damaged times may be any */
    return p->add + p->rate * (double)after;
}
/* A local time on the common axis. RS_TIME_NONE stays what it is. */
int64_t rs_axis_common(struct rs_axis *axis, int64_t local);
/* The other way round, to the ns or so. */
int64_t rs_axis_local(struct rs_axis *axis, int64_t common);

#endif

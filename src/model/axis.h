/* Converts the times of one clock to the common axis: a piecewise-linear offset.
 *
 * A knot is the offset at a local time. Between knots the offset is linear; before the first and after the last it is
 * extrapolated (with one knot: constant). No knots: times stay as they are. */
#ifndef RS_MODEL_AXIS_H
#define RS_MODEL_AXIS_H

#include <stddef.h>
#include <stdint.h>

struct rs_knot {
    int64_t at; /* local ns */
    double add; /* ns */
};

struct rs_axis {
    const struct rs_knot *knots; /* by ascending `at`; the model's arena owns them */
    uint32_t n;
    struct rs_axis_segment {
        int64_t from, to; /* local ns, to excluded */
        int64_t at; /* at this local time... */
        double add; /* ...this is added, */
        double rate; /* and this much more per ns after it */
    } segment; /* the last one used: times are nearly in order. Hence one thread at a time. Zeroed: none yet */
};

/* Selects the segment around a local time. */
void rs_axis_find(struct rs_axis *axis, int64_t local);
/* The offset at a local time. */
static inline double rs_axis_add(struct rs_axis *axis, int64_t local)
{
    struct rs_axis_segment *p = &axis->segment;
    if (local < p->from || local >= p->to) rs_axis_find(axis, local);
    int64_t after = (int64_t)((uint64_t)local - (uint64_t)p->at); /* times may be damaged */
    return p->add + p->rate * (double)after;
}
/* A local time on the common axis. RS_TIME_NONE stays RS_TIME_NONE. */
int64_t rs_axis_common(struct rs_axis *axis, int64_t local);
/* The inverse, accurate to about a ns. */
int64_t rs_axis_local(struct rs_axis *axis, int64_t common);

#endif

#include "model/axis.h"

#include <math.h>

#include "base/bisect.h"
#include "model/model.h"

/* The segment around a local time. */
static struct rs_axis_segment segment_at(const struct rs_axis *a, int64_t local)
{
    struct rs_axis_segment segment = {INT64_MIN, INT64_MAX, 0, 0, 0};
    if (!a->n) return segment;
    uint32_t low = 0, high = a->n > 1 ? a->n - 1 : 1; /* of the knots that begin a segment, the last at or before it */
    RS_BISECT(low, high, mid, a->knots[mid].at <= local);
    uint32_t i = low ? low - 1 : 0;
    const struct rs_knot *p = &a->knots[i], *q = i + 1 < a->n ? p + 1 : p;
    segment.at = p->at;
    segment.add = p->add;
    int64_t span = rs_time_minus(q->at, p->at);
    segment.rate = span > 0 ? (q->add - p->add) / (double)span : 0;
    if (i) segment.from = p->at;
    if (i + 2 < a->n) segment.to = q->at;
    return segment;
}

void rs_axis_find(struct rs_axis *a, int64_t local)
{
    a->segment = segment_at(a, local);
}

/* llround(), without a call for each event. */
static int64_t nearest(double x)
{
    if (!(fabs(x) < 0x1p52)) return llround(x);
    int64_t whole = (int64_t)x;
    double rest = x - (double)whole;
    return whole + (rest >= 0.5) - (rest <= -0.5);
}

int64_t rs_axis_common(struct rs_axis *a, int64_t local)
{
    return local == RS_TIME_NONE ? local : (int64_t)((uint64_t)local + (uint64_t)nearest(rs_axis_add(a, local)));
}

int64_t rs_axis_local(struct rs_axis *a, int64_t common)
{
    int64_t local = rs_time_minus(common, nearest(rs_axis_add(a, common)));
    /* Offsets change by ppm: this converges at once. */
    for (int i = 0; i < 3; i++) local = rs_time_minus(common, nearest(rs_axis_add(a, local)));
    return local;
}

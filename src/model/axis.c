#include "model/axis.h"

#include <math.h>

#include "model/model.h"

double rs_axis_add(struct rs_axis *a, int64_t local)
{
    if (!a->n) return 0;
    if (a->n == 1) return a->knots[0].add;
    uint32_t i = a->near;
    if (i + 2 > a->n) i = 0;
    while (i + 2 < a->n && local >= a->knots[i + 1].at) i++;
    while (i && local < a->knots[i].at) i--;
    a->near = i;
    const struct rs_knot *p = &a->knots[i], *q = p + 1;
    double span = (double)rs_time_minus(q->at, p->at);
    return span > 0 ? p->add + (q->add - p->add) * ((double)rs_time_minus(local, p->at) / span) : p->add;
}

int64_t rs_axis_common(struct rs_axis *a, int64_t local)
{
    return local == RS_TIME_NONE ? local : (int64_t)((uint64_t)local + (uint64_t)llround(rs_axis_add(a, local)));
}

int64_t rs_axis_local(struct rs_axis *a, int64_t common)
{
    int64_t local = rs_time_minus(common, llround(rs_axis_add(a, common)));
    /* Offsets change by ppm: this settles at once. */
    for (int i = 0; i < 3; i++) local = rs_time_minus(common, llround(rs_axis_add(a, local)));
    return local;
}

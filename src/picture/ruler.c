#include "picture/ruler.h"

#include <math.h>
#include <stdio.h>

static int64_t nice_step(double ns)
{
    int64_t power = 1;
    while (power < INT64_C(1000000000000000000) && (double)power * 10 <= ns) power *= 10;
    if ((double)power >= ns) return power;
    for (int64_t factor = 2; factor <= 5; factor += 3)
        if ((double)(power * factor) >= ns) return power * factor;
    return power < INT64_C(1000000000000000000) ? power * 10 : power * 5;
}

static int64_t unit_of(int64_t ns)
{
    return ns >= 1000000000 ? 1000000000 : ns >= 1000000 ? 1000000 : ns >= 1000 ? 1000 : 1;
}

struct rs_ruler rs_ruler_make(int64_t from, int64_t to, unsigned ticks)
{
    double span = (double)to - (double)from;
    struct rs_ruler r = {.from = from, .to = to, .unit = 1};
    r.step = nice_step(span > 1 ? span / (ticks ? ticks : 1) : 1);
    r.first = from / r.step * r.step;
    if (r.first < from && r.first <= INT64_MAX - r.step) r.first += r.step;
    if ((double)from > 20 * span) r.base = r.first;
    int64_t largest = r.base ? (int64_t)fmin(span, 9e18) : to;
    r.unit = unit_of(largest);
    /* Many digits after the point are worse than many before it. */
    while (r.unit > 1 && r.step < r.unit / 100) r.unit /= 1000;
    return r;
}

static int digits_for(int64_t unit, int64_t step)
{
    int digits = 0;
    for (; step < unit && digits < 9; step *= 10) digits++;
    return digits;
}

static const char *unit_name(int64_t unit)
{
    return unit >= 1000000000 ? "s" : unit >= 1000000 ? "ms" : unit >= 1000 ? "us" : "ns";
}

void rs_ruler_label(const struct rs_ruler *r, int64_t at, char *out, size_t size)
{
    double value = ((double)at - (double)r->base) / (double)r->unit;
    if (value == 0)
        snprintf(out, size, "%s0", r->base ? "+" : "");
    else
        snprintf(out, size, "%s%.*f %s", r->base ? "+" : "", digits_for(r->unit, r->step), value, unit_name(r->unit));
}

void rs_ruler_base(const struct rs_ruler *r, char *out, size_t size)
{
    out[0] = '\0';
    if (r->base) snprintf(out, size, "t = %.*f s", digits_for(1000000000, r->step), (double)r->base / 1e9);
}

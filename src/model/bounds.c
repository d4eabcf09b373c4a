#include "model/bounds.h"

#include "model/model.h"

enum { FIRST_WIDTH = 16777216 }; /* ns: about 17 ms. Widths are powers of two, so that no window needs a division */

static uint64_t windows_before(const struct rs_bounds *b, int64_t at)
{
    return ((uint64_t)at - (uint64_t)b->base) >> __builtin_ctzll((uint64_t)b->width);
}

/* Keeps the tighter of two bounds of one kind. Clocks drift by some 10 ppm, so inside a long window this prefers one
 * end; the bound still holds. */
static void tighten(struct rs_bound *to, const struct rs_bound *other, int sign)
{
    if (other->d == RS_TIME_NONE) return;
    if (to->d == RS_TIME_NONE || (sign > 0 ? other->d > to->d : other->d < to->d)) *to = *other;
}

static void double_width(struct rs_bounds *b)
{
    uint32_t half = (b->n + 1) / 2;
    for (uint32_t i = 0; i < half; i++) {
        struct rs_bound lower = b->lower[2 * i], upper = b->upper[2 * i];
        if (2 * i + 1 < b->n) {
            tighten(&lower, &b->lower[2 * i + 1], 1);
            tighten(&upper, &b->upper[2 * i + 1], -1);
        }
        b->lower[i] = lower;
        b->upper[i] = upper;
    }
    b->n = half;
    b->width *= 2;
}

/* The window of a time, created if necessary. Times before the first go into window 0, and implausibly late ones into
 * the last: a window only selects among bounds. */
static uint32_t window(struct rs_bounds *b, int64_t at)
{
    if (!b->width) {
        b->base = at;
        b->width = FIRST_WIDTH;
    }
    if (at < b->base) return 0;
    uint64_t i;
    while ((i = windows_before(b, at)) >= RS_BOUNDS_MAX && b->width < INT64_MAX / 4) double_width(b);
    return i < RS_BOUNDS_MAX ? (uint32_t)i : RS_BOUNDS_MAX - 1;
}

static void reach(struct rs_bounds *b, uint32_t i)
{
    while (b->n <= i) {
        b->lower[b->n] = b->upper[b->n] = (struct rs_bound){0, RS_TIME_NONE};
        b->n++;
    }
}

void rs_bounds_add_lower(struct rs_bounds *b, int64_t gpu, int64_t host)
{
    uint32_t i = window(b, gpu);
    reach(b, i);
    tighten(&b->lower[i], &(struct rs_bound){gpu, rs_time_minus(host, gpu)}, 1);
}

static void add_sample(struct rs_bounds *b, const struct rs_bound *s)
{
    if (!b->stride) b->stride = 1;
    if (b->skip++ % b->stride) return;
    if (b->nsamples == RS_BOUNDS_SAMPLES) {
        for (uint32_t i = 0; i < RS_BOUNDS_SAMPLES / 2; i++) b->samples[i] = b->samples[2 * i];
        b->nsamples = RS_BOUNDS_SAMPLES / 2;
        b->stride *= 2;
    }
    b->samples[b->nsamples++] = *s;
}

void rs_bounds_add_upper(struct rs_bounds *b, int64_t gpu, int64_t host)
{
    uint32_t i = window(b, gpu);
    struct rs_bound bound = {gpu, rs_time_minus(host, gpu)};
    reach(b, i);
    tighten(&b->upper[i], &bound, -1);
    add_sample(b, &bound);
}

int64_t rs_bounds_near(const struct rs_bounds *b, int64_t gpu)
{
    if (!b->n || gpu < b->base) return RS_TIME_NONE;
    uint64_t i = windows_before(b, gpu);
    if (i >= b->n) i = b->n - 1;
    if (b->upper[i].d == RS_TIME_NONE || (i && b->upper[i - 1].d != RS_TIME_NONE && b->upper[i - 1].d < b->upper[i].d))
        i -= i ? 1 : 0;
    return b->upper[i].d;
}

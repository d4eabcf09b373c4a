#include "timeline/pixels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/memory.h"

/* Bars of a lane that are in one pixel are processed in groups of this many, as on the page: what is too short to be
 * seen counts once per group. */
enum { GROUP = 16 };

static const double least_cover = 0.02; /* something must be visible, however short */

static void clear(struct rs_pixels *s)
{
    memset(s->kind, 0, s->width);
    memset(s->shade, 0, s->width);
    for (unsigned x = 0; x < s->width; x++) s->cover[x] = s->most[x] = 0;
}

void rs_pixels_init(struct rs_pixels *s, unsigned width)
{
    size_t n = (size_t)width + 1;
    *s = (struct rs_pixels){width, rs_alloc(n), rs_alloc(n * sizeof(float)), rs_alloc(n * sizeof(float)), rs_alloc(n)};
    clear(s);
}

void rs_pixels_free(struct rs_pixels *s)
{
    free(s->kind);
    free(s->cover);
    free(s->most);
    free(s->shade);
    *s = (struct rs_pixels){0};
}

/* Adds `covered` of a pixel. The bar that covers most of it, `most`, determines the colour; a loss is never hidden by a
 * larger bar. */
static void touch(struct rs_pixels *s, unsigned x, double covered, double most, uint8_t kind, unsigned shade)
{
    double cover = (double)s->cover[x] + covered;
    s->cover[x] = cover > 1 ? 1 : (float)cover;
    if (most >= (double)s->most[x]) {
        s->most[x] = (float)most;
        s->kind[x] = (uint8_t)(kind + 1);
        s->shade[x] = (uint8_t)(shade | (s->shade[x] & RS_SHADE_LOST));
    } else {
        s->shade[x] |= (uint8_t)(shade & RS_SHADE_LOST);
    }
}

/* A stretch from a to b in pixels, possibly over several pixels. */
static void stretch(struct rs_pixels *s, double a, double b, uint8_t kind, unsigned shade)
{
    double from = a < 0 ? 0 : a, to = b > s->width ? s->width : b;
    if (!(to > from)) return;
    unsigned x = (unsigned)from, last = (unsigned)to;
    if (x == last) {
        touch(s, x, to - from, to - from, kind, shade);
        return;
    }
    touch(s, x, x + 1 - from, x + 1 - from, kind, shade);
    for (x++; x < last; x++) {
        s->cover[x] = s->most[x] = 1;
        s->kind[x] = (uint8_t)(kind + 1);
        s->shade[x] = (uint8_t)shade;
    }
    if (x < s->width && to > x) touch(s, x, to - x, to - x, kind, shade);
}

/* From opaque at `from` to transparent after `length` pixels. */
static void fade(struct rs_pixels *s, double from, double length, uint8_t kind)
{
    double end = ceil(from + length), begin = floor(from);
    unsigned last = end < 0 ? 0 : end < s->width ? (unsigned)end : s->width;
    for (unsigned x = begin < 0 ? 0 : begin < last ? (unsigned)begin : last; x < last; x++) {
        double left = 1 - (x + 0.5 - from) / length;
        if (!(left > 0) || s->most[x] >= 1) continue;
        double cover = (left < 1 ? left : 1) * 0.8;
        if (cover > (double)s->cover[x]) s->cover[x] = (float)cover;
        if (s->most[x] < 0.01f) s->most[x] = 0.01f;
        s->kind[x] = (uint8_t)(kind + 1);
        s->shade[x] = RS_SHADE_FADE;
    }
}

static unsigned shade_of(unsigned flags)
{
    if (flags & RS_BAR_LOST) return RS_SHADE_LOST;
    return flags & RS_BAR_NOT_RECORDED ? RS_SHADE_NOT_RECORDED : 0;
}

/* One bar that is wider than a pixel, or on the edge of two. */
static void wide_bar(const struct rs_bars *b, uint32_t i, double t0, double scale, struct rs_pixels *s)
{
    double a = ((double)b->start[i] - t0) * scale, end = ((double)(b->start[i] + b->dur[i]) - t0) * scale;
    double wait = (double)b->wait[i] * scale;
    unsigned shade = shade_of(b->flags[i]);
    uint8_t kind = b->kind[i];
    if (wait > 0) stretch(s, a, a + wait < end ? a + wait : end, kind, shade | RS_SHADE_WAIT);
    stretch(s, a + wait, end, kind, shade);
    if (b->flags[i] & RS_BAR_END_BOUNDED) fade(s, end, (double)b->fade[i] * scale, kind);
    if (end - a >= 3 && a >= 0 && a < s->width) s->shade[(unsigned)a] |= RS_SHADE_EDGE;
}

/* A group of bars, all in pixel x. */
static void crowd(const struct rs_bars *b, uint32_t i, unsigned n, double scale, struct rs_pixels *s, unsigned x)
{
    float busy = 0, longest = 0; /* as the page keeps them */
    unsigned flags = n == 1 ? b->flags[i] : 0;
    uint8_t kind = b->kind[i];
    for (unsigned k = 0; k < n; k++) {
        double time = (double)b->dur[i + k];
        busy = (float)((double)busy + time);
        flags |= b->flags[i + k] & RS_BAR_LOST;
        if (time < (double)longest) continue;
        longest = (float)time;
        kind = b->kind[i + k];
    }
    double covered = (n == 1 ? (double)b->dur[i] : (double)busy) * scale;
    double most = (n == 1 ? (double)b->dur[i] : (double)longest) * scale;
    touch(s, x, covered > least_cover ? covered : least_cover, most, kind, shade_of(flags));
}

/* The first bar of a lane that ends after a time. */
static uint32_t first_end_after(const struct rs_bars *b, const struct rs_bar_lane *lane, double time)
{
    uint32_t low = lane->from, high = lane->from + lane->n;
    RS_BISECT(low, high, mid, (double)(b->start[mid] + b->dur[mid]) <= time);
    return low - lane->from;
}

void rs_pixels_add(const struct rs_bars *b, const struct rs_bar_lane *lane, double t0, double scale,
                   struct rs_pixels *s)
{
    double pixel = 1 / scale, t1 = t0 + s->width * pixel; /* ns */
    uint32_t at = first_end_after(b, lane, t0), before = lane->from + at - 1;
    /* The previous bar may reach in with its fading end. */
    if (at && b->fade[before] > 0 && (double)(b->start[before] + b->dur[before] + b->fade[before]) > t0) at--;
    while (at < lane->n && (double)b->start[lane->from + at] < t1) {
        uint32_t i = lane->from + at;
        double x = floor(((double)b->start[i] - t0) * scale), pixel_end = t0 + (x + 1) * pixel;
        if ((double)(b->start[i] + b->dur[i]) > pixel_end || x < 0 || (double)b->fade[i] * scale > 1) {
            wide_bar(b, i, t0, scale, s);
            at++;
            continue;
        }
        uint32_t last = i + GROUP - 1;
        bool all = at % GROUP == 0 && at + GROUP <= lane->n && (double)(b->start[last] + b->dur[last]) <= pixel_end;
        unsigned n = all ? GROUP : 1;
        if (x < s->width) crowd(b, i, n, scale, s, (unsigned)x);
        at += n;
    }
}

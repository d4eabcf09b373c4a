/* Folding: bars onto pixels, against a method that looks at every bar for every pixel; and tests/data/fold.json,
 * which the page's folding is checked against, is what this one makes. RS_FOLD_JSON=FILE writes it anew. */
#include "timeline/pixels.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/strbuf.h"

struct scene {
    const char *name;
    double t0, scale;
    unsigned width;
    struct rs_bars bars;
    struct rs_bar_lane lane;
};

static void bar(struct scene *s, int64_t start, int64_t dur, uint8_t kind, uint8_t flags, int64_t wait, int64_t fade)
{
    uint32_t i;
    rs_bars_add(&s->bars, &i);
    s->bars.start[i] = start;
    s->bars.dur[i] = dur;
    s->bars.kind[i] = kind;
    s->bars.flags[i] = flags;
    s->bars.wait[i] = wait;
    s->bars.fade[i] = fade;
    s->lane.n = s->bars.n;
}

static uint32_t noise(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

static void wide(struct scene *s)
{
    bar(s, 100, 300, 0, 0, 0, 0);
    bar(s, 400, 250, 1, 0, 100, 0); /* right behind the first */
    bar(s, 655, 40, 2, 0, 0, 0); /* on the edge of two pixels */
    bar(s, 700, 100, 3, 0, 100, 0); /* waits all the time */
    bar(s, 950, 5000, 4, 0, 700, 0); /* reaches out of the picture */
}

static void reaching_in(struct scene *s)
{
    bar(s, 0, 500, 0, 0, 0, 0); /* over before */
    bar(s, 600, 350, 1, RS_BAR_END_BOUNDED, 0, 400); /* only its fading end is seen */
    bar(s, 1500, 100, 2, RS_BAR_END_BOUNDED, 20, 1500);
    bar(s, 1900, 30, 3, 0, 0, 0); /* in front of the fading one */
}

static void fading(struct scene *s)
{
    bar(s, 100, 0, 0, RS_BAR_END_BOUNDED, 0, 350); /* nothing is known but that it began */
    bar(s, 600, 95, 1, RS_BAR_END_BOUNDED, 0, 33);
    bar(s, 1000, 500, 2, RS_BAR_OPEN, 0, 0);
}

static void losses(struct scene *s)
{
    for (int i = 0; i < 64; i++) bar(s, 10 * i, 2 + i % 5, 1, i % 20 == 7 ? RS_BAR_LOST : 0, 0, 0);
    bar(s, 900, 300, 2, RS_BAR_LOST, 0, 0);
    bar(s, 1200, 300, 3, RS_BAR_NOT_RECORDED, 0, 0);
    bar(s, 1550, 3, 3, RS_BAR_NOT_RECORDED, 0, 0);
}

enum { PIXEL = 64, IN_A_PIXEL = 16, CROWDED = 12 };

/* Whether the bar at place k of pixel x is a loss: the first, the last, one in the middle, and two. */
static bool lost_here(unsigned x, unsigned k)
{
    return (x == 2 && k == 5) || (x == 5 && k == IN_A_PIXEL - 1) || (x == 6 && k == 0) ||
           (x == 9 && (k == 3 || k == 8));
}

/* 16 bars in each pixel: one of 4 ns and kind 2, the others of 3 ns and kind 1, or losses of 1 ns. */
static void losses_in_crowds(struct scene *s)
{
    for (unsigned x = 0; x < CROWDED; x++)
        for (unsigned k = 0; k < IN_A_PIXEL; k++) {
            bool lost = lost_here(x, k), longest = k == x;
            bar(s, (int64_t)(PIXEL * x + 4 * k),
                lost      ? 1
                : longest ? 4
                          : 3,
                longest ? 2 : 1, lost ? RS_BAR_LOST : 0, 0, 0);
        }
}

static void crowds(struct scene *s)
{
    uint32_t seed = 7;
    int64_t at = 3;
    for (int i = 0; i < 900; i++) {
        int64_t dur = noise(&seed) % 7;
        bar(s, at, dur, (uint8_t)(noise(&seed) % 5), 0, 0, 0);
        at += dur + 1 + noise(&seed) % 4;
    }
}

static void mixed(struct scene *s)
{
    uint32_t seed = 3;
    int64_t at = 0;
    for (int i = 0; i < 300; i++) {
        int64_t dur = noise(&seed) % 3 ? noise(&seed) % 60 : noise(&seed) % 900;
        int64_t wait = noise(&seed) % 2 ? dur * (noise(&seed) % 100) / 100 : 0;
        bool bounded = noise(&seed) % 6 == 0;
        int64_t fade = bounded ? noise(&seed) % 400 : 0;
        uint8_t kind = (uint8_t)(noise(&seed) % 5);
        bar(s, at, dur, kind, bounded ? RS_BAR_END_BOUNDED : 0, wait, fade);
        at += dur + noise(&seed) % 120;
    }
}

static struct scene scenes[] = {
    {.name = "wide bars, with waits", .t0 = 0, .scale = 0.02, .width = 40},
    {.name = "what begins before, with a fading end", .t0 = 1000, .scale = 0.02, .width = 40},
    {.name = "fading ends", .t0 = 0, .scale = 0.01, .width = 30},
    {.name = "losses and what was not recorded", .t0 = 0, .scale = 0.02, .width = 40},
    {.name = "losses in crowds of short bars", .t0 = 0, .scale = 1.0 / PIXEL, .width = CROWDED},
    {.name = "crowds of short bars", .t0 = 250, .scale = 1.0 / 64, .width = 100},
    {.name = "the same, at half the scale, moved", .t0 = 113.5, .scale = 1.0 / 128, .width = 60},
    {.name = "a mixture", .t0 = 5000, .scale = 1.0 / 128, .width = 200},
    {.name = "a mixture, near", .t0 = 6001, .scale = 0.25, .width = 200},
};
enum { SCENES = sizeof scenes / sizeof *scenes };

static int set_up(void **state)
{
    (void)state;
    void (*const make[SCENES])(struct scene *) = {wide,   reaching_in, fading, losses, losses_in_crowds,
                                                  crowds, crowds,      mixed,  mixed};
    for (int i = 0; i < SCENES; i++) make[i](&scenes[i]);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int i = 0; i < SCENES; i++) rs_bars_free(&scenes[i].bars);
    return 0;
}

/* ---- truth ---- */

static double overlap(double a, double b, double from, double to)
{
    double low = a > from ? a : from, high = b < to ? b : to;
    return high > low ? high - low : 0;
}

/* One pixel, by looking at every bar. */
static void check_pixel(const struct scene *s, const struct rs_pixels *p, unsigned x)
{
    double from = s->t0 + x / s->scale, to = s->t0 + (x + 1) / s->scale, width = to - from, covered = 0, largest = 0;
    unsigned touching = 0, shades = 0;
    bool kinds[8] = {0}, lost = false, fades = false;
    for (uint32_t i = 0; i < s->bars.n; i++) {
        double a = (double)s->bars.start[i], b = a + (double)s->bars.dur[i], w = a + (double)s->bars.wait[i];
        double faded = overlap(b, b + (double)s->bars.fade[i], from, to);
        fades |= faded > 0;
        bool here = overlap(a, b, from, to) > 0 || (a == b && a >= from && a < to);
        if (!here && !(faded > 0)) continue;
        touching++;
        kinds[s->bars.kind[i]] = true;
        if (!here) continue;
        lost |= s->bars.flags[i] & RS_BAR_LOST;
        covered += overlap(a, b, from, to) / width;
        double waits = overlap(a, w, from, to) / width, works = overlap(w, b, from, to) / width;
        if (waits > largest) largest = waits;
        if (works > largest) largest = works;
        if (waits > 0.5) shades |= RS_SHADE_WAIT;
    }
    if (!touching) {
        assert_int_equal(p->kind[x], 0);
        assert_true(p->cover[x] == 0);
        return;
    }
    if (p->kind[x]) assert_true(kinds[p->kind[x] - 1]);
    if (covered > 0) assert_int_not_equal(p->kind[x], 0);
    /* Short ones are drawn larger than they are: by 0.02 each at most. */
    double more = fades ? 0.8 : 0.02 * touching;
    assert_true(p->cover[x] >= (covered < 1 ? covered : 1) - 1e-4);
    assert_true(p->cover[x] <= (covered + more < 1 ? covered + more : 1) + 1e-4);
    if (lost && !fades) assert_true(p->shade[x] & RS_SHADE_LOST);
    if (shades & RS_SHADE_WAIT && !fades) assert_true(p->shade[x] & RS_SHADE_WAIT || largest < 0.5);
    /* What covers more than half of a pixel gives its kind. */
    for (uint32_t i = 0; i < s->bars.n; i++) {
        double a = (double)s->bars.start[i], b = a + (double)s->bars.dur[i];
        if (overlap(a, b, from, to) / width > 0.999 && !s->bars.wait[i] && !fades)
            assert_int_equal(p->kind[x], s->bars.kind[i] + 1);
    }
}

static void agrees_with_every_bar(void **state)
{
    (void)state;
    for (int k = 0; k < SCENES; k++) {
        struct rs_pixels p;
        rs_pixels_init(&p, scenes[k].width);
        rs_pixels_add(&scenes[k].bars, &scenes[k].lane, scenes[k].t0, scenes[k].scale, &p);
        for (unsigned x = 0; x < scenes[k].width; x++) check_pixel(&scenes[k], &p, x);
        rs_pixels_free(&p);
    }
}

/* By hand: pixels of 10 ns. */
static void knows_its_pixels(void **state)
{
    (void)state;
    struct scene s = {.scale = 0.1, .width = 10};
    struct rs_pixels p;
    bar(&s, 15, 30, 2, 0, 5, 0); /* waits until 20 */
    bar(&s, 61, 1, 1, 0, 0, 0);
    bar(&s, 63, 4, 5, 0, 0, 0);
    bar(&s, 80, 10, 0, RS_BAR_END_BOUNDED, 0, 20);
    rs_pixels_init(&p, s.width);
    rs_pixels_add(&s.bars, &s.lane, s.t0, s.scale, &p);
    static const uint8_t kinds[] = {0, 3, 3, 3, 3, 0, 6, 0, 1, 1};
    static const double covers[] = {0, 0.5, 1, 1, 0.5, 0, 0.5, 0, 1, 0.6};
    static const uint8_t shades[] = {0, RS_SHADE_WAIT | RS_SHADE_EDGE, 0, 0, 0, 0, 0, 0, 0, RS_SHADE_FADE};
    for (unsigned x = 0; x < s.width; x++) {
        assert_int_equal(p.kind[x], kinds[x]);
        assert_true(fabs((double)p.cover[x] - covers[x]) < 1e-6);
        assert_int_equal(p.shade[x], shades[x]);
    }
    rs_pixels_free(&p);
    rs_bars_free(&s.bars);
}

/* Losses are hatched in exactly their pixels: where whole groups of bars are taken at once, farther out, and where the
 * lane begins with another bar, so that no group lies in one pixel and each bar is taken by itself. */
static void shows_losses_in_crowds(void **state)
{
    (void)state;
    struct scene s = {.width = CROWDED};
    losses_in_crowds(&s);
    for (unsigned each = 1; each <= 4; each *= 2) /* pixels of the scene in one of the picture */
        for (uint32_t skipped = 0; skipped < 2; skipped++) {
            struct rs_pixels p;
            const struct rs_bar_lane lane = {.from = skipped, .n = s.bars.n - skipped};
            unsigned width = CROWDED / each;
            rs_pixels_init(&p, width);
            rs_pixels_add(&s.bars, &lane, 0, 1.0 / (PIXEL * each), &p);
            for (unsigned x = 0; x < width; x++) {
                unsigned lost = 0;
                for (unsigned i = 0; i < each * IN_A_PIXEL; i++)
                    lost += lost_here(x * each + i / IN_A_PIXEL, i % IN_A_PIXEL);
                assert_int_equal(p.shade[x], lost ? RS_SHADE_LOST : 0);
                if (x || !skipped) assert_int_equal(p.kind[x], 2 + 1);
                double covered = (49 - 2.0 * lost / each) / PIXEL;
                if (!skipped) assert_true(fabs((double)p.cover[x] - covered) < 1e-6);
            }
            rs_pixels_free(&p);
        }
    rs_bars_free(&s.bars);
}

/* A bar of no length is seen: two hundredths of its pixel. */
static void shows_moments(void **state)
{
    (void)state;
    struct scene s = {.scale = 0.001, .width = 4};
    struct rs_pixels p;
    bar(&s, 1500, 0, 3, 0, 0, 0);
    bar(&s, 2500, 1, 4, 0, 0, 0);
    rs_pixels_init(&p, s.width);
    rs_pixels_add(&s.bars, &s.lane, s.t0, s.scale, &p);
    static const uint8_t kinds[] = {0, 4, 5, 0};
    for (unsigned x = 0; x < s.width; x++) {
        assert_int_equal(p.kind[x], kinds[x]);
        assert_true(fabs((double)p.cover[x] - (kinds[x] ? 0.02 : 0)) < 1e-6);
    }
    rs_pixels_free(&p);
    rs_bars_free(&s.bars);
}

/* ---- the page's example ---- */

#define NUMBERS(key, n, format, value)                                                                                 \
    rs_strbuf_printf(out, "\"" key "\":[");                                                                            \
    for (uint32_t i = 0; i < (n); i++) rs_strbuf_printf(out, i ? "," format : format, value);                          \
    rs_strbuf_printf(out, "]")

static void write_scene(struct rs_strbuf *out, const struct scene *s)
{
    struct rs_pixels p;
    const struct rs_bars *b = &s->bars;
    rs_pixels_init(&p, s->width);
    rs_pixels_add(b, &s->lane, s->t0, s->scale, &p);
    rs_strbuf_printf(out, "{\"name\":\"%s\",\"t0\":%.17g,\"scale\":%.17g,\"width\":%u,\n \"bars\":{", s->name, s->t0,
                     s->scale, s->width);
    NUMBERS("start", b->n, "%lld", (long long)b->start[i]);
    rs_strbuf_printf(out, ",\n  ");
    NUMBERS("dur", b->n, "%lld", (long long)b->dur[i]);
    rs_strbuf_printf(out, ",\n  ");
    NUMBERS("kind", b->n, "%u", b->kind[i]);
    rs_strbuf_printf(out, ",\n  ");
    NUMBERS("flags", b->n, "%u", b->flags[i]);
    rs_strbuf_printf(out, ",\n  ");
    NUMBERS("wait", b->n, "%lld", (long long)b->wait[i]);
    rs_strbuf_printf(out, ",\n  ");
    NUMBERS("fade", b->n, "%lld", (long long)b->fade[i]);
    rs_strbuf_printf(out, "},\n ");
    NUMBERS("kind", s->width, "%u", p.kind[i]);
    rs_strbuf_printf(out, ",\n ");
    NUMBERS("cover", s->width, "%.4f", (double)p.cover[i]);
    rs_strbuf_printf(out, ",\n ");
    NUMBERS("shade", s->width, "%u", p.shade[i]);
    rs_strbuf_printf(out, "}");
    rs_pixels_free(&p);
}

static void page_has_the_same(void **state)
{
    (void)state;
    struct rs_strbuf made = {0}, *out = &made;
    rs_strbuf_printf(out, "{\"cases\":[\n");
    for (int k = 0; k < SCENES; k++) {
        write_scene(out, &scenes[k]);
        rs_strbuf_printf(out, k + 1 < SCENES ? ",\n" : "\n]}\n");
    }
    const char *text = rs_strbuf_borrow(out), *anew = getenv("RS_FOLD_JSON");
    if (anew) {
        FILE *f = fopen(anew, "we");
        assert_non_null(f);
        fputs(text, f);
        fclose(f);
    }
    FILE *f = fopen("tests/data/fold.json", "re");
    assert_non_null(f);
    char *stored = malloc(made.len + 2);
    size_t n = fread(stored, 1, made.len + 1, f);
    fclose(f);
    assert_int_equal(n, made.len); /* else: RS_FOLD_JSON=tests/data/fold.json, and look at what the page does */
    assert_memory_equal(stored, text, n);
    free(stored);
    rs_strbuf_free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(knows_its_pixels),  cmocka_unit_test(shows_losses_in_crowds),
        cmocka_unit_test(shows_moments),     cmocka_unit_test(agrees_with_every_bar),
        cmocka_unit_test(page_has_the_same),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

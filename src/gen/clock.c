#include "gen/clock.h"

#include <stdlib.h>

void rs_gen_clock_init(struct rs_gen_clock *c, double ppm, double wander_ppm, uint64_t seed)
{
    *c = (struct rs_gen_clock){.wander = wander_ppm * 1e-6, .rng = {seed}};
    c->segments = malloc(sizeof *c->segments);
    if (!c->segments) return;
    c->cap = c->n = 1;
    c->segments[0] = (struct rs_gen_segment){.rate = ppm * 1e-6};
}

void rs_gen_clock_free(struct rs_gen_clock *c)
{
    free(c->segments);
    *c = (struct rs_gen_clock){0};
}

struct rs_gen_segment rs_gen_clock_segment(struct rs_gen_clock *c, size_t i)
{
    while (i >= c->n) {
        if (c->n == c->cap) {
            struct rs_gen_segment *grown = realloc(c->segments, (c->cap ? c->cap * 2 : 1) * sizeof *grown);
            if (!grown) break;
            c->segments = grown;
            c->cap = c->cap ? c->cap * 2 : 1;
        }
        struct rs_gen_segment last = c->n ? c->segments[c->n - 1] : (struct rs_gen_segment){0};
        c->segments[c->n++] = (struct rs_gen_segment){.gained = last.gained + last.rate * RS_GEN_SECOND,
                                                      .rate = last.rate + c->wander * rs_gen_normal(&c->rng)};
    }
    if (i < c->n) return c->segments[i];
    struct rs_gen_segment last = c->n ? c->segments[c->n - 1] : (struct rs_gen_segment){0};
    last.gained += last.rate * (double)(i - (c->n ? c->n - 1 : 0)) * RS_GEN_SECOND;
    return last;
}

double rs_gen_clock_gained(struct rs_gen_clock *c, int64_t t)
{
    size_t i = t > 0 ? (size_t)(t / RS_GEN_SECOND) : 0;
    struct rs_gen_segment s = rs_gen_clock_segment(c, i);
    return s.gained + s.rate * (double)(t - (int64_t)i * RS_GEN_SECOND);
}

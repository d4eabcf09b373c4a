#include "gen/host.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

/* ---- clocks ---- */

/* `ppm` is the rate at the start; `wander_ppm` the size of its steps. */
static void gen_clock_init(struct rs_gen_clock *c, double ppm, double wander_ppm, uint64_t seed)
{
    *c = (struct rs_gen_clock){.wander = wander_ppm * 1e-6, .rng = {seed}};
    c->segments = rs_alloc(sizeof *c->segments);
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
            struct rs_gen_segment *grown = rs_realloc(c->segments, (c->cap ? c->cap * 2 : 1) * sizeof *grown);
            c->segments = grown;
            c->cap = c->cap ? c->cap * 2 : 1;
        }
        struct rs_gen_segment last = c->n ? c->segments[c->n - 1] : (struct rs_gen_segment){0};
        c->segments[c->n++] = (struct rs_gen_segment){.gained = last.gained + last.rate * RS_GEN_SECOND,
                                                      .rate = last.rate + c->wander * rs_gen_normal(&c->rng)};
    }
    return c->segments[i];
}

/* What the clock has gained at true time `t`, in ns. */
static double gen_clock_gained(struct rs_gen_clock *c, int64_t t)
{
    size_t i = t > 0 ? (size_t)(t / RS_GEN_SECOND) : 0;
    struct rs_gen_segment s = rs_gen_clock_segment(c, i);
    return s.gained + s.rate * (double)(t - (int64_t)i * RS_GEN_SECOND);
}

/* ---- hosts ---- */

enum { KEY_HOST = 0x100, KEY_BOOT, KEY_RATE, KEY_GPU, KEY_GPU_RATE, KEY_UUID, KEY_UPTIME, KEY_WALK, KEY_GPU_WALK };

static const int64_t day = INT64_C(86400) * RS_GEN_SECOND;

void rs_gen_host_init(struct rs_gen_host *h, int index, uint64_t seed, double offset_ns, double drift_ppm,
                      double wander_ppm)
{
    uint64_t i = (uint64_t)index, a = rs_gen_hash(seed, KEY_BOOT, i), b = rs_gen_hash(seed, KEY_BOOT, ~i);
    *h = (struct rs_gen_host){.offset = (int64_t)(offset_ns * rs_gen_hash_around(seed, KEY_HOST, i))};
    snprintf(h->name, sizeof h->name, "node%02d", index);
    snprintf(h->boot_id, sizeof h->boot_id, "%08x-%04x-4%03x-a%03x-%012llx", (unsigned)(a >> 32),
             (unsigned)(a >> 16) & 0xffff, (unsigned)a & 0xfff, (unsigned)(b >> 48) & 0xfff,
             (unsigned long long)(b & 0xffffffffffffu));
    uint64_t x = rs_gen_hash(seed, KEY_UPTIME, i);
    h->raw0 = day + (int64_t)(x % (uint64_t)(9 * day));
    h->ghz = 2.0 + (double)(x >> 44) / (1 << 20);
    gen_clock_init(&h->clock, drift_ppm * rs_gen_hash_around(seed, KEY_RATE, i), wander_ppm,
                   rs_gen_hash(seed, KEY_WALK, i));
}

void rs_gen_gpu_init(struct rs_gen_gpu *g, const struct rs_gen_host *h, int rank, int device, uint64_t seed,
                     double drift_ppm, double wander_ppm)
{
    uint64_t i = (uint64_t)rank;
    *g = (struct rs_gen_gpu){.device = device};
    g->base = RS_GEN_EPOCH_NS + h->offset + (int64_t)(5e9 * rs_gen_hash_around(seed, KEY_GPU, i));
    snprintf(g->bus_id, sizeof g->bus_id, "0000:%02x:00.0", (0x18 + device * 0x12) & 0xff);
    for (int k = 0; k < 16; k++) g->uuid[k] = (uint8_t)(rs_gen_hash(seed, KEY_UUID, i * 16 + (uint64_t)k) >> 56);
    gen_clock_init(&g->clock, drift_ppm * rs_gen_hash_around(seed, KEY_GPU_RATE, i), wander_ppm,
                   rs_gen_hash(seed, KEY_GPU_WALK, i));
}

int64_t rs_gen_host_raw(struct rs_gen_host *h, int64_t t)
{
    return h->raw0 + t + (int64_t)gen_clock_gained(&h->clock, t);
}

int64_t rs_gen_host_wall(struct rs_gen_host *h, int64_t t)
{
    return RS_GEN_EPOCH_NS + h->offset + t + (int64_t)gen_clock_gained(&h->clock, t);
}

uint64_t rs_gen_host_tick(struct rs_gen_host *h, int64_t t)
{
    return (uint64_t)(((double)(h->raw0 + t) + gen_clock_gained(&h->clock, t)) * h->ghz);
}

int64_t rs_gen_gpu_time(struct rs_gen_gpu *g, int64_t t)
{
    return g->base + t + (int64_t)gen_clock_gained(&g->clock, t);
}

static double place(struct rs_gen_view *v, struct rs_gen_clock *c, int64_t t)
{
    size_t i = t > 0 ? (size_t)(t / RS_GEN_SECOND) : 0;
    v->from = (int64_t)i * RS_GEN_SECOND;
    v->to = v->from + RS_GEN_SECOND;
    return 1 + rs_gen_clock_segment(c, i).rate;
}

void rs_gen_host_view(struct rs_gen_host *h, int64_t t, struct rs_gen_view *v)
{
    v->rate = place(v, &h->clock, t) * h->ghz;
    v->first = rs_gen_host_tick(h, v->from);
}

void rs_gen_gpu_view(struct rs_gen_gpu *g, int64_t t, struct rs_gen_view *v)
{
    v->rate = place(v, &g->clock, t);
    v->first = (uint64_t)rs_gen_gpu_time(g, v->from);
}

/* Hosts and GPUs of a generated job, with their clocks.
 *
 * True time is ns since the start of the job; on the true wall clock that start is RS_GEN_EPOCH_NS. A host has one
 * oscillator: its tick counter and CLOCK_MONOTONIC_RAW come from it, and CLOCK_REALTIME is RAW plus a constant. A GPU's
 * globaltimer has its own oscillator. All are functions of true time, evaluated in any order; a view caches one second
 * of a clock for the hot paths. The structs own their clocks until freed; one thread at a time. */
#ifndef RS_GEN_HOST_H
#define RS_GEN_HOST_H

#include <stddef.h>
#include <stdint.h>

#include "gen/random.h"

/* ---- clocks ----
 * Clocks with errors: an offset, a drift, and a rate that wanders.
 *
 * True time is ns since the start of the job, from 0. A clock's drift is what it has gained on true time since then:
 * linear within each second of true time, with a rate that takes a random step each second. The owner adds the offset
 * (it does not fit in a double). Segments are computed on demand and kept, 16 bytes per second; the readings of a clock
 * depend only on its seed. */

enum { RS_GEN_SECOND = 1000000000 };

struct rs_gen_segment {
    double gained; /* ns at the beginning of this second */
    double rate; /* ns per ns */
};

struct rs_gen_clock {
    struct rs_gen_segment *segments;
    size_t n, cap;
    double wander; /* rate change per second, one sigma */
    struct rs_gen_rng rng;
};
void rs_gen_clock_free(struct rs_gen_clock *clock);

/* The segment of second `i`. */
struct rs_gen_segment rs_gen_clock_segment(struct rs_gen_clock *clock, size_t i);

/* ---- hosts ---- */

/* 2026-01-15 00:00:00 UTC: fixed, so that the same seed gives the same bytes. */
#define RS_GEN_EPOCH_NS INT64_C(1768435200000000000)
enum { RS_GEN_GPU_GRAIN = 32 }; /* ns */

struct rs_gen_host {
    char name[64];
    char boot_id[40];
    struct rs_gen_clock clock;
    int64_t raw0; /* RAW at true time 0: the uptime */
    int64_t offset; /* REALTIME minus true wall time, at true time 0 */
    double ghz; /* ticks per ns of RAW */
};

struct rs_gen_gpu {
    struct rs_gen_clock clock;
    int64_t base; /* reading at true time 0 */
    int device;
    char bus_id[32];
    uint8_t uuid[16];
};

/* One second in which a clock is linear: reading = first + (t - from) * rate. */
struct rs_gen_view {
    int64_t from, to; /* true ns; to = 0: nothing cached */
    uint64_t first;
    double rate;
};

void rs_gen_host_init(struct rs_gen_host *host, int index, uint64_t seed, double offset_ns, double drift_ppm,
                      double wander_ppm);
void rs_gen_gpu_init(struct rs_gen_gpu *gpu, const struct rs_gen_host *host, int rank, int device, uint64_t seed,
                     double drift_ppm, double wander_ppm);

int64_t rs_gen_host_raw(struct rs_gen_host *host, int64_t t);
int64_t rs_gen_host_wall(struct rs_gen_host *host, int64_t t);
uint64_t rs_gen_host_tick(struct rs_gen_host *host, int64_t t);
/* Not rounded to its grain. */
int64_t rs_gen_gpu_time(struct rs_gen_gpu *gpu, int64_t t);

/* Moves a view to the second of `t`. */
void rs_gen_host_view(struct rs_gen_host *host, int64_t t, struct rs_gen_view *view);
void rs_gen_gpu_view(struct rs_gen_gpu *gpu, int64_t t, struct rs_gen_view *view);

static inline uint64_t rs_gen_view_at(const struct rs_gen_view *v, int64_t t)
{
    return v->first + (uint64_t)((double)(t - v->from) * v->rate);
}
static inline uint64_t rs_gen_gpu_read(struct rs_gen_gpu *gpu, struct rs_gen_view *v, int64_t t)
{
    if (t < v->from || t >= v->to) rs_gen_gpu_view(gpu, t, v);
    return rs_gen_view_at(v, t) & ~(uint64_t)(RS_GEN_GPU_GRAIN - 1);
}

#endif

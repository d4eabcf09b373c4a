/* Clocks that run wrong: an offset, a drift, and a rate that wanders.
 *
 * True time is ns since the start of the job, from 0. A clock's drift is what it has gained on true time since then: a
 * straight line within each second of true time, with a rate that takes a random step at each second. The offset is the
 * owner's business (it does not fit a double). Segments are made as they are asked for and kept, 16 bytes a second; what a
 * clock says depends on its seed alone, not on who asks when. One thread at a time. */
#ifndef RS_GEN_CLOCK_H
#define RS_GEN_CLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "gen/random.h"

enum { RS_GEN_SECOND = 1000000000 };

struct rs_gen_segment {
    double gained; /* ns at the beginning of this second */
    double rate; /* ns a ns */
};

struct rs_gen_clock {
    struct rs_gen_segment *segments;
    size_t n, cap;
    double wander; /* rate change a second, one sigma */
    struct rs_gen_rng rng;
};

/* `ppm` is the rate at the start; `wander_ppm` the size of its steps. */
void rs_gen_clock_init(struct rs_gen_clock *clock, double ppm, double wander_ppm, uint64_t seed);
void rs_gen_clock_free(struct rs_gen_clock *clock);

/* The segment of second `i`. A clock that finds no memory stops wandering. */
struct rs_gen_segment rs_gen_clock_segment(struct rs_gen_clock *clock, size_t i);

/* What the clock has gained at true time `t`, in ns. */
double rs_gen_clock_gained(struct rs_gen_clock *clock, int64_t t);

#endif

/* Unions and intersections of time spans: how long which kinds of work ran concurrently.
 *
 * Spans of up to RS_SWEEP_CLASSES classes are added in any order, overlapping or not; one pass over their sorted ends
 * gives, for every set of classes, how long exactly these were active. Each union, intersection and difference is a sum
 * over such sets. n log n in time, linear in memory. Owns its points until rs_sweep_free(); one thread at a time. */
#ifndef RS_ANALYSE_INTERVALS_H
#define RS_ANALYSE_INTERVALS_H

#include <stdint.h>

#include "base/err.h"

enum { RS_SWEEP_CLASSES = 6, RS_SWEEP_SETS = 1 << RS_SWEEP_CLASSES };

struct rs_sweep {
    struct rs_sweep_point *points;
    uint32_t n, cap;
    int64_t from, to; /* first start and last end; meaningless without points */
};

/* A span [start, end); ignored if empty, or too long (20 hours) to be anything but damage. */
void rs_sweep_add(struct rs_sweep *s, int64_t start, int64_t end, unsigned class);
/* ns[set]: how long exactly the classes of the set (bit c: class c) were active; set 0: gaps between first and last. */
void rs_sweep_run(struct rs_sweep *s, int64_t ns[RS_SWEEP_SETS]);
void rs_sweep_clear(struct rs_sweep *s); /* keeps its memory for reuse */
void rs_sweep_free(struct rs_sweep *s);

/* The sum over all sets with a class of `any` and none of `without`. */
int64_t rs_sweep_sum(const int64_t ns[RS_SWEEP_SETS], unsigned any, unsigned without);

/* Merged spans by time, for querying how much of a window is covered. Spans are added by start. A zeroed struct is
 * empty. */
struct rs_union {
    struct rs_union_span *spans;
    uint32_t n, cap;
};

void rs_union_add(struct rs_union *u, int64_t start, int64_t end);
int64_t rs_union_within(const struct rs_union *u, int64_t from, int64_t to);
void rs_union_free(struct rs_union *u);

/* Multiples of `grain`: the first one not below, and the last one not above. */
int64_t rs_grain_up(int64_t ns, int64_t grain);
int64_t rs_grain_down(int64_t ns, int64_t grain);

#endif

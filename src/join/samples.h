/* The samples for aligning clocks: ends of operations that several clocks saw at about the same time.
 *
 * A moment is one symmetric collective (every rank ends after every rank has started: AllReduce, AllGather,
 * ReduceScatter, AlltoAll), or one send with its receive; its samples are the ends on the clocks. Long runs are
 * sampled, evenly and by a hash (a stride could coincide with the program's own period), so that the work depends on
 * the number of clocks and not on the length of the run. The caller frees with rs_samples_free(). One thread. */
#ifndef RS_JOIN_SAMPLES_H
#define RS_JOIN_SAMPLES_H

#include "model/model.h"

#define RS_QUICK 4 /* times the fastest transfer: the ends of slower operations are further apart */
#define RS_LEAST_TRANSFER 10e3 /* ns: no operation is faster, whatever the clocks show */

struct rs_sample {
    double x; /* end: ns of its clock since base[domain] */
    uint32_t domain;
    uint32_t moment;
};

struct rs_moment {
    uint32_t op;
    uint32_t first, n; /* samples; in a pair the sender's is first */
};

struct rs_samples {
    struct rs_moment *moments;
    uint32_t nmoments, cap_moments;
    struct rs_sample *all;
    uint32_t n, cap;
    uint32_t *of; /* samples by domain, then by x: of[first[d] .. first[d + 1]) */
    uint32_t *first;
};

/* The first known time of every clock, ns, where its x is 0, and the last. 0 for clocks without any. The caller frees
 * both. */
void rs_samples_spans(const struct rs_model *m, int64_t **bases, int64_t **lasts);

void rs_samples_collectives(struct rs_samples *s, const struct rs_model *m, const int64_t *bases);
/* Only between clocks with different numbers in `component`. */
void rs_samples_pairs(struct rs_samples *s, const struct rs_model *m, const int64_t *bases, const uint32_t *component);
void rs_samples_free(struct rs_samples *s);

#endif

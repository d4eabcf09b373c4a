/* The shift between two views of a sequence: operation i of b is operation i + shift of a.
 *
 * Sizes must agree. If several shifts remain, as in every loop, times decide: with the right shift the times of the two
 * clocks differ by a constant, to a few us; with a wrong one they differ by as much as steps vary in length. Each rank
 * is compared with itself only. Work is linear in the length of the sequences. */
#ifndef RS_JOIN_SHIFTS_H
#define RS_JOIN_SHIFTS_H

#include "join/sequences.h"

enum { RS_SHIFT_RANKS = 4 };
enum rs_shift_time { RS_SHIFT_STARTS, RS_SHIFT_ENDS, RS_SHIFT_CALLS, RS_SHIFT_TIMES };

/* Ranks to compare: rank b[i] of one is rank a[i] of the other. */
struct rs_shift_ranks {
    int32_t b[RS_SHIFT_RANKS], a[RS_SHIFT_RANKS];
    uint32_t n;
};

struct rs_shifted {
    int64_t shift;
    uint32_t agree; /* operations of the same size in it */
    uint32_t overlap; /* operations with a counterpart */
    bool timed; /* the following are known */
    enum rs_shift_time by[RS_SHIFT_RANKS]; /* which times were compared, by rank; RS_SHIFT_TIMES: none */
    double apart[RS_SHIFT_RANKS]; /* ns: median of b's time - a's */
    double spread; /* ns: MAD about that, the median of the ranks */
};

/* False: no shift is certain. */
void rs_shift_find(const struct rs_model *m, const uint32_t *b, uint32_t nb, const uint32_t *a, uint32_t na,
                   const struct rs_shift_ranks *ranks, struct rs_shifted *out, bool *found);

/* Which operations of b match those of a: fits[0 .. nb). Known times must agree, or those of both neighbours that have
 * times: a single call may be delayed, but after an operation that is absent on one side all later ones are off. */
void rs_shift_fits(const struct rs_model *m, const uint32_t *b, uint32_t nb, const uint32_t *a,
                   const struct rs_shift_ranks *ranks, const struct rs_shifted *x, bool *fits);

/* Whether two operations have the same size, if both are known. */
bool rs_shift_agree(const struct rs_model *m, uint32_t b, uint32_t a);
/* b's time minus a's on one rank; false: one is unknown. */
bool rs_shift_apart(const struct rs_model *m, uint32_t b, int32_t rank_b, uint32_t a, int32_t rank_a,
                    enum rs_shift_time by, double *apart);

#endif

/* How far one view of a sequence is shifted against another's: operation i of b is operation i + shift of a.
 *
 * Sizes must agree; and where that leaves several shifts, as in every loop, times tell: on the right one what one clock
 * shows and what the other shows differ by the same amount all along, to some us, whatever the amount; on wrong ones by
 * as much as steps differ in length. Each rank is compared with itself only. Work grows with the length of the
 * sequences. */
#ifndef RS_JOIN_SHIFTS_H
#define RS_JOIN_SHIFTS_H

#include "join/sequences.h"

enum { RS_SHIFT_RANKS = 4 };
enum rs_shift_time { RS_SHIFT_STARTS, RS_SHIFT_ENDS, RS_SHIFT_CALLS, RS_SHIFT_TIMES };

/* Ranks to compare: rank b[i] of the one is rank a[i] of the other. */
struct rs_shift_ranks {
    int32_t b[RS_SHIFT_RANKS], a[RS_SHIFT_RANKS];
    uint32_t n;
};

struct rs_shifted {
    int64_t shift;
    uint32_t agree; /* operations of the same size in it */
    uint32_t overlap; /* operations that have one on the other side */
    bool timed; /* what follows is known */
    enum rs_shift_time by[RS_SHIFT_RANKS]; /* which times were compared, by rank; RS_SHIFT_TIMES: none */
    double apart[RS_SHIFT_RANKS]; /* ns: median of b's time - a's */
    double spread; /* ns: MAD about that, the median of the ranks */
};

/* False: no shift is certain. */
void rs_shift_find(const struct rs_model *m, const uint32_t *b, uint32_t nb, const uint32_t *a, uint32_t na,
                   const struct rs_shift_ranks *ranks, struct rs_shifted *out, bool *found);

/* Which operations of b are the ones of a: fits[0 .. nb). Where times are known they must agree, or those of both
 * neighbours that have such: a call may have been held up on its way, but where an operation is lacking on one side,
 * all that follow are off. */
void rs_shift_fits(const struct rs_model *m, const uint32_t *b, uint32_t nb, const uint32_t *a,
                   const struct rs_shift_ranks *ranks, const struct rs_shifted *x, bool *fits);

/* Whether two operations are of one size, as far as both tell it. */
bool rs_shift_agree(const struct rs_model *m, uint32_t b, uint32_t a);
/* b's time minus a's of one rank; false: one is not known. */
bool rs_shift_apart(const struct rs_model *m, uint32_t b, int32_t rank_b, uint32_t a, int32_t rank_a,
                    enum rs_shift_time by, double *apart);

#endif

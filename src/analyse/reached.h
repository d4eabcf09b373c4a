/* What the rows of functions reached of the bus bandwidth that is possible, and whether waiting explains the rest.
 *
 * Reached is the bandwidth behind the last rank (over the transfer) and as the ranks saw it (over all their time).
 * What lies between the two is waiting; what lies between the first and the possible is not. Owns its rows until
 * rs_reached_free(). One thread at a time. */
#ifndef RS_ANALYSE_REACHED_H
#define RS_ANALYSE_REACHED_H

#include "analyse/bandwidth.h"
#include "analyse/reference.h"
#include "base/strbuf.h"

/* Below this share of the possible a function reaches much less: a judgement. Between runs of nccl-tests on one machine
 * 10 % are usual, and compute beside it takes some; a third is beyond both. */
#define RS_REACHED_LITTLE 0.7

struct rs_reached_row {
    double possible; /* GB/s; NAN: not known, for the reason in `lack` */
    double share, share_seen; /* of it: behind the last rank, as the ranks saw it; NAN: not known */
    double waiting; /* which share of the time above the possible is waiting, 0 to 1; NAN: not known, or nothing is */
    uint8_t lack; /* enum rs_reference_lack */
};

struct rs_reached {
    struct rs_reached_row *rows; /* as those of the functions; NULL: nothing to hold them against */
    uint32_t n;
};

void rs_reached_find(struct rs_reached *r, const struct rs_reference *reference, const struct rs_model *m,
                     const struct rs_bandwidth *b);
void rs_reached_free(struct rs_reached *r);

/* The next sentence of what they tell, put behind `text`; *next is 0 at first. False: there are no more. What of it is
 * waiting is not said where the transfer is below ten times the clock error. */
bool rs_reached_say(const struct rs_reached *r, const struct rs_model *m, const struct rs_bandwidth *b,
                    int64_t clock_error_ns, unsigned *next, struct rs_strbuf *text);

#endif

/* The achieved share of the reference bus bandwidth, by row of functions, and whether waiting explains the rest.
 *
 * Bandwidth is measured after the last start (over the transfer) and as the ranks saw it (over all their time). The
 * difference between the two is waiting; the difference between the first and the reference is not. Owns its rows until
 * rs_reached_free(). One thread at a time. */
#ifndef RS_ANALYSE_REACHED_H
#define RS_ANALYSE_REACHED_H

#include "analyse/bandwidth.h"
#include "analyse/reference.h"
#include "base/strbuf.h"

/* Below this share of the reference a function is considered slow. Runs of nccl-tests on one machine differ by about 10
 * %, and concurrent compute takes some; a third is beyond both. */
#define RS_REACHED_LITTLE 0.7

struct rs_reached_row {
    double possible; /* GB/s in the reference; NAN: unknown, for the reason in `lack` */
    double share, share_seen; /* of it: after the last start, as the ranks saw it; NAN: unknown */
    double waiting; /* share of the time above the reference that is waiting, 0 to 1; NAN: unknown, or none */
    uint8_t lack; /* enum rs_reference_lack */
};

struct rs_reached {
    struct rs_reached_row *rows; /* in step with the rows of functions; NULL: no reference */
    uint32_t n;
};

void rs_reached_find(struct rs_reached *r, const struct rs_reference *reference, const struct rs_model *m,
                     const struct rs_bandwidth *b);
void rs_reached_free(struct rs_reached *r);

/* Appends the next sentence of the conclusion to `text`; *next is 0 at first. False: no more. The share of waiting is
 * omitted if the transfer is below ten times the clock error. */
bool rs_reached_say(const struct rs_reached *r, const struct rs_model *m, const struct rs_bandwidth *b,
                    int64_t clock_error_ns, unsigned *next, struct rs_strbuf *text);

#endif

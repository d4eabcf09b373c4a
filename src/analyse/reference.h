/* The bus bandwidth that a machine can reach, by function, type, ranks and size: measured elsewhere (nccl-tests), to
 * compare a run with.
 *
 * Between two measured sizes the bandwidth is interpolated along the logarithm of the size. It is unknown beyond the
 * smallest and the largest, for other numbers of ranks and, if data is reduced, for other types: functions that only
 * move bytes match any. Of several measurements the best counts. Texts are borrowed and must stay valid; the struct
 * owns its points until rs_reference_free(). Queries change nothing: any thread. */
#ifndef RS_ANALYSE_REFERENCE_H
#define RS_ANALYSE_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct rs_reference_point {
    const char *func, *dtype; /* NCCL's names; dtype NULL: unknown, which differs from all others */
    int32_t nranks; /* -1: unknown; matches any */
    uint64_t bytes; /* nccl-tests' S */
    double busbw; /* GB/s */
};

struct rs_reference {
    struct rs_reference_point *points; /* sorted once made */
    uint32_t n, cap;
};

void rs_reference_add(struct rs_reference *r, const struct rs_reference_point *point);
/* When all are added. */
void rs_reference_sort(struct rs_reference *r);
void rs_reference_free(struct rs_reference *r);

/* Why there is no reference. */
enum rs_reference_lack {
    RS_LACKS_NOTHING,
    RS_LACKS_LIKENESS, /* sizes of the function are counted differently */
    RS_LACKS_FUNC, /* the function was not measured */
    RS_LACKS_RANKS, /* not on that many ranks */
    RS_LACKS_TYPE, /* not with that type, or the type is unknown */
    RS_LACKS_SIZE, /* outside the measured sizes, or the size is unknown */
    RS_LACKS
};
const char *rs_reference_lack_text(enum rs_reference_lack lack); /* "ranks"; NULL: none */

/* The reference bus bandwidth, GB/s; NAN with the reason in *lack. dtype "" is unknown. */
double rs_reference_find(const struct rs_reference *r, const char *func, const char *dtype, int32_t nranks,
                         uint64_t bytes, enum rs_reference_lack *lack);

#endif

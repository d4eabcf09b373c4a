/* Which bus bandwidth a machine can reach, by function, type, ranks and size: measured elsewhere (nccl-tests), to
 * hold a run against.
 *
 * Between two sizes that were measured the bandwidth is interpolated along the logarithm of the size. Nothing is said
 * beyond the smallest and the largest, of other numbers of ranks, or, where data is reduced, of other types:
 * functions that only move bytes take any. Where something was measured several times the best counts. Texts are
 * borrowed and must live on; the struct owns its points until rs_reference_free(). Looking changes nothing: any
 * thread. */
#ifndef RS_ANALYSE_REFERENCE_H
#define RS_ANALYSE_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct rs_reference_point {
    const char *func, *dtype; /* as NCCL calls them; dtype NULL: not told, which is another than all others */
    int32_t nranks; /* -1: not told; taken for any */
    uint64_t bytes; /* nccl-tests' S */
    double busbw; /* GB/s */
};

struct rs_reference {
    struct rs_reference_point *points; /* sorted once made */
    uint32_t n, cap;
};

void rs_reference_add(struct rs_reference *r, const struct rs_reference_point *point);
/* When all are in. */
void rs_reference_sort(struct rs_reference *r);
void rs_reference_free(struct rs_reference *r);

/* Why nothing can be said. */
enum rs_reference_lack {
    RS_LACKS_NOTHING,
    RS_LACKS_LIKENESS, /* sizes of the function are counted in another way */
    RS_LACKS_FUNC, /* the function was not measured */
    RS_LACKS_RANKS, /* not on that many ranks */
    RS_LACKS_TYPE, /* not of that type, or the type is not known */
    RS_LACKS_SIZE, /* smaller or larger than all that was measured, or the size is not known */
    RS_LACKS
};
const char *rs_reference_lack_text(enum rs_reference_lack lack); /* "ranks"; NULL: nothing */

/* Bus bandwidth that is possible, GB/s; NAN with the reason in *lack. dtype "" is not known. */
double rs_reference_find(const struct rs_reference *r, const char *func, const char *dtype, int32_t nranks,
                         uint64_t bytes, enum rs_reference_lack *lack);

#endif

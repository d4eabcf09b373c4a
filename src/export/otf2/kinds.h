/* NCCL's functions as OTF2 knows them: the collective of MPI that each is, its role, and what a rank puts in and gets
 * out. Constant tables; any thread. */
#ifndef RS_EXPORT_OTF2_KINDS_H
#define RS_EXPORT_OTF2_KINDS_H

#include <otf2/otf2.h>
#include <stdbool.h>
#include <stdint.h>

#include "timeline/timeline.h"

struct rs_otf2_kind {
    const char *func; /* as NCCL's profiler names it */
    OTF2_RegionRole role;
    bool is_collective; /* with `op` */
    bool is_rooted;
    OTF2_CollectiveOp op;
};

/* NULL: a function that is not known. */
const struct rs_otf2_kind *rs_otf2_kind(const char *func);
/* Whether a kind of bar is a host call of NCCL's interface, named by the function. */
bool rs_otf2_is_call(uint8_t bar_kind);

/* Bytes that a rank puts into a collective of `bytes` (as ops.bytes counts) and gets out of it. */
void rs_otf2_sizes(const struct rs_otf2_kind *kind, uint64_t bytes, int32_t nranks, bool is_root, uint64_t *sent,
                   uint64_t *received);

/* What a bar that is not an operation is: its role, and whose it is. */
OTF2_RegionRole rs_otf2_role(const struct rs_timeline *t, uint8_t bar_kind);
OTF2_Paradigm rs_otf2_paradigm(const struct rs_timeline *t, uint8_t bar_kind);
/* Whether bars of a row ran on a GPU. */
bool rs_otf2_is_on_gpu(enum rs_row row);

#endif

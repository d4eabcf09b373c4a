/* The parent from which each communicator was split, derived from the hashes alone.
 *
 * NCCL derives the hash of a child from its parent's, the number of the split on the parent and the colour
 * (nccl/digest.h; ncclCommShrink: number 0, colour 0). The digest cannot be inverted, but there is little to try: a
 * parent contains all members of the child and was created before it, numbers are small, and colours are small, or
 * derived from the ranks (index of a block or column, the lowest rank), or one of PyTorch's hashes of the list of
 * ranks. Children of ncclCommGrow cannot be found, since their hash does not depend on the parent's. NCCL before 2.24
 * used another hash. */
#ifndef RS_JOIN_FAMILY_H
#define RS_JOIN_FAMILY_H

#include "model/model.h"

/* PyTorch's colours of a list of ranks in the parent: three hashes, by version. */
enum { RS_FAMILY_COLORS = 3 };
void rs_family_colors(const int32_t *ranks, size_t n, int32_t colors[RS_FAMILY_COLORS]);

/* Sets the parent of every communicator whose parent is in the model, and all classes. Notes in the model if the search
 * was stopped early. Needs the ranks of the job. */
extern uint32_t rs_family_most_work; /* digests, about 0.2 s; compared members count as one each. Fuzzers lower it */
enum rs_status rs_family_find(struct rs_model *m, struct rs_err *err);

#endif

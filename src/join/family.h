/* The family of communicators: from which one each was split, found again from the hashes alone.
 *
 * NCCL makes the hash of a child from its parent's, the number of the split on the parent and the colour
 * (nccl/digest.h; ncclCommShrink: number 0, colour 0). The digest cannot be turned round, but there is little to try: a
 * parent contains all members of the child and was made before it, numbers are small, and colours are small, or follow
 * from the ranks (a block's or a column's index, the lowest rank), or are one of PyTorch's hashes of the list of ranks.
 * What ncclCommGrow makes cannot be found: it does not depend on the parent's hash. NCCL before 2.24 hashed otherwise. */
#ifndef RS_JOIN_FAMILY_H
#define RS_JOIN_FAMILY_H

#include "model/model.h"

/* PyTorch's colours of a list of ranks in the parent: three ways of hashing it, by version. */
enum { RS_FAMILY_COLORS = 3 };
void rs_family_colors(const int32_t *ranks, size_t n, int32_t colors[RS_FAMILY_COLORS]);

/* Sets the parent of every communicator that is a child of another in the model, and gives all their class. A search
 * that had to be ended early is noted in the model. Needs the ranks of the job. */
extern uint32_t
    rs_family_most_work; /* digests in all, about 0.2 s; members compared count as one each. Fuzzers lower it */
enum rs_status rs_family_find(struct rs_model *m, struct rs_err *err);

#endif

/* Proxy work that a process did for another one (PXN): added to the operation that posted it.
 *
 * While a helper is read, the owner's recording may not have been read yet: such work is stored with its foreign
 * handles, and added when all processes were read (assemble/owner.h). */
#ifndef RS_IMPORT_PXN_H
#define RS_IMPORT_PXN_H

#include "model/model.h"

/* Instead of a member, while the owner is unknown: this bit and the index of the context below. */
#define RS_FOREIGN_MEMBER UINT32_C(0x80000000)

struct rs_pxn_context {
    uint64_t context; /* as passed */
    uint32_t helper; /* process */
    uint32_t pid;
};

struct rs_pxn_op {
    uint64_t parent; /* handle of the owner's Coll or P2p */
    uint32_t context; /* index */
    uint32_t helper; /* process */
    int64_t start, end; /* host ns: in progress; stopped; RS_TIME_NONE: never */
};

struct rs_pxn {
    struct rs_pxn_context *contexts;
    uint32_t ncontexts, cap_contexts;
    struct rs_map index; /* hash of context, helper and pid -> context */
    struct rs_pxn_op *ops;
    uint32_t nops, cap_ops;
    struct rs_map opens; /* index in model.opens -> foreign op */
};

enum rs_status rs_pxn_context(struct rs_pxn *f, uint64_t context, uint32_t helper, uint32_t pid, uint32_t *index,
                              struct rs_err *err);
enum rs_status rs_pxn_op(struct rs_pxn *f, const struct rs_pxn_op *op, uint32_t *index, struct rs_err *err);
void rs_pxn_open(struct rs_pxn *f, uint32_t open, uint32_t op);

/* Adds everything to its owners, and notes work without one. */
enum rs_status rs_pxn_return(struct rs_pxn *f, struct rs_model *m, struct rs_err *err);
void rs_pxn_free(struct rs_pxn *f);

#endif

/* The "args" of an event of a Kineto trace: what ties it to others, and what PyTorch says of a communication.
 *
 * A plain struct; names are ids of the rs_kineto. One thread at a time. */
#ifndef RS_FOREIGN_KINETO_ARGS_H
#define RS_FOREIGN_KINETO_ARGS_H

#include "base/scan.h"
#include "foreign/kineto/rows.h"

struct rs_kineto_args {
    uint64_t external; /* RS_KINETO_NO_ID: none */
    uint64_t correlation; /* 0: none */
    uint64_t bytes;
    int64_t device, stream; /* -1: not told */
    uint32_t label; /* of a metadata event: the name that it gives; 0: none */
    struct rs_kineto_call comm; /* as far as told; func NULL: nothing of a communication, or "wait" */
};

/* What there is when nothing is told. */
void rs_kineto_args_none(struct rs_kineto_args *args);
/* Reads the object whose key came last. With `brief` it is left as soon as correlation, device and stream are known:
 * a kernel that is not NCCL's has no more that is wanted. */
enum rs_status rs_kineto_args_read(struct rs_kineto_args *args, struct rs_kineto *k, struct rs_scan *s, bool brief,
                                   struct rs_err *err);

#endif

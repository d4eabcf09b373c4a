/* The recorder's life: first init opens the recording, communicators come and go, exit closes it.
 *
 * Never fails its caller: what cannot be recorded is counted, and NCCL always gets success. Init may come from many
 * threads at once, and again after the last finalize (the library stays loaded: -z nodelete). In a forked child the
 * parent's recording is forgotten; the child's first init opens one of its own. */
#ifndef RS_PLUGIN_RECORDER_H
#define RS_PLUGIN_RECORDER_H

#include <stdint.h>

#include "nccl/abi.h"

struct rs_comm_args {
    int api; /* 1 to 7 */
    uint64_t comm_id;
    const char *name; /* may be NULL */
    int nnodes, nranks, rank; /* -1: not known to this version */
    rs_nccl_logger logger; /* may be NULL */
};

rs_nccl_result rs_recorder_init(void **context, int *mask, const struct rs_comm_args *args);
rs_nccl_result rs_recorder_finalize(void *context);

/* Whether captured parents are also recorded as facts (RINGSCOPE_KEEP=last). */
extern int rs_keep_captured;

#endif

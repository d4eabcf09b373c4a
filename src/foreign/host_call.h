/* What a call of CUDA's libraries is for, by its name ("cudaLaunchKernelExC_v11060", "cuMemFreeAsync"). Pure
 * function. */
#ifndef RS_FOREIGN_HOST_CALL_H
#define RS_FOREIGN_HOST_CALL_H

#include <stddef.h>

#include "model/activities.h"

/* RS_ACT_LAUNCH, RS_ACT_SYNC, RS_ACT_MEMORY or RS_ACT_CALL. */
enum rs_activity_kind rs_host_call_kind(const char *name, size_t n);

#endif

/* Kernels' channels (KernelCh) -> start and end of their operation, bounds for the GPU's clock, and whether their
 * timers are stale, which the model keeps. */
#ifndef RS_IMPORT_KERNELS_H
#define RS_IMPORT_KERNELS_H

#include "import/folding.h"

void rs_kernel_start(struct rs_assembly *a, struct rs_folding_event *f, const struct rs_start *s);
/* It has ended: with its time from a state (v4 and newer), or, with RS_TIME_NONE, from the stop. */
void rs_kernel_end(struct rs_assembly *a, struct rs_folding_event *f, int64_t gpu_ns, int64_t now);

#endif

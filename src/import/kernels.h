/* Kernels' channels (KernelCh) -> start and end of their operation, bounds for the GPU's clock, and the verdict on
 * their timers, which the model keeps for all that come later. */
#ifndef RS_IMPORT_KERNELS_H
#define RS_IMPORT_KERNELS_H

#include "import/folding.h"

void rs_kernel_start(struct rs_assembly *a, struct rs_folding_event *f, const struct rs_start *s);
/* It has ended: told with its time by a state (v4 and newer), or, RS_TIME_NONE, by the stop alone. */
void rs_kernel_end(struct rs_assembly *a, struct rs_folding_event *f, int64_t gpu_ns, int64_t now);

#endif

/* Kernels' channels (KernelCh) -> start and end of their operation, and bounds for the GPU's clock. */
#ifndef RS_IMPORT_KERNELS_H
#define RS_IMPORT_KERNELS_H

#include "import/pairing.h"

enum rs_status rs_kernel_start(struct rs_pairing *p, const struct rs_callback *cb, int64_t now, struct rs_err *err);
/* It has ended: told with its time by a state (v4 and newer), or, RS_TIME_NONE, by the stop alone. */
void rs_kernel_end(struct rs_pairing *p, struct rs_flight *f, int64_t gpu_ns, int64_t now);

#endif

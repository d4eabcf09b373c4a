/* What lies inside the operations of a process's dumps: kernels' channels, proxy operations, network waits.
 *
 * They give a part its start and end (fold.h), bound the GPU's clock, and add up to the network's view. The profiler
 * forgets when a channel other than 0 stopped (StopGpuClk 0): the end is then that of the channels that tell it, and
 * where none does it is bounded by the proxy thread's next sleep. One thread at a time. */
#ifndef RS_FOREIGN_EXAMPLE_KERNELS_H
#define RS_FOREIGN_EXAMPLE_KERNELS_H

#include "foreign/example/parts.h"

/* The smallest GPU time in all dumps. It is taken off every timer, so that GPU times (ns since 1970) and those of the
 * process (ns since its init) are of one size and no digits are lost between them. How GPUs lie to each other stays. */
int64_t rs_example_kernels_zero(const struct rs_example_procs *p);

enum rs_status rs_example_kernels_add(struct rs_model *m, const struct rs_example_procs *p,
                                      const struct rs_example_proc *row, const struct rs_example_members *members,
                                      const struct rs_example_parts *parts, int64_t zero, struct rs_err *err);

#endif

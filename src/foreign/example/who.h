/* Whose each event of a dump is.
 *
 * COLL and P2P say it themselves. What lies inside them is theirs (kernels, proxy operations, network); the call around
 * them is too. A launch, or a call without an operation (the pool was full, or NCCL reports none), belongs to the rank
 * whose operations are on its stream: in the same group call, else in the file; on a stream that several ranks use it
 * stays unknown. Group calls and the proxy thread's Idle, Sleep and Append are the file's. A proxy operation outside of
 * everything was done for another process (PXN): unknown. Called once, by example.c, when all lines are in. */
#ifndef RS_FOREIGN_EXAMPLE_WHO_H
#define RS_FOREIGN_EXAMPLE_WHO_H

#include "foreign/example/example.h"

enum rs_status rs_example_attribute(struct rs_example *dump, struct rs_err *err);

#endif

/* All clocks of a model on one axis, each with a stated error; and how late the GPUs' timers were read.
 *
 * A clock is a GPU's timer or a host's CPU clock. GPUs are aligned with each other on the ends of symmetric collectives
 * (consensus.h), tied to their hosts by bounds (attach.h), and what shares no collective through hosts and pairs
 * (islands.h). The hull checks that. What cannot be connected stays on wall time, an island of its own. */
#ifndef RS_JOIN_CLOCKS_H
#define RS_JOIN_CLOCKS_H

#include "model/model.h"

/* Sets what rs_domain says of its axis, marks GPU times that were not of their operation (reference: they lie before its
 * launch), and with `align` rewrites all times of the model in place, once. Without, they stay as they came and each clock
 * is an island. Notes say what could not be aligned. */
enum rs_status rs_clocks_align(struct rs_model *m, bool align, struct rs_err *err);

/* How late the proxy thread read a GPU's timers. */
struct rs_late {
    int64_t p50_ns, p99_ns; /* RS_TIME_NONE: not known */
};
void rs_clocks_late(struct rs_model *m, uint32_t gpu, struct rs_late *late);

#endif

/* Aligns all clocks of a model to one axis, each with a stated error; and how late the timers of GPUs were read.
 *
 * A clock is a GPU's timer or a host's CPU clock. GPUs are aligned with each other by the ends of symmetric collectives
 * (consensus.h), and with their hosts by bounds (attach.h). Clocks that share no collective are aligned through hosts
 * and pairs (islands.h). The hull checks the result. Clocks that cannot be connected stay on wall time, as islands of
 * their own. */
#ifndef RS_JOIN_CLOCKS_H
#define RS_JOIN_CLOCKS_H

#include "model/model.h"

/* Sets the axis of each rs_domain, marks GPU times that do not belong to their operation (before its launch), and with
 * `align` converts all times of the model in place, once. Without, times are unchanged and each clock is an island.
 * Notes say what could not be aligned. */
enum rs_status rs_clocks_align(struct rs_model *m, bool align, struct rs_err *err);

/* How late the proxy thread read a GPU's timers. */
struct rs_late {
    int64_t p50_ns, p99_ns; /* RS_TIME_NONE: unknown */
};
void rs_clocks_late(struct rs_model *m, uint32_t gpu, struct rs_late *late);

#endif

/* GPU timers of kernel channels: which of them are valid, and bounds for the GPU's clock.
 *
 * NCCL's GPU code writes start and stop of each piece of work into a ring of 64 slots per channel, and its proxy thread
 * assigns them to the next operation without a check. After an all-to-all the two count differently, and from then on a
 * channel reports the times of older work. Kernels of one communicator run one after the other, so a start belongs to
 * another operation (is stale) if it is before the launch, before the end of an earlier launch, or not later than the
 * start of the previous launch on its channel. A slot that the GPU reused before it was read is an overrun. One struct
 * per member of a communicator; one thread at a time. */
#ifndef RS_IMPORT_TIMERS_H
#define RS_IMPORT_TIMERS_H

#include "model/model.h"

enum { RS_TIMER_SLOTS = 64, RS_TIMER_CHANNELS = 128 };

struct rs_timers {
    struct rs_timer_channel *channels[RS_TIMER_CHANNELS]; /* NULL: not used yet */
    uint64_t launch; /* the latest with a valid end of a kernel */
    int64_t end, end_before; /* GPU ns: of that launch, and of earlier ones; 0: none */
};

/* A timer that was read. */
struct rs_timer {
    unsigned channel;
    uint64_t launch; /* handle of the plan; handles of one slot are ascending */
    int64_t launched; /* host ns at which the launch began; RS_TIME_NONE: unknown, or a replay */
    int64_t gpu_ns, host_ns; /* its value; when it was read */
};

/* Checks the start timer of a channel; *good = false: stale. */
void rs_timers_start(struct rs_timers *t, struct rs_domain *gpu, const struct rs_timer *timer, bool *good);
/* The stop timer, if the start was good. */
void rs_timers_end(struct rs_timers *t, uint64_t launch, int64_t gpu_ns);
void rs_timers_free(struct rs_timers *t);

#endif

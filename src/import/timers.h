/* GPU timers of kernels' channels: which of them can be believed, and what they say of the GPU's clock.
 *
 * NCCL's GPU code writes start and stop of each piece of work into a ring of 64 slots a channel, and its proxy thread
 * takes them as the next operation's without a check that they are. After an all-to-all the two count differently, and
 * from then on a channel tells the times of older work. Kernels of one communicator run one after the other, so a start
 * is another operation's (stale) when it lies before the launch, before the end of an earlier launch, or is not later than
 * the start of the launch before on its channel. A slot that the GPU used again before it was read is an overrun.
 * One struct a member of a communicator; one thread at a time. */
#ifndef RS_IMPORT_TIMERS_H
#define RS_IMPORT_TIMERS_H

#include "model/model.h"

enum { RS_TIMER_SLOTS = 64, RS_TIMER_CHANNELS = 128 };

struct rs_timers {
    struct rs_timer_channel *channels[RS_TIMER_CHANNELS]; /* NULL: not used yet */
    uint64_t launch; /* the latest that a believed kernel ended of */
    int64_t end, end_before; /* GPU ns: of that launch, and of those before; 0: none */
};

/* A timer that was read. */
struct rs_timer {
    unsigned channel;
    uint64_t launch; /* names the plan; handles of one slot rise */
    int64_t launched; /* host ns at which the launch began; RS_TIME_NONE: not known, or a replay */
    int64_t gpu_ns, host_ns; /* what it says; when it was read */
};

/* Takes in the start timer of a channel; *good = false: stale. */
void rs_timers_start(struct rs_timers *t, struct rs_domain *gpu, const struct rs_timer *timer, bool *good);
/* The stop timer of one that was good. */
void rs_timers_end(struct rs_timers *t, uint64_t launch, int64_t gpu_ns);
void rs_timers_free(struct rs_timers *t);

#endif

/* Watches how long the driver's threads sleep inside our calls, from outside.
 *
 * Only time that a thread sleeps (S) or waits for the kernel (D) within one call counts, and CPU time: how busy the
 * machine is does not matter, since who waits for a processor is runnable (R). */
#ifndef RS_CAMPAIGN_WATCH_H
#define RS_CAMPAIGN_WATCH_H

#include "truth.h"

struct watch {
    struct {
        uint32_t turn, phase, asleep_ms, waiting_ms;
        uint64_t cpu_ns; /* of the thread, when the call was first seen */
        bool said;
    } cells[CELLS];
    uint64_t last_ms;
    uint32_t idle_ms, held_ms; /* of the whole process, since its end began: asleep; in the kernel */
    bool said;
    bool may_wait; /* the buffers lie on a disk, on request: then a store may wait for it */
};

/* Looks once. `pid`: of the driver. False: it does not end, and never will. */
bool watch_look(struct watch *w, struct truth *t, int pid, uint64_t now_ms);
/* Writes down what all threads do. */
void watch_dump(int pid, const char *path);

#endif

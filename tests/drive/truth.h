/* What the driver did, counted by itself, in a shared file that outlives its death.
 *
 * A thread's count is raised after each callback has returned: at a kill at most one more may be in the recording. Each
 * thread plays the same endless row of callbacks, so that its k-th callback is known by k alone:
 *
 *   k % 6   0            1             2              3          4              5
 *           start step   SendGpuWait   SendPeerWait   SendWait   OpInProgress   stop
 *           step = k/6   arg = k       arg = k        arg = k    no argument
 *
 * The parent of a step is the step before it (NULL for the first), its rank is the thread's index. */
#ifndef RS_TESTS_TRUTH_H
#define RS_TESTS_TRUTH_H

#include <stdint.h>

enum { TRUTH_THREADS = 512, PERIOD = 6 };
#define TRUTH_MAGIC UINT64_C(0x6874757274)

struct truth_thread {
    uint64_t returned; /* callbacks that have returned */
    uint32_t tid;
    uint32_t reserved[13];
};

struct truth {
    uint64_t magic;
    uint32_t nthreads;
    uint32_t inits, finalizes; /* that have returned */
    uint32_t churned; /* short-lived threads that are gone, each after PERIOD callbacks */
    uint32_t extra; /* callbacks besides, of other threads */
    uint32_t reserved[9];
    struct truth_thread threads[TRUTH_THREADS];
};
_Static_assert(sizeof(struct truth_thread) == 64, "a cache line each");

#endif

/* What one run is: settings of the recorder, threads of the driver, and faults with their times, all from one seed. */
#ifndef RS_CAMPAIGN_PLAN_H
#define RS_CAMPAIGN_PLAN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { PLAN_THREADS = 6, PLAN_FAULTS = 12, PLAN_NCCLS = 3, PLAN_COPIES = 2 };

/* What the machine allows: a fault that needs more is not planned. */
enum need {
    NEED_MOUNT = 1, /* a mount namespace of one's own */
    NEED_ROOT = 2, /* and loop devices */
    NEED_LONG = 4, /* it takes so long that only a long campaign has it */
};

struct planned {
    int fault; /* a row of the table */
    uint32_t at_ms; /* after the driver is ready; of set-ups, places and endings nothing */
    uint32_t arg; /* random; what it means is up to the fault */
};

struct planned_thread {
    int copy, version, nccl; /* of the plugin, of its interface, of NCCL */
    uint32_t pace_us; /* between bursts */
    uint32_t burst; /* operations */
    uint32_t life; /* bursts of a communicator */
};

struct plan {
    uint64_t seed;
    uint32_t memory_mib, limit_kib; /* 0: not set */
    bool keep_last;
    char events[8], buffers[8], detail[12]; /* "": not set */
    uint32_t shm_mib; /* /dev/shm of this run */
    uint32_t milliseconds; /* until the end */
    uint32_t flags; /* of all faults: enum flag */
    int nthreads, nfaults;
    struct planned_thread threads[PLAN_THREADS];
    struct planned faults[PLAN_FAULTS]; /* a place, set-ups, those with a time in order, damages, an ending */
};

/* `wanted`: only this fault (and a place and an ending), by its row; -1: any. */
void plan_make(struct plan *p, uint64_t seed, unsigned needs, int wanted);
void plan_print(const struct plan *p, FILE *to);
/* The planned fault with this row; NULL: it is not in the plan. */
const struct planned *plan_has(const struct plan *p, int fault);

uint64_t random_next(uint64_t *state);
/* 0 to n - 1. */
uint32_t random_below(uint64_t *state, uint32_t n);

#endif

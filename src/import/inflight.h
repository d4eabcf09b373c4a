/* Events that have started and not stopped: kernels' channels, proxy operations, network steps.
 *
 * A slab with chains from the hash of a handle to its row; steps hang on their proxy operation, so that the same step
 * started again (NCCL polls for a receive and starts it anew each time, thousands of times) takes the place of the one
 * before, and all go when their operation stops. Memory is bounded by what is in flight; what is never stopped (some
 * transports' operations) goes when there are too many, the oldest first. One thread at a time. */
#ifndef RS_IMPORT_INFLIGHT_H
#define RS_IMPORT_INFLIGHT_H

#include "import/network.h"
#include "model/model.h"

struct rs_flight {
    uint64_t handle;
    int64_t at; /* host ns of its latest change */
    int64_t began; /* of a kernel: GPU ns */
    struct rs_cell cell; /* of a proxy operation: its flow's row */
    uint32_t part; /* RS_NONE: not known */
    uint32_t member; /* of a proxy operation: whose flow; RS_NONE: not known */
    uint32_t pxn; /* of a proxy operation for another process: index + 1 of it */
    uint32_t owner; /* of a step: its proxy operation */
    uint32_t steps; /* of a proxy operation: its first open step; of a step: the next one */
    uint32_t chained; /* the next row whose handle has the same hash; RS_NONE: none */
    int32_t peer, step, announced, done;
    uint32_t type; /* RS_KERNEL_CH, RS_PROXY_OP, RS_PROXY_STEP; 0: free */
    int16_t state; /* -1: none yet */
    uint8_t channel;
    bool stale; /* of a kernel: its timers are not its own */
    bool is_send, counted; /* counted: of a kernel, its end was folded; of a proxy operation, its start */
};

struct rs_inflight {
    struct rs_flight *rows;
    uint32_t n, cap, free, used; /* free: first of a list through `steps`; RS_NONE: none */
    uint32_t *chains; /* by the hash of a handle: the first row; RS_NONE: none. There are at least as many as rows */
    unsigned chain_bits; /* 2 to the power of this many; 0: none yet */
    uint64_t given_up; /* rows that went without a stop because there were too many */
};

void rs_inflight_make(struct rs_inflight *f);
void rs_inflight_free(struct rs_inflight *f);

/* A new row; good until the next start. */
enum rs_status rs_inflight_start(struct rs_inflight *f, uint64_t handle, uint32_t type, uint32_t *row,
                                 struct rs_err *err);
/* A step of a proxy operation: one in flight already is taken over, with the time since when it stands still; a new one
 * has none (0). */
enum rs_status rs_inflight_step(struct rs_inflight *f, uint64_t handle, uint32_t owner, int32_t step, uint32_t *row,
                                struct rs_err *err);
/* Handles of a thread count up: this spreads them evenly, so that most chains have one row. */
static inline uint64_t rs_inflight_chain(const struct rs_inflight *f, uint64_t handle)
{
    return handle * UINT64_C(0x9e3779b97f4a7c15) >> (64 - f->chain_bits);
}
/* RS_NONE: not in flight. */
static inline uint32_t rs_inflight_find(const struct rs_inflight *f, uint64_t handle)
{
    uint32_t row = f->chain_bits ? f->chains[rs_inflight_chain(f, handle)] : RS_NONE;
    while (row != RS_NONE && f->rows[row].handle != handle) row = f->rows[row].chained;
    return row;
}
/* Takes a row out; a proxy operation with all its steps. */
void rs_inflight_end(struct rs_inflight *f, uint32_t row);
/* Forgets everything. */
void rs_inflight_clear(struct rs_inflight *f);

#endif

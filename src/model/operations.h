/* Operations: what NCCL did, and what each rank did in it.
 *
 * A part is what one rank did in an operation. Importers add parts in time order within a process; the join combines
 * them into operations. Stored in columns: parts.start[i] is the start of part i. The model owns both tables; one
 * thread at a time. */
#ifndef RS_MODEL_OPERATIONS_H
#define RS_MODEL_OPERATIONS_H

#include <stdint.h>

#include "base/err.h"
#include "model/columns.h"

struct rs_model;

enum rs_part_kind { RS_PART_COLL, RS_PART_SEND, RS_PART_RECV, RS_PART_CE, RS_PART_API };

enum rs_source_of_time {
    RS_FROM_NOTHING,
    RS_FROM_KERNEL, /* GPU timer of a KernelCh, or a kernel of an import */
    RS_FROM_CALLBACK, /* host time at which NCCL reported the kernel (v3: no timers): late by its polling */
    RS_FROM_PROXY, /* ProxyOp in progress; last ProxyOp stop */
};

enum {
    RS_PART_CAPTURED = 1 << 0, /* from a CUDA graph: `captured`, `replay` */
    RS_PART_STALE = 1 << 1, /* its GPU times were of another operation: not used */
    RS_PART_OPEN = 1 << 2, /* an event of it had started and not stopped when the recording ended */
    RS_PART_STOPPED = 1 << 3, /* Coll or P2p was stopped: it is enqueued */
    RS_PART_HELPED = 1 << 4, /* some of its proxy work was done by another process (PXN) */
    RS_PART_SYMMETRIC = 1 << 5, /* a symmetric-memory kernel (v7 says so) */
    RS_PART_SELF = 1 << 6, /* send or receive to itself */
    RS_PART_MISMATCH = 1 << 7, /* count, type or root differ from the others' (set by the join) */
    RS_PART_LAUNCHED = 1 << 8, /* its KernelLaunch was seen to return */
    RS_PART_NET = 1 << 9, /* it had proxy operations */
    RS_PART_KERNEL_OPEN = 1 << 10, /* a KernelCh started and did not stop */
    RS_PART_UNFINISHED = 1 << 11, /* not all announced channels were seen to end */
    RS_PART_END_EARLY = 1 << 12, /* a tree all-reduce: the kernel's end is reported after the reduction towards the
                                    root, so its rank may run longer (NCCL 2.28: leaves "end" before others start) */
    RS_PART_UNREPORTED = 1 << 13, /* captured, and reported at capture only: NCCL does not report its replays */
    RS_PART_LENT_START = 1 << 14, /* its start is from another source (join/overlay_by_time.c) */
    RS_PART_LAUNCH_END = 1 << 15, /* `launched` is when the launch returned: its beginning is unknown */
    RS_PART_DONE = 1 << 16, /* it has ended, according to a tool that does not report when (`end` may be unknown) */
    RS_PART_STARTED = 1 << 17, /* likewise: it had started */
    RS_PART_SETTLED = 1 << 18, /* likewise: its end was noted while the job ran on, so it was not aborted */
    RS_PART_LENT_END = 1 << 19, /* its end is from another source */
};

#define RS_PART_COLUMNS(X)                                                                                             \
    X(uint64_t, handle) /* of its start (Coll, P2p, CeColl, else the API call); names it in its process */             \
    X(uint64_t, seq) /* as NCCL numbers it; UINT64_MAX: none */                                                        \
    X(uint64_t, count) /* elements, as NCCL says */                                                                    \
    X(int64_t, enqueued) /* start of the API call (host) */                                                            \
    X(int64_t, launched) /* start of the kernel launch (host) */                                                       \
    X(int64_t, start) /* GPU's clock where start_source is KERNEL, else the host's */                                  \
    X(int64_t, end) /* likewise by end_source; RS_TIME_NONE: only bounded */                                           \
    X(int64_t, after) /* if the end is unknown: it was after this (clock: see after_source)... */                      \
    X(int64_t, before) /* ...and before this; RS_TIME_NONE: no bound. Host's clock, unless set by join/ends.h */       \
    X(uint64_t, launch) /* handle of the plan (Group): parts of a process with the same were launched together */      \
    X(uint64_t, group) /* handle of the group call; 0: unknown */                                                      \
    X(uint32_t, member)                                                                                                \
    X(uint32_t, op) /* RS_NONE: not joined yet */                                                                      \
    X(uint32_t, replay) /* of a captured one: the number of earlier replays of the same call */                        \
    X(uint32_t, captured) /* ordinal, from 1, of the captured API call on its member; 0: not captured */               \
    X(int32_t, peer) /* rank in the communicator: root of a collective, other end of a send or receive */              \
    X(uint32_t, helper) /* process that did its proxy work; RS_NONE */                                                 \
    X(uint16_t, func)                                                                                                  \
    X(uint16_t, dtype)                                                                                                 \
    X(uint16_t, algo)                                                                                                  \
    X(uint16_t, proto)                                                                                                 \
    X(uint32_t, flags) /* RS_PART_... */                                                                               \
    X(uint8_t, kind) /* enum rs_part_kind */                                                                           \
    X(uint8_t, start_source) /* enum rs_source_of_time */                                                              \
    X(uint8_t, end_source)                                                                                             \
    X(uint8_t, after_source) /* clock of `after`: KERNEL = the GPU's, else the host's */                               \
    X(uint8_t, channels) /* announced; 0: unknown */                                                                   \
    X(uint8_t, channels_seen) /* KernelCh that ended */

struct rs_parts {
    uint32_t n, cap;
    RS_PART_COLUMNS(RS_COLUMN)
};

enum rs_op_kind {
    RS_OP_COLL,
    RS_OP_PAIR, /* a send and its receive; or one of them, if the other is missing */
    RS_OP_FANOUT, /* pairs that share group calls: AlltoAll, Gather, Scatter, SendRecv */
    RS_OP_CE, /* copy-engine collective: enqueue times only */
    RS_OP_API, /* NCCL reported only the call (Broadcast on 2.29 and 2.30, symmetric kernels) */
};

enum {
    RS_OP_COMPLETE = 1 << 0, /* all its ranks are recorded, and ended */
    RS_OP_WHOLE = 1 << 1, /* all its ranks are recorded */
    RS_OP_TIE = 1 << 2, /* compared (join/totals.h), and the last rank's lead is within twice the clock error */
    RS_OP_MISMATCH = 1 << 3,
    RS_OP_VIOLATION = 1 << 4, /* a rank ended before another started, by more than the clock error */
    RS_OP_DOUBLE = 1 << 5, /* a rank is in it twice: joined wrongly, or the number was reused */
    RS_OP_CLOCKED = 1 << 6, /* starts of all parts are known on clocks of one island: waits can be computed */
};

#define RS_OP_COLUMNS(X)                                                                                               \
    X(uint64_t, id) /* the same in every run of ringscope over the same job */                                         \
    X(uint64_t, seq) /* UINT64_MAX: none */                                                                            \
    X(uint64_t, count)                                                                                                 \
    X(uint64_t, bytes) /* nccl-tests' S: buffer of one rank; all-gather and reduce-scatter: times nranks */            \
    X(int64_t, first) /* earliest start */                                                                             \
    X(int64_t, last) /* latest start */                                                                                \
    X(int64_t, end) /* latest end; RS_TIME_NONE: not all are known */                                                  \
    X(int64_t, error) /* of comparing its starts: the largest clock error of its parts */                              \
    X(uint32_t, comm)                                                                                                  \
    X(uint32_t, part) /* its parts are order[part .. part + nparts), by rank */                                        \
    X(uint32_t, nparts)                                                                                                \
    X(uint32_t, replay)                                                                                                \
    X(uint32_t, captured)                                                                                              \
    X(uint32_t, fanout) /* of a pair: the fan-out it belongs to; RS_NONE */                                            \
    X(uint32_t, over) /* the operation of another tool that is the same one, and leads; RS_NONE: it leads itself */    \
    X(uint32_t, view) /* the same operation in other sources: the first, then the next; RS_NONE: none */               \
    X(uint32_t, index) /* of a pair: how many came before from src to dst on this communicator */                      \
    X(uint32_t, last_part) /* the last to arrive; RS_NONE: unknown */                                                  \
    X(int32_t, root) /* of a pair: src */                                                                              \
    X(int32_t, dst) /* of a pair */                                                                                    \
    X(uint16_t, func)                                                                                                  \
    X(uint16_t, dtype)                                                                                                 \
    X(uint8_t, kind) /* enum rs_op_kind */                                                                             \
    X(uint8_t, flags) /* RS_OP_... */                                                                                  \
    X(uint8_t, confidence) /* of the join, in percent */

struct rs_ops {
    uint32_t n, cap;
    RS_OP_COLUMNS(RS_COLUMN)
};

/* A part or operation with every time RS_TIME_NONE, every index RS_NONE, peer and root -1, no sequence. */
void rs_model_part(struct rs_model *m, uint32_t *index);
void rs_model_op(struct rs_model *m, uint32_t *index);
void rs_parts_free(struct rs_parts *t);
/* After the join and the analyses, when no more parts are added: frees `group`, which bundles and exports do not use.
 * There are millions of parts. */
void rs_parts_drop_group(struct rs_parts *t);
void rs_ops_free(struct rs_ops *t);

/* The clock of a part's start, or end; RS_NONE: unknown. */
/* When it was launched, or at least not before (host's clock): its launch, else its call. RS_TIME_NONE: unknown; captured ones
 * are launched again with their graph. */
int64_t rs_part_launch(const struct rs_model *m, uint32_t part);
uint32_t rs_part_start_domain(const struct rs_model *m, uint32_t part);
uint32_t rs_part_end_domain(const struct rs_model *m, uint32_t part);
/* An operation's first start, else its first API call. */
int64_t rs_op_begin(const struct rs_model *m, uint32_t op);
/* Bytes of one element, by NCCL's datatype name; NCCL calls ncclUint8 "Unknown", hence 1. */
unsigned rs_dtype_bytes(const char *dtype);

#endif

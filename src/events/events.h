/* Every event of a run, one process after the other, on the common axis: the second reading.
 *
 * The model contains operations; what is below them (API calls, launches, channels of kernels, proxy operations,
 * network steps) is read again from the inputs when needed, and delivered event by event to the timeline, exporters and
 * `ops --tree`. An event is delivered when it is complete, so the order is that of ends (in a dump: of its lines);
 * `number` counts starts (in dumps: lines that begin an event, over all dumps of the process). Memory is bounded by
 * what is in flight and by the process's operations and calls, not by its events. Recordings and dumps of NCCL's
 * example profiler have events (a dump has each wait of a ProxyStep as an event, and a ProxyOp as two, before and after
 * it is in progress); other tools' traces have none (their data is in the model's activities). One thread at a time. */
#ifndef RS_EVENTS_EVENTS_H
#define RS_EVENTS_EVENTS_H

#include "model/model.h"
#include "trace/callbacks.h"
#include "trace/inputs.h"

enum { RS_EVENT_STATES = 8, RS_EVENT_PIECES = 64 };

struct rs_event_state {
    int state; /* of nccl/abi.h */
    int64_t at; /* common axis */
};

struct rs_event {
    uint32_t proc;
    uint32_t number; /* in its process, from 0, in the order of starts; counts all types, requested or not */
    uint32_t parent; /* number of its parent in the same process; RS_NONE: none, or not recorded (PXN, lost) */
    uint32_t
        piece; /* of its process, from 0: events that depend on each other are in one; see struct rs_event_pieces */
    /* As recorded; in a dump: (1 + index of its file) << 32 | 1 + its position, as in parts; 0: none */
    uint64_t handle, parent_handle;
    uint64_t type; /* one bit of nccl/abi.h; 0: unknown type */
    uint32_t part; /* that it is, or depends on, directly or indirectly; RS_NONE: unknown. Under PXN: the part of the
                    * process that was helped */
    uint32_t member; /* of its communicator; RS_NONE: unknown */
    uint32_t tid; /* 0: unknown */
    const char *thread; /* name; "": unknown */
    int64_t start, end; /* host's callbacks; end RS_TIME_NONE: never stopped; start RS_TIME_NONE: not in the dump */
    int64_t gpu_start, gpu_end; /* of kernels, from the GPU's timer; RS_TIME_NONE: none, or stale */
    bool stale; /* of kernels: its timers belong to another operation */
    bool open; /* not ended at the end of the recording; false for events whose end is never reported */
    bool polled; /* of a ProxyStep: NCCL started the same step again, as it does while polling; this one never stops */
    unsigned nstates;
    struct rs_event_state states[RS_EVENT_STATES]; /* in order; only the first of repeated ones */
    /* Common arguments; -1: none. A step has channel, peer and is_send of its ProxyOp, and NetPlugin those of its step.
     * `bytes`: of a ProxyStep its transfer, of NetPlugin its length */
    int32_t channel, peer, step, steps;
    int32_t channels; /* announced by a Coll or P2p */
    int8_t is_send;
    int64_t bytes;
    /* All arguments: in a recording the start as recorded, with the process whose strings it needs (see
     * export/callback_args.h); in a dump NULL, and `name` instead. */
    const struct rs_callback *call;
    const struct rs_process *process;
    const char *name, *category; /* in a dump: its names of the event and its type; NULL: none */
};

typedef enum rs_status (*rs_event_visit)(void *to, const struct rs_event *event, struct rs_err *err);

/* Events in pieces, for callers that cannot hold all of a process: when `least` events have started, the next one that
 * depends on nothing begins a new piece, with all events that will depend on it. If calls are captured into graphs,
 * every replay depends on them: then the current piece is the last. Dumps are one piece. */
struct rs_event_pieces {
    uint32_t least; /* minimum number of starts of a piece */
    uint32_t lag; /* starts after a piece before it may be closed */
    uint32_t patience; /* starts after a piece whose operations are over until its events are no longer awaited */
    /* The next piece begins, with events from this number on; the first exists already. At most RS_EVENT_PIECES are
     * open. */
    enum rs_status (*begun)(void *to, uint32_t number, struct rs_err *err);
    /* Nothing of the oldest piece is in progress, and `lag` events have started after it. Not called for pieces that
     * remain when all events are delivered. */
    enum rs_status (*closed)(void *to, struct rs_err *err);
    /* Set: events that came later nevertheless, which are in another piece and have no parent; and ends of events that
     * were no longer awaited. */
    uint64_t late;
};

/* Delivers the events of one process whose type is in `types` (bits of nccl/abi.h; UINT64_MAX: all). What the event
 * points to is valid until the visit returns. `pieces` NULL: one piece. */
enum rs_status rs_events_read(struct rs_model *m, struct rs_inputs *in, uint32_t proc, uint64_t types,
                              struct rs_event_pieces *pieces, rs_event_visit visit, void *to, struct rs_err *err);

#endif

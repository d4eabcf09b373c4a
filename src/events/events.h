/* Every event of a run, one process after the other, on the common axis: the second reading.
 *
 * The model holds operations; what lies below them (API calls, launches, channels of kernels, proxy operations, network
 * steps) is read again from the inputs when it is wanted, and handed out event by event: to the timeline, to exporters,
 * to `ops --tree`. An event is handed out when it is complete, so the order is that of ends (of a dump: of its lines);
 * `number` counts starts (of dumps: lines that begin an event, one dump of the process after the other).
 * Memory is bounded by what is in flight and by the process's operations and calls, not by its events.
 * Recordings and dumps of NCCL's example profiler have events (a dump has each wait of a ProxyStep as an event, and a
 * ProxyOp as two, before and after it is under way); other tools' traces have none (what they saw is in the model's
 * activities). One thread at a time. */
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
    uint32_t number; /* of its process, from 0, in the order of starts; of all types, whatever was asked for */
    uint32_t parent; /* number of its parent in the same process; RS_NONE: none, or not there (PXN, lost) */
    uint32_t piece; /* of its process, from 0: all that hangs on each other is in one; see struct rs_event_pieces */
    /* As recorded; of a dump: (1 + which file of its process) << 32 | 1 + its place in it, as parts have; 0: none */
    uint64_t handle, parent_handle;
    uint64_t type; /* one bit of nccl/abi.h; 0: of no type that we know */
    uint32_t part; /* that it is, or hangs on, directly or through others; RS_NONE: none known. Under PXN: the part of
                      the process that was helped */
    uint32_t member; /* whose communicator it is of; RS_NONE: not told */
    uint32_t tid; /* 0: not told */
    const char *thread; /* name; "": not told */
    int64_t start, end; /* host's callbacks; end RS_TIME_NONE: never stopped; start: a dump does not tell it */
    int64_t gpu_start, gpu_end; /* of kernels, from the GPU's timer; RS_TIME_NONE: none, or not its own (stale) */
    bool stale; /* of kernels: its timers were of another operation */
    bool open; /* had not ended when its recording did; not said of what is never told to end */
    bool polled; /* of a ProxyStep: NCCL started the same step anew, as it does while it polls; this one never stops */
    unsigned nstates;
    struct rs_event_state states[RS_EVENT_STATES]; /* in order; of retries the first */
    /* What is common of the arguments, taken out; -1: none. A step has channel, peer and is_send of its ProxyOp, and
     * NetPlugin those of its step. `bytes`: of a ProxyStep its transfer, of NetPlugin its length */
    int32_t channel, peer, step, steps;
    int32_t channels; /* that a Coll or P2p announced */
    int8_t is_send;
    int64_t bytes;
    /* All arguments: of a recording the start as it was recorded, with the process whose strings it needs (see
     * export/callback_args.h); of a dump NULL, and `name` instead. */
    const struct rs_callback *call;
    const struct rs_process *process;
    const char *name, *category; /* of a dump: as it calls the event and its type; NULL: none */
};

typedef enum rs_status (*rs_event_visit)(void *to, const struct rs_event *event, struct rs_err *err);

/* Events in pieces, for those that cannot hold all of a process: when so many have started, the next one that hangs on
 * nothing begins a new piece, and all that will hang on it goes there too. Where calls are captured into graphs every
 * replay hangs on them: there the piece at hand is the last. Dumps are one piece. */
struct rs_event_pieces {
    uint32_t least; /* starts that a piece has at least */
    uint32_t lag; /* starts behind a piece before it may be closed */
    uint32_t patience; /* starts behind a piece whose operations are over before its events are no longer waited for */
    /* The next piece begins, with events from this number on; the first is there. At most RS_EVENT_PIECES are not
     * closed. */
    enum rs_status (*begun)(void *to, uint32_t number, struct rs_err *err);
    /* Nothing of the oldest piece is under way any more, and `lag` events have started behind it. Those that are left when
     * all events are handed out are not told. */
    enum rs_status (*closed)(void *to, struct rs_err *err);
    /* Set: events that came behind that all the same, which are in another piece and have no parent; and ends of events
     * that were no longer waited for. */
    uint64_t late;
};

/* Hands out the events of one process whose type is in `types` (bits of nccl/abi.h; UINT64_MAX: all). What the event
 * points to is good until the visit returns. A process that has none hands out none. `pieces` NULL: all is one. */
enum rs_status rs_events_read(struct rs_model *m, struct rs_inputs *in, uint32_t proc, uint64_t types,
                              struct rs_event_pieces *pieces, rs_event_visit visit, void *to, struct rs_err *err);

#endif

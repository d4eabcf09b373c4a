/* The callbacks of one recording -> events: starts, stops and states matched by their handles.
 *
 * Used by both readers of a recording (import/ folds events into operations, events/ returns each): finds the parent
 * and the communicator of a start, keeps events in flight (assemble/flights.h), and reports when an event is over,
 * whether it was stopped or not:
 *   - NCCL polls for a receive and starts the same step again each time, up to thousands of times; the earlier start
 *     is then over, and never stopped;
 *   - steps that are open when their proxy operation is over are over too;
 *   - a reused handle (its counter wrapped around) ends the event that had it;
 *   - what is never stopped (some transports' proxy operations) is over when too many are in flight, the older half of
 *     the starts first;
 *   - an overwritten start that is a fact (a captured parent) is over at once.
 * All times are host ns of the process, not on the common axis. One thread at a time. */
#ifndef RS_ASSEMBLE_ASSEMBLE_H
#define RS_ASSEMBLE_ASSEMBLE_H

#include "assemble/flights.h"
#include "trace/callbacks.h"
#include "trace/inputs.h"

enum rs_over {
    RS_OVER_STOPPED,
    RS_OVER_POLLED, /* the same step of its proxy operation starts again */
    RS_OVER_UNSTOPPED, /* any other reason above */
    RS_OVER_END, /* the recording ends */
};

/* A start, before and when it has a row. */
struct rs_start {
    const struct rs_callback *cb;
    int64_t now;
    uint32_t number; /* in its process, from 0, over all types */
    struct rs_flight_parent parent; /* not found for work of another process */
    uint32_t part; /* the parent's, unless the visitor changes it */
    uint32_t piece; /* the visitor's */
    uint64_t timer; /* of a KernelCh with a GPU timer: its number among those of the process */
    bool foreign; /* a proxy operation for another process (assemble/owner.h) */
    bool again; /* a step that was started before (polling) */
};

struct rs_assembly;

/* What a reader does with events. Rows are those of a->flights. All but `place`, `started`, `changed` and `over` may be
 * NULL. */
struct rs_visitor {
    size_t row; /* bytes: a struct rs_flight first, and then the visitor's own fields */
    uint64_t types; /* that get a row (UINT64_MAX: all, including unknown ones); for others only place() is called */
    /* Before a start is processed: rows may be closed here. */
    enum rs_status (*before)(struct rs_assembly *a, int64_t now, struct rs_err *err);
    /* Sets the part and piece of a start; may clear the parent's number. */
    enum rs_status (*place)(struct rs_assembly *a, struct rs_start *s, struct rs_err *err);
    /* It has a row, linked to its parent's; the visitor's fields are not initialized. */
    enum rs_status (*started)(struct rs_assembly *a, uint32_t row, const struct rs_start *s, struct rs_err *err);
    enum rs_status (*changed)(struct rs_assembly *a, uint32_t row, const struct rs_callback *cb, int64_t now,
                              struct rs_err *err);
    /* `now`: of the stop, else of the start that ended it, or of the last callback. The row is freed afterwards; at the
     * end of the recording rows come in the order of starts, and are freed after the last. */
    enum rs_status (*over)(struct rs_assembly *a, uint32_t row, enum rs_over how, int64_t now, struct rs_err *err);
    /* A stop of an event that is not in flight. */
    void (*unmatched)(struct rs_assembly *a, uint64_t handle);
    enum rs_status (*lost)(struct rs_assembly *a, const struct rs_callback *cb, struct rs_err *err);
};

struct rs_assembly {
    const struct rs_visitor *visitor;
    void *to; /* the visitor's */
    struct rs_model *model;
    struct rs_source *source;
    uint32_t proc;
    struct rs_flights flights;
    uint32_t *members; /* by context index; RS_NONE: none, or not yet (v1 to v3) */
    uint32_t nmembers;
    uint32_t numbers; /* starts so far */
    uint64_t timers; /* starts of KernelCh with a GPU timer so far */
    uint64_t callbacks; /* without losses and recovered ones */
    int64_t first, first_event, last; /* times of the first two that are not recovered; RS_TIME_NONE: none */
};

/* For a source whose process and members are in the model. */
void rs_assembly_init(struct rs_assembly *a, struct rs_model *m, struct rs_source *source, uint32_t proc,
                      const struct rs_visitor *visitor, void *to);
/* Reads all callbacks, and ends what is still in flight. */
enum rs_status rs_assembly_read(struct rs_assembly *a, struct rs_err *err);
/* Processes one callback. */
enum rs_status rs_assembly_take(struct rs_assembly *a, const struct rs_callback *cb, int64_t now, struct rs_err *err);
void rs_assembly_free(struct rs_assembly *a);

/* For visitors: the index of a context in a->members; 0: it is not of this process. */
static inline uint32_t rs_assembly_comm(const struct rs_assembly *a, uint64_t context)
{
    if (rs_handle_nonce(context) != a->model->procs[a->proc].nonce || rs_handle_slot(context) != RS_SLOT_CONTEXT)
        return 0;
    uint64_t index = rs_handle_counter(context);
    return index < a->nmembers ? (uint32_t)index : 0;
}
/* Ends one without its steps. */
enum rs_status rs_assembly_close(struct rs_assembly *a, uint32_t row, enum rs_over how, int64_t now,
                                 struct rs_err *err);

#endif

/* The events of one process -> parts of operations in the model.
 *
 * A visitor of assemble/assemble.h. Events find their operation through their parents; kernels, proxy operations and
 * network steps are folded into it at once, so nothing is kept of an event that is over. Versions of NCCL's interface
 * give the same result. The rules for times are in fold.h.
 *
 * One struct for a whole import, used for one process after the other. */
#ifndef RS_IMPORT_FOLDING_H
#define RS_IMPORT_FOLDING_H

#include "assemble/assemble.h"
#include "import/calls.h"
#include "import/fold.h"
#include "import/network.h"
#include "import/pxn.h"
#include "import/shapes.h"
#include "import/timers.h"

/* A communicator of the process being read. */
struct rs_folding_comm {
    int64_t launched; /* start of a kernel launch whose plan has not come yet; RS_TIME_NONE */
    uint32_t launch_tid;
    struct {
        uint64_t handle;
        int64_t launched;
    } plans[8]; /* the latest plans (Group events), newest first */
    struct rs_timers timers;
};

/* An event in flight. All but `flight` is only for kernels, proxy operations and steps. */
struct rs_folding_event {
    struct rs_flight flight;
    int64_t at; /* host ns of its latest change */
    int64_t began; /* of a kernel: GPU ns */
    union {
        uint64_t timer; /* of a kernel: number of its GPU timer in the process */
        uint64_t bytes; /* of a step that sends: of its message; 0: the peer was not ready */
    };
    struct rs_cell cell; /* of a proxy operation: its flow's row */
    uint32_t member; /* of a proxy operation: whose flow; RS_NONE: unknown */
    uint32_t pxn; /* of a proxy operation for another process: index + 1 of it */
    int32_t peer, announced, done;
    int16_t state; /* -1: none yet */
    uint8_t channel;
    bool stale; /* of a kernel: its timers are of another operation */
    bool is_send, counted; /* counted: of a kernel, its end was folded; of a proxy operation, its start */
    bool ignored; /* its operation, or the proxy operation of a step, is unknown */
};

struct rs_folding {
    struct rs_model *model;
    struct rs_pxn *pxn;
    /* of the current process: */
    struct rs_source *source;
    uint32_t proc;
    struct rs_shapes shapes;
    struct rs_folding_comm *comms; /* by the index in their context, from 1; as many as the assembly has members */
    struct rs_calls calls;
    struct rs_folds folds;
    struct rs_network network;
    struct rs_map next_seq; /* (member, func) -> the last sequence number seen, plus one */
    struct rs_map callers; /* member << 32 | thread that called or launched for it -> nothing */
    uint64_t caller; /* the latest */
    int64_t polled_since; /* when the step being polled last changed; RS_TIME_NONE: it had progressed */
    struct rs_gap *gaps;
    uint32_t ngaps, cap_gaps;
    uint64_t lost_in_gaps, lost_colls;
    uint64_t orphans; /* events whose operation is unknown */
};

void rs_folding_init(struct rs_folding *p, struct rs_model *model, struct rs_pxn *pxn);
void rs_folding_free(struct rs_folding *p);

/* Reads all callbacks of a source, whose members are in the model. */
enum rs_status rs_folding_read(struct rs_folding *p, struct rs_source *source, uint32_t proc, struct rs_err *err);

/* `to` is a struct rs_folding. */
extern const struct rs_visitor rs_folding_visitor;

static inline struct rs_folding_event *rs_folding_at(const struct rs_assembly *a, uint32_t row)
{
    return rs_flight_at(&a->flights, row);
}

#endif

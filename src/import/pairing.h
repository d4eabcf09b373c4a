/* The callbacks of one process -> parts of operations in the model.
 *
 * Starts, stops and states become events; events find their operation through the handles of their parents; what
 * kernels, proxy operations and network steps say is folded into it at once, so that nothing is kept of an event that
 * has ended. Every version of NCCL's interface comes out the same. The rules for times are in fold.h.
 *
 * One struct for a whole import, used for one process after the other. */
#ifndef RS_IMPORT_PAIRING_H
#define RS_IMPORT_PAIRING_H

#include "import/calls.h"
#include "import/fold.h"
#include "import/inflight.h"
#include "import/network.h"
#include "import/pxn.h"
#include "import/shapes.h"
#include "import/timers.h"
#include "trace/inputs.h"

/* A communicator of the process being read. */
struct rs_pairing_comm {
    uint32_t member; /* RS_NONE: none yet (v1 to v3, before its first operation) */
    int64_t launched; /* start of a kernel launch that no plan has taken yet; RS_TIME_NONE */
    uint32_t launch_tid;
    struct {
        uint64_t handle;
        int64_t launched;
    } plans[8]; /* the latest plans (Group events), newest first */
    struct rs_timers timers;
};

struct rs_pairing {
    struct rs_model *model;
    struct rs_pxn *pxn;
    /* of the process at hand: */
    struct rs_source *source;
    uint32_t proc;
    struct rs_shapes shapes;
    struct rs_pairing_comm *comms; /* by the index in their context, from 1 */
    uint32_t ncomms;
    struct rs_calls calls;
    struct rs_folds folds;
    struct rs_inflight flights;
    struct rs_network network;
    struct rs_map parts, parts_before; /* handle of Coll or P2p -> part; two ages, so that old ones go together */
    struct rs_map next_seq; /* (member, func) -> the sequence number behind the last one seen */
    struct rs_map callers; /* member << 32 | thread that called or launched for it -> nothing */
    uint64_t caller; /* the latest */
    struct rs_gap *gaps;
    uint32_t ngaps, cap_gaps;
    uint64_t lost_in_gaps, lost_colls;
    uint64_t orphans; /* events whose operation is not known */
};

void rs_pairing_make(struct rs_pairing *p, struct rs_model *model, struct rs_pxn *pxn);
void rs_pairing_free(struct rs_pairing *p);

/* Reads all callbacks of a source. `members`: of its communicators, in the order of its facts. */
enum rs_status rs_pairing_read(struct rs_pairing *p, struct rs_source *source, uint32_t proc, const uint32_t *members,
                               struct rs_err *err);

/* For the modules that take in one kind of event each. A communicator of the process by its context; NULL: a
 * stranger's. */
struct rs_pairing_comm *rs_pairing_comm(struct rs_pairing *p, uint64_t context);
/* Says that a thread called, or launched, for a communicator. */
enum rs_status rs_pairing_caller(struct rs_pairing *p, const struct rs_pairing_comm *c, uint32_t tid,
                                 struct rs_err *err);
/* The part of the operation of a handle; RS_NONE: not known. */
uint32_t rs_pairing_part(const struct rs_pairing *p, uint64_t handle);

#endif

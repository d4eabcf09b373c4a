/* Which event a handle means: type, communicator and rank of stops and states, which NCCL tells by handle alone.
 *
 * Fed with the callbacks of one process in time order. Keeps events that are open and about a million that are not, so
 * memory stays bounded and late or repeated stops are still named. */
#ifndef RS_TRACE_IDENTITY_H
#define RS_TRACE_IDENTITY_H

#include "base/map.h"
#include "trace/callbacks.h"

struct rs_identity {
    struct rs_map now, before; /* handle -> what; two ages, so that old ones can be forgotten together */
};

/* What is known of an event. */
struct rs_event_name {
    bool known;
    uint64_t type; /* one bit, or 0 when NCCL's type was not one that we know */
    uint64_t context; /* rs_handle() of this process; 0: a stranger's, or none */
};

enum rs_status rs_identity_start(struct rs_identity *identity, const struct rs_callback *start, struct rs_err *err);
struct rs_event_name rs_identity_of(const struct rs_identity *identity, uint64_t handle);
void rs_identity_stop(struct rs_identity *identity, uint64_t handle);
void rs_identity_free(struct rs_identity *identity);

#endif

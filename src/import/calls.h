/* API calls whose operation has not started.
 *
 * NCCL starts CollApi or P2pApi when the program calls, and Coll or P2p, with that as parent, when the plan is
 * launched. An eager call becomes one operation and is then dropped; a captured one stays, since every replay names it.
 * Calls that never become one (broadcasts on NCCL 2.29 and 2.30, symmetric kernels) are returned at the end, or when
 * there are too many. One thread at a time. */
#ifndef RS_IMPORT_CALLS_H
#define RS_IMPORT_CALLS_H

#include "import/shapes.h"

struct rs_api_call {
    uint64_t handle, group, count;
    int64_t at; /* host ns */
    uint32_t member;
    uint32_t tid; /* of the thread that called */
    uint32_t captured; /* ordinal from 1 among the captured calls of its kind on its member; 0: eager */
    uint32_t uses; /* operations so far */
    uint32_t ordinal; /* of its function on its member, from 0 */
    int32_t root;
    uint16_t func, dtype;
    bool coll; /* else point to point */
    bool gone; /* its operation has started */
};

struct rs_calls {
    struct rs_api_call *rows; /* in time order */
    uint32_t n, cap;
    uint32_t kept; /* by the last sweep: the next is due when there are twice as many */
    struct rs_map index; /* handle -> row */
    struct rs_map counts; /* (member, what) -> ordinals used */
};

void rs_calls_start(struct rs_calls *c, const struct rs_callback *cb, int64_t at, uint32_t member,
                    const struct rs_shape *shape);
/* The call that is the parent of an operation, counted as used; NULL: unknown. Valid until the next start. An eager one
 * is not found again. */
struct rs_api_call *rs_calls_use(struct rs_calls *c, uint64_t handle);

/* Whether a sweep is due. */
bool rs_calls_crowded(const struct rs_calls *c);
/* Drops calls that became an operation; of the other eager ones, passes the older half (`all`: all) to `each`. */
enum rs_status rs_calls_sweep(struct rs_calls *c, bool all,
                              enum rs_status (*each)(void *to, const struct rs_api_call *call, struct rs_err *err),
                              void *to, struct rs_err *err);
void rs_calls_free(struct rs_calls *c);

#endif

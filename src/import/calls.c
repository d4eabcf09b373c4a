#include "import/calls.h"

#include <stdlib.h>

#include "base/room.h"
#include "nccl/abi.h"

enum { CROWD = 65536 };

static void next_number(struct rs_calls *c, uint32_t member, uint32_t what, uint32_t *number)
{
    uint64_t *at;
    rs_map_at(&c->counts, (uint64_t)member << 32 | what, 0, &at);
    *number = (uint32_t)(*at)++;
}

void rs_calls_start(struct rs_calls *c, const struct rs_callback *cb, int64_t at, uint32_t member,
                    const struct rs_shape *shape)
{
    bool coll = cb->type == RS_COLL_API;
    enum { EAGER = 0, CAPTURED_COLL = 1 << 16, CAPTURED_P2P };
    RS_ROOM(c->rows, c->n, c->cap);
    struct rs_api_call call = {.handle = cb->handle,
                               .group = cb->parent,
                               .count = shape->count,
                               .at = at,
                               .member = member,
                               .tid = cb->tid,
                               .root = shape->root,
                               .func = shape->func,
                               .dtype = shape->dtype,
                               .coll = coll};
    if (shape->captured) {
        next_number(c, member, coll ? CAPTURED_COLL : CAPTURED_P2P, &call.captured);
        call.captured++;
    } else {
        next_number(c, member, EAGER | shape->func, &call.ordinal);
    }
    rs_map_put(&c->index, cb->handle, c->n);
    c->rows[c->n++] = call;
}

struct rs_api_call *rs_calls_use(struct rs_calls *c, uint64_t handle)
{
    uint64_t *at = rs_map_find(&c->index, handle);
    if (!at) return NULL;
    struct rs_api_call *call = &c->rows[*at];
    call->uses++;
    if (!call->captured) {
        call->gone = true;
        rs_map_delete(&c->index, handle);
    }
    return call;
}

bool rs_calls_crowded(const struct rs_calls *c)
{
    return c->n >= CROWD && c->n >= 2 * (uint64_t)c->kept;
}

enum rs_status rs_calls_sweep(struct rs_calls *c, bool all,
                              enum rs_status (*each)(void *to, const struct rs_api_call *call, struct rs_err *err),
                              void *to, struct rs_err *err)
{
    uint32_t waiting = 0, seen = 0, kept = 0;
    for (uint32_t i = 0; i < c->n; i++) waiting += !c->rows[i].gone && !c->rows[i].captured;
    for (uint32_t i = 0; i < c->n; i++) {
        struct rs_api_call call = c->rows[i];
        if (call.gone) continue;
        bool eager = !call.captured;
        /* Unless it is the end, the latest may still become operations. */
        if (eager && (all || (waiting > CROWD / 2 && seen++ < waiting / 2))) {
            rs_map_delete(&c->index, call.handle);
            RS_TRY(each(to, &call, err));
            continue;
        }
        if (kept != i) {
            rs_map_put(&c->index, call.handle, kept);
            c->rows[kept] = call;
        }
        kept++;
    }
    c->n = c->kept = kept;
    return RS_OK;
}

void rs_calls_free(struct rs_calls *c)
{
    free(c->rows);
    rs_map_free(&c->index);
    rs_map_free(&c->counts);
    *c = (struct rs_calls){0};
}

#include "trace/identity.h"

enum { AGE = 1 << 19, OPEN = 1 << 0, KNOWN_TYPE = 1 << 1, OWN_CONTEXT = 1 << 2, TYPE_SHIFT = 8, CONTEXT_SHIFT = 16 };

/* The older half goes, but for what is still open: as far as that leaves room, since some events are never stopped. */
static enum rs_status age(struct rs_identity *id, struct rs_err *err)
{
    struct rs_map old = id->before;
    id->before = id->now;
    id->now = (struct rs_map){0};
    enum rs_status status = RS_OK;
    uint64_t handle, what;
    for (size_t pos = 0;
         status == RS_OK && rs_map_count(&id->now) < AGE / 2 && rs_map_next(&old, &pos, &handle, &what);)
        if (what & OPEN) status = rs_map_put(&id->now, handle, what, err);
    rs_map_free(&old);
    return status;
}

enum rs_status rs_identity_start(struct rs_identity *id, const struct rs_callback *start, struct rs_err *err)
{
    uint64_t what = OPEN;
    if (start->type && !(start->type & (start->type - 1)))
        what |= KNOWN_TYPE | (uint64_t)__builtin_ctzll(start->type) << TYPE_SHIFT;
    bool own = rs_handle_nonce(start->context) == rs_handle_nonce(start->handle) &&
               rs_handle_slot(start->context) == RS_SLOT_CONTEXT;
    if (own) what |= OWN_CONTEXT | rs_handle_counter(start->context) << CONTEXT_SHIFT;
    if (rs_map_count(&id->now) >= AGE) RS_TRY(age(id, err));
    return rs_map_put(&id->now, start->handle, what, err);
}

struct rs_event_name rs_identity_of(const struct rs_identity *id, uint64_t handle)
{
    const uint64_t *what = rs_map_find(&id->now, handle);
    if (!what) what = rs_map_find(&id->before, handle);
    if (!what) return (struct rs_event_name){0};
    struct rs_event_name name = {.known = true};
    if (*what & KNOWN_TYPE) name.type = UINT64_C(1) << (*what >> TYPE_SHIFT & 63);
    if (*what & OWN_CONTEXT) name.context = rs_handle(rs_handle_nonce(handle), RS_SLOT_CONTEXT, *what >> CONTEXT_SHIFT);
    return name;
}

void rs_identity_stop(struct rs_identity *id, uint64_t handle)
{
    uint64_t *what = rs_map_find(&id->now, handle);
    if (!what) what = rs_map_find(&id->before, handle);
    if (what) *what &= ~(uint64_t)OPEN;
}

void rs_identity_free(struct rs_identity *id)
{
    rs_map_free(&id->now);
    rs_map_free(&id->before);
}

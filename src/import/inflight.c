#include "import/inflight.h"

#include <stdlib.h>

#include "base/room.h"
#include "nccl/abi.h"

enum {
    MOST = 1 << 18, /* rows in flight; a proxy thread has some hundreds */
    FIRST_BITS = 6,
};

void rs_inflight_make(struct rs_inflight *f)
{
    *f = (struct rs_inflight){.free = RS_NONE};
}

void rs_inflight_free(struct rs_inflight *f)
{
    free(f->rows);
    free(f->chains);
    rs_inflight_make(f);
}

void rs_inflight_clear(struct rs_inflight *f)
{
    free(f->chains);
    f->chains = NULL;
    f->chain_bits = 0;
    f->n = f->used = 0;
    f->free = RS_NONE;
    f->given_up = 0;
}

/* ---- chains ---- */

static void chain(struct rs_inflight *f, uint32_t row)
{
    uint32_t *first = &f->chains[rs_inflight_chain(f, f->rows[row].handle)];
    f->rows[row].chained = *first;
    *first = row;
}

static void unchain(struct rs_inflight *f, uint32_t row)
{
    uint32_t *link = &f->chains[rs_inflight_chain(f, f->rows[row].handle)];
    while (*link != row) link = &f->rows[*link].chained;
    *link = f->rows[row].chained;
}

/* Twice as many chains: all rows find their places anew. */
static enum rs_status make_chains(struct rs_inflight *f, struct rs_err *err)
{
    unsigned bits = f->chain_bits ? f->chain_bits + 1 : FIRST_BITS;
    uint32_t *chains = malloc(sizeof *chains << bits);
    if (!chains) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    free(f->chains);
    f->chains = chains;
    f->chain_bits = bits;
    for (uint32_t i = 0; i < UINT32_C(1) << bits; i++) chains[i] = RS_NONE;
    for (uint32_t i = 0; i < f->n; i++)
        if (f->rows[i].type) chain(f, i);
    return RS_OK;
}

/* ---- rows ---- */

static void release(struct rs_inflight *f, uint32_t row)
{
    struct rs_flight *r = &f->rows[row];
    unchain(f, row);
    r->type = 0;
    r->steps = f->free;
    f->free = row;
    f->used--;
}

/* Makes room among events that nobody ever stopped: the older half of them goes, but not `keep`. */
static void give_up(struct rs_inflight *f, uint32_t keep)
{
    int64_t from = INT64_MAX, to = INT64_MIN;
    for (uint32_t i = 0; i < f->n; i++) {
        if (!f->rows[i].type) continue;
        if (f->rows[i].at < from) from = f->rows[i].at;
        if (f->rows[i].at > to) to = f->rows[i].at;
    }
    int64_t middle = from + (int64_t)(((uint64_t)to - (uint64_t)from) / 2);
    uint32_t before = f->used;
    for (uint32_t i = 0; i < f->n; i++)
        if (f->rows[i].type && f->rows[i].at <= middle && i != keep) rs_inflight_end(f, i);
    f->given_up += before - f->used;
}

static enum rs_status take(struct rs_inflight *f, uint32_t keep, uint32_t *row, struct rs_err *err)
{
    if (f->used >= MOST) give_up(f, keep);
    if (f->free != RS_NONE) {
        *row = f->free;
        f->free = f->rows[*row].steps;
    } else {
        RS_ROOM(f->rows, f->n, f->cap, err);
        if (!f->chain_bits || f->n >> f->chain_bits) RS_TRY(make_chains(f, err));
        *row = f->n++;
    }
    f->used++;
    return RS_OK;
}

static enum rs_status add(struct rs_inflight *f, uint64_t handle, uint32_t type, uint32_t keep, uint32_t *row,
                          struct rs_err *err)
{
    RS_TRY(take(f, keep, row, err));
    f->rows[*row] = (struct rs_flight){.handle = handle,
                                       .type = type,
                                       .part = RS_NONE,
                                       .member = RS_NONE,
                                       .owner = RS_NONE,
                                       .steps = RS_NONE,
                                       .peer = -1,
                                       .step = -1,
                                       .announced = -1,
                                       .state = -1};
    chain(f, *row);
    return RS_OK;
}

enum rs_status rs_inflight_start(struct rs_inflight *f, uint64_t handle, uint32_t type, uint32_t *row,
                                 struct rs_err *err)
{
    uint32_t old = rs_inflight_find(f, handle); /* the counter of handles went round */
    if (old != RS_NONE) rs_inflight_end(f, old);
    return add(f, handle, type, RS_NONE, row, err);
}

enum rs_status rs_inflight_step(struct rs_inflight *f, uint64_t handle, uint32_t owner, int32_t step, uint32_t *row,
                                struct rs_err *err)
{
    uint32_t old = rs_inflight_find(f, handle);
    if (old != RS_NONE && old != owner) rs_inflight_end(f, old);
    for (uint32_t i = f->rows[owner].steps; i != RS_NONE; i = f->rows[i].steps) {
        struct rs_flight *r = &f->rows[i];
        if (r->step != step) continue;
        unchain(f, i);
        r->handle = handle;
        chain(f, i);
        if (r->state >= 0) r->at = 0; /* it had come further: this is a new beginning */
        r->state = -1;
        *row = i;
        return RS_OK;
    }
    RS_TRY(add(f, handle, RS_PROXY_STEP, owner, row, err));
    struct rs_flight *r = &f->rows[*row], *o = &f->rows[owner];
    r->owner = owner;
    r->step = step;
    r->part = o->part;
    r->steps = o->steps;
    o->steps = *row;
    return RS_OK;
}

void rs_inflight_end(struct rs_inflight *f, uint32_t row)
{
    struct rs_flight *r = &f->rows[row];
    if (r->type == RS_PROXY_STEP) {
        uint32_t *link = &f->rows[r->owner].steps;
        while (*link != RS_NONE && *link != row) link = &f->rows[*link].steps;
        if (*link == row) *link = r->steps;
    }
    for (uint32_t i = r->type == RS_PROXY_OP ? r->steps : RS_NONE, next; i != RS_NONE; i = next) {
        next = f->rows[i].steps;
        release(f, i);
    }
    release(f, row);
}

#include "foreign/example/who.h"

#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "model/model.h"

#define SEVERAL UINT64_MAX /* of a stream: operations of more than one rank */

static bool is_op(const struct rs_example_event *e)
{
    return e->kind == RS_EX_COLL || e->kind == RS_EX_P2P;
}

static bool is_call(const struct rs_example_event *e)
{
    return e->kind == RS_EX_COLL_API || e->kind == RS_EX_P2P_API;
}

static void give(struct rs_example_event *e, uint64_t comm, int32_t rank, enum rs_example_who who)
{
    e->comm = comm;
    e->rank = rank;
    e->who = (uint8_t)who;
}

/* ---- ranks ---- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static enum rs_status rank_of(struct rs_example *d, uint64_t comm, int32_t rank, uint32_t *index, struct rs_err *err)
{
    for (uint64_t key = mix(comm) + (uint64_t)(int64_t)rank;; key++) { /* those with the same hash take the next keys */
        uint64_t *at;
        RS_TRY(rs_map_at(&d->rank_index, key, 0, &at, err));
        if (*at && (d->ranks[*at - 1].comm != comm || d->ranks[*at - 1].rank != rank)) continue;
        if (!*at) {
            RS_ROOM(d->ranks, d->nranks, d->cap_ranks, err);
            d->ranks[d->nranks++] = (struct rs_example_rank){.comm = comm, .rank = rank};
            *at = d->nranks;
        }
        *index = (uint32_t)(*at - 1);
        return RS_OK;
    }
}

static enum rs_status list_ranks(struct rs_example *d, struct rs_err *err)
{
    uint32_t own = 0, index;
    if (d->named) RS_TRY(rank_of(d, d->comm, d->rank, &own, err));
    for (uint32_t i = 0; i < d->n; i++) {
        const struct rs_example_event *e = &d->events[i];
        if (e->who != RS_EX_WHO_OWN) continue;
        RS_TRY(rank_of(d, e->comm, e->rank, &index, err));
        d->ranks[index].colls += e->kind == RS_EX_COLL;
        d->ranks[index].p2ps += e->kind == RS_EX_P2P;
    }
    if (!d->named && d->nranks == 1) { /* 2.23 to 2.26: the name does not tell */
        d->comm = d->ranks[0].comm;
        d->rank = d->ranks[0].rank;
    }
    if (d->rank >= 0) d->ranks[own].of_file = true;
    return RS_OK;
}

/* ---- streams ---- */

static uint64_t stream_of(const struct rs_example_event *e)
{
    return is_call(e) ? e->call.stream : e->kind == RS_EX_LAUNCH ? e->launch.stream : 0;
}

/* Notes on which streams the operations of events [from, to) are: stream -> rank row, or SEVERAL. */
static enum rs_status note_streams(struct rs_example *d, struct rs_map *streams, uint32_t from, uint32_t to,
                                   struct rs_err *err)
{
    for (uint32_t i = from; i < to; i++) {
        const struct rs_example_event *e = &d->events[i];
        uint32_t index;
        uint64_t *at;
        if (!is_call(e) || e->who != RS_EX_WHO_CHILD || !stream_of(e)) continue;
        RS_TRY(rank_of(d, e->comm, e->rank, &index, err));
        RS_TRY(rs_map_at(streams, stream_of(e), index, &at, err));
        if (*at != index) *at = SEVERAL;
    }
    return RS_OK;
}

static void give_by_stream(struct rs_example *d, const struct rs_map *streams, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        struct rs_example_event *e = &d->events[i];
        if (e->who != RS_EX_WHO_NONE || !stream_of(e)) continue;
        uint64_t index = rs_map_get(streams, stream_of(e), SEVERAL);
        if (index < d->nranks) give(e, d->ranks[index].comm, d->ranks[index].rank, RS_EX_WHO_STREAM);
    }
}

/* A group's own operations first: a stream may serve other ranks at other times. */
static enum rs_status streams_of_groups(struct rs_example *d, struct rs_err *err)
{
    enum rs_status status = RS_OK;
    for (uint32_t from = 0, to; from < d->n && status == RS_OK; from = to) {
        for (to = from + 1; to < d->n && d->events[to].parent != RS_NONE;) to++;
        if (to == from + 1) continue;
        struct rs_map streams = {0};
        status = note_streams(d, &streams, from, to, err);
        if (status == RS_OK) give_by_stream(d, &streams, from, to);
        rs_map_free(&streams);
    }
    return status;
}

static enum rs_status streams_of_file(struct rs_example *d, struct rs_err *err)
{
    struct rs_map streams = {0};
    enum rs_status status = note_streams(d, &streams, 0, d->n, err);
    if (status == RS_OK) give_by_stream(d, &streams, 0, d->n);
    size_t pos = 0;
    uint64_t stream, index;
    while (status == RS_OK && rs_map_next(&streams, &pos, &stream, &index)) {
        if (index >= d->nranks) continue;
        struct rs_example_rank *r = &d->ranks[index];
        r->stream = !r->stream || r->stream == stream ? stream : SEVERAL;
    }
    for (uint32_t i = 0; i < d->nranks; i++)
        if (d->ranks[i].stream == SEVERAL) d->ranks[i].stream = 0;
    rs_map_free(&streams);
    return status;
}

/* ---- all together ---- */

static void give_by_nesting(struct rs_example *d)
{
    for (uint32_t i = 0; i < d->n; i++) {
        struct rs_example_event *e = &d->events[i];
        if (is_op(e) && e->who == RS_EX_WHO_OWN && e->parent != RS_NONE) {
            struct rs_example_event *call = &d->events[e->parent];
            if (is_call(call) && call->who == RS_EX_WHO_NONE) give(call, e->comm, e->rank, RS_EX_WHO_CHILD);
        }
        const struct rs_example_event *op = e->op == RS_NONE ? NULL : &d->events[e->op];
        if (op && op != e && op->who == RS_EX_WHO_OWN) give(e, op->comm, op->rank, RS_EX_WHO_PARENT);
    }
}

/* What is left: the file's, where that can be said; and what lies inside something that is known by now. */
static void give_the_rest(struct rs_example *d)
{
    bool alone = d->rank >= 0 && d->nranks == 1; /* nobody else's operations are in this file */
    for (uint32_t i = 0; i < d->n; i++) {
        struct rs_example_event *e = &d->events[i];
        const struct rs_example_event *around = e->parent == RS_NONE ? NULL : &d->events[e->parent];
        if (e->who != RS_EX_WHO_NONE) continue;
        bool of_thread = e->kind == RS_EX_GROUP_API || e->kind == RS_EX_GROUP || e->kind == RS_EX_PROXY_CTRL;
        bool of_host = is_call(e) || e->kind == RS_EX_LAUNCH;
        bool inherits = around && around->who != RS_EX_WHO_NONE && around->kind != RS_EX_GROUP_API &&
                        around->kind != RS_EX_GROUP && !is_op(e);
        if (inherits)
            give(e, around->comm, around->rank, RS_EX_WHO_PARENT);
        else if (d->rank >= 0 && (of_thread || (alone && (of_host || e->kind == RS_EX_CE_COLL))))
            give(e, d->comm, d->rank, RS_EX_WHO_FILE);
    }
}

enum rs_status rs_example_attribute(struct rs_example *d, struct rs_err *err)
{
    RS_TRY(list_ranks(d, err));
    give_by_nesting(d);
    RS_TRY(streams_of_groups(d, err));
    RS_TRY(streams_of_file(d, err));
    give_the_rest(d);
    return RS_OK;
}

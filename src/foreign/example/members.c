#include "foreign/example/members.h"

#include <stdlib.h>

#include "base/mix.h"
#include "base/room.h"

enum {
    MOST_RANKS = 1 << 20, /* a rank beyond that is damaged */
    LEAST_STREAM = 0x1000, /* smaller ones are the default streams: every device has its own */
};

static uint64_t key_of(uint64_t hash, int32_t rank)
{
    return rs_mix(rs_mix(hash, 2), (uint64_t)(int64_t)rank);
}

static uint32_t find(const struct rs_example_members *x, const struct rs_model *m, uint64_t hash, int32_t rank)
{
    for (uint64_t key = key_of(hash, rank);; key++) {
        const uint64_t *at = rs_map_find(&x->index, key);
        if (!at) return RS_NONE;
        const struct rs_member *r = &m->members[*at];
        if (r->rank == rank && m->comms[r->comm].hash == hash) return (uint32_t)*at;
    }
}

uint32_t rs_example_member_of(const struct rs_example_members *x, const struct rs_model *m,
                              const struct rs_example_event *e)
{
    return e->who == RS_EX_WHO_NONE || e->rank < 0 ? RS_NONE : find(x, m, e->comm, e->rank);
}

static enum rs_status add_one(struct rs_example_members *x, struct rs_model *m, uint32_t proc, uint64_t hash,
                              int32_t rank, uint32_t *member, struct rs_err *err)
{
    *member = find(x, m, hash, rank);
    if (*member != RS_NONE) return RS_OK;
    uint32_t comm;
    RS_TRY(rs_model_comm_of(m, RS_TOOL_EXAMPLE, hash, &comm, err));
    RS_TRY(rs_model_member(m, comm, member, err));
    struct rs_member *r = &m->members[*member];
    r->rank = rank;
    r->proc = proc;
    r->gpu = RS_NONE;
    r->device = -1;
    r->created = r->destroyed = RS_TIME_NONE;
    if (m->comms[comm].nranks <= rank) m->comms[comm].nranks = rank + 1;
    x->n = *member + 1 - x->first;
    uint64_t key = key_of(hash, rank);
    while (rs_map_find(&x->index, key)) key++;
    return rs_map_put(&x->index, key, *member, err);
}

static enum rs_status add_all(struct rs_example_members *x, struct rs_model *m, const struct rs_example_procs *p,
                              const struct rs_example_proc *row, uint32_t proc, struct rs_err *err)
{
    for (uint32_t k = 0; k < row->n; k++) {
        const struct rs_example *d = &p->dumps[row->dumps[k]];
        for (uint32_t i = 0; i < d->nranks; i++) {
            uint32_t member;
            if (d->ranks[i].rank < 0 || d->ranks[i].rank >= MOST_RANKS) continue;
            RS_TRY(add_one(x, m, proc, d->ranks[i].comm, d->ranks[i].rank, &member, err));
        }
    }
    x->own = malloc(((size_t)x->n + 1) * sizeof *x->own);
    if (!x->own) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < x->n; i++) x->own[i] = RS_NONE;
    for (uint32_t k = 0; k < row->n; k++) {
        const struct rs_example *d = &p->dumps[row->dumps[k]];
        uint32_t member = d->rank < 0 ? RS_NONE : find(x, m, d->comm, d->rank);
        if (member != RS_NONE) x->own[member - x->first] = row->dumps[k];
    }
    return RS_OK;
}

/* Peers are ranks of the communicator too, recorded or not. */
static void learn_sizes(const struct rs_example_members *x, struct rs_model *m, const struct rs_example *d)
{
    for (uint32_t i = 0; i < d->n; i++) {
        const struct rs_example_event *e = &d->events[i];
        int32_t peer = e->kind == RS_EX_P2P ? e->work.peer : e->kind == RS_EX_PROXY_OP ? e->proxy.peer : -1;
        uint32_t member = peer < 0 || peer >= MOST_RANKS ? RS_NONE : rs_example_member_of(x, m, e);
        if (member == RS_NONE) continue;
        struct rs_comm_row *c = &m->comms[m->members[member].comm];
        if (c->nranks <= peer) c->nranks = peer + 1;
    }
}

/* ---- devices ---- */

static uint32_t root_of(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static uint64_t stream_of(const struct rs_example_event *e)
{
    bool call = e->kind == RS_EX_COLL_API || e->kind == RS_EX_P2P_API;
    uint64_t stream = call ? e->call.stream : e->kind == RS_EX_LAUNCH ? e->launch.stream : 0;
    return stream < LEAST_STREAM ? 0 : stream;
}

static enum rs_status join_streams(const struct rs_example_members *x, const struct rs_model *m,
                                   const struct rs_example *d, struct rs_map *streams, uint32_t *parent,
                                   struct rs_err *err)
{
    for (uint32_t i = 0; i < d->n; i++) {
        uint64_t stream = stream_of(&d->events[i]), *at;
        uint32_t member = stream ? rs_example_member_of(x, m, &d->events[i]) : RS_NONE;
        if (member == RS_NONE) continue;
        RS_TRY(rs_map_at(streams, stream, member, &at, err));
        parent[root_of(parent, member - x->first)] = root_of(parent, (uint32_t)*at - x->first);
    }
    return RS_OK;
}

/* Whether no communicator has two ranks in this process. */
static enum rs_status is_single(const struct rs_example_members *x, const struct rs_model *m, bool *single,
                                struct rs_err *err)
{
    struct rs_map comms = {0};
    enum rs_status status = RS_OK;
    *single = true;
    for (uint32_t i = 0; i < x->n && *single && status == RS_OK; i++) {
        uint64_t *at;
        status = rs_map_at(&comms, m->members[x->first + i].comm, i, &at, err);
        if (status == RS_OK) *single = *at == i;
    }
    rs_map_free(&comms);
    return status;
}

static enum rs_status find_gpus(const struct rs_example_members *x, struct rs_model *m,
                                const struct rs_example_procs *p, const struct rs_example_proc *row, uint32_t *parent,
                                struct rs_err *err)
{
    static const uint8_t none[16];
    bool single;
    struct rs_map streams = {0};
    enum rs_status status = is_single(x, m, &single, err);
    for (uint32_t i = 0; i < x->n; i++) parent[i] = single ? 0 : i;
    for (uint32_t k = 0; k < row->n && !single && status == RS_OK; k++)
        status = join_streams(x, m, &p->dumps[row->dumps[k]], &streams, parent, err);
    rs_map_free(&streams);
    RS_TRY(status);
    for (uint32_t i = 0; i < x->n; i++) {
        struct rs_member *r = &m->members[x->first + i], *of = &m->members[x->first + root_of(parent, i)];
        if (of->gpu == RS_NONE) RS_TRY(rs_model_gpu(m, m->procs[r->proc].host, none, &of->gpu, err));
        r->gpu = of->gpu;
    }
    return RS_OK;
}

/* ---- lives ---- */

static void earliest(int64_t *to, int64_t ns)
{
    if (ns != RS_TIME_NONE && (*to == RS_TIME_NONE || ns < *to)) *to = ns;
}

/* The clock of the process is 0 at its first init. That was of the communicator that we hear of first. */
static enum rs_status find_lives(const struct rs_example_members *x, struct rs_model *m,
                                 const struct rs_example_procs *p, const struct rs_example_proc *row,
                                 struct rs_err *err)
{
    int64_t *heard = malloc(((size_t)x->n + 1) * sizeof *heard), soonest = RS_TIME_NONE;
    uint32_t first = RS_NONE;
    if (!heard) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < x->n; i++) heard[i] = RS_TIME_NONE;
    for (uint32_t k = 0; k < row->n; k++) {
        const struct rs_example *d = &p->dumps[row->dumps[k]];
        for (uint32_t i = 0; i < d->n; i++) {
            uint32_t member = rs_example_member_of(x, m, &d->events[i]);
            if (member != RS_NONE) earliest(&heard[member - x->first], d->events[i].begin);
        }
    }
    for (uint32_t i = 0; i < x->n; i++) {
        if (heard[i] == RS_TIME_NONE || (first != RS_NONE && heard[i] >= soonest)) continue;
        soonest = heard[i];
        first = m->members[x->first + i].comm;
    }
    for (uint32_t i = 0; i < x->n; i++) {
        struct rs_member *r = &m->members[x->first + i];
        r->created_from = RS_LIFE_FIRST_INIT;
        r->destroyed_from = RS_LIFE_LAST_SLEEP;
        if (r->comm == first) r->created = 0;
        if (x->own[i] != RS_NONE) r->destroyed = rs_example_destroyed(&p->dumps[x->own[i]]);
    }
    free(heard);
    return RS_OK;
}

enum rs_status rs_example_members_add(struct rs_example_members *x, struct rs_model *m,
                                      const struct rs_example_procs *p, const struct rs_example_proc *row,
                                      uint32_t proc, struct rs_err *err)
{
    *x = (struct rs_example_members){.first = m->nmembers};
    RS_TRY(add_all(x, m, p, row, proc, err));
    for (uint32_t k = 0; k < row->n; k++) learn_sizes(x, m, &p->dumps[row->dumps[k]]);
    uint32_t *parent = malloc(((size_t)x->n + 1) * sizeof *parent);
    if (!parent) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    enum rs_status status = find_gpus(x, m, p, row, parent, err);
    free(parent);
    RS_TRY(status);
    return find_lives(x, m, p, row, err);
}

void rs_example_members_free(struct rs_example_members *x)
{
    free(x->own);
    rs_map_free(&x->index);
    *x = (struct rs_example_members){0};
}

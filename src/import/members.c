#include "import/members.h"

#include <string.h>

/* The communicator of a number, in its nth incarnation; made if need be. */
static enum rs_status incarnation(struct rs_model *m, uint64_t hash, uint32_t nth, uint32_t *comm, struct rs_err *err)
{
    uint64_t newest = rs_map_get(&m->comm_index, hash, RS_NONE);
    if (newest == RS_NONE || m->comms[newest].incarnation < nth) return rs_model_comm(m, hash, comm, err);
    *comm = (uint32_t)newest;
    while (m->comms[*comm].incarnation != nth && *comm) /* rare: a number that was used again */
        do --*comm;
        while (*comm && m->comms[*comm].hash != hash);
    return RS_OK;
}

/* How often this process has been in the communicator at this rank before. */
static uint32_t times_before(const struct rs_model *m, uint32_t proc, uint64_t hash, int32_t rank)
{
    uint32_t n = 0;
    for (uint32_t i = m->nmembers; i-- > 0 && m->members[i].proc == proc;)
        n += m->comms[m->members[i].comm].hash == hash && m->members[i].rank == rank;
    return n;
}

static enum rs_status name_comm(struct rs_model *m, uint32_t comm, const char *name, struct rs_err *err)
{
    struct rs_comm_row *c = &m->comms[comm];
    if (c->name || !name || !*name) return RS_OK;
    c->name = rs_arena_text(&m->arena, name, strlen(name));
    return c->name ? RS_OK : rs_fail(err, RS_NO_MEMORY, "out of memory");
}

static enum rs_status add_one(struct rs_model *m, struct rs_source *s, const struct rs_comm *fact, uint32_t proc,
                              struct rs_err *err)
{
    const struct rs_fact_comm *f = &fact->fact;
    uint32_t comm, member, gpu = RS_NONE;
    if (f->comm_id)
        RS_TRY(incarnation(m, f->comm_id, times_before(m, proc, f->comm_id, f->rank), &comm, err));
    else
        RS_TRY(rs_model_comm(m, 0, &comm, err));
    struct rs_comm_row *c = &m->comms[comm];
    if (f->nranks > c->nranks) c->nranks = f->nranks;
    if (f->nnodes > c->nnodes) c->nnodes = f->nnodes;
    RS_TRY(name_comm(m, comm, fact->name, err));
    /* Without a uuid the timer is one device's of this process. */
    static const uint8_t none[16];
    for (uint32_t i = m->nmembers; i-- > 0 && m->members[i].proc == proc && gpu == RS_NONE;)
        if (m->members[i].device == f->device && !memcmp(m->members[i].uuid, f->uuid, sizeof f->uuid))
            gpu = m->members[i].gpu;
    if (gpu == RS_NONE || memcmp(f->uuid, none, sizeof none))
        RS_TRY(rs_model_gpu(m, m->procs[proc].host, f->uuid, &gpu, err));
    RS_TRY(rs_model_member(m, comm, &member, err));
    struct rs_member *x = &m->members[member];
    x->rank = f->rank;
    x->proc = proc;
    x->gpu = gpu;
    x->device = f->device;
    x->context = f->context;
    memcpy(x->uuid, f->uuid, sizeof x->uuid);
    memcpy(x->bus_id, f->bus_id, sizeof x->bus_id - 1);
    x->created = rs_clock_ns(&s->clock, fact->created_tick);
    if (fact->destroyed_tick) x->destroyed = rs_clock_ns(&s->clock, fact->destroyed_tick);
    return RS_OK;
}

enum rs_status rs_members_add(struct rs_model *m, struct rs_source *s, uint32_t proc, struct rs_err *err)
{
    for (size_t i = 0; i < s->process.ncomms; i++) RS_TRY(add_one(m, s, &s->process.comms[i], proc, err));
    return RS_OK;
}

enum rs_status rs_members_learn(struct rs_model *m, uint32_t *member, uint32_t proc, uint64_t context, uint64_t hash,
                                const char *name, int32_t rank, struct rs_err *err)
{
    if (*member != RS_NONE && (m->comms[m->members[*member].comm].hash || !hash)) {
        if (m->members[*member].rank < 0) m->members[*member].rank = rank;
        return RS_OK;
    }
    uint32_t comm;
    if (hash)
        RS_TRY(incarnation(m, hash, times_before(m, proc, hash, rank), &comm, err));
    else
        RS_TRY(rs_model_comm(m, 0, &comm, err));
    RS_TRY(name_comm(m, comm, name, err));
    if (*member == RS_NONE) {
        RS_TRY(rs_model_member(m, comm, member, err));
        m->members[*member].proc = proc;
        m->members[*member].context = context;
    }
    m->members[*member].comm = comm; /* the nameless one stays behind, without members */
    m->members[*member].rank = rank;
    return RS_OK;
}

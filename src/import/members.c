#include "import/members.h"

#include <string.h>

/* The nth incarnation of the communicator with this hash, created if necessary. */
static void incarnation(struct rs_model *m, uint64_t hash, uint32_t nth, uint32_t *comm)
{
    uint64_t newest = rs_map_get(&m->comm_index, hash, RS_NONE);
    if (newest == RS_NONE || m->comms[newest].incarnation < nth) {
        rs_model_comm(m, hash, comm);
        return;
    }
    *comm = (uint32_t)newest;
    while (m->comms[*comm].incarnation != nth && *comm) /* rare: a reused hash */
        do --*comm;
        while (*comm && m->comms[*comm].hash != hash);
}

/* How often this process was in the communicator at this rank before. */
static uint32_t times_before(const struct rs_model *m, uint32_t proc, uint64_t hash, int32_t rank)
{
    uint32_t n = 0;
    for (uint32_t i = m->nmembers; i-- > 0 && m->members[i].proc == proc;)
        n += m->comms[m->members[i].comm].hash == hash && m->members[i].rank == rank;
    return n;
}

static void name_comm(struct rs_model *m, uint32_t comm, const char *name)
{
    struct rs_comm_row *c = &m->comms[comm];
    if (c->name || !name || !*name) return;
    c->name = rs_arena_text(&m->arena, name, strlen(name));
}

static void add_one(struct rs_model *m, struct rs_source *s, const struct rs_comm *fact, uint32_t proc)
{
    const struct rs_fact_comm *f = &fact->fact;
    uint32_t comm, member, gpu = RS_NONE;
    if (f->comm_id)
        incarnation(m, f->comm_id, times_before(m, proc, f->comm_id, f->rank), &comm);
    else
        rs_model_comm(m, 0, &comm);
    struct rs_comm_row *c = &m->comms[comm];
    if (f->nranks > c->nranks) c->nranks = f->nranks;
    if (f->nnodes > c->nnodes) c->nnodes = f->nnodes;
    name_comm(m, comm, fact->name);
    /* Without a uuid the timer belongs to one device of this process. */
    static const uint8_t none[16];
    for (uint32_t i = m->nmembers; i-- > 0 && m->members[i].proc == proc && gpu == RS_NONE;)
        if (m->members[i].device == f->device && !memcmp(m->members[i].uuid, f->uuid, sizeof f->uuid))
            gpu = m->members[i].gpu;
    if (gpu == RS_NONE || memcmp(f->uuid, none, sizeof none)) rs_model_gpu(m, m->procs[proc].host, f->uuid, &gpu);
    rs_model_member(m, comm, &member);
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
}

void rs_members_add(struct rs_model *m, struct rs_source *s, uint32_t proc)
{
    for (size_t i = 0; i < s->process.ncomms; i++) add_one(m, s, &s->process.comms[i], proc);
}

void rs_members_learn(struct rs_model *m, uint32_t *member, uint32_t proc, uint64_t context, uint64_t hash,
                      const char *name, int32_t rank)
{
    if (*member != RS_NONE && (m->comms[m->members[*member].comm].hash || !hash)) {
        if (m->members[*member].rank < 0) m->members[*member].rank = rank;
        return;
    }
    uint32_t comm;
    if (hash)
        incarnation(m, hash, times_before(m, proc, hash, rank), &comm);
    else
        rs_model_comm(m, 0, &comm);
    name_comm(m, comm, name);
    if (*member == RS_NONE) {
        rs_model_member(m, comm, member);
        m->members[*member].proc = proc;
        m->members[*member].context = context;
    }
    m->members[*member].comm = comm; /* the temporary one stays, without members */
    m->members[*member].rank = rank;
}

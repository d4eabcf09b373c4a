#include "join/overlay_facts.h"

#include <inttypes.h>

#include "join/classes.h"
#include "join/ranks.h"

/* What was collected so far. */
struct gathered {
    struct rs_facts *f;
    bool any_id, read, differ; /* an id; it was in a trace; different ids of that kind */
    bool any_seq, seqs_differ;
};

static void take_name(struct rs_facts *f, const char *name)
{
    if (f->group || !name) return;
    if (!rs_group_name(name, &f->desc_len, &f->group)) f->group = NULL;
    if (f->group) f->desc = name;
}

/* An id from a trace takes precedence over a computed one. */
static void take_id(struct gathered *g, const struct rs_tag *tag)
{
    if (!tag->has_comms_id || (g->read && !tag->comms_id_read)) return;
    if (!g->any_id || (tag->comms_id_read && !g->read)) {
        g->f->comms_id = tag->comms_id;
        g->read = tag->comms_id_read;
        g->differ = false;
    }
    g->any_id = true;
    g->differ |= g->f->comms_id != tag->comms_id;
}

static void take_tag(struct gathered *g, const struct rs_tag *tag)
{
    take_id(g, tag);
    if (tag->pg_seq >= 0) {
        if (!g->any_seq) g->f->pg_seq = tag->pg_seq;
        g->seqs_differ |= g->f->pg_seq != tag->pg_seq;
        g->any_seq = true;
    }
    if (g->f->step == RS_NONE) g->f->step = tag->step;
    if (!g->f->scope) g->f->scope = tag->scope;
}

static void take_op(struct gathered *g, const struct rs_model *m, uint32_t op)
{
    const struct rs_comm_row *c = &m->comms[m->ops.comm[op]];
    g->f->tools |= 1u << c->tool;
    take_name(g->f, c->name);
    for (uint32_t i = 0; m->ntags && i < m->ops.nparts[op]; i++) {
        const struct rs_tag *tag = rs_part_tag(m, m->order[m->ops.part[op] + i]);
        if (tag) take_tag(g, tag);
    }
}

static struct gathered gather(const struct rs_model *m, uint32_t op, struct rs_facts *f)
{
    *f = (struct rs_facts){.pg_seq = -1, .step = RS_NONE};
    struct gathered g = {.f = f};
    take_op(&g, m, op);
    for (uint32_t v = m->ops.view[op]; v != RS_NONE; v = m->ops.view[v]) take_op(&g, m, v);
    /* One call of the framework may be many sends and receives. */
    uint32_t fanout = m->ops.fanout[op];
    if (m->ops.kind[op] == RS_OP_PAIR && fanout != RS_NONE && m->ops.view[op] == RS_NONE)
        for (uint32_t v = m->ops.view[fanout]; v != RS_NONE; v = m->ops.view[v]) take_op(&g, m, v);
    f->has_comms_id = g.any_id && !g.differ;
    if (g.seqs_differ) f->pg_seq = -1;
    return g;
}

void rs_facts_of_op(const struct rs_model *m, uint32_t op, struct rs_facts *f)
{
    gather(m, op, f);
    struct rs_facts comm;
    if (f->group) return;
    rs_facts_of_comm(m, m->ops.comm[op], &comm);
    f->group = comm.group;
    f->desc = comm.desc;
    f->desc_len = comm.desc_len;
}

void rs_facts_of_comm(const struct rs_model *m, uint32_t comm, struct rs_facts *f)
{
    *f = (struct rs_facts){.pg_seq = -1, .step = RS_NONE};
    f->tools = 1u << m->comms[comm].tool;
    take_name(f, m->comms[comm].name);
    for (uint32_t v = m->comms[comm].view; v != RS_NONE; v = m->comms[v].view) {
        f->tools |= 1u << m->comms[v].tool;
        take_name(f, m->comms[v].name);
    }
}

const char *rs_comm_name(const struct rs_model *m, uint32_t comm)
{
    for (uint32_t v = comm; v != RS_NONE; v = m->comms[v].view)
        if (m->comms[v].name) return m->comms[v].name;
    return NULL;
}

int32_t rs_comm_job_rank(const struct rs_model *m, uint32_t comm, int32_t rank)
{
    int32_t job = -1;
    for (uint32_t v = comm; v != RS_NONE && job < 0; v = m->comms[v].view) job = rs_job_rank(m, v, rank);
    return job;
}

enum rs_status rs_facts_check(struct rs_model *m, struct rs_err *err)
{
    uint32_t differ = 0, first = RS_NONE;
    struct rs_facts f;
    for (uint32_t i = 0; m->ntags && i < m->ops.n; i++) {
        if (m->ops.kind[i] != RS_OP_COLL || m->ops.over[i] != RS_NONE) continue;
        struct gathered g = gather(m, i, &f);
        if (!g.differ) continue;
        if (first == RS_NONE) first = i;
        differ++;
    }
    if (!differ) return RS_OK;
    return rs_model_note(m, err,
                         "%" PRIu32 " collectives have different comms ids on different ranks (the first: 0x%016" PRIx64
                         "): none is shown, and they may be joined wrongly",
                         differ, m->ops.id[first]);
}

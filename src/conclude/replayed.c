#include "conclude/replayed.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/words.h"
#include "base/memory.h"
#include "join/waits.h"

/* ---- the model ---- */

static void *copy(const void *column, uint32_t n, size_t width)
{
    void *own = rs_alloc(((size_t)n + 1) * width);
    if (n) memcpy(own, column, n * width);
    return own;
}

#define OWN(table, column) (table)->column = copy((table)->column, (table)->n, sizeof *(table)->column)

/* Columns that change are the replayed run's own. */
static void own_columns(struct rs_model *m)
{
    struct rs_parts *p = &m->parts;
    struct rs_ops *o = &m->ops;
    OWN(p, start);
    OWN(p, end);
    OWN(p, after);
    OWN(p, before);
    OWN(p, enqueued);
    OWN(p, launched);
    OWN(o, first);
    OWN(o, last);
    OWN(o, end);
    OWN(o, error);
    OWN(o, last_part);
    OWN(o, flags);
    OWN(o, over);
    m->procs = copy(m->procs, m->nprocs, sizeof *m->procs);
    m->members = copy(m->members, m->nmembers, sizeof *m->members);
}

/* What is of the recorded run only. */
static void leave_out(struct rs_model *m)
{
    m->activities.n = 0;
    m->arena = (struct rs_arena){0};
    m->notes = NULL;
    m->nnotes = m->cap_notes = 0;
    for (uint32_t i = 0; i < m->nprocs; i++) {
        m->procs[i].ngaps = m->procs[i].ncovers = 0;
        m->procs[i].overwritten_until = RS_TIME_NONE;
    }
    for (uint32_t i = 0; i < m->nmembers; i++) m->members[i].created = m->members[i].destroyed = RS_TIME_NONE;
    for (uint32_t i = 0; i < m->parts.n; i++) {
        m->parts.start[i] = m->parts.end[i] = m->parts.after[i] = m->parts.before[i] = RS_TIME_NONE;
        m->parts.enqueued[i] = m->parts.launched[i] = RS_TIME_NONE;
    }
    for (uint32_t i = 0; i < m->ops.n; i++) {
        m->ops.first[i] = m->ops.last[i] = m->ops.end[i] = RS_TIME_NONE;
        m->ops.last_part[i] = RS_NONE;
        m->ops.flags[i] &= RS_OP_MISMATCH | RS_OP_DOUBLE; /* the others are found again */
    }
}

static int64_t moved(int64_t ns, int64_t by)
{
    return ns == RS_TIME_NONE ? ns : ns + by;
}

/* The parts of a node: those of its rank in its operation. */
static void move(struct rs_model *m, const struct rs_parts *recorded, const struct rs_whatif *w, uint32_t node)
{
    const struct rs_node *x = &w->graph.nodes[node];
    uint32_t op = w->graph.ops[x->op].op;
    int64_t start = rs_time_minus(w->replay.starts[node], x->start), end = rs_time_minus(w->replay.ends[node], x->end);
    for (uint32_t k = 0; k < m->ops.nparts[op]; k++) {
        uint32_t part = m->order[m->ops.part[op] + k];
        if (recorded->member[part] != x->member) continue;
        m->parts.start[part] = moved(recorded->start[part], start);
        m->parts.end[part] = moved(recorded->end[part], end);
        m->parts.after[part] = moved(recorded->after[part], end);
        m->parts.before[part] = moved(recorded->before[part], end);
    }
}

/* ---- steps ---- */

static void find_steps(struct rs_replayed *r, const struct rs_whatif *w)
{
    uint32_t n = w->steps->n;
    r->steps = rs_alloc(((size_t)n + 1) * sizeof *r->steps);
    for (uint32_t i = 0; i < n; i++) r->steps[i] = (struct rs_replayed_step){i, RS_TIME_NONE, RS_TIME_NONE};
    for (uint32_t i = 0; i < w->graph.nnodes; i++) {
        const struct rs_node *x = &w->graph.nodes[i];
        if (x->step >= n) continue;
        struct rs_replayed_step *s = &r->steps[x->step];
        if (s->recorded == RS_TIME_NONE || x->start < s->recorded) s->recorded = x->start;
        if (s->replayed == RS_TIME_NONE || w->replay.starts[i] < s->replayed) s->replayed = w->replay.starts[i];
    }
    for (uint32_t i = 0; i < n; i++)
        if (r->steps[i].recorded != RS_TIME_NONE) r->steps[r->nsteps++] = r->steps[i];
}

void rs_replayed_init(struct rs_replayed *r, const struct rs_whatif *w)
{
    const struct rs_model *recorded = w->view->model;
    *r = (struct rs_replayed){.model = *recorded};
    own_columns(&r->model);
    leave_out(&r->model);
    for (uint32_t i = 0; i < w->graph.nnodes; i++) move(&r->model, &recorded->parts, w, i);
    rs_waits_find(&r->model);
    for (uint32_t i = 0; i < recorded->ops.n; i++) /* what was not replayed is none of its operations */
        if (r->model.ops.first[i] == RS_TIME_NONE) r->model.ops.over[i] = i;
    find_steps(r, w);
}

void rs_replayed_free(struct rs_replayed *r)
{
    struct rs_parts *p = &r->model.parts;
    struct rs_ops *o = &r->model.ops;
    void *const own[] = {p->start,     p->end,   p->after, p->before,      p->enqueued,
                         p->launched,  o->first, o->last,  o->end,         o->error,
                         o->last_part, o->flags, o->over,  r->model.procs, r->model.members};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) free(own[i]);
    free(r->model.notes);
    rs_arena_free(&r->model.arena);
    free(r->steps);
    *r = (struct rs_replayed){0};
}

/* ---- in words ---- */

void rs_whatif_say_what(struct rs_strbuf *s, const struct rs_whatif_case *x)
{
    switch (x->cure) {
    case RS_CURE_PERSISTENT:
    case RS_CURE_SPORADIC: rs_strbuf_printf(s, "all %s lateness", x->take_out); break;
    case RS_CURE_WAITS: rs_strbuf_puts(s, "all waits for others"); break;
    case RS_CURE_LINK: rs_strbuf_printf(s, "the slowness of %s", x->take_out); break;
    case RS_CURE_RANKS: rs_strbuf_printf(s, "the lateness of %s", x->take_out); break;
    default: rs_strbuf_printf(s, "%s's lateness", x->take_out); break;
    }
}

void rs_whatif_say(struct rs_strbuf *s, const struct rs_whatif *w, const struct rs_whatif_case *x)
{
    rs_strbuf_puts(s, "Without ");
    rs_whatif_say_what(s, x);
    rs_strbuf_puts(s, " the run takes ");
    rs_words_interval(s, x->saving_ns, x->saving_low_ns, x->saving_high_ns);
    rs_strbuf_puts(s, " less");
    if (w->steps_ns > 0) rs_words_share(s, 100 * (double)x->saving_ns / (double)w->steps_ns);
    rs_strbuf_puts(s, ": ");
    rs_words_ns(s, x->makespan_ns);
    rs_strbuf_puts(s, " instead of ");
    rs_words_ns(s, w->makespan_ns);
    rs_strbuf_puts(s, ".");
}

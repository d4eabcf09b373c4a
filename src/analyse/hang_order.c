#include "analyse/hang_order.h"

#include <stdlib.h>

#include "analyse/hang_words.h"

enum { MOST = 64 }; /* operations that are looked at: one is enough, and a job has few groups */

struct orders {
    uint32_t *of_proc; /* the other operation's part in each process; RS_NONE: none */
    uint32_t before, behind; /* ranks that called the other operation before this one, and behind it */
};

/* What a rank called besides; RS_NONE: not both, or this one runs already and waits for nothing before it. */
static uint32_t besides(const struct rs_hang_work *w, const struct orders *o, const struct rs_hang_rank *r)
{
    if (r->part == RS_NONE || r->member == RS_NONE) return RS_NONE;
    uint32_t other = o->of_proc[w->m->members[r->member].proc];
    return other != RS_NONE && w->state.stage[other] != RS_STAGE_ENDED ? other : RS_NONE;
}

/* A process adds its parts in the order of its calls. */
static void count(const struct rs_hang_work *w, uint32_t op, struct orders *o)
{
    const struct rs_model *m = w->m;
    for (uint32_t i = 0; i < m->nprocs; i++) o->of_proc[i] = RS_NONE;
    for (uint32_t i = 0; i < m->ops.nparts[op]; i++) {
        uint32_t part = m->order[m->ops.part[op] + i];
        o->of_proc[m->members[m->parts.member[part]].proc] = part;
    }
    o->before = o->behind = 0;
    uint32_t running = 0;
    for (uint32_t i = 0; i < w->state.nrows; i++) {
        const struct rs_hang_rank *r = &w->state.rows[i];
        uint32_t other = besides(w, o, r);
        running += r->stage == RS_STAGE_RUNNING;
        if (other == RS_NONE) continue;
        o->before += other < r->part;
        o->behind += other > r->part;
    }
    if (running == w->state.nrows) o->before = 0; /* all have started it: no order kept them from it */
}

static enum rs_status blame(struct rs_hang_work *w, uint32_t op, uint32_t other, const struct orders *o,
                            struct rs_err *err)
{
    struct rs_hang *h = w->out;
    bool odd = o->before <= o->behind; /* who called the other one first, is to blame */
    for (uint32_t i = 0; i < w->state.nrows; i++) {
        const struct rs_hang_rank *r = &w->state.rows[i];
        uint32_t part = besides(w, o, r);
        if (part == RS_NONE || (part < r->part) != odd) continue;
        h->busy[i] = part;
        RS_TRY(rs_hang_accuse(w, op, r, err));
    }
    h->verdict = RS_VERDICT_DEADLOCK;
    return odd ? rs_hang_say_cycle(h, w->m, op, other, err) : rs_hang_say_cycle(h, w->m, other, op, err);
}

enum rs_status rs_hang_look_order(struct rs_hang_work *w, uint32_t op, bool *found, struct rs_err *err)
{
    struct orders o = {.of_proc = malloc(((size_t)w->m->nprocs + 1) * sizeof *o.of_proc)};
    if (!o.of_proc) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    enum rs_status status = RS_OK;
    uint32_t looked = 0;
    for (uint32_t i = 0; i < w->nfronts && looked < MOST && !*found; i++) {
        uint32_t other = w->fronts[i].op;
        if (other == op || !w->fronts[i].stalled || w->m->ops.comm[other] == w->m->ops.comm[op]) continue;
        looked++;
        count(w, other, &o);
        if (!o.before || !o.behind) continue;
        *found = true;
        status = blame(w, op, other, &o, err);
    }
    free(o.of_proc);
    return status;
}

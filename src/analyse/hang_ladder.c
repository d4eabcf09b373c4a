#include "analyse/hang_ladder.h"

#include <stdlib.h>

#include "analyse/hang_steps.h"
#include "analyse/hang_words.h"
#include "nccl/abi.h"

/* ---- ranks ---- */

static struct rs_hang_who who_is(const struct rs_model *m, uint32_t member, int32_t comm_rank)
{
    struct rs_hang_who who = {.rank = -1, .comm_rank = comm_rank, .member = member};
    if (member != RS_NONE) who.rank = m->members[member].global_rank;
    return who;
}

/* The rank of the job of a rank without a recording: known where the communicator is a regular part of the job. */
static int32_t unseen_rank(const struct rs_model *m, uint32_t comm, int32_t rank)
{
    const struct rs_comm_row *c = &m->comms[comm];
    if (c->first_member == RS_NONE || m->members[c->first_member].global_rank < 0) return -1;
    const struct rs_member *x = &m->members[c->first_member];
    int32_t stride = c->class < m->nclasses ? m->classes[c->class].stride : 0;
    if (!stride) return -1;
    int64_t r = (int64_t)x->global_rank + ((int64_t)rank - x->rank) * stride;
    return r >= 0 && r < m->world ? (int32_t)r : -1;
}

struct rs_hang_who rs_hang_who_of(const struct rs_model *m, uint32_t op, const struct rs_hang_rank *row)
{
    struct rs_hang_who who = who_is(m, row->member, row->rank);
    if (row->member == RS_NONE) who.rank = unseen_rank(m, m->ops.comm[op], row->rank);
    return who;
}

enum rs_status rs_hang_add_who(struct rs_hang_who **list, uint32_t *n, struct rs_hang_who who, struct rs_err *err)
{
    if (!(*n & (*n - 1))) { /* room is doubled at powers of two */
        void *rows = realloc(*list, (*n ? 2 * (size_t)*n : 1) * sizeof **list);
        if (!rows) return rs_fail(err, RS_NO_MEMORY, "out of memory");
        *list = rows;
    }
    (*list)[(*n)++] = who;
    return RS_OK;
}

enum rs_status rs_hang_accuse(struct rs_hang_work *w, uint32_t op, const struct rs_hang_rank *row, struct rs_err *err)
{
    return rs_hang_add_who(&w->out->guilty, &w->out->nguilty, rs_hang_who_of(w->m, op, row), err);
}

/* ---- how long ---- */

static bool pending(const struct rs_hang_rank *r)
{
    return r->part != RS_NONE && r->stage != RS_STAGE_ENDED;
}

/* Members of one island can be compared by time. */
static uint32_t island_of(const struct rs_model *m, uint32_t member)
{
    return m->aligned ? m->domains[rs_member_host_domain(m, member)].island : 0;
}

int64_t rs_hang_last_move(const struct rs_hang_work *w)
{
    int64_t moved = RS_TIME_NONE;
    for (uint32_t i = 0; i < w->state.nrows; i++) {
        if (!pending(&w->state.rows[i])) continue;
        int64_t t = rs_hang_part_moved(&w->state, w->state.rows[i].part);
        if (t > moved) moved = t;
    }
    return moved;
}

int64_t rs_hang_waited(const struct rs_hang_work *w)
{
    int64_t least = RS_TIME_NONE; /* each by its own clock */
    for (uint32_t i = 0; i < w->state.nrows; i++) {
        const struct rs_hang_rank *r = &w->state.rows[i];
        int64_t moved = pending(r) ? rs_hang_part_moved(&w->state, r->part) : RS_TIME_NONE;
        if (moved == RS_TIME_NONE) continue;
        int64_t waited = rs_time_minus(rs_hang_member_end(w->m, r->member), moved);
        if (least == RS_TIME_NONE || waited < least) least = waited;
    }
    return least;
}

/* What an operation of this communicator may take without anything being wrong. */
int64_t rs_hang_usual(const struct rs_hang_work *w, uint32_t op)
{
    int64_t longest = w->state.longest[w->m->ops.comm[op]];
    if (longest > RS_HANG_MOST_USUAL_NS * 2 / 3) return RS_HANG_MOST_USUAL_NS;
    longest += longest / 2;
    return longest > RS_HANG_HEARTBEAT_NS ? longest : RS_HANG_HEARTBEAT_NS;
}

bool rs_hang_only_called(const struct rs_hang_work *w)
{
    for (uint32_t i = 0; i < w->state.nrows; i++) {
        enum rs_stage stage = w->state.rows[i].stage;
        if (stage == RS_STAGE_RUNNING || stage == RS_STAGE_LAUNCHED || stage == RS_STAGE_CALLED) return false;
    }
    return true;
}

static int64_t clock_error(const struct rs_model *m, uint32_t member)
{
    int64_t e = m->domains[rs_member_host_domain(m, member)].error_ns;
    return e > 0 ? e : 0;
}

/* ---- the ladder, for the operation whose rows are in w->state ---- */

/* What the waiting ranks of one island know: when anything last moved, and until when they were there. */
struct witness {
    uint32_t island;
    int64_t moved, end; /* RS_TIME_NONE: there are none */
};

static struct witness ask(const struct rs_hang_work *w, uint32_t island)
{
    const struct rs_hang_state *s = &w->state;
    struct witness all = {island, RS_TIME_NONE, RS_TIME_NONE};
    for (uint32_t i = 0; i < s->nrows; i++) {
        const struct rs_hang_rank *r = &s->rows[i];
        if (!pending(r) || island_of(w->m, r->member) != island) continue;
        int64_t moved = rs_hang_part_moved(s, r->part), end = rs_hang_member_end(w->m, r->member);
        if (moved > all.moved) all.moved = moved;
        if (end > all.end) all.end = end;
    }
    return all;
}

/* Ranks whose process was gone while the others still waited, if that is why they wait: a job that hangs is killed in
 * the end, and not everywhere at once. */
enum rs_status rs_hang_look_dead(struct rs_hang_work *w, uint32_t op, bool *found, struct rs_err *err)
{
    const struct rs_model *m = w->m;
    const struct rs_hang_state *s = &w->state;
    int64_t patience = rs_hang_usual(w, op);
    struct witness all = {.island = RS_NONE};
    if (patience < RS_HANG_SILENCE_NS) patience = RS_HANG_SILENCE_NS;
    for (uint32_t i = 0; i < s->nrows; i++) {
        const struct rs_hang_rank *r = &s->rows[i];
        if (r->member == RS_NONE || r->stage == RS_STAGE_ENDED) continue;
        const struct rs_proc *p = &m->procs[m->members[r->member].proc];
        if (p->ended != RS_END_KILLED) continue;
        if (all.island != island_of(m, r->member)) all = ask(w, island_of(m, r->member));
        if (all.end == RS_TIME_NONE) continue;
        if (rs_time_minus(all.end, p->end) <= RS_HANG_HEARTBEAT_NS + clock_error(m, r->member)) continue;
        if (all.moved != RS_TIME_NONE && rs_time_minus(p->end, all.moved) > patience) continue; /* was stuck before */
        RS_TRY(rs_hang_accuse(w, op, r, err));
        *found = true;
    }
    if (*found) w->out->verdict = RS_VERDICT_RANK_DEAD;
    return RS_OK;
}

uint32_t rs_hang_kept_by(const struct rs_hang_work *w, uint32_t op, const struct rs_hang_rank *r)
{
    uint32_t busy = w->state.busy[w->state.places.of[r->member]];
    if (busy == RS_NONE || w->m->parts.op[busy] == op || w->m->parts.op[busy] == RS_NONE) return RS_NONE;
    /* A launched kernel only waits for those that run. */
    if (r->stage == RS_STAGE_LAUNCHED && w->state.stage[busy] != RS_STAGE_RUNNING &&
        w->state.stage[busy] != RS_STAGE_ENTERED)
        return RS_NONE;
    if (r->part != RS_NONE && w->m->parts.launch[r->part] && w->m->parts.launch[r->part] == w->m->parts.launch[busy])
        return RS_NONE;
    return busy;
}

bool rs_hang_not_started(enum rs_stage stage)
{
    return stage == RS_STAGE_ABSENT || stage == RS_STAGE_CALLED || stage == RS_STAGE_LAUNCHED;
}

/* All that is in the way and is kept by nothing else: those that did not come, else those whose kernel did not start. */
enum rs_status rs_hang_look_not_started(struct rs_hang_work *w, uint32_t op, bool *found, struct rs_err *err)
{
    const struct rs_hang_state *s = &w->state;
    for (int launched = 0; launched < 2 && !*found; launched++) {
        for (uint32_t i = 0; i < s->nrows; i++) {
            const struct rs_hang_rank *r = &s->rows[i];
            if (!rs_hang_not_started(r->stage) || (r->stage == RS_STAGE_LAUNCHED) != launched) continue;
            if (rs_hang_kept_by(w, op, r) != RS_NONE) continue;
            RS_TRY(rs_hang_accuse(w, op, r, err));
            *found = true;
        }
        if (*found) w->out->verdict = launched ? RS_VERDICT_STREAM_BLOCKED : RS_VERDICT_NOT_JOINED;
    }
    return RS_OK;
}

enum rs_status rs_hang_look_mismatch(struct rs_hang_work *w, uint32_t op, bool *found, struct rs_err *err)
{
    const struct rs_hang_state *s = &w->state;
    if (!(w->m->ops.flags[op] & RS_OP_MISMATCH)) return RS_OK;
    for (uint32_t i = 0; i < s->nrows; i++)
        if (s->rows[i].stage == RS_STAGE_ABSENT) return RS_OK; /* that comes first */
    for (uint32_t i = 0; i < s->nrows; i++)
        if (s->rows[i].part != RS_NONE && (w->m->parts.flags[s->rows[i].part] & RS_PART_MISMATCH))
            RS_TRY(rs_hang_accuse(w, op, &s->rows[i], err));
    w->out->verdict = RS_VERDICT_MISMATCH;
    *found = true;
    return RS_OK;
}

/* Everybody is in it. */
enum rs_status rs_hang_look_stalled(struct rs_hang_work *w, uint32_t op, struct rs_err *err)
{
    const struct rs_hang_state *s = &w->state;
    struct rs_hang *h = w->out;
    struct rs_stalled stalled;
    RS_TRY(rs_hang_steps(w->m, op, &stalled, err));
    h->verdict = RS_VERDICT_STALLED_STEP;
    h->step = stalled.step;
    h->state = stalled.state;
    h->channel = stalled.channel;
    bool told = stalled.kind != RS_STALL_NONE && stalled.kind != RS_STALL_SOMEWHERE, dark = false;
    for (uint32_t i = 0; i < s->nrows && told; i++) {
        /* What was not recorded is not held against a rank, nor what only the other end could explain. */
        const struct rs_hang_rank *r = &s->rows[i];
        bool needed =
            r->rank == stalled.rank || (r->rank == stalled.peer && stalled.state == RS_ST_STEP_SEND_PEER_WAIT);
        dark |= needed && r->stage == RS_STAGE_NOT_RECORDED;
    }
    for (uint32_t i = 0; i < s->nrows && told; i++) {
        const struct rs_hang_rank *r = &s->rows[i];
        if (r->rank == stalled.rank && !dark) RS_TRY(rs_hang_accuse(w, op, r, err));
        if (r->rank == stalled.peer) h->peer = rs_hang_who_of(w->m, op, r);
    }
    uint32_t ended = 0, running = 0;
    for (uint32_t i = 0; i < s->nrows; i++) {
        ended += s->rows[i].stage == RS_STAGE_ENDED;
        running += s->rows[i].stage == RS_STAGE_RUNNING;
    }
    /* No network: where most ranks are done, those that are not have the trouble. */
    for (uint32_t i = 0; i < s->nrows && stalled.kind == RS_STALL_NONE && ended > running; i++)
        if (s->rows[i].stage == RS_STAGE_RUNNING) RS_TRY(rs_hang_accuse(w, op, &s->rows[i], err));
    return rs_hang_say_stalled(h, w->m, &stalled, err);
}

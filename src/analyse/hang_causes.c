#include "analyse/hang_causes.h"

#include <stdlib.h>

#include "analyse/hang_equals.h"
#include "analyse/hang_flight.h"
#include "analyse/hang_rows.h"
#include "analyse/hang_steps.h"
#include "analyse/hang_words.h"
#include "base/memory.h"
#include "nccl/abi.h"

/* ---- ranks ---- */

struct rs_hang_who rs_hang_who_of(const struct rs_model *m, uint32_t op, const struct rs_hang_rank *row)
{
    int32_t rank =
        row->member != RS_NONE ? m->members[row->member].global_rank : rs_job_rank(m, m->ops.comm[op], row->rank);
    return (struct rs_hang_who){.rank = rank, .comm_rank = row->rank, .member = row->member};
}

void rs_hang_add_who(struct rs_hang_who **list, uint32_t *n, struct rs_hang_who who)
{
    if (!(*n & (*n - 1))) { /* room is doubled at powers of two */
        void *rows = rs_realloc(*list, (*n ? 2 * (size_t)*n : 1) * sizeof **list);
        *list = rows;
    }
    (*list)[(*n)++] = who;
}

void rs_hang_accuse(struct rs_hang_work *w, uint32_t op, const struct rs_hang_rank *row)
{
    rs_hang_add_who(&w->now.guilty, &w->now.nguilty, rs_hang_who_of(w->m, op, row));
}

bool rs_hang_is_accused(const struct rs_hang_work *w, uint32_t member)
{
    return member != RS_NONE && rs_map_find(&w->accused, rs_hang_rank_of(w->m, member)) != NULL;
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

/* ---- the questions, of the operation whose rows are in w->state ---- */

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
void rs_hang_note_dead(struct rs_hang_work *w, uint32_t op)
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
        if (p->ended != RS_END_KILLED && p->ended != RS_END_REPLACED) continue;
        if (all.island != island_of(m, r->member)) all = ask(w, island_of(m, r->member));
        if (all.end == RS_TIME_NONE) continue;
        if (rs_time_minus(all.end, p->end) <= RS_HANG_HEARTBEAT_NS + clock_error(m, r->member)) continue;
        if (all.moved != RS_TIME_NONE && rs_time_minus(p->end, all.moved) > patience) continue; /* was stuck before */
        w->dead[m->members[r->member].proc] = RS_DEATH_NOTED;
    }
}

/* A rank that waits for a dead one fails as well, and soon: with deaths of ranks that nothing held, those of others are
 * their consequence; else all but the first. A host that was lost took all its ranks. */
void rs_hang_judge_dead(struct rs_hang_work *w)
{
    const struct rs_model *m = w->m;
    bool free_ones = false;
    uint8_t *busy = rs_zalloc((size_t)m->nprocs + 1, sizeof *busy), *alive = rs_zalloc((size_t)m->nhosts + 1, 1);
    for (uint32_t i = 0; i < m->nmembers; i++)
        if (w->state.busy[rs_hang_rank_of(m, i)] != RS_NONE) busy[m->members[i].proc] = 1;
    for (uint32_t p = 0; p < m->nprocs; p++) free_ones |= w->dead[p] && !busy[p];
    for (uint32_t p = 0; p < m->nprocs; p++) {
        if (!w->dead[p] || (free_ones && busy[p])) continue;
        if (w->died == RS_TIME_NONE || m->procs[p].end < w->died) w->died = m->procs[p].end;
    }
    uint32_t hosts = 0;
    for (uint32_t p = 0; p < m->nprocs; p++) {
        bool gone = w->dead[p] && rs_time_minus(m->procs[p].end, w->died) <= RS_HANG_HEARTBEAT_NS;
        if (!gone && m->procs[p].same == RS_NONE) alive[m->procs[p].host] = 1;
    }
    for (uint32_t h = 0; h < m->nhosts; h++) hosts += alive[h];
    for (uint32_t p = 0; p < m->nprocs; p++) {
        if (!w->dead[p]) continue;
        bool first = rs_time_minus(m->procs[p].end, w->died) <= RS_HANG_HEARTBEAT_NS && !(free_ones && busy[p]);
        bool host = hosts && !alive[m->procs[p].host];
        if (first || host || (free_ones && !busy[p])) w->dead[p] = RS_DEATH_CAUSE;
    }
    free(busy);
    free(alive);
}

bool rs_hang_look_dead(struct rs_hang_work *w, uint32_t op)
{
    for (uint32_t i = 0; i < w->state.nrows; i++) {
        const struct rs_hang_rank *r = &w->state.rows[i];
        if (r->member == RS_NONE || r->stage == RS_STAGE_ENDED) continue;
        if (w->dead[w->m->members[r->member].proc] == RS_DEATH_CAUSE) rs_hang_accuse(w, op, r);
    }
    w->now.verdict = w->now.nguilty ? RS_VERDICT_RANK_DEAD : RS_VERDICT_NONE;
    return w->now.nguilty;
}

/* How likely a pending call of a dump holds its rank: sends and receives are often left to themselves. */
static int hold_of(const struct rs_parts *t, uint32_t part)
{
    return t->kind[part] == RS_PART_COLL ? 2 : t->kind[part] == RS_PART_RECV;
}

/* Of dumps: calls of a process are in order, so what it called before, and is pending, comes first. A rank that has not
 * called the operation is held by the first of its pending calls, unless those did not hold an equal rank. */
static uint32_t kept_in_dump(const struct rs_hang_work *w, uint32_t op, const struct rs_hang_rank *r)
{
    const struct rs_hang_state *s = &w->state;
    const struct rs_parts *t = &w->m->parts;
    uint32_t best = RS_NONE;
    if (r->part == RS_NONE && rs_hang_is_passed(s, rs_hang_rank_of(w->m, r->member))) return RS_NONE;
    for (uint32_t x = s->of_rank[rs_hang_rank_of(w->m, r->member)]; x != RS_NONE; x = s->of_rank_next[x]) {
        uint32_t part = s->first[x];
        if (part == RS_NONE || t->op[part] == op || t->op[part] == RS_NONE) continue;
        if (w->m->members[x].proc != w->m->members[r->member].proc) continue;
        bool called = r->part != RS_NONE;
        if (called && (part > r->part || t->launch[part] == t->launch[r->part] || t->kind[part] == RS_PART_SEND))
            continue;
        if (best != RS_NONE && hold_of(t, part) < hold_of(t, best)) continue;
        if (best != RS_NONE && hold_of(t, part) == hold_of(t, best) && part > best) continue;
        best = part;
    }
    return best;
}

uint32_t rs_hang_kept_by(const struct rs_hang_work *w, uint32_t op, const struct rs_hang_rank *r)
{
    if (rs_hang_has_states(w->m, w->m->ops.comm[op])) return kept_in_dump(w, op, r);
    uint32_t busy = w->state.busy[rs_hang_rank_of(w->m, r->member)];
    if (busy == RS_NONE || w->m->parts.op[busy] == op || w->m->parts.op[busy] == RS_NONE) return RS_NONE;
    /* A launched kernel only waits for those that run. */
    if (r->stage == RS_STAGE_LAUNCHED && w->state.stage[busy] != RS_STAGE_RUNNING &&
        w->state.stage[busy] != RS_STAGE_ENTERED)
        return RS_NONE;
    if (r->part != RS_NONE && w->m->parts.launch[r->part] && w->m->parts.launch[r->part] == w->m->parts.launch[busy])
        return RS_NONE;
    if (r->part == RS_NONE && rs_hang_is_passed(&w->state, rs_hang_rank_of(w->m, r->member))) return RS_NONE;
    return busy;
}

/* Fronts that run come first. Pairs are left out: their records differ by more than a number. */
bool rs_hang_may_be_elsewhere(const struct rs_hang_work *w, uint32_t op, const struct rs_hang_rank *r)
{
    const struct rs_model *m = w->m;
    const struct rs_hang_state *s = &w->state;
    if (r->member == RS_NONE || m->procs[m->members[r->member].proc].complete) return false;
    for (uint32_t i = 0; i < w->nfronts && w->fronts[i].running; i++) {
        uint32_t other = w->fronts[i].op;
        if (other == op || m->ops.kind[other] != RS_OP_COLL) continue;
        uint64_t key = (uint64_t)rs_hang_rank_of(m, r->member) << 32 | m->ops.comm[other];
        uint32_t member = (uint32_t)rs_map_get(&s->here, key, RS_NONE);
        if (member == RS_NONE) continue;
        if (rs_presence(&s->presence, m, other, m->members[member].rank) == RS_NOT_RECORDED) return true;
    }
    return false;
}

bool rs_hang_not_started(enum rs_stage stage)
{
    return stage == RS_STAGE_ABSENT || stage == RS_STAGE_CALLED || stage == RS_STAGE_LAUNCHED;
}

/* Whether what a rank does not do follows from a death: its own, that of a rank it left behind, or of its peer. */
static bool is_consequence(const struct rs_hang_work *w, const struct rs_hang_rank *r)
{
    uint32_t proc = w->m->members[r->member].proc;
    if (w->died == RS_TIME_NONE) return false;
    return w->dead[proc] || rs_hang_closed(&w->m->procs[proc]) || r->stage == RS_STAGE_LAUNCHED;
}

/* Ranks that others wait for and that nothing else holds: those that did not call it, else those whose kernel did not
 * start. */
bool rs_hang_look_not_started(struct rs_hang_work *w, uint32_t op, int64_t least)
{
    const struct rs_hang_state *s = &w->state;
    int64_t since = least ? rs_hang_last_move(w) : 0;
    for (int launched = 0; launched < 2; launched++) {
        for (uint32_t i = 0; i < s->nrows; i++) {
            const struct rs_hang_rank *r = &s->rows[i];
            if (!rs_hang_not_started(r->stage) || (r->stage == RS_STAGE_LAUNCHED) != launched) continue;
            if (rs_hang_kept_by(w, op, r) != RS_NONE || rs_hang_may_be_elsewhere(w, op, r)) continue;
            if (rs_time_minus(rs_hang_member_end(w->m, r->member), since) < least || is_consequence(w, r)) continue;
            rs_hang_accuse(w, op, r);
        }
        if (!w->now.nguilty) continue;
        w->now.verdict = launched ? RS_VERDICT_STREAM_BLOCKED : RS_VERDICT_NOT_JOINED;
        return true;
    }
    return false;
}

/* Where no side has more ranks, equal ranks say which one is right. */
static void accuse_odd(struct rs_hang_work *w, uint32_t op, uint32_t called)
{
    const struct rs_hang_state *s = &w->state;
    uint32_t usual = rs_hang_usual_call(s, op), odd = 0;
    for (uint32_t i = 0; i < s->nrows && usual != RS_NONE; i++)
        odd += s->rows[i].part != RS_NONE && !rs_hang_same_call(w->m, s->rows[i].part, usual);
    w->now.undecided = !odd || odd == called;
    for (uint32_t i = 0; i < s->nrows; i++) {
        uint32_t part = s->rows[i].part;
        if (part == RS_NONE) continue;
        if (w->now.undecided || !rs_hang_same_call(w->m, part, usual)) rs_hang_accuse(w, op, &s->rows[i]);
    }
}

/* The fewer of those who called it, where others have not. */
bool rs_hang_look_marked(struct rs_hang_work *w, uint32_t op)
{
    const struct rs_hang_state *s = &w->state;
    uint32_t called = 0;
    if (!(w->m->ops.flags[op] & RS_OP_MISMATCH)) return false;
    for (uint32_t i = 0; i < s->nrows; i++) {
        if (s->rows[i].part == RS_NONE) continue;
        called++;
        if (w->m->parts.flags[s->rows[i].part] & RS_PART_MISMATCH) rs_hang_accuse(w, op, &s->rows[i]);
    }
    if (2 * w->now.nguilty >= called) w->now.nguilty = 0;
    w->now.verdict = w->now.nguilty ? RS_VERDICT_MISMATCH : RS_VERDICT_NONE;
    return w->now.nguilty;
}

bool rs_hang_look_mismatch(struct rs_hang_work *w, uint32_t op)
{
    const struct rs_hang_state *s = &w->state;
    uint32_t called = 0, marked = 0;
    if (!(w->m->ops.flags[op] & RS_OP_MISMATCH)) return false;
    for (uint32_t i = 0; i < s->nrows; i++) {
        if (s->rows[i].stage == RS_STAGE_ABSENT) return false; /* that comes first */
        called += s->rows[i].part != RS_NONE;
        marked += s->rows[i].part != RS_NONE && (w->m->parts.flags[s->rows[i].part] & RS_PART_MISMATCH);
    }
    uint64_t in, out;
    if (marked == called && !rs_hang_sums(w->m, op, &in, &out))
        accuse_odd(w, op, called);
    else
        for (uint32_t i = 0; i < s->nrows; i++)
            if (s->rows[i].part != RS_NONE && (w->m->parts.flags[s->rows[i].part] & RS_PART_MISMATCH))
                rs_hang_accuse(w, op, &s->rows[i]);
    w->now.verdict = RS_VERDICT_MISMATCH;
    return true;
}

/* Whether a rank that has not called the operation called another collective that none of those in it has. */
static uint32_t called_instead(const struct rs_hang_work *w, uint32_t op, const struct rs_hang_rank *r)
{
    const struct rs_model *m = w->m;
    if (r->stage != RS_STAGE_ABSENT || r->member == RS_NONE) return RS_NONE;
    uint32_t part = w->state.latest[r->member], other = part == RS_NONE ? RS_NONE : m->parts.op[part];
    if (other == RS_NONE || other == op || m->ops.kind[other] != RS_OP_COLL || m->ops.captured[other]) return RS_NONE;
    if (!m->procs[m->members[r->member].proc].complete) return RS_NONE;
    for (uint32_t i = 0; i < m->ops.nparts[other]; i++) { /* all of them are out of step with those in the operation */
        uint32_t x = m->parts.member[m->order[m->ops.part[other] + i]];
        int32_t rank = m->members[x].rank;
        if (rank < 0 || (uint32_t)rank >= w->state.nrows || w->state.rows[rank].stage != RS_STAGE_ABSENT)
            return RS_NONE;
    }
    return part;
}

static bool is_in(const struct rs_model *m, uint32_t op, int32_t rank)
{
    for (uint32_t i = 0; i < m->ops.nparts[op]; i++)
        if (m->members[m->parts.member[m->order[m->ops.part[op] + i]]].rank == rank) return true;
    return false;
}

bool rs_hang_look_instead(struct rs_hang_work *w, uint32_t *op)
{
    const struct rs_model *m = w->m;
    const struct rs_hang_state *s = &w->state;
    uint32_t other = RS_NONE, here = 0, there = 0;
    if (m->ops.kind[*op] != RS_OP_COLL || m->ops.captured[*op]) return false;
    for (uint32_t i = 0; i < s->nrows; i++) {
        uint32_t part = called_instead(w, *op, &s->rows[i]);
        there += part != RS_NONE;
        if (part != RS_NONE && other == RS_NONE) other = m->parts.op[part];
        if (s->rows[i].part == RS_NONE) continue;
        here++;
        if (!m->procs[m->members[s->rows[i].member].proc].complete) return false;
    }
    if (other == RS_NONE || !here) return false;
    here += rs_hang_equal_calls(s, *op);
    there += rs_hang_equal_calls(s, other);
    if (there > here) { /* as seen from what most called */
        uint32_t odd = *op;
        *op = other;
        other = odd;
        rs_hang_rows_find(&w->state, *op);
    }
    for (uint32_t i = 0; i < s->nrows; i++)
        if (there > here ? s->rows[i].part == RS_NONE && is_in(m, other, s->rows[i].rank)
                         : called_instead(w, *op, &s->rows[i]) != RS_NONE)
            rs_hang_accuse(w, *op, &s->rows[i]);
    w->now.verdict = RS_VERDICT_MISMATCH;
    w->now.undecided = here == there;
    rs_hang_say_instead(w, other, *op);
    return true;
}

/* Whether it is unknown how far a rank came: nothing was recorded, or not all. */
static bool is_dark(const struct rs_model *m, const struct rs_hang_rank *r)
{
    if (r->stage == RS_STAGE_NOT_RECORDED) return true;
    return r->stage == RS_STAGE_ENTERED && !m->procs[m->members[r->member].proc].complete;
}

static uint32_t host_of(const struct rs_model *m, const struct rs_hang_rank *r)
{
    return r->member == RS_NONE ? RS_NONE : m->procs[m->members[r->member].proc].host;
}

/* Whether a rank may be on a host: one without a recording is taken to be where a neighbour is. */
static bool may_be_on(const struct rs_hang_work *w, uint32_t row, uint32_t host)
{
    const struct rs_hang_state *s = &w->state;
    if (s->rows[row].member != RS_NONE) return host_of(w->m, &s->rows[row]) == host;
    uint32_t before = row, after = row;
    while (before > 0 && s->rows[before].member == RS_NONE) before--;
    while (after + 1 < s->nrows && s->rows[after].member == RS_NONE) after++;
    return host_of(w->m, &s->rows[before]) == host || host_of(w->m, &s->rows[after]) == host;
}

/* Whether what was not recorded could explain why a step does not go on. It is not held against a rank. */
static bool is_unexplained(const struct rs_hang_work *w, const struct rs_stalled *st)
{
    const struct rs_hang_state *s = &w->state;
    bool fed_inside = st->kind == RS_STALL_GPU && st->is_send && !st->fed; /* by ranks of its host */
    uint32_t host = RS_NONE;
    for (uint32_t i = 0; i < s->nrows; i++)
        if (s->rows[i].rank == st->rank) host = host_of(w->m, &s->rows[i]);
    bool dark = st->unsure;
    for (uint32_t i = 0; i < s->nrows && !dark; i++) {
        const struct rs_hang_rank *r = &s->rows[i];
        dark |= r->rank == st->rank && r->stage == RS_STAGE_NOT_RECORDED;
        dark |= r->rank == st->peer && st->state == RS_ST_STEP_SEND_PEER_WAIT && is_dark(w->m, r);
        bool hidden = r->stage == RS_STAGE_UNSEEN || is_dark(w->m, r);
        dark |= fed_inside && host != RS_NONE && hidden && may_be_on(w, i, host);
    }
    return dark;
}

/* Every rank is in it. */
void rs_hang_look_stalled(struct rs_hang_work *w, uint32_t op)
{
    const struct rs_hang_state *s = &w->state;
    struct rs_hang_finding *h = &w->now;
    struct rs_stalled stalled;
    rs_hang_steps(w->m, op, &stalled);
    h->verdict = RS_VERDICT_STALLED_STEP;
    h->step = stalled.step;
    h->state = stalled.state;
    h->channel = stalled.channel;
    bool located = stalled.kind != RS_STALL_NONE && stalled.kind != RS_STALL_SOMEWHERE;
    bool dark = located && is_unexplained(w, &stalled);
    bool unseen = false;
    for (uint32_t i = 0; i < s->nrows; i++) unseen |= s->rows[i].member == RS_NONE;
    for (uint32_t i = 0; i < s->nrows && located; i++) {
        const struct rs_hang_rank *r = &s->rows[i];
        /* What the data waits for may be a rank without a recording: then no other is accused. */
        bool accused = r->rank == stalled.rank && !dark && (!unseen || r->member == RS_NONE);
        if (accused) rs_hang_accuse(w, op, r);
        h->undecided |= accused && unseen;
        if (r->rank == stalled.peer) h->peer = rs_hang_who_of(w->m, op, r);
    }
    uint32_t ended = 0, running = 0;
    for (uint32_t i = 0; i < s->nrows; i++) {
        ended += s->rows[i].stage == RS_STAGE_ENDED;
        running += s->rows[i].stage == RS_STAGE_RUNNING;
    }
    /* No network: where most ranks are done, the others are to blame. */
    for (uint32_t i = 0; i < s->nrows && stalled.kind == RS_STALL_NONE && ended > running; i++)
        if (s->rows[i].stage == RS_STAGE_RUNNING) rs_hang_accuse(w, op, &s->rows[i]);
    rs_hang_say_stalled(w, &stalled);
}

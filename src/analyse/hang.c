#include "analyse/hang.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/hang_causes.h"
#include "analyse/hang_equals.h"
#include "analyse/hang_flight.h"
#include "analyse/hang_health.h"
#include "analyse/hang_phrases.h"
#include "analyse/hang_rows.h"
#include "analyse/hang_words.h"
#include "base/bisect.h"
#include "base/memory.h"
#include "base/room.h"
#include "join/flow.h"
#include "nccl/abi.h"

const char *rs_verdict_name(enum rs_verdict v)
{
    static const char *const names[] = {[RS_VERDICT_NONE] = "NONE",
                                        [RS_VERDICT_UNKNOWN] = "UNKNOWN",
                                        [RS_VERDICT_RANK_DEAD] = "RANK_DEAD",
                                        [RS_VERDICT_NOT_JOINED] = "NOT_JOINED",
                                        [RS_VERDICT_MISMATCH] = "MISMATCH",
                                        [RS_VERDICT_STREAM_BLOCKED] = "STREAM_BLOCKED",
                                        [RS_VERDICT_STALLED_STEP] = "STALLED_STEP",
                                        [RS_VERDICT_DEADLOCK] = "DEADLOCK",
                                        [RS_VERDICT_OUTSIDE_NCCL] = "OUTSIDE_NCCL"};
    return names[v];
}

static void finding_init(struct rs_hang_finding *f)
{
    *f = (struct rs_hang_finding){.op = RS_NONE,
                                  .comm = RS_NONE,
                                  .seq = UINT64_MAX,
                                  .peer = {-1, -1, RS_NONE},
                                  .step = -1,
                                  .state = -1,
                                  .channel = -1,
                                  .since = RS_TIME_NONE};
}

static void finding_free(struct rs_hang_finding *f)
{
    free(f->guilty);
    free(f->suspects);
    free(f->waiting);
    free(f->rows);
    free(f->busy);
    free(f->last);
    finding_init(f);
}

void rs_hang_free(struct rs_hang *h)
{
    for (uint32_t i = 0; i < h->nfindings; i++) finding_free(&h->findings[i]);
    free(h->findings);
    free(h->unseen);
    free(h->conclusion);
    free(h->stage);
    rs_arena_free(&h->arena);
    *h = (struct rs_hang){0};
}

bool rs_hang_is_guilty(const struct rs_hang_finding *f, int32_t comm_rank)
{
    uint32_t low = 0, high = f->nguilty;
    if (f->nguilty == 2 && f->guilty[0].comm_rank == comm_rank) return true; /* a pair: by direction, not by rank */
    RS_BISECT(low, high, mid, f->guilty[mid].comm_rank < comm_rank);
    if (low == f->nguilty && low) low--;
    return low < f->nguilty && f->guilty[low].comm_rank == comm_rank;
}

/* Whether a health service is all that knows a rank. */
static bool is_counted_only(const struct rs_model *m, uint32_t rank)
{
    for (uint8_t tool = 0; tool < RS_TOOLS; tool++)
        if ((m->ranks[rank].tools >> tool & 1) && !rs_tool_has(tool, RS_CAP_HEALTH)) return false;
    return true;
}

/* Ranks of the job without a recording: missing in the communicator of all ranks, or in the launcher's count. */
static void find_unseen(struct rs_hang_work *w)
{
    const struct rs_model *m = w->m;
    if (m->world <= 0 || m->world > RS_HANG_MOST_RANKS) return;
    uint8_t *seen = rs_zalloc((size_t)m->world, 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->nranks; i++) {
        int32_t r = m->ranks[i].number;
        if (is_counted_only(m, i)) continue;
        if (r >= 0 && r < m->world && !seen[r]) seen[r] = 1, n++;
    }
    uint32_t missing = n ? (uint32_t)m->world - n : 0; /* without ranks of the job nothing can be said */
    w->out->unseen = rs_alloc((missing ? missing : 1) * sizeof *w->out->unseen);
    for (int32_t r = 0; missing && r < m->world; r++)
        if (!seen[r]) w->out->unseen[w->out->nunseen++] = r;
    free(seen);
}

/* ---- the operations to begin with ---- */

static int by_since(const void *a, const void *b)
{
    const struct rs_hang_front *x = a, *y = b;
    if (x->loose != y->loose) return x->loose ? 1 : -1;
    if (x->running != y->running) return x->running ? -1 : 1;
    if (x->since != y->since) return x->since < y->since ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static void add_front(struct rs_hang_work *w, uint32_t part)
{
    const struct rs_model *m = w->m;
    uint32_t op = m->parts.op[part];
    if (op == RS_NONE || m->ops.comm[op] == RS_NONE) return;
    uint64_t *at;
    rs_map_at(&w->index, op, w->nfronts, &at);
    int64_t since = rs_hang_part_since(m, part);
    bool running = w->state.stage[part] == RS_STAGE_RUNNING;
    bool loose = m->ops.kind[op] != RS_OP_COLL && rs_hang_has_states(m, m->ops.comm[op]);
    if (*at == w->nfronts) {
        RS_ROOM(w->fronts, w->nfronts, w->cap_fronts);
        w->fronts[w->nfronts++] = (struct rs_hang_front){.op = op, .since = since, .running = running, .loose = loose};
    }
    struct rs_hang_front *f = &w->fronts[*at];
    if (running != f->running ? running : since != RS_TIME_NONE && (f->since == RS_TIME_NONE || since < f->since))
        f->since = since;
    f->running |= running;
}

/* The first pending operation of each rank, and what was launched with it: sends and receives of a group share a
 * kernel, which ends when the last of them does. */
static void find_fronts(struct rs_hang_work *w)
{
    const struct rs_parts *t = &w->m->parts;
    const struct rs_hang_state *s = &w->state;
    for (uint32_t x = 0; x < w->m->nmembers; x++) {
        uint32_t first = s->first[x];
        for (uint32_t part = first; part < t->n && part != RS_NONE; part++) {
            bool together = part == first || (t->launch[first] && t->launch[part] == t->launch[first]);
            if (t->member[part] != x || !together) break;
            if (s->stage[part] != RS_STAGE_ENDED) add_front(w, part);
        }
    }
    if (!w->nfronts) return;
    qsort(w->fronts, w->nfronts, sizeof *w->fronts, by_since);
    for (uint32_t i = 0; i < w->nfronts; i++) rs_map_put(&w->index, w->fronts[i].op, i);
    w->path = rs_zalloc((size_t)w->nfronts + 1, sizeof *w->path);
}

/* ---- findings ---- */

/* What a rank of the operation is in instead; RS_NONE: it is here, or in nothing. One that lost records here and runs
 * elsewhere is likely not here. In dumps a call that was made may wait for one that was made before it. */
static uint32_t strays_to(const struct rs_hang_work *w, uint32_t op, const struct rs_hang_rank *r)
{
    if (r->member == RS_NONE) return RS_NONE;
    if (r->stage == RS_STAGE_NOT_RECORDED) {
        uint32_t busy = rs_hang_kept_by(w, op, r);
        return busy != RS_NONE && w->state.stage[busy] == RS_STAGE_RUNNING ? busy : RS_NONE;
    }
    bool queued = r->stage == RS_STAGE_ENTERED && rs_hang_has_states(w->m, w->m->ops.comm[op]);
    return queued || rs_hang_not_started(r->stage) ? rs_hang_kept_by(w, op, r) : RS_NONE;
}

/* The current rows become the evidence of the current finding. */
static void keep_rows(struct rs_hang_work *w, uint32_t op)
{
    struct rs_hang_finding *f = &w->now;
    const struct rs_hang_state *s = &w->state;
    size_t n = s->nrows ? s->nrows : 1;
    f->rows = rs_alloc(n * sizeof *f->rows);
    f->busy = rs_alloc(n * sizeof *f->busy);
    f->last = rs_alloc(n * sizeof *f->last);
    f->op = op;
    f->comm = w->m->ops.comm[op];
    f->since = rs_hang_last_move(w);
    f->nrows = s->nrows;
    for (uint32_t i = 0; i < s->nrows; i++) {
        const struct rs_hang_rank *r = &s->rows[i];
        f->rows[i] = *r;
        f->busy[i] = strays_to(w, op, r);
        f->last[i] = r->member == RS_NONE ? RS_NONE : s->last[rs_hang_rank_of(w->m, r->member)];
        if (r->stage == RS_STAGE_RUNNING || r->stage == RS_STAGE_ENTERED)
            rs_hang_add_who(&f->waiting, &f->nwaiting, rs_hang_who_of(w->m, op, r));
    }
}

/* Those who are to blame do not count as waiting. */
static void drop_guilty(struct rs_hang_finding *f)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->nwaiting; i++)
        if (!rs_hang_is_guilty(f, f->waiting[i].comm_rank)) f->waiting[n++] = f->waiting[i];
    f->nwaiting = n;
}

/* Where the program of the first of the guilty was: in the current call, else in its last one. */
static const char *frames_of(const struct rs_hang_work *w, const struct rs_hang_finding *f)
{
    if (!f->nguilty || f->guilty[0].member == RS_NONE) return NULL;
    uint32_t part = RS_NONE;
    for (uint32_t i = 0; i < f->nrows && part == RS_NONE; i++)
        if (f->rows[i].rank == f->guilty[0].comm_rank)
            part = f->busy[i] != RS_NONE && f->verdict == RS_VERDICT_DEADLOCK ? f->busy[i] : f->rows[i].part;
    const struct rs_tag *tag = part == RS_NONE ? NULL : rs_part_tag(w->m, part);
    if (tag && tag->frames) return tag->frames;
    part = w->state.stack[rs_hang_rank_of(w->m, f->guilty[0].member)];
    tag = part == RS_NONE ? NULL : rs_part_tag(w->m, part);
    return tag ? tag->frames : NULL;
}

void rs_hang_commit(struct rs_hang_work *w)
{
    struct rs_hang *h = w->out;
    struct rs_hang_finding *f = &w->now;
    uint32_t n = 0, before = f->nguilty;
    for (uint32_t i = 0; i < f->nguilty; i++)
        if (!rs_hang_is_accused(w, f->guilty[i].member)) f->guilty[n++] = f->guilty[i];
    f->nguilty = n;
    if (before && !n) {
        finding_free(f);
        return;
    }
    rs_hang_say_finding(w);
    f->frames = frames_of(w, f);
    for (uint32_t i = 0; i < n; i++)
        if (f->guilty[i].member != RS_NONE) rs_map_put(&w->accused, rs_hang_rank_of(w->m, f->guilty[i].member), 1);
    drop_guilty(f);
    RS_ROOM(h->findings, h->nfindings, h->cap_findings);
    h->findings[h->nfindings++] = *f;
    finding_init(f);
}

/* ---- from operation to operation ---- */

/* Where the operation's ranks are instead; of several the one that has been blocked longest. RS_NONE: nowhere. */
static uint32_t leads_to(const struct rs_hang_work *w, uint32_t op)
{
    uint32_t best = RS_NONE;
    for (uint32_t i = 0; i < w->state.nrows; i++) {
        uint32_t busy = strays_to(w, op, &w->state.rows[i]);
        if (busy == RS_NONE) continue;
        uint32_t front = (uint32_t)rs_map_get(&w->index, w->m->parts.op[busy], RS_NONE);
        if (front < best) best = front;
    }
    return best;
}

static bool some_ended(const struct rs_hang_work *w)
{
    for (uint32_t i = 0; i < w->state.nrows; i++)
        if (w->state.rows[i].stage == RS_STAGE_ENDED) return true;
    return false;
}

/* Ranks that died: asked of all operations before anything else, since much follows from a death. */
static void find_dead(struct rs_hang_work *w)
{
    w->dead = rs_zalloc((size_t)w->m->nprocs + 1, sizeof *w->dead);
    for (int judged = 0; judged < 2; judged++) {
        for (uint32_t i = 0; i < w->nfronts; i++) {
            uint32_t op = w->fronts[i].op;
            if (!rs_filter_op(w->filter, w->m, op)) continue;
            rs_hang_rows_find(&w->state, op);
            if (!judged) rs_hang_note_dead(w, op);
            if (!judged || !rs_hang_look_dead(w, op)) continue;
            keep_rows(w, op);
            rs_hang_commit(w);
        }
        if (!judged) rs_hang_judge_dead(w);
    }
}

/* Whether the operation may not hang at all, or not here: ranks that are not in it may be in another; or some have
 * ended, and all that have not lost records, their end among them perhaps. */
static bool has_doubts(const struct rs_hang_work *w, uint32_t op)
{
    bool ended = some_ended(w);
    for (uint32_t i = 0; i < w->state.nrows; i++) {
        const struct rs_hang_rank *r = &w->state.rows[i];
        if (rs_hang_not_started(r->stage) && rs_hang_may_be_elsewhere(w, op, r)) return true;
        bool whole = r->member != RS_NONE && w->m->procs[w->m->members[r->member].proc].complete;
        if (r->stage != RS_STAGE_ENDED && whole) ended = false;
    }
    return ended;
}

static bool is_whole(const struct rs_hang_work *w)
{
    for (uint32_t i = 0; i < w->state.nrows; i++) {
        uint32_t x = w->state.rows[i].member;
        if (x == RS_NONE || !w->m->procs[w->m->members[x].proc].complete) return false;
    }
    return true;
}

/* Whether a rank of the operation is guilty already: then that is why it does not go on. */
static bool is_explained(const struct rs_hang_work *w)
{
    for (uint32_t i = 0; i < w->state.nrows; i++)
        if (rs_hang_is_accused(w, w->state.rows[i].member)) return true;
    return false;
}

/* The path came back to path[from]. Whether that is a cycle of causes is seen when all other causes are known. */
static void note_cycle(struct rs_hang_work *w, uint32_t from)
{
    RS_ROOM(w->cycles, w->ncycles, w->cap_cycles);
    w->cycles[w->ncycles++] = (struct cycle){w->ncycled, w->npath - from};
    for (uint32_t i = from; i < w->npath; i++) {
        RS_ROOM(w->cycled, w->ncycled, w->cap_cycled);
        w->cycled[w->ncycled++] = w->path[i];
    }
}

/* Whether the dump of a rank is from before the operation: others completed what this one had not called yet. */
static bool has_older(const struct rs_hang_work *w)
{
    for (uint32_t i = 0; i < w->state.nrows; i++) {
        uint32_t member = w->state.rows[i].member;
        if (member != RS_NONE && w->state.rows[i].stage == RS_STAGE_NOT_RECORDED && rs_hang_is_older(&w->state, member))
            return true;
    }
    return false;
}

/* Follows the operations from one that is blocked, to a cause, to one that was visited before, or round a cycle. Where
 * all ranks are in it, that may be because of another that was launched with it: only noted. */
static void follow(struct rs_hang_work *w, uint32_t front)
{
    w->npath = 0;
    while (front != RS_NONE && !w->fronts[front].visited) {
        uint32_t op = w->fronts[front].op;
        w->fronts[front].visited = true;
        w->path[w->npath++] = front;
        rs_hang_rows_find(&w->state, op);
        int64_t waited = rs_hang_waited(w), patience = rs_hang_usual(w, op);
        bool states = rs_hang_has_states(w->m, w->m->ops.comm[op]), only_called = !states && rs_hang_only_called(w);
        if (only_called && patience < RS_HANG_SILENCE_NS) patience = RS_HANG_SILENCE_NS;
        if (!states && (waited == RS_TIME_NONE || waited <= patience)) {
            /* Those who waited may have been gone soon. A rank that stayed, and did not come, is not in flight. */
            bool stayed = waited != RS_TIME_NONE && rs_hang_look_not_started(w, op, patience);
            w->in_flight += !stayed;
            if (!stayed) return;
            keep_rows(w, op);
            rs_hang_commit(w);
            return;
        }
        bool found = states && rs_hang_look_types(w, &op);
        if (!found) found = rs_hang_look_mismatch(w, op);
        if (!found && !states) found = rs_hang_look_instead(w, &op);
        /* Whether a send has ended unnoticed is not always known: next to other causes that is not enough. */
        bool weak = w->fronts[front].loose && w->out->nfindings && !is_whole(w);
        bool absent = !found && !weak && rs_hang_look_not_started(w, op, 0);
        if (found || absent) {
            keep_rows(w, op);
            rs_hang_commit(w);
            if (absent && rs_hang_look_marked(w, op)) {
                keep_rows(w, op);
                rs_hang_commit(w);
            }
            return;
        }
        uint32_t next = leads_to(w, op);
        bool older = states && next == RS_NONE && has_older(w);
        if (older) w->out->unknown = RS_HANG_MOMENTS;
        w->fronts[front].stalled = next == RS_NONE && !only_called && !older;
        w->fronts[front].doubtful = has_doubts(w, op);
        if (next == RS_NONE && only_called && !some_ended(w)) w->out->unknown = RS_HANG_NO_OUTCOME;
        if (next != RS_NONE) w->fronts[next].wanted = true;
        front = next;
    }
    for (uint32_t i = 0; i < w->npath && front != RS_NONE; i++)
        if (w->path[i] == front) {
            note_cycle(w, i);
            return;
        }
}

/* ---- cycles ---- */

/* Accuses the ranks of `op` that are in `next` instead, but for those in `named` (NULL: none), which takes them in. */
static void name_strays(struct rs_hang_work *w, uint32_t op, uint32_t next, struct rs_map *named)
{
    rs_hang_rows_find(&w->state, op);
    for (uint32_t i = 0; i < w->state.nrows; i++) {
        const struct rs_hang_rank *r = &w->state.rows[i];
        uint32_t busy = strays_to(w, op, r);
        if (busy == RS_NONE || w->m->parts.op[busy] != next) continue;
        uint64_t rank = rs_hang_rank_of(w->m, r->member);
        if (named && rs_map_find(named, rank)) continue;
        if (named) rs_map_put(named, rank, 1);
        rs_hang_accuse(w, op, r);
    }
}

static int by_rank(const void *a, const void *b)
{
    const struct rs_hang_who *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* The ranks of `op` that are in `next` instead. *first: a part of theirs in `next`.
 * *accused: one of them is guilty already, or its dump does not show what it is in. */
static uint32_t count_strays(struct rs_hang_work *w, uint32_t op, uint32_t next, uint32_t *first, bool *accused)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->state.nrows; i++) {
        const struct rs_hang_rank *r = &w->state.rows[i];
        uint32_t busy = strays_to(w, op, r);
        if (busy == RS_NONE || w->m->parts.op[busy] != next) continue;
        n++;
        *accused |= rs_hang_is_accused(w, r->member) || w->state.stale_from[w->m->members[r->member].proc] != RS_NONE;
        if (n == 1) *first = busy;
    }
    return n;
}

/* Each operation of a cycle waits for ranks that are in the next. Guilty are those whose order the fewest ranks have,
 * equal ranks included. */
static void look_cycle(struct rs_hang_work *w, const struct cycle *c)
{
    const struct rs_model *m = w->m;
    const uint32_t *fronts = w->cycled + c->first;
    uint32_t best = 0, fewest = RS_NONE, ties = 0;
    int64_t lowest = INT64_MAX;
    bool one_comm = true, accused = false;
    for (uint32_t i = 0; i < c->n; i++) {
        uint32_t op = w->fronts[fronts[i]].op, next = w->fronts[fronts[(i + 1) % c->n]].op;
        struct rs_hang_votes v;
        one_comm &= m->ops.comm[op] == m->ops.comm[next];
        rs_hang_rows_find(&w->state, op);
        accused |= w->fronts[fronts[i]].loose && !is_whole(w); /* whether it has ended is not certain */
        uint32_t stray = RS_NONE, strays = count_strays(w, op, next, &stray, &accused);
        rs_hang_orders(&w->state, op, next, stray, &v);
        int64_t score = (int64_t)v.after - v.before;
        ties += score == lowest && strays == fewest;
        if (score > lowest || (score == lowest && strays >= fewest)) continue;
        ties = 0;
        lowest = score;
        fewest = strays;
        best = i;
    }
    if (accused) { /* it may follow from another cause: by itself it only shows that the job hangs */
        w->fronts[fronts[best]].stalled = w->fronts[fronts[best]].doubtful = true;
        return;
    }
    uint32_t op = w->fronts[fronts[best]].op, next = w->fronts[fronts[(best + 1) % c->n]].op;
    char a[160], b[160];
    rs_hang_op_text(m, op, a, sizeof a);
    rs_hang_op_text(m, next, b, sizeof b);
    if (!strcmp(a, b)) { /* one operation that was joined as two: no order is wrong */
        w->fronts[fronts[best]].stalled = w->fronts[fronts[best]].doubtful = true;
        return;
    }
    if (ties) { /* no order is the rarer one: all of the cycle, as suspects */
        struct rs_map named = {0};
        for (uint32_t i = 0; i < c->n; i++)
            name_strays(w, w->fronts[fronts[i]].op, w->fronts[fronts[(i + 1) % c->n]].op, &named);
        rs_map_free(&named);
        qsort(w->now.guilty, w->now.nguilty, sizeof *w->now.guilty, by_rank);
        rs_hang_rows_find(&w->state, op);
    } else {
        name_strays(w, op, next, NULL);
    }
    keep_rows(w, op);
    w->now.undecided = ties;
    bool pairs = m->ops.kind[op] == RS_OP_PAIR && m->ops.kind[next] == RS_OP_PAIR;
    w->now.verdict = one_comm && !pairs ? RS_VERDICT_MISMATCH : RS_VERDICT_DEADLOCK;
    if (w->now.verdict == RS_VERDICT_MISMATCH)
        rs_hang_say_instead(w, next, op);
    else
        rs_hang_say_cycle(w, op, next);
    rs_hang_commit(w);
}

/* ---- ranks that differ from their equals ----
 * Where the other ranks of a group left no dump, equal groups may still show who is odd. */

/* Other arguments, or another function, than equal ranks gave. */
static bool look_odd_call(struct rs_hang_work *w, uint32_t op)
{
    const struct rs_model *m = w->m;
    uint64_t in, out;
    bool states = rs_hang_has_states(m, m->ops.comm[op]); /* of recordings the calls before are not compared */
    uint32_t usual = states && m->ops.kind[op] == RS_OP_COLL ? rs_hang_usual_call(&w->state, op) : RS_NONE;
    if (usual == RS_NONE) return false;
    rs_hang_rows_find(&w->state, op);
    bool uneven = rs_func_flow(m, m->ops.func[op]) == RS_FLOW_UNKNOWN || rs_hang_sums(m, op, &in, &out);
    for (uint32_t i = 0; i < w->state.nrows && !uneven; i++) {
        uint32_t part = w->state.rows[i].part;
        if (part != RS_NONE && !rs_hang_same_call(m, part, usual)) rs_hang_accuse(w, op, &w->state.rows[i]);
    }
    if (!w->now.nguilty) return false;
    w->now.verdict = RS_VERDICT_MISMATCH;
    keep_rows(w, op);
    rs_hang_say_odd(w, usual);
    return true;
}

/* One rank has called two operations in another order than all its equals. */
static bool look_odd_order(struct rs_hang_work *w, uint32_t a, uint32_t b)
{
    enum { LEAST = 3 }; /* equals that agree */
    const struct rs_model *m = w->m;
    struct rs_hang_votes v;
    if (m->ops.kind[a] != RS_OP_COLL || m->ops.kind[b] != RS_OP_COLL || m->ops.comm[a] == m->ops.comm[b]) return false;
    rs_hang_orders(&w->state, a, b, m->order[m->ops.part[b]], &v);
    if (v.after != 1 || v.before < LEAST) return false;
    rs_hang_rows_find(&w->state, a);
    for (uint32_t i = 0; i < w->state.nrows; i++) {
        const struct rs_hang_rank *r = &w->state.rows[i];
        if (r->member != RS_NONE && rs_hang_rank_of(m, r->member) == v.one_after) rs_hang_accuse(w, a, r);
    }
    if (!w->now.nguilty) return false;
    w->now.verdict = RS_VERDICT_DEADLOCK;
    keep_rows(w, a);
    rs_hang_say_cycle(w, a, b);
    return true;
}

static void find_odd(struct rs_hang_work *w)
{
    enum { MOST = 16 }; /* operations that are looked at */
    uint32_t n = w->nfronts < MOST ? w->nfronts : MOST;
    for (uint32_t p = 0; p < w->m->nprocs; p++) /* without the calls before, equal ranks are unknown */
        if (w->m->procs[p].active_only) return;
    for (uint32_t i = 0; i < n; i++)
        if (look_odd_call(w, w->fronts[i].op)) rs_hang_commit(w);
    for (uint32_t i = 0; i < n && !w->out->nfindings; i++)
        for (uint32_t k = 0; k < n && !w->out->nfindings; k++)
            if (i != k && look_odd_order(w, w->fronts[i].op, w->fronts[k].op)) rs_hang_commit(w);
}

/* ---- transfers that do not move ---- */

/* Ranks without a dump that the operation waits for may themselves wait for another one without a dump. */
static void add_suspects(struct rs_hang_work *w)
{
    struct rs_hang_finding *f = &w->now;
    uint32_t direct = f->nsuspects;
    if (direct) qsort(f->suspects, direct, sizeof *f->suspects, by_rank);
    for (uint32_t i = 0, k = 0; i < w->out->nunseen && direct; i++) {
        while (k < direct && f->suspects[k].rank < w->out->unseen[i]) k++;
        bool known = k < direct && f->suspects[k].rank == w->out->unseen[i];
        if (!known) rs_hang_add_who(&f->suspects, &f->nsuspects, (struct rs_hang_who){w->out->unseen[i], -1, RS_NONE});
    }
    if (direct) qsort(f->suspects, f->nsuspects, sizeof *f->suspects, by_rank);
}

static void look_stalled(struct rs_hang_work *w, uint32_t front)
{
    uint32_t op = w->fronts[front].op;
    rs_hang_rows_find(&w->state, op);
    keep_rows(w, op);
    if (rs_hang_has_states(w->m, w->m->ops.comm[op])) {
        rs_hang_look_flight(w, op, w->fronts[front].wanted);
        add_suspects(w);
    } else {
        rs_hang_look_stalled(w, op);
    }
}

/* Whether all ranks run in it, and none of them is guilty elsewhere: then nothing else explains it. */
static bool is_independent(struct rs_hang_work *w, const struct rs_hang_front *f)
{
    if (!f->stalled || f->doubtful || rs_hang_has_states(w->m, w->m->ops.comm[f->op])) return false;
    rs_hang_rows_find(&w->state, f->op);
    for (uint32_t i = 0; i < w->state.nrows; i++)
        if (w->state.rows[i].stage != RS_STAGE_RUNNING) return false;
    return !is_explained(w);
}

static bool waits_for_unseen(struct rs_hang_work *w, uint32_t front)
{
    rs_hang_rows_find(&w->state, w->fronts[front].op);
    for (uint32_t i = 0; i < w->state.nrows; i++)
        if (w->state.rows[i].stage == RS_STAGE_UNSEEN) return true;
    return false;
}

/* Of the operations that every rank is in: the first whose network shows something, else the first. Operations that
 * wait for a rank without a dump come first, then those that all are certainly in. Next to other causes, only an
 * operation whose network accuses a rank. */
static void find_stalled(struct rs_hang_work *w)
{
    const struct rs_model *m = w->m;
    struct rs_map open = {0}; /* operations with an open step */
    for (uint32_t i = 0; i < m->nopens; i++)
        if (m->opens[i].type == RS_PROXY_STEP && m->opens[i].part < m->parts.n)
            rs_map_put(&open, m->parts.op[m->opens[i].part], 1);
    bool alone = !w->out->nfindings;
    uint32_t best = RS_NONE;
    int most = -1;
    for (uint32_t i = 0; i < w->nfronts && alone; i++) {
        if (!w->fronts[i].stalled) continue;
        int value = 2 * !w->fronts[i].doubtful + (rs_map_find(&open, w->fronts[i].op) != NULL);
        if (w->out->nunseen && rs_hang_has_states(m, m->ops.comm[w->fronts[i].op])) value += 4 * waits_for_unseen(w, i);
        if (value > most) most = value, best = i;
    }
    if (best != RS_NONE) {
        look_stalled(w, best);
        rs_hang_commit(w);
    }
    for (uint32_t i = 0; i < w->nfronts; i++) {
        if (i == best || !rs_map_find(&open, w->fronts[i].op) || !is_independent(w, &w->fronts[i])) continue;
        look_stalled(w, i);
        if (w->now.nguilty)
            rs_hang_commit(w);
        else
            finding_free(&w->now);
    }
    rs_map_free(&open);
}

/* Ranks whose dumps call pending what their peers have completed with them. One whose dump is older than the others' is
 * not accused of that. */
static void find_stale(struct rs_hang_work *w)
{
    const struct rs_model *m = w->m;
    const struct rs_hang_state *s = &w->state;
    uint8_t *older = rs_zalloc((size_t)m->nprocs + 1, sizeof *older);
    for (uint32_t i = 0; i < m->nmembers; i++)
        if (s->asked[i] && s->most[m->members[i].comm] > s->asked[i]) older[m->members[i].proc] = 1;
    for (uint32_t p = 0; p < m->nprocs; p++) {
        uint32_t op, part = s->stale_from[p];
        if (part == RS_NONE || older[p] || rs_hang_is_accused(w, m->parts.member[part])) continue;
        if (!rs_hang_look_stale(w, p, &op)) continue;
        keep_rows(w, op);
        rs_hang_commit(w);
    }
    free(older);
}

/* Dumps show arguments that did not match also where nothing hangs for it. */
static void find_wrong(struct rs_hang_work *w)
{
    uint32_t op = RS_NONE;
    if (!rs_hang_look_results(w, &op)) return;
    keep_rows(w, op);
    rs_hang_commit(w);
}

/* Whether operations that a process called last may be absent: lost, or not asked for. */
static bool end_is_lost(const struct rs_proc *p)
{
    const uint64_t ops = RS_COLL | RS_P2P;
    if (!rs_tool_has(p->tool, RS_CAP_CALLBACKS)) return false;
    if (p->ncovers && (p->covers[p->ncovers - 1].mask & ops) != ops) return true;
    for (uint32_t i = 0; i < p->ngaps; i++)
        if ((p->gaps[i].colls || p->gaps[i].p2ps) && (p->last == RS_TIME_NONE || p->gaps[i].to >= p->last)) return true;
    return false;
}

/* Nothing is pending: processes that are open, and were silent for longer than ever before. */
static void look_outside(struct rs_hang_work *w)
{
    const struct rs_model *m = w->m;
    struct rs_hang_finding *f = &w->now;
    uint32_t open = 0, silent = 0;
    for (uint32_t p = 0; p < m->nprocs; p++) {
        const struct rs_proc *proc = &m->procs[p];
        if (rs_hang_closed(proc) || proc->last == RS_TIME_NONE || rs_tool_has(proc->tool, RS_CAP_DUMP)) continue;
        if (proc->same != RS_NONE) continue;
        open++;
        if (rs_proc_end_is_cut(proc) || end_is_lost(proc)) continue; /* it may have called since */
        int64_t quiet = w->state.quiet[p] < RS_HANG_MOST_USUAL_NS ? w->state.quiet[p] : RS_HANG_MOST_USUAL_NS;
        int64_t patience = quiet * 3 / 2 > RS_HANG_SILENCE_NS ? quiet * 3 / 2 : RS_HANG_SILENCE_NS;
        silent += rs_time_minus(proc->end, proc->last) > patience;
        if (proc->last > f->since) f->since = proc->last;
    }
    if (open && silent == open) f->verdict = RS_VERDICT_OUTSIDE_NCCL;
    if (f->verdict == RS_VERDICT_NONE) f->since = RS_TIME_NONE;
}

/* ---- whether "nothing hangs" can be said ---- */

/* Whether no tool used here records what was still running. */
static bool is_blind(const struct rs_model *m)
{
    for (uint32_t p = 0; p < m->nprocs; p++)
        if (m->procs[p].same == RS_NONE && rs_tool_has(m->procs[p].tool, RS_CAP_OPEN)) return false;
    return m->nprocs > 0 && !m->nanswers;
}

static enum rs_hang_unknown why_unknown(const struct rs_model *m)
{
    if (is_blind(m)) return RS_HANG_BLIND;
    enum rs_hang_unknown why = RS_HANG_KNOWN;
    for (uint32_t i = 0; i < m->nprocs; i++) {
        const struct rs_proc *p = &m->procs[i];
        if (p->same != RS_NONE || rs_hang_closed(p)) continue;
        if (rs_proc_end_is_cut(p)) return RS_HANG_CUT;
        if (end_is_lost(p) || p->end_missing) why = RS_HANG_NOT_RECORDED;
    }
    return why;
}

static void search(struct rs_hang_work *w)
{
    const struct rs_model *m = w->m;
    struct rs_hang *h = w->out;
    bool open = m->nanswers && !m->nprocs; /* a health service that names no process */
    for (uint32_t p = 0; p < m->nprocs && !open; p++)
        open = m->procs[p].same == RS_NONE && !rs_hang_closed(&m->procs[p]);
    find_unseen(w);
    if (open) {
        rs_hang_state_init(&w->state, m);
        find_fronts(w);
        find_dead(w);
        for (uint32_t i = 0; i < w->nfronts; i++) h->left_out += !rs_filter_op(w->filter, m, w->fronts[i].op);
        for (uint32_t i = 0; i < w->nfronts; i++)
            if (!w->fronts[i].visited && rs_filter_op(w->filter, m, w->fronts[i].op)) follow(w, i);
        for (uint32_t i = 0; i < w->ncycles; i++) look_cycle(w, &w->cycles[i]);
        find_stale(w);
        if (!h->nfindings && h->nunseen) find_odd(w);
        find_stalled(w);
        if (!h->nfindings && !w->in_flight) find_wrong(w);
        rs_hang_look_health(w, h->unknown != RS_HANG_KNOWN || why_unknown(m) != RS_HANG_KNOWN);
        if (h->nfindings)
            h->also_blocked = w->nfronts ? w->nfronts - 1 : 0;
        else if (!w->in_flight && h->unknown == RS_HANG_KNOWN && !h->left_out)
            look_outside(w);
    }
    if (h->nfindings || w->now.verdict != RS_VERDICT_NONE)
        h->unknown = RS_HANG_KNOWN;
    else if (h->unknown == RS_HANG_KNOWN)
        h->unknown = why_unknown(m);
    if (h->unknown != RS_HANG_KNOWN) w->now.verdict = RS_VERDICT_UNKNOWN;
    if (!h->nfindings) rs_hang_commit(w); /* NONE, UNKNOWN or OUTSIDE_NCCL */
    rs_hang_conclude(w, open);
}

void rs_hang_find(const struct rs_model *m, const struct rs_filter *filter, struct rs_hang *out)
{
    struct rs_hang_work w = {.m = m, .filter = filter, .out = out, .died = RS_TIME_NONE};
    *out = (struct rs_hang){0};
    finding_init(&w.now);
    search(&w);
    if (rs_hang_is_found(out)) {
        out->stage = w.state.stage;
        w.state.stage = NULL;
    }
    finding_free(&w.now);
    rs_hang_state_free(&w.state);
    rs_map_free(&w.index);
    rs_map_free(&w.accused);
    free(w.dead);
    free(w.fronts);
    free(w.path);
    free(w.cycles);
    free(w.cycled);
}

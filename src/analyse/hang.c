#include "analyse/hang.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/hang_flight.h"
#include "analyse/hang_ladder.h"
#include "analyse/hang_phrases.h"
#include "analyse/hang_rows.h"
#include "analyse/hang_words.h"
#include "base/memory.h"
#include "nccl/abi.h"

/* ---- operations that ranks called in different orders ----
 * Two operations that all ranks called, and not all in one order: each may wait for the other.
 *
 * Asked of dumps, which tell that an operation was called and often not whether its kernel has started. */

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

static void blame(struct rs_hang_work *w, uint32_t op, uint32_t other, const struct orders *o)
{
    struct rs_hang *h = w->out;
    bool odd = o->before <= o->behind; /* who called the other one first, is to blame */
    for (uint32_t i = 0; i < w->state.nrows; i++) {
        const struct rs_hang_rank *r = &w->state.rows[i];
        uint32_t part = besides(w, o, r);
        if (part == RS_NONE || (part < r->part) != odd) continue;
        h->busy[i] = part;
        rs_hang_accuse(w, op, r);
    }
    h->verdict = RS_VERDICT_DEADLOCK;
    if (odd)
        rs_hang_say_cycle(h, w->m, op, other);
    else
        rs_hang_say_cycle(h, w->m, other, op);
}

/* `op` is the one whose rows are at hand, and are kept as the evidence already. Looks through the other operations in
 * which everybody is; where one was called in both orders, the fewer ranks are to blame. */
static void hang_look_order(struct rs_hang_work *w, uint32_t op, bool *found)
{
    struct orders o = {.of_proc = rs_alloc(((size_t)w->m->nprocs + 1) * sizeof *o.of_proc)};
    uint32_t looked = 0;
    for (uint32_t i = 0; i < w->nfronts && looked < MOST && !*found; i++) {
        uint32_t other = w->fronts[i].op;
        if (other == op || !w->fronts[i].stalled || w->m->ops.comm[other] == w->m->ops.comm[op]) continue;
        looked++;
        count(w, other, &o);
        if (!o.before || !o.behind) continue;
        *found = true;
        blame(w, op, other, &o);
    }
    free(o.of_proc);
}

/* ---- the hang ---- */

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

void rs_hang_free(struct rs_hang *h)
{
    free(h->guilty);
    free(h->waiting);
    free(h->unseen);
    free(h->rows);
    free(h->busy);
    free(h->last);
    rs_arena_free(&h->arena);
    *h = (struct rs_hang){0};
}

/* Ranks of the job without a recording: those that the communicator of all, or the launcher's count, has too many. */
static void find_unseen(struct rs_hang_work *w)
{
    const struct rs_model *m = w->m;
    if (m->world <= 0 || m->world > RS_HANG_MOST_RANKS) return;
    uint8_t *seen = rs_zalloc((size_t)m->world, 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->nranks; i++) {
        int32_t r = m->ranks[i].number;
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
    if (*at == w->nfronts) {
        if (!(w->nfronts & (w->nfronts - 1))) { /* room is doubled at powers of two */
            size_t room = w->nfronts ? 2 * (size_t)w->nfronts : 1;
            void *fronts = rs_realloc(w->fronts, room * sizeof *w->fronts);
            w->fronts = fronts;
        }
        w->fronts[w->nfronts++] = (struct rs_hang_front){.op = op, .since = since, .running = running};
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

/* ---- from operation to operation ---- */

/* What a rank of the operation is in instead; RS_NONE: it is here, or in nothing. One that lost records here and runs
 * elsewhere is likely not here. */
static uint32_t strays_to(const struct rs_hang_work *w, uint32_t op, const struct rs_hang_rank *r)
{
    if (r->stage != RS_STAGE_NOT_RECORDED) return rs_hang_not_started(r->stage) ? rs_hang_kept_by(w, op, r) : RS_NONE;
    uint32_t busy = rs_hang_kept_by(w, op, r);
    return busy != RS_NONE && w->state.stage[busy] == RS_STAGE_RUNNING ? busy : RS_NONE;
}

/* The rows at hand become the evidence. */
static void keep_rows(struct rs_hang_work *w, uint32_t op)
{
    struct rs_hang *h = w->out;
    const struct rs_hang_state *s = &w->state;
    size_t n = s->nrows ? s->nrows : 1;
    h->rows = rs_alloc(n * sizeof *h->rows);
    h->busy = rs_alloc(n * sizeof *h->busy);
    h->last = rs_alloc(n * sizeof *h->last);
    h->op = op;
    h->comm = w->m->ops.comm[op];
    h->since = rs_hang_last_move(w);
    h->nrows = s->nrows;
    for (uint32_t i = 0; i < s->nrows; i++) {
        const struct rs_hang_rank *r = &s->rows[i];
        h->rows[i] = *r;
        h->busy[i] = strays_to(w, op, r);
        h->last[i] = r->member == RS_NONE ? RS_NONE : s->last[rs_hang_rank_of(w->m, r->member)];
        if (r->stage == RS_STAGE_RUNNING || r->stage == RS_STAGE_ENTERED)
            rs_hang_add_who(&h->waiting, &h->nwaiting, rs_hang_who_of(w->m, op, r));
    }
}

/* Where the operation's ranks are instead; of several the one that has been blocked longest. RS_NONE: nowhere. */
static uint32_t leads_to(const struct rs_hang_work *w, uint32_t op)
{
    uint32_t best = RS_NONE;
    for (uint32_t i = 0; i < w->state.nrows; i++) {
        const struct rs_hang_rank *r = &w->state.rows[i];
        uint32_t busy = strays_to(w, op, r);
        if (busy == RS_NONE) continue;
        uint32_t front = (uint32_t)rs_map_get(&w->index, w->m->parts.op[busy], RS_NONE);
        if (front < best) best = front;
    }
    return best;
}

/* The ranks of `op` that are in `other` instead. */
static uint32_t count_strays(struct rs_hang_work *w, uint32_t op, uint32_t other, bool name_them,
                             enum rs_status *status)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->state.nrows; i++) {
        const struct rs_hang_rank *r = &w->state.rows[i];
        uint32_t busy = strays_to(w, op, r);
        if (busy == RS_NONE || w->m->parts.op[busy] != other) continue;
        n++;
        if (name_them && *status == RS_OK) {
            rs_hang_accuse(w, op, r);
            *status = RS_OK;
        }
    }
    return n;
}

/* The way came back to path[from]: each of these operations waits for ranks that are in the next. Told from the side of
 * the fewest ranks that went another way than the others. */
static enum rs_status look_cycle(struct rs_hang_work *w, uint32_t from, bool *found)
{
    const struct rs_model *m = w->m;
    struct rs_hang *h = w->out;
    uint32_t best = from, fewest = RS_NONE;
    bool one_comm = true;
    for (uint32_t i = from; i < w->npath; i++) {
        uint32_t op = w->fronts[w->path[i]].op, next = w->fronts[w->path[i + 1 < w->npath ? i + 1 : from]].op;
        enum rs_status status = RS_OK;
        one_comm &= m->ops.comm[op] == m->ops.comm[next];
        rs_hang_rows_find(&w->state, op);
        uint32_t strays = count_strays(w, op, next, false, &status);
        if (strays >= fewest) continue;
        fewest = strays;
        best = i;
    }
    uint32_t op = w->fronts[w->path[best]].op, next = w->fronts[w->path[best + 1 < w->npath ? best + 1 : from]].op;
    char a[160], b[160];
    rs_hang_op_text(m, op, a, sizeof a);
    rs_hang_op_text(m, next, b, sizeof b);
    if (!strcmp(a, b)) { /* one operation that was joined as two: no order is wrong */
        w->fronts[w->path[best]].stalled = w->fronts[w->path[best]].doubtful = true;
        return RS_OK;
    }
    *found = true;
    rs_hang_rows_find(&w->state, op);
    enum rs_status status = RS_OK;
    keep_rows(w, op);
    status = RS_OK;
    count_strays(w, op, next, true, &status);
    if (status != RS_OK) return status;
    h->verdict = one_comm ? RS_VERDICT_MISMATCH : RS_VERDICT_DEADLOCK;
    rs_hang_say_cycle(h, m, op, next);
    return RS_OK;
}

static bool some_ended(const struct rs_hang_work *w)
{
    for (uint32_t i = 0; i < w->state.nrows; i++)
        if (w->state.rows[i].stage == RS_STAGE_ENDED) return true;
    return false;
}

/* Ranks that died: asked of all operations before anything else, since much follows from a death. */
static void find_dead(struct rs_hang_work *w, bool *found)
{
    for (uint32_t i = 0; i < w->nfronts && !*found; i++) {
        uint32_t op = w->fronts[i].op;
        if (!rs_filter_op(w->filter, w->m, op)) continue;
        rs_hang_rows_find(&w->state, op);
        rs_hang_look_dead(w, op, found);
        if (*found) keep_rows(w, op);
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

/* Follows the operations from one that is blocked. *found: there is a verdict. Where all ranks are in it, that may be
 * because of another that was launched with it: only noted. */
static enum rs_status follow(struct rs_hang_work *w, uint32_t front, bool *found)
{
    w->npath = 0;
    while (front != RS_NONE && !w->fronts[front].visited) {
        uint32_t op = w->fronts[front].op;
        w->fronts[front].visited = true;
        w->path[w->npath++] = front;
        rs_hang_rows_find(&w->state, op);
        int64_t waited = rs_hang_waited(w), patience = rs_hang_usual(w, op);
        bool told = rs_hang_is_told(w->m, w->m->ops.comm[op]), only_called = !told && rs_hang_only_called(w);
        if (only_called && patience < RS_HANG_SILENCE_NS) patience = RS_HANG_SILENCE_NS;
        if (!told && (waited == RS_TIME_NONE || waited <= patience)) {
            w->in_flight++;
            return RS_OK;
        }
        if (told) rs_hang_look_types(w, &op, found);
        if (!*found) rs_hang_look_mismatch(w, op, found);
        if (!*found) rs_hang_look_not_started(w, op, found);
        if (*found) {
            keep_rows(w, op);
            return RS_OK;
        }
        uint32_t next = leads_to(w, op);
        w->fronts[front].stalled = next == RS_NONE && !only_called;
        w->fronts[front].doubtful = has_doubts(w, op);
        if (next == RS_NONE && only_called && !some_ended(w)) w->out->unknown = RS_HANG_UNTOLD; /* it may be complete */
        front = next;
    }
    for (uint32_t i = 0; i < w->npath && front != RS_NONE; i++) {
        if (w->path[i] != front) continue;
        return look_cycle(w, i, found);
    }
    return RS_OK; /* it led to one that was looked at before */
}

/* Of the operations in which everybody is: the first whose network tells something, else the first. Those in which all
 * are for certain come before others. */
static void find_stalled(struct rs_hang_work *w, bool *found)
{
    const struct rs_model *m = w->m;
    struct rs_map open = {0}; /* operations with an open step */
    for (uint32_t i = 0; i < m->nopens; i++)
        if (m->opens[i].type == RS_PROXY_STEP && m->opens[i].part < m->parts.n)
            rs_map_put(&open, m->parts.op[m->opens[i].part], 1);
    uint32_t best = RS_NONE;
    int most = -1;
    for (uint32_t i = 0; i < w->nfronts; i++) {
        if (!w->fronts[i].stalled) continue;
        int value = 2 * !w->fronts[i].doubtful + (rs_map_find(&open, w->fronts[i].op) != NULL);
        if (value > most) most = value, best = i;
    }
    rs_map_free(&open);
    if (best == RS_NONE) return;
    *found = true;
    rs_hang_rows_find(&w->state, w->fronts[best].op);
    keep_rows(w, w->fronts[best].op);
    bool told = rs_hang_is_told(m, m->ops.comm[w->fronts[best].op]), ordered = false;
    if (told) hang_look_order(w, w->fronts[best].op, &ordered);
    if (ordered) return;
    if (told)
        rs_hang_look_flight(w, w->fronts[best].op);
    else
        rs_hang_look_stalled(w, w->fronts[best].op);
}

/* Dumps tell arguments that did not match also where nothing hangs for it. */
static void find_wrong(struct rs_hang_work *w, bool *found)
{
    uint32_t op = RS_NONE;
    rs_hang_look_results(w, &op, found);
    if (*found) keep_rows(w, op);
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
    struct rs_hang *h = w->out;
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
        if (proc->last > h->since) h->since = proc->last;
    }
    if (open && silent == open) h->verdict = RS_VERDICT_OUTSIDE_NCCL;
    if (h->verdict == RS_VERDICT_NONE) h->since = RS_TIME_NONE;
}

/* ---- whether "nothing hangs" can be said ---- */

/* Whether no tool that was at work here tells what was still running. */
static bool is_blind(const struct rs_model *m)
{
    for (uint32_t p = 0; p < m->nprocs; p++)
        if (m->procs[p].same == RS_NONE && rs_tool_has(m->procs[p].tool, RS_CAP_OPEN)) return false;
    return m->nprocs > 0;
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

/* Those who are to blame do not count as waiting. Both lists are by rank. */
static void drop_guilty(struct rs_hang *h)
{
    uint32_t n = 0;
    for (uint32_t i = 0, g = 0; i < h->nwaiting; i++) {
        while (g < h->nguilty && h->guilty[g].comm_rank < h->waiting[i].comm_rank) g++;
        bool guilty = g < h->nguilty && h->guilty[g].comm_rank == h->waiting[i].comm_rank;
        if (!guilty) h->waiting[n++] = h->waiting[i];
    }
    h->nwaiting = n;
}

static enum rs_status search(struct rs_hang_work *w)
{
    const struct rs_model *m = w->m;
    struct rs_hang *h = w->out;
    bool open = false, found = false;
    for (uint32_t p = 0; p < m->nprocs && !open; p++)
        open = m->procs[p].same == RS_NONE && !rs_hang_closed(&m->procs[p]);
    find_unseen(w);
    if (open) {
        rs_hang_state_init(&w->state, m);
        find_fronts(w);
        find_dead(w, &found);
        for (uint32_t i = 0; i < w->nfronts; i++) h->left_out += !rs_filter_op(w->filter, m, w->fronts[i].op);
        for (uint32_t i = 0; i < w->nfronts && !found; i++)
            if (!w->fronts[i].visited && rs_filter_op(w->filter, m, w->fronts[i].op)) RS_TRY(follow(w, i, &found));
        if (!found) find_stalled(w, &found);
        if (!found && !w->in_flight) find_wrong(w, &found);
        if (found) {
            h->also_blocked = w->nfronts ? w->nfronts - 1 : 0;
            drop_guilty(h);
        } else if (!w->in_flight && h->unknown == RS_HANG_KNOWN && !h->left_out) {
            look_outside(w);
        }
    }
    if (h->verdict != RS_VERDICT_NONE)
        h->unknown = RS_HANG_KNOWN;
    else if (h->unknown == RS_HANG_KNOWN)
        h->unknown = why_unknown(m);
    if (h->unknown != RS_HANG_KNOWN) h->verdict = RS_VERDICT_UNKNOWN;
    rs_hang_say(h, m, w->in_flight, open);
    return RS_OK;
}

enum rs_status rs_hang_find(const struct rs_model *m, const struct rs_filter *filter, struct rs_hang *out)
{
    struct rs_hang_work w = {.m = m, .filter = filter, .out = out};
    *out = (struct rs_hang){.op = RS_NONE,
                            .comm = RS_NONE,
                            .peer = {-1, -1, RS_NONE},
                            .step = -1,
                            .state = -1,
                            .channel = -1,
                            .since = RS_TIME_NONE};
    enum rs_status status = search(&w);
    rs_hang_state_free(&w.state);
    rs_map_free(&w.index);
    free(w.fronts);
    free(w.path);
    return status;
}

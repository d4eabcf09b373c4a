#include "analyse/critical.h"

#include <inttypes.h>
#include <stdlib.h>

#include "analyse/critical_trails.h"
#include "analyse/words.h"
#include "base/bisect.h"
#include "base/memory.h"
#include "base/room.h"
#include "join/flow.h"
#include "join/ranks.h"
#include "join/totals.h"

/* ---- the state of the walk ----
 * The state of walking a critical path backwards, and the one function that adds to it. */

struct critical_walk {
    struct rs_critical *path; /* segments are added backwards */
    struct rs_view *view;
    const struct rs_critical_trails *trails;
    struct rs_map names; /* address of a name -> its index in path->names: equal names have one address */
    int64_t from; /* begin of the window */
    int64_t at; /* everything after it is explained */
    uint32_t rank; /* index into trails->ranks */
    const struct rs_span *next; /* what began at `at` on this rank; NULL: unknown */
    bool tie;
    int64_t lead; /* ns before `at` in which the others had already arrived: time of this rank alone */
};

/* ---- which rank an end depends on ----
 * Which rank the end of an operation depends on: the step of a critical path from one rank to another. */

struct critical_last {
    bool known; /* false: the starts cannot be compared */
    bool tie; /* other ranks were as late, within the clock error */
    uint32_t rank; /* index into trails->ranks; RS_NONE: a rank without a trail */
    int64_t start; /* of that rank */
    int64_t lead; /* ns by which it started after the next to last; 0: a tie, or unknown */
};

/* The input for one operation. */
struct choice {
    const struct rs_critical_trails *trails;
    const struct rs_view *view;
    uint32_t op, member; /* of the rank */
    int64_t at;
    int64_t last, second; /* the latest start; the latest of another arrival */
    uint32_t rank; /* trail of the latest */
};

static int32_t rank_of(const struct choice *c, const struct rs_arrival *a)
{
    return c->view->model->members[a->member].rank;
}

/* ---- dependencies ---- */

/* The arrival of a rank: arrivals are by rank. NULL: not recorded. */
static const struct rs_arrival *arrival_of(const struct choice *c, int32_t rank)
{
    uint32_t low = 0, high = c->view->narrivals;
    RS_BISECT(low, high, mid, rank_of(c, &c->view->arrivals[mid]) < rank);
    bool found = low < c->view->narrivals && rank_of(c, &c->view->arrivals[low]) == rank;
    return found ? &c->view->arrivals[low] : NULL;
}

typedef void visit_fn(struct choice *c, const struct rs_arrival *a);

static void each_needed(struct choice *c, visit_fn *visit)
{
    const struct rs_model *m = c->view->model;
    enum rs_flow flow = rs_func_flow(m, m->ops.func[c->op]);
    int32_t root = m->ops.root[c->op], own = m->members[c->member].rank;
    bool rooted = m->ops.kind[c->op] == RS_OP_COLL && root >= 0;
    if (m->ops.kind[c->op] == RS_OP_FANOUT) {
        for (uint32_t i = 0; i < m->ops.nparts[c->op]; i++) {
            uint32_t part = m->order[m->ops.part[c->op] + i];
            if (m->parts.member[part] != c->member || m->parts.peer[part] == own) continue;
            const struct rs_arrival *a = arrival_of(c, m->parts.peer[part]);
            if (a) visit(c, a);
        }
    } else if (rooted && (flow == RS_FLOW_FROM_ROOT || flow == RS_FLOW_TO_ROOT)) {
        bool all = flow == RS_FLOW_TO_ROOT && own == root, one = flow == RS_FLOW_FROM_ROOT;
        for (uint32_t i = 0; i < c->view->narrivals; i++)
            if (all || (one && rank_of(c, &c->view->arrivals[i]) == root)) visit(c, &c->view->arrivals[i]);
    } else {
        for (uint32_t i = 0; i < c->view->narrivals; i++) visit(c, &c->view->arrivals[i]);
    }
}

/* ---- the last rank ---- */

static void find_last(struct choice *c, const struct rs_arrival *a)
{
    if (a->member == c->member || a->start >= c->at) return;
    uint32_t rank = c->trails->of_rank[a->rank_id];
    if (a->start > c->last) {
        if (rank != c->rank) c->second = c->last; /* a rank arrives at several pairs of a fan-out */
        c->last = a->start;
        c->rank = rank;
    } else if (a->start > c->second && rank != c->rank) {
        c->second = a->start;
    }
}

/* Of the ranks in a tie, the lowest. */
static void find_lowest(struct choice *c, const struct rs_arrival *a)
{
    uint32_t rank = c->trails->of_rank[a->rank_id];
    if (a->member == c->member || a->start >= c->at || rank >= c->rank) return;
    if (!rs_is_tie(rs_time_minus(c->last, a->start), c->view->model->ops.error[c->op])) return;
    c->rank = rank;
    c->second = a->start; /* from here on: the start of the selected rank */
}

/* The last of the ranks that `span` (an operation, on the trail `own`) needed and that arrived before `at`. Needed are:
 * all ranks; in a broadcast the root; in a reduce all for the root and none for the others; for sends and receives the
 * peers. In a tie it is `own` if included, else the lowest. */
static struct critical_last critical_last(const struct rs_critical_trails *trails, struct rs_view *v, uint32_t own,
                                          const struct rs_span *span, int64_t at)
{
    struct choice c = {.trails = trails,
                       .view = v,
                       .op = span->ref,
                       .member = v->model->parts.member[span->part],
                       .at = at,
                       .last = span->start,
                       .second = RS_TIME_NONE,
                       .rank = own};
    struct critical_last none = {.rank = own, .start = span->start};
    if (!rs_view_compare(v, c.op)) return none;
    int64_t error = v->model->ops.error[c.op];
    each_needed(&c, find_last);
    struct critical_last found = {.known = true, .rank = c.rank, .start = c.last};
    found.tie = c.second != RS_TIME_NONE && rs_is_tie(rs_time_minus(c.last, c.second), error);
    if (!found.tie && c.second != RS_TIME_NONE) found.lead = rs_time_minus(c.last, c.second);
    if (c.rank == own || !found.tie) return found;
    if (rs_is_tie(rs_time_minus(c.last, span->start), error)) {
        found.rank = own;
        found.start = span->start;
        return found;
    }
    c.second = c.last;
    each_needed(&c, find_lowest);
    found.rank = c.rank;
    found.start = c.second;
    return found;
}

/* Whether others have not arrived yet at a time: the rank waits. */
static bool critical_waits(const struct rs_model *m, const struct rs_span *span, int64_t at)
{
    return rs_op_is_compared(m, span->ref) && m->ops.last[span->ref] >= at;
}

/* ---- when nothing ran ----
 * Why a rank had no work on its GPU, according to its host threads or launches. */

static const char IN_STEP[] = "in a step, outside its ranges and calls";
static const char NO_EVENT[] = "no work on the GPU, no event on its host thread";
static const char OUTSIDE[] = "outside NCCL";
static const char NOT_LAUNCHED[] = "outside NCCL, next operation not launched yet";
static const char QUEUED[] = "outside NCCL, next operation launched and queued";
static const char UNTIMED[] = "in operations with unknown times, or outside NCCL";
static const char LAUNCH[] = "launch of a NCCL operation";
static const char BETWEEN[] = "launched, not started";

static const char *name_of(const struct rs_model *m, uint32_t activity)
{
    if (m->activities.kind[activity] == RS_ACT_STEP) return IN_STEP; /* steps are numbered: one name for all */
    const char *name = rs_model_name_text(m, m->activities.name[activity]);
    return *name ? name : NO_EVENT;
}

static void critical_add(struct critical_walk *w, uint8_t kind, const char *name, uint32_t op, int64_t from);

/* What a thread did from `from` to w->at: the innermost range or call at each time. */
static void explain_by_thread(struct critical_walk *w, const struct rs_trail *thread, uint32_t op, int64_t from)
{
    const struct rs_model *m = w->view->model;
    while (w->at > from) {
        uint32_t i = rs_trail_begun(thread, w->at);
        int64_t since = from; /* start of what covers w->at as the innermost */
        for (; i != RS_NONE && thread->spans[i].latest < w->at; i = thread->spans[i].under)
            if (thread->spans[i].latest > since) since = thread->spans[i].latest;
        const struct rs_span *inner = i == RS_NONE ? NULL : &thread->spans[i];
        if (inner && inner->start > since) since = inner->start;
        if (inner)
            critical_add(w, RS_CRITICAL_HOST, name_of(m, inner->ref), op, since);
        else
            critical_add(w, RS_CRITICAL_GAP, NO_EVENT, op, since);
        if (w->at <= w->from) break;
    }
}

/* The host call that launched the next work; RS_NONE: unknown. */
static uint32_t launch_of(const struct critical_walk *w)
{
    const struct rs_activities *a = &w->view->model->activities;
    if (!w->next) return RS_NONE;
    uint64_t work =
        w->next->kind == RS_SPAN_OP ? rs_map_get(&w->trails->kernels, w->next->part, RS_NONE) : w->next->ref;
    uint32_t launch = work < a->n ? a->launch[work] : RS_NONE;
    return launch < a->n ? launch : RS_NONE;
}

static void explain_by_host(struct critical_walk *w, const struct rs_trail *thread, uint32_t op, int64_t from)
{
    const struct rs_model *m = w->view->model;
    uint32_t launch = launch_of(w);
    int64_t called = launch != RS_NONE ? m->activities.start[launch]
                     : op != RS_NONE   ? m->parts.launched[w->next->part] /* as a recording knows it */
                                       : RS_TIME_NONE;
    if (called != RS_TIME_NONE) {
        const char *name = launch != RS_NONE ? name_of(m, launch) : LAUNCH;
        if (called <= from) {
            critical_add(w, RS_CRITICAL_GAP, BETWEEN, op, from);
            return;
        }
        if (called < w->at) critical_add(w, RS_CRITICAL_LAUNCH, name, op, called);
    }
    if (launch != RS_NONE) {
        uint32_t lane = m->activities.lane[launch];
        if (lane < m->nlanes && w->trails->thread_of[lane] != RS_NONE)
            thread = &w->trails->threads[w->trails->thread_of[lane]];
    }
    explain_by_thread(w, thread, op, from);
}

/* For recordings of operations alone, where no operation with an unknown start may have run. */
static void explain_timed(struct critical_walk *w, uint32_t op, int64_t from)
{
    const struct rs_model *m = w->view->model;
    if (from >= w->at) return;
    int64_t launched = op == RS_NONE ? RS_TIME_NONE : m->parts.launched[w->next->part];
    if (launched == RS_TIME_NONE || launched > w->at) {
        critical_add(w, RS_CRITICAL_OUTSIDE, OUTSIDE, op, from);
        return;
    }
    critical_add(w, RS_CRITICAL_OUTSIDE, QUEUED, op, launched > from ? launched : from);
    critical_add(w, RS_CRITICAL_OUTSIDE, NOT_LAUNCHED, op, from);
}

static void explain_outside(struct critical_walk *w, uint32_t op, int64_t from)
{
    const struct rs_rank_trail *r = &w->trails->ranks[w->rank];
    for (uint32_t low = 0, high = r->nuntimed; w->at > from;) { /* the last one that begins before w->at */
        RS_BISECT(low, high, mid, r->untimed[mid].from < w->at);
        if (!low || r->untimed[low - 1].to <= from) break;
        const struct rs_untimed *u = &r->untimed[low - 1];
        if (u->to < w->at) explain_timed(w, op, u->to);
        critical_add(w, RS_CRITICAL_UNSURE, UNTIMED, op, u->from > from ? u->from : from);
        high = low - 1;
        low = 0;
        if (w->at <= w->from) return;
    }
    explain_timed(w, op, from);
}

/* Explains why nothing known ran on the rank's GPU from `from` to `at`. */
static void critical_explain(struct critical_walk *w, int64_t from)
{
    const struct rs_rank_trail *r = &w->trails->ranks[w->rank];
    uint32_t op = w->next && w->next->kind == RS_SPAN_OP ? w->next->ref : RS_NONE;
    if (from < w->from) from = w->from;
    if (from >= w->at) return;
    /* A framework's trace is often a window of a longer recording: elsewhere it says nothing. */
    bool seen = r->seen_to != RS_TIME_NONE && r->seen_to > from && r->seen_from < w->at;
    if (!seen) {
        explain_outside(w, op, from);
        return;
    }
    explain_outside(w, op, r->seen_to);
    int64_t since = r->seen_from > from ? r->seen_from : from;
    if (r->thread != RS_NONE)
        explain_by_host(w, &w->trails->threads[r->thread], op, since);
    else
        critical_add(w, RS_CRITICAL_GAP, NO_EVENT, op, since);
    explain_outside(w, op, from);
}

/* ---- the path ---- */

/* What begins this soon after an end is assumed to have waited for it: launches and event waits of a GPU take some
 * microseconds. */
enum { NEAR_NS = 10000, MOST_NEAR = 32 };

static const char NCCL_KERNEL[] = "a kernel of NCCL";

const char *rs_critical_kind_name(uint8_t kind)
{
    static const char *const names[RS_CRITICAL_KINDS] = {"compute", "copy",   "transfer", "operation", "wait",
                                                         "unsure",  "launch", "host",     "outside",   "gap"};
    return kind < RS_CRITICAL_KINDS ? names[kind] : "?";
}

/* ---- segments ---- */

static void name_index(struct critical_walk *w, const char *name, uint32_t *index)
{
    uint64_t *known;
    rs_map_at(&w->names, (uint64_t)(uintptr_t)name, RS_NONE, &known);
    if (*known == RS_NONE) {
        RS_ROOM(w->path->names, w->path->nnames, w->path->cap_names);
        *known = w->path->nnames;
        w->path->names[w->path->nnames++] = name;
    }
    *index = (uint32_t)*known;
}

/* Adds what happened from `from` (or the begin of the window) to `at`, unless empty. Moves `at` there. */
static void critical_add(struct critical_walk *w, uint8_t kind, const char *name, uint32_t op, int64_t from)
{
    struct rs_critical *c = w->path;
    if (from < w->from) from = w->from;
    if (from >= w->at) return;
    struct rs_critical_segment s = {
        .from = from, .to = w->at, .rank_id = w->trails->ranks[w->rank].rank_id, .op = op, .kind = kind, .tie = w->tie};
    name_index(w, name, &s.name);
    w->at = from;
    bool common = kind == RS_CRITICAL_TRANSFER || kind == RS_CRITICAL_OPERATION || kind == RS_CRITICAL_WAIT ||
                  kind == RS_CRITICAL_UNSURE;
    int64_t length = rs_time_minus(s.to, from);
    s.alone = common ? 0 : length < w->lead ? length : w->lead;
    w->lead -= s.alone;
    struct rs_critical_segment *behind = c->nsegments ? &c->segments[c->nsegments - 1] : NULL;
    if (behind && behind->rank_id == s.rank_id && behind->kind == kind && behind->name == s.name && behind->op == op &&
        behind->tie == s.tie) {
        behind->from = from;
        behind->alone += s.alone;
        return;
    }
    RS_ROOM(c->segments, c->nsegments, c->cap_segments);
    c->segments[c->nsegments++] = s;
}

/* ---- what ran ---- */

/* What runs at a time: compute before copies before operations; of equals, what began last. Operations in which the
 * rank still waits for others do not count: nothing waits for a rank that waits. */
static const struct rs_span *running(const struct critical_walk *w, const struct rs_trail *t, int64_t at)
{
    const struct rs_span *best = NULL;
    for (uint32_t i = rs_trail_begun(t, at); i != RS_NONE; i = t->spans[i].under) {
        const struct rs_span *s = &t->spans[i];
        if (s->latest <= at || (best && s->kind >= best->kind)) continue;
        if (s->kind == RS_SPAN_OP && critical_waits(w->view->model, s, at)) continue;
        best = s;
    }
    return best;
}

/* What ended last before a time; shortly before it, preferably on the same lane as what follows. */
static const struct rs_span *ended(const struct critical_walk *w, const struct rs_trail *t, int64_t at)
{
    const struct rs_span *last = NULL;
    uint32_t looked = 0;
    for (uint32_t i = rs_trail_ended(t, at); i-- > 0;) {
        const struct rs_span *s = &t->spans[t->by_end[i]];
        if (s->start >= at) continue; /* of length 0 at that time */
        if (!last) last = s;
        if (!w->next || rs_time_minus(at, s->latest) > NEAR_NS || looked++ == MOST_NEAR) break;
        if (s->lane == w->next->lane) return s;
    }
    return last;
}

/* What the path continues with; NULL: nothing before. */
static const struct rs_span *before(const struct critical_walk *w)
{
    const struct rs_trail *t = &w->trails->ranks[w->rank].trail;
    const struct rs_span *e = ended(w, t, w->at);
    if (e && w->next && rs_time_minus(w->at, e->latest) <= NEAR_NS) return e;
    const struct rs_span *r = running(w, t, w->at);
    return r ? r : e;
}

/* ---- the walk ---- */

static const struct rs_span *span_at(const struct rs_critical_trails *t, uint32_t rank, uint32_t op, int64_t start)
{
    const struct rs_trail *trail = &t->ranks[rank].trail;
    uint32_t i = rs_trail_begun(trail, start); /* the first one that began then is after this one */
    for (i = i == RS_NONE ? 0 : i + 1; i < trail->n && trail->spans[i].start == start; i++)
        if (trail->spans[i].kind == RS_SPAN_OP && trail->spans[i].ref == op) return &trail->spans[i];
    return NULL;
}

static void through_operation(struct critical_walk *w, const struct rs_span *s)
{
    const struct rs_model *m = w->view->model;
    uint32_t op = s->ref;
    const char *name = rs_model_text(m, m->ops.func[op]);
    if (w->at > s->end) critical_add(w, RS_CRITICAL_UNSURE, name, op, s->end);
    if (w->at <= w->from) return;
    struct critical_last last = critical_last(w->trails, w->view, w->rank, s, w->at);
    /* A rank without a recording may have been later than all others: then the start of the transfer is unknown. */
    bool whole = last.known && (m->ops.flags[op] & RS_OP_WHOLE);
    critical_add(w, whole ? RS_CRITICAL_TRANSFER : RS_CRITICAL_OPERATION, name, op, last.start);
    if (last.known) {
        if (m->ops.error[op] > w->path->error_ns) w->path->error_ns = m->ops.error[op];
        w->path->ties += last.tie;
        w->tie = last.tie;
    }
    w->lead = last.lead;
    if (last.rank != w->rank && (last.rank == RS_NONE || !w->trails->ranks[last.rank].follow)) {
        critical_add(w, RS_CRITICAL_WAIT, name, op, s->start);
        last.rank = w->rank;
        w->lead = 0;
    }
    w->path->jumps += last.rank != w->rank && w->at > w->from;
    w->next = last.rank == w->rank ? s : span_at(w->trails, last.rank, op, last.start);
    w->rank = last.rank;
}

static void through_work(struct critical_walk *w, const struct rs_span *s)
{
    const struct rs_model *m = w->view->model;
    const char *name = rs_model_name_text(m, m->activities.name[s->ref]);
    bool comm = m->activities.kind[s->ref] == RS_ACT_COMM;
    uint8_t kind = comm ? RS_CRITICAL_OPERATION : s->kind == RS_SPAN_COPY ? RS_CRITICAL_COPY : RS_CRITICAL_COMPUTE;
    critical_add(w, kind, *name || !comm ? name : NCCL_KERNEL, RS_NONE, s->start);
    w->next = s;
}

/* Every iteration ends earlier than it began: what is selected began before w->at. */
static void walk(struct critical_walk *w)
{
    while (w->at > w->from) {
        const struct rs_span *s = before(w);
        critical_explain(w, !s ? w->from : s->latest < w->at ? s->latest : w->at);
        if (!s || w->at <= w->from) continue;
        if (s->kind == RS_SPAN_OP)
            through_operation(w, s);
        else
            through_work(w, s);
    }
}

/* ---- the window ---- */

static int64_t last_sign(const struct rs_model *m)
{
    int64_t last = RS_TIME_NONE;
    for (uint32_t i = 0; i < m->nprocs; i++) {
        if (m->procs[i].last > last) last = m->procs[i].last;
        if (m->procs[i].end > last) last = m->procs[i].end;
    }
    return last;
}

/* Ranks that began operations after the last known end, and before the last sign of life, in the window. */
static void count_unended(struct rs_critical *c, const struct rs_critical_trails *t, const struct rs_filter *f,
                          int64_t heard)
{
    if (f && f->has_from && f->from > heard) return;
    for (uint32_t i = 0; i < t->nranks; i++) {
        const struct rs_trail *x = &t->ranks[i].trail;
        if (!t->ranks[i].follow) continue;
        for (uint32_t k = 0; k < x->n; k++) {
            const struct rs_span *s = &x->spans[k];
            bool behind = c->to == RS_TIME_NONE || s->start >= c->to;
            c->unended += !s->ended && behind && (!f || !f->has_to || s->start < f->to);
        }
    }
}

/* From the first start to the last known end, within the filter: only an end can have waited for something. */
static bool find_window(struct rs_critical *c, const struct rs_critical_trails *t, const struct rs_filter *f,
                        int64_t heard)
{
    c->from = c->to = RS_TIME_NONE;
    for (uint32_t i = 0; i < t->nranks; i++) {
        const struct rs_trail *x = &t->ranks[i].trail;
        if (!t->ranks[i].follow || !x->n) continue;
        if (c->from == RS_TIME_NONE || x->spans[0].start < c->from) c->from = x->spans[0].start;
        for (uint32_t k = 0; k < x->n; k++)
            if (x->spans[k].ended && (c->to == RS_TIME_NONE || x->spans[k].end > c->to)) c->to = x->spans[k].end;
    }
    c->timeless = c->from == RS_TIME_NONE;
    count_unended(c, t, f, heard);
    if (c->to == RS_TIME_NONE) {
        c->from = RS_TIME_NONE;
        return false;
    }
    if (f && f->has_from && f->from > c->from) c->from = f->from;
    if (f && f->has_to && f->to < c->to) c->to = f->to;
    if (c->from < c->to && rs_time_minus(c->to, c->from) > 0) return true; /* else empty, or damaged */
    c->from = c->to = RS_TIME_NONE;
    return false;
}

/* The rank that was busy last in the window; of equals the lowest. What it did after all others had ended, it did
 * alone. */
static void find_end(struct critical_walk *w)
{
    int64_t best = RS_TIME_NONE, second = RS_TIME_NONE;
    for (uint32_t i = 0; i < w->trails->nranks; i++) {
        const struct rs_trail *t = &w->trails->ranks[i].trail;
        if (!w->trails->ranks[i].follow || !t->n) continue;
        const struct rs_span *e = ended(w, t, w->at);
        int64_t reach = running(w, t, w->at) ? w->at : e ? e->latest : RS_TIME_NONE;
        if (reach <= best && best != RS_TIME_NONE) {
            if (reach > second) second = reach;
            continue;
        }
        second = best;
        best = reach;
        w->rank = i;
    }
    w->lead = second == RS_TIME_NONE || best == RS_TIME_NONE ? 0 : rs_time_minus(best, second);
}

/* ---- sums ---- */

static int longest_first(const void *a, const void *b)
{
    const struct rs_critical_row *x = a, *y = b;
    if (x->ns != y->ns) return x->ns > y->ns ? -1 : 1;
    if (x->rank_id != y->rank_id) return x->rank_id < y->rank_id ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

static void sum_up(struct rs_critical *c)
{
    struct rs_map rows = {0};
    uint32_t cap = 0;
    for (uint32_t i = 0; i < c->nsegments; i++) {
        const struct rs_critical_segment *s = &c->segments[i];
        uint64_t *row, key = (uint64_t)s->name << 32 | (uint64_t)s->rank_id << 4 | s->kind;
        rs_map_at(&rows, key, RS_NONE, &row);
        if (*row == RS_NONE) {
            void *room = c->rows;
            rs_room(&room, c->nrows, &cap, sizeof *c->rows);
            c->rows = room;
            *row = c->nrows;
            c->rows[c->nrows++] = (struct rs_critical_row){.rank_id = s->rank_id, .name = s->name, .kind = s->kind};
        }
        struct rs_critical_row *r = &c->rows[*row];
        r->segments++;
        r->ns += rs_time_minus(s->to, s->from);
        if (s->tie) r->tie_ns += rs_time_minus(s->to, s->from);
        r->alone_ns += s->alone;
    }
    rs_map_free(&rows);
    if (c->nrows) qsort(c->rows, c->nrows, sizeof *c->rows, longest_first);
}

/* ---- the conclusion ----
 * Sentences that an operator can act on. Nothing below the clock error is claimed, and no rank is named that a report does
 * not name. */

/* A rank stands out if the others waited for it for this share of the window, and this many times its fair share of
 * such time and what the next rank has. */
static const double LEAST = 0.02, TIMES = 1.5;

static void say(struct rs_critical *c, struct rs_strbuf *s)
{
    rs_words_sentence(&c->conclusion, &c->nconclusion, s);
}

static int64_t window(const struct rs_critical *c)
{
    return rs_time_minus(c->to, c->from);
}

static void share(struct rs_strbuf *s, const struct rs_critical *c, int64_t ns)
{
    double pct = 100 * (double)ns / (double)window(c);
    rs_strbuf_printf(s, pct >= 9.95 ? "%.0f %%" : "%.1f %%", pct);
}

/* In operations: of all ranks. */
static bool is_common(uint8_t kind)
{
    return kind == RS_CRITICAL_TRANSFER || kind == RS_CRITICAL_OPERATION || kind == RS_CRITICAL_WAIT ||
           kind == RS_CRITICAL_UNSURE;
}

/* ---- whose time it is ---- */

struct owner {
    uint32_t rank_id; /* the rank that the others waited for the longest; RS_NONE: none */
    int64_t ns, next, alone; /* how long; for the next; for all ranks */
    int64_t all; /* time of the path outside operations, whether waited for or not */
    const struct rs_critical_row *most; /* the row with the longest wait */
};

static void find_owner(const struct rs_critical *c, const struct rs_view *v, struct owner *o)
{
    int64_t *own = rs_zalloc(v->model->nranks + 1, sizeof *own);
    *o = (struct owner){.rank_id = RS_NONE};
    for (uint32_t i = 0; i < c->nrows; i++) {
        const struct rs_critical_row *r = &c->rows[i];
        if (is_common(r->kind)) continue;
        own[r->rank_id] += r->alone_ns;
        o->alone += r->alone_ns;
        o->all += r->ns;
    }
    for (uint32_t i = 0; i < v->model->nranks; i++) {
        if (own[i] > o->ns) {
            o->next = o->ns;
            o->rank_id = i;
            o->ns = own[i];
        } else if (own[i] > o->next) {
            o->next = own[i];
        }
    }
    for (uint32_t i = 0; i < c->nrows; i++)
        if (c->rows[i].rank_id == o->rank_id && (!o->most || c->rows[i].alone_ns > o->most->alone_ns))
            o->most = &c->rows[i];
    free(own);
}

static void advice(struct rs_strbuf *s, const struct rs_critical *c, const struct rs_critical_row *r)
{
    const char *name = c->names[r->name];
    switch (r->kind) {
    case RS_CRITICAL_COMPUTE: rs_strbuf_printf(s, "mostly computing (%s)", name); break;
    case RS_CRITICAL_COPY: rs_strbuf_printf(s, "mostly copying (%s)", name); break;
    case RS_CRITICAL_LAUNCH: rs_strbuf_puts(s, "mostly launching kernels that its GPU waits for"); break;
    case RS_CRITICAL_HOST: rs_strbuf_printf(s, "mostly with an idle GPU while its program is in '%s'", name); break;
    case RS_CRITICAL_OUTSIDE: rs_strbuf_printf(s, "mostly %s", name); break;
    default: rs_strbuf_puts(s, "mostly with an idle GPU and no event that says why"); break;
    }
}

static void say_owner(struct rs_critical *c, const struct rs_view *v, const bool *named)
{
    struct owner o = {0};
    find_owner(c, v, &o);
    if (!o.all) return;
    double fair = c->ranks ? 1.0 / c->ranks : 1;
    bool stands_out = o.most && (double)o.ns >= LEAST * (double)window(c) &&
                      (double)o.ns >= TIMES * fair * (double)o.alone && (double)o.ns >= TIMES * (double)o.next;
    if (o.ns / 2 < c->error_ns) stands_out = false; /* nothing is claimed below the clock error */
    if (o.rank_id == RS_NONE || !named || !named[o.rank_id]) stands_out = false; /* it may be chance */
    struct rs_strbuf s = {0};
    if (!stands_out || c->ranks < 2) {
        rs_strbuf_puts(&s, "No rank stands out: time outside operations is ");
        share(&s, c, o.all);
        rs_strbuf_puts(&s, " of the path");
        if (o.alone) {
            rs_strbuf_puts(&s, ", and during ");
            share(&s, c, o.alone);
            rs_strbuf_puts(&s, " of it the others waited for some rank");
        }
        rs_strbuf_putc(&s, '.');
        say(c, &s);
        return;
    }
    rs_rank_words(&s, v->model, o.rank_id);
    rs_strbuf_puts(&s, " delays the others: for ");
    share(&s, c, o.ns);
    rs_strbuf_puts(&s, " of the path (");
    rs_words_ns(&s, o.ns);
    rs_strbuf_puts(&s, " of ");
    rs_words_ns(&s, window(c));
    rs_strbuf_puts(&s, ") they waited for it, ");
    advice(&s, c, o.most);
    rs_strbuf_puts(&s, ". At most that can be saved on this rank; then another one is the last.");
    say(c, &s);
}

/* ---- other sentences ---- */

static void say_transfers(struct rs_critical *c)
{
    int64_t all = 0, mixed = 0;
    const struct rs_critical_row *most = NULL;
    for (uint32_t i = 0; i < c->nrows; i++) {
        const struct rs_critical_row *r = &c->rows[i];
        if (r->kind == RS_CRITICAL_OPERATION) mixed += r->ns;
        if (r->kind != RS_CRITICAL_TRANSFER) continue;
        all += r->ns;
        if (!most) most = r;
    }
    struct rs_strbuf s = {0};
    if (all) {
        rs_strbuf_puts(&s, "Transfers are ");
        share(&s, c, all);
        rs_strbuf_printf(&s, " of it, most of them %s.", c->names[most->name]);
        say(c, &s);
    }
    if (!mixed) return;
    share(&s, c, mixed);
    rs_strbuf_puts(&s, " of it is in operations whose ranks cannot be compared (not all recorded, no starts, or clocks "
                       "not aligned): which rank they waited for is unknown.");
    say(c, &s);
}

static void say_ties(struct rs_critical *c)
{
    int64_t ties = 0;
    for (uint32_t i = 0; i < c->nrows; i++)
        if (!is_common(c->rows[i].kind)) ties += c->rows[i].tie_ns;
    if ((double)ties < 0.05 * (double)window(c)) return;
    struct rs_strbuf s = {0};
    rs_strbuf_puts(&s, "For ");
    share(&s, c, ties);
    rs_strbuf_puts(&s, " of it several ranks were equally late, within the clock error");
    if (c->error_ns > 0) {
        rs_strbuf_puts(&s, " of up to ");
        rs_words_ns(&s, c->error_ns);
    }
    rs_strbuf_puts(&s, ": there the path could as well run over another of them.");
    say(c, &s);
}

/* Fills c->conclusion from the rest. */
static void conclude(struct rs_critical *c, const struct rs_view *v, const bool *named)
{
    struct rs_strbuf s = {0};
    if (c->from == RS_TIME_NONE) {
        if (c->unended)
            rs_strbuf_puts(&s, "The ends of the operations in this window are unknown: "
                               "there is no path.");
        else if (c->timeless && v->nops)
            rs_strbuf_puts(&s, "These files do not contain the starts of operations: there is no path.");
        else if (c->timeless && c->placeless)
            rs_strbuf_printf(&s,
                             "%" PRIu64 " kernel%s and copies, but no communicator: which rank a process is, "
                             "and what ranks waited for, is unknown, and there is no path.",
                             c->placeless, c->placeless == 1 ? "" : "s");
        else
            rs_strbuf_puts(&s, "This window contains nothing with a start time: there is no path.");
        say(c, &s);
        return;
    }
    say_owner(c, v, named);
    say_transfers(c);
    say_ties(c);
    if (c->unended) {
        rs_strbuf_printf(&s,
                         "The path ends at the last known end; after it, %" PRIu64
                         " time%s a rank began an operation whose end is unknown.",
                         c->unended, c->unended == 1 ? "" : "s");
        say(c, &s);
    }
    if (c->left_out) {
        rs_strbuf_printf(&s, "%" PRIu32 " rank%s left out: %s clocks cannot be aligned with the others.", c->left_out,
                         c->left_out == 1 ? " is" : "s are", c->left_out == 1 ? "its" : "their");
        say(c, &s);
        return;
    }
}

/* ---- all steps ---- */

static void find(struct rs_critical *c, struct critical_walk *w, const struct rs_filter *filter, const bool *named)
{
    c->left_out = w->trails->left_out;
    c->has_activities = w->trails->has_activities;
    c->placeless = w->trails->placeless;
    for (uint32_t i = 0; i < w->trails->nranks; i++)
        c->ranks += w->trails->ranks[i].follow && w->trails->ranks[i].trail.n;
    if (!find_window(c, w->trails, filter, last_sign(w->view->model))) {
        conclude(c, w->view, named);
        return;
    }
    w->from = c->from;
    w->at = c->to;
    find_end(w);
    walk(w);
    for (uint32_t i = 0, k = c->nsegments; i + 1 < k--; i++) { /* it was built backwards */
        struct rs_critical_segment s = c->segments[i];
        c->segments[i] = c->segments[k];
        c->segments[k] = s;
    }
    sum_up(c);
    conclude(c, w->view, named);
}

void rs_critical_find(struct rs_critical *c, struct rs_view *view, const struct rs_filter *filter, const bool *named)
{
    *c = (struct rs_critical){.from = RS_TIME_NONE, .to = RS_TIME_NONE};
    struct rs_critical_trails trails;
    rs_critical_trails_init(&trails, view, filter);
    struct critical_walk w = {.path = c, .view = view, .trails = &trails};
    find(c, &w, filter, named);
    rs_map_free(&w.names);
    rs_critical_trails_free(&trails);
}

void rs_critical_free(struct rs_critical *c)
{
    for (uint32_t i = 0; i < c->nconclusion; i++) free(c->conclusion[i]);
    free(c->conclusion);
    free(c->segments);
    free(c->rows);
    free(c->names);
    *c = (struct rs_critical){0};
}

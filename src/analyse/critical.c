#include "analyse/critical.h"

#include <stdlib.h>

#include "analyse/critical_last.h"
#include "analyse/critical_walk.h"
#include "analyse/critical_words.h"
#include "base/room.h"

/* What begins so soon behind the end of another is taken to have waited for it: launches and event waits of a GPU take
 * some microseconds. */
enum { NEAR_NS = 10000, MOST_NEAR = 32 };

static const char NCCL_KERNEL[] = "a kernel of NCCL's";

const char *rs_critical_kind_name(uint8_t kind)
{
    static const char *const names[RS_CRITICAL_KINDS] = {"compute", "copy",   "transfer", "operation", "wait",
                                                         "unsure",  "launch", "host",     "outside",   "gap"};
    return kind < RS_CRITICAL_KINDS ? names[kind] : "?";
}

/* ---- segments ---- */

static enum rs_status name_index(struct rs_critical_walk *w, const char *name, uint32_t *index, struct rs_err *err)
{
    uint64_t *known;
    RS_TRY(rs_map_at(&w->names, (uint64_t)(uintptr_t)name, RS_NONE, &known, err));
    if (*known == RS_NONE) {
        RS_ROOM(w->path->names, w->path->nnames, w->path->cap_names, err);
        *known = w->path->nnames;
        w->path->names[w->path->nnames++] = name;
    }
    *index = (uint32_t)*known;
    return RS_OK;
}

enum rs_status rs_critical_add(struct rs_critical_walk *w, uint8_t kind, const char *name, uint32_t op, int64_t from,
                               struct rs_err *err)
{
    struct rs_critical *c = w->path;
    if (from < w->from) from = w->from;
    if (from >= w->at) return RS_OK;
    struct rs_critical_segment s = {
        .from = from, .to = w->at, .rank_id = w->trails->ranks[w->rank].rank_id, .op = op, .kind = kind, .tie = w->tie};
    RS_TRY(name_index(w, name, &s.name, err));
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
        return RS_OK;
    }
    RS_ROOM(c->segments, c->nsegments, c->cap_segments, err);
    c->segments[c->nsegments++] = s;
    return RS_OK;
}

/* ---- what ran ---- */

/* What runs over a moment: rather compute than copies than operations, of equals what began last. An operation in
 * which the rank still waits for others is none: nothing waits for a rank that waits. */
static const struct rs_span *running(const struct rs_critical_walk *w, const struct rs_trail *t, int64_t at)
{
    const struct rs_span *best = NULL;
    for (uint32_t i = rs_trail_begun(t, at); i != RS_NONE; i = t->spans[i].under) {
        const struct rs_span *s = &t->spans[i];
        if (s->latest <= at || (best && s->kind >= best->kind)) continue;
        if (s->kind == RS_SPAN_OP && rs_critical_waits(w->view->model, s, at)) continue;
        best = s;
    }
    return best;
}

/* What ended last before a moment; shortly before it rather what lies on the lane of the next. */
static const struct rs_span *ended(const struct rs_critical_walk *w, const struct rs_trail *t, int64_t at)
{
    const struct rs_span *last = NULL;
    uint32_t looked = 0;
    for (uint32_t i = rs_trail_ended(t, at); i-- > 0;) {
        const struct rs_span *s = &t->spans[t->by_end[i]];
        if (s->start >= at) continue; /* no length, and at that moment */
        if (!last) last = s;
        if (!w->next || rs_time_minus(at, s->latest) > NEAR_NS || looked++ == MOST_NEAR) break;
        if (s->lane == w->next->lane) return s;
    }
    return last;
}

/* What the path goes on with; NULL: nothing before. */
static const struct rs_span *before(const struct rs_critical_walk *w)
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
    uint32_t i = rs_trail_begun(trail, start); /* the first that began then is behind this one */
    for (i = i == RS_NONE ? 0 : i + 1; i < trail->n && trail->spans[i].start == start; i++)
        if (trail->spans[i].kind == RS_SPAN_OP && trail->spans[i].ref == op) return &trail->spans[i];
    return NULL;
}

static enum rs_status through_operation(struct rs_critical_walk *w, const struct rs_span *s, struct rs_err *err)
{
    const struct rs_model *m = w->view->model;
    uint32_t op = s->ref;
    const char *name = rs_model_text(m, m->ops.func[op]);
    if (w->at > s->end) RS_TRY(rs_critical_add(w, RS_CRITICAL_UNSURE, name, op, s->end, err));
    if (w->at <= w->from) return RS_OK;
    struct rs_critical_last last = rs_critical_last(w->trails, w->view, w->rank, s, w->at);
    /* Who is not recorded may have come later than all others: then it is not known where the transfer began. */
    bool whole = last.known && (m->ops.flags[op] & RS_OP_WHOLE);
    RS_TRY(rs_critical_add(w, whole ? RS_CRITICAL_TRANSFER : RS_CRITICAL_OPERATION, name, op, last.start, err));
    if (last.known) {
        if (m->ops.error[op] > w->path->error_ns) w->path->error_ns = m->ops.error[op];
        w->path->ties += last.tie;
        w->tie = last.tie;
    }
    w->lead = last.lead;
    if (last.rank != w->rank && (last.rank == RS_NONE || !w->trails->ranks[last.rank].follow)) {
        RS_TRY(rs_critical_add(w, RS_CRITICAL_WAIT, name, op, s->start, err));
        last.rank = w->rank;
        w->lead = 0;
    }
    w->path->jumps += last.rank != w->rank && w->at > w->from;
    w->next = last.rank == w->rank ? s : span_at(w->trails, last.rank, op, last.start);
    w->rank = last.rank;
    return RS_OK;
}

static enum rs_status through_work(struct rs_critical_walk *w, const struct rs_span *s, struct rs_err *err)
{
    const struct rs_model *m = w->view->model;
    const char *name = rs_model_name_text(m, m->activities.name[s->ref]);
    bool comm = m->activities.kind[s->ref] == RS_ACT_COMM;
    uint8_t kind = comm ? RS_CRITICAL_OPERATION : s->kind == RS_SPAN_COPY ? RS_CRITICAL_COPY : RS_CRITICAL_COMPUTE;
    RS_TRY(rs_critical_add(w, kind, *name || !comm ? name : NCCL_KERNEL, RS_NONE, s->start, err));
    w->next = s;
    return RS_OK;
}

/* Every round ends earlier than it began: what is taken began before w->at. */
static enum rs_status walk(struct rs_critical_walk *w, struct rs_err *err)
{
    while (w->at > w->from) {
        const struct rs_span *s = before(w);
        RS_TRY(rs_critical_explain(w, !s ? w->from : s->latest < w->at ? s->latest : w->at, err));
        if (!s || w->at <= w->from) continue;
        RS_TRY(s->kind == RS_SPAN_OP ? through_operation(w, s, err) : through_work(w, s, err));
    }
    return RS_OK;
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

/* Ranks that began operations behind the last known end, and before the last sign of life, in the window asked for. */
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

/* From the first start to the last end that is known, within what the filter asks for: what the end of the path waited
 * for can only be asked of an end. */
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
    if (c->from < c->to && rs_time_minus(c->to, c->from) > 0) return true; /* else it is empty, or damage */
    c->from = c->to = RS_TIME_NONE;
    return false;
}

/* The rank that was busy last in the window; of equals the lowest. What it did when all others had ended, it did
 * alone. */
static void find_end(struct rs_critical_walk *w)
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

static enum rs_status sum_up(struct rs_critical *c, struct rs_err *err)
{
    struct rs_map rows = {0};
    uint32_t cap = 0;
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < c->nsegments && status == RS_OK; i++) {
        const struct rs_critical_segment *s = &c->segments[i];
        uint64_t *row, key = (uint64_t)s->name << 32 | (uint64_t)s->rank_id << 4 | s->kind;
        status = rs_map_at(&rows, key, RS_NONE, &row, err);
        if (status == RS_OK && *row == RS_NONE) {
            void *room = c->rows;
            status = rs_room(&room, c->nrows, &cap, sizeof *c->rows, err);
            c->rows = room;
            if (status != RS_OK) break;
            *row = c->nrows;
            c->rows[c->nrows++] = (struct rs_critical_row){.rank_id = s->rank_id, .name = s->name, .kind = s->kind};
        }
        if (status != RS_OK) break;
        struct rs_critical_row *r = &c->rows[*row];
        r->segments++;
        r->ns += rs_time_minus(s->to, s->from);
        if (s->tie) r->tie_ns += rs_time_minus(s->to, s->from);
        r->alone_ns += s->alone;
    }
    rs_map_free(&rows);
    if (c->nrows) qsort(c->rows, c->nrows, sizeof *c->rows, longest_first);
    return status;
}

static enum rs_status find(struct rs_critical *c, struct rs_critical_walk *w, const struct rs_filter *filter,
                           struct rs_err *err)
{
    c->left_out = w->trails->left_out;
    c->has_activities = w->trails->has_activities;
    c->placeless = w->trails->placeless;
    for (uint32_t i = 0; i < w->trails->nranks; i++)
        c->ranks += w->trails->ranks[i].follow && w->trails->ranks[i].trail.n;
    if (!find_window(c, w->trails, filter, last_sign(w->view->model))) return rs_critical_conclude(c, w->view, err);
    w->from = c->from;
    w->at = c->to;
    find_end(w);
    RS_TRY(walk(w, err));
    for (uint32_t i = 0, k = c->nsegments; i + 1 < k--; i++) { /* it was walked backwards */
        struct rs_critical_segment s = c->segments[i];
        c->segments[i] = c->segments[k];
        c->segments[k] = s;
    }
    RS_TRY(sum_up(c, err));
    return rs_critical_conclude(c, w->view, err);
}

enum rs_status rs_critical_find(struct rs_critical *c, struct rs_view *view, const struct rs_filter *filter,
                                struct rs_err *err)
{
    *c = (struct rs_critical){.from = RS_TIME_NONE, .to = RS_TIME_NONE};
    struct rs_critical_trails trails;
    RS_TRY(rs_critical_trails_init(&trails, view, filter, err));
    struct rs_critical_walk w = {.path = c, .view = view, .trails = &trails};
    enum rs_status status = find(c, &w, filter, err);
    rs_map_free(&w.names);
    rs_critical_trails_free(&trails);
    if (status != RS_OK) rs_critical_free(c);
    return status;
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

#include "analyse/critical_trails.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/memory.h"
#include "base/room.h"

/* ---- one trail ---- */

enum { TRAIL_DEEP = 64 };

static void trail_add(struct rs_trail *t, const struct rs_span *span)
{
    RS_ROOM(t->spans, t->n, t->cap);
    t->spans[t->n] = *span;
    t->spans[t->n++].under = RS_NONE;
}

/* The enclosing span first; the rest makes the order deterministic. */
static int by_start(const void *a, const void *b)
{
    const struct rs_span *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->latest != y->latest) return x->latest > y->latest ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    return x->ref < y->ref ? -1 : x->ref > y->ref;
}

struct ended {
    int64_t at;
    uint32_t span;
};

static int by_end(const void *a, const void *b)
{
    const struct ended *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->span < y->span ? -1 : x->span > y->span;
}

/* Drops finished spans from a full stack, at any depth. */
static uint32_t drop_ended(const struct rs_span *spans, uint32_t *pile, uint32_t n, int64_t now)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < n; i++)
        if (spans[pile[i]].latest > now) pile[kept++] = pile[i];
    return kept;
}

static void find_under(struct rs_trail *t)
{
    uint32_t pile[TRAIL_DEEP], n = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        int64_t now = t->spans[i].start;
        while (n && t->spans[pile[n - 1]].latest <= now) n--;
        if (n == TRAIL_DEEP) n = drop_ended(t->spans, pile, n, now);
        t->spans[i].under = n ? pile[n - 1] : RS_NONE;
        if (n < TRAIL_DEEP) pile[n++] = i;
    }
}

static void trail_sort(struct rs_trail *t)
{
    if (!t->n) return;
    qsort(t->spans, t->n, sizeof *t->spans, by_start);
    find_under(t);
    struct ended *ends = rs_alloc(t->n * sizeof *ends);
    t->by_end = rs_alloc(t->n * sizeof *t->by_end);
    for (uint32_t i = 0; i < t->n; i++) ends[i] = (struct ended){t->spans[i].latest, i};
    qsort(ends, t->n, sizeof *ends, by_end);
    for (uint32_t i = 0; i < t->n; i++) t->by_end[i] = ends[i].span;
    free(ends);
}

static void trail_free(struct rs_trail *t)
{
    free(t->spans);
    free(t->by_end);
    *t = (struct rs_trail){0};
}

uint32_t rs_trail_begun(const struct rs_trail *t, int64_t at)
{
    uint32_t low = 0, high = t->n;
    RS_BISECT(low, high, mid, t->spans[mid].start < at);
    return low ? low - 1 : RS_NONE;
}

uint32_t rs_trail_ended(const struct rs_trail *t, int64_t at)
{
    uint32_t low = 0, high = t->n;
    RS_BISECT(low, high, mid, t->spans[t->by_end[mid]].latest <= at);
    return low;
}

/* ---- all trails ---- */

static uint32_t island_of(const struct rs_model *m, const struct rs_rank *r)
{
    uint32_t domain = r->gpu != RS_NONE ? r->gpu : m->hosts[r->host].domain;
    return domain < m->ndomains ? m->domains[domain].island : 0;
}

/* The island with the most ranks; of equals the first. */
static void main_island(const struct rs_view *v, uint32_t *island)
{
    struct rs_map count = {0};
    uint64_t most = 0, *n;
    *island = 0;
    for (uint32_t i = 0; i < v->model->nranks; i++) {
        uint32_t x = island_of(v->model, &v->model->ranks[i]);
        rs_map_at(&count, x, 0, &n);
        if (++*n > most) {
            most = *n;
            *island = x;
        }
    }
    rs_map_free(&count);
}

static void find_ranks(struct rs_critical_trails *t, const struct rs_view *v, const struct rs_filter *filter)
{
    uint32_t island;
    main_island(v, &island);
    t->ranks = rs_zalloc(v->model->nranks + 1, sizeof *t->ranks);
    t->of_rank = rs_zalloc(v->model->nranks + 1, sizeof *t->of_rank);
    for (uint32_t i = 0; i < v->model->nranks; i++) {
        t->of_rank[i] = RS_NONE;
        if (island_of(v->model, &v->model->ranks[i]) != island) {
            t->left_out++;
            continue;
        }
        t->of_rank[i] = t->nranks;
        t->ranks[t->nranks++] = (struct rs_rank_trail){.rank_id = i,
                                                       .thread = RS_NONE,
                                                       .seen_from = RS_TIME_NONE,
                                                       .seen_to = RS_TIME_NONE,
                                                       .follow = !filter || rs_filter_rank_row(filter, v->model, i)};
    }
}

/* ---- operations ---- */

/* A rank's span in an operation. None without a start; a bounded end has two limits. */
static bool span_of(const struct rs_model *m, uint32_t op, const struct rs_arrival *a, struct rs_span *span)
{
    if (a->start == RS_TIME_NONE) return false;
    *span = (struct rs_span){
        .start = a->start, .end = a->end, .ref = op, .part = a->part, .lane = m->ops.comm[op], .kind = RS_SPAN_OP};
    if (a->end == RS_TIME_NONE || a->end < a->start) {
        int64_t after = m->parts.after[a->part], before = m->parts.before[a->part];
        span->end = after != RS_TIME_NONE && after > a->start ? after : a->start;
        span->latest = before != RS_TIME_NONE && before > span->end ? before : span->end;
    } else {
        span->latest = a->end;
        span->ended = true;
    }
    return true;
}

/* From the call of an operation with an unknown start to its latest possible end, the rank may be in it. */
static void add_untimed(struct rs_rank_trail *r, const struct rs_model *m, uint32_t part)
{
    const struct rs_parts *p = &m->parts;
    int64_t from = p->launched[part] != RS_TIME_NONE ? p->launched[part] : p->enqueued[part];
    int64_t to = p->end[part] != RS_TIME_NONE ? p->end[part] : p->before[part];
    if (from == RS_TIME_NONE) return;
    RS_ROOM(r->untimed, r->nuntimed, r->cap_untimed);
    r->untimed[r->nuntimed++] = (struct rs_untimed){from, to == RS_TIME_NONE ? INT64_MAX : to};
}

static int by_from(const void *a, const void *b)
{
    const struct rs_untimed *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* By time, without overlap. */
static void merge_untimed(struct rs_rank_trail *r)
{
    uint32_t n = 0;
    if (r->nuntimed) qsort(r->untimed, r->nuntimed, sizeof *r->untimed, by_from);
    for (uint32_t i = 0; i < r->nuntimed; i++) {
        struct rs_untimed *last = n ? &r->untimed[n - 1] : NULL;
        if (!last || r->untimed[i].from > last->to)
            r->untimed[n++] = r->untimed[i];
        else if (r->untimed[i].to > last->to)
            last->to = r->untimed[i].to;
    }
    r->nuntimed = n;
}

static void add_operations(struct rs_critical_trails *t, struct rs_view *v)
{
    const struct rs_model *m = v->model;
    struct rs_span span;
    for (uint32_t i = 0; i < v->nops; i++) {
        uint32_t op = v->ops[i];
        if (!v->passes[op] || m->ops.over[op] != RS_NONE) continue;
        rs_view_arrivals(v, op);
        for (uint32_t k = 0; k < v->narrivals; k++) {
            const struct rs_arrival *a = &v->arrivals[k];
            uint32_t rank = t->of_rank[a->rank_id];
            if (rank == RS_NONE) continue;
            if (!span_of(m, op, a, &span)) {
                add_untimed(&t->ranks[rank], m, a->part);
                continue;
            }
            uint64_t kernel = rs_map_get(&t->kernels, a->part, RS_NONE);
            if (kernel != RS_NONE) span.lane = m->ncomms + m->activities.lane[kernel];
            trail_add(&t->ranks[rank].trail, &span);
        }
    }
}

/* ---- activities ---- */

/* The rank of each process's lanes: the process's, or that of a device, if there are several. */
static void add_device(const struct rs_critical_trails *t, struct rs_map *places, uint32_t rank_id, uint32_t proc,
                       int32_t device)
{
    uint32_t rank = rank_id == RS_NONE ? RS_NONE : t->of_rank[rank_id];
    uint64_t *whole, key = (uint64_t)proc << 32;
    if (rank == RS_NONE) return;
    rs_map_put(places, key | ((uint32_t)device + 1), rank);
    rs_map_at(places, key | UINT32_MAX, rank, &whole);
    if (*whole != rank) *whole = RS_NONE; /* several ranks: only devices distinguish them */
}

static void find_places(const struct rs_critical_trails *t, const struct rs_view *v, struct rs_map *places)
{
    const struct rs_model *m = v->model;
    for (uint32_t i = 0; i < m->nranks; i++) add_device(t, places, i, m->ranks[i].proc, m->ranks[i].device);
    for (uint32_t i = 0; i < m->nmembers; i++) /* processes of several tools may share a rank */
        add_device(t, places, m->members[i].rank_id, m->members[i].proc, m->members[i].device);
}

static uint32_t place_of(const struct rs_map *places, const struct rs_lane *lane)
{
    uint64_t key = (uint64_t)lane->proc << 32;
    uint64_t rank = rs_map_get(places, key | UINT32_MAX, RS_NONE);
    if (rank == RS_NONE && lane->kind == RS_LANE_STREAM)
        rank = rs_map_get(places, key | ((uint32_t)lane->device + 1), RS_NONE);
    return (uint32_t)rank;
}

static void add_activity(struct rs_critical_trails *t, const struct rs_model *m, const uint32_t *ranks, uint32_t i)
{
    const struct rs_activities *a = &m->activities;
    uint32_t lane = a->lane[i];
    struct rs_span span = {
        .start = a->start[i], .end = a->end[i], .latest = a->end[i], .ended = true, .ref = i, .kind = a->kind[i]};
    if (lane >= m->nlanes || span.start == RS_TIME_NONE || span.end < span.start) return;
    span.lane = m->ncomms + lane;
    if (ranks[lane] != RS_NONE) {
        struct rs_rank_trail *r = &t->ranks[ranks[lane]];
        if (r->seen_from == RS_TIME_NONE || span.start < r->seen_from) r->seen_from = span.start;
        if (r->seen_to == RS_TIME_NONE || span.end > r->seen_to) r->seen_to = span.end;
    }
    bool comm = a->kind[i] == RS_ACT_COMM;
    if (comm && a->part[i] != RS_NONE) {
        rs_map_put(&t->kernels, a->part[i], i);
        return; /* part of its operation */
    }
    if (t->thread_of[lane] != RS_NONE) {
        trail_add(&t->threads[t->thread_of[lane]], &span);
        return;
    }
    if (!rs_activity_is_work(a->kind[i])) return;
    if (ranks[lane] == RS_NONE) {
        t->placeless++;
        return;
    }
    span.kind = a->kind[i] == RS_ACT_COMPUTE || comm ? RS_SPAN_COMPUTE : RS_SPAN_COPY;
    t->has_activities = true;
    trail_add(&t->ranks[ranks[lane]].trail, &span);
}

/* The thread that represents a rank: the one with most launches, else with most events. */
static void choose_threads(struct rs_critical_trails *t, const struct rs_model *m, const uint32_t *ranks,
                           const uint32_t *busy)
{
    for (uint32_t lane = 0; lane < m->nlanes; lane++) {
        uint32_t thread = t->thread_of[lane], rank = ranks[lane];
        if (thread == RS_NONE || rank == RS_NONE || !t->threads[thread].n) continue;
        uint32_t *best = &t->ranks[rank].thread;
        if (*best == RS_NONE || busy[thread] > busy[*best] ||
            (busy[thread] == busy[*best] && t->threads[thread].n > t->threads[*best].n))
            *best = thread;
    }
}

static void add_lanes(struct rs_critical_trails *t, const struct rs_view *v, uint32_t *ranks, uint32_t *busy)
{
    const struct rs_model *m = v->model;
    struct rs_map places = {0};
    find_places(t, v, &places);
    for (uint32_t i = 0; i < m->nlanes; i++) {
        ranks[i] = place_of(&places, &m->lanes[i]);
        t->thread_of[i] = m->lanes[i].kind == RS_LANE_THREAD ? t->nthreads++ : RS_NONE;
    }
    rs_map_free(&places);
    for (uint32_t i = 0; i < m->activities.n; i++) {
        add_activity(t, m, ranks, i);
        uint32_t lane = m->activities.lane[i];
        bool launch = m->activities.kind[i] == RS_ACT_LAUNCH && lane < m->nlanes && t->thread_of[lane] != RS_NONE;
        if (launch) busy[t->thread_of[lane]]++;
    }
    choose_threads(t, m, ranks, busy);
}

static void add_activities(struct rs_critical_trails *t, const struct rs_view *v)
{
    const struct rs_model *m = v->model;
    uint32_t *ranks = rs_alloc((m->nlanes + 1) * sizeof *ranks), *busy = rs_zalloc(m->nlanes + 1, sizeof *busy);
    t->thread_of = rs_alloc((m->nlanes + 1) * sizeof *t->thread_of);
    t->threads = rs_zalloc(m->nlanes + 1, sizeof *t->threads);
    add_lanes(t, v, ranks, busy);
    free(ranks);
    free(busy);
}

static void make(struct rs_critical_trails *t, struct rs_view *v, const struct rs_filter *filter)
{
    find_ranks(t, v, filter);
    add_activities(t, v);
    add_operations(t, v);
    for (uint32_t i = 0; i < t->nranks; i++) {
        trail_sort(&t->ranks[i].trail);
        merge_untimed(&t->ranks[i]);
    }
    for (uint32_t i = 0; i < t->nthreads; i++) trail_sort(&t->threads[i]);
}

void rs_critical_trails_init(struct rs_critical_trails *t, struct rs_view *v, const struct rs_filter *filter)
{
    *t = (struct rs_critical_trails){0};
    make(t, v, filter);
}

void rs_critical_trails_free(struct rs_critical_trails *t)
{
    for (uint32_t i = 0; i < t->nranks; i++) {
        trail_free(&t->ranks[i].trail);
        free(t->ranks[i].untimed);
    }
    for (uint32_t i = 0; i < t->nthreads; i++) trail_free(&t->threads[i]);
    free(t->ranks);
    free(t->of_rank);
    free(t->threads);
    free(t->thread_of);
    rs_map_free(&t->kernels);
    *t = (struct rs_critical_trails){0};
}

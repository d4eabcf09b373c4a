#include "join/p2p_streams.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "base/memory.h"
#include "join/pairs.h"
#include "nccl/abi.h"

/* When sends or receives of a process may be missing. */
struct rs_holes {
    int64_t *from; /* ascending */
    int64_t *to; /* the latest end of those up to here: never decreases */
    uint32_t n;
    bool made;
};

/* ---- holes ---- */

struct span {
    int64_t from, to;
};

static int by_from(const void *a, const void *b)
{
    const struct span *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

static void make_holes(struct rs_holes *h, const struct rs_proc *p)
{
    size_t cap = (size_t)p->ngaps + p->ncovers + 1;
    struct span *spans = rs_alloc(cap * sizeof *spans);
    h->from = rs_alloc(cap * sizeof *h->from);
    h->to = rs_alloc(cap * sizeof *h->to);
    for (uint32_t i = 0; i < p->ngaps; i++)
        if (p->gaps[i].p2ps) spans[h->n++] = (struct span){p->gaps[i].from, p->gaps[i].to};
    for (uint32_t i = 0; i < p->ncovers; i++)
        if (!(p->covers[i].mask & RS_P2P)) spans[h->n++] = (struct span){p->covers[i].from, p->covers[i].to};
    if (p->overwritten_until != RS_TIME_NONE) spans[h->n++] = (struct span){INT64_MIN, p->overwritten_until};
    qsort(spans, h->n, sizeof *spans, by_from);
    for (uint32_t i = 0; i < h->n; i++) {
        h->from[i] = spans[i].from;
        h->to[i] = i && h->to[i - 1] > spans[i].to ? h->to[i - 1] : spans[i].to;
    }
    free(spans);
    h->made = true;
}

/* Whether something may be missing between two times. */
static bool has_hole(const struct rs_holes *h, int64_t from, int64_t to)
{
    uint32_t low = 0, high = h->n;
    RS_BISECT(low, high, mid, h->from[mid] <= to);
    return low && h->to[low - 1] >= from;
}

/* ---- what was launched together ---- */

/* One kernel: its span, as far as its parts show it. GPU clock. */
struct rs_launch_span {
    uint64_t launch;
    int64_t start, end; /* RS_TIME_NONE: unknown */
};

bool rs_launched_together(const struct rs_parts *t, uint32_t a, uint32_t b)
{
    return (t->launch[a] && t->launch[a] == t->launch[b]) || (t->group[a] && t->group[a] == t->group[b]);
}

static bool is_p2p(const struct rs_parts *t, uint32_t i)
{
    return t->member[i] != RS_NONE && (t->kind[i] == RS_PART_SEND || t->kind[i] == RS_PART_RECV);
}

/* Parts of one launch are adjacent on their member. */
static void find_launches(struct rs_p2p_streams *s)
{
    const struct rs_parts *t = &s->m->parts;
    uint32_t *now = rs_alloc(((size_t)s->m->nmembers + 1) * sizeof *now), n = 0;
    for (uint32_t i = 0; i < t->n; i++) n += is_p2p(t, i);
    s->launch = rs_alloc(t->n * sizeof *s->launch);
    s->spans = rs_alloc(((size_t)n + 1) * sizeof *s->spans);
    if (!now) rs_memory_out();
    for (uint32_t i = 0; i < s->m->nmembers; i++) now[i] = RS_NONE;
    for (uint32_t i = 0; i < t->n; i++) {
        if (!is_p2p(t, i)) continue;
        uint32_t *at = &now[t->member[i]];
        if (*at == RS_NONE || !t->launch[i] || s->spans[*at].launch != t->launch[i]) {
            *at = s->nspans++;
            s->spans[*at] = (struct rs_launch_span){t->launch[i], RS_TIME_NONE, RS_TIME_NONE};
        }
        s->launch[i] = *at;
        struct rs_launch_span *span = &s->spans[*at];
        if (t->start_source[i] == RS_FROM_KERNEL && (span->start == RS_TIME_NONE || t->start[i] < span->start))
            span->start = t->start[i];
        if (t->end_source[i] == RS_FROM_KERNEL && t->end[i] > span->end) span->end = t->end[i];
    }
    free(now);
}

/* ---- sides ---- */

static void set_error(const struct rs_model *m, struct rs_item *x, uint32_t domain)
{
    int64_t e = domain == RS_NONE ? RS_TIME_NONE : m->domains[domain].error_ns;
    x->island = e == RS_TIME_NONE ? RS_NONE : m->domains[domain].island;
    x->error = e < 0 || e > RS_ERROR_MOST ? RS_ERROR_MOST : e;
}

static void set_end(const struct rs_p2p_streams *s, struct rs_item *x)
{
    const struct rs_model *m = s->m;
    const struct rs_parts *t = &m->parts;
    uint32_t part = x->part, gpu = m->members[t->member[part]].gpu;
    const struct rs_launch_span *span = &s->spans[s->launch[part]];
    bool kernel = t->after_source[part] == RS_FROM_KERNEL && t->after[part] != RS_TIME_NONE;
    x->start = t->start[part];
    x->late = INT64_MAX;
    if (t->end[part] != RS_TIME_NONE) {
        x->early = x->late = t->end[part];
        x->tight = true;
        set_error(m, x, rs_part_end_domain(m, part));
    } else if (kernel && t->after[part] > x->start) { /* the end of one of its channels, and they end together */
        x->early = x->late = t->after[part];
        x->tight = true;
        set_error(m, x, gpu);
    } else if (span->end != RS_TIME_NONE && (kernel || t->start_source[part] != RS_FROM_PROXY)) {
        /* Others of the same kernel show when it ran. */
        x->early = kernel ? t->after[part] : span->start;
        x->late = span->end > x->early ? span->end : x->early;
        x->tight = x->early != RS_TIME_NONE;
        set_error(m, x, gpu);
    } else { /* the call may have been long before: it gives no bound */
        x->early = x->start;
        set_error(m, x, rs_part_start_domain(m, part));
    }
}

static void add_item(const struct rs_p2p_streams *s, struct rs_p2p_stream *side, uint32_t part)
{
    const struct rs_parts *t = &s->m->parts;
    struct rs_item *x = &side->items[side->n];
    *x = (struct rs_item){.part = part,
                          .vote = RS_NONE,
                          .bytes = rs_part_bytes(s->m, part),
                          .before = s->before[part],
                          .after = s->after[part],
                          .asked = t->enqueued[part],
                          .asked_late = t->enqueued[part]};
    if (x->asked == RS_TIME_NONE && side->n) x->asked = side->items[side->n - 1].asked;
    set_end(s, x);
    if (!side->n || !rs_launched_together(t, side->items[side->n - 1].part, part))
        side->bursts[side->nbursts++] = (struct rs_burst){.first = side->n};
    x->burst = side->nbursts - 1;
    if (++side->bursts[x->burst].n > side->longest) side->longest = side->bursts[x->burst].n;
    side->n++;
}

/* Going back: where something may be missing, and ends that are bounded by the next operation. */
static void look_back(const struct rs_holes *h, struct rs_p2p_stream *side)
{
    int64_t asked = INT64_MAX, started = INT64_MAX; /* of the next burst */
    for (uint32_t b = side->nbursts; b-- > 0;) {
        struct rs_burst *u = &side->bursts[b];
        /* NCCL reports an operation between its call and the next one. */
        u->touched = has_hole(h, side->items[u->first].asked, asked);
        for (uint32_t i = u->first + u->n; i-- > u->first;) {
            struct rs_item *x = &side->items[i];
            if (x->asked_late != RS_TIME_NONE) asked = x->asked_late;
            /* Kernels of a communicator run one after another. */
            if (x->late == INT64_MAX && started > x->early) x->late = started;
        }
        started = side->items[u->first].start == RS_TIME_NONE ? INT64_MAX : side->items[u->first].start;
    }
}

static void cut(struct rs_p2p_stream *side)
{
    uint32_t segment = 0;
    for (uint32_t b = 0; b < side->nbursts; b++) {
        const struct rs_burst *u = &side->bursts[b];
        if (b && (u->touched || side->bursts[b - 1].touched)) segment++;
        for (uint32_t i = 0; i < u->n; i++) {
            if (i && u->touched) segment++;
            side->items[u->first + i].segment = segment;
        }
    }
}

void rs_p2p_streams_load(struct rs_p2p_streams *s, struct rs_p2p_stream *side, const uint32_t *parts, uint32_t n)
{
    const struct rs_model *m = s->m;
    side->n = side->nbursts = side->longest = 0;
    for (uint32_t i = 0; i < n; i++)
        if (m->parts.op[parts[i]] == RS_NONE) add_item(s, side, parts[i]);
    if (!side->n) return;
    struct rs_holes *h = &s->holes[m->members[m->parts.member[parts[0]]].proc];
    if (!h->made) make_holes(h, rs_part_proc(m, parts[0]));
    look_back(h, side);
    cut(side);
}

/* ---- adjacent collectives ---- */

/* The function of a communicator with the most collectives: its numbers are the marks. */
static void find_marks(const struct rs_model *m, int32_t *func)
{
    const struct rs_parts *t = &m->parts;
    struct rs_map counts = {0};
    uint64_t *most = rs_zalloc((size_t)m->ncomms + 1, sizeof *most);
    for (uint32_t c = 0; c < m->ncomms; c++) func[c] = -1;
    for (uint32_t i = 0; i < t->n; i++) {
        if (t->kind[i] != RS_PART_COLL || t->captured[i] || t->member[i] == RS_NONE) continue;
        uint32_t comm = m->members[t->member[i]].comm;
        uint64_t *count;
        rs_map_at(&counts, (uint64_t)comm << 16 | t->func[i], 0, &count);
        if (++*count > most[comm]) {
            most[comm] = *count;
            func[comm] = t->func[i];
        }
    }
    free(most);
    rs_map_free(&counts);
}

/* The marks that a member passed, going forward or back. */
struct passed {
    int64_t mark, mark_before; /* the latest; the latest of another group call */
    uint64_t group;
};

static void pass(const struct rs_model *m, const int32_t *func, struct passed *state, uint32_t i, int64_t *around)
{
    const struct rs_parts *t = &m->parts;
    if (t->member[i] == RS_NONE) return;
    struct passed *s = &state[t->member[i]];
    if (t->kind[i] == RS_PART_SEND || t->kind[i] == RS_PART_RECV) {
        /* Within one group call the order is NCCL's. */
        around[i] = s->group && s->group == t->group[i] ? s->mark_before : s->mark;
    } else if (t->kind[i] == RS_PART_COLL && !t->captured[i] && t->seq[i] < INT64_MAX &&
               func[m->members[t->member[i]].comm] == t->func[i]) {
        if (!s->group || s->group != t->group[i]) s->mark_before = s->mark;
        s->group = t->group[i];
        s->mark = (int64_t)t->seq[i];
    }
}

static void find_around(struct rs_p2p_streams *s)
{
    const struct rs_model *m = s->m;
    uint32_t n = m->parts.n;
    int32_t *func = rs_alloc(((size_t)m->ncomms + 1) * sizeof *func);
    struct passed *state = rs_alloc(((size_t)m->nmembers + 1) * sizeof *state);
    s->before = rs_alloc(n * sizeof *s->before);
    s->after = rs_alloc(n * sizeof *s->after);
    find_marks(m, func);
    for (uint32_t i = 0; i < m->nmembers; i++) state[i] = (struct passed){-1, -1, 0};
    for (uint32_t i = 0; i < n; i++) pass(m, func, state, i, s->before);
    for (uint32_t i = 0; i < m->nmembers; i++) state[i] = (struct passed){INT64_MAX, INT64_MAX, 0};
    for (uint32_t i = n; i-- > 0;) pass(m, func, state, i, s->after);
    free(func);
    free(state);
}

void rs_p2p_streams_init(struct rs_p2p_streams *s, const struct rs_model *m)
{
    *s = (struct rs_p2p_streams){.m = m, .holes = rs_zalloc((size_t)m->nprocs + 1, sizeof *s->holes)};
    find_launches(s);
    find_around(s);
}

void rs_p2p_streams_free(struct rs_p2p_streams *s)
{
    for (uint32_t i = 0; s->holes && i < s->m->nprocs; i++) {
        free(s->holes[i].from);
        free(s->holes[i].to);
    }
    free(s->holes);
    free(s->before);
    free(s->after);
    free(s->launch);
    free(s->spans);
    *s = (struct rs_p2p_streams){0};
}

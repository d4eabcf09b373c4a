#include "analyse/steps.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/repeats.h"
#include "analyse/words.h"
#include "base/bisect.h"
#include "base/memory.h"
#include "base/mix.h"
#include "join/flow.h"
#include "join/op_facts.h"
#include "join/overlay_facts.h"

/* ---- marks of the framework ---- */

static int mark_by_time(const void *a, const void *b)
{
    const struct rs_step_mark *x = a, *y = b;
    if (x->proc != y->proc) return x->proc < y->proc ? -1 : 1;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return x->from < y->from ? -1 : x->from > y->from;
}

static int by_step(const void *a, const void *b)
{
    const struct rs_step_mark *x = a, *y = b;
    if (x->again != y->again) return x->again < y->again ? -1 : 1;
    if (x->number != y->number) return x->number < y->number ? -1 : 1;
    return x->proc < y->proc ? -1 : x->proc > y->proc;
}

/* Threads of a process that mark the same step count once. */
static void step_marks_find(struct rs_step_marks *s, const struct rs_model *m)
{
    const struct rs_activities *a = &m->activities;
    *s = (struct rs_step_marks){0};
    for (uint32_t i = 0; i < a->n; i++) {
        if (a->kind[i] != RS_ACT_STEP || a->lane[i] >= m->nlanes || a->end[i] <= a->start[i]) continue;
        struct rs_step_mark x = {.from = a->start[i], .to = a->end[i], .proc = m->lanes[a->lane[i]].proc};
        x.number = rs_step_number(rs_model_name_text(m, a->name[i]));
        if (x.number == RS_NONE) continue;
        RS_ROOM(s->rows, s->n, s->cap);
        s->rows[s->n++] = x;
    }
    if (!s->n) return;
    qsort(s->rows, s->n, sizeof *s->rows, mark_by_time);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        struct rs_step_mark x = s->rows[i], *last = kept ? &s->rows[kept - 1] : NULL;
        bool same = last && last->proc == x.proc && last->number == x.number;
        if (same && x.from < last->to) continue; /* of another thread */
        if (same) x.again = last->again + 1;
        s->rows[kept++] = x;
    }
    s->n = kept;
    qsort(s->rows, s->n, sizeof *s->rows, by_step);
}

const struct rs_step_mark *rs_step_mark_of(const struct rs_step_marks *s, uint32_t again, uint32_t number,
                                           uint32_t proc)
{
    const struct rs_step_mark wanted = {.again = again, .number = number, .proc = proc};
    uint32_t low = 0, high = s->n;
    RS_BISECT(low, high, mid, by_step(&s->rows[mid], &wanted) < 0);
    return low < s->n && !by_step(&s->rows[low], &wanted) ? &s->rows[low] : NULL;
}

static void step_marks_free(struct rs_step_marks *s)
{
    free(s->rows);
    *s = (struct rs_step_marks){0};
}

/* ---- operations as items of a sequence ----
 * The operations of the rank that took part in the most, as items of a sequence (analyse/repeats.h).
 *
 * In program order, as its process reported them: starts on several streams overtake each other. If records of that
 * process were lost, what the others recorded of its operations is included, all by time. */

struct step_items {
    struct rs_item *rows;
    uint32_t n;
    uint32_t rank_id; /* RS_NONE: none */
};

enum {
    SCALAR = 8192, /* bytes: collectives below that are scalars... */
    SMALL = 16, /* ...if they are also below this part of the largest */
    MANY = 16, /* operations of a kind that show whether sizes recur */
};

struct call {
    int64_t at;
    struct rs_item item;
};

struct items_work {
    const struct rs_view *view;
    struct step_items *out;
    struct rs_map classes, kinds, symbols;
    uint32_t nkinds, nsymbols;
    uint64_t group; /* of the calls */
    struct call *calls; /* of the current group */
    uint32_t ncalls, cap_calls;
};

/* ---- the rank ---- */

static bool is_top(const struct rs_model *m, uint32_t op)
{
    return op != RS_NONE && m->ops.over[op] == RS_NONE;
}

/* A rank recorded by several tools is that of the primary process. */
static bool is_own(const struct rs_view *v, uint32_t part, uint32_t rank_id)
{
    uint32_t member = v->model->parts.member[part];
    return v->model->members[member].rank_id == rank_id &&
           v->model->members[member].proc == v->model->ranks[rank_id].proc;
}

static bool is_lossy(const struct rs_view *v, uint32_t rank_id)
{
    const struct rs_proc *p = &v->model->procs[v->model->ranks[rank_id].proc];
    return p->lost || p->overwritten || p->damaged || p->ngaps;
}

/* The one with the most parts; preferably one without losses, if it has nearly as many. */
static void busiest_rank(struct items_work *w)
{
    const struct rs_view *v = w->view;
    uint32_t *counts = rs_zalloc(v->model->nranks + 1, sizeof *counts), best = RS_NONE, whole = RS_NONE;
    for (uint32_t i = 0; i < v->model->parts.n; i++) {
        uint32_t rank_id = v->model->members[v->model->parts.member[i]].rank_id;
        if (rank_id != RS_NONE) counts[rank_id] += is_top(v->model, v->model->parts.op[i]) && is_own(v, i, rank_id);
    }
    for (uint32_t i = 0; i < v->model->nranks; i++) {
        if (!counts[i]) continue;
        if (best == RS_NONE || counts[i] > counts[best]) best = i;
        if (!is_lossy(v, i) && (whole == RS_NONE || counts[i] > counts[whole])) whole = i;
    }
    bool rather = whole != RS_NONE && 10 * (uint64_t)counts[whole] >= 9 * (uint64_t)counts[best];
    w->out->rank_id = rather ? whole : best;
    free(counts);
}

/* ---- items ---- */

static enum rs_status number(struct rs_map *map, uint64_t key, uint32_t *count, uint32_t *id, struct rs_err *err)
{
    (void)err;
    uint64_t *found;
    rs_map_at(map, key, *count, &found);
    *count += *found == *count;
    *id = (uint32_t)*found;
    return RS_OK;
}

/* Sizes of point to point and all-to-all depend on the data (experts), and so does which ranks exchange anything; sends are
 * distinguished by direction. Those of other collectives depend on the model only. `rank` is that rank's in the communicator. */
static enum rs_status add(struct items_work *w, uint32_t op, int32_t rank, struct rs_err *err)
{
    const struct rs_model *m = w->view->model;
    const struct rs_ops *o = &m->ops;
    uint32_t comm = o->comm[op];
    bool sized = o->kind[op] != RS_OP_PAIR && o->kind[op] != RS_OP_FANOUT &&
                 strcmp(rs_model_text(m, o->func[op]), "AlltoAll") != 0;
    uint32_t func = o->kind[op] == RS_OP_FANOUT ? 0 : o->func[op]; /* its name says which ranks exchanged something */
    uint64_t class = m->comms[comm].class != RS_NONE ? m->comms[comm].class : UINT64_C(1) << 32 | comm, way = 0;
    if (o->kind[op] == RS_OP_PAIR) {
        int32_t other = o->root[op] == rank ? o->dst[op] : o->root[op];
        way = (uint64_t)(o->root[op] == rank) << 32 | (uint32_t)(other - rank);
    }
    struct rs_item x = {.op = op, .bytes = (float)o->bytes[op], .first = RS_TIME_NONE, .over = RS_TIME_NONE};
    uint32_t nclasses = (uint32_t)rs_map_count(&w->classes);
    RS_TRY(number(&w->classes, class, &nclasses, &x.class, err));
    uint64_t kind = rs_mix(rs_mix(rs_mix(1, class), (uint64_t)o->kind[op] << 16 | func), way);
    RS_TRY(number(&w->kinds, kind, &w->nkinds, &x.kind, err));
    RS_TRY(number(&w->symbols, rs_mix(rs_mix(kind, o->captured[op]), sized ? o->bytes[op] : 0), &w->nsymbols, &x.symbol,
                  err));
    x.scalar = sized && o->bytes[op] < SCALAR;
    x.captured = o->captured[op] != 0;
    int64_t moment = rs_op_moment(m, op);
    if (moment != RS_TIME_NONE) {
        x.first = o->first[op] != RS_TIME_NONE ? o->first[op] : moment;
        x.over = rs_op_over(m, op);
    }
    w->out->rows[w->out->n++] = x;
    return RS_OK;
}

static int by_call(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->item.op < y->item.op ? -1 : x->item.op > y->item.op;
}

/* Puts the items of one group call, the last ones, into the order of their calls: NCCL sorts them by size. */
static void end_group(struct items_work *w)
{
    if (w->ncalls > 1) {
        struct rs_item *rows = w->out->rows + w->out->n - w->ncalls;
        for (uint32_t i = 0; i < w->ncalls; i++) w->calls[i].item = rows[i];
        qsort(w->calls, w->ncalls, sizeof *w->calls, by_call);
        for (uint32_t i = 0; i < w->ncalls; i++) {
            rows[i] = w->calls[i].item;
            rows[i].grouped = i > 0;
        }
    }
    w->ncalls = 0;
}

static void note_call(struct items_work *w, uint32_t part)
{
    uint64_t group = w->view->model->parts.group ? w->view->model->parts.group[part] : 0;
    if (!group || group != w->group) end_group(w);
    w->group = group;
    if (!group) return;
    RS_ROOM(w->calls, w->ncalls, w->cap_calls);
    w->calls[w->ncalls++].at = w->view->model->parts.enqueued[part];
}

/* In program order: parts of a process are. */
static enum rs_status collect_own(struct items_work *w, struct rs_err *err)
{
    const struct rs_model *m = w->view->model;
    uint8_t *seen = rs_zalloc((size_t)m->ops.n / 8 + 1, 1);
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < m->parts.n && status == RS_OK; i++) {
        uint32_t op = m->parts.op[i];
        if (!is_own(w->view, i, w->out->rank_id) || !is_top(m, op)) continue;
        if (m->ops.kind[op] == RS_OP_PAIR && m->ops.fanout[op] != RS_NONE) op = m->ops.fanout[op];
        if (!is_top(m, op) || (seen[op / 8] >> op % 8 & 1)) continue;
        seen[op / 8] |= (uint8_t)(1 << op % 8);
        note_call(w, i);
        status = add(w, op, m->members[m->parts.member[i]].rank, err);
    }
    free(seen);
    if (status == RS_OK) end_group(w);
    return status;
}

/* By time, with what only others recorded of the rank's operations. */
static enum rs_status collect_all(struct items_work *w, struct rs_err *err)
{
    const struct rs_view *v = w->view;
    const struct rs_model *m = v->model;
    uint32_t *member_in = rs_alloc((m->ncomms + 1) * sizeof *member_in);
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < m->ncomms; i++) member_in[i] = RS_NONE;
    for (uint32_t i = 0; i < m->nmembers; i++)
        if (m->members[i].rank_id == w->out->rank_id) member_in[m->members[i].comm] = i;
    for (uint32_t i = 0; i < v->nops && status == RS_OK; i++) {
        uint32_t op = v->ops[i], member = member_in[m->ops.comm[op]];
        if (member == RS_NONE) continue;
        int32_t rank = m->members[member].rank;
        if (m->ops.kind[op] != RS_OP_PAIR || m->ops.root[op] == rank || m->ops.dst[op] == rank)
            status = add(w, op, rank, err);
    }
    free(member_in);
    return status;
}

/* ---- all steps ---- */

static void find_pauses(struct step_items *s)
{
    int64_t over = RS_TIME_NONE;
    for (uint32_t i = 0; i < s->n; i++) {
        struct rs_item *x = &s->rows[i];
        int64_t pause = over != RS_TIME_NONE && x->first != RS_TIME_NONE ? rs_time_minus(x->first, over) : 0;
        x->pause = pause > 0 ? pause : 0;
        if (x->over > over) over = x->over;
    }
}

/* What is small among large ones is a scalar. A kind whose sizes depend on the data (a fifth of those in the second
 * half of its operations do not occur in the first) is one symbol. */
static void find_weak(struct items_work *w)
{
    struct step_items *s = w->out;
    uint32_t *all = rs_zalloc(4 * (size_t)w->nkinds + w->nsymbols + 1, sizeof *all), *so_far = all + w->nkinds;
    uint32_t *again = so_far + w->nkinds, *symbol = again + w->nkinds, *seen = symbol + w->nkinds;
    float largest = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        all[s->rows[i].kind]++;
        if (s->rows[i].bytes > largest) largest = s->rows[i].bytes;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        const struct rs_item *x = &s->rows[i];
        if (!so_far[x->kind]) symbol[x->kind] = x->symbol;
        if (++so_far[x->kind] <= all[x->kind] / 2)
            seen[x->symbol] = 1;
        else
            again[x->kind] += seen[x->symbol];
    }
    for (uint32_t i = 0; i < s->n; i++) {
        struct rs_item *x = &s->rows[i];
        uint32_t behind = all[x->kind] - all[x->kind] / 2;
        if (x->bytes > largest / SMALL) x->scalar = false;
        if (all[x->kind] < MANY || 5 * (uint64_t)again[x->kind] >= 4 * (uint64_t)behind) continue;
        x->scalar = true;
        x->symbol = symbol[x->kind];
    }
    free(all);
}

static enum rs_status make(struct items_work *w, struct rs_err *err)
{
    const struct rs_view *v = w->view;
    busiest_rank(w);
    if (w->out->rank_id == RS_NONE) return RS_OK;
    w->out->rows = rs_alloc(((size_t)v->nops + 1) * sizeof *w->out->rows);
    RS_TRY(is_lossy(v, w->out->rank_id) ? collect_all(w, err) : collect_own(w, err));
    find_pauses(w->out);
    find_weak(w);
    return RS_OK;
}

static void step_items_free(struct step_items *s);

static enum rs_status step_items_init(struct step_items *s, const struct rs_view *view, struct rs_err *err)
{
    struct items_work w = {.view = view, .out = s};
    *s = (struct step_items){.rank_id = RS_NONE};
    enum rs_status status = make(&w, err);
    rs_map_free(&w.classes);
    rs_map_free(&w.kinds);
    rs_map_free(&w.symbols);
    free(w.calls);
    if (status != RS_OK) step_items_free(s);
    return status;
}

static void step_items_free(struct step_items *s)
{
    free(s->rows);
    *s = (struct step_items){.rank_id = RS_NONE};
}

/* ---- steps ---- */

struct work {
    const struct rs_view *view;
    struct rs_steps *out;
    struct step_items items;
    struct rs_repeats units;
    int64_t *scratch; /* working memory for every mark and unit */
};

/* ---- marks ---- */

static int by_time(const void *a, const void *b)
{
    const struct rs_step *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/* Of the same step on all ranks that marked it. */
static struct rs_step median_mark(struct work *w, const struct rs_step_mark *marks, uint32_t n)
{
    struct rs_step x = {.mark = marks[0].number, .again = marks[0].again, .unit = RS_NONE};
    for (uint32_t i = 0; i < n; i++) w->scratch[i] = marks[i].from;
    x.from = x.begin = rs_median(w->scratch, n);
    for (uint32_t i = 0; i < n; i++) w->scratch[i] = marks[i].to;
    x.to = x.end = rs_median(w->scratch, n);
    return x;
}

static void take_marks(struct work *w)
{
    struct rs_steps *s = w->out;
    const struct rs_step_mark *rows = w->out->marks.rows;
    for (uint32_t i = 0, n; i < w->out->marks.n; i += n) {
        for (n = 1;
             i + n < w->out->marks.n && rows[i + n].number == rows[i].number && rows[i + n].again == rows[i].again;)
            n++;
        s->rows[s->n++] = median_mark(w, rows + i, n);
    }
    s->marked = s->n;
    if (s->n) qsort(s->rows, s->n, sizeof *s->rows, by_time);
}

/* ---- the pattern ---- */

/* When everything before an item was over; the first begins with its start. */
static int64_t boundary(const struct work *w, uint32_t item, uint32_t *done, int64_t *over)
{
    for (; *done < item; ++*done) {
        int64_t t = w->items.rows[*done].over;
        if (t > *over) *over = t;
    }
    if (*over != RS_TIME_NONE) return *over;
    while (item < w->items.n && w->items.rows[item].first == RS_TIME_NONE) item++;
    return item < w->items.n ? w->items.rows[item].first : RS_TIME_NONE;
}

/* For each mark the unit with the most operations that were called in it: count << 32 | unit. `inside`: units whose
 * operations were mostly called in a mark. */
static void claim_marks(const struct work *w, struct rs_map *claims, bool *inside)
{
    for (uint32_t unit = 0; unit < w->units.n; unit++) {
        uint32_t from = w->units.firsts[unit], to = w->units.firsts[unit + 1], mark = RS_NONE, n = 0, tagged = 0;
        for (uint32_t i = from; i < to; i++) {
            struct rs_facts f;
            rs_facts_of_op(w->view->model, w->items.rows[i].op, &f);
            if (f.step == RS_NONE) continue;
            n = f.step == mark ? n + 1 : 1; /* the operations of a mark are consecutive */
            mark = f.step;
            tagged++;
            uint64_t *most;
            rs_map_at(claims, mark, 0, &most);
            if (n > *most >> 32) *most = (uint64_t)n << 32 | unit;
        }
        inside[unit] = 2 * (uint64_t)tagged > to - from;
    }
}

static void take_units(struct work *w)
{
    struct rs_steps *s = w->out;
    const uint32_t *firsts = w->units.firsts;
    int64_t over = RS_TIME_NONE;
    uint32_t done = 0;
    if (!w->units.n) return;
    for (uint32_t i = 0; i < w->units.n; i++) w->scratch[i] = firsts[i + 1] - firsts[i];
    s->ops = (uint32_t)rs_median(w->scratch, w->units.n);
    int64_t from = boundary(w, firsts[0], &done, &over);
    for (uint32_t i = 0; i < w->units.n && from != RS_TIME_NONE; i++) {
        int64_t to = boundary(w, firsts[i + 1], &done, &over);
        if (to <= from) to = from + 1; /* unknown ends: it is still a step */
        s->rows[s->n++] =
            (struct rs_step){.from = from, .to = to, .begin = from, .end = to, .unit = i, .mark = RS_NONE};
        from = to;
    }
}

/* Removes the steps by the pattern that are marks: those whose operations were called in one. If no tool reports the
 * calls, marks without others are assigned by time. */
static void join_marks(struct work *w)
{
    struct rs_steps *s = w->out;
    struct rs_map claims = {0};
    struct rs_step *units = s->rows + s->marked;
    uint32_t nunits = s->n - s->marked, kept = 0;
    bool *marked = rs_zalloc((size_t)w->units.n + 1, sizeof *marked);
    claim_marks(w, &claims, marked);
    for (uint32_t i = 0; i < nunits; i++) {
        int64_t middle = rs_time_plus(units[i].from, rs_time_minus(units[i].to, units[i].from) / 2);
        uint32_t low = 0, high = s->marked;
        RS_BISECT(low, high, mid, s->rows[mid].end <= middle);
        marked[i] |= low < s->marked && s->rows[low].begin <= middle && !rs_map_find(&claims, s->rows[low].mark);
    }
    for (uint32_t i = 0; i < s->marked; i++) {
        uint64_t *most = rs_map_find(&claims, s->rows[i].mark);
        uint32_t unit = most ? (uint32_t)*most : nunits;
        if (unit >= nunits) continue;
        marked[unit] = true;
        s->rows[i].from = units[unit].from;
        s->rows[i].to = units[unit].to;
        s->rows[i].unit = unit;
    }
    for (uint32_t i = 0; i < nunits; i++)
        if (!marked[i]) units[kept++] = units[i];
    s->n = s->marked + kept;
    free(marked);
    rs_map_free(&claims);
}

/* ---- all steps ---- */

static void separate(struct rs_steps *s)
{
    if (s->n) qsort(s->rows, s->n, sizeof *s->rows, by_time);
    for (uint32_t i = 0; i + 1 < s->n; i++)
        if (s->rows[i].to > s->rows[i + 1].from) s->rows[i].to = s->rows[i + 1].from;
}

/* A unit assigned to several marks belongs to none: their operations distinguish them. */
static void part_units(struct work *w)
{
    struct rs_steps *s = w->out;
    for (uint32_t i = 0; i < w->units.n; i++) w->scratch[i] = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->rows[i].unit != RS_NONE) w->scratch[s->rows[i].unit]++;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->rows[i].unit != RS_NONE && w->scratch[s->rows[i].unit] > 1) s->rows[i].unit = RS_NONE;
}

/* When an operation is over: at its end if all ranks end together, else at the last start. Sends may end at any time,
 * and ends that are reported too early, or come from another tool, would make the same step longer in one input than in
 * another. */
static int64_t over_at(const struct rs_model *m, uint32_t op)
{
    const struct rs_ops *o = &m->ops;
    bool sure = o->kind[op] == RS_OP_COLL && rs_func_flow(m, o->func[op]) == RS_FLOW_ALL && o->end[op] != RS_TIME_NONE;
    for (uint32_t i = 0; i < o->nparts[op] && sure; i++) {
        uint32_t part = m->order[o->part[op] + i];
        sure = rs_part_has_ended(m, part) && !(m->parts.flags[part] & RS_PART_LENT_END);
    }
    return sure ? o->end[op] : o->last[op];
}

static void add_time(struct work *w, uint32_t step, uint32_t item)
{
    const struct rs_ops *o = &w->view->model->ops;
    uint32_t op = w->items.rows[item].op;
    int64_t *first = &w->out->rows[step].start, *last = &w->scratch[step];
    if (rs_op_not_measured(w->view->model, op)) w->out->rows[step].measured = false;
    if (o->first[op] == RS_TIME_NONE) return;
    int64_t over = over_at(w->view->model, op);
    if (*first == RS_TIME_NONE || o->first[op] < *first) *first = o->first[op];
    if (*last == RS_TIME_NONE || over > *last) *last = over;
}

/* Whether no unrecorded step is between them: a profiler may pause. */
static bool is_next(const struct rs_step *x, const struct rs_step *next)
{
    if (x->mark == RS_NONE || next->mark == RS_NONE) return true;
    return x->again == next->again && x->mark + 1 == next->mark;
}

/* When the rank called the first operation of a unit; RS_TIME_NONE: unknown. */
static int64_t called(const struct work *w, uint32_t unit)
{
    const struct rs_model *m = w->view->model;
    uint32_t op = w->items.rows[w->units.firsts[unit]].op;
    for (uint32_t i = 0; i < m->ops.nparts[op]; i++) {
        uint32_t part = m->order[m->ops.part[op] + i];
        if (m->members[m->parts.member[part]].rank_id == w->items.rank_id) return m->parts.enqueued[part];
    }
    return RS_TIME_NONE;
}

static void time_by_calls(const struct work *w, struct rs_step *x)
{
    x->start = x->length = RS_TIME_NONE;
    if (x->unit == RS_NONE || x->unit + 1 >= w->units.n) return;
    int64_t from = called(w, x->unit), to = called(w, x->unit + 1);
    if (from == RS_TIME_NONE || to <= from) return;
    x->start = from;
    x->length = rs_time_minus(to, from);
}

/* The start and length of steps, by their operations: from when those of the previous step are over to when its own
 * are, so that compute before a step's first operation belongs to that step. The first step starts with its own first
 * operation. */
static void time_steps(struct work *w)
{
    struct rs_steps *s = w->out;
    bool loose = false; /* steps that are no unit */
    part_units(w);
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t unit = s->rows[i].unit;
        s->rows[i].start = s->rows[i].length = w->scratch[i] = RS_TIME_NONE;
        s->rows[i].measured = true;
        loose |= unit == RS_NONE;
        for (uint32_t k = unit != RS_NONE ? w->units.firsts[unit] : 0; unit != RS_NONE && k < w->units.firsts[unit + 1];
             k++)
            add_time(w, i, k);
    }
    for (uint32_t k = 0; k < w->items.n && loose; k++) {
        uint32_t step = rs_steps_of_op(s, w->view->model, w->items.rows[k].op);
        if (step != RS_NONE && s->rows[step].unit == RS_NONE) add_time(w, step, k);
    }
    for (uint32_t i = s->n; i-- > 0;) {
        struct rs_step *x = &s->rows[i];
        x->measured &= !i || x[-1].measured;
        if (!x->measured) {
            time_by_calls(w, x);
            continue;
        }
        int64_t last = w->scratch[i], before = i && is_next(x - 1, x) ? w->scratch[i - 1] : RS_TIME_NONE;
        if (before != RS_TIME_NONE && before < x->start) x->start = before;
        if (x->start != RS_TIME_NONE && last > x->start) x->length = rs_time_minus(last, x->start);
    }
}

/* ---- start-up ---- */

enum {
    STARTUP_FEWEST = 6, /* steps of a run that may have a start-up */
    STARTUP_PART = 3, /* at most this part of them */
    STARTUP_TIMES = 2,
    STARTUP_SPREAD = 8,
};
#define STARTUP_QUANTILE 0.9 /* if one in ten is about as long, the first ones are no exception */

/* What is longer is start-up; NAN: unknown. */
static double startup_limit(const struct work *w)
{
    const struct rs_steps *s = w->out;
    uint32_t n = 0;
    for (uint32_t i = s->n / STARTUP_PART; i < s->n; i++)
        if (s->rows[i].length != RS_TIME_NONE) w->scratch[n++] = s->rows[i].length;
    if (n < STARTUP_FEWEST / 2) return NAN;
    int64_t usual = rs_median(w->scratch, n), long_ones = rs_quantile(w->scratch, n, STARTUP_QUANTILE);
    double spread = STARTUP_SPREAD * (double)rs_mad(w->scratch, n, usual);
    return fmax(fmax((double)usual + spread, STARTUP_TIMES * (double)usual), 1.5 * (double)long_ones);
}

static void find_startup(struct work *w)
{
    struct rs_steps *s = w->out;
    const struct rs_view *v = w->view;
    double limit = startup_limit(w);
    s->begin_ns = RS_TIME_NONE;
    for (uint32_t i = 0; i < v->nops; i++) {
        int64_t at = v->model->ops.first[v->ops[i]];
        if (at != RS_TIME_NONE && (s->begin_ns == RS_TIME_NONE || at < s->begin_ns)) s->begin_ns = at;
    }
    if (isnan(limit) || s->begin_ns == RS_TIME_NONE) return;
    uint32_t most = s->n >= STARTUP_FEWEST ? s->n / STARTUP_PART : 0, longer = 0, known = 0;
    for (uint32_t i = 0; i < most; i++) {
        if (s->rows[i].length == RS_TIME_NONE) continue;
        known++;
        if ((double)s->rows[i].length <= limit) continue;
        if (3 * ++longer >= 2 * known) s->startup = i + 1;
    }
    s->early = s->startup || (double)rs_time_minus(s->rows[0].from, s->begin_ns) > limit;
}

static void say_left_out(struct rs_steps *s)
{
    free(s->left_out);
    s->left_out = NULL;
    if (s->after_ns == RS_TIME_NONE) return;
    struct rs_strbuf text = {0};
    const char *why = s->warmup_given ? "" : " (start-up)";
    if (!s->warmup)
        rs_strbuf_printf(&text, "what is before the first step%s is left out", why);
    else if (s->warmup == 1)
        rs_strbuf_printf(&text, "the first of %" PRIu32 " steps%s is left out", s->n, why);
    else
        rs_strbuf_printf(&text, "the first %" PRIu32 " of %" PRIu32 " steps%s are left out", s->warmup, s->n, why);
    if (s->begin_ns != RS_TIME_NONE) {
        rs_strbuf_puts(&text, ": ");
        rs_words_ns(&text, rs_time_minus(s->after_ns, s->begin_ns));
    }
    if (!s->warmup_given) rs_strbuf_printf(&text, "; --warmup 0 includes %s", s->warmup > 1 ? "them" : "it");
    rs_strbuf_take(&text, &s->left_out);
}

void rs_steps_within(struct rs_steps *s, const struct rs_filter *filter, uint32_t warmup)
{
    int64_t *known = rs_alloc(((size_t)s->n + 1) * sizeof *known);
    uint32_t n = 0;
    bool timed = filter->has_from || filter->has_to;
    s->warmup_given = warmup != RS_NONE;
    s->warmup = s->warmup_given ? warmup < s->n ? warmup : s->n : timed ? 0 : s->startup;
    s->after_ns = RS_TIME_NONE;
    if (s->n && (s->warmup || (!s->warmup_given && !timed && s->early)))
        s->after_ns = s->warmup < s->n ? s->rows[s->warmup].from : s->rows[s->n - 1].to;
    say_left_out(s);
    s->counted = s->counted_marked = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        struct rs_step *x = &s->rows[i];
        x->counted = rs_filter_time(filter, x->start != RS_TIME_NONE ? x->start : x->from);
        s->counted += x->counted;
        s->counted_marked += x->counted && x->mark != RS_NONE;
        if (x->counted && i >= s->warmup && x->length != RS_TIME_NONE) known[n++] = x->length;
    }
    s->time_ns = rs_quantiles_of(known, n);
    s->usual_ns = s->time_ns.p50;
    s->spread_ns = n ? rs_mad(known, n, s->usual_ns) : RS_TIME_NONE;
    free(known);
}

struct rs_filter rs_steps_filter(const struct rs_steps *s, const struct rs_filter *filter)
{
    struct rs_filter f = *filter;
    if (s->after_ns == RS_TIME_NONE || (f.has_from && f.from >= s->after_ns)) return f;
    f.has_from = true;
    f.from = s->after_ns;
    return f;
}

/* ---- all of it ---- */

static enum rs_status find(struct work *w, struct rs_err *err)
{
    step_marks_find(&w->out->marks, w->view->model);
    RS_TRY(step_items_init(&w->items, w->view, err));
    RS_TRY(rs_repeats_find(&w->units, w->items.rows, w->items.n, err));
    size_t most = (size_t)w->out->marks.n + w->units.n + 1;
    w->scratch = rs_alloc(most * sizeof *w->scratch);
    w->out->rows = rs_alloc(most * sizeof *w->out->rows);
    w->out->rank_id = w->items.rank_id;
    take_marks(w);
    take_units(w);
    if (w->out->marked) join_marks(w);
    separate(w->out);
    time_steps(w);
    find_startup(w);
    rs_steps_within(w->out, &(struct rs_filter){0}, RS_NONE);
    return RS_OK;
}

enum rs_status rs_steps_find(struct rs_steps *s, const struct rs_view *view, struct rs_err *err)
{
    struct work w = {.view = view, .out = s};
    *s = (struct rs_steps){.rank_id = RS_NONE, .begin_ns = RS_TIME_NONE, .after_ns = RS_TIME_NONE};
    enum rs_status status = find(&w, err);
    step_items_free(&w.items);
    rs_repeats_free(&w.units);
    free(w.scratch);
    if (status != RS_OK) rs_steps_free(s);
    return status;
}

void rs_steps_free(struct rs_steps *s)
{
    free(s->rows);
    free(s->left_out);
    step_marks_free(&s->marks);
    *s = (struct rs_steps){.rank_id = RS_NONE, .begin_ns = RS_TIME_NONE, .after_ns = RS_TIME_NONE};
}

const char *rs_steps_how(uint32_t n, uint32_t marked)
{
    if (!n) return NULL;
    return !marked ? "pattern" : marked == n ? "annotations" : "annotations and pattern";
}

uint32_t rs_steps_of(const struct rs_steps *s, int64_t ns)
{
    uint32_t low = 0, high = s->n;
    RS_BISECT(low, high, mid, s->rows[mid].to <= ns);
    return low < s->n && s->rows[low].from <= ns ? low : RS_NONE;
}

uint32_t rs_steps_of_op(const struct rs_steps *s, const struct rs_model *m, uint32_t op)
{
    int64_t moment = rs_op_moment(m, op);
    uint32_t step = moment == RS_TIME_NONE ? RS_NONE : rs_steps_of(s, moment);
    if (!s->marked) return step;
    struct rs_facts f;
    rs_facts_of_op(m, op, &f);
    if (f.step == RS_NONE) return step;
    /* A GPU runs behind its program by about a step: the mark is this one or shortly before it. */
    uint32_t low = 0, high = s->n;
    RS_BISECT(low, high, mid, moment != RS_TIME_NONE && s->rows[mid].from <= moment);
    for (uint32_t i = low < s->n ? low : s->n; i-- > 0 && low - i < 64;)
        if (s->rows[i].mark == f.step) return i;
    for (uint32_t i = low; i < s->n && i - low < 64; i++)
        if (s->rows[i].mark == f.step) return i;
    return step;
}

void rs_step_ops_init(struct rs_step_ops *o, const struct rs_steps *s, const struct rs_view *v)
{
    uint32_t *step = rs_alloc(((size_t)v->nops + 1) * sizeof *step);
    o->ops = rs_alloc(((size_t)v->nops + 1) * sizeof *o->ops);
    o->first = rs_zalloc((size_t)s->n + 3, sizeof *o->first);
    for (uint32_t i = 0; i < v->nops; i++) {
        step[i] = rs_steps_of_op(s, v->model, v->ops[i]);
        if (step[i] == RS_NONE) step[i] = s->n;
        o->first[step[i] + 2]++;
    }
    for (uint32_t i = 0; i <= s->n; i++) o->first[i + 2] += o->first[i + 1];
    for (uint32_t i = 0; i < v->nops; i++) o->ops[o->first[step[i] + 1]++] = v->ops[i];
    free(step);
}

void rs_step_ops_free(struct rs_step_ops *o)
{
    free(o->ops);
    free(o->first);
    *o = (struct rs_step_ops){0};
}

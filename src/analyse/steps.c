#include "analyse/steps.h"

#include <stdlib.h>

#include "analyse/repeats.h"
#include "analyse/step_items.h"
#include "base/bisect.h"
#include "join/flow.h"
#include "join/overlay_facts.h"

struct work {
    const struct rs_view *view;
    struct rs_steps *out;
    struct rs_step_items items;
    struct rs_repeats units;
    int64_t *scratch; /* room for every mark, and every unit */
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
 * operations were mostly called in some mark. */
static enum rs_status claim_marks(const struct work *w, struct rs_map *claims, bool *inside, struct rs_err *err)
{
    for (uint32_t unit = 0; unit < w->units.n; unit++) {
        uint32_t from = w->units.firsts[unit], to = w->units.firsts[unit + 1], mark = RS_NONE, n = 0, tagged = 0;
        for (uint32_t i = from; i < to; i++) {
            struct rs_facts f;
            rs_facts_of_op(w->view->model, w->items.rows[i].op, &f);
            if (f.step == RS_NONE) continue;
            n = f.step == mark ? n + 1 : 1; /* the operations of a mark follow each other */
            mark = f.step;
            tagged++;
            uint64_t *most;
            RS_TRY(rs_map_at(claims, mark, 0, &most, err));
            if (n > *most >> 32) *most = (uint64_t)n << 32 | unit;
        }
        inside[unit] = 2 * (uint64_t)tagged > to - from;
    }
    return RS_OK;
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
        if (to <= from) to = from + 1; /* ends that are not known: it is a step all the same */
        s->rows[s->n++] =
            (struct rs_step){.from = from, .to = to, .begin = from, .end = to, .unit = i, .mark = RS_NONE};
        from = to;
    }
}

/* Takes out the steps by the pattern that are marks, whose operations are theirs: those that were called in one. What no
 * tool tells that of is placed by time, in marks that have no others. */
static enum rs_status join_marks(struct work *w, struct rs_err *err)
{
    struct rs_steps *s = w->out;
    struct rs_map claims = {0};
    struct rs_step *units = s->rows + s->marked;
    uint32_t nunits = s->n - s->marked, kept = 0;
    bool *marked = calloc((size_t)w->units.n + 1, sizeof *marked);
    enum rs_status status = marked ? claim_marks(w, &claims, marked, err) : rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < nunits && status == RS_OK; i++) {
        int64_t middle = rs_time_plus(units[i].from, rs_time_minus(units[i].to, units[i].from) / 2);
        uint32_t low = 0, high = s->marked;
        RS_BISECT(low, high, mid, s->rows[mid].end <= middle);
        marked[i] |= low < s->marked && s->rows[low].begin <= middle && !rs_map_find(&claims, s->rows[low].mark);
    }
    for (uint32_t i = 0; i < s->marked && status == RS_OK; i++) {
        uint64_t *most = rs_map_find(&claims, s->rows[i].mark);
        uint32_t unit = most ? (uint32_t)*most : nunits;
        if (unit >= nunits) continue;
        marked[unit] = true;
        s->rows[i].from = units[unit].from;
        s->rows[i].to = units[unit].to;
        s->rows[i].unit = unit;
    }
    for (uint32_t i = 0; i < nunits && status == RS_OK; i++)
        if (!marked[i]) units[kept++] = units[i];
    s->n = s->marked + kept;
    free(marked);
    rs_map_free(&claims);
    return status;
}

/* ---- the whole ---- */

static void separate(struct rs_steps *s)
{
    if (s->n) qsort(s->rows, s->n, sizeof *s->rows, by_time);
    for (uint32_t i = 0; i + 1 < s->n; i++)
        if (s->rows[i].to > s->rows[i + 1].from) s->rows[i].to = s->rows[i + 1].from;
}

/* A unit that several marks took is none of them: their operations tell them apart. */
static void part_units(struct work *w)
{
    struct rs_steps *s = w->out;
    for (uint32_t i = 0; i < w->units.n; i++) w->scratch[i] = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->rows[i].unit != RS_NONE) w->scratch[s->rows[i].unit]++;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->rows[i].unit != RS_NONE && w->scratch[s->rows[i].unit] > 1) s->rows[i].unit = RS_NONE;
}

/* When an operation is over: the end of a collective in which all end together, else the last start. Sends may end at any time,
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
    if (o->first[op] == RS_TIME_NONE) return;
    int64_t over = over_at(w->view->model, op);
    if (*first == RS_TIME_NONE || o->first[op] < *first) *first = o->first[op];
    if (*last == RS_TIME_NONE || over > *last) *last = over;
}

/* Whether no step lies between them that was not recorded: a profiler may pause. */
static bool is_next(const struct rs_step *x, const struct rs_step *next)
{
    if (x->mark == RS_NONE || next->mark == RS_NONE) return true;
    return x->again == next->again && x->mark + 1 == next->mark;
}

/* When steps start, and how long they take, by their operations: from when those of the step before are over to when its own
 * are, so that what ranks compute before a step's first operation is in that step. The first has no step before, and
 * starts with its own first operation. */
static void time_steps(struct work *w)
{
    struct rs_steps *s = w->out;
    bool loose = false; /* steps that are no unit */
    part_units(w);
    for (uint32_t i = 0; i < s->n; i++) {
        uint32_t unit = s->rows[i].unit;
        s->rows[i].start = s->rows[i].length = w->scratch[i] = RS_TIME_NONE;
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
        int64_t last = w->scratch[i], before = i && is_next(x - 1, x) ? w->scratch[i - 1] : RS_TIME_NONE;
        if (before != RS_TIME_NONE && before < x->start) x->start = before;
        if (x->start != RS_TIME_NONE && last > x->start) x->length = rs_time_minus(last, x->start);
    }
}

enum rs_status rs_steps_within(struct rs_steps *s, const struct rs_filter *filter, struct rs_err *err)
{
    int64_t *known = malloc(((size_t)s->n + 1) * sizeof *known);
    uint32_t n = 0;
    if (!known) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    s->counted = s->counted_marked = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        struct rs_step *x = &s->rows[i];
        x->counted = rs_filter_time(filter, x->start != RS_TIME_NONE ? x->start : x->from);
        s->counted += x->counted;
        s->counted_marked += x->counted && x->mark != RS_NONE;
        if (x->counted && x->length != RS_TIME_NONE) known[n++] = x->length;
    }
    s->time_ns = rs_quantiles_of(known, n);
    s->usual_ns = s->time_ns.p50;
    s->spread_ns = n ? rs_mad(known, n, s->usual_ns) : RS_TIME_NONE;
    free(known);
    return RS_OK;
}

static enum rs_status find(struct work *w, struct rs_err *err)
{
    RS_TRY(rs_step_marks_find(&w->out->marks, w->view->model, err));
    RS_TRY(rs_step_items_init(&w->items, w->view, err));
    RS_TRY(rs_repeats_find(&w->units, w->items.rows, w->items.n, err));
    size_t most = (size_t)w->out->marks.n + w->units.n + 1;
    w->scratch = malloc(most * sizeof *w->scratch);
    w->out->rows = malloc(most * sizeof *w->out->rows);
    w->out->rank_id = w->items.rank_id;
    if (!w->scratch || !w->out->rows) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    take_marks(w);
    take_units(w);
    if (w->out->marked) RS_TRY(join_marks(w, err));
    separate(w->out);
    time_steps(w);
    return rs_steps_within(w->out, &(struct rs_filter){0}, err);
}

enum rs_status rs_steps_find(struct rs_steps *s, const struct rs_view *view, struct rs_err *err)
{
    struct work w = {.view = view, .out = s};
    *s = (struct rs_steps){.rank_id = RS_NONE};
    enum rs_status status = find(&w, err);
    rs_step_items_free(&w.items);
    rs_repeats_free(&w.units);
    free(w.scratch);
    if (status != RS_OK) rs_steps_free(s);
    return status;
}

void rs_steps_free(struct rs_steps *s)
{
    free(s->rows);
    rs_step_marks_free(&s->marks);
    *s = (struct rs_steps){.rank_id = RS_NONE};
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
    /* A GPU runs behind its program, by a step or so: the mark is this one or close before it. */
    uint32_t low = 0, high = s->n;
    RS_BISECT(low, high, mid, moment != RS_TIME_NONE && s->rows[mid].from <= moment);
    for (uint32_t i = low < s->n ? low : s->n; i-- > 0 && low - i < 64;)
        if (s->rows[i].mark == f.step) return i;
    for (uint32_t i = low; i < s->n && i - low < 64; i++)
        if (s->rows[i].mark == f.step) return i;
    return step;
}

enum rs_status rs_step_ops_init(struct rs_step_ops *o, const struct rs_steps *s, const struct rs_view *v,
                                struct rs_err *err)
{
    uint32_t *step = malloc(((size_t)v->nops + 1) * sizeof *step);
    o->ops = malloc(((size_t)v->nops + 1) * sizeof *o->ops);
    o->first = calloc((size_t)s->n + 3, sizeof *o->first);
    if (!step || !o->ops || !o->first) {
        free(step);
        rs_step_ops_free(o);
        return rs_fail(err, RS_NO_MEMORY, "out of memory");
    }
    for (uint32_t i = 0; i < v->nops; i++) {
        step[i] = rs_steps_of_op(s, v->model, v->ops[i]);
        if (step[i] == RS_NONE) step[i] = s->n;
        o->first[step[i] + 2]++;
    }
    for (uint32_t i = 0; i <= s->n; i++) o->first[i + 2] += o->first[i + 1];
    for (uint32_t i = 0; i < v->nops; i++) o->ops[o->first[step[i] + 1]++] = v->ops[i];
    free(step);
    return RS_OK;
}

void rs_step_ops_free(struct rs_step_ops *o)
{
    free(o->ops);
    free(o->first);
    *o = (struct rs_step_ops){0};
}

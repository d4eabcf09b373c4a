#include "analyse/one_offs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/quantile.h"
#include "analyse/words.h"
#include "base/bisect.h"
#include "base/memory.h"
#include "join/ranks.h"
#include "join/waits.h"

/* A rank in the current step. */
struct pausing {
    uint32_t rank_id;
    int64_t gaps; /* sum of its gaps, less what is usual for it; RS_TIME_NONE: unknown */
    int64_t longest, at; /* the longest of them, and its start */
};

struct work {
    struct rs_one_offs *out;
    struct rs_view *view;
    const struct rs_steps *steps;
    const struct rs_bandwidth *bandwidth;
    struct rs_step_ops by;
    double limit; /* a step that is longer is listed */
    int64_t *usual; /* by rank: gaps of a step, mean over steps that are not listed */
    int64_t *over; /* by rank: when its operations so far were over; RS_TIME_NONE: unknown */
    struct pausing *ranks; /* by rank */
    int64_t *slow; /* by row of bandwidth, in the current step */
};

/* ---- which steps ---- */

static bool is_longer(const struct work *w, uint32_t step)
{
    const struct rs_step *x = &w->steps->rows[step];
    return x->counted && x->measured && x->length != RS_TIME_NONE && (double)x->length > w->limit;
}

static void choose(struct work *w)
{
    const struct rs_steps *s = w->steps;
    double usual = (double)s->usual_ns, spread = RS_ONE_OFF_SPREAD * (double)s->spread_ns;
    w->limit = usual + (spread > usual / RS_ONE_OFF_SHARE ? spread : usual / RS_ONE_OFF_SHARE);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++) n += is_longer(w, i);
    w->out->rows = rs_zalloc((size_t)n + 1, sizeof *w->out->rows);
    for (uint32_t i = 0; i < s->n; i++) {
        if (!is_longer(w, i)) continue;
        const struct rs_step *x = &s->rows[i];
        w->out->rows[w->out->n++] = (struct rs_one_off){.step = i,
                                                        .mark = x->mark,
                                                        .from_ns = x->start,
                                                        .duration_ns = x->length,
                                                        .usual_ns = s->usual_ns,
                                                        .excess_ns = rs_time_minus(x->length, s->usual_ns),
                                                        .at_ns = x->start,
                                                        .rank_id = RS_NONE,
                                                        .row = RS_NONE,
                                                        .left_out = i < s->warmup};
    }
}

/* ---- gaps ---- */

static void take_gap(struct pausing *p, int64_t from, int64_t to)
{
    int64_t gap = rs_time_minus(to, from);
    p->gaps = p->gaps == RS_TIME_NONE ? gap : rs_time_plus(p->gaps, gap);
    if (gap < p->longest) return;
    p->longest = gap;
    p->at = from;
}

/* Adds the gaps of the ranks in the operations of a step. Steps are taken in order: a gap belongs to the step of the
 * operation behind it. */
static void take_step(struct work *w, uint32_t step)
{
    struct rs_view *v = w->view;
    for (uint32_t i = 0; i < v->model->nranks; i++)
        w->ranks[i] = (struct pausing){.rank_id = i, .gaps = RS_TIME_NONE, .at = RS_TIME_NONE};
    for (uint32_t i = w->by.first[step]; i < w->by.first[step + 1]; i++) {
        rs_view_arrivals(v, w->by.ops[i]);
        for (uint32_t k = 0; k < v->narrivals; k++) {
            const struct rs_arrival *a = &v->arrivals[k];
            struct pausing *p = &w->ranks[a->rank_id];
            int64_t *over = &w->over[a->rank_id];
            if (a->start != RS_TIME_NONE && *over != RS_TIME_NONE && rs_time_is_span(*over, a->start))
                take_gap(p, *over, a->start);
            if (a->end == RS_TIME_NONE || a->end > *over) *over = a->end;
        }
    }
}

/* Calls `each` for the listed steps, in order, with the gaps of all ranks. Without it, finds what is usual. */
static void walk(struct work *w, void (*each)(struct work *, struct rs_one_off *))
{
    uint32_t nranks = w->view->model->nranks, next = 0, plain = 0;
    for (uint32_t i = 0; i < nranks; i++) w->over[i] = w->steps->rows[0].start; /* of the first operation */
    for (uint32_t step = 0; step < w->steps->n; step++) {
        bool listed = next < w->out->n && w->out->rows[next].step == step;
        take_step(w, step);
        next += listed;
        if (each && listed) each(w, &w->out->rows[next - 1]);
        if (each || listed || !step || step < w->steps->warmup) continue; /* gaps of the first one are not whole */
        plain++;
        for (uint32_t i = 0; i < nranks; i++)
            if (w->ranks[i].gaps != RS_TIME_NONE) w->usual[i] = rs_time_plus(w->usual[i], w->ranks[i].gaps);
    }
    for (uint32_t i = 0; i < nranks && plain; i++) w->usual[i] /= plain;
}

/* ---- what differed ---- */

static int longest_first(const void *a, const void *b)
{
    const struct pausing *x = a, *y = b;
    if (x->gaps != y->gaps) return x->gaps > y->gaps ? -1 : 1;
    return x->rank_id < y->rank_id ? -1 : x->rank_id > y->rank_id;
}

/* The ranks that paused longer than the others are those before the largest difference between two that follow each other
 * by length. For that difference at least, all others waited for all of them. */
static void find_pauses(struct work *w, struct rs_one_off *o)
{
    uint32_t n = 0, late = 0;
    for (uint32_t i = 0; i < w->view->model->nranks; i++) {
        if (w->ranks[i].gaps == RS_TIME_NONE) continue;
        w->ranks[n] = w->ranks[i];
        w->ranks[n++].gaps -= w->usual[i];
    }
    if (!n) return;
    qsort(w->ranks, n, sizeof *w->ranks, longest_first);
    int64_t least = w->ranks[n - 1].gaps, more = 0;
    for (uint32_t i = 0; i + 1 < n; i++) {
        int64_t apart = rs_time_minus(w->ranks[i].gaps, w->ranks[i + 1].gaps);
        if (apart <= more) continue;
        more = apart;
        late = i + 1;
    }
    if (more >= o->excess_ns / 2) {
        o->what = RS_ONE_OFF_RANK_PAUSED;
        o->at_ns = w->ranks[0].at;
        o->ranks = late;
    } else if (least >= o->excess_ns / 2) {
        o->what = RS_ONE_OFF_ALL_PAUSED;
        o->at_ns = w->ranks[n - 1].at;
        o->ranks = n;
        o->pause_ns = least < o->excess_ns ? least : o->excess_ns;
        if (late != 1 || (double)more <= w->limit - (double)o->usual_ns) return;
    } else {
        return;
    }
    o->rank_id = w->ranks[0].rank_id;
    o->late_ns = more;
}

static void find_transfer(struct work *w, struct rs_one_off *o)
{
    uint32_t most = RS_NONE;
    memset(w->slow, 0, ((size_t)w->bandwidth->nrows + 1) * sizeof *w->slow);
    for (uint32_t i = w->by.first[o->step]; i < w->by.first[o->step + 1]; i++) {
        uint32_t op = w->by.ops[i], row = w->bandwidth->row_of[op];
        int64_t transfer = row != RS_NONE ? rs_op_transfer(w->view->model, op) : 0;
        if (transfer <= 0) continue;
        w->slow[row] += rs_time_minus(transfer, w->bandwidth->rows[row].transfer_p50_ns);
        if (most == RS_NONE || w->slow[row] > w->slow[most]) most = row;
    }
    if (most == RS_NONE || w->slow[most] < o->excess_ns / 2) return;
    o->what = RS_ONE_OFF_TRANSFER;
    o->row = most;
    o->slow_ns = w->slow[most];
}

static void find_what(struct work *w, struct rs_one_off *o)
{
    find_pauses(w, o);
    if (o->what == RS_ONE_OFF_UNKNOWN) find_transfer(w, o);
}

/* ---- causes ---- */

/* Sets the cause of the row that contains a time; the more specific cause comes first. */
static void happened(struct rs_one_offs *o, int64_t at, enum rs_one_off_cause cause)
{
    uint32_t low = 0, high = o->n;
    if (at == RS_TIME_NONE) return;
    RS_BISECT(low, high, mid, o->rows[mid].from_ns <= at);
    struct rs_one_off *x = low ? &o->rows[low - 1] : NULL;
    if (x && x->cause == RS_CAUSE_UNKNOWN && rs_time_minus(at, x->from_ns) <= x->duration_ns) x->cause = cause;
}

/* A profiler's window begins, or a recorder begins to record other events. The first cover of a recording is the beginning
 * of its process. */
static void find_profilers(struct rs_one_offs *o, const struct rs_model *m)
{
    for (uint32_t i = 0; i < m->nprocs; i++) {
        const struct rs_proc *p = &m->procs[i];
        bool window = rs_tool_has(p->tool, RS_CAP_WINDOW);
        if (window) happened(o, p->begin, RS_CAUSE_PROFILER);
        for (uint32_t k = 0; k < p->ncovers; k++)
            if (k ? p->covers[k].mask & ~p->covers[k - 1].mask : window)
                happened(o, p->covers[k].from, RS_CAUSE_PROFILER);
    }
}

static void find_communicators(struct rs_one_offs *o, const struct rs_model *m)
{
    for (uint32_t i = 0; i < m->nmembers; i++)
        if (m->members[i].created_from == RS_LIFE_EVENT) happened(o, m->members[i].created, RS_CAUSE_COMMUNICATOR);
}

/* Whether the recording of the job's first step begins with the job. */
static bool from_the_beginning(const struct rs_model *m)
{
    for (uint32_t i = 0; i < m->nprocs; i++) {
        const struct rs_proc *p = &m->procs[i];
        bool whole = rs_tool_has(p->tool, RS_CAP_PROCESS_END) && p->overwritten_until == RS_TIME_NONE &&
                     p->cut_until == RS_TIME_NONE;
        if (p->same == RS_NONE && !whole) return false;
    }
    return m->nprocs > 0;
}

static bool may_recur(const struct rs_one_off *x, enum rs_one_off_what what)
{
    return x->what == what && !x->left_out && x->cause == RS_CAUSE_UNKNOWN;
}

/* Whether all rows of one kind are alike, and at multiples of `every` after the first one. In a pipeline a pause may appear
 * in the step before it. */
static bool recurs(const struct rs_one_offs *o, enum rs_one_off_what what, uint32_t first, uint32_t every,
                   uint32_t slack)
{
    const struct rs_one_off *one = NULL;
    for (uint32_t i = 0; i < o->n; i++) {
        const struct rs_one_off *x = &o->rows[i];
        if (!may_recur(x, what)) continue;
        if (!one) one = x;
        uint32_t off = (x->step - first) % every;
        if (off > slack && off + slack < every) return false;
        if (x->excess_ns / 2 > one->excess_ns || one->excess_ns / 2 > x->excess_ns) return false;
        if (what == RS_ONE_OFF_RANK_PAUSED && x->rank_id != one->rank_id) return false;
    }
    return true;
}

/* Rows of one kind after the warm-up that recur every so many steps: three or more, and few of those that could be are
 * missing. */
static void find_periods(struct rs_one_offs *o, enum rs_one_off_what what)
{
    uint32_t least = RS_NONE, first = 0, last = 0, n = 0, every;
    for (uint32_t i = 0; i < o->n; i++) {
        uint32_t step = o->rows[i].step;
        if (!may_recur(&o->rows[i], what)) continue;
        if (!n++) first = step;
        if (n > 1 && step - last < least) least = step - last;
        last = step;
    }
    if (n < 3) return;
    uint32_t slack = n > 3 && least >= 5; /* three are too few for that */
    for (every = least > 2 ? least : 2; every <= least + 2 * slack; every++)
        if (n + n / 4 > (last - first + slack) / every && recurs(o, what, first, every, slack)) break;
    if (every > least + 2 * slack) return;
    for (uint32_t i = 0; i < o->n; i++) {
        if (!may_recur(&o->rows[i], what)) continue;
        o->rows[i].cause = RS_CAUSE_PERIODIC;
        o->rows[i].every = every;
    }
}

static void find_causes(struct work *w)
{
    const struct rs_model *m = w->view->model;
    struct rs_one_offs *o = w->out;
    find_profilers(o, m);
    find_communicators(o, m);
    bool whole = from_the_beginning(m);
    for (uint32_t i = 0; i < o->n; i++)
        if (o->rows[i].cause == RS_CAUSE_UNKNOWN &&
            (o->rows[i].step < w->steps->startup || (!o->rows[i].step && whole)))
            o->rows[i].cause = RS_CAUSE_START_UP;
    find_periods(o, RS_ONE_OFF_ALL_PAUSED);
    find_periods(o, RS_ONE_OFF_RANK_PAUSED);
}

/* ---- words ---- */

static void words_what(struct rs_strbuf *s, const struct work *w, const struct rs_one_off *o)
{
    const struct rs_model *m = w->view->model;
    switch (o->what) {
    case RS_ONE_OFF_ALL_PAUSED:
        rs_strbuf_puts(s, o->ranks > 1 ? "all ranks paused outside NCCL for " : "it paused outside NCCL for ");
        rs_words_ns(s, o->pause_ns);
        rs_strbuf_puts(s, " more than usual");
        if (o->rank_id == RS_NONE) break;
        rs_strbuf_puts(s, ", then waited ");
        rs_words_ns(s, o->late_ns);
        rs_strbuf_puts(s, " for ");
        rs_rank_words(s, m, o->rank_id);
        break;
    case RS_ONE_OFF_RANK_PAUSED:
        rs_rank_words(s, m, o->rank_id);
        if (o->ranks > 1) rs_strbuf_printf(s, " and %" PRIu32 " more", o->ranks - 1);
        rs_strbuf_puts(s, " paused outside NCCL for ");
        rs_words_ns(s, o->late_ns);
        rs_strbuf_puts(s, " more than usual, and the others waited");
        break;
    case RS_ONE_OFF_TRANSFER:
        rs_words_func(s, m, &w->bandwidth->rows[o->row]);
        rs_strbuf_puts(s, ": transfers took ");
        rs_words_ns(s, o->slow_ns);
        rs_strbuf_puts(s, " longer than usual");
        break;
    default:
        rs_words_ns(s, o->excess_ns);
        rs_strbuf_puts(s, o->cause ? " more than usual" : " more than usual, for an unknown reason");
        break;
    }
}

static void describe(struct work *w, struct rs_one_off *o)
{
    struct rs_strbuf s = {0};
    words_what(&s, w, o);
    switch (o->cause) {
    case RS_CAUSE_PROFILER: rs_strbuf_puts(&s, " (a profiler started)"); break;
    case RS_CAUSE_COMMUNICATOR: rs_strbuf_puts(&s, " (communicators were created)"); break;
    case RS_CAUSE_START_UP: rs_strbuf_puts(&s, " (start-up)"); break;
    case RS_CAUSE_PERIODIC:
        rs_strbuf_printf(&s, " (every %" PRIu32 " steps, as for a checkpoint or an evaluation)", o->every);
        break;
    default: break;
    }
    rs_strbuf_take(&s, &o->text);
    rs_strbuf_free(&s);
}

/* ---- all of it ---- */

void rs_one_offs_find(struct rs_one_offs *o, struct rs_view *view, const struct rs_steps *steps,
                      const struct rs_bandwidth *bandwidth)
{
    *o = (struct rs_one_offs){0};
    if (steps->usual_ns == RS_TIME_NONE) return;
    size_t nranks = (size_t)view->model->nranks + 1;
    struct work w = {.out = o,
                     .view = view,
                     .steps = steps,
                     .bandwidth = bandwidth,
                     .usual = rs_zalloc(nranks, sizeof *w.usual),
                     .over = rs_alloc(nranks * sizeof *w.over),
                     .ranks = rs_alloc(nranks * sizeof *w.ranks),
                     .slow = rs_alloc(((size_t)bandwidth->nrows + 1) * sizeof *w.slow)};
    choose(&w);
    if (o->n) {
        rs_step_ops_init(&w.by, steps, view);
        walk(&w, NULL);
        walk(&w, find_what);
        find_causes(&w);
        for (uint32_t i = 0; i < o->n; i++) describe(&w, &o->rows[i]);
        rs_step_ops_free(&w.by);
    }
    free(w.usual);
    free(w.over);
    free(w.ranks);
    free(w.slow);
}

void rs_one_offs_free(struct rs_one_offs *o)
{
    for (uint32_t i = 0; i < o->n; i++) free(o->rows[i].text);
    free(o->rows);
    *o = (struct rs_one_offs){0};
}

const char *rs_one_off_what_name(enum rs_one_off_what what)
{
    static const char *const names[] = {NULL, "all_paused", "rank_paused", "transfer"};
    return names[what];
}

const char *rs_one_off_cause_name(enum rs_one_off_cause cause)
{
    static const char *const names[] = {NULL, "profiler", "communicator", "start_up", "periodic"};
    return names[cause];
}

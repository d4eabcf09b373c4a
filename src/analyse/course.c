#include "analyse/course.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/changes.h"
#include "analyse/quantile.h"
#include "analyse/words.h"
#include "base/memory.h"
#include "join/op_facts.h"
#include "join/ranks.h"
#include "join/waits.h"

enum { MOST_WINDOWS = 100000, MOST_CHANGES = 32 };

struct work {
    struct rs_course *out;
    struct rs_view *view;
    const struct rs_steps *steps;
    const struct rs_stragglers *stragglers;
    const struct rs_bandwidth *bandwidth;
    int64_t *times; /* of the leading function, in the current window */
    int64_t *cost; /* by rank, in the current window; all 0 between windows */
    uint32_t *touched; /* the ranks with a cost */
    uint32_t ntouched;
    uint64_t ntimes;
    double wait, total, bytes, transfer;
};

/* ---- windows ---- */

static enum rs_status by_steps(struct work *w, uint32_t every, struct rs_err *err)
{
    const struct rs_steps *s = w->steps;
    if (!s->n) return rs_fail(err, RS_BAD_INPUT, "no steps were found: no pattern of operations repeats");
    uint32_t n = (s->n + every - 1) / every;
    if (n > MOST_WINDOWS) return rs_fail(err, RS_BAD_INPUT, "that makes %u windows; %d at most", n, MOST_WINDOWS);
    w->out->rows = rs_zalloc((size_t)n + 1, sizeof *w->out->rows);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t first = i * every, last = first + every < s->n ? first + every : s->n;
        w->out->rows[i] = (struct rs_course_row){
            .from_ns = s->rows[first].from, .to_ns = s->rows[last - 1].to, .first_step = first, .steps = last - first};
    }
    w->out->nrows = n;
    return RS_OK;
}

static enum rs_status by_time(struct work *w, int64_t every, struct rs_err *err)
{
    const struct rs_view *v = w->view;
    int64_t from = RS_TIME_NONE, to = RS_TIME_NONE;
    for (uint32_t i = 0; i < v->nops; i++) {
        int64_t t = rs_op_moment(v->model, v->ops[i]);
        if (!v->passes[v->ops[i]] || t == RS_TIME_NONE) continue;
        if (from == RS_TIME_NONE) from = t;
        to = t;
    }
    if (from == RS_TIME_NONE) return RS_OK;
    uint64_t n = (uint64_t)rs_time_minus(to, from) / (uint64_t)every + 1;
    if (n > MOST_WINDOWS)
        return rs_fail(err, RS_BAD_INPUT, "that makes %llu windows; %d at most", (unsigned long long)n, MOST_WINDOWS);
    w->out->rows = rs_zalloc((size_t)n + 1, sizeof *w->out->rows);
    for (uint32_t i = 0; i < n; i++) {
        struct rs_course_row *r = &w->out->rows[i];
        r->from_ns = from + (int64_t)i * every;
        r->to_ns = r->from_ns + every;
        r->first_step = RS_NONE;
    }
    w->out->nrows = (uint32_t)n;
    for (uint32_t k = 0; k < w->steps->n; k++) {
        int64_t after = rs_time_minus(w->steps->rows[k].from, from);
        if (after < 0 || (uint64_t)(after / every) >= n) continue;
        struct rs_course_row *r = &w->out->rows[after / every];
        if (!r->steps++) r->first_step = k;
    }
    return RS_OK;
}

/* ---- values ---- */

static void take(struct work *w, struct rs_course_row *r, uint32_t op)
{
    const struct rs_model *m = w->view->model;
    bool leads = w->bandwidth->row_of[op] == w->out->leading;
    r->calls++;
    struct rs_op_rank rank;
    for (uint32_t at = 0; rs_op_next_rank(m, op, &at, &rank);) {
        if (rank.start == RS_TIME_NONE || rank.end == RS_TIME_NONE || rank.end <= rank.start) continue;
        if (!rs_part_has_ended(m, rank.part)) continue; /* reported too early: not a time of the call */
        int64_t time = rs_time_minus(rank.end, rank.start), wait = rs_op_rank_wait(m, &rank, RS_TIME_NONE);
        if (leads) w->times[w->ntimes++] = time;
        if (wait == RS_TIME_NONE) continue;
        w->total += (double)time;
        w->wait += (double)(wait < time ? wait : time);
    }
    int64_t transfer = leads ? rs_op_transfer(m, op) : 0;
    if (transfer > 0) {
        w->transfer += (double)transfer;
        w->bytes += (double)m->ops.bytes[op] *
                    rs_op_busbw_factor(rs_model_text(m, m->ops.func[op]), m->comms[m->ops.comm[op]].nranks);
    }
    uint32_t rank_id = w->stragglers->who[op];
    if (rank_id == RS_NONE) return;
    int64_t cost = (int64_t)w->stragglers->cost[op];
    if (cost && !w->cost[rank_id]) w->touched[w->ntouched++] = rank_id;
    w->cost[rank_id] += cost;
    if (w->cost[rank_id] > r->worst_ns) {
        r->worst_ns = w->cost[rank_id];
        r->worst = rank_id;
    }
}

static void finish(struct work *w, struct rs_course_row *r)
{
    r->timed = w->ntimes;
    r->p50_ns = rs_median(w->times, w->ntimes);
    r->wait_share = w->total > 0 ? w->wait / w->total : NAN;
    r->busbw = w->transfer > 0 ? w->bytes / w->transfer : NAN;
    w->ntimes = 0;
    w->wait = w->total = w->bytes = w->transfer = 0;
    while (w->ntouched) w->cost[w->touched[--w->ntouched]] = 0;
}

/* Operations are by time: window after window. */
static void fill(struct work *w)
{
    const struct rs_view *v = w->view;
    uint32_t i = 0;
    for (uint32_t k = 0; k < w->out->nrows; k++) {
        struct rs_course_row *r = &w->out->rows[k];
        r->worst = RS_NONE;
        for (; i < v->nops; i++) {
            int64_t t = rs_op_moment(v->model, v->ops[i]);
            if (t >= r->to_ns) break;
            if (t >= r->from_ns && t != RS_TIME_NONE && v->passes[v->ops[i]]) take(w, r, v->ops[i]);
        }
        finish(w, r);
    }
}

/* ---- changes ---- */

/* Adds the cost of each rank from one time to another, times `sign`, per call of the leading function. */
static void add_costs(struct work *w, int64_t from, int64_t to, double sign, double *costs)
{
    const struct rs_view *v = w->view;
    uint64_t calls = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < v->nops; i++) {
            uint32_t op = v->ops[i];
            int64_t t = rs_op_moment(v->model, op);
            if (t < from || t >= to || !v->passes[op]) continue;
            if (!pass)
                calls += w->bandwidth->row_of[op] == w->out->leading;
            else if (w->stragglers->who[op] != RS_NONE && calls)
                costs[w->stragglers->who[op]] += sign * (double)w->stragglers->cost[op] / (double)calls;
        }
}

static void describe(struct work *w, struct rs_change *c)
{
    struct rs_strbuf s = {0};
    double part = (double)c->after_ns / (double)c->before_ns - 1;
    rs_strbuf_puts(&s, "from ");
    rs_words_moment(&s, w->view->model, c->at_ns);
    rs_strbuf_puts(&s, " on ");
    rs_words_func(&s, w->view->model, &w->bandwidth->rows[w->out->leading]);
    if (part > 2)
        rs_strbuf_printf(&s, " takes %.1f times as long (", part + 1);
    else
        rs_strbuf_printf(&s, " takes %.0f %% %s (", fabs(part) * 100, part > 0 ? "longer" : "less time");
    rs_words_ns(&s, c->before_ns);
    rs_strbuf_puts(&s, " before, ");
    rs_words_ns(&s, c->after_ns);
    rs_strbuf_puts(&s, " since)");
    if (c->rank_id != RS_NONE) {
        rs_strbuf_puts(&s, part > 0 ? "; late since then: " : "; no longer late: ");
        rs_rank_words(&s, w->view->model, c->rank_id);
    }
    rs_strbuf_take(&s, &c->text);
    rs_strbuf_free(&s);
}

/* Stretches of windows with values: [from, at) before the change and [at, to) after it. */
static void add_change(struct work *w, const uint32_t *windows, const int64_t *values, uint32_t from, uint32_t at,
                       uint32_t to)
{
    struct rs_course *o = w->out;
    uint32_t n = w->view->model->nranks;
    int64_t *scratch = rs_alloc((size_t)(to - from) * sizeof *scratch);
    double *costs = rs_zalloc((size_t)n + 1, sizeof *costs);
    memcpy(scratch, values + from, (size_t)(to - from) * sizeof *scratch);
    struct rs_change *c = &o->changes[o->nchanges++];
    *c = (struct rs_change){.at_ns = o->rows[windows[at]].from_ns,
                            .before_ns = rs_median(scratch, at - from),
                            .after_ns = rs_median(scratch + (at - from), to - at),
                            .rank_id = RS_NONE};
    double shift = (double)(c->after_ns - c->before_ns), sign = shift > 0 ? 1 : -1;
    add_costs(w, o->rows[windows[from]].from_ns, c->at_ns, -sign, costs);
    add_costs(w, c->at_ns, o->rows[windows[to - 1]].to_ns, sign, costs);
    for (uint32_t i = 0; i < n; i++)
        if (costs[i] >= 0.3 * fabs(shift) && (c->rank_id == RS_NONE || costs[i] > costs[c->rank_id])) c->rank_id = i;
    describe(w, c);
    free(scratch);
    free(costs);
}

static void find_changes(struct work *w)
{
    struct rs_course *o = w->out;
    uint32_t *windows = rs_alloc(((size_t)o->nrows + 1) * sizeof *windows), points[MOST_CHANGES + 2], n = 0, found = 0;
    int64_t *values = rs_alloc(((size_t)o->nrows + 1) * sizeof *values);
    o->changes = rs_zalloc(MOST_CHANGES, sizeof *o->changes);
    for (uint32_t i = 0; i < o->nrows; i++)
        if (o->rows[i].timed) {
            windows[n] = i;
            values[n++] = o->rows[i].p50_ns;
        }
    points[0] = 0;
    rs_change_points(values, n, points + 1, MOST_CHANGES, &found);
    points[found + 1] = n;
    for (uint32_t i = 1; i <= found; i++) add_change(w, windows, values, points[i - 1], points[i], points[i + 1]);
    free(windows);
    free(values);
}

enum rs_status rs_course_find(struct rs_course *c, struct rs_view *view, const struct rs_steps *steps,
                              const struct rs_stragglers *stragglers, const struct rs_bandwidth *bandwidth,
                              int64_t every_ns, uint32_t every_steps, struct rs_err *err)
{
    *c = (struct rs_course){.leading = bandwidth->nrows && bandwidth->rows[0].timed ? 0 : RS_NONE};
    uint64_t most = 0; /* times in one window */
    for (uint32_t i = 0; i < view->nops; i++)
        if (view->passes[view->ops[i]] && bandwidth->row_of[view->ops[i]] == c->leading)
            most += view->model->ops.nparts[view->ops[i]];
    struct work w = {.out = c,
                     .view = view,
                     .steps = steps,
                     .stragglers = stragglers,
                     .bandwidth = bandwidth,
                     .times = rs_alloc((most + 1) * sizeof *w.times),
                     .cost = rs_zalloc((size_t)view->model->nranks + 1, sizeof *w.cost),
                     .touched = rs_alloc(((size_t)view->model->nranks + 1) * sizeof *w.touched)};
    enum rs_status status = RS_OK;
    status = every_ns > 0 ? by_time(&w, every_ns, err) : by_steps(&w, every_steps, err);
    if (status == RS_OK) fill(&w);
    if (status == RS_OK && c->leading != RS_NONE) find_changes(&w);
    free(w.times);
    free(w.cost);
    free(w.touched);
    if (status != RS_OK) rs_course_free(c);
    return status;
}

void rs_course_free(struct rs_course *c)
{
    for (uint32_t i = 0; i < c->nchanges; i++) free(c->changes[i].text);
    free(c->changes);
    free(c->rows);
    *c = (struct rs_course){.leading = RS_NONE};
}

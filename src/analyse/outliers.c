#include "analyse/outliers.h"

#include <stdlib.h>
#include <string.h>

#include "analyse/quantile.h"
#include "analyse/words.h"
#include "base/memory.h"
#include "join/ranks.h"
#include "join/waits.h"

struct work {
    struct rs_outliers *out;
    struct rs_view *view;
    const struct rs_steps *steps;
    uint32_t warmup;
    const struct rs_stragglers *stragglers;
    const struct rs_bandwidth *bandwidth;
    struct rs_step_ops by;
    int64_t *usual_cost; /* by rank: per step, mean over steps that are no outliers */
    int64_t *cost; /* by rank, in the current step */
    int64_t *slow; /* by row of bandwidth, in the current step */
};

static bool is_longer(const struct rs_step *x, double limit)
{
    return x->counted && x->length != RS_TIME_NONE && (double)x->length > limit;
}

static void choose(struct work *w)
{
    const struct rs_steps *s = w->steps;
    uint32_t n = 0;
    int64_t *list = rs_alloc(((size_t)s->n + 1) * sizeof *list);
    for (uint32_t i = w->warmup; i < s->n; i++)
        if (s->rows[i].length != RS_TIME_NONE) list[n++] = s->rows[i].length;
    int64_t usual = rs_median(list, n), mad = rs_mad(list, n, usual);
    double limit = (double)usual + 5 * (double)mad;
    if (limit < 1.05 * (double)usual) limit = 1.05 * (double)usual;
    uint32_t found = 0;
    for (uint32_t i = w->warmup; i < s->n; i++) found += is_longer(&s->rows[i], limit);
    w->out->rows = rs_zalloc((size_t)found + 1, sizeof *w->out->rows);
    for (uint32_t i = w->warmup; i < s->n; i++)
        if (is_longer(&s->rows[i], limit))
            w->out->rows[w->out->n++] = (struct rs_outlier){.step = i,
                                                            .mark = s->rows[i].mark,
                                                            .from_ns = s->rows[i].start,
                                                            .to_ns = rs_time_plus(s->rows[i].start, s->rows[i].length),
                                                            .duration_ns = s->rows[i].length,
                                                            .usual_ns = usual,
                                                            .rank_id = RS_NONE,
                                                            .row = RS_NONE};
    free(list);
    if (!w->out->rows) rs_memory_out();
}

/* Of steps that are no outliers. */
static void find_usual(struct work *w)
{
    uint32_t plain = w->steps->n - w->warmup - w->out->n, next = 0;
    for (uint32_t step = w->warmup; step < w->steps->n; step++) {
        if (next < w->out->n && w->out->rows[next].step == step) {
            next++;
            continue;
        }
        for (uint32_t i = w->by.first[step]; i < w->by.first[step + 1]; i++) {
            uint32_t op = w->by.ops[i];
            if (w->stragglers->who[op] != RS_NONE)
                w->usual_cost[w->stragglers->who[op]] += (int64_t)w->stragglers->cost[op];
        }
    }
    for (uint32_t i = 0; i < w->view->model->nranks && plain; i++) w->usual_cost[i] /= plain;
}

static uint32_t largest(const int64_t *a, uint32_t n)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < n; i++)
        if (a[i] > a[best]) best = i;
    return best;
}

static void explain(struct work *w, struct rs_outlier *o)
{
    const struct rs_view *v = w->view;
    int64_t more = o->duration_ns - o->usual_ns;
    for (uint32_t i = 0; i < v->model->nranks; i++) w->cost[i] -= w->usual_cost[i];
    uint32_t rank_id = largest(w->cost, v->model->nranks), row = largest(w->slow, w->bandwidth->nrows);
    struct rs_strbuf s = {0};
    if (v->model->nranks && w->cost[rank_id] >= more / 2) {
        o->rank_id = rank_id;
        o->late_ns = w->cost[rank_id];
        rs_rank_words(&s, v->model, rank_id);
        rs_strbuf_puts(&s, " was later than usual by ");
        rs_words_ns(&s, o->late_ns);
    } else if (w->bandwidth->nrows && w->slow[row] >= more / 2) {
        o->row = row;
        o->slow_ns = w->slow[row];
        rs_words_func(&s, v->model, &w->bandwidth->rows[row]);
        rs_strbuf_puts(&s, ": the transfer took ");
        rs_words_ns(&s, o->slow_ns);
        rs_strbuf_puts(&s, " longer than usual");
    } else {
        rs_words_ns(&s, more);
        rs_strbuf_puts(&s, " more, outside NCCL or on all ranks equally");
    }
    rs_strbuf_take(&s, &o->what);
    rs_strbuf_free(&s);
}

static void explain_all(struct work *w)
{
    for (uint32_t k = 0; k < w->out->n; k++) {
        struct rs_outlier *o = &w->out->rows[k];
        memset(w->cost, 0, (w->view->model->nranks + 1) * sizeof *w->cost);
        memset(w->slow, 0, (w->bandwidth->nrows + 1) * sizeof *w->slow);
        for (uint32_t i = w->by.first[o->step]; i < w->by.first[o->step + 1]; i++) {
            uint32_t op = w->by.ops[i], row = w->bandwidth->row_of[op];
            if (w->stragglers->who[op] != RS_NONE) w->cost[w->stragglers->who[op]] += (int64_t)w->stragglers->cost[op];
            int64_t transfer = row != RS_NONE ? rs_op_transfer(w->view->model, op) : 0;
            if (transfer > 0) w->slow[row] += transfer - w->bandwidth->rows[row].transfer_p50_ns;
        }
        if (w->by.first[o->step] < w->by.first[o->step + 1]) {
            explain(w, o);
            continue;
        }
        struct rs_strbuf s = {0};
        rs_strbuf_puts(&s, "unknown");
        rs_strbuf_take(&s, &o->what);
    }
}

void rs_outliers_find(struct rs_outliers *o, struct rs_view *view, const struct rs_steps *steps, uint32_t warmup,
                      const struct rs_stragglers *stragglers, const struct rs_bandwidth *bandwidth)
{
    *o = (struct rs_outliers){0};
    if (steps->n <= warmup) return;
    struct work w = {.out = o,
                     .view = view,
                     .steps = steps,
                     .warmup = warmup,
                     .stragglers = stragglers,
                     .bandwidth = bandwidth,
                     .usual_cost = rs_zalloc((size_t)view->model->nranks + 1, sizeof *w.usual_cost),
                     .cost = rs_zalloc((size_t)view->model->nranks + 1, sizeof *w.cost),
                     .slow = rs_zalloc((size_t)bandwidth->nrows + 1, sizeof *w.slow)};
    rs_step_ops_init(&w.by, steps, view);
    choose(&w);
    find_usual(&w);
    explain_all(&w);
    rs_step_ops_free(&w.by);
    free(w.usual_cost);
    free(w.cost);
    free(w.slow);
}

void rs_outliers_free(struct rs_outliers *o)
{
    for (uint32_t i = 0; i < o->n; i++) free(o->rows[i].what);
    free(o->rows);
    *o = (struct rs_outliers){0};
}

#include "bundle/runs.h"

#include <stdlib.h>

#include "base/memory.h"

/* ---- numbers ---- */

static void number_members(struct rs_runs *r, struct rs_run *run, uint32_t *ncomms)
{
    const struct rs_model *m = run->t->model;
    run->comm = rs_alloc(((size_t)m->ncomms + 1) * sizeof *run->comm);
    run->member = rs_alloc(((size_t)m->nmembers + 1) * sizeof *run->member);
    for (uint32_t i = 0; i < m->ncomms; i++) run->comm[i] = m->comms[i].over == RS_NONE ? (*ncomms)++ : RS_NONE;
    for (uint32_t i = 0; i < m->nmembers; i++)
        run->member[i] = run->comm[m->members[i].comm] != RS_NONE ? r->nmembers++ : RS_NONE;
}

static void number_groups(struct rs_runs *r, struct rs_run *run)
{
    run->root = r->n > 1 ? r->ngroups++ : RS_NONE;
    run->first_group = r->ngroups;
    r->ngroups += run->t->ngroups;
}

/* ---- operations ---- */

/* Whether the next operation of run a comes before that of run b: by first start, unknown ones last. */
static bool is_before(const struct rs_runs *r, uint32_t a, uint32_t x, uint32_t b, uint32_t y)
{
    const struct rs_run *p = &r->rows[a], *q = &r->rows[b];
    int64_t s = rs_run_time(p, p->t->model->ops.first[p->t->ops[x]]),
            t = rs_run_time(q, q->t->model->ops.first[q->t->ops[y]]);
    if (s == RS_TIME_NONE || t == RS_TIME_NONE) return s != RS_TIME_NONE;
    return s < t;
}

static void merge_ops(struct rs_runs *r)
{
    uint32_t *at = rs_zalloc((size_t)r->n + 1, sizeof *at);
    size_t n = 0;
    for (uint32_t i = 0; i < r->n; i++) n += r->rows[i].t->nops;
    r->ops = rs_alloc((n + 1) * sizeof *r->ops);
    for (; r->nops < n; r->nops++) {
        uint32_t next = RS_NONE;
        for (uint32_t i = 0; i < r->n; i++)
            if (at[i] < r->rows[i].t->nops && (next == RS_NONE || is_before(r, i, at[i], next, at[next]))) next = i;
        struct rs_timeline *t = r->rows[next].t;
        uint32_t op = t->ops[at[next]++];
        t->op_number[op] = r->nops;
        r->ops[r->nops] = (struct rs_run_op){next, op};
    }
    free(at);
}

void rs_runs_init(struct rs_runs *r, struct rs_timeline *const *timelines, const int64_t *delays, uint32_t n)
{
    uint32_t ncomms = 0;
    *r = (struct rs_runs){.n = n, .holder = n - 1, .rows = rs_zalloc(n, sizeof *r->rows)};
    for (uint32_t i = 0; i < n; i++) {
        struct rs_run *run = &r->rows[i];
        *run = (struct rs_run){.t = timelines[i], .delay = delays[i]};
        number_groups(r, run);
        number_members(r, run, &ncomms);
    }
    merge_ops(r);
}

void rs_runs_free(struct rs_runs *r)
{
    for (uint32_t i = 0; i < r->n; i++) {
        free(r->rows[i].comm);
        free(r->rows[i].member);
    }
    free(r->rows);
    free(r->ops);
    *r = (struct rs_runs){0};
}

struct rs_timeline *rs_runs_hold(struct rs_runs *r, uint32_t run)
{
    if (run != r->holder) rs_timeline_lend(r->rows[r->holder].t, r->rows[run].t);
    r->holder = run;
    return r->rows[run].t;
}

int64_t rs_runs_span(const struct rs_runs *r)
{
    int64_t span = 1; /* a span of 0 has no buckets */
    for (uint32_t i = 0; i < r->n; i++) {
        int64_t end = r->rows[i].t->span + r->rows[i].delay;
        if (end > span) span = end;
    }
    return span;
}

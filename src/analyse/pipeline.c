#include "analyse/pipeline.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/quantile.h"
#include "base/memory.h"
#include "model/model.h"

/* Chunks by number: when each began, and how long each of its stages took. */
struct table {
    uint32_t n, nstages;
    int64_t *number, *start;
    int64_t *ns; /* n x nstages; RS_TIME_NONE: the chunk has no such stage */
    int64_t *room; /* working memory for n numbers */
};

static int by_chunk(const void *a, const void *b)
{
    const struct rs_stage_time *x = a, *y = b;
    if (x->chunk != y->chunk) return x->chunk < y->chunk ? -1 : 1;
    if (x->stage != y->stage) return x->stage < y->stage ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* The union of the pieces of one stage of one chunk, which are by start. */
static int64_t length(const struct rs_stage_time *rows, uint32_t n)
{
    int64_t until = rows[0].start;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        int64_t from = rows[i].start > until ? rows[i].start : until;
        if (rows[i].end <= from) continue;
        sum += (uint64_t)rs_time_minus(rows[i].end, from);
        until = rows[i].end;
    }
    return (int64_t)sum;
}

static void fill(struct table *t, const struct rs_stage_time *rows, uint32_t n)
{
    for (uint32_t i = 0, end; i < n; i = end) {
        uint32_t last = t->n - 1;
        if (!i || rows[i].chunk != rows[i - 1].chunk) {
            last = t->n++;
            t->number[last] = rows[i].chunk;
            t->start[last] = rows[i].start; /* of its first stage */
            for (uint32_t s = 0; s < t->nstages; s++) t->ns[(size_t)last * t->nstages + s] = RS_TIME_NONE;
        }
        for (end = i; end < n && rows[end].chunk == rows[i].chunk && rows[end].stage == rows[i].stage;) end++;
        if (rows[i].stage < t->nstages) t->ns[(size_t)last * t->nstages + rows[i].stage] = length(rows + i, end - i);
    }
}

/* (sum - P) / (sum - max), between 0 and 1; NAN if nothing could be hidden. */
static double score_of(const int64_t *stage, uint32_t n, int64_t period, int64_t *hidden)
{
    int64_t sum = 0, longest = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (stage[i] == RS_TIME_NONE) return NAN;
        sum = rs_time_plus(sum, stage[i]);
        if (stage[i] > longest) longest = stage[i];
    }
    *hidden = rs_time_minus(sum, period);
    int64_t most = rs_time_minus(sum, longest);
    if (n < 2 || most <= 0) return NAN;
    double score = (double)*hidden / (double)most;
    return score < 0 ? 0 : score > 1 ? 1 : score;
}

/* The time from chunk i to the next, if that exists. */
static int64_t period_of(const struct table *t, uint32_t i)
{
    if (i + 1 >= t->n || rs_time_minus(t->number[i + 1], t->number[i]) != 1) return RS_TIME_NONE;
    int64_t ns = rs_time_minus(t->start[i + 1], t->start[i]);
    return ns > 0 ? ns : RS_TIME_NONE;
}

static void each_chunk(struct rs_pipeline *p, const struct table *t, uint32_t first)
{
    enum { SCALE = 1000000 };
    int64_t hidden = 0;
    uint32_t n = 0;
    for (int what = 0; what < 2; what++) { /* hidden time, then scores: one list at a time */
        n = 0;
        for (uint32_t i = first; i < t->n; i++) {
            int64_t period = period_of(t, i);
            double score = NAN;
            if (period != RS_TIME_NONE) score = score_of(t->ns + (size_t)i * t->nstages, t->nstages, period, &hidden);
            if (isnan(score)) continue;
            t->room[n++] = what ? (int64_t)(score * SCALE + 0.5) : hidden > 0 ? hidden : 0;
        }
        struct rs_quantiles q = rs_quantiles_of(t->room, n);
        if (!what) p->hidden = q;
        if (what && n) {
            p->score_p50 = (double)q.p50 / SCALE;
            p->score_p90 = (double)q.p90 / SCALE;
            p->score_p99 = (double)q.p99 / SCALE;
        }
    }
}

static void judge(struct rs_pipeline *p)
{
    int64_t stage[RS_STAGES_MAX], hidden = 0;
    bool all = p->periods > 0;
    for (uint32_t s = 0; s < p->nstages; s++) {
        stage[s] = p->stages[s].p50;
        all &= stage[s] != RS_TIME_NONE;
    }
    if (!all) return;
    p->score = score_of(stage, p->nstages, p->period.p50, &hidden);
    p->hidden_ns = hidden > 0 ? hidden : 0;
    p->bubble_ns = hidden < 0 ? rs_time_minus(0, hidden) : 0;
    if (!isnan(p->score))
        p->verdict = p->score >= 0.9 ? RS_PIPELINED : p->score <= 0.1 ? RS_SERIALISED : RS_PIPELINE_PARTLY;
}

static void measure(struct rs_pipeline *p, const struct table *t, uint32_t warmup)
{
    uint32_t n = 0;
    p->chunks = t->n;
    p->warmup = warmup < t->n ? warmup : t->n;
    for (uint32_t i = p->warmup; i < t->n; i++)
        if ((t->room[n] = period_of(t, i)) != RS_TIME_NONE) n++;
    p->periods = n;
    p->period = rs_quantiles_of(t->room, n);
    for (uint32_t s = 0; s < t->nstages; s++) {
        n = 0;
        for (uint32_t i = p->warmup; i < t->n; i++)
            if ((t->room[n] = t->ns[(size_t)i * t->nstages + s]) != RS_TIME_NONE) n++;
        p->stages[s] = rs_quantiles_of(t->room, n);
    }
    each_chunk(p, t, p->warmup);
    judge(p);
}

void rs_pipeline_find(struct rs_pipeline *p, struct rs_stage_time *rows, uint32_t n, uint32_t nstages, uint32_t warmup)
{
    *p = (struct rs_pipeline){.nstages = nstages < RS_STAGES_MAX ? nstages : RS_STAGES_MAX,
                              .score = NAN,
                              .score_p50 = NAN,
                              .score_p90 = NAN,
                              .score_p99 = NAN,
                              .hidden_ns = RS_TIME_NONE,
                              .bubble_ns = RS_TIME_NONE};
    uint32_t chunks = 1;
    if (n) qsort(rows, n, sizeof *rows, by_chunk);
    for (uint32_t i = 1; i < n; i++) chunks += rows[i].chunk != rows[i - 1].chunk;
    int64_t *room = rs_alloc(((size_t)p->nstages + 3) * chunks * sizeof *room);
    struct table t = {.nstages = p->nstages,
                      .number = room,
                      .start = room + chunks,
                      .room = room + 2 * (size_t)chunks,
                      .ns = room + 3 * (size_t)chunks};
    fill(&t, rows, n);
    measure(p, &t, warmup);
    free(room);
}

const char *rs_pipeline_verdict_name(enum rs_pipeline_verdict v)
{
    static const char *const names[] = {NULL, "pipelined", "partly", "serialised"};
    return names[v];
}

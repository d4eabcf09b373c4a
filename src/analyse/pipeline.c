#include "analyse/pipeline.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/quantile.h"
#include "base/memory.h"
#include "model/model.h"

/* A stage of a chunk; RS_TIME_NONE: the chunk has no such stage. */
struct passage {
    int64_t start, end; /* on the first of its ranks */
    int64_t ns;
};

/* Chunks by number. */
struct table {
    uint32_t n, nstages, warmup;
    int64_t *number;
    struct passage *at; /* n x nstages */
    uint32_t several; /* stages on several ranks, as bits */
    int64_t *room; /* working memory for n numbers */
};

static int by_chunk(const void *a, const void *b)
{
    const struct rs_stage_time *x = a, *y = b;
    if (x->chunk != y->chunk) return x->chunk < y->chunk ? -1 : 1;
    if (x->stage != y->stage) return x->stage < y->stage ? -1 : 1;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    return x->start < y->start ? -1 : x->start > y->start;
}

/* The union of the pieces of one stage of one chunk on one rank, which are by start. */
static struct passage passage_of(const struct rs_stage_time *rows, uint32_t n)
{
    int64_t until = rows[0].start;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        int64_t from = rows[i].start > until ? rows[i].start : until;
        if (rows[i].end <= from) continue;
        sum += (uint64_t)rs_time_minus(rows[i].end, from);
        until = rows[i].end;
    }
    return (struct passage){rows[0].start, until, (int64_t)sum};
}

static struct passage *row_of(const struct table *t, uint32_t chunk)
{
    return t->at + (size_t)chunk * t->nstages;
}

static void fill(struct table *t, const struct rs_stage_time *rows, uint32_t n)
{
    for (uint32_t i = 0, end; i < n; i = end) {
        const struct rs_stage_time *r = &rows[i];
        if (!i || r->chunk != rows[i - 1].chunk) {
            t->number[t->n++] = r->chunk;
            for (uint32_t s = 0; s < t->nstages; s++)
                row_of(t, t->n - 1)[s] = (struct passage){RS_TIME_NONE, RS_TIME_NONE, RS_TIME_NONE};
        }
        for (end = i;
             end < n && rows[end].chunk == r->chunk && rows[end].stage == r->stage && rows[end].rank == r->rank;)
            end++;
        if (r->stage >= t->nstages) {
            if (t->nstages && row_of(t, t->n - 1)->start == RS_TIME_NONE) row_of(t, t->n - 1)->start = r->start;
            continue;
        }
        struct passage *x = &row_of(t, t->n - 1)[r->stage], y = passage_of(r, end - i);
        if (x->ns == RS_TIME_NONE) {
            *x = y;
        } else {
            t->several |= 1u << r->stage;
            if (y.ns > x->ns) x->ns = y.ns;
        }
    }
}

/* ---- period ---- */

static bool is_next(const struct table *t, uint32_t i)
{
    return i + 1 < t->n && rs_time_minus(t->number[i + 1], t->number[i]) == 1;
}

/* The time from chunk i to the next at a stage, if both exist. */
static int64_t period_of(const struct table *t, uint32_t i, uint32_t stage)
{
    if (!is_next(t, i)) return RS_TIME_NONE;
    int64_t from = row_of(t, i)[stage].start, to = row_of(t, i + 1)[stage].start;
    if (from == RS_TIME_NONE || to == RS_TIME_NONE) return RS_TIME_NONE;
    int64_t ns = rs_time_minus(to, from);
    return ns > 0 ? ns : RS_TIME_NONE;
}

static double mean_period(const struct table *t, uint32_t stage)
{
    double sum = 0;
    uint32_t n = 0;
    for (uint32_t i = t->warmup; i < t->n; i++) {
        int64_t ns = period_of(t, i, stage);
        if (ns == RS_TIME_NONE) continue;
        sum += (double)ns;
        n++;
    }
    return n ? sum / n : NAN;
}

/* The first stage that has periods, or the slowest if that falls behind. */
static uint32_t pacing_stage(const struct table *t)
{
    uint32_t first = RS_NONE, slowest = RS_NONE;
    double of_first = NAN, most = NAN;
    for (uint32_t s = 0; s < t->nstages; s++) {
        double mean = mean_period(t, s);
        if (isnan(mean)) continue;
        if (first == RS_NONE) first = s, of_first = mean;
        if (isnan(most) || mean > most) slowest = s, most = mean;
    }
    return first != RS_NONE && most > 1.1 * of_first ? slowest : first;
}

/* ---- score ---- */

/* (sum - P) / (sum - max) over the stages that are present, between 0 and 1; NAN if one is unknown, or nothing could be
 * hidden. */
static double score_of(const struct rs_pipeline *p, const int64_t *stage, int64_t period, int64_t *hidden)
{
    int64_t sum = 0, longest = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->nstages; i++) {
        if (!(p->present >> i & 1)) continue;
        if (stage[i] == RS_TIME_NONE) return NAN;
        n++;
        sum = rs_time_plus(sum, stage[i]);
        if (stage[i] > longest) longest = stage[i];
    }
    *hidden = rs_time_minus(sum, period);
    int64_t most = rs_time_minus(sum, longest);
    if (n < 2 || most <= 0) return NAN;
    double score = (double)*hidden / (double)most;
    return score < 0 ? 0 : score > 1 ? 1 : score;
}

static void each_chunk(struct rs_pipeline *p, const struct table *t)
{
    enum { SCALE = 1000000 };
    int64_t hidden = 0, stage[RS_STAGES_MAX];
    for (int what = 0; what < 2; what++) { /* hidden time, then scores: one list at a time */
        uint32_t n = 0;
        for (uint32_t i = t->warmup; i < t->n && p->periods; i++) {
            int64_t period = period_of(t, i, p->paced_by);
            if (period == RS_TIME_NONE) continue;
            for (uint32_t s = 0; s < t->nstages; s++) stage[s] = row_of(t, i)[s].ns;
            double score = score_of(p, stage, period, &hidden);
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

/* In the order in which a user would look for it. */
static enum rs_no_score why_none(struct rs_pipeline *p, const struct table *t)
{
    if (!(p->present & (p->present - 1))) return RS_NO_SCORE_STAGES;
    if (t->n < 2) return RS_NO_SCORE_CHUNKS;
    if (t->n - t->warmup < 2) return RS_NO_SCORE_WARMUP;
    for (uint32_t s = 0; s < p->nstages; s++)
        if (p->present >> s & 1 && p->stages[s].p50 == RS_TIME_NONE) {
            p->missing = s;
            return RS_NO_SCORE_MISSING;
        }
    return p->periods ? RS_NO_SCORE_EMPTY : RS_NO_SCORE_GAPS;
}

static void judge(struct rs_pipeline *p, const struct table *t)
{
    int64_t stage[RS_STAGES_MAX], hidden = 0;
    bool all = p->periods > 0;
    for (uint32_t s = 0; s < p->nstages; s++) {
        stage[s] = p->stages[s].p50;
        all &= stage[s] != RS_TIME_NONE || !(p->present >> s & 1);
    }
    if (all) {
        p->score = score_of(p, stage, p->period.p50, &hidden);
        p->hidden_ns = hidden > 0 ? hidden : 0;
        p->bubble_ns = hidden < 0 ? rs_time_minus(0, hidden) : 0;
    }
    if (isnan(p->score))
        p->no_score = why_none(p, t);
    else
        p->verdict = p->score >= 0.9 ? RS_PIPELINED : p->score <= 0.1 ? RS_SERIALISED : RS_PIPELINE_PARTLY;
}

static void measure(struct rs_pipeline *p, struct table *t, uint32_t warmup)
{
    uint32_t n = 0;
    p->chunks = t->n;
    p->warmup = t->warmup = warmup < t->n ? warmup : t->n;
    p->paced_by = pacing_stage(t);
    for (uint32_t i = t->warmup; i < t->n && p->paced_by != RS_NONE; i++)
        if ((t->room[n] = period_of(t, i, p->paced_by)) != RS_TIME_NONE) n++;
    p->periods = n;
    p->period = rs_quantiles_of(t->room, n);
    for (uint32_t s = 0; s < t->nstages; s++) {
        n = 0;
        for (uint32_t i = 0; i < t->n; i++)
            if (row_of(t, i)[s].ns != RS_TIME_NONE) p->present |= 1u << s;
        for (uint32_t i = t->warmup; i < t->n; i++)
            if ((t->room[n] = row_of(t, i)[s].ns) != RS_TIME_NONE) n++;
        p->stages[s] = rs_quantiles_of(t->room, n);
    }
    each_chunk(p, t);
    judge(p, t);
}

/* ---- bubbles ---- */

/* The error of comparing times of two stages; RS_TIME_NONE: they cannot be compared. */
static int64_t error_between(const struct rs_stage_clock *x, const struct rs_stage_clock *y)
{
    if (x->id == y->id) return 0;
    if (x->error_ns == RS_TIME_NONE || y->error_ns == RS_TIME_NONE || x->island != y->island) return RS_TIME_NONE;
    return rs_time_plus(x->error_ns, y->error_ns);
}

static void make_stations(struct rs_pipeline *p, const uint32_t *places)
{
    p->stations = rs_zalloc((size_t)p->nstages + 1, sizeof *p->stations);
    for (uint32_t s = 0; s < p->nstages; s++) {
        if (!(p->present >> s & 1)) continue;
        struct rs_station *x = p->nstations ? &p->stations[p->nstations - 1] : NULL;
        if (x && places && places[x->last] == places[s] && places[s] != RS_NONE)
            x->last = s;
        else
            p->stations[p->nstations++] = (struct rs_station){.first = s, .last = s};
    }
}

/* From the first start to the last end of a chunk's stages at each station; ns RS_TIME_NONE: it has none there. */
static struct passage *pass_stations(const struct rs_pipeline *p, const struct table *t)
{
    struct passage *at = rs_alloc(((size_t)t->n * p->nstations + 1) * sizeof *at);
    for (uint32_t i = 0; i < t->n; i++)
        for (uint32_t k = 0; k < p->nstations; k++) {
            struct passage *x = &at[(size_t)i * p->nstations + k];
            *x = (struct passage){RS_TIME_NONE, RS_TIME_NONE, RS_TIME_NONE};
            for (uint32_t s = p->stations[k].first; s <= p->stations[k].last; s++) {
                const struct passage *y = &row_of(t, i)[s];
                if (y->ns == RS_TIME_NONE) continue;
                if (x->ns == RS_TIME_NONE || y->start < x->start) x->start = y->start;
                if (x->ns == RS_TIME_NONE || y->end > x->end) x->end = y->end;
                x->ns = 0;
            }
        }
    return at;
}

static int64_t within(int64_t x, int64_t from, int64_t to)
{
    return x < from ? from : x > to ? to : x;
}

static void blame(struct rs_station *x, uint32_t station, int64_t from, int64_t to)
{
    x->caused[station] = rs_time_plus(x->caused[station], rs_time_minus(to, from));
}

/* Station k was idle from `from` on before a chunk, whose passages are `at`. While the station before it worked on the
 * chunk, that is the cause; before that, whatever that one waited for; and where its input was ready and it had not
 * begun, that one again. Returns when the input of the station itself was ready. */
static int64_t blame_upstream(struct rs_station *x, const struct passage *at, uint32_t k, int64_t from)
{
    int64_t to = at[k].start, first = from;
    for (uint32_t here = k; to > from; here--) {
        const struct passage *up = here ? &at[here - 1] : NULL;
        int64_t ready = up && up->ns != RS_TIME_NONE ? within(up->end, from, to) : from;
        if (here == k)
            first = ready;
        else
            blame(x, here, ready, to);
        if (ready <= from) break;
        int64_t began = within(up->start, from, ready);
        blame(x, here - 1, began, ready);
        to = began;
    }
    return first;
}

/* The causes of the idle time of station k between two chunks. */
static void find_causes(struct rs_station *x, const struct passage *before, const struct passage *at, uint32_t k,
                        uint32_t n)
{
    int64_t from = blame_upstream(x, at, k, before[k].end), to = at[k].start;
    if (k + 1 < n && before[k + 1].ns != RS_TIME_NONE) {
        int64_t taken = within(before[k + 1].start, from, to);
        blame(x, k + 1, from, taken);
        from = taken;
    }
    blame(x, k, from, to);
}

static void find_idle(struct rs_pipeline *p, const struct table *t, const struct passage *at, uint32_t k)
{
    struct rs_station *x = &p->stations[k];
    uint32_t n = 0;
    for (uint32_t i = t->warmup; i + 1 < t->n; i++) {
        const struct passage *before = at + (size_t)i * p->nstations, *after = before + p->nstations;
        if (!is_next(t, i) || before[k].ns == RS_TIME_NONE || after[k].ns == RS_TIME_NONE) continue;
        int64_t idle = after[k].start > before[k].end ? rs_time_minus(after[k].start, before[k].end) : 0;
        t->room[n++] = idle;
        x->idle_ns = rs_time_plus(x->idle_ns, idle);
        if (p->no_causes != RS_CAUSES_KNOWN || (idle && idle <= 2 * p->error_ns))
            x->unclear_ns = rs_time_plus(x->unclear_ns, idle);
        else if (idle)
            find_causes(x, before, after, k, p->nstations);
    }
    x->idle = rs_quantiles_of(t->room, n);
}

/* Whether a chunk was at a station before the one in front of it had begun, by more than the clock error. */
static bool is_out_of_order(const struct rs_pipeline *p, const struct table *t, const struct passage *at)
{
    for (uint32_t i = t->warmup; i < t->n; i++)
        for (uint32_t k = 1; k < p->nstations; k++) {
            const struct passage *x = at + (size_t)i * p->nstations + k, *up = x - 1;
            if (x->ns != RS_TIME_NONE && up->ns != RS_TIME_NONE && x->start < rs_time_minus(up->start, 2 * p->error_ns))
                return true;
        }
    return false;
}

static enum rs_no_causes why_no_causes(struct rs_pipeline *p, const struct table *t, const struct passage *at,
                                       const struct rs_pipeline_options *o)
{
    bool apart = false;
    p->error_ns = RS_TIME_NONE;
    if (!o->clocks) return RS_NO_CAUSES_CLOCKS;
    if (t->several) return RS_NO_CAUSES_STAGES;
    int64_t worst = 0;
    for (uint32_t s = 0; s < p->nstages; s++)
        for (uint32_t k = s; k < p->nstages; k++) {
            if (!(p->present >> s & p->present >> k & 1)) continue;
            int64_t error = error_between(&o->clocks[s], &o->clocks[k]);
            apart |= o->clocks[s].id != o->clocks[k].id;
            if (error == RS_TIME_NONE) return RS_NO_CAUSES_CLOCKS;
            if (error > worst) worst = error;
        }
    p->error_ns = worst;
    if (apart && o->unmatched) return RS_NO_CAUSES_CHUNKS;
    return is_out_of_order(p, t, at) ? RS_NO_CAUSES_ORDER : RS_CAUSES_KNOWN;
}

static void find_bubbles(struct rs_pipeline *p, const struct table *t, const struct rs_pipeline_options *o)
{
    make_stations(p, o->places);
    struct passage *at = pass_stations(p, t);
    p->no_causes = why_no_causes(p, t, at, o);
    for (uint32_t k = 0; k < p->nstations; k++) find_idle(p, t, at, k);
    free(at);
}

/* ---- all of it ---- */

void rs_pipeline_find(struct rs_pipeline *p, struct rs_stage_time *rows, uint32_t n,
                      const struct rs_pipeline_options *o)
{
    *p = (struct rs_pipeline){.nstages = o->nstages < RS_STAGES_MAX ? o->nstages : RS_STAGES_MAX,
                              .score = NAN,
                              .score_p50 = NAN,
                              .score_p90 = NAN,
                              .score_p99 = NAN,
                              .hidden_ns = RS_TIME_NONE,
                              .bubble_ns = RS_TIME_NONE};
    uint32_t chunks = 1;
    if (n) qsort(rows, n, sizeof *rows, by_chunk);
    for (uint32_t i = 1; i < n; i++) chunks += rows[i].chunk != rows[i - 1].chunk;
    struct table t = {.nstages = p->nstages,
                      .number = rs_alloc(chunks * sizeof *t.number),
                      .room = rs_alloc(chunks * sizeof *t.room),
                      .at = rs_alloc(((size_t)chunks * p->nstages + 1) * sizeof *t.at)};
    fill(&t, rows, n);
    measure(p, &t, o->warmup);
    if (p->nstages) find_bubbles(p, &t, o);
    free(t.number);
    free(t.room);
    free(t.at);
}

void rs_pipeline_free(struct rs_pipeline *p)
{
    free(p->stations);
    p->stations = NULL;
}

const char *rs_pipeline_verdict_name(enum rs_pipeline_verdict v)
{
    static const char *const names[] = {NULL, "pipelined", "partly", "serialised"};
    return names[v];
}

#include "analyse/steps.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/quantile.h"
#include "base/mix.h"

enum {
    FEWEST = 3, /* steps that make a pattern */
    MOST_LAG = 512, /* anchors in a step */
    WINDOW = 4096, /* anchors looked at for the lag: those in the middle */
    SCALAR = 8192, /* bytes: collectives below that are scalars */
    SOME = 8, /* one of so many distances may be unusual in a regular sequence */
    RAREST = 64, /* what comes less often than with every 64th anchor is no part of the pattern */
};

struct symbol {
    uint64_t count;
    double weight; /* ns of transfer */
    bool scalar; /* a loss, a norm, a barrier: it may come with some steps only */
};

/* One operation of the rank. */
struct item {
    int64_t first, over;
    int64_t pause; /* since everything before it was over */
    uint32_t symbol;
};

struct work {
    const struct rs_view *view;
    struct rs_steps *out;
    struct item *items;
    struct symbol *symbols;
    struct rs_map ids;
    uint32_t nitems, nsymbols;
    uint32_t *anchors; /* items */
    uint32_t nanchors;
};

/* ---- the sequence ---- */

static enum rs_status busiest_rank(struct work *w, struct rs_err *err)
{
    const struct rs_model *m = w->view->model;
    uint32_t *counts = calloc(w->view->model->nranks + 1, sizeof *counts), best = 0;
    if (!counts) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < m->parts.n; i++) {
        uint32_t op = m->parts.op[i], rank_id = w->view->model->members[m->parts.member[i]].rank_id;
        if (op == RS_NONE || rank_id == RS_NONE || (m->ops.kind[op] == RS_OP_PAIR && m->ops.fanout[op] != RS_NONE))
            continue;
        if (++counts[rank_id] > counts[best]) best = rank_id;
    }
    w->out->rank_id = best;
    free(counts);
    return RS_OK;
}

/* Whether the rank takes part, be its own part recorded or not. */
static bool takes_part(const struct work *w, const uint32_t *member_in, uint32_t op)
{
    const struct rs_model *m = w->view->model;
    uint32_t member = member_in[m->ops.comm[op]];
    if (member == RS_NONE) return false;
    int32_t rank = m->members[member].rank;
    return m->ops.kind[op] != RS_OP_PAIR || m->ops.root[op] == rank || m->ops.dst[op] == rank;
}

/* Sizes of point to point change with the data (experts), those of collectives with the model only. */
static uint64_t symbol_key(const struct rs_model *m, uint32_t op)
{
    uint32_t comm = m->ops.comm[op];
    bool sized = m->ops.kind[op] != RS_OP_PAIR && m->ops.kind[op] != RS_OP_FANOUT;
    uint64_t h = rs_mix(1, m->comms[comm].class != RS_NONE ? m->comms[comm].class : UINT64_C(1) << 32 | comm);
    h = rs_mix(h, (uint64_t)m->ops.kind[op] << 16 | m->ops.func[op]);
    return rs_mix(h, sized ? m->ops.bytes[op] : 0);
}

static enum rs_status add_item(struct work *w, uint32_t op, struct rs_err *err)
{
    const struct rs_model *m = w->view->model;
    int64_t moment = rs_op_moment(m, op), over = rs_op_over(m, op);
    if (moment == RS_TIME_NONE) return RS_OK;
    uint64_t *id;
    RS_TRY(rs_map_at(&w->ids, symbol_key(m, op), w->nsymbols, &id, err));
    if (*id == w->nsymbols) w->nsymbols++;
    struct symbol *s = &w->symbols[*id];
    s->count++;
    s->scalar = m->ops.kind[op] == RS_OP_COLL && m->ops.bytes[op] < SCALAR;
    /* Where no end is known, the number of operations counts; scalars hardly do. */
    s->weight += (s->scalar ? 1e-6 : 1) * ((double)rs_time_minus(over, moment) + 1);
    w->items[w->nitems++] = (struct item){
        .first = m->ops.first[op] != RS_TIME_NONE ? m->ops.first[op] : moment, .over = over, .symbol = (uint32_t)*id};
    return RS_OK;
}

static enum rs_status collect(struct work *w, struct rs_err *err)
{
    const struct rs_view *v = w->view;
    const struct rs_model *m = v->model;
    RS_TRY(busiest_rank(w, err));
    uint32_t *member_in = malloc((m->ncomms + 1) * sizeof *member_in);
    w->items = malloc(((size_t)v->nops + 1) * sizeof *w->items);
    w->symbols = calloc((size_t)v->nops + 1, sizeof *w->symbols);
    w->anchors = malloc(((size_t)v->nops + 1) * sizeof *w->anchors);
    enum rs_status status = RS_OK;
    if (!member_in || !w->items || !w->symbols || !w->anchors) status = rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < m->ncomms && status == RS_OK; i++) member_in[i] = RS_NONE;
    for (uint32_t i = 0; i < m->nmembers && status == RS_OK; i++)
        if (v->model->members[i].rank_id == w->out->rank_id) member_in[m->members[i].comm] = i;
    for (uint32_t i = 0; i < v->nops && status == RS_OK; i++)
        if (takes_part(w, member_in, v->ops[i])) status = add_item(w, v->ops[i], err);
    free(member_in);
    int64_t over = w->nitems ? w->items[0].first : 0;
    for (uint32_t i = 0; i < w->nitems && status == RS_OK; i++) {
        int64_t pause = rs_time_minus(w->items[i].first, over);
        w->items[i].pause = pause > 0 ? pause : 0;
        if (w->items[i].over > over) over = w->items[i].over;
    }
    return status;
}

/* ---- the anchor ---- */

/* Whether a symbol comes a whole number of times with each anchor, 2 % and one give or take (the ends of a recording). */
static bool is_multiple(uint64_t count, uint64_t of)
{
    double times = floor((double)count / (double)of + 0.5);
    return times >= 1 && fabs((double)count - times * (double)of) <= 0.02 * times * (double)of + times;
}

/* The most frequent symbol that nearly all the weight comes in multiples of, or most symbols and most of the weight. */
static uint32_t choose_anchor(const struct work *w)
{
    uint32_t best = RS_NONE, symbols = 0;
    double weight = 0;
    for (uint32_t i = 0; i < w->nsymbols; i++) {
        if (w->symbols[i].count < FEWEST) continue;
        weight += w->symbols[i].weight;
        symbols++;
    }
    enum { TRIED = 256 }; /* symbols: more are sizes that do not come again */
    for (uint32_t i = 0; i < w->nsymbols && i < TRIED; i++) {
        const struct symbol *a = &w->symbols[i];
        uint32_t covered = 0;
        double covered_weight = 0;
        if (a->count < FEWEST) continue;
        for (uint32_t k = 0; k < w->nsymbols; k++)
            if (w->symbols[k].count >= FEWEST && is_multiple(w->symbols[k].count, a->count)) {
                covered_weight += w->symbols[k].weight;
                covered++;
            }
        bool fits = covered_weight >= 0.99 * weight || (3 * covered >= 2 * symbols && covered_weight >= 0.75 * weight);
        if (fits && (best == RS_NONE || a->count > w->symbols[best].count)) best = i;
    }
    return best;
}

/* ---- the lag ---- */

static bool alike(int64_t a, int64_t b)
{
    int64_t more = a > b ? a : b, less = a > b ? b : a;
    return (uint64_t)more - (uint64_t)less < 20000 || (double)more < 1.5 * (double)less;
}

/* How much of the distances between anchors comes again m anchors later: the mean of that for the usual ones and for the
 * others, so that one pause among many short distances has its say. */
static double agreement(const int64_t *length, const bool *usual, uint32_t n, uint32_t m)
{
    uint32_t hits[2] = {0}, all[2] = {0};
    for (uint32_t i = 0; i + m < n; i++) {
        all[usual[i]]++;
        hits[usual[i]] += alike(length[i], length[i + m]);
    }
    return all[0] && all[1] ? ((double)hits[0] / all[0] + (double)hits[1] / all[1]) / 2 : 0;
}

/* Whether the same number of operations, more than one, lies between all anchors but a few. */
static bool evenly_filled(const struct work *w, uint32_t n, uint32_t skip)
{
    const uint32_t *a = w->anchors + skip;
    uint32_t same = 0;
    for (uint32_t i = 0; i + 1 < n; i++) same += a[i + 1] - a[i] > 1 && a[i + 2] - a[i + 1] == a[i + 1] - a[i];
    return SOME * (n - 1 - same) <= n;
}

static const double CONVINCING = 0.75; /* agreement; less is chance */

/* Anchors in a step; 0: none can be told. A step of one anchor needs distances that are regular all along, or other
 * operations that come with each: where neither is, and nothing longer repeats, noise hides the pattern. `length` and `usual` have room for n distances, twice of the
 * former. */
static uint32_t best_lag(const struct work *w, uint32_t n, uint32_t skip, int64_t *length, bool *usual)
{
    uint32_t unusual = 0, longest = n / 2 < MOST_LAG ? n / 2 : MOST_LAG, lag = 1;
    for (uint32_t i = 0; i < n; i++)
        length[i] = length[n + i] =
            rs_time_minus(w->items[w->anchors[skip + i + 1]].over, w->items[w->anchors[skip + i]].over);
    int64_t median = rs_median(length + n, n);
    for (uint32_t i = 0; i < n; i++) unusual += !(usual[i] = alike(length[i], median));
    /* A checkpoint now and then does not make a longer step. */
    bool regular = unusual <= n / SOME && (unusual <= 2 * FEWEST || unusual < n / RAREST);
    if (regular && (unusual < FEWEST || unusual < n / RAREST)) return 1;
    double best = 0, scores[MOST_LAG + 1] = {0};
    for (uint32_t m = 1; m <= longest; m++) {
        scores[m] = agreement(length, usual, n, m);
        if (scores[m] > best) best = scores[m];
    }
    if (best < CONVINCING) return regular || evenly_filled(w, n, skip);
    while (scores[lag] < best - 0.1) lag++;
    return lag > 1 || scores[1] >= CONVINCING ? lag : 0;
}

static enum rs_status choose_lag(const struct work *w, uint32_t *lag, struct rs_err *err)
{
    uint32_t n = w->nanchors - 1, skip = n > WINDOW ? (n - WINDOW) / 2 : 0;
    if (n > WINDOW) n = WINDOW;
    int64_t *length = malloc(2 * (size_t)n * sizeof *length);
    bool *usual = malloc(n * sizeof *usual);
    enum rs_status status = length && usual ? RS_OK : rs_fail(err, RS_NO_MEMORY, "out of memory");
    if (status == RS_OK) *lag = best_lag(w, n, skip, length, usual);
    free(length);
    free(usual);
    return status;
}

/* ---- the cut ---- */

/* The longest pause, and the second longest, among items [from, to). */
static void pauses(const struct work *w, uint32_t from, uint32_t to, int64_t *first, int64_t *second)
{
    *first = *second = 0;
    for (uint32_t i = from; i < to; i++) {
        int64_t p = w->items[i].pause;
        if (p > *first) {
            *second = *first;
            *first = p;
        } else if (p > *second) {
            *second = p;
        }
    }
}

/* The pause that marks a new step; 0: none stands out. */
static enum rs_status choose_pause(const struct work *w, uint32_t lag, int64_t *pause, struct rs_err *err)
{
    uint32_t n = (w->nanchors - 1) / lag;
    int64_t *longest = malloc(2 * (size_t)(n + 1) * sizeof *longest), *next = longest + n + 1;
    if (!longest) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < n; i++) pauses(w, w->anchors[i * lag], w->anchors[(i + 1) * lag], &longest[i], &next[i]);
    double a = (double)rs_median(longest, n), b = (double)rs_median(next, n);
    if (b < 1) b = 1;
    *pause = a >= 3 * b ? (int64_t)sqrt(a * b) : 0;
    free(longest);
    return RS_OK;
}

/* Cuts at pauses: a lost anchor shifts nothing. One that comes too soon behind another is a pause by chance, or the end
 * of what is before it is not known. Returns how many there are; 0: they do not make steps of `lag` anchors. */
static uint32_t cut_at_pauses(const struct work *w, uint32_t lag, int64_t pause, uint32_t *firsts)
{
    uint32_t n = 0, expected = w->nanchors / lag, whole = 0, since = 0, anchor = w->items[w->anchors[0]].symbol;
    for (uint32_t i = 1; i < w->nitems; i++) {
        since += w->items[i - 1].symbol == anchor;
        if (w->items[i].pause <= pause || (n && since < lag - lag / 4)) continue;
        whole += n && since == lag;
        firsts[n++] = i;
        since = 0;
    }
    /* Lost anchors make more cuts than expected, not fewer. */
    bool fits = n + 2 >= expected - expected / 50 && n <= expected + expected / 5 + 1 && 4 * (whole + 1) >= 3 * n;
    return fits ? n : 0;
}

/* The first items of steps. Without a pause, steps are cut such that the first begins with the first operation that comes
 * again. */
static uint32_t place_cuts(const struct work *w, uint32_t lag, int64_t pause, uint32_t *firsts)
{
    uint32_t n = pause ? cut_at_pauses(w, lag, pause, firsts) : 0, begin = 0;
    if (n) return n;
    while (w->symbols[w->items[begin].symbol].count < FEWEST) begin++;
    uint32_t back = w->anchors[0] - begin; /* that far before its anchor a step begins */
    if (back >= w->anchors[lag] - w->anchors[0]) back = 0;
    for (uint32_t i = 0; i < w->nanchors; i += lag) firsts[n++] = w->anchors[i] - back;
    return n;
}

/* How many of the items [from, to) come again. */
static uint32_t recurring(const struct work *w, uint32_t from, uint32_t to)
{
    uint32_t n = 0;
    for (uint32_t i = from; i < to; i++) n += w->symbols[w->items[i].symbol].count >= FEWEST;
    return n;
}

/* Whether all operations that come again are of one kind: only then one of them can be a step. */
static bool all_alike(const struct work *w)
{
    uint32_t kinds[2] = {0};
    for (uint32_t i = 0; i < w->nsymbols; i++)
        if (w->symbols[i].count >= FEWEST) kinds[w->symbols[i].scalar]++;
    return kinds[0] == 1 || (!kinds[0] && kinds[1] == 1);
}

static enum rs_status make_steps(struct work *w, const uint32_t *firsts, uint32_t n, struct rs_err *err)
{
    struct rs_steps *s = w->out;
    int64_t *sizes = malloc(((size_t)n + 1) * sizeof *sizes);
    s->at = malloc(((size_t)n + 3) * sizeof *s->at);
    if (!sizes || !s->at) {
        free(sizes);
        return rs_fail(err, RS_NO_MEMORY, "out of memory");
    }
    for (uint32_t i = 0; i + 1 < n; i++) sizes[i] = firsts[i + 1] - firsts[i];
    s->ops = (uint32_t)rs_median(sizes, n > 1 ? n - 1 : 0);
    /* What is before the first cut and behind the last is a step where it is as large as at least half of one. */
    uint32_t cuts = 0, half = (s->ops + 1) / 2;
    bool head = n && recurring(w, 0, firsts[0]) >= half, tail = n && recurring(w, firsts[n - 1], w->nitems) >= half;
    int64_t over = w->nitems ? w->items[0].first : 0;
    if (head) s->at[cuts++] = over;
    for (uint32_t i = 0, k = 0; i < w->nitems; i++) {
        if (k < n && i == firsts[k]) {
            k++;
            if (!cuts || over > s->at[cuts - 1]) s->at[cuts++] = over;
        }
        if (w->items[i].over > over) over = w->items[i].over;
    }
    if (tail && cuts && over > s->at[cuts - 1]) s->at[cuts++] = over;
    s->n = cuts > FEWEST && (s->ops > 1 || all_alike(w)) ? cuts - 1 : 0;
    free(sizes);
    return RS_OK;
}

static enum rs_status measure(struct rs_steps *s, struct rs_err *err)
{
    int64_t *lengths = malloc(((size_t)s->n + 1) * sizeof *lengths);
    if (!lengths) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < s->n; i++) lengths[i] = rs_time_minus(s->at[i + 1], s->at[i]);
    s->usual_ns = rs_median(lengths, s->n);
    s->spread_ns = rs_mad(lengths, s->n, s->usual_ns);
    free(lengths);
    return RS_OK;
}

static enum rs_status find(struct work *w, struct rs_err *err)
{
    RS_TRY(collect(w, err));
    uint32_t anchor = choose_anchor(w), lag = 1;
    for (uint32_t i = 0; i < w->nitems && anchor != RS_NONE; i++)
        if (w->items[i].symbol == anchor) w->anchors[w->nanchors++] = i;
    if (w->nanchors < FEWEST) return RS_OK;
    RS_TRY(choose_lag(w, &lag, err));
    if (!lag || w->nanchors / lag < FEWEST) return RS_OK;
    int64_t pause = 0;
    RS_TRY(choose_pause(w, lag, &pause, err));
    uint32_t *firsts = malloc(((size_t)w->nitems + 1) * sizeof *firsts);
    if (!firsts) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    enum rs_status status = make_steps(w, firsts, place_cuts(w, lag, pause, firsts), err);
    free(firsts);
    return status == RS_OK ? measure(w->out, err) : status;
}

enum rs_status rs_steps_find(struct rs_steps *s, const struct rs_view *view, struct rs_err *err)
{
    struct work w = {.view = view, .out = s};
    *s = (struct rs_steps){.rank_id = RS_NONE};
    enum rs_status status = view->model->nranks ? find(&w, err) : RS_OK;
    free(w.items);
    free(w.symbols);
    free(w.anchors);
    rs_map_free(&w.ids);
    if (status != RS_OK) rs_steps_free(s);
    return status;
}

void rs_steps_free(struct rs_steps *s)
{
    free(s->at);
    *s = (struct rs_steps){.rank_id = RS_NONE};
}

uint32_t rs_steps_of(const struct rs_steps *s, int64_t ns)
{
    if (!s->n || ns < s->at[0] || ns >= s->at[s->n]) return RS_NONE;
    uint32_t low = 0, high = s->n; /* at[low] <= ns < at[high] */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (s->at[middle] <= ns)
            low = middle;
        else
            high = middle;
    }
    return low;
}

#include "analyse/repeats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/period.h"
#include "analyse/quantile.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/mix.h"
#include "model/model.h"

/* ---- equal operations ----
 * How many equal operations make a step: decided by the times between them, because their order says nothing. */

enum {
    LAGS_FEWEST = 3, /* steps that make a pattern */
    MOST_LAG = 512,
    WINDOW = 4096, /* operations examined: those in the middle */
    SOME = 8, /* one in this many distances may be unusual in a regular sequence... */
    LONG = 32, /* ...of this many; none in a shorter one */
    RAREST = 64, /* what occurs less often is not part of the pattern: a checkpoint */
    LAGS_FEW = 8, /* steps: the pauses between so few must be longer than everything else */
};

static bool alike(int64_t a, int64_t b)
{
    int64_t more = a > b ? a : b, less = a > b ? b : a;
    return (uint64_t)more - (uint64_t)less < 20000 || (double)more < 1.5 * (double)less;
}

/* Whether they occur at regular intervals, except for an occasional checkpoint. */
static bool is_regular(const int64_t *distance, uint32_t n, int64_t *scratch)
{
    uint32_t unusual = 0;
    for (uint32_t i = 0; i < n; i++) scratch[i] = distance[i];
    int64_t median = rs_median(scratch, n);
    for (uint32_t i = 0; i < n; i++) unusual += !alike(distance[i], median);
    return unusual <= (n < LONG ? 0 : n / SOME) && (unusual <= 2 * LAGS_FEWEST || unusual < n / RAREST);
}

/* Which of `lag` distances is most often the longest. *wins: how often; *of: out of how many. */
static uint32_t find_phase(const int64_t *distance, uint32_t n, uint32_t lag, uint32_t *wins, uint32_t *of)
{
    uint32_t at[MOST_LAG] = {0}, best = 0;
    *of = n / lag;
    for (uint32_t i = 0; i < *of; i++) {
        uint32_t longest = 0;
        for (uint32_t k = 1; k < lag; k++)
            if (distance[i * lag + k] > distance[i * lag + longest]) longest = k;
        at[longest]++;
    }
    for (uint32_t k = 1; k < lag; k++)
        if (at[k] > at[best]) best = k;
    *wins = at[best];
    return best;
}

/* Whether it is no coincidence that the same one of `lag` distances is so often the longest: less than one of 100,000
 * random sequences has that (Chernoff's bound, over all positions). */
static bool is_no_chance(uint32_t lag, uint32_t wins, uint32_t of)
{
    double share = (double)wins / of, d = share * log(share * lag);
    if (share < 1) d += (1 - share) * log((1 - share) * lag / (lag - 1.0));
    return of * d - log(lag) >= log(1e5 * MOST_LAG);
}

/* Whether the distances at `phase` are those between steps: longer than the others, and far longer if that may be
 * coincidence; if they are few, longer than all the others. */
static bool stand_out(const int64_t *distance, uint32_t n, uint32_t lag, uint32_t phase, bool chance, int64_t *scratch)
{
    uint32_t nbetween = 0, nrest = 0;
    int64_t shortest = INT64_MAX, longest = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool between = i % lag == phase;
        if (between && distance[i] < shortest) shortest = distance[i];
        if (!between && distance[i] > longest) longest = distance[i];
        scratch[between ? n - ++nbetween : nrest++] = distance[i];
    }
    if (nbetween + 1 < LAGS_FEWEST || (chance && nbetween < LAGS_FEW && (double)shortest < 1.2 * (double)longest))
        return false;
    return (double)rs_median(scratch + nrest, nbetween) >= (chance ? 1.5 : 1.05) * (double)rs_median(scratch, nrest);
}

/* The number for which the longest of their distances is nearly always the same one. Not true for a multiple (two of
 * them are longest), nor for a divisor. */
static uint32_t best_lag(const int64_t *distance, uint32_t n, int64_t *scratch)
{
    uint32_t best = 0;
    double most = 0;
    for (uint32_t lag = 2; lag <= MOST_LAG && lag <= (n + 1) / LAGS_FEWEST; lag++) {
        uint32_t wins, of, phase = find_phase(distance, n, lag, &wins, &of);
        double share = of ? (double)wins / of : 0;
        if (share < 0.8 || share <= most) continue;
        if (!stand_out(distance, n, lag, phase, !is_no_chance(lag, wins, of), scratch)) continue;
        most = share;
        best = lag;
    }
    return best;
}

/* Whether every `lag`-th distance may still be longer than the others, for some lag: its median is. */
static bool is_doubtful(const int64_t *distance, uint32_t n, int64_t *scratch)
{
    for (uint32_t lag = 2; lag <= MOST_LAG && lag <= n / 4; lag++) {
        int64_t first = 0, second = 0;
        for (uint32_t phase = 0; phase < lag; phase++) {
            uint32_t count = 0;
            for (uint32_t i = phase; i < n; i += lag) scratch[count++] = distance[i];
            int64_t median = rs_median(scratch, count);
            if (median > first) {
                second = first;
                first = median;
            } else if (median > second) {
                second = median;
            }
        }
        if ((double)first > 1.05 * (double)second) return true;
    }
    return false;
}

/* `list` are the numbers of n equal items. *lag: how many make a step; 1: they occur singly at regular intervals; 0:
 * hidden by noise. */
static void lag_find(const struct rs_item *items, const uint32_t *list, uint32_t n, uint32_t *lag)
{
    *lag = 0;
    if (n < LAGS_FEWEST) return;
    uint32_t skip = n - 1 > WINDOW ? (n - 1 - WINDOW) / 2 : 0, distances = n - 1 > WINDOW ? WINDOW : n - 1;
    int64_t *distance = rs_alloc(2 * (size_t)distances * sizeof *distance);
    bool timed = true;
    for (uint32_t i = 0; i < distances; i++) {
        const struct rs_item *a = &items[list[skip + i]], *b = &items[list[skip + i + 1]];
        timed &= a->over != RS_TIME_NONE && b->over != RS_TIME_NONE;
        distance[i] = rs_time_minus(b->over, a->over);
    }
    if (timed) {
        *lag = best_lag(distance, distances, distance + distances);
        if (!*lag && !is_doubtful(distance, distances, distance + distances))
            *lag = is_regular(distance, distances, distance + distances);
    }
    free(distance);
}

/* ---- repeating units ---- */

enum {
    FEWEST = 3, /* of a symbol that recurs */
    FEWEST_ALIKE = 12, /* equal operations that are steps by themselves: fewer may be the buckets of one */
    FEWEST_OF_TWO = 4, /* operations of a unit that occurs only twice */
    FEW = 8, /* units: so few may be layers, and the pause between them must be far longer */
    LEAST_NS = 20000, /* pauses that differ by less are equal */
    SAMPLES = 64, /* units examined for the pause */
    STANDS_OUT = 2, /* a pause between steps is longer than any other by this factor */
    FEW_UNITS = 3, /* between two scalars: these rather belong to one step */
    MOST_BACK = 16, /* scalars between two steps */
};

struct work {
    const struct rs_item *items;
    uint32_t n;
    struct rs_repeats *out;
    uint32_t *list; /* the items in which the unit was found */
    uint32_t nlist;
    struct rs_period unit; /* positions are in `list` */
    bool scalars; /* scalars occur at regular intervals, too... */
    bool close; /* ...and so often that each step may have one */
    struct rs_map symbols, kinds; /* of the unit */
    /* Before each position: how many belong to the unit, what they are, their bytes and those of the same kinds. */
    uint32_t *count;
    uint64_t *content;
    double *bytes;
    uint64_t unit_content;
    double unit_bytes;
    uint32_t *cuts; /* positions where units begin */
    uint32_t ncuts;
};

/* ---- the unit ---- */

static void choose_items(struct work *w, bool scalars)
{
    w->nlist = 0;
    for (uint32_t i = 0; i < w->n; i++)
        if (scalars || !w->items[i].scalar) w->list[w->nlist++] = i;
}

/* Whether all operations of the unit are of one kind: it may be a layer or a step. */
static bool is_plain(const struct work *w)
{
    uint32_t at = w->unit.anchors[w->unit.usual], kind = w->items[w->list[at]].kind;
    if (w->items[w->list[at]].captured) return false; /* of a graph */
    for (uint32_t i = 1; i < w->unit.length; i++)
        if (w->items[w->list[at + i]].kind != kind) return false;
    return true;
}

/* The longest pause before the items (from, to]. */
static int64_t longest_pause(const struct work *w, uint32_t from, uint32_t to)
{
    int64_t longest = 0;
    for (uint32_t i = from + 1; i <= to && i < w->n; i++)
        if (w->items[i].pause > longest) longest = w->items[i].pause;
    return longest;
}

/* Whether a scalar that occurs with every k-th plain unit ends a step. With every second or third: yes. Otherwise it
 * may occur with some steps only, unless the program pauses there and nowhere else in between. `unit` is that of the
 * scalar, in all items. */
static void ends_steps(struct work *w, const struct rs_period *unit, bool *ends)
{
    uint32_t n = unit->n - 1, others = 0, from = unit->anchors[unit->usual];
    for (uint32_t i = 0; i < unit->length; i++) others += !w->items[from + i].scalar;
    *ends = others <= FEW_UNITS * w->unit.length;
    if (*ends) return;
    int64_t *here = rs_alloc(2 * ((size_t)n + 1) * sizeof *here), *elsewhere = here + n;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t to = unit->anchors[i + 1], first = unit->anchors[i] + 1, last = to;
        while (first < to && w->items[first].scalar) first++;
        while (last > first && w->items[last].scalar) last--;
        int64_t behind = longest_pause(w, unit->anchors[i], first), before = longest_pause(w, last, to);
        here[i] = before > behind ? before : behind;
        elsewhere[i] = longest_pause(w, first, last);
    }
    double a = (double)rs_median(here, n), b = (double)rs_median(elsewhere, n);
    w->close = others <= (FEW_UNITS + 1) * w->unit.length;
    *ends = a > (w->close ? 1.1 : 1.5) * b;
    free(here);
}

/* Uses the unit of all items, including scalars, if it is the step rather than the plain one of the others. */
static void try_scalars(struct work *w)
{
    struct rs_period unit;
    uint32_t *all = rs_alloc(((size_t)w->n + 1) * sizeof *all);
    for (uint32_t i = 0; i < w->n; i++) all[i] = i;
    rs_period_find(&unit, w->items, all, w->n);
    bool takes = unit.n;
    w->scalars = false;
    for (uint32_t i = 0; takes && i < unit.length; i++) w->scalars |= w->items[unit.anchors[unit.usual] + i].scalar;
    if (takes && w->unit.n) {
        takes = unit.length > w->unit.length && w->scalars;
        if (takes) ends_steps(w, &unit, &takes);
    }
    if (takes) {
        rs_period_free(&w->unit);
        w->unit = unit;
        memcpy(w->list, all, (size_t)w->n * sizeof *all);
        w->nlist = w->n;
    } else {
        rs_period_free(&unit);
    }
    free(all);
}

/* Whether between the first and the last there are only scalars at regular intervals: only then equal operations can be
 * steps, singly or in groups. A single one is a step only if nothing but scalars follows (gradients after layers). */
static bool all_alike(const struct work *w, bool alone)
{
    uint32_t from = w->list[w->unit.anchors[0]], to = w->list[w->unit.anchors[w->unit.n - 1]];
    uint32_t symbol = w->items[from].symbol;
    for (uint32_t i = from; i < to; i++)
        if (w->items[i].scalar ? alone && !w->scalars : w->items[i].symbol != symbol) return false;
    return !alone || w->list[w->nlist - 1] == to;
}

/* The pause before a position, among all items since the previous position. */
static int64_t pause_at(const struct work *w, uint32_t place)
{
    return place ? longest_pause(w, w->list[place - 1], w->list[place]) : 0;
}

/* How far before its anchor a unit begins if the longest pause is between units; false: it is not longer than all
 * others by that factor. */
static void find_pause(const struct work *w, double factor, uint32_t *back, bool *found)
{
    const struct rs_period *u = &w->unit;
    uint32_t every = u->n / SAMPLES + 1, room = u->n / every + 1, best = 0;
    int64_t *pauses = rs_alloc((size_t)room * sizeof *pauses), first = 0, second = 0;
    for (uint32_t j = 0; j < u->length; j++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i + 1 < u->n; i += every)
            if (u->anchors[i + 1] - u->anchors[i] == u->length && n < room)
                pauses[n++] = pause_at(w, u->anchors[i + 1] - j);
        int64_t pause = rs_median(pauses, n);
        if (pause > first) {
            second = first;
            first = pause;
            best = j;
        } else if (pause > second) {
            second = pause;
        }
    }
    free(pauses);
    *back = best;
    *found = first >= rs_time_plus(second, LEAST_NS) && (double)first >= factor * (double)second;
}

/* How many equal operations there are from one scalar to the next, if scalars occur at regular intervals and the distance
 * over a scalar is usually longer than the others; 0: not so. Medians show it where noise hides single distances. */
static uint32_t lag_of_scalars(const struct work *w)
{
    const struct rs_period *u = &w->unit;
    int64_t *here = rs_alloc(2 * (size_t)u->n * sizeof *here), *elsewhere = here + u->n;
    uint32_t nhere = 0, nelsewhere = 0, last = RS_NONE, lag = 0, same = 0;
    for (uint32_t i = 0; i + 1 < u->n; i++) {
        uint32_t a = w->list[u->anchors[i]], b = w->list[u->anchors[i + 1]];
        if (w->items[a].over == RS_TIME_NONE || w->items[b].over == RS_TIME_NONE) continue;
        int64_t distance = rs_time_minus(w->items[b].over, w->items[a].over);
        if (b == a + 1) {
            elsewhere[nelsewhere++] = distance;
            continue;
        }
        here[nhere++] = distance;
        if (last != RS_NONE && !lag) lag = i - last;
        same += last != RS_NONE && i - last == lag;
        last = i;
    }
    bool regular = nhere >= LAGS_FEW && lag > 1 && 10 * (uint64_t)same >= 9 * (uint64_t)(nhere - 1);
    if (!regular || (double)rs_median(here, nhere) < 1.2 * (double)rs_median(elsewhere, nelsewhere)) lag = 0;
    free(here);
    return lag;
}

/* Order does not show whether a plain unit is a step, a layer or a bucket. Pauses do: if they separate units of several
 * operations from each other, each is a step (and a longer pause now and then is a checkpoint); if they divide units into
 * groups, these are steps; otherwise there are none. */
static void group_plain(struct work *w)
{
    struct rs_period *u = &w->unit;
    uint32_t lag = 0, back, *firsts, n = 0;
    bool found = false;
    if (u->length > 1) find_pause(w, u->n < FEW ? 3 : 1.5, &back, &found);
    if (found) return;
    firsts = rs_alloc((size_t)u->n * sizeof *firsts);
    for (uint32_t i = 0; i < u->n; i++) firsts[i] = w->list[u->anchors[i]];
    lag_find(w->items, firsts, u->n, &lag);
    free(firsts);
    if (!lag && u->length == 1 && w->scalars) lag = lag_of_scalars(w);
    if (u->length == 1 && !all_alike(w, lag <= 1)) lag = 0;
    if (lag > 1) {
        for (uint32_t i = 0; i < u->n; i += lag) u->anchors[n++] = u->anchors[i];
        u->n = n;
        u->usual = 0;
        u->length = n > 1 ? u->anchors[1] - u->anchors[0] : lag * u->length;
        found = n >= FEWEST;
    } else if (u->length == 1) {
        found = lag && u->n >= FEWEST_ALIKE && !w->close && !w->items[w->list[u->anchors[0]]].scalar;
    }
    if (!found) u->n = 0;
}

static void find_unit(struct work *w)
{
    choose_items(w, false);
    rs_period_find(&w->unit, w->items, w->list, w->nlist);
    if (!w->unit.n || is_plain(w)) try_scalars(w);
    if (w->unit.n && is_plain(w)) group_plain(w);
}

/* ---- the first operation of a unit ---- */

static void note_unit(struct work *w)
{
    uint32_t at = w->unit.anchors[w->unit.usual];
    w->count = rs_zalloc((size_t)w->nlist + 1, sizeof *w->count);
    w->content = rs_zalloc((size_t)w->nlist + 1, sizeof *w->content);
    w->bytes = rs_zalloc((size_t)w->nlist + 1, sizeof *w->bytes);
    w->cuts = rs_alloc(((size_t)w->unit.n + 4) * sizeof *w->cuts);
    for (uint32_t i = 0; i < w->unit.length; i++) {
        const struct rs_item *x = &w->items[w->list[at + i]];
        rs_map_put(&w->symbols, x->symbol, 1);
        rs_map_put(&w->kinds, x->kind, 1);
        w->unit_content += rs_weight_of(x->symbol);
        w->unit_bytes += (double)x->bytes;
    }
    for (uint32_t i = 0; i < w->nlist; i++) {
        const struct rs_item *x = &w->items[w->list[i]];
        bool in = rs_map_find(&w->symbols, x->symbol) != NULL, like = rs_map_find(&w->kinds, x->kind) != NULL;
        w->count[i + 1] = w->count[i] + in;
        w->content[i + 1] = w->content[i] + (in ? rs_weight_of(x->symbol) : 0);
        w->bytes[i + 1] = w->bytes[i] + (like ? (double)x->bytes : 0);
    }
}

static bool is_whole(const struct work *w, uint32_t from, uint32_t to)
{
    return w->content[to] - w->content[from] == w->unit_content;
}

/* More than half of the operations of a unit, or most of its bytes: the first step of PyTorch's DDP moves the same
 * bytes in other buckets. */
static bool is_large(const struct work *w, uint32_t from, uint32_t to)
{
    return 2 * (uint64_t)(w->count[to] - w->count[from]) > w->unit.length ||
           (w->unit_bytes > 0 && w->bytes[to] - w->bytes[from] >= 0.75 * w->unit_bytes);
}

/* Where the unit with anchor i begins if units begin `back` positions before their anchors; after the last anchor:
 * where it ends. */
static uint32_t begin_of(const struct work *w, uint32_t i, uint32_t back)
{
    const struct rs_period *u = &w->unit;
    uint32_t behind = i ? u->anchors[i - 1] + 1 : 0;
    if (i < u->n) return u->anchors[i] >= behind + back ? u->anchors[i] - back : behind;
    uint64_t end = (uint64_t)u->anchors[u->n - 1] + u->length - back;
    return end < w->nlist ? (uint32_t)end : w->nlist;
}

/* Cuts. What is too small for a step is added to the previous one (its anchor occurred twice); at the ends it is
 * dropped. Returns how well that fits. */
static uint64_t cut(struct work *w, uint32_t back)
{
    uint32_t n = 0, from = 0;
    uint64_t whole = 0;
    w->cuts[0] = 0;
    for (uint32_t i = 0; i <= w->unit.n + 1; i++) {
        uint32_t to = i <= w->unit.n ? begin_of(w, i, back) : w->nlist;
        if (to <= from) continue;
        bool large = is_large(w, from, to);
        if (large) {
            whole += is_whole(w, from, to);
            w->cuts[n++] = from;
        }
        from = to;
        if (large || (n && i < w->unit.n)) w->cuts[n] = to;
    }
    w->ncuts = n;
    return 3 * whole + (n - whole);
}

/* Steps begin where most of them are complete: with the first operation that recurs, after the last, or at the pause. */
static enum rs_status place(struct work *w, struct rs_err *err)
{
    (void)err;
    const struct rs_period *u = &w->unit;
    uint32_t begin = 0, end = w->nlist, back[3] = {0}, best = 0, nbacks = 0;
    uint64_t most = 0;
    bool pauses = false;
    while (begin < end && w->count[begin + 1] == w->count[begin]) begin++;
    while (end > begin && w->count[end] == w->count[end - 1]) end--;
    find_pause(w, STANDS_OUT, &back[0], &pauses);
    nbacks += pauses;
    back[nbacks++] = (u->anchors[0] - begin) % u->length;
    back[nbacks++] = (u->length - (end - u->anchors[u->n - 1]) % u->length) % u->length;
    for (uint32_t i = 0; i < nbacks; i++) {
        uint64_t fits = cut(w, back[i]);
        if (fits <= most) continue;
        most = fits;
        best = back[i];
    }
    cut(w, best);
    return RS_OK;
}

/* ---- all steps ---- */

/* Between the items of two positions a step begins at the longest pause: how many items before the second. A scalar rather
 * ends a step: it begins one if the pause before it is clearly longer than the one behind it. */
static uint32_t longest_back(const struct work *w, uint32_t place)
{
    uint32_t from = w->list[place - 1] + 1, best = w->list[place];
    for (uint32_t i = w->list[place]; i-- > from;)
        if ((double)w->items[i].pause > 1.1 * (double)w->items[best].pause) best = i;
    return w->list[place] - best;
}

/* The same for all: where most steps have it. If two pauses are nearly equal, steps would otherwise begin with a scalar now and
 * end with it then. */
static uint32_t usual_back(const struct work *w)
{
    uint32_t votes[MOST_BACK] = {0}, best = 0;
    for (uint32_t i = 1; i < w->ncuts; i++) {
        uint32_t back = longest_back(w, w->cuts[i]);
        if (back < MOST_BACK) votes[back]++;
    }
    for (uint32_t i = 1; i < MOST_BACK; i++)
        if (votes[i] > votes[best]) best = i;
    return best;
}

/* The first item of the unit that begins at a position. */
static uint32_t item_at(const struct work *w, uint32_t place, uint32_t back)
{
    bool fits = w->list[place] - w->list[place - 1] > back;
    return w->list[place] - (fits ? back : longest_back(w, place));
}

/* Where the last step ends: after the scalars that usually follow, of which `back` begin the next step; before what occurs
 * once. */
static void end_at(const struct work *w, uint32_t place, uint32_t back, uint32_t *end)
{
    const struct rs_period *u = &w->unit;
    uint32_t from = w->list[u->anchors[u->usual]], next = u->anchors[u->usual] + u->length;
    uint32_t to = next < w->nlist ? w->list[next] : w->n;
    struct rs_map usual = {0};
    for (uint32_t i = from; i < to; i++) rs_map_put(&usual, w->items[i].symbol, 1);
    *end = w->list[place - 1] + 1;
    while (*end < w->n && w->items[*end].scalar && rs_map_find(&usual, w->items[*end].symbol)) ++*end;
    uint32_t more = *end - w->list[place - 1] - 1;
    *end -= back < more ? back : more;
    rs_map_free(&usual);
}

static void make_units(struct work *w)
{
    struct rs_repeats *r = w->out;
    r->firsts = rs_alloc(((size_t)w->ncuts + 2) * sizeof *r->firsts);
    uint32_t first = w->cuts[0], last = w->cuts[w->ncuts], back = usual_back(w);
    /* After what occurs once at the start, and before what occurs once at the end. */
    while (!rs_map_find(&w->kinds, w->items[w->list[first]].kind)) first++;
    while (w->count[last] == w->count[last - 1]) last--;
    r->firsts[r->n++] = w->list[first];
    for (uint32_t i = 1; i < w->ncuts; i++) {
        uint32_t at = item_at(w, w->cuts[i], back);
        /* One group call belongs to one step. */
        if (!w->items[at].grouped) r->firsts[r->n++] = at;
    }
    end_at(w, last, back, &r->firsts[r->n]);
}

/* Two units and nothing else: the same operations twice, of more than one kind. */
static void try_two(struct work *w)
{
    uint32_t *counts = rs_zalloc((size_t)w->n + 1, sizeof *counts), n = 0;
    for (uint32_t i = 0; i < w->n; i++) counts[w->items[i].symbol]++;
    bool once = false; /* something occurs once in each */
    for (uint32_t i = 0; i < w->n; i++) {
        if (counts[w->items[i].symbol] > 1) w->list[n++] = i;
        once |= counts[w->items[i].symbol] == 2;
    }
    free(counts);
    uint32_t half = n / 2;
    bool same = once && half >= FEWEST_OF_TWO && n % 2 == 0 && w->n - n <= half, kinds = false;
    for (uint32_t i = 0; i < half && same; i++) {
        same = w->items[w->list[i]].symbol == w->items[w->list[half + i]].symbol;
        kinds |= w->items[w->list[i]].kind != w->items[w->list[0]].kind;
    }
    if (!same || !kinds) return;
    w->out->firsts = rs_alloc(3 * sizeof *w->out->firsts);
    w->out->firsts[0] = w->list[0];
    w->out->firsts[1] = w->list[half];
    w->out->firsts[2] = w->list[n - 1] + 1;
    w->out->n = 2;
}

static enum rs_status find(struct work *w, struct rs_err *err)
{
    find_unit(w);
    if (w->unit.n < 2) {
        try_two(w);
        return RS_OK;
    }
    note_unit(w);
    RS_TRY(place(w, err));
    if (w->ncuts) make_units(w);
    return RS_OK;
}

enum rs_status rs_repeats_find(struct rs_repeats *r, const struct rs_item *items, uint32_t n, struct rs_err *err)
{
    *r = (struct rs_repeats){0};
    struct work w = {.items = items, .n = n, .out = r, .list = rs_alloc(((size_t)n + 1) * sizeof *w.list)};
    enum rs_status status = find(&w, err);
    free(w.list);
    free(w.count);
    free(w.content);
    free(w.bytes);
    free(w.cuts);
    rs_map_free(&w.symbols);
    rs_map_free(&w.kinds);
    rs_period_free(&w.unit);
    if (status != RS_OK) rs_repeats_free(r);
    return status;
}

void rs_repeats_free(struct rs_repeats *r)
{
    free(r->firsts);
    *r = (struct rs_repeats){0};
}

#include "conclude/chance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/model.h"

/* ---- the order within steps ---- */

struct work {
    const struct rs_chance_table *t;
    struct rs_chance *out;
    uint32_t *first; /* by group: its first place in `members` */
    uint32_t *members; /* units, group by group */
    float *sorted; /* [step * units + first[group]]: the known values of the group in the step, ascending */
    uint32_t *known; /* [step * groups + group]: how many these are */
    /* [unit * steps + step], as the table: */
    float *apart; /* from the median of its equals; NAN: not compared */
    int32_t *score; /* how many equals it is later than, less how many are later; times the step's weight */
    uint32_t *weight; /* [step * groups + group]; see weigh_steps() */
    double *sums; /* distribution of a sum of scores: see tail_make() */
    size_t room; /* of sums */
    double margin; /* what `least_ns` may be in a run like this, by the noise of effects */
    double *scratch; /* for as many as there are units, or steps */
};

static size_t at(const struct work *w, uint32_t unit, uint32_t step)
{
    return (size_t)unit * w->t->steps + step;
}

static bool is_compared(const struct work *w, uint32_t unit, uint32_t step)
{
    return !isnan(w->apart[at(w, unit, step)]);
}

static float *sorted_of(const struct work *w, uint32_t group, uint32_t step)
{
    return &w->sorted[(size_t)step * w->t->units + w->first[group]];
}

static uint32_t known_of(const struct work *w, uint32_t group, uint32_t step)
{
    return w->known[(size_t)step * w->t->groups + group];
}

static int ascending(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The median of n sorted numbers without the one at `skip`. */
static double median_without(const float *v, uint32_t n, uint32_t skip)
{
    uint32_t low = (n - 2) / 2, high = (n - 1) / 2;
    return ((double)v[low + (low >= skip)] + (double)v[high + (high >= skip)]) / 2;
}

/* How many of n sorted values are below x (or equal to it). */
static uint32_t count_below(const float *v, uint32_t n, float x, bool or_equal)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (v[middle] < x || (or_equal && v[middle] == x))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void order_step(struct work *w, uint32_t group, uint32_t step)
{
    const struct rs_chance_table *t = w->t;
    float *values = sorted_of(w, group, step);
    uint32_t n = 0;
    for (uint32_t i = w->first[group]; i < w->first[group + 1]; i++) {
        float x = t->late[at(w, w->members[i], step)];
        if (!isnan(x)) values[n++] = x;
    }
    w->known[(size_t)step * t->groups + group] = n;
    qsort(values, n, sizeof *values, ascending);
    for (uint32_t i = w->first[group]; n >= 2 && i < w->first[group + 1]; i++) {
        size_t k = at(w, w->members[i], step);
        float x = t->late[k];
        if (isnan(x)) continue;
        uint32_t lower = count_below(values, n, x, false);
        w->score[k] = (int32_t)lower - (int32_t)(n - count_below(values, n, x, true));
        w->apart[k] = (float)(x - median_without(values, n, lower));
    }
}

static uint32_t weight_of(const struct work *w, uint32_t group, uint32_t step)
{
    return w->weight[(size_t)step * w->t->groups + group];
}

/* How far the units of a group are apart in a step. */
static double range_of(const struct work *w, uint32_t group, uint32_t step)
{
    uint32_t n = known_of(w, group, step);
    const float *v = sorted_of(w, group, step);
    return n >= 2 ? (double)v[n - 1] - (double)v[0] : 0;
}

/* Of a few steps, one in which all units are alike says as much as one in which they are far apart: then steps count by the
 * order of their ranges (the test of Quade). */
static void weigh_steps(struct work *w)
{
    enum { FEW = 15 };
    const struct rs_chance_table *t = w->t;
    for (uint32_t s = 0; s < t->steps; s++)
        for (uint32_t g = 0; g < t->groups; g++) {
            uint32_t *weight = &w->weight[(size_t)s * t->groups + g];
            *weight = 1;
            for (uint32_t k = 0; t->steps <= FEW && k < t->steps; k++) {
                bool below = range_of(w, g, k) < range_of(w, g, s);
                *weight += known_of(w, g, k) >= 2 && below;
            }
            for (uint32_t i = w->first[g]; i < w->first[g + 1]; i++)
                w->score[at(w, w->members[i], s)] *= (int32_t)*weight;
        }
}

static void order(struct work *w)
{
    const struct rs_chance_table *t = w->t;
    size_t cells = (size_t)t->units * t->steps;
    w->first = rs_zalloc((size_t)t->groups + 2, sizeof *w->first);
    w->members = rs_alloc(((size_t)t->units + 1) * sizeof *w->members);
    w->sorted = rs_alloc((cells + 1) * sizeof *w->sorted);
    w->known = rs_zalloc((size_t)t->groups * t->steps + 1, sizeof *w->known);
    w->apart = rs_alloc((cells + 1) * sizeof *w->apart);
    w->score = rs_zalloc(cells + 1, sizeof *w->score);
    w->weight = rs_zalloc((size_t)t->groups * t->steps + 1, sizeof *w->weight);
    for (size_t i = 0; i < cells; i++) w->apart[i] = NAN;
    for (uint32_t u = 0; u < t->units; u++)
        if (t->group[u] != RS_NONE) w->first[t->group[u] + 2]++;
    for (uint32_t g = 0; g < t->groups; g++) w->first[g + 2] += w->first[g + 1];
    for (uint32_t u = 0; u < t->units; u++)
        if (t->group[u] != RS_NONE) w->members[w->first[t->group[u] + 1]++] = u;
    for (uint32_t s = 0; s < t->steps; s++)
        for (uint32_t g = 0; g < t->groups; g++) order_step(w, g, s);
    weigh_steps(w);
}

/* ---- effects ---- */

static int ascending_double(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double middle(const double *sorted, uint32_t n)
{
    return n ? (sorted[(n - 1) / 2] + sorted[n / 2]) / 2 : NAN;
}

/* Of n independent numbers, the one (from 1) that is below their median with probability 97.5 % or more; 1 if there is
 * none. */
static uint32_t low_place(double n)
{
    double term = exp2(-n), sum = 0;
    uint32_t k = 0;
    for (; k < n / 2; k++) {
        if (!(sum + term <= 0.025) && n < 1000) break;
        sum += term;
        term *= (n - k) / (k + 1);
    }
    if (n >= 1000) k = (uint32_t)(n / 2 - 0.98 * sqrt(n));
    return k ? k : 1;
}

static void effects(struct work *w)
{
    const struct rs_chance_table *t = w->t;
    double *v = w->scratch, correlated = w->out->correlated;
    for (uint32_t u = 0; u < t->units; u++) {
        struct rs_chance_row *r = &w->out->rows[u];
        uint32_t n = 0;
        for (uint32_t s = 0; s < t->steps; s++) {
            float x = w->apart[at(w, u, s)];
            if (isnan(x)) continue;
            v[n++] = x;
            r->late += x > 2 * t->error_ns;
        }
        r->steps = n;
        r->p = 1;
        if (n > w->out->steps) w->out->steps = n;
        if (!n) continue;
        qsort(v, n, sizeof *v, ascending_double);
        uint32_t low = (uint32_t)(low_place(floor(n / correlated)) * correlated);
        if (low < 1 || low > n / 2 + 1) low = 1;
        r->equals = w->first[t->group[u] + 1] - w->first[t->group[u]] - 1;
        r->effect_ns = middle(v, n);
        r->low_ns = v[low - 1];
        r->high_ns = v[n - low];
        w->out->compared += n >= RS_CHANCE_LEAST_STEPS;
    }
}

/* The median of n sorted numbers without `gone` equal ones, of which the first is at `skip`. */
static double middle_without(const double *v, uint32_t n, uint32_t skip, uint32_t gone)
{
    uint32_t low = (n - gone - 1) / 2, high = (n - gone) / 2;
    return (v[low + (low >= skip ? gone : 0)] + v[high + (high >= skip ? gone : 0)]) / 2;
}

/* The standard error that effects have from the noise of steps: the median of all units. */
static double noise_of_effects(struct work *w)
{
    uint32_t n = 0;
    for (uint32_t u = 0; u < w->t->units; u++) {
        const struct rs_chance_row *r = &w->out->rows[u];
        if (r->steps) w->scratch[n++] = (r->high_ns - r->low_ns) / (2 * 1.96);
    }
    qsort(w->scratch, n, sizeof *w->scratch, ascending_double);
    return n ? middle(w->scratch, n) : 0;
}

/* How far the other two of three units are apart: a late unit would shift both of their effects. */
static double others_apart(struct work *w, uint32_t unit)
{
    const struct rs_chance_table *t = w->t;
    const uint32_t *members = &w->members[w->first[t->group[unit]]];
    uint32_t a = members[members[0] == unit], b = members[members[2] == unit ? 1 : 2], n = 0;
    for (uint32_t s = 0; s < t->steps; s++) {
        double ns = (double)t->late[at(w, a, s)] - (double)t->late[at(w, b, s)];
        if (!isnan(ns)) w->scratch[n++] = ns;
    }
    qsort(w->scratch, n, sizeof *w->scratch, ascending_double);
    return n ? fabs(middle(w->scratch, n)) : 0;
}

/* How far equals are apart for good: the median |effect| of all units but this one, and its only equal, whose effect is
 * the same with the other sign; less what noise alone would give. The fewer there are, the less is known of it. */
static void spreads(struct work *w)
{
    enum { TIMES = 5 };
    const struct rs_chance_table *t = w->t;
    double *v = w->scratch, noise = noise_of_effects(w);
    uint32_t n = 0;
    for (uint32_t u = 0; u < t->units; u++)
        if (w->out->rows[u].steps) v[n++] = fabs(w->out->rows[u].effect_ns);
    qsort(v, n, sizeof *v, ascending_double);
    w->margin = n > 2 ? TIMES * (1 + 4.0 / (n - 1)) * noise : 0;
    for (uint32_t u = 0; u < t->units; u++) {
        struct rs_chance_row *r = &w->out->rows[u];
        r->least_ns = 2 * t->error_ns;
        if (n == 3 && r->equals == 2) { /* one number is all that is known: noise is added, not taken off */
            double least = TIMES * (1 + 4.0 / 2) * hypot(1.4826 * others_apart(w, u), noise);
            if (least > r->least_ns) r->least_ns = least;
            continue;
        }
        uint32_t gone = r->equals == 1 ? 2 : 1;
        if (!r->steps || n < gone + 2) continue;
        double own = fabs(r->effect_ns);
        const double *found = bsearch(&own, v, n, sizeof *v, ascending_double);
        while (found > v && found[-1] == own) found--;
        uint32_t skip = (uint32_t)(found - v);
        if (skip + gone > n) gone = n - skip;
        double apart = 1.4826 * middle_without(v, n, skip, gone);
        double least = apart > noise ? TIMES * (1 + 4.0 / (n - gone)) * sqrt(apart * apart - noise * noise) : 0;
        if (least > r->least_ns) r->least_ns = least;
    }
}

/* ---- correlation of neighbouring steps ---- */

/* 1 + twice the sum of the autocorrelations of the scores, about each unit's own mean, up to the first that does not
 * differ from 0. */
static double correlation(const struct work *w)
{
    const struct rs_chance_table *t = w->t;
    enum { LEAST = 16 };
    double sum = 1, *means = rs_zalloc((size_t)t->units + 1, sizeof *means);
    uint64_t cells = 0;
    uint32_t most = 0;
    for (uint32_t u = 0; u < t->units; u++) {
        uint32_t n = 0;
        for (uint32_t s = 0; s < t->steps; s++) {
            if (!is_compared(w, u, s)) continue;
            means[u] += w->score[at(w, u, s)];
            n++;
        }
        if (n) means[u] /= n;
        if (n > most) most = n;
        cells += n;
    }
    for (uint32_t lag = 1; most >= LEAST && lag <= most / 4; lag++) {
        double with = 0, all = 0;
        uint64_t n = 0;
        for (uint32_t u = 0; u < t->units; u++)
            for (uint32_t s = 0; s < t->steps; s++) {
                if (!is_compared(w, u, s)) continue;
                double x = w->score[at(w, u, s)] - means[u];
                all += x * x;
                if (s + lag >= t->steps || !is_compared(w, u, s + lag)) continue;
                with += x * (w->score[at(w, u, s + lag)] - means[u]);
                n++;
            }
        if (all <= 0 || !n) break;
        /* Of two equals one score is minus the other: about half of the cells are independent. Means that are taken
         * from the same numbers make it 1 / steps too small. */
        double rho = with / (double)n / (all / (double)cells) + 1.0 / most;
        if (rho <= 2 / sqrt((double)n / 2)) break;
        sum += 2 * rho;
    }
    free(means);
    return sum;
}

/* ---- the distribution of a sum of scores ---- */

/* P(sum >= x) under all permutations within steps. */
struct tail {
    double variance;
    int64_t most; /* the largest sum */
    const double *from; /* exact, by sum + most; NULL: by the normal limit */
};

static double tail_at(const struct tail *t, double sum)
{
    if (t->from) {
        int64_t i = (int64_t)sum + t->most;
        return i <= 0 ? 1 : i > 2 * t->most ? 0 : t->from[i];
    }
    return t->variance > 0 ? erfc((sum - 1) / sqrt(2 * t->variance)) / 2 : 1;
}

/* Adds the score of a random member of the group in a step to a sum that reaches from -reach to reach. */
static void convolve(const struct work *w, uint32_t group, uint32_t step, const double *from, double *to, int64_t reach,
                     int64_t most)
{
    uint32_t known = known_of(w, group, step);
    for (uint32_t i = w->first[group]; i < w->first[group + 1]; i++) {
        if (!is_compared(w, w->members[i], step)) continue;
        int64_t score = w->score[at(w, w->members[i], step)];
        for (int64_t x = -reach; x <= reach; x++) to[x + score + most] += from[x + most] / known;
    }
}

/* The tail for the steps in which a unit was compared; exact if that takes at most `limit` additions. */
static struct tail tail_make(struct work *w, uint32_t unit, double limit)
{
    const struct rs_chance_table *t = w->t;
    uint32_t group = t->group[unit];
    double additions = 0;
    struct tail tail = {0};
    for (uint32_t s = 0; s < t->steps; s++) {
        if (!is_compared(w, unit, s)) continue;
        double squares = 0;
        uint32_t known = known_of(w, group, s);
        for (uint32_t i = w->first[group]; i < w->first[group + 1]; i++)
            squares += pow(w->score[at(w, w->members[i], s)], 2);
        tail.variance += w->out->correlated * squares / known;
        additions += 2.0 * (double)tail.most * known;
        tail.most += (int64_t)(known - 1) * weight_of(w, group, s);
    }
    if (w->out->correlated > 1 || additions > limit) return tail;
    size_t width = 2 * (size_t)tail.most + 1;
    if (w->room < 2 * width) {
        w->room = 2 * width;
        w->sums = rs_realloc(w->sums, w->room * sizeof *w->sums);
    }
    double *now = w->sums, *next = now + width;
    memset(now, 0, width * sizeof *now);
    now[tail.most] = 1;
    int64_t reach = 0;
    for (uint32_t s = 0; s < t->steps; s++) {
        if (!is_compared(w, unit, s)) continue;
        memset(next, 0, width * sizeof *next);
        convolve(w, group, s, now, next, reach, tail.most);
        reach += (int64_t)(known_of(w, group, s) - 1) * weight_of(w, group, s);
        double *swap = now;
        now = next;
        next = swap;
    }
    for (size_t i = width - 1; i--;) now[i] += now[i + 1];
    tail.from = now;
    return tail;
}

/* Whether the tail of one unit is that of another: same group, compared in the same steps. */
static bool same_steps(const struct work *w, uint32_t a, uint32_t b)
{
    if (b == RS_NONE || w->t->group[a] != w->t->group[b]) return false;
    for (uint32_t s = 0; s < w->t->steps; s++)
        if (is_compared(w, a, s) != is_compared(w, b, s)) return false;
    return true;
}

/* ---- lateness that comes in bursts ----
 * A unit that was late by chance for a while is late in many steps, too. How likely that is, the others show: how often
 * they are late by about as much, and for how long. */

struct bursts {
    double share; /* of the steps of the others in which they are late by the threshold or more */
    double length; /* steps that carry as much as an independent one */
};

/* How many of a unit's steps are later than a threshold, if all are later by `more`. */
static uint32_t steps_above(const struct work *w, uint32_t unit, double threshold, double more)
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < w->t->steps; s++) n += w->apart[at(w, unit, s)] + more > threshold;
    return n;
}

/* Whether a unit shows how lateness comes and goes: not the one that is judged, nor one that is late nearly always, which
 * has a cause of its own. */
static bool shows_bursts(const struct work *w, uint32_t unit, uint32_t without)
{
    const struct rs_chance_row *r = &w->out->rows[unit];
    if (unit == without) return false;
    return r->effect_ns <= r->least_ns || steps_above(w, unit, r->effect_ns / 2, 0) <= 0.9 * r->steps;
}

/* `without`: the unit that is judged; RS_NONE: none. */
static struct bursts bursts_of(const struct work *w, double threshold, uint32_t without)
{
    const struct rs_chance_table *t = w->t;
    uint64_t n = 0, late = 0;
    struct bursts b = {.length = 1};
    for (uint32_t u = 0; u < t->units; u++) {
        if (!shows_bursts(w, u, without)) continue;
        for (uint32_t s = 0; s < t->steps; s++) {
            float x = w->apart[at(w, u, s)];
            if (!isnan(x)) n++;
            if (x > threshold) late++;
        }
    }
    b.share = (double)(late + 1) / (double)(n + 2);
    for (uint32_t lag = 1; late > 1 && lag <= t->steps / 4; lag++) {
        uint64_t pairs = 0, both = 0;
        for (uint32_t u = 0; u < t->units; u++) {
            if (!shows_bursts(w, u, without)) continue;
            for (uint32_t s = 0; s + lag < t->steps; s++) {
                float x = w->apart[at(w, u, s)], y = w->apart[at(w, u, s + lag)];
                if (!isnan(x) && !isnan(y)) pairs++;
                if (x > threshold && y > threshold) both++;
            }
        }
        if (!pairs) break;
        double rho = ((double)both / (double)pairs - b.share * b.share) / (b.share - b.share * b.share);
        if (rho <= 2 / sqrt((double)pairs)) break;
        b.length += 2 * rho;
    }
    /* Short runs show few bursts: what there may be, at most, and longer than they appear. */
    if (late) b.share += 1.64 * sqrt(b.share * (1 - b.share) * b.length / (double)n) + b.length / (double)n;
    if (b.share > 0.9) b.share = 0.9;
    b.length = 1 + 2 * (b.length - 1);
    return b;
}

/* P(at least k of n), each with probability p; for n and k that need not be whole numbers. */
static double at_least(double k, double n, double p)
{
    if (k <= n * p) return 1;
    /* The bound of Chernoff: not above the true value by more than a small factor, and never below. */
    double q = k / n;
    if (q >= 1) return pow(p, n);
    return exp(-n * (q * log(q / p) + (1 - q) * log((1 - q) / (1 - p))));
}

static double bursts_p(const struct bursts *b, double late, double steps)
{
    double n = steps / b->length;
    return at_least(n * late / steps, n, b->share);
}

/* ---- verdicts ---- */

static bool is_found(const struct rs_chance_row *r, double p, double late, double more)
{
    return r->steps >= RS_CHANCE_LEAST_STEPS && p <= RS_CHANCE_LEVEL && late >= RS_CHANCE_MOST_STEPS * r->steps &&
           r->effect_ns + more > r->least_ns;
}

/* Whether a unit would be found if it were later in every step by `more` (above 0). */
static bool would_be_found(const struct work *w, const struct tail *tail, uint32_t unit, double more)
{
    const struct rs_chance_table *t = w->t;
    uint32_t late = 0;
    double sum = 0;
    for (uint32_t s = 0; s < t->steps; s++) {
        size_t k = at(w, unit, s);
        if (!is_compared(w, unit, s)) continue;
        late += w->apart[k] + more > 2 * t->error_ns;
        const float *v = sorted_of(w, t->group[unit], s);
        uint32_t n = known_of(w, t->group[unit], s);
        float x = (float)(t->late[k] + more);
        uint32_t own = x > t->late[k]; /* its own value is below the new one, unless that is too small to differ */
        sum += weight_of(w, t->group[unit], s) *
               ((double)count_below(v, n, x, false) - own - (double)(n - count_below(v, n, x, true)));
    }
    return is_found(&w->out->rows[unit], fmin(1, tail_at(tail, sum) * w->out->compared), late, more);
}

/* Of a unit that is found otherwise. */
static void check_bursts(struct work *w, uint32_t unit)
{
    struct rs_chance_row *r = &w->out->rows[unit];
    double half = r->effect_ns / 2;
    struct bursts b = bursts_of(w, half, unit);
    double p = fmin(1, bursts_p(&b, steps_above(w, unit, half, 0), r->steps) * w->out->compared);
    if (p > r->p) r->p = p;
    r->found = r->p <= RS_CHANCE_LEVEL;
}

/* The smallest delay per step at which a unit would be found, to a few percent; NAN: none. */
static double seen(const struct work *w, const struct tail *tail, uint32_t unit)
{
    double low = w->t->error_ns, high = low;
    if (low <= 0) low = high = 1;
    while (!would_be_found(w, tail, unit, high)) {
        low = high;
        high *= 2;
        if (high > 1e12) return NAN;
    }
    while (high > 1.03 * low) {
        double mid = sqrt(low * high);
        if (would_be_found(w, tail, unit, mid))
            high = mid;
        else
            low = mid;
    }
    return high;
}

/* A delay that every unit needs to be found, beyond the noise of this run, and also the next: bursts included. */
static double seen_by_all(const struct work *w, double needed)
{
    enum { TRIES = 40 };
    double ns = fmax(1.5 * needed, needed + 1.5 * w->margin);
    for (int i = 0; i < TRIES && !isnan(ns); i++, ns *= 1.3) {
        struct bursts b = bursts_of(w, ns / 2, RS_NONE);
        if (bursts_p(&b, w->out->steps, w->out->steps) * w->out->compared <= RS_CHANCE_LEVEL) return ns;
    }
    return NAN;
}

static void judge(struct work *w)
{
    enum { ONCE = 20000000, EACH = 200000 }; /* additions for an exact distribution: of a group, of a unit */
    const struct rs_chance_table *t = w->t;
    struct tail tail = {0};
    double most = 0;
    for (uint32_t g = 0; g < t->groups; g++) {
        uint32_t before = RS_NONE;
        for (uint32_t i = w->first[g]; i < w->first[g + 1]; i++) {
            uint32_t u = w->members[i];
            struct rs_chance_row *r = &w->out->rows[u];
            if (r->steps < RS_CHANCE_LEAST_STEPS) continue;
            if (!same_steps(w, u, before)) tail = tail_make(w, u, before == RS_NONE ? ONCE : EACH);
            before = u;
            double sum = 0;
            for (uint32_t s = 0; s < t->steps; s++) sum += w->score[at(w, u, s)];
            r->p = fmin(1, tail_at(&tail, sum) * w->out->compared);
            r->found = is_found(r, r->p, r->late, 0);
            if (r->found) check_bursts(w, u);
            double needed = seen(w, &tail, u);
            if (isnan(needed) || needed > most) most = needed;
        }
    }
    w->out->seen_ns = w->out->compared ? seen_by_all(w, most) : NAN;
}

void rs_chance_init(struct rs_chance *c, const struct rs_chance_table *t)
{
    *c = (struct rs_chance){.units = t->units, .correlated = 1};
    c->rows = rs_zalloc((size_t)t->units + 1, sizeof *c->rows);
    struct work w = {.t = t, .out = c};
    w.scratch = rs_alloc(((size_t)(t->units > t->steps ? t->units : t->steps) + 1) * sizeof *w.scratch);
    order(&w);
    c->correlated = correlation(&w);
    effects(&w);
    spreads(&w);
    judge(&w);
    free(w.sorted);
    free(w.apart);
    free(w.score);
    free(w.weight);
    free(w.first);
    free(w.members);
    free(w.sums);
    free(w.known);
    free(w.scratch);
}

void rs_chance_free(struct rs_chance *c)
{
    free(c->rows);
    *c = (struct rs_chance){0};
}

#include "join/shifts.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "join/fit.h"
#include "join/overlay.h"

enum {
    GLANCE = 16, /* operations compared for every shift... */
    LOOK = 64, /* ...and for the best of them */
    BEST = 32,
    ENOUGH = 3, /* times that make a pattern */
    LOOSE_END = 2, /* operations in a row at an end whose times contradict */
};
#define AGREE 0.75 /* of the sizes */
#define SPREAD_MOST 1e6 /* ns: a larger spread is another run */
#define NEAR 8.0 /* spreads that a time may be from the median */
#define NEAR_NS 30e3 /* or this many ns */
#define CLEAR 4.0 /* ratio of the next best distance to the best */
#define CLEAR_NS 20e3 /* and at least this difference */
#define SAME_WALL 60e9 /* ns: wall clocks of one job agree within this */

struct search {
    const struct rs_model *m;
    const uint32_t *b, *a;
    uint32_t nb, na;
    const struct rs_shift_ranks *ranks;
    uint32_t first; /* rank with times */
    enum rs_shift_time by[RS_SHIFT_RANKS];
    double *values; /* room for LOOK */
    struct rs_shifted best[BEST]; /* by rank() */
    uint32_t nbest, agreeing; /* shifts that agree in all common operations, with the largest possible overlap */
};

bool rs_shift_agree(const struct rs_model *m, uint32_t b, uint32_t a)
{
    const struct rs_ops *o = &m->ops;
    if (!o->dtype[a] || !o->dtype[b] || o->dtype[a] != o->dtype[b])
        return o->bytes[a] == o->bytes[b] || o->count[a] == o->count[b];
    return o->count[a] == o->count[b];
}

static int64_t time_of(const struct rs_model *m, uint32_t op, int32_t rank, enum rs_shift_time by)
{
    uint32_t part = rs_op_part_of(m, op, rank);
    if (part == RS_NONE) return RS_TIME_NONE;
    if (by == RS_SHIFT_STARTS)
        return m->parts.start_source[part] == RS_FROM_KERNEL ? m->parts.start[part] : RS_TIME_NONE;
    if (by == RS_SHIFT_ENDS) return m->parts.end_source[part] == RS_FROM_KERNEL ? m->parts.end[part] : RS_TIME_NONE;
    return m->parts.enqueued[part];
}

bool rs_shift_apart(const struct rs_model *m, uint32_t b, int32_t rank_b, uint32_t a, int32_t rank_a,
                    enum rs_shift_time by, double *apart)
{
    if (by >= RS_SHIFT_TIMES) return false;
    int64_t x = time_of(m, b, rank_b, by), y = time_of(m, a, rank_a, by);
    *apart = (double)rs_time_minus(x, y);
    return x != RS_TIME_NONE && y != RS_TIME_NONE;
}

/* ---- one shift ---- */

/* Operations of b with a counterpart in a: from .. to. */
static void range(const struct search *s, int64_t shift, uint32_t *from, uint32_t *to)
{
    *from = shift < 0 ? (uint32_t)-shift : 0;
    int64_t last = (int64_t)s->na - shift;
    *to = last < (int64_t)s->nb ? (uint32_t)last : s->nb;
}

/* Median and MAD of s->values. */
static double spread_of(struct search *s, uint32_t n, double *median)
{
    *median = rs_fit_quantile(s->values, n, 0.5);
    for (uint32_t i = 0; i < n; i++) s->values[i] = fabs(s->values[i] - *median);
    return rs_fit_quantile(s->values, n, 0.5);
}

/* On ranks first .. last. */
static void measure(struct search *s, struct rs_shifted *x, uint32_t most, uint32_t first, uint32_t last)
{
    uint32_t from, to, compared = 0, same = 0, known = 0;
    double spreads[RS_SHIFT_RANKS];
    range(s, x->shift, &from, &to);
    x->overlap = to - from;
    uint32_t n = x->overlap < most ? x->overlap : most;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = from + (uint32_t)((uint64_t)k * x->overlap / n);
        same += rs_shift_agree(s->m, s->b[i], s->a[i + x->shift]);
        compared++;
    }
    x->agree = (uint32_t)((uint64_t)same * x->overlap / (compared ? compared : 1));
    for (uint32_t r = first; r < last && (double)same >= AGREE * compared; r++) {
        uint32_t values = 0;
        x->by[r] = s->by[r];
        x->apart[r] = 0;
        for (uint32_t k = 0; k < n; k++) {
            uint32_t i = from + (uint32_t)((uint64_t)k * x->overlap / n);
            values += rs_shift_apart(s->m, s->b[i], s->ranks->b[r], s->a[i + x->shift], s->ranks->a[r], s->by[r],
                                     &s->values[values]);
        }
        if (values >= ENOUGH)
            spreads[known++] = spread_of(s, values, &x->apart[r]);
        else
            x->by[r] = RS_SHIFT_TIMES;
    }
    x->timed = known > 0;
    x->spread = known ? rs_fit_quantile(spreads, known, 0.5) : INFINITY;
}

static bool fits(const struct rs_shifted *x)
{
    return x->overlap && (double)x->agree >= AGREE * x->overlap;
}

/* Without times the longer overlap comes first. */
static bool better(const struct rs_shifted *x, const struct rs_shifted *y)
{
    if (x->timed && y->timed && x->spread < y->spread) return true;
    if (x->timed && y->timed && x->spread > y->spread) return false;
    return x->overlap > y->overlap;
}

static void keep(struct search *s, const struct rs_shifted *x)
{
    if (s->nbest == BEST && !better(x, &s->best[BEST - 1])) return;
    uint32_t i = s->nbest < BEST ? s->nbest++ : BEST - 1;
    for (; i && better(x, &s->best[i - 1]); i--) s->best[i] = s->best[i - 1];
    s->best[i] = *x;
}

/* ---- selecting times ---- */

static bool has_times(const struct search *s, const uint32_t *ops, uint32_t n, int32_t rank, enum rs_shift_time by)
{
    uint32_t looked = n < LOOK ? n : LOOK, known = 0;
    for (uint32_t k = 0; k < looked; k++)
        known += time_of(s->m, ops[(uint64_t)k * n / looked], rank, by) != RS_TIME_NONE;
    return 2 * known > looked;
}

/* Which ranks have times of a kind on both sides; false: none. */
static bool choose_times(struct search *s, enum rs_shift_time by)
{
    bool any = false;
    s->first = 0;
    for (uint32_t r = 0; r < s->ranks->n; r++) {
        bool known = has_times(s, s->b, s->nb, s->ranks->b[r], by) && has_times(s, s->a, s->na, s->ranks->a[r], by);
        s->by[r] = known ? by : RS_SHIFT_TIMES;
        if (known && !any) s->first = r;
        any |= known;
    }
    return any;
}

/* Whether both sides have wall times of calls, and how far apart they are with this shift. */
static bool wall_apart(const struct search *s, const struct rs_shifted *x, double *apart)
{
    uint32_t from, to, n = 0;
    range(s, x->shift, &from, &to);
    for (uint32_t k = 0; k < GLANCE; k++) {
        uint32_t i = from + (uint32_t)((uint64_t)k * x->overlap / GLANCE);
        int64_t t = time_of(s->m, s->b[i], s->ranks->b[0], RS_SHIFT_CALLS);
        int64_t u = time_of(s->m, s->a[i + x->shift], s->ranks->a[0], RS_SHIFT_CALLS);
        if (t < RS_TIME_WALL || u < RS_TIME_WALL) continue;
        s->values[n++] = (double)rs_time_minus(t, u);
    }
    *apart = n ? rs_fit_quantile(s->values, n, 0.5) : 0;
    return n >= 1;
}

/* ---- the search ---- */

static void look_at_all(struct search *s)
{
    uint32_t shorter = s->na < s->nb ? s->na : s->nb;
    int64_t first = -(int64_t)s->nb + (shorter + 1) / 2, last = (int64_t)s->na - (shorter + 1) / 2;
    for (int64_t shift = first; shift <= last; shift++) {
        struct rs_shifted x = {.shift = shift};
        measure(s, &x, GLANCE, s->first, s->first < s->ranks->n ? s->first + 1 : s->first);
        if (!fits(&x)) continue;
        if (x.overlap == shorter && x.agree == x.overlap) s->agreeing++;
        keep(s, &x);
    }
}

static void look_closer(struct search *s)
{
    struct rs_shifted rows[BEST];
    uint32_t n = s->nbest;
    for (uint32_t i = 0; i < n; i++) rows[i] = s->best[i];
    s->nbest = 0;
    for (uint32_t i = 0; i < n; i++) {
        measure(s, &rows[i], LOOK, 0, s->ranks->n);
        if (fits(&rows[i])) keep(s, &rows[i]);
    }
}

/* The shift that wall time supports: the others are at least a step away. */
static const struct rs_shifted *by_wall(struct search *s)
{
    const struct rs_shifted *found = NULL;
    double nearest = INFINITY, next = INFINITY, apart;
    for (uint32_t i = 0; i < s->nbest; i++) {
        if (!wall_apart(s, &s->best[i], &apart)) return NULL;
        if (fabs(apart) < nearest) {
            next = nearest;
            nearest = fabs(apart);
            found = &s->best[i];
        } else if (fabs(apart) < next) {
            next = fabs(apart);
        }
    }
    return found && nearest < SAME_WALL && next > CLEAR * nearest ? found : NULL;
}

static const struct rs_shifted *choose(struct search *s)
{
    const struct rs_shifted *x = &s->best[0];
    double apart;
    if (!s->nbest) return NULL;
    bool clear = x->timed && (s->nbest == 1 || !s->best[1].timed || s->best[1].spread > CLEAR * x->spread + CLEAR_NS);
    bool wall = wall_apart(s, x, &apart);
    if (wall && clear && fabs(apart) > SAME_WALL) return NULL;
    if (clear) return x->spread <= SPREAD_MOST ? x : NULL;
    const struct rs_shifted *chosen = wall ? by_wall(s) : NULL;
    if (chosen) return !chosen->timed || chosen->spread <= SPREAD_MOST ? chosen : NULL;
    if (wall) return NULL;
    /* No pattern and no wall time: certain if all of one side fits in one place only, or both have the same number. */
    for (uint32_t i = 0; i < s->nbest; i++) {
        x = &s->best[i];
        if (x->overlap != (s->na < s->nb ? s->na : s->nb) || x->agree != x->overlap) continue;
        if ((s->agreeing == 1 || (s->na == s->nb && !x->shift)) && (!x->timed || x->spread <= SPREAD_MOST)) return x;
    }
    return NULL;
}

void rs_shift_find(const struct rs_model *m, const uint32_t *b, uint32_t nb, const uint32_t *a, uint32_t na,
                   const struct rs_shift_ranks *ranks, struct rs_shifted *out, bool *found)
{
    *found = false;
    if (!na || !nb) return;
    struct search *s = rs_zalloc(1, sizeof *s);
    double *values = rs_zalloc(LOOK, sizeof *values);
    *s = (struct search){.m = m, .b = b, .a = a, .nb = nb, .na = na, .ranks = ranks, .values = values};
    /* Starts and ends are exact, but GPU timers may belong to other operations: the best fit is used. */
    bool any = false;
    for (enum rs_shift_time by = 0; by <= RS_SHIFT_TIMES; by++) {
        bool timed = by < RS_SHIFT_TIMES && choose_times(s, by);
        if (!timed && (by < RS_SHIFT_TIMES || any)) continue;
        any = true;
        s->nbest = s->agreeing = 0;
        look_at_all(s);
        look_closer(s);
        const struct rs_shifted *x = choose(s);
        if (!x || (*found && !(x->timed && x->spread < out->spread))) continue;
        *out = *x;
        *found = true;
    }
    free(values);
    free(s);
}

/* ---- operation by operation ---- */

/* Whether an operation's times are about as far apart as those of the others in its sequence. */
static bool is_near(const struct rs_model *m, uint32_t b, uint32_t a, const struct rs_shift_ranks *r,
                    const struct rs_shifted *x)
{
    double apart, most = fmax(NEAR * x->spread, NEAR_NS);
    for (uint32_t i = 0; i < r->n; i++)
        if (rs_shift_apart(m, b, r->b[i], a, r->a[i], x->by[i], &apart) && fabs(apart - x->apart[i]) <= most)
            return true;
    return false;
}

void rs_shift_fits(const struct rs_model *m, const uint32_t *b, uint32_t nb, const uint32_t *a,
                   const struct rs_shift_ranks *ranks, const struct rs_shifted *x, bool *fits)
{
    uint32_t from = x->shift < 0 ? (uint32_t)-x->shift : 0, to = from + x->overlap, gap = from;
    for (uint32_t i = 0; i < nb; i++) fits[i] = false;
    for (uint32_t i = from; i <= to; i++) {
        bool near = i < to &&
                    (x->timed ? is_near(m, b[i], a[i + x->shift], ranks, x) : rs_shift_agree(m, b[i], a[i + x->shift]));
        if (i < to && !near) continue;
        bool between = gap > from && i < to; /* fits on both sides */
        for (uint32_t k = gap; k < i && x->timed && (between || i - gap <= LOOSE_END); k++)
            fits[k] = rs_shift_agree(m, b[k], a[k + x->shift]);
        if (i < to) fits[i] = true;
        gap = i + 1;
    }
}

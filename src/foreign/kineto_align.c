#include "foreign/kineto_align.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "model/model.h"

enum {
    WIDE = 128, /* how far from what wall clocks say a shift is looked for */
    SAMPLES = 64, /* of an overlap */
    FEW = 3, /* ends that tell nothing about a spread */
    LOOK = 8, /* operations that are looked at where a sequence falls out of step */
    MOST_MISSING = 32, /* at one place */
    BY_OFFSET = 8, /* shifts that are followed: the nearest by wall clocks... */
    BY_AGREEMENT = 4, /* ...and those that agree best */
    LEAST_TOLERANCE_NS = 300000, /* ends of one collective differ by less, mostly */
};

#define CHANCE 0.06 /* courses whose blame differs by less are alike */
#define MAY_BE 0.35 /* operations that are missing may put so much out of step */

static int64_t distance(int64_t a, int64_t b)
{
    int64_t d = rs_time_minus(a, b);
    return d == INT64_MIN ? INT64_MAX : d < 0 ? -d : d;
}

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

static bool agrees(const struct rs_align_item *a, const struct rs_align_item *b)
{
    return a->what == b->what && (a->step == b->step || a->step == UINT32_MAX || b->step == UINT32_MAX);
}

/* ---- the shift ---- */

struct pair {
    struct rs_align_item *items;
    const struct rs_align_item *ref;
    int64_t n, nr;
    int64_t tolerance; /* of ends */
    bool back; /* both are looked at from their ends */
};

static struct rs_align_item *item(const struct pair *p, int64_t i)
{
    return &p->items[p->back ? p->n - 1 - i : i];
}

static const struct rs_align_item *of_reference(const struct pair *p, int64_t i)
{
    return &p->ref[p->back ? p->nr - 1 - i : i];
}

struct shift {
    int64_t by; /* index in the reference less that in the sequence */
    double agree; /* share of the samples */
    int64_t offset; /* what the ends differ by, most often */
    int64_t spread; /* how much that varies there: a quarter of the samples lie as close; INT64_MAX: not known */
};

static int64_t overlap(const struct pair *p, int64_t by)
{
    int64_t from = by < 0 ? -by : 0, to = p->n < p->nr - by ? p->n : p->nr - by;
    return to > from ? to - from : 0;
}

static struct shift look_at(const struct pair *p, int64_t by)
{
    int64_t from = by < 0 ? -by : 0, all = overlap(p, by), d[SAMPLES];
    int64_t n = all < SAMPLES ? all : SAMPLES, agreed = 0;
    int timed = 0;
    struct shift s = {.by = by, .spread = INT64_MAX};
    for (int64_t k = 0; k < n; k++) {
        int64_t i = from + k * all / n;
        const struct rs_align_item *a = &p->items[i], *b = &p->ref[i + by];
        agreed += agrees(a, b);
        if (a->end != INT64_MIN && b->end != INT64_MIN) d[timed++] = rs_time_minus(a->end, b->end);
    }
    s.agree = n ? (double)agreed / (double)n : 0;
    if (!timed) {
        s.offset = n ? rs_time_minus(p->items[from].called, p->ref[from + by].called) : 0;
        return s;
    }
    qsort(d, (size_t)timed, sizeof *d, by_value);
    s.offset = d[timed / 2];
    if (timed < FEW) return s;
    /* Not the median: where operations are missing, a part of the sequence is out of step. */
    int some = timed / 4 > FEW ? timed / 4 : FEW;
    for (int i = 0; i + some <= timed; i++) {
        int64_t width = distance(d[i + some - 1], d[i]);
        if (width >= s.spread) continue;
        s.spread = width;
        s.offset = d[i + some / 2];
    }
    return s;
}

/* The index in the reference whose call was nearest, by wall clocks. */
static int64_t by_wall(const struct pair *p)
{
    int64_t low = 0, high = p->nr, at = p->items[0].called;
    RS_BISECT(low, high, mid, p->ref[mid].called < at);
    if (low == 0) { /* it began before the reference did: as many of its own calls come first */
        int64_t i = 0;
        while (i < p->n - 1 && p->items[i].called < p->ref[0].called) i++;
        return -i;
    }
    return low < p->nr ? low : p->nr - 1;
}

/* ---- along the sequence ---- */

struct walk {
    const struct pair *p;
    int64_t offset;
};

static bool fits(const struct walk *w, int64_t i, int64_t by)
{
    int64_t k = i + by;
    if (i < 0 || i >= w->p->n || k < 0 || k >= w->p->nr) return false;
    const struct rs_align_item *a = item(w->p, i), *b = of_reference(w->p, k);
    if (!agrees(a, b)) return false;
    if (a->end == INT64_MIN || b->end == INT64_MIN) return true;
    return distance(rs_time_minus(a->end, b->end), w->offset) <= w->p->tolerance;
}

/* How many of the next ones fit, of those that are in both. */
static int count_fits(const struct walk *w, int64_t i, int64_t by, int *of)
{
    int good = 0;
    *of = 0;
    for (int64_t k = i; k < i + LOOK && k < w->p->n && k + by < w->p->nr; k++) {
        ++*of;
        good += fits(w, k, by);
    }
    return good;
}

/* How far the shift changes in front of `i`: above 0 the sequence lacks so many, below 0 the reference does. */
static int64_t change_at(const struct walk *w, int64_t i, int64_t by)
{
    int of, best = count_fits(w, i, by, &of);
    int64_t change = 0;
    for (int64_t k = 1; k <= MOST_MISSING; k++) {
        int good = count_fits(w, i, by + k, &of);
        if (of && good * 4 >= of * 3 && good > best + (of > 3 ? 1 : 0)) {
            best = good;
            change = k;
        }
        good = i + k < w->p->n ? count_fits(w, i + k, by - k, &of) : 0;
        if (of && good * 4 >= of * 3 && good > best + (of > 3 ? 1 : 0)) {
            best = good;
            change = -k;
        }
    }
    return change;
}

/* What came of following a shift. */
struct course {
    int64_t both, fits; /* operations that have a counterpart; of these, those that fit it */
    uint32_t breaks, missing, extra;
    uint64_t places; /* their sum: courses with different ones are different */
    int64_t away; /* what the clocks would be apart */
};

/* The place of what stands so many operations behind `i` and is not in the reference. */
static int64_t place_between(const struct pair *p, int64_t i, int64_t by, int64_t more, int64_t all)
{
    int64_t before = i - 1 + by;
    if (!p->back) return before * RS_ALIGN_APART + more + 1;
    return (p->nr - 1 - before - 1) * RS_ALIGN_APART + all - more;
}

/* Gives places from `i` on, which fits. Clocks drift, so that the offset follows. */
static void follow(struct walk w, int64_t i, int64_t by, struct course *found)
{
    const struct pair *p = w.p;
    for (; i < p->n; i++) {
        bool both = i + by >= 0 && i + by < p->nr;
        int64_t change = both && !fits(&w, i, by) ? change_at(&w, i, by) : 0;
        found->breaks += change != 0;
        if (change > 0) found->missing += (uint32_t)change;
        for (int64_t k = 0; k < -change; k++) {
            item(p, i + k)->place = place_between(p, i, by, k, -change);
            found->extra++;
        }
        by += change;
        if (change < 0) i += -change;
        item(p, i)->place = (p->back ? p->nr - 1 - (i + by) : i + by) * RS_ALIGN_APART;
        found->both += i + by >= 0 && i + by < p->nr;
        if (!fits(&w, i, by)) continue;
        found->fits++;
        if (item(p, i)->end == INT64_MIN || of_reference(p, i + by)->end == INT64_MIN) continue;
        w.offset += rs_time_minus(rs_time_minus(item(p, i)->end, of_reference(p, i + by)->end), w.offset) / 16;
    }
}

/* Where the longest run of operations that fit begins. */
static int64_t find_anchor(const struct walk *w, int64_t by)
{
    int64_t anchor = 0, longest = 0, run = 0;
    for (int64_t i = 0; i < w->p->n; i++) {
        run = fits(w, i, by) ? run + 1 : 0;
        if (run > longest) {
            longest = run;
            anchor = i - run + 1;
        }
    }
    return anchor;
}

static struct course follow_both(struct pair p, const struct shift *s)
{
    struct course c = {.away = distance(s->offset, 0)};
    struct walk w = {.p = &p, .offset = s->offset};
    int64_t anchor = find_anchor(&w, s->by);
    follow(w, anchor, s->by, &c);
    p.back = true;
    follow(w, p.n - 1 - anchor, p.nr - p.n - s->by, &c);
    for (int64_t i = 0; i < p.n; i++) c.places = c.places * 3 + (uint64_t)p.items[i].place;
    return c;
}

/* ---- which one ---- */

static int by_offset(const void *a, const void *b)
{
    const struct shift *x = a, *y = b;
    int64_t v = distance(x->offset, 0), w = distance(y->offset, 0);
    return v < w ? -1 : v > w;
}

static int by_agreement(const void *a, const void *b)
{
    const struct shift *x = a, *y = b;
    if (x->agree != y->agree) return x->agree > y->agree ? -1 : 1;
    return by_offset(a, b);
}

/* The shifts that may be right; returns how many. */
static uint32_t find_shifts(const struct pair *p, struct shift *s)
{
    int64_t wall = by_wall(p), least = overlap(p, wall) / 2;
    uint32_t n = 0, kept = 0;
    for (int64_t by = wall - WIDE; by <= wall + WIDE; by++) {
        int64_t both = overlap(p, by);
        if (both && both >= least) s[n++] = look_at(p, by);
    }
    qsort(s, n, sizeof *s, by_agreement);
    double most = n ? s[0].agree : 0;
    while (kept < n && s[kept].agree >= most - MAY_BE) kept++;
    uint32_t first = kept < BY_AGREEMENT ? kept : BY_AGREEMENT;
    if (kept > first) qsort(s + first, kept - first, sizeof *s, by_offset);
    return kept < first + BY_OFFSET ? kept : first + BY_OFFSET;
}

/* What speaks against a course, per operation. */
static double blame(const struct course *c)
{
    return c->both ? (double)(c->both - c->fits + 2 * (int64_t)c->breaks) / (double)c->both : 1;
}

/* Whether `a` is clearly the better one; else clocks decide. */
static bool is_better(const struct course *a, const struct course *b)
{
    return blame(a) + CHANCE < blame(b);
}

/* Half of what operations lie apart, mostly: ends that differ by more are of different ones. */
static int64_t find_tolerance(const struct rs_align_item *ref, int64_t nr)
{
    int64_t d[SAMPLES], n = nr - 1 < SAMPLES ? nr - 1 : SAMPLES;
    size_t timed = 0;
    for (int64_t k = 0; k < n; k++) {
        const struct rs_align_item *a = &ref[k * (nr - 1) / n];
        if (a[0].end != INT64_MIN && a[1].end != INT64_MIN) d[timed++] = distance(a[1].end, a[0].end);
    }
    if (!timed) return LEAST_TOLERANCE_NS;
    qsort(d, timed, sizeof *d, by_value);
    return d[timed / 2] / 2 > LEAST_TOLERANCE_NS ? d[timed / 2] / 2 : LEAST_TOLERANCE_NS;
}

struct rs_aligned rs_align(struct rs_align_item *items, uint32_t n, const struct rs_align_item *reference, uint32_t nr)
{
    struct rs_aligned found = {.sure = false};
    struct shift s[2 * WIDE + 1];
    struct course courses[BY_OFFSET + BY_AGREEMENT];
    if (!n || !nr) return found;
    struct pair p = {.items = items, .ref = reference, .n = n, .nr = nr, .tolerance = find_tolerance(reference, nr)};
    uint32_t count = find_shifts(&p, s), best = 0;
    for (uint32_t i = 0; i < count; i++) {
        courses[i] = follow_both(p, &s[i]);
        if (is_better(&courses[best], &courses[i])) continue;
        if (is_better(&courses[i], &courses[best]) || courses[i].away < courses[best].away) best = i;
    }
    if (!count) s[0] = look_at(&p, by_wall(&p));
    struct course c = follow_both(p, &s[best]);
    found.missing = c.missing;
    found.extra = c.extra;
    found.sure = c.fits > (int64_t)(n < nr ? n : nr) / 8;
    for (uint32_t i = 0; i < count; i++)
        if (courses[i].places != c.places && !is_better(&c, &courses[i]) && c.away > courses[i].away / 2)
            found.sure = false;
    return found;
}

#include "foreign/kineto/align.h"

#include <stdlib.h>

#include "base/bisect.h"
#include "model/model.h"

enum {
    WIDE = 128, /* how far from what wall clocks say a shift is looked for... */
    NARROW = 8, /* ...where both have as many operations */
    SAMPLES = 64, /* of an overlap */
    FEW = 8, /* too few ends to estimate a spread */
    LOOK = 8, /* operations that are looked at where a sequence falls out of step */
    MOST_MISSING = 32, /* at one place */
    BY_AWAY = 8, /* shifts that are followed: the nearest by wall clocks... */
    BY_BLAME = 4, /* ...and those with the least against them */
    CLEARLY = 4, /* times as large: not by chance */
    TOLERANCE_NS = 100000, /* by how much kernels may fail to overlap: what tools and clocks are off by */
};

#define FAR_NS INT64_C(2000000000) /* clocks of hosts are seconds apart at most, unless operations prove otherwise */
#define CHANCE 0.06 /* shares that differ by less are alike */
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

static void sort(int64_t *v, int n)
{
    qsort(v, (size_t)n, sizeof *v, by_value);
}

static bool agrees(const struct rs_align_item *a, const struct rs_align_item *b)
{
    return a->what == b->what && (a->step == b->step || a->step == UINT32_MAX || b->step == UINT32_MAX);
}

/* What an operation says about its clock less the reference's. */
struct limits {
    int64_t low, high;
    int64_t ends; /* what the ends differ by: between the two */
};

static bool find_limits(const struct rs_align_item *a, const struct rs_align_item *b, struct limits *l)
{
    if (a->end == INT64_MIN || b->end == INT64_MIN) return false;
    l->ends = rs_time_minus(a->end, b->end);
    l->low = a->awaited && b->waits ? rs_time_minus(a->start, b->end) : INT64_MIN;
    l->high = a->waits && b->awaited ? rs_time_minus(a->end, b->start) : INT64_MAX;
    if (l->low > INT64_MIN + TOLERANCE_NS) l->low -= TOLERANCE_NS;
    if (l->high < INT64_MAX - TOLERANCE_NS) l->high += TOLERANCE_NS;
    return true;
}

/* ---- the shift ---- */

struct pair {
    struct rs_align_item *items;
    const struct rs_align_item *ref;
    int64_t n, nr;
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

/* What there is for and against two sequences being the same ones. */
struct merit {
    double blame; /* the share of operations that contradict it */
    uint32_t breaks; /* places where operations would be missing */
    int64_t spread; /* of the ends: nine of ten are within it; INT64_MAX: unknown */
    int64_t away; /* what the clocks would be apart, at least */
};

struct shift {
    int64_t by; /* index in the reference less that in the sequence */
    int64_t offset; /* of the clocks, that most operations allow */
    double unlike; /* the share of operations that are different ones */
    int64_t close; /* what ends that are near it, the nearer half, are off it by, and some more */
    struct merit merit;
};

static int64_t overlap(const struct pair *p, int64_t by)
{
    int64_t from = by < 0 ? -by : 0, to = p->n < p->nr - by ? p->n : p->nr - by;
    return to > from ? to - from : 0;
}

/* By how much nine of ten differ from each other. Fewer would not do: on a GPU that several share, ends differ by
 * multiples of a time slice, and many are near each other by chance. */
static int64_t find_spread(const int64_t *ends, int n)
{
    int most = n - n / 10;
    int64_t spread = INT64_MAX;
    for (int i = 0; n >= FEW && i + most <= n; i++)
        if (distance(ends[i + most - 1], ends[i]) < spread) spread = distance(ends[i + most - 1], ends[i]);
    return spread;
}

/* The offset that most operations allow, by their limits, and of these where ends are densest: one of the `n` differences
 * of ends, each within its own limits. Returns how many allow it. */
static int find_offset(int64_t *low, int64_t *high, int64_t *ends, int n, struct shift *s)
{
    int best = 0, below = 0, above = 0, zero = 0, some = n > 1 ? (n + 1) / 2 : 1;
    int64_t densest = INT64_MAX;
    for (int i = 0; i < n; i++) zero += low[i] <= 0 && high[i] >= 0 && low[i] > INT64_MIN && high[i] < INT64_MAX;
    sort(low, n);
    sort(high, n);
    sort(ends, n);
    for (int i = 0; i < n; i++) {
        while (below < n && low[below] <= ends[i]) below++;
        while (above < n && high[above] < ends[i]) above++;
        int from = i - some / 2 > 0 ? i - some / 2 : 0, to = from + some <= n ? from + some : n;
        int64_t width = distance(ends[to - 1], ends[to > some ? to - some : 0]);
        if (below - above < best) continue;
        if (below - above > best) densest = s->merit.away = INT64_MAX;
        best = below - above;
        if (distance(ends[i], 0) < s->merit.away) s->merit.away = distance(ends[i], 0);
        if (width >= densest) continue;
        densest = width;
        s->offset = ends[i];
        s->close = width < INT64_MAX / 4 ? 2 * width + TOLERANCE_NS : INT64_MAX - 1;
    }
    if (zero >= best) s->merit.away = 0;
    s->merit.spread = find_spread(ends, n);
    return best;
}

static struct shift look_at(const struct pair *p, int64_t by)
{
    int64_t from = by < 0 ? -by : 0, all = overlap(p, by), low[SAMPLES], high[SAMPLES], ends[SAMPLES];
    int64_t n = all < SAMPLES ? all : SAMPLES, against = 0, unlike = 0;
    int timed = 0;
    struct shift s = {.by = by, .close = INT64_MAX - 1, .merit = {.spread = INT64_MAX}};
    for (int64_t k = 0; k < n; k++) {
        int64_t i = from + k * all / n;
        struct limits l;
        if (!agrees(&p->items[i], &p->ref[i + by])) {
            against++;
            unlike++;
        } else if (find_limits(&p->items[i], &p->ref[i + by], &l)) {
            low[timed] = l.low;
            high[timed] = l.high;
            ends[timed++] = l.ends;
        }
    }
    if (timed) {
        against += timed - find_offset(low, high, ends, timed, &s);
    } else if (n) {
        s.offset = rs_time_minus(p->items[from].at, p->ref[from + by].at);
        s.merit.away = distance(s.offset, 0);
    }
    s.merit.blame = n ? (double)against / (double)n : 1;
    s.unlike = n ? (double)unlike / (double)n : 1;
    return s;
}

/* The index in the reference that was nearest, by wall clocks. */
static int64_t by_wall(const struct pair *p)
{
    int64_t low = 0, high = p->nr, at = p->items[0].at;
    RS_BISECT(low, high, mid, p->ref[mid].at < at);
    if (low == 0) { /* it began before the reference did: as many of its own come first */
        int64_t i = 0;
        while (i < p->n - 1 && p->items[i].at < p->ref[0].at) i++;
        return -i;
    }
    return low < p->nr ? low : p->nr - 1;
}

/* Whether wall clocks can decide between shifts: both windows are of one time. */
static bool are_of_one_time(const struct pair *p)
{
    return rs_align_begin(p->items) <= p->ref[p->nr - 1].at && rs_align_begin(p->ref) <= p->items[p->n - 1].at;
}

/* ---- which one ---- */

static bool has_less_blame(const struct merit *a, const struct merit *b)
{
    return a->blame + CHANCE < b->blame;
}

static bool is_closer(const struct merit *a, const struct merit *b)
{
    return b->spread < INT64_MAX && a->spread < b->spread / CLEARLY;
}

static bool is_nearer(const struct merit *a, const struct merit *b)
{
    return a->away < b->away && b->away - a->away > a->away + TOLERANCE_NS;
}

/* Whether `a` is clearly the better one. Where clocks do not count, nothing less than ends that are equally far apart is
 * enough, or different operations. */
static bool is_better(const struct merit *a, const struct merit *b, bool clocks)
{
    if (!clocks) return a->blame <= CHANCE && (is_closer(a, b) || a->blame + MAY_BE < b->blame);
    if (has_less_blame(a, b) || has_less_blame(b, a)) return has_less_blame(a, b);
    if (is_closer(a, b) || is_closer(b, a)) return is_closer(a, b);
    if (is_nearer(a, b) || is_nearer(b, a)) return a->away < FAR_NS && is_nearer(a, b);
    return a->blame == 0 && b->breaks; /* nothing has to be missing */
}

static int by_away(const void *a, const void *b)
{
    const struct shift *x = a, *y = b;
    if (x->merit.away != y->merit.away) return x->merit.away < y->merit.away ? -1 : 1;
    return x->by < y->by ? -1 : x->by > y->by;
}

static int by_blame(const void *a, const void *b)
{
    const struct shift *x = a, *y = b;
    if (x->merit.blame != y->merit.blame) return x->merit.blame < y->merit.blame ? -1 : 1;
    if (x->merit.spread != y->merit.spread) return x->merit.spread < y->merit.spread ? -1 : 1;
    return by_away(a, b);
}

/* The shifts that may be right; returns how many. */
static uint32_t find_shifts(const struct pair *p, int64_t middle, int64_t wide, struct shift *s)
{
    int64_t least = overlap(p, middle) / 2;
    uint32_t n = 0, kept = 0;
    for (int64_t by = middle - wide; by <= middle + wide; by++) {
        int64_t both = overlap(p, by);
        if (both && both >= least) s[n++] = look_at(p, by);
    }
    double least_unlike = 1;
    for (uint32_t i = 0; i < n; i++)
        if (s[i].unlike < least_unlike) least_unlike = s[i].unlike;
    for (uint32_t i = 0; i < n; i++)
        if (s[i].unlike <= least_unlike + MAY_BE) s[kept++] = s[i];
    if (kept) qsort(s, kept, sizeof *s, by_blame);
    uint32_t first = kept < BY_BLAME ? kept : BY_BLAME;
    if (kept > first) qsort(s + first, kept - first, sizeof *s, by_away);
    return kept < first + BY_AWAY ? kept : first + BY_AWAY;
}

/* ---- along the sequence ---- */

struct walk {
    const struct pair *p;
    int64_t offset;
};

static bool is_in(const struct pair *p, int64_t i, int64_t by)
{
    return i >= 0 && i < p->n && i + by >= 0 && i + by < p->nr;
}

static bool fits(const struct walk *w, int64_t i, int64_t by)
{
    struct limits l;
    if (!is_in(w->p, i, by)) return false;
    const struct rs_align_item *a = item(w->p, i), *b = of_reference(w->p, i + by);
    if (!agrees(a, b)) return false;
    return !find_limits(a, b, &l) || (w->offset >= l.low && w->offset <= l.high);
}

/* How far the ends are from where the clocks put them; INT64_MAX: it cannot be, INT64_MAX - 1: not known. */
static int64_t misfit(const struct walk *w, int64_t i, int64_t by)
{
    struct limits l;
    if (!fits(w, i, by)) return INT64_MAX;
    if (!find_limits(item(w->p, i), of_reference(w->p, i + by), &l)) return INT64_MAX - 1;
    return distance(l.ends, w->offset);
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

/* How far the shift changes before `i`: above 0, so many are missing in the sequence; below 0, in the reference. */
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

/* Kernels that wait long overlap also when they are one operation apart: a change shows late, and began where the ends
 * have fitted better with it. At most back to `least`. */
static int64_t begin_of(const struct walk *w, int64_t i, int64_t by, int64_t change, int64_t least)
{
    int64_t extra = change < 0 ? -change : 0;
    while (i > least && misfit(w, i - 1 + extra, by + change) < misfit(w, i - 1, by)) i--;
    return i;
}

/* The result of following a shift. */
struct course {
    int64_t both, fits; /* operations that have a counterpart; of these, those that fit it */
    uint32_t missing, extra;
    uint64_t places; /* their sum: courses with different ones are different */
    struct merit merit;
};

/* The place of the operation that follows `i` by so many and is not in the reference. */
static int64_t place_between(const struct pair *p, int64_t i, int64_t by, int64_t more, int64_t all)
{
    int64_t before = i - 1 + by;
    if (!p->back) return before * RS_ALIGN_APART + more + 1;
    return (p->nr - 1 - before - 1) * RS_ALIGN_APART + all - more;
}

static int64_t place_of(const struct pair *p, int64_t i, int64_t by)
{
    return (p->back ? p->nr - 1 - (i + by) : i + by) * RS_ALIGN_APART;
}

/* Gives places from `i` on, which fits. Clocks drift: the offset stays within what each operation allows. */
static void follow(struct walk w, int64_t i, int64_t by, struct course *found)
{
    const struct pair *p = w.p;
    for (int64_t least = i + 1; i < p->n; i++) {
        struct limits l;
        int64_t change = is_in(p, i, by) && !fits(&w, i, by) ? change_at(&w, i, by) : 0;
        if (change) {
            int64_t at = i < least ? i : begin_of(&w, i, by, change, least);
            found->merit.breaks++;
            found->both -= i - at;
            found->fits -= i - at;
            for (i = at; i < at - change; i++) {
                item(p, i)->place = place_between(p, at, by, i - at, -change);
                found->extra++;
            }
            if (change > 0) found->missing += (uint32_t)change;
            by += change;
            least = i + 1;
        }
        item(p, i)->place = place_of(p, i, by);
        found->both += is_in(p, i, by);
        if (!fits(&w, i, by)) continue;
        found->fits++;
        if (!find_limits(item(p, i), of_reference(p, i + by), &l)) continue;
        if (l.low > INT64_MIN + 2 * TOLERANCE_NS && w.offset < l.low + TOLERANCE_NS) w.offset = l.low + TOLERANCE_NS;
        if (l.high < INT64_MAX - 2 * TOLERANCE_NS && w.offset > l.high - TOLERANCE_NS) w.offset = l.high - TOLERANCE_NS;
    }
}

/* Where the longest run of operations begins that fit, and whose ends are no further apart than `most`. */
static int64_t find_anchor(const struct walk *w, int64_t by, int64_t most)
{
    int64_t anchor = 0, longest = 0, run = 0;
    for (int64_t i = 0; i < w->p->n; i++) {
        run = misfit(w, i, by) <= most ? run + 1 : 0;
        if (run > longest) {
            longest = run;
            anchor = i - run + 1;
        }
    }
    return anchor;
}

/* How much the ends vary over what was found to be the same. */
static int64_t spread_of(const struct pair *p)
{
    int64_t ends[SAMPLES];
    int n = 0;
    for (int64_t k = 0; k < SAMPLES && k < p->n; k++) {
        const struct rs_align_item *a = &p->items[p->n < SAMPLES ? k : k * p->n / SAMPLES];
        int64_t i = a->place / RS_ALIGN_APART;
        struct limits l;
        if (a->place < 0 || a->place % RS_ALIGN_APART || i >= p->nr || !find_limits(a, &p->ref[i], &l)) continue;
        ends[n++] = l.ends;
    }
    sort(ends, n);
    return find_spread(ends, n);
}

static struct course follow_both(struct pair p, const struct shift *s)
{
    struct course c = {.merit = s->merit};
    struct walk w = {.p = &p, .offset = s->offset};
    int64_t anchor = find_anchor(&w, s->by, s->close);
    follow(w, anchor, s->by, &c);
    p.back = true;
    follow(w, p.n - 1 - anchor, p.nr - p.n - s->by, &c);
    for (int64_t i = 0; i < p.n; i++) c.places = c.places * 3 + (uint64_t)p.items[i].place;
    c.merit.spread = spread_of(&p);
    c.merit.blame = c.both ? (double)(c.both - c.fits + 2 * (int64_t)c.merit.breaks) / (double)c.both : 1;
    return c;
}

/* ---- the whole alignment ---- */

/* With as many operations on both sides the n-th is the n-th, unless times clearly show another shift. */
static bool is_in_order(const struct pair *p, bool clocks, bool *sure)
{
    struct shift s[2 * WIDE + 1], order = look_at(p, 0);
    *sure = true;
    if (clocks && !order.merit.away && order.merit.blame <= CHANCE) return true;
    bool far = !clocks || order.merit.away >= FAR_NS;
    uint32_t count = far ? find_shifts(p, 0, WIDE, s) : find_shifts(p, by_wall(p), NARROW, s);
    for (uint32_t i = 0; i < count; i++) {
        const struct merit *m = &s[i].merit;
        if (!s[i].by) continue;
        /* Clocks that agree say more than counts that do, unless ends are equally far apart all along. */
        bool nearer = !far && is_nearer(m, &order.merit) && !is_closer(&order.merit, m);
        if (has_less_blame(m, &order.merit) || (nearer && !has_less_blame(&order.merit, m))) return false;
        if (far && !is_better(&order.merit, m, false)) *sure = false;
    }
    return true;
}

struct rs_aligned rs_align(struct rs_align_item *items, uint32_t n, const struct rs_align_item *reference, uint32_t nr)
{
    struct rs_aligned found = {.sure = false};
    struct shift s[2 * WIDE + 1];
    struct course courses[BY_AWAY + BY_BLAME];
    if (!n || !nr) return found;
    struct pair p = {.items = items, .ref = reference, .n = n, .nr = nr};
    bool clocks = are_of_one_time(&p);
    if (n == nr && is_in_order(&p, clocks, &found.sure)) {
        for (uint32_t i = 0; i < n; i++) items[i].place = (int64_t)i * RS_ALIGN_APART;
        return found;
    }
    /* Where wall clocks say nothing, windows are taken to be of one middle. */
    uint32_t count = find_shifts(&p, clocks ? by_wall(&p) : ((int64_t)nr - n) / 2, WIDE, s), best = 0;
    found.sure = false;
    if (!count) return found;
    for (uint32_t i = 0; i < count; i++) {
        courses[i] = follow_both(p, &s[i]);
        if (is_better(&courses[i].merit, &courses[best].merit, clocks)) best = i;
    }
    struct course c = follow_both(p, &s[best]);
    found.missing = c.missing;
    found.extra = c.extra;
    found.sure = c.fits > (int64_t)(n < nr ? n : nr) / 8;
    for (uint32_t i = 0; i < count; i++)
        if (courses[i].places != c.places && !is_better(&c.merit, &courses[i].merit, clocks)) found.sure = false;
    return found;
}

#include "analyse/period.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/memory.h"
#include "base/mix.h"

enum {
    FEWEST = 3, /* units that make a pattern */
    WINDOW = 1 << 18, /* positions examined: those in the middle */
    MOST_ORDER = 8, /* symbols of an anchor */
    SAMPLES = 64, /* units compared with the usual one */
    MOST_LENGTHS = 16, /* of units compared with each other */
    SLACK = 8, /* a unit may be longer or shorter by an eighth: an occasional operation... */
    LEAST = 3, /* ...and one in this many may be longer by one */
};

/* An anchor and its unit. */
struct candidate {
    uint64_t key; /* of its symbols */
    unsigned order; /* how many */
    uint32_t length; /* of the usual unit */
    uint32_t at; /* position of one of them */
    uint32_t exact, units; /* number of usual units; of all */
    uint32_t first, last; /* positions of the first and last anchor */
    uint64_t covered; /* positions in units of about that length */
};

struct search {
    const struct rs_item *items;
    const uint32_t *list; /* of the window */
    uint32_t n;
    uint64_t *sums; /* of the symbols before a position: the difference of two identifies what is between them */
    uint64_t *keys; /* of the symbols at a position */
    uint32_t *ids, *starts, *places; /* positions by key: places[starts[id] .. starts[id + 1]) */
    uint32_t recurring; /* positions whose symbol occurs FEWEST times or more */
    struct candidate found[MOST_LENGTHS]; /* by length */
    uint32_t nfound;
    struct rs_map in; /* symbols (with counts), kinds and classes of a unit */
};

static uint64_t key_at(const struct rs_item *items, const uint32_t *list, unsigned order)
{
    uint64_t key = order;
    for (unsigned k = 0; k < order; k++) key = rs_mix(key, items[list[k]].symbol);
    return key;
}

/* ---- anchors ---- */

static uint64_t content(const struct search *s, const uint32_t *at, uint32_t i)
{
    return s->sums[at[i + 1]] - s->sums[at[i]];
}

/* Whether the positions at[0 .. c) divide the window into similar units. */
static bool divides(const struct search *s, const uint32_t *at, uint32_t c, struct candidate *found)
{
    uint64_t usual = 0;
    uint32_t votes = 0, which = 0, near = 0;
    for (uint32_t i = 0; i + 1 < c; i++) { /* the content of more than half of them, if there is one */
        uint64_t x = content(s, at, i);
        if (!votes) usual = x, which = i;
        votes += x == usual ? 1 : UINT32_MAX;
    }
    uint32_t length = at[which + 1] - at[which], slack = length / SLACK;
    uint32_t more = slack || length < LEAST ? slack : 1;
    found->exact = 0;
    found->covered = 0;
    for (uint32_t i = 0; i + 1 < c; i++) {
        uint32_t here = at[i + 1] - at[i];
        found->exact += content(s, at, i) == usual;
        if (here + slack < length || here > length + more) continue;
        near++;
        found->covered += here;
    }
    found->units = c - 1;
    found->length = length;
    found->at = at[which];
    found->first = at[0];
    found->last = at[c - 1];
    uint64_t at_ends = 2 * (uint64_t)length; /* units before the first anchor, and from the last on */
    return 2 * (uint64_t)found->exact > c - 1 && 4 * (uint64_t)near >= 3 * (uint64_t)(c - 1) &&
           10 * (found->covered + at_ends) >= 8 * (uint64_t)s->recurring;
}

/* Of units of about one length, keeps those with the most usual and the fewest unusual ones. */
static void keep(struct search *s, const struct candidate *c)
{
    uint32_t at = 0;
    for (uint32_t i = 0; i < s->nfound; i++) {
        struct candidate *x = &s->found[i];
        uint32_t apart = x->length > c->length ? x->length - c->length : c->length - x->length;
        if (apart <= c->length / SLACK) {
            if (2 * (int64_t)c->exact - c->units > 2 * (int64_t)x->exact - x->units) *x = *c;
            return;
        }
        at += x->length < c->length;
    }
    if (s->nfound == MOST_LENGTHS) return;
    memmove(s->found + at + 1, s->found + at, (s->nfound - at) * sizeof *s->found);
    s->found[at] = *c;
    s->nfound++;
}

/* Positions by the `order` symbols there. */
static void sort_places(struct search *s, unsigned order, uint32_t *nids)
{
    struct rs_map map = {0};
    uint32_t n = s->n - order + 1;
    *nids = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint64_t *id = NULL;
        s->keys[i] = key_at(s->items, s->list + i, order);
        rs_map_at(&map, s->keys[i], *nids, &id);
        *nids += *id == *nids;
        s->ids[i] = (uint32_t)*id;
    }
    rs_map_free(&map);
    memset(s->starts, 0, ((size_t)*nids + 2) * sizeof *s->starts);
    for (uint32_t i = 0; i < n; i++) s->starts[s->ids[i] + 2]++;
    for (uint32_t i = 2; i <= *nids + 1; i++) s->starts[i] += s->starts[i - 1];
    for (uint32_t i = 0; i < n; i++) s->places[s->starts[s->ids[i] + 1]++] = i;
}

static void try_order(struct search *s, unsigned order)
{
    uint32_t nids;
    if (s->n < order) return;
    sort_places(s, order, &nids);
    for (uint32_t i = 0; i < nids && order == 1; i++) {
        uint32_t c = s->starts[i + 1] - s->starts[i];
        s->recurring += c >= FEWEST ? c : 0;
    }
    for (uint32_t i = 0; i < nids; i++) {
        const uint32_t *at = s->places + s->starts[i];
        uint32_t c = s->starts[i + 1] - s->starts[i];
        struct candidate x = {.order = order};
        if (c < FEWEST || !divides(s, at, c, &x)) continue;
        x.key = s->keys[at[0]];
        keep(s, &x);
    }
}

/* ---- selecting the unit ---- */

enum what { SYMBOL, KIND, CLASS };

static uint64_t in_key(enum what what, uint32_t number)
{
    return (uint64_t)what << 32 | number;
}

static bool is_in(const struct search *s, enum what what, uint32_t number)
{
    return rs_map_find(&s->in, in_key(what, number)) != NULL;
}

static void note_unit(struct search *s, const struct candidate *c, uint32_t *kinds)
{
    rs_map_free(&s->in);
    *kinds = 0;
    for (uint32_t i = 0; i < c->length; i++) {
        const struct rs_item *x = &s->items[s->list[c->at + i]];
        *kinds += !is_in(s, KIND, x->kind);
        uint64_t *times;
        rs_map_at(&s->in, in_key(SYMBOL, x->symbol), 0, &times);
        ++*times;
        rs_map_put(&s->in, in_key(KIND, x->kind), 1);
        rs_map_put(&s->in, in_key(CLASS, x->class), 1);
    }
}

/* How many of the positions [from, to) are in a unit that contains these. */
static void count_part(struct search *s, const struct candidate *c, uint32_t from, uint32_t to, uint64_t *n)
{
    uint32_t kinds;
    note_unit(s, c, &kinds);
    for (uint32_t i = from; i < to; i++) {
        uint64_t *left = rs_map_find(&s->in, in_key(SYMBOL, s->items[s->list[i]].symbol));
        if (!left || !*left) continue;
        --*left;
        ++*n;
    }
}

/* Whether units also have about the same order: operations of two streams overtake each other, but equal counts of two
 * operations alone do not make a unit. */
static bool has_order(const struct search *s, const struct candidate *c)
{
    uint64_t same = 0, all = 0;
    uint32_t step = s->n / (SAMPLES * c->length) * c->length + 1;
    uint32_t size = c->length > c->order ? c->length : c->order;
    for (uint32_t at = c->first, before = c->first; at + size <= s->n; at++) {
        if (key_at(s->items, s->list + at, c->order) != c->key) continue;
        bool usual = s->sums[at + c->length] - s->sums[at] == s->sums[c->at + c->length] - s->sums[c->at];
        if (at == c->at || !usual || (at != c->first && at < before + step)) continue;
        for (uint32_t i = 0; i < c->length; i++)
            same += s->items[s->list[at + i]].symbol == s->items[s->list[c->at + i]].symbol;
        all += c->length;
        before = at;
    }
    return 4 * same >= 3 * all;
}

/* Whether nearly all is in units, including equal partial units at the ends. */
static void covers(struct search *s, const struct candidate *c, bool *all)
{
    uint64_t covered = c->covered;
    uint32_t from = c->first > c->length ? c->first - c->length : 0;
    uint32_t to = s->n - c->last > c->length ? c->last + c->length : s->n;
    count_part(s, c, from, c->first, &covered);
    count_part(s, c, c->last, to, &covered);
    *all = 10 * covered >= 8 * (uint64_t)s->recurring && has_order(s, c);
}

/* Whether the longer unit is the step. The shorter one is a layer or micro-batch if the longer one adds another
 * communicator (gradients after micro-batches) or another size (one more bucket), or if the shorter one has one kind
 * only. Otherwise what the longer one adds is occasional: a broadcast or a checkpoint with every n-th step. */
static void is_longer(struct search *s, const struct candidate *less, const struct candidate *more, bool *longer)
{
    uint32_t kinds;
    note_unit(s, less, &kinds);
    *longer = kinds == 1;
    for (uint32_t i = 0; i < more->length && !*longer; i++) {
        const struct rs_item *x = &s->items[s->list[more->at + i]];
        if (is_in(s, SYMBOL, x->symbol)) continue;
        *longer = is_in(s, KIND, x->kind) || !is_in(s, CLASS, x->class);
    }
}

static void choose(struct search *s, struct candidate *best)
{
    *best = (struct candidate){0};
    /* Longer runs distinguish units of one symbol only if the runs differ. */
    for (unsigned order = 1; order <= MOST_ORDER && best->length <= 1; order *= 2) {
        try_order(s, order);
        for (uint32_t i = 0; i < s->nfound; i++) {
            const struct candidate *c = &s->found[i];
            bool takes;
            if (c->length <= best->length) continue;
            covers(s, c, &takes);
            if (takes && best->length) is_longer(s, best, c, &takes);
            if (takes) *best = *c;
        }
        s->nfound = 0;
    }
}

/* ---- all steps ---- */

static void find(struct search *s, struct rs_period *p, const uint32_t *list, uint32_t n)
{
    struct candidate best;
    for (uint32_t i = 0; i < s->n; i++) s->sums[i + 1] = s->sums[i] + rs_weight_of(s->items[s->list[i]].symbol);
    choose(s, &best);
    if (!best.length) return;
    p->anchors = rs_alloc((size_t)n * sizeof *p->anchors);
    uint32_t skipped = (uint32_t)(s->list - list);
    for (uint32_t i = 0; i + best.order <= n; i++) {
        if (key_at(s->items, list + i, best.order) != best.key) continue;
        if (i == skipped + best.at) p->usual = p->n;
        p->anchors[p->n++] = i;
    }
    p->length = best.length;
}

void rs_period_find(struct rs_period *p, const struct rs_item *items, const uint32_t *list, uint32_t n)
{
    *p = (struct rs_period){0};
    if (n < FEWEST) return;
    uint32_t window = n < WINDOW ? n : WINDOW;
    struct search s = {.items = items, .list = list + (n - window) / 2, .n = window};
    s.sums = rs_zalloc((size_t)window + 1, sizeof *s.sums);
    s.keys = rs_alloc((size_t)window * sizeof *s.keys);
    s.ids = rs_alloc((size_t)window * sizeof *s.ids);
    s.starts = rs_alloc(((size_t)window + 2) * sizeof *s.starts);
    s.places = rs_alloc((size_t)window * sizeof *s.places);
    find(&s, p, list, n);
    free(s.sums);
    free(s.keys);
    free(s.ids);
    free(s.starts);
    free(s.places);
    rs_map_free(&s.in);
}

void rs_period_free(struct rs_period *p)
{
    free(p->anchors);
    *p = (struct rs_period){0};
}

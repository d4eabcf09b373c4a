#include "timeline/pieces.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/room.h"

/* ---- order ----
 * Sorts the bars of a piece of a process: by lane, then by start; overlapping bars go to further lanes. Then numbers
 * all relations by the final positions.
 *
 * Of bars that begin together the longest is first, so that a contained bar is on the lane below. */

enum { MOST_SUBS = 256 }; /* lanes that one is split into: damaged input may have millions at once */

struct key {
    int64_t start, dur;
    uint32_t bar, sub;
};

struct work {
    struct rs_collect *c;
    struct key *keys, *spare; /* of one lane */
    uint32_t *bars; /* in the order of raw lanes */
    uint32_t *order; /* in the final order */
    uint32_t n; /* of order */
    uint32_t *lanes; /* raw lanes with bars, in the order of groups */
};

static bool is_before(const struct key *a, const struct key *b)
{
    return a->start != b->start ? a->start < b->start : a->dur > b->dur;
}

/* Merges neighbours unless they are in order already: events are nearly sorted. Stable. */
static void sort(struct key *keys, struct key *spare, uint32_t n)
{
    enum { RUN = 16 };
    for (uint32_t from = 0; from < n; from += RUN) {
        uint32_t to = n - from < RUN ? n : from + RUN;
        for (uint32_t i = from + 1; i < to; i++) {
            struct key k = keys[i];
            uint32_t j = i;
            for (; j > from && is_before(&k, &keys[j - 1]); j--) keys[j] = keys[j - 1];
            keys[j] = k;
        }
    }
    for (uint64_t width = RUN; width < n; width *= 2) {
        for (uint64_t from = 0; from + width < n; from += 2 * width) {
            uint64_t middle = from + width, to = middle + width < n ? middle + width : n;
            if (!is_before(&keys[middle], &keys[middle - 1])) continue;
            memcpy(spare, keys + from, width * sizeof *spare);
            uint64_t a = 0, b = middle, out = from;
            while (a < width && b < to) keys[out++] = is_before(&keys[b], &spare[a]) ? keys[b++] : spare[a++];
            while (a < width) keys[out++] = spare[a++];
        }
    }
}

/* A bar goes to the first free lane; a bar of length 0 takes a ns, so that no two coincide. Without a free lane its sub
 * is MOST_SUBS. */
static void split(struct rs_raw_lane *raw, struct key *keys)
{
    for (uint32_t i = 0; i < raw->n; i++) {
        uint32_t sub = 0;
        while (sub < raw->nsubs && raw->subs[sub].busy_until > keys[i].start) sub++;
        keys[i].sub = sub;
        if (sub == MOST_SUBS) continue;
        if (sub == raw->nsubs) {
            uint32_t cap = raw->cap_subs;
            RS_ROOM(raw->subs, raw->nsubs, cap);
            raw->cap_subs = cap < MOST_SUBS ? (uint16_t)cap : MOST_SUBS;
            raw->subs[raw->nsubs++] = (struct rs_sub_lane){.end = -1, .id = RS_NONE};
        }
        raw->subs[sub].busy_until = keys[i].start + (keys[i].dur > 0 ? keys[i].dur : 1);
    }
}

/* ---- lanes ---- */

/* A lane keeps its id and its position among those of its group and row. */
static void name_lane(struct rs_collect *c, const struct rs_raw_lane *raw, struct rs_sub_lane *sub)
{
    uint64_t *before;
    if (sub->id != RS_NONE) return;
    rs_map_at(&c->subs, (uint64_t)raw->group << 8 | raw->row, 0, &before);
    sub->sub = (uint16_t)*before;
    if (*before < UINT16_MAX) ++*before;
    sub->id = c->ids++;
}

/* Channels are in order. Threads etc. are in the order of occurrence: their numbers are too large, and mean nothing. */
static uint32_t order_of(const struct rs_raw_lane *raw, const struct rs_sub_lane *sub)
{
    enum { KEYS = RS_LANE_ORDERS / 2 / MOST_SUBS };
    if (raw->key < KEYS) return (uint32_t)raw->key * MOST_SUBS + (uint32_t)(sub - raw->subs);
    return RS_LANE_ORDERS / 2 + sub->sub;
}

static void add_lane(struct work *w, const struct rs_raw_lane *raw, struct rs_sub_lane *sub, uint32_t from)
{
    struct rs_bars *b = w->c->bars;
    if (from == w->n) return; /* in other pieces */
    name_lane(w->c, raw, sub);
    RS_ROOM(b->lanes, b->nlanes, b->cap_lanes);
    b->lanes[b->nlanes++] = (struct rs_bar_lane){.group = raw->group,
                                                 .row = raw->row,
                                                 .sub = sub->sub,
                                                 .id = sub->id,
                                                 .order = order_of(raw, sub),
                                                 .label = raw->label,
                                                 .from = from,
                                                 .n = w->n - from,
                                                 .before = sub->end};
    uint32_t last = w->order[w->n - 1];
    sub->end = b->start[last] + b->dur[last];
}

/* Bars of a raw lane, in the order in which they were added. */
static void arrange_lane(struct work *w, struct rs_raw_lane *raw, const uint32_t *bars)
{
    const struct rs_bars *b = w->c->bars;
    bool sorted = true;
    for (uint32_t i = 0; i < raw->n; i++) {
        w->keys[i] = (struct key){b->start[bars[i]], b->dur[bars[i]], bars[i], 0};
        if (i && is_before(&w->keys[i], &w->keys[i - 1])) sorted = false;
    }
    if (!sorted) sort(w->keys, w->spare, raw->n);
    split(raw, w->keys);
    uint32_t from[MOST_SUBS + 2] = {0};
    for (uint32_t i = 0; i < raw->n; i++) from[w->keys[i].sub + 1]++;
    w->c->t->index->too_deep += from[MOST_SUBS + 1];
    for (uint32_t s = 0; s < raw->nsubs; s++) from[s + 1] += from[s];
    for (uint32_t i = 0; i < raw->n; i++)
        if (w->keys[i].sub < MOST_SUBS) w->order[w->n + from[w->keys[i].sub]++] = w->keys[i].bar;
    for (uint32_t s = 0, begin = w->n; s < raw->nsubs; s++) {
        uint32_t first = w->n;
        w->n = begin + from[s]; /* where the next begins */
        add_lane(w, raw, &raw->subs[s], first);
    }
}

static int by_group(const void *a, const void *b, void *raw)
{
    const struct rs_raw_lane *x = (const struct rs_raw_lane *)raw + *(const uint32_t *)a;
    const struct rs_raw_lane *y = (const struct rs_raw_lane *)raw + *(const uint32_t *)b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    return x->key < y->key ? -1 : x->key > y->key;
}

static void arrange_lanes(struct work *w)
{
    struct rs_collect *c = w->c;
    uint32_t *from = rs_zalloc((size_t)c->nlanes + 1, sizeof *from), longest = 0, n = 0;
    for (uint32_t i = 0; i < c->nlanes; i++) c->lanes[i].n = 0;
    for (uint32_t i = 0; i < c->bars->n; i++) c->lanes[c->piece->lane_of[i]].n++;
    for (uint32_t i = 0; i < c->nlanes; i++) {
        from[i + 1] = from[i] + c->lanes[i].n;
        if (c->lanes[i].n > longest) longest = c->lanes[i].n;
        if (c->lanes[i].n) w->lanes[n++] = i; /* most are in other pieces */
    }
    for (uint32_t i = 0; i < c->bars->n; i++) w->bars[from[c->piece->lane_of[i]]++] = i;
    qsort_r(w->lanes, n, sizeof *w->lanes, by_group, c->lanes);
    w->keys = rs_alloc(((size_t)longest + 1) * sizeof *w->keys);
    w->spare = rs_alloc(((size_t)longest + 1) * sizeof *w->spare);
    for (uint32_t i = 0; i < n; i++) {
        struct rs_raw_lane *raw = &c->lanes[w->lanes[i]];
        arrange_lane(w, raw, w->bars + from[w->lanes[i]] - raw->n);
    }
    free(w->keys);
    free(w->spare);
    free(from);
}

/* ---- numbers ---- */

/* The bar of a reference: an event that is not drawn refers to its parent. */
static uint32_t resolve(const struct rs_collect *c, uint32_t reference)
{
    const struct rs_bar_piece *p = c->piece;
    for (int hops = 0; hops < 8 && reference != RS_NONE && (reference & RS_BY_EVENT); hops++) {
        uint32_t number = (reference & ~RS_BY_EVENT) - p->first_event; /* wraps around below the first: absent */
        reference = number < p->nevents ? p->bar_of_event[number] : RS_NONE;
    }
    return reference < c->bars->n ? reference : RS_NONE;
}

static int by_from(const void *a, const void *b)
{
    const struct rs_bar_edge *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    return x->to < y->to ? -1 : x->to > y->to;
}

/* `place`: by bar as added, its number; RS_NONE: dropped. */
static void number(struct rs_collect *c, const uint32_t *place)
{
    struct rs_bars *b = c->bars;
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t parent = b->parent[i] == RS_BAR_NONE ? RS_NONE : resolve(c, b->parent[i]);
        b->parent[i] = parent == RS_NONE || parent == i ? RS_BAR_NONE : place[parent];
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->nedges; i++) {
        struct rs_bar_edge e = {place[b->edges[i].from], place[b->edges[i].to]};
        if (e.from != RS_NONE && e.to != RS_NONE) b->edges[n++] = e;
    }
    b->nedges = n;
    if (n) qsort(b->edges, n, sizeof *b->edges, by_from);
    for (uint32_t i = 0; i < b->nparts; i++) {
        uint32_t *bar = &c->t->bar_of_part[b->parts[i]];
        if (*bar != RS_NONE) *bar = place[*bar];
    }
}

/* What was gathered becomes the column, and the column the memory for the next one of its width. */
#define GATHER(type, name)                                                                                             \
    if (sizeof(type) == width) {                                                                                       \
        type *to = room;                                                                                               \
        for (uint32_t i = 0; i < n; i++) to[i] = b->name[order[i]];                                                    \
        room = b->name;                                                                                                \
        b->name = to;                                                                                                  \
    }

#define IS_GATHERED(type, name) &&(sizeof(type) == 8 || sizeof(type) == 4 || sizeof(type) == 1)
_Static_assert(true RS_BAR_COLUMNS(IS_GATHERED), "columns are of the widths of permute()");

static void permute(struct rs_bars *b, const uint32_t *order, uint32_t n)
{
    static const size_t widths[] = {8, 4, 1};
    for (size_t k = 0; k < sizeof widths / sizeof *widths && b->cap; k++) {
        size_t width = widths[k];
        void *room = rs_alloc(b->cap * width);
        RS_BAR_COLUMNS(GATHER)
        free(room);
    }
    b->n = n;
}

/* Called when all bars of the current piece are collected: completes c->bars, and t->bar_of_part of its parts. What
 * would overlap with an earlier piece goes to another lane. Frees the rest of the piece first, because sorting the
 * columns takes the most memory. */
static void arrange(struct rs_collect *c)
{
    struct rs_bars *b = c->bars;
    struct work w = {.c = c};
    size_t n = b->n;
    w.bars = rs_alloc((n + 1) * sizeof *w.bars);
    w.order = rs_alloc((n + 1) * sizeof *w.order);
    w.lanes = rs_alloc(((size_t)c->nlanes + 1) * sizeof *w.lanes);
    arrange_lanes(&w);
    uint32_t *place = w.bars; /* no longer needed */
    for (size_t i = 0; i < n; i++) place[i] = RS_NONE;
    for (uint32_t i = 0; i < w.n; i++) place[w.order[i]] = b->first + i;
    number(c, place);
    free(w.bars);
    w.bars = NULL;
    rs_bar_piece_free(c->piece);
    permute(b, w.order, w.n);
    free(w.bars);
    free(w.order);
    free(w.lanes);
}

/* ---- pieces ---- */

bool rs_bar_pieces_can(const struct rs_timeline *t, uint32_t proc)
{
    const struct rs_timeline_index *x = t->index;
    bool alone = !x->joined[proc] && x->activities.from[proc] == x->activities.from[proc + 1];
    return t->inputs && proc < t->inputs->n && alone;
}

void rs_bar_pieces_begin(struct rs_collect *c, uint32_t first_event)
{
    struct rs_bar_pieces *p = c->pieces;
    struct rs_bar_piece *piece = &p->ring[p->begun % RS_EVENT_PIECES];
    struct rs_bars *bars = p->kept ? p->kept : p->spare ? p->spare : rs_zalloc(1, sizeof *bars);
    p->spare = NULL;
    rs_bars_clear(bars);
    *piece = (struct rs_bar_piece){.bars = bars, .number = p->begun, .first_event = first_event};
    rs_bar_pieces_turn(c, p->begun++);
}

void rs_bar_pieces_turn(struct rs_collect *c, uint32_t piece)
{
    c->piece = &c->pieces->ring[piece % RS_EVENT_PIECES];
    c->bars = c->piece->bars;
}

enum rs_status rs_bar_pieces_end(struct rs_collect *c, bool last, struct rs_err *err)
{
    struct rs_bar_pieces *p = c->pieces;
    struct rs_bars *bars = p->ring[p->ended % RS_EVENT_PIECES].bars;
    rs_bar_pieces_turn(c, p->ended);
    RS_TRY(rs_collect_launches(c, err));
    if (last) rs_map_free(&c->launches);
    if (last) RS_TRY(rs_collect_gaps(c, err));
    rs_collect_threads(c);
    bars->first = p->bars;
    bars->piece = p->ended;
    bars->last = last;
    arrange(c);
    if (bars->n > UINT32_MAX - 1 - p->bars) return rs_bars_too_many(err);
    if (!p->kept) RS_TRY(p->visit(p->to, bars, err));
    p->bars += bars->n;
    c->piece->bars = c->bars = NULL;
    p->ended++;
    if (p->kept) return RS_OK;
    if (p->spare) {
        rs_bars_free(p->spare);
        free(p->spare);
    }
    p->spare = bars;
    return RS_OK;
}

void rs_bar_pieces_free(struct rs_bar_pieces *p)
{
    for (; p->ended != p->begun; p->ended++) {
        struct rs_bar_piece *piece = &p->ring[p->ended % RS_EVENT_PIECES];
        if (piece->bars && !p->kept) rs_bars_free(piece->bars);
        if (!p->kept) free(piece->bars);
        rs_bar_piece_free(piece);
    }
    if (p->spare) rs_bars_free(p->spare);
    free(p->spare);
    p->spare = NULL;
}

#include "export/nests.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "model/model.h"

static void make_room(struct rs_nests *s, const struct rs_bars *b)
{
    uint32_t **of_bars[] = {&s->order, &s->place, &s->within, &s->track}, **of_lanes[] = {&s->from, &s->open};
    rs_nests_free(s);
    for (size_t i = 0; i < sizeof of_bars / sizeof *of_bars; i++)
        *of_bars[i] = rs_alloc(((size_t)b->n + 1) * sizeof **of_bars[i]);
    for (size_t i = 0; i < sizeof of_lanes / sizeof *of_lanes; i++)
        *of_lanes[i] = rs_alloc(((size_t)b->nlanes + 1) * sizeof **of_lanes[i]);
}

void rs_nests_free(struct rs_nests *s)
{
    free(s->from);
    free(s->open);
    free(s->order);
    free(s->place);
    free(s->within);
    free(s->track);
    *s = (struct rs_nests){0};
}

static int64_t end_of(const struct rs_bars *b, uint32_t i)
{
    return b->start[i] + b->dur[i];
}

/* The parent of a bar, if it holds it and is one of [lo, hi). */
static uint32_t holder(const struct rs_bars *b, uint32_t i, uint32_t lo, uint32_t hi)
{
    if (b->parent[i] == RS_BAR_NONE || b->parent[i] < b->first) return RS_NONE;
    uint32_t p = b->parent[i] - b->first;
    if (p < lo || p >= hi || p == i) return RS_NONE;
    return b->start[p] < b->start[i] && end_of(b, i) <= end_of(b, p) ? p : RS_NONE;
}

/* Whether bar i comes before bar k on a track. */
static bool is_before(const struct rs_bars *b, uint32_t i, uint32_t k)
{
    if (b->start[i] != b->start[k]) return b->start[i] < b->start[k];
    return b->dur[i] != b->dur[k] ? b->dur[i] > b->dur[k] : i < k;
}

/* Bars of lanes first .. last by begin, into their part of `order`: each lane is sorted, so that they need only be
 * merged, two by two; `place` holds one meanwhile. */
static void merge(struct rs_nests *s, const struct rs_bars *b, uint32_t first, uint32_t last)
{
    for (uint32_t width = 1; width <= last - first; width *= 2)
        for (uint32_t l = first; l + width <= last; l += 2 * width) {
            uint32_t end = last - l < 2 * width ? last : l + 2 * width - 1;
            uint32_t from = b->lanes[l].from, middle = b->lanes[l + width].from;
            uint32_t to = b->lanes[end].from + b->lanes[end].n, x = from, y = middle, at = from;
            memcpy(s->place + from, s->order + from, (middle - from) * sizeof *s->place);
            while (x < middle && y < to)
                s->order[at++] = is_before(b, s->order[y], s->place[x]) ? s->order[y++] : s->place[x++];
            while (x < middle) s->order[at++] = s->place[x++];
        }
}

/* Lanes first .. last show the same. In the order of begins each bar looks whether its parent is what is open on its
 * parent's track; else it stays on its own lane, where nothing is in its way: what moved there ends with what holds
 * it. */
static void nest(struct rs_nests *s, const struct rs_bars *b, uint32_t first, uint32_t last)
{
    uint32_t lo = b->lanes[first].from, hi = b->lanes[last].from + b->lanes[last].n;
    uint32_t *sorted = s->order + lo;
    for (uint32_t l = first; l <= last; l++) {
        s->open[l] = RS_NONE;
        s->from[l] = 0;
    }
    merge(s, b, first, last);
    for (uint32_t k = 0; k < hi - lo; k++) {
        uint32_t i = sorted[k], p = holder(b, i, lo, hi), to = p == RS_NONE ? RS_NONE : s->track[p];
        if (to != RS_NONE) {
            while (s->open[to] != RS_NONE && end_of(b, s->open[to]) <= b->start[i])
                s->open[to] = s->within[s->open[to]];
            if (s->open[to] == p) {
                s->within[i] = p;
                s->track[i] = to;
            }
        }
        s->open[s->track[i]] = i;
        s->from[s->track[i]]++;
    }
    /* Now by track: `place` holds them meanwhile. */
    uint32_t at = lo;
    for (uint32_t l = first; l <= last; l++) {
        uint32_t n = s->from[l];
        s->from[l] = s->open[l] = at;
        at += n;
    }
    for (uint32_t k = 0; k < hi - lo; k++) s->place[s->open[s->track[sorted[k]]]++] = sorted[k];
    for (uint32_t k = lo; k < hi; k++) s->order[k] = s->place[k];
}

void rs_nests_piece(struct rs_nests *s, const struct rs_bars *b)
{
    make_room(s, b);
    for (uint32_t i = 0; i < b->n; i++) {
        s->order[i] = i;
        s->within[i] = RS_NONE;
    }
    for (uint32_t l = 0; l < b->nlanes; l++) {
        s->from[l] = b->lanes[l].from;
        for (uint32_t i = b->lanes[l].from; i < b->lanes[l].from + b->lanes[l].n; i++) s->track[i] = l;
    }
    s->from[b->nlanes] = b->n;
    for (uint32_t first = 0, last; first < b->nlanes; first = last + 1) {
        for (last = first; last + 1 < b->nlanes && rs_nests_same(&b->lanes[first], &b->lanes[last + 1]);) last++;
        uint32_t lo = b->lanes[first].from, hi = b->lanes[last].from + b->lanes[last].n;
        bool any = false;
        for (uint32_t i = last > first ? lo : hi; i < hi && !any; i++) any = holder(b, i, lo, hi) != RS_NONE;
        if (any) nest(s, b, first, last);
    }
    for (uint32_t k = 0; k < b->n; k++) s->place[s->order[k]] = k;
}

bool rs_nests_touches(const struct rs_nests *s, const struct rs_bars *b, uint32_t i)
{
    uint32_t at = s->place[i];
    if (!at || s->track[s->order[at - 1]] != s->track[i]) return b->lanes[s->track[i]].before == b->start[i];
    for (uint32_t k = s->order[at - 1]; k != s->within[i]; k = s->within[k])
        if (end_of(b, k) == b->start[i]) return true;
    return false;
}

#include "export/rank_counters.h"

#include <stdlib.h>

#include "base/room.h"

/* clang-format off */
#define COUNTER(of, series, text) {of " " series, of, series, text}
/* clang-format on */
const struct rs_rank_counter_text rs_rank_counter_texts[RS_RANK_COUNTERS] = {
    [RS_COUNTER_BYTES] = COUNTER("bytes", "in flight",
                                 "Bytes of the operations of this rank that all ranks have started and that have not "
                                 "ended."),
    [RS_COUNTER_WAITING] = COUNTER("operations", "waiting",
                                   "Operations of this rank that wait for a rank that has not started: waits of at "
                                   "least twice the clock error."),
};

void rs_rank_counters_add(struct rs_rank_counters *c, const struct rs_bars *b, uint32_t i, uint32_t row)
{
    if (b->flags[i] & RS_BAR_START_UNKNOWN) return;
    if (c->n == c->cap) {
        uint32_t cap = c->cap;
        RS_ROOM(c->ups, c->n, cap);
        cap = c->cap;
        RS_ROOM(c->downs, c->n, cap);
        RS_ROOM(c->bars, c->n, c->cap);
    }
    int64_t from = b->start[i];
    uint64_t bytes = b->a2[i] > 0 ? (uint64_t)b->a2[i] : 0; /* as kinds of operations have it */
    c->bars[c->n++] = (struct rs_rank_counter_bar){from, from + b->wait[i], from + b->dur[i], bytes, row};
}

static int by_row(const void *a, const void *b)
{
    const struct rs_rank_counter_bar *x = a, *y = b;
    return x->row < y->row ? -1 : x->row > y->row;
}

static int by_time(const void *a, const void *b)
{
    const struct rs_rank_counter_change *x = a, *y = b;
    return x->at < y->at ? -1 : x->at > y->at;
}

/* Lanes come rank by rank, and bars of a lane in the order of time: mostly there is nothing to do. */
static void sort_bars(struct rs_rank_counter_bar *rows, uint32_t n)
{
    uint32_t i = 1;
    while (i < n && rows[i].row >= rows[i - 1].row) i++;
    if (i < n) qsort(rows, n, sizeof *rows, by_row);
}

static void sort_changes(struct rs_rank_counter_change *rows, uint32_t n)
{
    uint32_t i = 1;
    while (i < n && rows[i].at >= rows[i - 1].at) i++;
    if (i < n) qsort(rows, n, sizeof *rows, by_time);
}

/* What n bars do to a counter, into `ups` and `downs`; returns how often. */
static uint32_t find_changes(struct rs_rank_counters *c, const struct rs_rank_counter_bar *bars, uint32_t n,
                             enum rs_rank_counter counter)
{
    uint32_t changes = 0;
    for (uint32_t k = 0; k < n; k++) {
        const struct rs_rank_counter_bar *b = &bars[k];
        bool waiting = counter == RS_COUNTER_WAITING;
        struct rs_rank_counter_change up = {waiting ? b->from : b->there, waiting ? 1 : b->bytes};
        struct rs_rank_counter_change down = {waiting ? b->there : b->to, up.amount};
        if (down.at <= up.at || !up.amount) continue;
        c->ups[changes] = up;
        c->downs[changes++] = down;
    }
    sort_changes(c->ups, changes);
    sort_changes(c->downs, changes);
    return changes;
}

void rs_rank_counters_put(struct rs_rank_counters *c,
                          void (*put)(void *to, uint32_t row, enum rs_rank_counter counter, bool first, int64_t at,
                                      uint64_t value),
                          void *to)
{
    sort_bars(c->bars, c->n);
    for (uint32_t from = 0, end; from < c->n; from = end) {
        uint32_t row = c->bars[from].row;
        for (end = from; end < c->n && c->bars[end].row == row; end++) continue;
        for (enum rs_rank_counter counter = 0; counter < RS_RANK_COUNTERS; counter++) {
            uint32_t n = find_changes(c, c->bars + from, end - from, counter), up = 0, down = 0;
            uint64_t value = 0;
            while (down < n) {
                /* Changes of one moment are one step: what ends as another begins leaves no dip. */
                bool first = !up;
                int64_t at = up < n && c->ups[up].at < c->downs[down].at ? c->ups[up].at : c->downs[down].at;
                for (; up < n && c->ups[up].at == at; up++) value += c->ups[up].amount;
                for (; down < n && c->downs[down].at == at; down++) value -= c->downs[down].amount;
                put(to, row, counter, first, at, value);
            }
        }
    }
    c->n = 0;
}

void rs_rank_counters_free(struct rs_rank_counters *c)
{
    free(c->bars);
    free(c->ups);
    free(c->downs);
    *c = (struct rs_rank_counters){0};
}

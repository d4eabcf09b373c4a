#include "picture/slots.h"

#include <stdlib.h>

static int by_start(const void *a, const void *b)
{
    const struct rs_picture_bar *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

void rs_slots_sort(struct rs_picture_row *row)
{
    bool sorted = true;
    for (uint32_t i = 1; i < row->nbars && sorted; i++) sorted = row->bars[i - 1].start <= row->bars[i].start;
    if (!sorted) qsort(row->bars, row->nbars, sizeof(*row->bars), by_start);
}

static bool is_lower(const struct rs_picture_bar *bar)
{
    return bar->row != RS_ROW_OPERATIONS;
}

/* Bars that overlap one after the other are a cluster, which shares the height evenly: [from, to) holds it. */
static void close_cluster(struct rs_picture_row *row, uint32_t from, uint32_t to, bool lower, uint8_t slots)
{
    for (uint32_t i = from; i < to; i++)
        if (is_lower(&row->bars[i]) == lower) row->bars[i].slots = rs_picture_is_blank(&row->bars[i]) ? 1 : slots;
}

static void share(struct rs_picture_row *row, bool lower)
{
    int64_t ends[RS_SLOTS];
    uint8_t used = 0;
    uint32_t from = 0;
    int64_t latest = INT64_MIN;
    for (uint32_t i = 0; i < row->nbars; i++) {
        struct rs_picture_bar *bar = &row->bars[i];
        if (is_lower(bar) != lower) continue;
        bar->slot = 0;
        if (rs_picture_is_blank(bar)) continue;
        if (bar->start >= latest) {
            close_cluster(row, from, i, lower, used ? used : 1);
            from = i;
            used = 0;
        }
        uint8_t slot = 0, soonest = 0;
        while (slot < used && ends[slot] > bar->start) {
            if (ends[slot] < ends[soonest]) soonest = slot;
            slot++;
        }
        if (slot == used) {
            if (used < RS_SLOTS)
                used++;
            else
                slot = soonest;
        }
        int64_t end = rs_time_plus(bar->start, bar->dur);
        ends[slot] = end;
        bar->slot = slot;
        if (end > latest) latest = end;
    }
    close_cluster(row, from, row->nbars, lower, used ? used : 1);
}

void rs_slots_share(struct rs_picture_row *row)
{
    share(row, false);
    share(row, true);
}

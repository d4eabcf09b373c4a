#include "analyse/changes.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/quantile.h"
#include "base/memory.h"

enum {
    SHORTEST = 3, /* values on each side */
    FEW = 8, /* values for which a rank test says little */
    MOST = 64, /* splits tried */
};

struct ranked {
    int64_t value;
    uint32_t index;
};

static int by_value(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* The best place to split: where ranks on the two sides differ most. A rank-sum statistic, in standard deviations; 0:
 * no significant difference. */
static uint32_t best_split(const int64_t *v, uint32_t n, struct ranked *order, double *rank)
{
    const double least = 3.5; /* for the best of many places */
    for (uint32_t i = 0; i < n; i++) order[i] = (struct ranked){v[i], i};
    qsort(order, n, sizeof *order, by_value);
    for (uint32_t i = 0, k; i < n; i = k) { /* equal values share their rank */
        for (k = i; k < n && order[k].value == order[i].value; k++) {
        }
        for (uint32_t j = i; j < k; j++) rank[order[j].index] = ((double)i + (double)k - 1) / 2 - ((double)n - 1) / 2;
    }
    double sum = 0, best = n > 2 * FEW ? least : 0; /* for few values no place is significant: the medians decide */
    uint32_t at = 0;
    for (uint32_t i = 1; i < n; i++) {
        sum += rank[i - 1];
        if (i < SHORTEST || n - i < SHORTEST) continue;
        double z = fabs(sum) / sqrt((double)i * (double)(n - i) * (double)(n + 1) / 12);
        if (z > best) {
            best = z;
            at = i;
        }
    }
    return at;
}

/* The distance of the medians of [0, at) and [at, n), in median deviations; 0 if it is 5 % or less. */
static double shift(const int64_t *v, uint32_t n, uint32_t at, int64_t *scratch)
{
    memcpy(scratch, v, n * sizeof *v);
    int64_t left = rs_median(scratch, at), right = rs_median(scratch + at, n - at);
    for (uint32_t i = 0; i < n; i++) scratch[i] = v[i] - (i < at ? left : right);
    double apart = fabs((double)(right - left)), mad = (double)rs_mad(scratch, n, 0);
    if (apart <= 0.05 * fabs((double)left)) return 0;
    return apart / (mad > 0 ? mad : 1e-9);
}

static int by_index(const void *a, const void *b)
{
    return *(const uint32_t *)a < *(const uint32_t *)b ? -1 : *(const uint32_t *)a > *(const uint32_t *)b;
}

struct work {
    const int64_t *values;
    struct ranked *order;
    double *rank;
    int64_t *scratch;
    uint32_t at[MOST + 2]; /* 0, the splits, n */
    uint32_t splits;
};

/* Splits as long as ranks differ, permanently or not: a rise and a fall are two splits, and one alone shows neither. */
static void split_all(struct work *w, uint32_t n)
{
    struct {
        uint32_t from, to;
    } todo[2 * MOST + 2];
    uint32_t left = 0;
    todo[left].from = 0;
    todo[left++].to = n;
    while (left && w->splits < MOST) {
        uint32_t from = todo[--left].from, to = todo[left].to;
        uint32_t at = to - from >= 2 * SHORTEST ? best_split(w->values + from, to - from, w->order, w->rank) : 0;
        if (!at) continue;
        w->at[++w->splits] = from + at;
        todo[left].from = from;
        todo[left++].to = from + at;
        todo[left].from = from + at;
        todo[left++].to = to;
    }
    w->at[w->splits + 1] = n;
    qsort(w->at + 1, w->splits, sizeof *w->at, by_index);
}

/* Removes the splits that are no changes, the weakest first. */
static void merge(struct work *w, uint32_t most)
{
    for (;;) {
        uint32_t weakest = 0;
        double least = INFINITY;
        for (uint32_t i = 1; i <= w->splits; i++) {
            uint32_t from = w->at[i - 1], n = w->at[i + 1] - from;
            double s = shift(w->values + from, n, w->at[i] - from, w->scratch);
            if (s < least) {
                least = s;
                weakest = i;
            }
        }
        if (!weakest || (least > 5 && w->splits <= most)) return;
        memmove(w->at + weakest, w->at + weakest + 1, (w->splits + 1 - weakest) * sizeof *w->at);
        w->splits--;
    }
}

void rs_change_points(const int64_t *values, uint32_t n, uint32_t *points, uint32_t most, uint32_t *found)
{
    struct work w = {.values = values,
                     .order = rs_alloc(((size_t)n + 1) * sizeof *w.order),
                     .rank = rs_alloc(((size_t)n + 1) * sizeof *w.rank),
                     .scratch = rs_alloc(((size_t)n + 1) * sizeof *w.scratch)};
    *found = 0;
    if (!w.order || !w.rank || !w.scratch) rs_memory_out();
    split_all(&w, n);
    merge(&w, most);
    memcpy(points, w.at + 1, w.splits * sizeof *points);
    *found = w.splits;
    free(w.order);
    free(w.rank);
    free(w.scratch);
}

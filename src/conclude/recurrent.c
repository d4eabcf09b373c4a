#include "conclude/recurrent.h"

#include <math.h>
#include <stdlib.h>

#include "analyse/quantile.h"
#include "base/memory.h"
#include "conclude/graph.h"

enum {
    BEYOND_USUAL = 5, /* times what the latest of a step usually is */
    BEYOND_SECOND = 2, /* times the second of its step */
};

struct search {
    const float *late;
    uint32_t steps;
    uint32_t *ranks, *first; /* of role k: ranks[first[k] .. first[k + 1]) */
    uint32_t *latest; /* by step: the rank that is late by far; RS_NONE */
    int64_t *values; /* by step */
};

/* The latest rank of a role in a step, and how late it and the second are; RS_NONE: fewer than two are known. */
static uint32_t latest_of(const struct search *s, uint32_t role, uint32_t step, float *first, float *second)
{
    uint32_t rank = RS_NONE, known = 0;
    *first = *second = -INFINITY;
    for (uint32_t i = s->first[role]; i < s->first[role + 1]; i++) {
        float x = s->late[(size_t)s->ranks[i] * s->steps + step];
        if (isnan(x)) continue;
        known++;
        if (x > *first) {
            *second = *first;
            *first = x;
            rank = s->ranks[i];
        } else if (x > *second) {
            *second = x;
        }
    }
    return known > 1 ? rank : RS_NONE;
}

static void find_latest(struct search *s, uint32_t role, int64_t least_ns)
{
    float first, second;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->steps; i++)
        if (latest_of(s, role, i, &first, &second) != RS_NONE) s->values[n++] = (int64_t)first;
    double usual = n ? (double)rs_median(s->values, n) : 0, least = fmax((double)least_ns, BEYOND_USUAL * usual);
    for (uint32_t i = 0; i < s->steps; i++) {
        uint32_t rank = latest_of(s, role, i, &first, &second);
        s->latest[i] = rank != RS_NONE && first >= least && first >= BEYOND_SECOND * second ? rank : RS_NONE;
    }
}

/* P(at least k of n), each with probability p. */
static double at_least(uint32_t k, uint32_t n, double p)
{
    double sum = 0;
    for (uint32_t i = k; i <= n; i++)
        sum += exp(lgamma(n + 1.0) - lgamma(i + 1.0) - lgamma(n - i + 1.0) + i * log(p) + (n - i) * log1p(-p));
    return fmin(1, sum);
}

/* What is known of one rank; s->latest is of its role. */
static struct rs_recurrent look_at(struct search *s, uint32_t rank)
{
    struct rs_recurrent x = {.rank_id = rank, .p = 1};
    uint32_t before = RS_NONE;
    bool even = true;
    for (uint32_t i = 0; i < s->steps; i++) {
        float ns = s->late[(size_t)rank * s->steps + i];
        if (!isnan(ns)) x.steps++;
        if (s->latest[i] == RS_NONE) continue;
        bool again = i && s->latest[i - 1] == s->latest[i];
        x.all += !again;
        if (s->latest[i] != rank) continue;
        x.hits += !again;
        s->values[x.late++] = (int64_t)ns;
        if (x.late == 2) x.every = i - before;
        if (x.late > 2 && i - before != x.every) even = false;
        before = i;
    }
    if (!even || x.late < 3) x.every = 0;
    if (x.late) x.late_ns = rs_median(s->values, x.late);
    return x;
}

void rs_recurrent_find(struct rs_recurrent *found, const float *late, const struct rs_roles *roles, uint32_t nranks,
                       uint32_t steps, int64_t least_ns)
{
    struct search s = {.late = late, .steps = steps};
    uint32_t compared = 0;
    *found = (struct rs_recurrent){.rank_id = RS_NONE, .p = 1};
    s.ranks = rs_rows_by_number(roles->of, NULL, nranks, roles->n, &s.first);
    s.latest = rs_alloc(((size_t)steps + 1) * sizeof *s.latest);
    s.values = rs_alloc(((size_t)steps + 1) * sizeof *s.values);
    for (uint32_t k = 0; k < roles->n; k++) compared += roles->size[k] > 1 ? roles->size[k] : 0;
    for (uint32_t k = 0; k < roles->n; k++) {
        if (roles->size[k] < 2) continue;
        find_latest(&s, k, least_ns);
        for (uint32_t i = s.first[k]; i < s.first[k + 1]; i++) {
            struct rs_recurrent x = look_at(&s, s.ranks[i]);
            if (!x.hits) continue;
            x.p = fmin(1, at_least(x.hits, x.all, 1.0 / roles->size[k]) * compared);
            if (found->rank_id == RS_NONE || x.p < found->p) *found = x;
        }
    }
    free(s.ranks);
    free(s.first);
    free(s.latest);
    free(s.values);
}

#include "timeline/sums.h"

#include <stdlib.h>

#include "base/memory.h"
#include "join/durations.h"
#include "join/op_facts.h"
#include "join/waits.h"

static void add(const struct rs_timeline *t, struct rs_timeline_sum *sums, uint32_t op, int64_t from, int64_t to)
{
    const struct rs_model *m = t->model;
    uint32_t last = rs_op_last_part(m, op);
    int64_t shortest = rs_op_shortest(m, op), least = rs_op_least(m, op);
    struct rs_op_rank rank;
    for (uint32_t at = 0; rs_op_next_rank(m, op, &at, &rank);) {
        uint32_t group = rs_timeline_rank_of(t, m->parts.member[rank.part]);
        struct rs_timeline_sum *sum = group != RS_NONE ? &sums[group] : NULL;
        int64_t wait = rs_op_rank_wait(m, &rank, shortest), start = rs_time_minus(rank.start, t->begin);
        int64_t end = rank.end != RS_TIME_NONE ? rs_time_minus(rank.end, t->begin) : start;
        if (!sum || rank.start == RS_TIME_NONE || start >= to || end < from) continue;
        if (wait > 0 && wait >= least) sum->wait = rs_time_plus(sum->wait, wait);
        for (uint32_t i = 0; last != RS_NONE && i < rank.parts; i++) sum->last += m->order[rank.at + i] == last;
    }
}

void rs_timeline_sums(const struct rs_timeline *t, int64_t from, int64_t to, struct rs_timeline_sum **sums)
{
    *sums = rs_zalloc((size_t)t->ngroups + 1, sizeof **sums);
    for (uint32_t i = 0; i < t->nops; i++)
        if (rs_op_counts(t->model, t->ops[i])) add(t, *sums, t->ops[i], from, to);
}

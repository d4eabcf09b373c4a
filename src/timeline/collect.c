#include "timeline/collect.h"

#include <stdlib.h>

#include "base/room.h"
#include "timeline/span.h"

void rs_collect_free(struct rs_collect *c)
{
    for (uint32_t i = 0; i < c->nlanes; i++) free(c->lanes[i].subs);
    free(c->lanes);
    free(c->piece_of_part);
    rs_map_free(&c->lane_index);
    rs_map_free(&c->subs);
    rs_map_free(&c->launches);
    rs_map_free(&c->algorithms);
    rs_map_free(&c->threads);
}

void rs_bar_piece_free(struct rs_bar_piece *p)
{
    free(p->lane_of);
    free(p->bar_of_event);
    *p = (struct rs_bar_piece){.bars = p->bars};
}

enum rs_status rs_collect_lane(struct rs_collect *c, uint32_t group, enum rs_row row, uint64_t key, uint32_t *lane,
                               bool *is_new, struct rs_err *err)
{
    enum { GROUP_BITS = 24, ROW_BITS = 5, KEY_BITS = 35 };
    _Static_assert(RS_ROWS <= 1 << ROW_BITS && GROUP_BITS + ROW_BITS + KEY_BITS == 64, "a lane is named by 64 bits");
    if (group >> GROUP_BITS) return rs_fail(err, RS_BAD_INPUT, "more than 16 million groups of rows");
    key &= (UINT64_C(1) << KEY_BITS) - 1;
    uint64_t all = (uint64_t)group << (ROW_BITS + KEY_BITS) | (uint64_t)row << KEY_BITS | key;
    const uint64_t *at = rs_map_find(&c->lane_index, all);
    *is_new = !at;
    *lane = at ? (uint32_t)*at : c->nlanes;
    if (at) return RS_OK;
    rs_map_put(&c->lane_index, all, c->nlanes);
    RS_ROOM(c->lanes, c->nlanes, c->cap_lanes);
    c->lanes[c->nlanes++] = (struct rs_raw_lane){.group = group, .key = key, .row = (uint8_t)row};
    return RS_OK;
}

enum rs_status rs_collect_bar(struct rs_collect *c, uint32_t lane, uint8_t kind, int64_t from, int64_t to,
                              uint32_t *bar, struct rs_err *err)
{
    int64_t start, dur;
    *bar = RS_NONE;
    if (!rs_span_place(c->t, from, to, &start, &dur)) {
        c->t->index->out_of_range++;
        return RS_OK;
    }
    if (!rs_span_asked(c->t, from, to)) return RS_OK;
    if (c->bars->n >= RS_BY_EVENT - 1) return rs_fail(err, RS_BAD_INPUT, "more than 2 billion bars of one process");
    RS_ROOM(c->piece->lane_of, c->bars->n, c->piece->cap_lane_of);
    rs_bars_add(c->bars, bar);
    c->piece->lane_of[*bar] = lane;
    c->bars->start[*bar] = start;
    c->bars->dur[*bar] = dur;
    c->bars->kind[*bar] = kind;
    return RS_OK;
}

int64_t rs_collect_fade(const struct rs_collect *c, uint32_t bar, int64_t fade)
{
    const struct rs_bars *b = c->bars;
    int64_t room = c->t->options.to_bound ? b->dur[bar] : c->t->span - b->start[bar] - b->dur[bar];
    return fade >= 0 && fade < room ? fade : room; /* may have wrapped with damaged times */
}

void rs_collect_event(struct rs_collect *c, uint32_t number, uint32_t bar)
{
    struct rs_bar_piece *p = c->piece;
    if (number >= RS_BY_EVENT || number < p->first_event) return;
    number -= p->first_event;
    while (p->nevents <= number) {
        RS_ROOM(p->bar_of_event, p->nevents, p->cap_events);
        p->bar_of_event[p->nevents++] = RS_NONE;
    }
    p->bar_of_event[number] = bar;
}

void rs_collect_thread(struct rs_collect *c, uint32_t tid, uint32_t member)
{
    const struct rs_timeline *t = c->t;
    if (t->index->only_rank[c->proc] != RS_NONE) return; /* known without it */
    uint32_t group = t->group_of_member[member], rank = group < t->ngroups ? t->groups[group].parent : RS_NONE;
    uint64_t *at;
    rs_map_at(&c->threads, tid, rank, &at);
    if (*at != rank) *at = RS_NONE;
}

void rs_collect_callers(struct rs_collect *c)
{
    const struct rs_proc *p = &c->t->model->procs[c->proc];
    for (uint32_t i = 0; i < p->ncallers; i++) rs_collect_thread(c, p->callers[i].tid, p->callers[i].member);
}

void rs_collect_threads(struct rs_collect *c)
{
    const struct rs_timeline *t = c->t;
    for (uint32_t i = 0; i < c->nlanes; i++) {
        struct rs_raw_lane *lane = &c->lanes[i];
        if ((lane->row != RS_ROW_CALLS && lane->row != RS_ROW_LAUNCHES) || lane->key >= RS_KEY_OF_OTHERS) continue;
        uint32_t rank = t->index->only_rank[c->proc];
        if (rank == RS_NONE && lane->key < RS_KEY_UNKNOWN) rank = (uint32_t)rs_map_get(&c->threads, lane->key, RS_NONE);
        if (rank < t->ngroups && t->groups[rank].level == RS_GROUP_RANK) lane->group = rank;
    }
}

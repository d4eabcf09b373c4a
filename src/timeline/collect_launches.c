/* Launches and calls known from parts: edges from a launch to all operations that it launched; and if there is no event
 * of a launch or a call, a marker at its time. */
#include "base/room.h"
#include "timeline/collect.h"
#include "timeline/launch_key.h"

static void add_edge(struct rs_bars *b, uint32_t from, uint32_t to)
{
    RS_ROOM(b->edges, b->nedges, b->cap_edges);
    b->edges[b->nedges++] = (struct rs_bar_edge){from, to};
}

/* A marker on the lane of unknown threads. */
static enum rs_status add_moment(struct rs_collect *c, enum rs_row row, uint8_t kind, int64_t at, uint32_t *bar,
                                 struct rs_err *err)
{
    uint32_t lane;
    bool is_new;
    *bar = RS_NONE;
    if (!rs_collect_wants(c, row)) return RS_OK;
    RS_TRY(rs_collect_lane(c, c->t->index->proc_group[c->proc], row, RS_KEY_UNKNOWN, &lane, &is_new, err));
    if (is_new) rs_timeline_text(c->t, &c->lanes[lane].label, "unknown thread");
    return rs_collect_bar(c, lane, kind, at, at, bar, err);
}

static void set_communicator(struct rs_collect *c, uint32_t bar, uint32_t member)
{
    uint32_t text = c->t->index->member_text[member];
    if (text) c->bars->a1[bar] = text;
}

static enum rs_status launch_of(struct rs_collect *c, uint32_t part, uint32_t *bar, struct rs_err *err)
{
    const struct rs_model *m = c->t->model;
    const struct rs_parts *p = &m->parts;
    uint64_t key = rs_launch_key(p->member[part], p->launched[part]);
    const uint64_t *found = rs_map_find(&c->launches, key);
    if (found) {
        bool here = *found >> 32 == c->piece->number;
        *bar = here ? (uint32_t)*found : RS_NONE;
        c->t->index->apart += !here;
        return RS_OK;
    }
    RS_TRY(add_moment(c, RS_ROW_LAUNCHES, RS_BAR_LAUNCH, p->launched[part], bar, err));
    if (*bar == RS_NONE) return RS_OK;
    c->bars->flags[*bar] = p->flags[part] & RS_PART_LAUNCH_END ? RS_BAR_START_UNKNOWN : RS_BAR_END_BOUNDED;
    if (m->members[p->member[part]].rank >= 0) c->bars->a2[*bar] = m->members[p->member[part]].rank;
    set_communicator(c, *bar, p->member[part]);
    rs_launch_put(c, p->member[part], p->launched[part], RS_TIME_NONE, *bar);
    return RS_OK;
}

static enum rs_status call_of(struct rs_collect *c, uint32_t part, struct rs_err *err)
{
    const struct rs_parts *p = &c->t->model->parts;
    uint32_t bar, op_bar = c->t->bar_of_part[part], dtype;
    RS_TRY(add_moment(c, RS_ROW_CALLS, RS_BAR_ENQUEUED, p->enqueued[part], &bar, err));
    if (bar == RS_NONE) return RS_OK;
    struct rs_bars *b = c->bars;
    b->flags[bar] = RS_BAR_END_BOUNDED;
    if (p->op[part] < c->t->model->ops.n) b->op[bar] = c->t->op_number[p->op[part]];
    set_communicator(c, bar, p->member[part]);
    if (p->count[part] && p->count[part] <= INT64_MAX) b->a2[bar] = (int64_t)p->count[part];
    rs_index_string(c->t, p->dtype[part], &dtype);
    if (dtype) b->a3[bar] = dtype;
    if (op_bar != RS_NONE) b->parent[op_bar] = bar;
    rs_index_string(c->t, rs_bar_func(c->t->model, part), &b->name[bar]);
    return RS_OK;
}

/* Whether there are events of calls, in this piece or any other. */
static bool has_call_events(const struct rs_collect *c)
{
    bool has = c->t->model->procs[c->proc].calls;
    for (uint32_t i = 0; i < c->nlanes && !has; i++)
        has = c->lanes[i].row == RS_ROW_CALLS && c->lanes[i].key != RS_KEY_UNKNOWN;
    return has;
}

enum rs_status rs_collect_launches(struct rs_collect *c, struct rs_err *err)
{
    const struct rs_model *m = c->t->model;
    const struct rs_bars *b = c->bars;
    bool has_calls = has_call_events(c);
    for (uint32_t i = 0; i < b->nparts; i++) {
        uint32_t part = b->parts[i], bar = c->t->bar_of_part[part], launch = RS_NONE;
        if (c->t->group_of_member[m->parts.member[part]] == RS_NONE) continue;
        if (!has_calls && m->parts.enqueued[part] != RS_TIME_NONE) RS_TRY(call_of(c, part, err));
        if (m->parts.launched[part] != RS_TIME_NONE) RS_TRY(launch_of(c, part, &launch, err));
        if (launch == RS_NONE) continue;
        if (c->bars->kind[launch] == RS_BAR_LAUNCH) {
            int64_t *count = &c->bars->a3[launch];
            *count = *count == RS_BAR_NO_ARG ? 1 : *count + 1;
        }
        if (bar != RS_NONE) add_edge(c->bars, launch, bar);
    }
    return RS_OK;
}

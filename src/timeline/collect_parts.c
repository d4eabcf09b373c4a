/* Operations, one bar per part: its time as far as known, its wait, and whether it was the last. */
#include <stdio.h>

#include "join/flow.h"
#include "timeline/collect.h"
#include "timeline/span.h"
#include "timeline/stretch.h"

/* "RING, SIMPLE, 4 channels": as much as is known. */
static void algorithm(struct rs_collect *c, uint32_t part, int64_t *text)
{
    const struct rs_model *m = c->t->model;
    uint64_t key = (uint64_t)m->parts.algo[part] << 32 | (uint64_t)m->parts.proto[part] << 16 | m->parts.channels[part];
    const uint64_t *made = rs_map_find(&c->algorithms, key);
    if (made) {
        *text = (int64_t)*made;
        return;
    }
    const char *algo = rs_model_text(m, m->parts.algo[part]), *proto = rs_model_text(m, m->parts.proto[part]);
    unsigned channels = m->parts.channels[part];
    if (!*algo && !*proto && !channels) return;
    char line[96] = "";
    if (channels) snprintf(line, sizeof line, "%u channel%s", channels, channels == 1 ? "" : "s");
    uint32_t id;
    rs_timeline_text(c->t, &id, "%.40s%s%.40s%s%s", algo, *algo && *proto ? ", " : "", proto,
                     (*algo || *proto) && *line ? ", " : "", line);
    *text = id;
    rs_map_put(&c->algorithms, key, id);
}

static void set_arguments(struct rs_collect *c, uint32_t bar, uint32_t part)
{
    struct rs_timeline *t = c->t;
    const struct rs_model *m = t->model;
    const struct rs_parts *p = &m->parts;
    struct rs_bars *b = c->bars;
    uint32_t op = p->op[part], dtype;
    bool pair = p->kind[part] == RS_PART_SEND || p->kind[part] == RS_PART_RECV;
    bool rooted = rs_func_has_root(m, rs_bar_func(m, part));
    if (p->peer[part] >= 0 && (pair || rooted)) b->a1[bar] = p->peer[part];
    rs_index_string(t, p->dtype[part], &dtype);
    uint64_t bytes = m->ops.bytes[op];
    bool sized = bytes || (!m->ops.count[op] && dtype); /* 0 elements of a known type are 0 bytes */
    if (sized && bytes <= INT64_MAX) b->a2[bar] = (int64_t)bytes;
    if ((p->count[part] || dtype) && p->count[part] <= INT64_MAX) b->a3[bar] = (int64_t)p->count[part];
    if (dtype) b->a4[bar] = dtype;
    algorithm(c, part, &b->a5[bar]);
    int64_t at, dur;
    if (rs_span_place(t, p->launched[part], p->launched[part], &at, &dur)) b->a6[bar] = at;
}

static enum rs_status draw(struct rs_collect *c, uint32_t part, struct rs_err *err)
{
    struct rs_timeline *t = c->t;
    const struct rs_model *m = t->model;
    const struct rs_parts *p = &m->parts;
    uint32_t op = p->op[part], member = p->member[part], group = t->group_of_member[member], lane, bar;
    bool is_new;
    struct rs_stretch s;
    if (t->options.filter && !rs_filter_rank(t->options.filter, m, member)) return RS_OK;
    if (group == RS_NONE || !rs_stretch_of(t, part, &s)) return RS_OK;
    RS_TRY(rs_collect_lane(c, group, RS_ROW_OPERATIONS, 0, &lane, &is_new, err));
    if (is_new) rs_timeline_text(t, &c->lanes[lane].label, "operations");
    uint16_t func = rs_bar_func(m, part);
    uint8_t kind = t->index->func_kind[func < m->strings.n ? func : 0];
    RS_TRY(rs_collect_bar(c, lane, kind, s.from, s.to, &bar, err));
    if (bar == RS_NONE) return RS_OK;
    t->bar_of_part[part] = bar;
    struct rs_bars *b = c->bars;
    b->op[bar] = t->op_number[op];
    b->fade[bar] = rs_collect_fade(c, bar, s.fade);
    unsigned flags = s.flags;
    if (p->flags[part] & RS_PART_MISMATCH) flags |= RS_BAR_MISMATCH;
    if (p->flags[part] & RS_PART_HELPED) flags |= RS_BAR_HELPED;
    if (rs_stretch_is_last(t, part)) flags |= RS_BAR_LAST;
    b->flags[bar] = (uint8_t)flags;
    int64_t wait = rs_stretch_wait(t, part);
    if (wait) b->wait[bar] = wait < b->dur[bar] ? wait : b->dur[bar];
    if (kind == RS_BAR_OTHER) rs_index_string(t, func, &b->name[bar]);
    set_arguments(c, bar, part);
    return RS_OK;
}

enum rs_status rs_collect_part(struct rs_collect *c, uint32_t part, struct rs_err *err)
{
    struct rs_bars *b = c->bars;
    RS_ROOM(b->parts, b->nparts, b->cap_parts);
    b->parts[b->nparts++] = part;
    if (c->piece_of_part) c->piece_of_part[part - c->first_part] = c->piece->number;
    return rs_collect_wants(c, RS_ROW_OPERATIONS) ? draw(c, part, err) : RS_OK;
}

enum rs_status rs_collect_parts(struct rs_collect *c, struct rs_err *err)
{
    const struct rs_by_proc *parts = &c->t->index->parts;
    for (uint32_t i = parts->from[c->proc]; i < parts->from[c->proc + 1]; i++) {
        uint32_t part = rs_by_proc_row(parts, i);
        if (!c->piece_of_part || c->piece_of_part[part - c->first_part] == RS_NONE)
            RS_TRY(rs_collect_part(c, part, err));
    }
    return RS_OK;
}

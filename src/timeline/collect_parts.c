/* Operations, one bar a part: when it ran as far as that is known, how long it waited, and who was last. */
#include <stdio.h>
#include <string.h>

#include "join/waits.h"
#include "timeline/collect.h"
#include "timeline/span.h"

/* From when to when a part is drawn. */
struct stretch {
    int64_t from, to, fade;
    uint8_t flags;
};

/* `to` is the lower bound of the end, and `before` the upper one. */
static void bound(struct stretch *s, int64_t before)
{
    s->flags |= RS_BAR_END_BOUNDED;
    if (before != RS_TIME_NONE && before > s->to) s->fade = rs_time_minus(before, s->to);
}

/* When a part began, as far as that can stand beside the other ranks' bars. Where a kernel's start is told of another
 * rank, that of a proxy operation is not the same thing: it comes ahead of the kernel, which may not have begun yet. */
static int64_t began_at(const struct rs_timeline *t, uint32_t part)
{
    const struct rs_parts *p = &t->model->parts;
    bool other = p->start_source[part] != RS_FROM_KERNEL && t->index->by_kernel[p->op[part]];
    return other ? RS_TIME_NONE : p->start[part];
}

/* False: nothing is known of when it was. */
static bool stretch_of(const struct rs_timeline *t, uint32_t part, struct stretch *s)
{
    const struct rs_model *m = t->model;
    const struct rs_parts *p = &m->parts;
    *s = (struct stretch){.from = began_at(t, part)};
    if (s->from == RS_TIME_NONE) {
        s->from = p->launched[part] != RS_TIME_NONE ? p->launched[part] : p->enqueued[part];
        bool late = p->end[part] != RS_TIME_NONE && s->from > p->end[part]; /* told when it was over */
        if (p->start[part] != RS_TIME_NONE && (s->from == RS_TIME_NONE || late)) s->from = p->start[part];
        s->flags = RS_BAR_START_UNKNOWN;
    }
    if (s->from == RS_TIME_NONE) return false;
    s->to = s->from;
    uint32_t flags = p->flags[part];
    bool ended = p->end[part] != RS_TIME_NONE && p->end[part] >= s->from;
    if (ended) {
        s->to = p->end[part];
        if (!rs_part_has_ended(m, part)) bound(s, p->before[part]);
        return true;
    }
    if (p->after[part] != RS_TIME_NONE && p->after[part] > s->to) s->to = p->after[part];
    /* Flight Recorder says of each what had not ended when it was dumped. */
    bool began =
        p->start[part] != RS_TIME_NONE || (flags & RS_PART_STARTED) || rs_part_proc(m, part)->tool == RS_TOOL_FLIGHT;
    bool may_run = began && !(flags & RS_PART_DONE) && p->end[part] == RS_TIME_NONE;
    if (p->before[part] != RS_TIME_NONE && p->before[part] >= s->to) {
        bound(s, p->before[part]);
    } else if (flags & RS_PART_OPEN || may_run) {
        int64_t heard = rs_proc_heard(t, m->members[p->member[part]].proc);
        if (heard > s->to) s->to = heard;
        s->flags |= RS_BAR_OPEN;
    } else {
        s->flags |= RS_BAR_END_BOUNDED;
    }
    return true;
}

/* "RING, SIMPLE, 4 channels": as much as is known. */
static enum rs_status algorithm(struct rs_collect *c, uint32_t part, int64_t *text, struct rs_err *err)
{
    const struct rs_model *m = c->t->model;
    uint64_t key = (uint64_t)m->parts.algo[part] << 32 | (uint64_t)m->parts.proto[part] << 16 | m->parts.channels[part];
    const uint64_t *made = rs_map_find(&c->algorithms, key);
    if (made) {
        *text = (int64_t)*made;
        return RS_OK;
    }
    const char *algo = rs_model_text(m, m->parts.algo[part]), *proto = rs_model_text(m, m->parts.proto[part]);
    unsigned channels = m->parts.channels[part];
    if (!*algo && !*proto && !channels) return RS_OK;
    char line[96] = "";
    if (channels) snprintf(line, sizeof line, "%u channel%s", channels, channels == 1 ? "" : "s");
    uint32_t id;
    RS_TRY(rs_timeline_text(c->t, &id, err, "%.40s%s%.40s%s%s", algo, *algo && *proto ? ", " : "", proto,
                            (*algo || *proto) && *line ? ", " : "", line));
    *text = id;
    return rs_map_put(&c->algorithms, key, id, err);
}

static enum rs_status set_arguments(struct rs_collect *c, uint32_t bar, uint32_t part, struct rs_err *err)
{
    struct rs_timeline *t = c->t;
    const struct rs_model *m = t->model;
    const struct rs_parts *p = &m->parts;
    struct rs_bars *b = c->bars;
    uint32_t op = p->op[part], dtype;
    bool pair = p->kind[part] == RS_PART_SEND || p->kind[part] == RS_PART_RECV;
    const char *func = rs_model_text(m, rs_bar_func(m, part));
    bool rooted =
        !strcmp(func, "Broadcast") || !strcmp(func, "Reduce") || !strcmp(func, "Gather") || !strcmp(func, "Scatter");
    if (p->peer[part] >= 0 && (pair || rooted)) b->a1[bar] = p->peer[part];
    RS_TRY(rs_index_string(t, p->dtype[part], &dtype, err));
    uint64_t bytes = m->ops.bytes[op];
    bool sized = bytes || (!m->ops.count[op] && dtype); /* 0 of a type that is told is 0 */
    if (sized && bytes <= INT64_MAX) b->a2[bar] = (int64_t)bytes;
    if ((p->count[part] || dtype) && p->count[part] <= INT64_MAX) b->a3[bar] = (int64_t)p->count[part];
    if (dtype) b->a4[bar] = dtype;
    RS_TRY(algorithm(c, part, &b->a5[bar], err));
    int64_t at, dur;
    if (rs_span_place(t, p->launched[part], p->launched[part], &at, &dur)) b->a6[bar] = at;
    return RS_OK;
}

static enum rs_status add_part(struct rs_collect *c, uint32_t part, struct rs_err *err)
{
    struct rs_timeline *t = c->t;
    const struct rs_model *m = t->model;
    const struct rs_parts *p = &m->parts;
    uint32_t op = p->op[part], member = p->member[part], group = t->group_of_member[member], lane, bar;
    bool is_new;
    struct stretch s;
    if (t->options.filter && !rs_filter_rank(t->options.filter, m, member)) return RS_OK;
    if (group == RS_NONE || !stretch_of(t, part, &s)) return RS_OK;
    RS_TRY(rs_collect_lane(c, group, RS_ROW_OPERATIONS, 0, &lane, &is_new, err));
    if (is_new) RS_TRY(rs_timeline_text(t, &c->lanes[lane].label, err, "operations"));
    uint16_t func = rs_bar_func(m, part);
    uint8_t kind = t->index->func_kind[func < m->strings.n ? func : 0];
    RS_TRY(rs_collect_bar(c, lane, kind, s.from, s.to, &bar, err));
    if (bar == RS_NONE) return RS_OK;
    t->bar_of_part[part] = bar;
    struct rs_bars *b = c->bars;
    b->op[bar] = t->op_number[op];
    int64_t room = t->span - b->start[bar] - b->dur[bar];
    b->fade[bar] = s.fade < room ? s.fade : room;
    unsigned flags = s.flags;
    if (p->flags[part] & RS_PART_MISMATCH) flags |= RS_BAR_MISMATCH;
    if (p->flags[part] & RS_PART_HELPED) flags |= RS_BAR_HELPED;
    bool clocked = (m->ops.flags[op] & RS_OP_CLOCKED) && p->start[part] != RS_TIME_NONE;
    if (clocked && rs_op_last_part(m, op) == part) flags |= RS_BAR_LAST;
    b->flags[bar] = (uint8_t)flags;
    /* Two clocks may err: nothing is told below that, as in `ops`. */
    int64_t wait = clocked ? rs_part_wait(m, part) : 0, error = m->ops.error[op];
    bool told = wait > 0 && (error <= 0 || (uint64_t)wait >= 2 * (uint64_t)error);
    if (told) b->wait[bar] = wait < b->dur[bar] ? wait : b->dur[bar];
    if (kind == RS_BAR_OTHER) RS_TRY(rs_index_string(t, func, &b->name[bar], err));
    return set_arguments(c, bar, part, err);
}

enum rs_status rs_collect_parts(struct rs_collect *c, struct rs_err *err)
{
    const struct rs_by_proc *parts = &c->t->index->parts;
    if (!rs_collect_wants(c, RS_ROW_OPERATIONS)) return RS_OK;
    for (uint32_t i = parts->from[c->proc]; i < parts->from[c->proc + 1]; i++) RS_TRY(add_part(c, parts->rows[i], err));
    return RS_OK;
}

#include "timeline/stretch.h"

#include "join/op_facts.h"
#include "join/waits.h"
#include "timeline/index.h"
#include "timeline/span.h"

/* `to` is the lower bound of the end, and `before` the upper one. */
static void bound(const struct rs_timeline *t, struct rs_stretch *s, int64_t before)
{
    s->flags |= RS_BAR_END_BOUNDED;
    if (before == RS_TIME_NONE || before <= s->to) return;
    s->fade = rs_time_minus(before, s->to);
    if (t->options.to_bound) s->to = before;
}

/* When a part began, comparable with the other ranks' bars. If a kernel's start is known on another rank, the start of
 * a proxy operation is not comparable: it is ahead of the kernel, which may not have begun yet. */
static int64_t began_at(const struct rs_timeline *t, uint32_t part)
{
    const struct rs_parts *p = &t->model->parts;
    bool other = p->start_source[part] != RS_FROM_KERNEL && t->index->by_kernel[p->op[part]];
    return other ? RS_TIME_NONE : p->start[part];
}

bool rs_stretch_of(const struct rs_timeline *t, uint32_t part, struct rs_stretch *s)
{
    const struct rs_model *m = t->model;
    const struct rs_parts *p = &m->parts;
    *s = (struct rs_stretch){.from = began_at(t, part)};
    if (s->from == RS_TIME_NONE) {
        s->from = p->launched[part] != RS_TIME_NONE ? p->launched[part] : p->enqueued[part];
        bool late = p->end[part] != RS_TIME_NONE && s->from > p->end[part]; /* reported when it was over */
        if (p->start[part] != RS_TIME_NONE && (s->from == RS_TIME_NONE || late)) s->from = p->start[part];
        s->flags = RS_BAR_START_UNKNOWN;
    }
    if (s->from == RS_TIME_NONE) return false;
    s->to = s->from;
    if (t->opening.waits && t->opening.waits[part]) { /* it never ended: it was given up, or the recording ended */
        int64_t heard = rs_proc_heard(t, m->members[p->member[part]].proc);
        s->to = p->before[part] != RS_TIME_NONE && p->before[part] < heard ? p->before[part] : heard;
        if (s->to < s->from) s->to = s->from;
        s->flags |= RS_BAR_OPEN;
        return true;
    }
    int64_t least = p->end[part] != RS_TIME_NONE ? p->end[part] : p->after[part];
    if (least != RS_TIME_NONE && least > s->to) s->to = least;
    switch (rs_part_ending(m, part)) {
    case RS_ENDING_KNOWN:
        if (p->end[part] < s->from) s->flags |= RS_BAR_END_BOUNDED; /* a launch that was reported when it was over */
        break;
    case RS_ENDING_BOUNDED: /* an end reported too early is close to it: not extended to the next operation */
        bound(t, s, p->end[part] == RS_TIME_NONE ? p->before[part] : RS_TIME_NONE);
        break;
    case RS_ENDING_OPEN: {
        int64_t heard = rs_proc_heard(t, m->members[p->member[part]].proc);
        if (heard > s->to) s->to = heard;
        s->flags |= RS_BAR_OPEN;
        break;
    }
    case RS_ENDING_UNKNOWN: s->flags |= RS_BAR_END_BOUNDED; break;
    }
    return true;
}

static bool is_clocked(const struct rs_model *m, uint32_t part)
{
    return (m->ops.flags[m->parts.op[part]] & RS_OP_CLOCKED) && m->parts.start[part] != RS_TIME_NONE;
}

/* Whether a part was still waiting when its recording ended: another rank did not arrive. */
static bool is_still_waiting(const struct rs_timeline *t, uint32_t part)
{
    const struct rs_model *m = t->model;
    return t->index->awaits[m->parts.op[part]] && m->parts.start[part] != RS_TIME_NONE &&
           rs_part_ending(m, part) == RS_ENDING_OPEN;
}

int64_t rs_stretch_wait(const struct rs_timeline *t, uint32_t part)
{
    const struct rs_model *m = t->model;
    struct rs_stretch s;
    if (t->opening.waits && t->opening.waits[part]) return rs_stretch_of(t, part, &s) ? rs_time_minus(s.to, s.from) : 0;
    if (is_still_waiting(t, part) && rs_stretch_of(t, part, &s) && !(s.flags & RS_BAR_START_UNKNOWN))
        return rs_time_minus(s.to, s.from);
    if (!is_clocked(m, part)) return 0;
    /* Nothing is claimed below the clock error, as in `ops`. */
    int64_t wait = rs_part_wait(m, part);
    bool significant = wait > 0 && wait >= rs_op_least(m, m->parts.op[part]);
    return significant ? wait : 0;
}

bool rs_stretch_is_last(const struct rs_timeline *t, uint32_t part)
{
    const struct rs_model *m = t->model;
    return is_clocked(m, part) && rs_op_last_part(m, m->parts.op[part]) == part;
}

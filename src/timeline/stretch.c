#include "timeline/stretch.h"

#include "join/waits.h"
#include "timeline/index.h"
#include "timeline/span.h"

/* `to` is the lower bound of the end, and `before` the upper one. */
static void bound(struct rs_stretch *s, int64_t before)
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

bool rs_stretch_of(const struct rs_timeline *t, uint32_t part, struct rs_stretch *s)
{
    const struct rs_model *m = t->model;
    const struct rs_parts *p = &m->parts;
    *s = (struct rs_stretch){.from = began_at(t, part)};
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

static bool is_clocked(const struct rs_model *m, uint32_t part)
{
    return (m->ops.flags[m->parts.op[part]] & RS_OP_CLOCKED) && m->parts.start[part] != RS_TIME_NONE;
}

int64_t rs_stretch_wait(const struct rs_timeline *t, uint32_t part)
{
    const struct rs_model *m = t->model;
    if (!is_clocked(m, part)) return 0;
    /* Two clocks may err: nothing is told below that, as in `ops`. */
    int64_t wait = rs_part_wait(m, part), error = m->ops.error[m->parts.op[part]];
    bool told = wait > 0 && (error <= 0 || (uint64_t)wait >= 2 * (uint64_t)error);
    return told ? wait : 0;
}

bool rs_stretch_is_last(const struct rs_timeline *t, uint32_t part)
{
    const struct rs_model *m = t->model;
    return is_clocked(m, part) && rs_op_last_part(m, m->parts.op[part]) == part;
}

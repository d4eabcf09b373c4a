#include "join/op_facts.h"

#include "base/bisect.h"
#include "join/durations.h"
#include "join/totals.h"
#include "join/waits.h"
#include "nccl/abi.h"

/* ---- ranks ---- */

static bool is_later(int64_t a, int64_t b)
{
    return a != RS_TIME_NONE && (b == RS_TIME_NONE || a > b);
}

static struct rs_op_rank rank_of_part(const struct rs_parts *p, uint32_t part)
{
    bool ended = p->end[part] != RS_TIME_NONE;
    return (struct rs_op_rank){.part = part,
                               .parts = 1,
                               .start = p->start[part],
                               .end = p->end[part],
                               .after = ended ? RS_TIME_NONE : p->after[part],
                               .before = ended ? RS_TIME_NONE : p->before[part],
                               .end_source = ended ? p->end_source[part] : RS_FROM_NOTHING,
                               .open = (p->flags[part] & RS_PART_OPEN) != 0};
}

/* Adds a part of a fan-out. The end of all is the latest, if each is known; otherwise the known and bounded ends bound
 * it. */
static void take_part(const struct rs_model *m, struct rs_op_rank *r, const struct rs_op_rank *one)
{
    bool known = r->end != RS_TIME_NONE && one->end != RS_TIME_NONE;
    int64_t before = r->end != RS_TIME_NONE ? r->end : r->before;
    int64_t others = one->end != RS_TIME_NONE ? one->end : one->before;
    if (!known) {
        int64_t after = r->end != RS_TIME_NONE ? r->end : r->after;
        int64_t other = one->end != RS_TIME_NONE ? one->end : one->after;
        r->after = is_later(other, after) ? other : after;
        r->before = before == RS_TIME_NONE || others == RS_TIME_NONE ? RS_TIME_NONE : others > before ? others : before;
        r->end = RS_TIME_NONE;
        r->end_source = RS_FROM_NOTHING;
    } else if (one->end > r->end) {
        r->end = one->end;
        r->end_source = one->end_source;
    }
    if (one->start != RS_TIME_NONE && (r->start == RS_TIME_NONE || rs_start_is_better(m, one->part, r->part))) {
        r->start = one->start;
        r->part = one->part;
    }
    r->open |= one->open;
}

bool rs_op_next_rank(const struct rs_model *m, uint32_t op, uint32_t *at, struct rs_op_rank *r)
{
    if (*at >= m->ops.nparts[op]) return false;
    const uint32_t *order = m->order + m->ops.part[op];
    uint32_t from = m->ops.part[op] + *at, first = order[(*at)++], n = 1;
    *r = rank_of_part(&m->parts, first);
    r->op = op;
    r->at = from;
    bool self = m->parts.flags[first] & RS_PART_SELF; /* has no times, and needs none if there are others */
    if (m->ops.kind[op] != RS_OP_FANOUT) return true;
    for (; *at < m->ops.nparts[op] && m->parts.member[order[*at]] == m->parts.member[first]; ++*at, n++) {
        uint32_t other = order[*at];
        if (m->parts.flags[other] & RS_PART_SELF) continue;
        const struct rs_op_rank one = rank_of_part(&m->parts, other);
        if (self)
            *r = one;
        else
            take_part(m, r, &one);
        self = false;
    }
    r->op = op;
    r->at = from;
    r->parts = n;
    return true;
}

enum rs_ending rs_part_ending(const struct rs_model *m, uint32_t part)
{
    const struct rs_parts *p = &m->parts;
    if (rs_part_has_ended(m, part)) return RS_ENDING_KNOWN;
    int64_t least = p->end[part] != RS_TIME_NONE ? p->end[part] : p->after[part];
    if (p->before[part] != RS_TIME_NONE && p->before[part] >= least) return RS_ENDING_BOUNDED;
    const struct rs_proc *proc = rs_part_proc(m, part);
    if (proc->ended == RS_END_WELL || proc->ended == RS_END_IDLE || p->end[part] != RS_TIME_NONE)
        return RS_ENDING_UNKNOWN;
    bool dumped = rs_tool_has(proc->tool, RS_CAP_DUMP) && !(p->flags[part] & RS_PART_DONE);
    return dumped || (p->flags[part] & RS_PART_OPEN) ? RS_ENDING_OPEN : RS_ENDING_UNKNOWN;
}

int64_t rs_op_rank_duration(const struct rs_model *m, const struct rs_op_rank *r)
{
    int64_t duration = rs_part_duration(m, r->part);
    /* An end that is reported too early: the operation continued. */
    bool spans = r->start != RS_TIME_NONE && r->end >= r->start && rs_part_has_ended(m, r->part);
    return duration == RS_TIME_NONE && spans ? rs_time_minus(r->end, r->start) : duration;
}

int64_t rs_op_part_wait(const struct rs_model *m, uint32_t part, int64_t shortest)
{
    if (shortest == RS_TIME_NONE) return rs_part_wait(m, part);
    return rs_time_minus(rs_part_duration(m, part), shortest);
}

int64_t rs_op_rank_wait(const struct rs_model *m, const struct rs_op_rank *r, int64_t shortest)
{
    if (m->ops.kind[r->op] != RS_OP_FANOUT) return rs_op_part_wait(m, r->part, shortest);
    int64_t longest = RS_TIME_NONE, at_most = RS_TIME_NONE;
    for (uint32_t i = 0; i < r->parts && rs_op_is_compared(m, r->op); i++) {
        uint32_t part = m->order[r->at + i];
        /* If several share a kernel, some tools know only when the first began; the others may have waited longer. */
        if (m->parts.start[part] == RS_TIME_NONE && !(m->parts.flags[part] & RS_PART_SELF)) return RS_TIME_NONE;
        /* A proxy operation is posted long before its kernel starts: it does not count if the kernel is known. */
        if (m->parts.start_source[part] != m->parts.start_source[r->part]) continue;
        int64_t wait = rs_part_wait(m, part);
        if (wait > longest) longest = wait;
        if (!rs_part_may_have_left(m, part)) continue;
        wait = rs_time_minus(m->ops.last[m->parts.op[part]], m->parts.start[part]);
        if (wait > at_most) at_most = wait;
    }
    return at_most > longest ? RS_TIME_NONE : longest; /* a send may have waited longer, or not at all */
}

bool rs_proc_requested(const struct rs_proc *p, int64_t at)
{
    uint32_t low = 0, high = at == RS_TIME_NONE ? 0 : p->ncovers;
    RS_BISECT(low, high, mid, p->covers[mid].from <= at);
    return low && at <= p->covers[low - 1].to && (p->covers[low - 1].mask & RS_KERNEL_CH);
}

bool rs_op_not_measured(const struct rs_model *m, uint32_t op)
{
    const struct rs_parts *p = &m->parts;
    uint8_t kind = m->ops.kind[op];
    if (kind == RS_OP_CE || kind == RS_OP_API) return false; /* NCCL reports no kernels of theirs */
    for (uint32_t i = 0; i < m->ops.nparts[op]; i++) {
        uint32_t part = m->order[m->ops.part[op] + i];
        const struct rs_proc *proc = rs_part_proc(m, part);
        /* At the edge of a window network events may be requested while KernelCh is not: a proxy's start is no measurement. */
        bool timed = p->start[part] != RS_TIME_NONE && p->start_source[part] == RS_FROM_KERNEL;
        if (!timed && proc->windows && !(p->flags[part] & RS_PART_SELF) && !rs_proc_requested(proc, p->enqueued[part]))
            return true;
    }
    return false;
}

uint32_t rs_op_ranks(const struct rs_model *m, uint32_t op)
{
    if (m->ops.kind[op] != RS_OP_FANOUT) return m->ops.nparts[op];
    const uint32_t *order = m->order + m->ops.part[op];
    uint32_t n = 0;
    for (uint32_t i = 0; i < m->ops.nparts[op]; i++)
        n += !i || m->parts.member[order[i]] != m->parts.member[order[i - 1]];
    return n;
}

struct rs_op_waits rs_op_waits(const struct rs_model *m, uint32_t op)
{
    struct rs_op_waits w = {RS_TIME_NONE, RS_TIME_NONE};
    struct rs_op_rank rank;
    int64_t shortest = rs_op_shortest(m, op);
    double sum = 0;
    uint32_t n = 0;
    for (uint32_t at = 0; rs_op_next_rank(m, op, &at, &rank);) {
        int64_t wait = rs_op_rank_wait(m, &rank, shortest);
        if (wait == RS_TIME_NONE) continue;
        if (wait > w.longest_ns) w.longest_ns = wait;
        sum += (double)wait;
        n++;
    }
    if (n) w.mean_ns = (int64_t)(sum / n);
    return w;
}

const char *rs_part_lender(const struct rs_model *m, uint32_t part)
{
    uint32_t flags = m->parts.flags[part], op = m->parts.op[part];
    if (!(flags & (RS_PART_LENT_START | RS_PART_LENT_END))) return NULL;
    uint32_t clock = flags & RS_PART_LENT_END ? rs_part_end_domain(m, part) : rs_part_start_domain(m, part);
    if (m->ops.view[op] == RS_NONE && m->ops.fanout[op] != RS_NONE) op = m->ops.fanout[op];
    for (uint32_t view = m->ops.view[op]; view != RS_NONE; view = m->ops.view[view])
        for (uint32_t i = 0; i < m->ops.nparts[view]; i++)
            if (m->members[m->parts.member[m->order[m->ops.part[view] + i]]].gpu == clock)
                return rs_tool_name(m->comms[m->ops.comm[view]].tool);
    return NULL;
}

/* ---- the operation ---- */

bool rs_size_known(const struct rs_model *m, uint32_t op)
{
    const struct rs_comm_row *c = &m->comms[m->ops.comm[op]];
    if (m->ops.bytes[op] || (c->made_up && !m->parts.dtype[m->order[m->ops.part[op]]])) return m->ops.bytes[op] != 0;
    return rs_tool_has(c->tool, RS_CAP_SIZES);
}

struct rs_op_rate rs_op_rate(const struct rs_model *m, uint32_t op)
{
    int64_t transfer = rs_op_transfer(m, op), below = RS_TIME_NONE;
    if (transfer == RS_TIME_NONE) {
        if (rs_op_behind_last(m, op) != RS_TIME_NONE) below = rs_op_least(m, op);
        transfer = rs_op_shortest(m, op);
    }
    double algbw = transfer > 0 && rs_size_known(m, op) ? (double)m->ops.bytes[op] / (double)transfer
                                                        : -1; /* bytes per ns = GB/s */
    double factor = rs_op_busbw_factor(rs_model_text(m, m->ops.func[op]), m->comms[m->ops.comm[op]].nranks);
    return (struct rs_op_rate){transfer, below, algbw, algbw >= 0 && factor > 0 ? algbw * factor : -1};
}

const char *rs_op_wait_source(const struct rs_model *m, uint32_t op, int64_t shortest)
{
    if (shortest != RS_TIME_NONE) return "durations";
    return m->ops.flags[op] & RS_OP_CLOCKED ? "clocks" : NULL;
}

const char *rs_op_unknown(const struct rs_model *m, uint32_t op)
{
    if (m->parts.flags[m->order[m->ops.part[op]]] & RS_PART_LENT_START)
        return NULL; /* its times come from another tool */
    if (m->ops.kind[op] == RS_OP_API) return "NCCL reports only the call";
    if (m->ops.kind[op] == RS_OP_CE) return "copy engine: NCCL reports when it was enqueued, not when it ran";
    bool self = m->ops.kind[op] == RS_OP_PAIR && m->ops.root[op] == m->ops.dst[op];
    return self ? "sent to itself: NCCL reports no times" : NULL;
}

int32_t rs_op_next_absent(const struct rs_model *m, uint32_t op, const struct rs_presence_index *presence, bool missing,
                          int32_t *at)
{
    const struct rs_ops *o = &m->ops;
    if (o->flags[op] & RS_OP_WHOLE) return -1;
    int32_t nranks = m->comms[o->comm[op]].nranks, ends[2] = {o->root[op], o->dst[op]};
    enum { MOST = 1 << 17 }; /* no job is larger: a trace with 10^9 ranks is damaged */
    int32_t n = o->kind[op] == RS_OP_PAIR ? 2 : o->kind[op] == RS_OP_FANOUT ? 0 : nranks < MOST ? nranks : MOST;
    while (*at < n) {
        int32_t rank = o->kind[op] == RS_OP_PAIR ? ends[*at] : *at;
        ++*at;
        enum rs_presence is = rank < 0 ? RS_PRESENT : rs_presence(presence, m, op, rank);
        if (missing ? is == RS_MISSING : is == RS_NOT_RECORDED || is == RS_NO_RECORDING) return rank;
    }
    return -1;
}

/* ---- names ---- */

const char *rs_op_kind_name(uint8_t kind)
{
    static const char *const names[] = {[RS_OP_COLL] = "coll",
                                        [RS_OP_PAIR] = "pair",
                                        [RS_OP_FANOUT] = "fanout",
                                        [RS_OP_CE] = "ce",
                                        [RS_OP_API] = "api"};
    return names[kind];
}

const char *rs_time_source_name(uint8_t source)
{
    static const char *const names[] = {[RS_FROM_NOTHING] = NULL,
                                        [RS_FROM_KERNEL] = "kernel",
                                        [RS_FROM_CALLBACK] = "callback",
                                        [RS_FROM_PROXY] = "proxy"};
    return names[source];
}

const char *rs_comm_source(const struct rs_comm_row *c)
{
    return !c->hash ? NULL : c->made_up ? "process_group" : "nccl";
}

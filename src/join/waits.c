#include "join/waits.h"

#include <string.h>

#include "join/flow.h"
#include "join/totals.h"

enum { POLLING_NS = 20000 };

/* The clock error of a time; RS_TIME_NONE: not aligned. */
static int64_t error_of(const struct rs_model *m, uint32_t domain)
{
    return domain == RS_NONE ? RS_TIME_NONE : m->domains[domain].error_ns;
}

static int32_t rank_of(const struct rs_model *m, uint32_t part)
{
    return m->members[m->parts.member[part]].rank;
}

/* Every rank is present. */
static bool is_whole(const struct rs_model *m, uint32_t op)
{
    const struct rs_ops *o = &m->ops;
    if (o->kind[op] == RS_OP_PAIR) return o->nparts[op] == 2;
    if (o->kind[op] != RS_OP_FANOUT) return (int64_t)o->nparts[op] == m->comms[o->comm[op]].nranks;
    for (uint32_t i = 0; i < o->nparts[op]; i++)
        if (o->nparts[m->parts.op[m->order[o->part[op] + i]]] != 2) return false;
    return o->nparts[op] > 0;
}

/* Starts by rank. `second` is the latest of a rank other than the last. */
struct starts {
    int64_t second;
    uint32_t ranks;
    bool clocked;
};

/* The parts of one member, order[i .. end): its start is the earliest of theirs. */
static uint32_t member_start(const struct rs_model *m, const uint32_t *order, uint32_t i, uint32_t n,
                             uint32_t *earliest)
{
    const struct rs_parts *t = &m->parts;
    uint32_t member = t->member[order[i]];
    *earliest = RS_NONE;
    for (; i < n && t->member[order[i]] == member; i++) {
        if (t->start[order[i]] == RS_TIME_NONE) continue;
        if (*earliest == RS_NONE || rs_start_is_better(m, order[i], *earliest)) *earliest = order[i];
    }
    return i;
}

static struct starts find_starts(struct rs_model *m, uint32_t op)
{
    struct rs_ops *o = &m->ops;
    const struct rs_parts *t = &m->parts;
    const uint32_t *order = m->order + o->part[op];
    uint32_t n = o->nparts[op], island = RS_NONE, last = RS_NONE, clock = RS_NONE;
    bool one_clock = true, known = n > 0;
    uint8_t source = RS_FROM_NOTHING;
    struct starts s = {.second = RS_TIME_NONE, .clocked = n > 0};
    for (uint32_t i = 0, first; i < n;) {
        /* Several members may have one rank, or an unknown one: the starts of all are needed. */
        s.ranks += !i || rank_of(m, order[i]) != rank_of(m, order[i - 1]);
        i = member_start(m, order, i, n, &first);
        uint32_t domain = first == RS_NONE ? RS_NONE : rs_part_start_domain(m, first);
        if (domain == RS_NONE || error_of(m, domain) == RS_TIME_NONE) s.clocked = false;
        if (domain == RS_NONE) {
            known = false;
            continue;
        }
        /* A kernel's start and that of a proxy operation, where records of the kernel are lost, cannot be compared. */
        if (source == RS_FROM_NOTHING) source = t->start_source[first];
        if (source != t->start_source[first]) s.clocked = known = false;
        if (clock == RS_NONE) clock = domain;
        one_clock &= domain == clock;
        if (island == RS_NONE) island = m->domains[domain].island;
        if (island != m->domains[domain].island) s.clocked = false;
        int64_t start = t->start[first], error = error_of(m, domain);
        if (error > o->error[op]) o->error[op] = error;
        if (o->first[op] == RS_TIME_NONE || start < o->first[op]) o->first[op] = start;
        if (last == RS_NONE || start > o->last[op]) {
            s.second = o->last[op];
            o->last[op] = start;
            last = first;
        } else if (start > s.second) {
            s.second = start;
        }
    }
    if (known && one_clock) { /* several ranks on one GPU, or traces of one host: nothing to align */
        s.clocked = true;
        o->error[op] = RS_ONE_CLOCK_NS;
    }
    /* The proxy thread reports times only when it polls. */
    if (source != RS_FROM_KERNEL && o->error[op] < POLLING_NS) o->error[op] = POLLING_NS;
    if (s.clocked && s.ranks > 1) o->last_part[op] = last;
    return s;
}

/* The latest end, if all are known. Also for a fan-out: its end is the latest of all ranks. */
static void find_end(struct rs_model *m, uint32_t op)
{
    struct rs_ops *o = &m->ops;
    int64_t latest = RS_TIME_NONE;
    for (uint32_t i = 0; i < o->nparts[op]; i++) {
        uint32_t part = m->order[o->part[op] + i];
        int64_t end = m->parts.end[part];
        /* A send to itself has no times, and is done before sends to others. */
        if (end == RS_TIME_NONE && o->kind[op] == RS_OP_FANOUT && (m->parts.flags[part] & RS_PART_SELF)) continue;
        if (end == RS_TIME_NONE) return;
        if (end > latest) latest = end;
    }
    o->end[op] = latest;
}

/* Every part has ended, though the time may be unknown. */
static bool is_done(const struct rs_model *m, uint32_t op)
{
    for (uint32_t i = 0; i < m->ops.nparts[op]; i++) {
        uint32_t part = m->order[m->ops.part[op] + i];
        if (m->parts.end[part] == RS_TIME_NONE && !(m->parts.flags[part] & RS_PART_DONE)) return false;
    }
    return true;
}

bool rs_ends_before(const struct rs_model *m, uint32_t b, uint32_t a)
{
    const struct rs_parts *t = &m->parts;
    uint32_t to = rs_part_end_domain(m, b), from = rs_part_start_domain(m, a);
    int64_t end_error = error_of(m, to), start_error = error_of(m, from);
    if (!rs_part_has_ended(m, b) || end_error == RS_TIME_NONE || start_error == RS_TIME_NONE) return false;
    if (m->domains[to].island != m->domains[from].island) return false;
    /* Unsigned: errors of damaged clocks may be arbitrarily large. */
    return t->start[a] > t->end[b] &&
           (uint64_t)rs_time_minus(t->start[a], t->end[b]) > (uint64_t)end_error + (uint64_t)start_error;
}

/* An end before the latest start that it depends on. A fan-out follows from its pairs. */
static bool has_violation(const struct rs_model *m, uint32_t op)
{
    const struct rs_ops *o = &m->ops;
    const uint32_t *order = m->order + o->part[op];
    uint32_t last = RS_NONE;
    for (uint32_t i = 0; o->kind[op] == RS_OP_FANOUT && i < o->nparts[op]; i++)
        if (o->flags[m->parts.op[order[i]]] & RS_OP_VIOLATION) return true;
    if (o->kind[op] == RS_OP_FANOUT || o->nparts[op] < 2) return false;
    for (uint32_t i = 0; i < o->nparts[op]; i++) {
        uint32_t p = order[i];
        if (m->parts.start[p] == RS_TIME_NONE || !rs_part_is_needed(m, op, p)) continue;
        if (last == RS_NONE || m->parts.start[p] > m->parts.start[last]) last = p;
    }
    for (uint32_t i = 0; last != RS_NONE && i < o->nparts[op]; i++)
        if (order[i] != last && rs_part_needs(m, op, order[i]) && rs_ends_before(m, order[i], last)) return true;
    return false;
}

void rs_waits_find(struct rs_model *m)
{
    struct rs_ops *o = &m->ops;
    for (uint32_t op = 0; op < o->n; op++) { /* pairs precede the fan-outs that use them */
        struct starts s = find_starts(m, op);
        find_end(m, op);
        unsigned flags = o->flags[op];
        if (is_whole(m, op)) flags |= RS_OP_WHOLE;
        if ((flags & RS_OP_WHOLE) && (o->end[op] != RS_TIME_NONE || is_done(m, op))) flags |= RS_OP_COMPLETE;
        if (s.clocked) flags |= RS_OP_CLOCKED;
        if (has_violation(m, op)) flags |= RS_OP_VIOLATION;
        o->flags[op] = (uint8_t)flags;
        if (!rs_op_is_compared(m, op))
            o->last_part[op] = RS_NONE;
        else if (rs_is_tie(rs_time_minus(o->last[op], s.second), o->error[op]))
            o->flags[op] |= RS_OP_TIE;
    }
}

bool rs_start_is_better(const struct rs_model *m, uint32_t a, uint32_t b)
{
    const struct rs_parts *t = &m->parts;
    return t->start_source[a] != t->start_source[b] ? t->start_source[a] < t->start_source[b]
                                                    : t->start[a] < t->start[b];
}

/* A part that ended before the last arrived: the latest time until which it waited for those it needs. */
static int64_t needed_until(const struct rs_model *m, uint32_t op, uint32_t part)
{
    const struct rs_parts *t = &m->parts;
    const uint32_t *order = m->order + m->ops.part[op];
    enum rs_flow flow = rs_func_flow(m, m->ops.func[op]);
    int32_t root = m->ops.root[op];
    if (m->ops.kind[op] != RS_OP_COLL || root < 0) return t->end[part];
    if (flow == RS_FLOW_TO_ROOT && rank_of(m, part) != root) return t->start[part];
    if (flow != RS_FLOW_FROM_ROOT) return t->end[part];
    uint32_t i = (uint32_t)root < m->ops.nparts[op] ? (uint32_t)root : m->ops.nparts[op] - 1; /* parts are by rank */
    while (i && rank_of(m, order[i]) > root) i--;
    if (rank_of(m, order[i]) != root || t->start[order[i]] > t->end[part]) return t->end[part];
    return t->start[order[i]];
}

bool rs_op_has_absent_ranks(const struct rs_model *m, uint32_t op)
{
    return m->comms[m->ops.comm[op]].nranks > 0 && !(m->ops.flags[op] & RS_OP_WHOLE);
}

bool rs_part_may_have_left(const struct rs_model *m, uint32_t part)
{
    const struct rs_parts *t = &m->parts;
    return t->kind[part] == RS_PART_SEND && t->op[part] != RS_NONE && !rs_part_has_ended(m, part) &&
           t->start[part] != RS_TIME_NONE && t->start[part] < m->ops.last[t->op[part]];
}

int64_t rs_part_wait(const struct rs_model *m, uint32_t part)
{
    const struct rs_parts *t = &m->parts;
    uint32_t op = t->op[part];
    if (op == RS_NONE) return RS_TIME_NONE;
    bool alone = m->comms[m->ops.comm[op]].nranks == 1 && (m->ops.flags[op] & RS_OP_CLOCKED);
    if (!rs_op_is_compared(m, op)) return alone ? 0 : RS_TIME_NONE;
    uint32_t last = m->ops.last_part[op];
    if (last != RS_NONE && t->start_source[last] != t->start_source[part]) return RS_TIME_NONE;
    int64_t until = m->ops.last[op];
    if (rs_part_may_have_left(m, part)) return RS_TIME_NONE;
    if (rs_part_has_ended(m, part) && t->end[part] < until) until = needed_until(m, op, part);
    int64_t wait = rs_time_minus(until, t->start[part]);
    return wait < 0 ? 0 : wait;
}

uint32_t rs_op_last_part(const struct rs_model *m, uint32_t op)
{
    return rs_op_has_absent_ranks(m, op) || (m->ops.flags[op] & RS_OP_TIE) ? RS_NONE : m->ops.last_part[op];
}

/* If the kernels of a pair or fan-out report their end too early, the arrival of the data is unknown. */
static bool has_early_end(const struct rs_model *m, uint32_t op)
{
    if (m->ops.kind[op] != RS_OP_PAIR && m->ops.kind[op] != RS_OP_FANOUT) return false;
    for (uint32_t i = 0; i < m->ops.nparts[op]; i++) {
        uint32_t part = m->order[m->ops.part[op] + i];
        if (m->parts.end[part] != RS_TIME_NONE && !rs_part_has_ended(m, part)) return true;
    }
    return false;
}

int64_t rs_op_behind_last(const struct rs_model *m, uint32_t op)
{
    const struct rs_ops *o = &m->ops;
    if (has_early_end(m, op)) return RS_TIME_NONE;
    bool known = (o->flags[op] & RS_OP_CLOCKED) && (o->flags[op] & RS_OP_COMPLETE) && o->end[op] != RS_TIME_NONE;
    if (!known) return RS_TIME_NONE;
    int64_t transfer = rs_time_minus(o->end[op], o->last[op]);
    return transfer < 0 ? RS_TIME_NONE : transfer;
}

int64_t rs_op_transfer(const struct rs_model *m, uint32_t op)
{
    int64_t transfer = rs_op_behind_last(m, op);
    return transfer == RS_TIME_NONE || transfer < rs_op_least(m, op) ? RS_TIME_NONE : transfer;
}

double rs_op_busbw_factor(const char *func, int32_t nranks)
{
    if (nranks < 1) return 1;
    double others = (double)(nranks - 1) / nranks;
    if (!strcmp(func, "AllReduce")) return 2 * others;
    if (!strcmp(func, "AllGather") || !strcmp(func, "ReduceScatter") || !strcmp(func, "AlltoAll")) return others;
    return 1;
}

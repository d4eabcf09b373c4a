#include "join/overlay_lend.h"

#include <stdlib.h>

#include "join/overlay.h"
#include "join/p2p_streams.h"

#define SLACK_NS INT64_C(50000) /* by which two may see a kernel start at different times, besides clock errors */
#define ERROR_MOST INT64_C(1000000000) /* ns: clocks that are worse prove nothing */

struct work {
    struct rs_model *m;
    uint32_t *before, *after; /* by part: those of its member launched before and after it; RS_NONE */
};

/* ---- neighbours ---- */

/* Parts of a member come in the order of its calls; those of one group call have the same neighbours. */
static enum rs_status find_neighbours(struct work *w, struct rs_err *err)
{
    struct turn {
        uint32_t last, other; /* the latest part, and the latest of another group */
    } *turns = malloc(((size_t)w->m->nmembers + 1) * sizeof *turns);
    if (!turns) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    const struct rs_parts *p = &w->m->parts;
    for (int back = 0; back < 2; back++) {
        uint32_t *side = back ? w->after : w->before;
        for (uint32_t i = 0; i < w->m->nmembers; i++) turns[i] = (struct turn){RS_NONE, RS_NONE};
        for (uint32_t k = 0; k < p->n; k++) {
            uint32_t i = back ? p->n - 1 - k : k;
            side[i] = RS_NONE;
            if (p->member[i] == RS_NONE) continue;
            struct turn *t = &turns[p->member[i]];
            if (t->last != RS_NONE && !rs_launched_together(p, t->last, i)) t->other = t->last;
            t->last = i;
            side[i] = t->other;
        }
    }
    free(turns);
    return RS_OK;
}

/* ---- whether it is the same ---- */

/* How far times of two clocks may be wrong against each other; false: they cannot be compared. */
static bool error_between(const struct rs_model *m, uint32_t a, uint32_t b, int64_t *error)
{
    if (a == RS_NONE || b == RS_NONE || m->domains[a].island != m->domains[b].island) return false;
    int64_t x = m->domains[a].error_ns, y = m->domains[b].error_ns;
    *error = x + y;
    return x >= 0 && y >= 0 && x <= ERROR_MOST && y <= ERROR_MOST;
}

static bool is_after(int64_t t, int64_t earlier, int64_t slack)
{
    return t == RS_TIME_NONE || earlier == RS_TIME_NONE || rs_time_minus(t, earlier) >= -slack;
}

/* Calls of both: the framework's comes before NCCL's, and after NCCL's before. Unknown calls say nothing. */
static bool calls_agree(const struct work *w, uint32_t part, uint32_t other, bool *known)
{
    const struct rs_model *m = w->m;
    const struct rs_parts *p = &m->parts;
    int64_t error, call = p->enqueued[other], own = p->enqueued[part];
    *known =
        call != RS_TIME_NONE && own != RS_TIME_NONE && !p->captured[part] && !p->captured[other] &&
        error_between(m, rs_member_host_domain(m, p->member[part]), rs_member_host_domain(m, p->member[other]), &error);
    if (!*known) return true;
    error += SLACK_NS;
    uint32_t before = w->before[part];
    return is_after(own, call, error) && (before == RS_NONE || is_after(call, p->enqueued[before], error));
}

/* Times of the lender's kernel between what the leading tool knows of the part and of its neighbours. */
static bool times_fit(const struct work *w, uint32_t part, uint32_t other)
{
    const struct rs_model *m = w->m;
    const struct rs_parts *p = &m->parts;
    uint32_t clock = rs_part_start_domain(m, other), before = w->before[part], after = w->after[part];
    int64_t error, start = p->start[other], end = p->end[other];
    if (start > end) return false;
    int64_t launched = p->flags[part] & RS_PART_LAUNCH_END ? RS_TIME_NONE : p->launched[part];
    if (launched == RS_TIME_NONE) launched = p->enqueued[part];
    if (p->captured[part]) launched = RS_TIME_NONE;
    bool hosts = error_between(m, clock, rs_member_host_domain(m, p->member[part]), &error);
    if (launched != RS_TIME_NONE && !(hosts && is_after(start, launched, error + SLACK_NS))) return false;
    uint32_t own = m->members[p->member[part]].gpu;
    if (own == RS_NONE || !error_between(m, clock, own, &error)) return true; /* it has no GPU times at all */
    error += SLACK_NS;
    bool from =
        before == RS_NONE || p->start_source[before] != RS_FROM_KERNEL || is_after(start, p->start[before], error);
    bool to = after == RS_NONE || p->start_source[after] != RS_FROM_KERNEL || is_after(p->start[after], end, error);
    return from && to;
}

/* Whether the timer that a part started by was another operation's: what the driver saw of the kernel (its times came
 * on the host's clock) is elsewhere, by more than clocks can be wrong. Recordings need no such witness: their reader
 * knows the order of launches and channels. */
static bool is_stale(const struct work *w, uint32_t part, uint32_t other, bool called)
{
    const struct rs_model *m = w->m;
    const struct rs_parts *p = &m->parts;
    uint32_t a = rs_part_start_domain(m, part), b = rs_part_start_domain(m, other);
    int64_t error;
    if (!called || rs_tool_has(rs_part_proc(m, part)->tool, RS_CAP_STALE_TIMERS) || a == RS_NONE ||
        m->domains[a].rigid || !m->domains[b].rigid || !error_between(m, a, b, &error))
        return false;
    int64_t most = 2 * error + SLACK_NS;
    return !is_after(p->start[part], p->start[other], most) || !is_after(p->start[other], p->start[part], most);
}

/* ---- lending ---- */

/* Returns whether it lent all that the part lacks. */
static bool lend_from(struct work *w, uint32_t part, uint32_t other)
{
    struct rs_model *m = w->m;
    struct rs_parts *p = &m->parts;
    bool called, starts = p->start[part] == RS_TIME_NONE, ends = !rs_part_has_ended(m, part), stale = false;
    if (!calls_agree(w, part, other, &called)) return false;
    if (!starts && p->start_source[part] == RS_FROM_KERNEL) stale = is_stale(w, part, other, called);
    if (!starts && !ends && !stale) return true;
    int64_t error;
    bool own = !starts && !stale;
    if (own) { /* only the end is unknown: it must be the end of what started then */
        if (!error_between(m, rs_part_start_domain(m, part), rs_part_start_domain(m, other), &error)) return false;
        error += SLACK_NS;
        if (!is_after(p->start[other], p->start[part], error) || !is_after(p->start[part], p->start[other], error))
            return false;
        if (p->end[other] < p->start[part]) return false;
    }
    if (!stale && !times_fit(w, part, other)) return false;
    if (starts && !ends && !is_after(p->end[part], p->start[other], 0)) return false;
    if (stale) {
        m->domains[m->members[p->member[part]].gpu].stale++;
        p->flags[part] |= RS_PART_STALE;
        ends = ends || p->end_source[part] == RS_FROM_KERNEL;
    }
    if (starts || stale) {
        p->start[part] = p->start[other];
        p->start_source[part] = RS_FROM_KERNEL;
        p->flags[part] |= RS_PART_LENT_START;
    }
    if (ends) {
        p->end[part] = p->end[other];
        p->end_source[part] = RS_FROM_KERNEL;
        p->flags[part] |= RS_PART_LENT_END;
        p->flags[part] &= ~(uint32_t)RS_PART_END_EARLY;
    }
    return true;
}

static void lend(struct work *w, uint32_t op, uint32_t part)
{
    const struct rs_model *m = w->m;
    const struct rs_parts *p = &m->parts;
    const struct rs_member *x = &m->members[p->member[part]];
    for (uint32_t v = m->ops.view[op]; v != RS_NONE; v = m->ops.view[v]) {
        int32_t rank = rs_overlay_rank(m, m->ops.comm[op], x->rank, m->ops.comm[v]);
        uint32_t other = rank < 0 ? RS_NONE : rs_op_part_of(m, v, rank);
        if (other == RS_NONE || p->start_source[other] != RS_FROM_KERNEL || p->end_source[other] != RS_FROM_KERNEL)
            continue;
        if (m->procs[m->members[p->member[other]].proc].same != x->proc) continue;
        if (lend_from(w, part, other)) return;
    }
}

static void lend_all(struct work *w)
{
    const struct rs_model *m = w->m;
    for (uint32_t op = 0; op < m->ops.n; op++) {
        if (m->ops.view[op] == RS_NONE || m->ops.over[op] != RS_NONE) continue;
        for (uint32_t i = 0; i < m->ops.nparts[op]; i++) {
            uint32_t part = m->order[m->ops.part[op] + i];
            /* Pairs that were seen as such have their times already. */
            bool own = m->ops.kind[op] == RS_OP_FANOUT && m->ops.view[m->parts.op[part]] != RS_NONE;
            if (!own && !(m->parts.flags[part] & RS_PART_SELF)) lend(w, op, part);
        }
    }
}

enum rs_status rs_overlay_lend(struct rs_model *m, struct rs_err *err)
{
    size_t n = (size_t)m->parts.n + 1;
    struct work w = {.m = m, .before = malloc(n * sizeof *w.before), .after = malloc(n * sizeof *w.after)};
    enum rs_status status = w.before && w.after ? RS_OK : rs_fail(err, RS_NO_MEMORY, "out of memory");
    if (status == RS_OK) status = find_neighbours(&w, err);
    if (status == RS_OK) lend_all(&w);
    free(w.before);
    free(w.after);
    return status;
}

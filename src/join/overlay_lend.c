#include "join/overlay_lend.h"

#include "join/overlay.h"

#define STALE_NS INT64_C(50000) /* by which two may see a kernel start at different times, besides clock errors */
#define ERROR_MOST INT64_C(1000000000) /* ns: clocks that are worse prove nothing */

/* Whether the timer that a part started by was another operation's: what the driver saw of the kernel (its times came
 * on the host's clock) is elsewhere, by more than clocks can be wrong. */
static bool is_stale(const struct rs_model *m, uint32_t part, uint32_t other)
{
    const struct rs_parts *p = &m->parts;
    if (p->start_source[part] != RS_FROM_KERNEL || p->start[part] == RS_TIME_NONE) return false;
    uint32_t a = rs_part_start_domain(m, part), b = rs_part_start_domain(m, other);
    if (a == RS_NONE || b == RS_NONE || m->domains[a].rigid || !m->domains[b].rigid) return false;
    int64_t x = m->domains[a].error_ns, y = m->domains[b].error_ns;
    if (m->domains[a].island != m->domains[b].island || x < 0 || y < 0 || x > ERROR_MOST || y > ERROR_MOST)
        return false;
    int64_t most = 2 * (x + y) + STALE_NS, d = rs_time_minus(p->start[part], p->start[other]);
    return d > most || d < -most;
}

static void lend(struct rs_model *m, uint32_t op, uint32_t part)
{
    struct rs_parts *p = &m->parts;
    const struct rs_member *x = &m->members[p->member[part]];
    bool lacks = p->start[part] == RS_TIME_NONE || !rs_part_has_ended(m, part); /* or ended when nobody knows */
    for (uint32_t v = m->ops.view[op]; v != RS_NONE; v = m->ops.view[v]) {
        int32_t rank = rs_overlay_rank(m, m->ops.comm[op], x->rank, m->ops.comm[v]);
        uint32_t other = rank < 0 ? RS_NONE : rs_op_part_of(m, v, rank);
        if (other == RS_NONE || p->start_source[other] != RS_FROM_KERNEL || p->end_source[other] != RS_FROM_KERNEL)
            continue;
        if (m->procs[m->members[p->member[other]].proc].same != x->proc) continue;
        bool stale = is_stale(m, part, other);
        if (!lacks && !stale) continue;
        if (stale) m->domains[x->gpu].stale++;
        p->start[part] = p->start[other];
        p->end[part] = p->end[other];
        p->start_source[part] = p->end_source[part] = RS_FROM_KERNEL;
        p->flags[part] |= RS_PART_LENT | (stale ? RS_PART_STALE : 0);
        p->flags[part] &= ~(uint32_t)RS_PART_END_EARLY;
        return;
    }
}

void rs_overlay_lend(struct rs_model *m)
{
    for (uint32_t op = 0; op < m->ops.n; op++) {
        if (m->ops.view[op] == RS_NONE || m->ops.over[op] != RS_NONE) continue;
        for (uint32_t i = 0; i < m->ops.nparts[op]; i++) {
            uint32_t part = m->order[m->ops.part[op] + i];
            /* Pairs that were seen as such have their times already. */
            bool own = m->ops.kind[op] == RS_OP_FANOUT && m->ops.view[m->parts.op[part]] != RS_NONE;
            if (!own && !(m->parts.flags[part] & RS_PART_SELF)) lend(m, op, part);
        }
    }
}

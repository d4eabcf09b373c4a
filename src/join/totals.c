#include "join/totals.h"

#include "join/waits.h"

bool rs_op_is_compared(const struct rs_model *m, uint32_t op)
{
    const struct rs_ops *o = &m->ops;
    if (o->comm[op] != RS_NONE && m->comms[o->comm[op]].vague) return false;
    if (!(o->flags[op] & RS_OP_CLOCKED) || (o->flags[op] & (RS_OP_DOUBLE | RS_OP_VIOLATION))) return false;
    /* Absent ranks may never have arrived. If the operation ended, they did, and the recorded ranks are compared. */
    if (rs_op_has_absent_ranks(m, op) && o->end[op] == RS_TIME_NONE) return false;
    return o->last_part[op] != RS_NONE && rs_time_is_span(o->first[op], o->last[op]);
}

void rs_totals_begin(struct rs_totals *t)
{
    *t = (struct rs_totals){.error_ns = -1};
}

void rs_totals_add(struct rs_totals *t, const struct rs_model *m, uint32_t op)
{
    if (!rs_op_counts(m, op)) return;
    uint8_t flags = m->ops.flags[op];
    t->ops++;
    t->whole += (flags & RS_OP_WHOLE) != 0;
    t->complete += (flags & RS_OP_COMPLETE) != 0;
    t->mismatches += (flags & RS_OP_MISMATCH) != 0;
    t->violations += (flags & RS_OP_VIOLATION) != 0;
    t->doubles += (flags & RS_OP_DOUBLE) != 0;
    if (!rs_op_is_compared(m, op)) return;
    t->compared++;
    t->ties += (flags & RS_OP_TIE) != 0;
    if (m->ops.error[op] > t->error_ns) t->error_ns = m->ops.error[op];
}

void rs_totals_find(struct rs_totals *t, const struct rs_model *m, const struct rs_filter *filter)
{
    rs_totals_begin(t);
    for (uint32_t op = 0; op < m->ops.n; op++)
        if (rs_op_counts(m, op) && rs_filter_op(filter, m, op)) rs_totals_add(t, m, op);
}

#include "join/durations.h"

#include "join/flow.h"

int64_t rs_part_duration(const struct rs_model *m, uint32_t part)
{
    const struct rs_tag *tag = rs_part_tag(m, part);
    return tag && tag->duration_ns >= 0 ? tag->duration_ns : RS_TIME_NONE;
}

int64_t rs_op_shortest(const struct rs_model *m, uint32_t op)
{
    const struct rs_ops *o = &m->ops;
    if (!m->ntags || o->kind[op] != RS_OP_COLL || o->nparts[op] < 2) return RS_TIME_NONE;
    if (!(o->flags[op] & RS_OP_WHOLE) || (o->flags[op] & (RS_OP_CLOCKED | RS_OP_MISMATCH))) return RS_TIME_NONE;
    if (rs_func_flow(m, o->func[op]) != RS_FLOW_ALL) return RS_TIME_NONE;
    int64_t shortest = RS_TIME_NONE;
    for (uint32_t i = 0; i < o->nparts[op]; i++) {
        int64_t d = rs_part_duration(m, m->order[o->part[op] + i]);
        if (d == RS_TIME_NONE) return RS_TIME_NONE;
        if (shortest == RS_TIME_NONE || d < shortest) shortest = d;
    }
    return shortest;
}

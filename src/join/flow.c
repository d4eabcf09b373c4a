#include "join/flow.h"

#include <string.h>

enum rs_flow rs_func_flow(const struct rs_model *m, uint16_t func)
{
    static const struct {
        const char *name;
        enum rs_flow flow;
    } all[] = {
        {"AllReduce", RS_FLOW_ALL},  {"AllGather", RS_FLOW_ALL},       {"ReduceScatter", RS_FLOW_ALL},
        {"AlltoAll", RS_FLOW_ALL},   {"Broadcast", RS_FLOW_FROM_ROOT}, {"Scatter", RS_FLOW_FROM_ROOT},
        {"Reduce", RS_FLOW_TO_ROOT}, {"Gather", RS_FLOW_TO_ROOT},
    };
    const char *name = rs_model_text(m, func);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (!strcmp(name, all[i].name)) return all[i].flow;
    return RS_FLOW_UNKNOWN;
}

static bool is_root(const struct rs_model *m, uint32_t op, uint32_t part)
{
    return m->ops.root[op] >= 0 && m->members[m->parts.member[part]].rank == m->ops.root[op];
}

bool rs_part_is_needed(const struct rs_model *m, uint32_t op, uint32_t part)
{
    if (m->ops.kind[op] == RS_OP_PAIR) return m->parts.kind[part] == RS_PART_SEND;
    enum rs_flow flow = rs_func_flow(m, m->ops.func[op]);
    return flow == RS_FLOW_FROM_ROOT ? is_root(m, op, part) : flow != RS_FLOW_UNKNOWN;
}

bool rs_part_needs(const struct rs_model *m, uint32_t op, uint32_t part)
{
    if (m->ops.kind[op] == RS_OP_PAIR) return m->parts.kind[part] == RS_PART_RECV;
    enum rs_flow flow = rs_func_flow(m, m->ops.func[op]);
    return flow == RS_FLOW_TO_ROOT ? is_root(m, op, part) : flow != RS_FLOW_UNKNOWN;
}

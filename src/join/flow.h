/* Which ranks of an operation depend on which: whose start must precede whose end. Functions that only read the model. */
#ifndef RS_JOIN_FLOW_H
#define RS_JOIN_FLOW_H

#include "model/model.h"

enum rs_flow {
    RS_FLOW_UNKNOWN, /* a function that is not listed */
    RS_FLOW_ALL, /* no rank ends before all have started: ends coincide */
    RS_FLOW_FROM_ROOT, /* no other rank ends before the root has started */
    RS_FLOW_TO_ROOT, /* the root does not end before all have started */
};

/* By the id of a function's name. */
enum rs_flow rs_func_flow(const struct rs_model *m, uint16_t func);
static inline bool rs_func_has_root(const struct rs_model *m, uint16_t func)
{
    enum rs_flow flow = rs_func_flow(m, func);
    return flow == RS_FLOW_FROM_ROOT || flow == RS_FLOW_TO_ROOT;
}

/* Whether other parts of a collective or pair cannot end before this one has started; and whether this one cannot end
 * before others have started. No, if the root is unknown. */
bool rs_part_is_needed(const struct rs_model *m, uint32_t op, uint32_t part);
bool rs_part_needs(const struct rs_model *m, uint32_t op, uint32_t part);

#endif

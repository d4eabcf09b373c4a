#include "model/activities.h"

#include "model/model.h"

enum rs_status rs_model_activity(struct rs_model *m, uint32_t *index, struct rs_err *err)
{
    struct rs_activities *t = &m->activities;
    RS_COLUMNS_ADD(RS_ACTIVITY_COLUMNS, index, err);
    t->part[*index] = t->launch[*index] = RS_NONE;
    return RS_OK;
}

void rs_activities_free(struct rs_activities *t)
{
    RS_COLUMNS_FREE(RS_ACTIVITY_COLUMNS)
    *t = (struct rs_activities){0};
}

enum rs_status rs_model_lane(struct rs_model *m, const struct rs_lane *row, uint32_t *index, struct rs_err *err)
{
    RS_ROOM(m->lanes, m->nlanes, m->cap_lanes, err);
    *index = m->nlanes;
    m->lanes[m->nlanes++] = *row;
    return RS_OK;
}

const char *rs_activity_kind_name(uint8_t kind)
{
    static const char *const names[RS_ACTIVITY_KINDS] = {"compute", "comm",   "copy", "set",    "range", "gpu_range",
                                                         "step",    "launch", "sync", "memory", "call"};
    return kind < RS_ACTIVITY_KINDS ? names[kind] : "unknown";
}

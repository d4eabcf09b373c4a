#include "model/activities.h"

#include <stdlib.h>

#include "base/room.h"
#include "model/model.h"

#define GROW_COLUMN(type, name)                                                                                        \
    {                                                                                                                  \
        cap = t->cap; /* the same for all columns */                                                                   \
        RS_ROOM(t->name, t->n, cap, err);                                                                              \
    }
#define ZERO_COLUMN(type, name) t->name[i] = (type)0;
#define FREE_COLUMN(type, name) free(t->name);

enum rs_status rs_model_activity(struct rs_model *m, uint32_t *index, struct rs_err *err)
{
    struct rs_activities *t = &m->activities;
    if (t->n == t->cap) {
        uint32_t cap = t->cap;
        RS_ACTIVITY_COLUMNS(GROW_COLUMN)
        t->cap = cap;
    }
    uint32_t i = *index = t->n++;
    RS_ACTIVITY_COLUMNS(ZERO_COLUMN)
    t->part[i] = t->launch[i] = RS_NONE;
    return RS_OK;
}

void rs_activities_free(struct rs_activities *t)
{
    RS_ACTIVITY_COLUMNS(FREE_COLUMN)
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

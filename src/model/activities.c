#include "model/activities.h"

#include <string.h>
#include <strings.h>

#include "model/model.h"

void rs_model_activity(struct rs_model *m, uint32_t *index)
{
    struct rs_activities *t = &m->activities;
    RS_COLUMNS_ADD(RS_ACTIVITY_COLUMNS, index);
    t->part[*index] = t->launch[*index] = RS_NONE;
}

void rs_activities_free(struct rs_activities *t)
{
    RS_COLUMNS_FREE(RS_ACTIVITY_COLUMNS)
    *t = (struct rs_activities){0};
}

void rs_model_lane(struct rs_model *m, const struct rs_lane *row, uint32_t *index)
{
    RS_ROOM(m->lanes, m->nlanes, m->cap_lanes);
    *index = m->nlanes;
    m->lanes[m->nlanes++] = *row;
}

/* Words before the number, in any case. */
static const char *const steps[] = {"profilerstep", "step",          "train_step", "training_step",
                                    "train step",   "training step", "iteration",  "iter"};

uint32_t rs_step_number(const char *name)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        size_t n = strlen(steps[i]);
        if (strncasecmp(name, steps[i], n)) continue;
        const char *p = name + n + strspn(name + n, " _#:=-");
        uint64_t v = 0;
        size_t digits = strspn(p, "0123456789");
        if (!digits || p[digits]) continue;
        for (size_t k = 0; k < digits && v < RS_NONE; k++) v = v * 10 + (uint64_t)(p[k] - '0');
        if (v < RS_NONE) return (uint32_t)v;
    }
    return RS_NONE;
}

const char *rs_activity_kind_name(uint8_t kind)
{
    static const char *const names[RS_ACTIVITY_KINDS] = {"compute", "comm",   "copy", "set",    "range", "gpu_range",
                                                         "step",    "launch", "sync", "memory", "call"};
    return kind < RS_ACTIVITY_KINDS ? names[kind] : "unknown";
}

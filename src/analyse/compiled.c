#include "analyse/compiled.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

enum kind { OTHER, REGION, COMPILATION };

static enum kind kind_of(const struct rs_model *m, uint32_t x)
{
    const char *name = rs_model_name_text(m, m->activities.name[x]);
    if (m->activities.kind[x] != RS_ACT_RANGE) return OTHER;
    if (!strncmp(name, "Torch-Compiled Region", 21)) return REGION;
    return !strncmp(name, "_compile.compile_inner", 22) ? COMPILATION : OTHER;
}

/* How often the frame of a region had been compiled before: 1 in "Torch-Compiled Region: 0/1"; 0 without a number. */
static unsigned long times_before(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash ? strtoul(slash + 1, NULL, 10) : 0;
}

/* By thread (lane): the end of its last region that is not inside another, and the length of a compilation whose region
 * has not come yet. */
static uint64_t *slot(struct rs_map *map, uint32_t lane, int64_t first)
{
    uint64_t *at;
    rs_map_at(map, lane, (uint64_t)first, &at);
    return at;
}

static void take_region(struct rs_compiled *c, const struct rs_model *m, uint32_t x, struct rs_map *until,
                        struct rs_map *compiling)
{
    const struct rs_activities *a = &m->activities;
    uint64_t *end = slot(until, a->lane[x], RS_TIME_NONE), *length = slot(compiling, a->lane[x], RS_TIME_NONE);
    if (a->start[x] < (int64_t)*end) {
        c->breaks++;
    } else {
        c->regions++;
        *end = (uint64_t)a->end[x];
    }
    if ((int64_t)*length == RS_TIME_NONE) return;
    c->recompilations += times_before(rs_model_name_text(m, a->name[x])) > 0;
    if ((int64_t)*length == c->longest_ns) c->longest_name = a->name[x];
    *length = (uint64_t)RS_TIME_NONE;
}

void rs_compiled_find(struct rs_compiled *c, const struct rs_rank_tracks *t, const struct rs_rank_track *track,
                      const struct rs_filter *filter)
{
    const struct rs_model *m = t->view->model;
    const struct rs_activities *a = &m->activities;
    struct rs_map until = {0}, compiling = {0};
    *c = (struct rs_compiled){0};
    for (uint32_t i = 0; i < track->nhost; i++) {
        uint32_t x = track->host[i];
        enum kind kind = kind_of(m, x);
        if (kind == OTHER || !rs_filter_time(filter, a->start[x])) continue;
        if (kind == REGION) {
            take_region(c, m, x, &until, &compiling);
            continue;
        }
        int64_t ns = rs_time_minus(a->end[x], a->start[x]);
        c->compilations++;
        c->compile_ns = rs_time_plus(c->compile_ns, ns);
        if (ns > c->longest_ns) {
            c->longest_ns = ns;
            c->longest_name = 0;
        }
        *slot(&compiling, a->lane[x], RS_TIME_NONE) = (uint64_t)ns;
    }
    rs_map_free(&until);
    rs_map_free(&compiling);
}

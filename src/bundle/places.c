#include "bundle/places.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LANES(X)                                                                                                       \
    X(uint32_t, group)                                                                                                 \
    X(uint32_t, sub)                                                                                                   \
    X(uint32_t, label)                                                                                                 \
    X(uint32_t, bars)                                                                                                  \
    X(uint8_t, row)

enum rs_status rs_lane_list_add(struct rs_lane_list *t, const struct rs_bar_lane *lane, struct rs_err *err)
{
    uint32_t i;
    if (t->n && lane->group < t->group[t->n - 1])
        return rs_fail(err, RS_FAILED, "a mistake in ringscope: lanes are not in the order of their groups");
    RS_COLUMNS_ADD(LANES, &i, err);
    t->group[i] = lane->group;
    t->sub[i] = lane->sub;
    t->label[i] = lane->label;
    t->bars[i] = lane->n;
    t->row[i] = lane->row;
    return RS_OK;
}

void rs_lane_list_lanes(const struct rs_lane_list *p, struct rs_packer *table)
{
    rs_packer_begin(table, p->n);
    rs_packer_u32(table, "group", p->group, RS_COLUMN_DELTA);
    rs_packer_u8(table, "kind", p->row);
    rs_packer_u32(table, "sub", p->sub, RS_COLUMN_PLANES);
    rs_packer_u32(table, "label", p->label, RS_COLUMN_PLANES);
    rs_packer_u32(table, "bars", p->bars, RS_COLUMN_PLANES);
}

struct groups {
    uint32_t *parent, *label, *from, *to;
    uint8_t *level;
    double *error;
};

/* Lanes of each group and of those below it. Groups are in drawing order, so what is below one lies right behind it,
 * and so do the lanes. */
static void find_lanes(const struct rs_lane_list *p, const struct rs_timeline *t, struct groups *g)
{
    uint32_t lane = 0;
    for (uint32_t i = 0; i < t->ngroups; i++) {
        while (lane < p->n && p->group[lane] < i) lane++;
        g->from[i] = lane;
        while (lane < p->n && p->group[lane] == i) lane++;
        g->to[i] = lane;
    }
    for (uint32_t i = t->ngroups; i-- > 0;) { /* children before their parents */
        uint32_t parent = t->groups[i].parent;
        if (parent < i && g->to[i] > g->to[parent]) g->to[parent] = g->to[i];
    }
}

static void fill_groups(const struct rs_timeline *t, struct groups *g, struct rs_packer *table)
{
    for (uint32_t i = 0; i < t->ngroups; i++) {
        const struct rs_group *x = &t->groups[i];
        g->parent[i] = x->parent;
        g->level[i] = x->level;
        g->label[i] = x->label;
        g->error[i] = x->error_ns == RS_TIME_NONE ? NAN : (double)x->error_ns;
    }
    rs_packer_begin(table, t->ngroups);
    rs_packer_u32(table, "parent", g->parent, RS_COLUMN_PLANES);
    rs_packer_u8(table, "level", g->level);
    rs_packer_u32(table, "label", g->label, RS_COLUMN_PLANES);
    rs_packer_u32(table, "lane_from", g->from, RS_COLUMN_DELTA);
    rs_packer_u32(table, "lane_to", g->to, RS_COLUMN_DELTA);
    rs_packer_f32(table, "error", g->error);
}

enum rs_status rs_lane_list_groups(const struct rs_lane_list *p, const struct rs_timeline *t, struct rs_packer *table,
                                   struct rs_err *err)
{
    size_t n = (size_t)t->ngroups + 1;
    struct groups g = {malloc(n * sizeof *g.parent),
                       malloc(n * sizeof *g.label),
                       malloc(n * sizeof *g.from),
                       malloc(n * sizeof *g.to),
                       malloc(n),
                       malloc(n * sizeof *g.error)};
    bool fine = g.parent && g.label && g.from && g.to && g.level && g.error;
    if (fine) {
        find_lanes(p, t, &g);
        fill_groups(t, &g, table);
    }
    free(g.parent);
    free(g.label);
    free(g.from);
    free(g.to);
    free(g.level);
    free(g.error);
    return fine ? RS_OK : rs_fail(err, RS_NO_MEMORY, "out of memory");
}

enum rs_status rs_lane_list_flags(const struct rs_timeline *t, struct rs_packer *table, struct rs_err *err)
{
    size_t n = (size_t)t->nflags + 1;
    double *time = malloc(n * sizeof *time);
    uint32_t *group = malloc(n * sizeof *group), *label = malloc(n * sizeof *label);
    uint8_t *kind = malloc(n);
    bool fine = time && group && label && kind;
    for (uint32_t i = 0; fine && i < t->nflags; i++) {
        time[i] = (double)t->flags[i].at;
        group[i] = t->flags[i].group;
        label[i] = t->flags[i].label;
        kind[i] = t->flags[i].destroyed;
    }
    if (fine) {
        rs_packer_begin(table, t->nflags);
        rs_packer_f64(table, "time", time);
        rs_packer_u32(table, "group", group, RS_COLUMN_PLANES);
        rs_packer_u32(table, "label", label, RS_COLUMN_PLANES);
        rs_packer_u8(table, "kind", kind);
    }
    free(time);
    free(group);
    free(label);
    free(kind);
    return fine ? RS_OK : rs_fail(err, RS_NO_MEMORY, "out of memory");
}

void rs_lane_list_free(struct rs_lane_list *t)
{
    RS_COLUMNS_FREE(LANES)
    *t = (struct rs_lane_list){0};
}

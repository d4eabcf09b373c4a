#ifndef RS_NO_OTF2

#include "export/otf2/places.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"

static const char *label(const struct rs_otf2 *o, uint32_t group)
{
    return rs_texts_at(&o->t->texts, o->t->groups[group].label);
}

/* The group of a level above a group, or itself; RS_NONE: it has none. */
static uint32_t above(const struct rs_timeline *t, uint32_t group, enum rs_group_level level)
{
    while (group != RS_NONE && t->groups[group].level != level) group = t->groups[group].parent;
    return group;
}

/* ---- processes ---- */

/* "rank 3 · GPU 1, pid 4711": with its rank, where it has one only. */
static enum rs_status add_process(struct rs_otf2 *o, uint32_t group, struct rs_err *err)
{
    const struct rs_timeline *t = o->t;
    uint32_t ranks = 0, rank = RS_NONE;
    for (uint32_t g = group + 1; g < t->ngroups && t->groups[g].level > RS_GROUP_PROCESS; g++)
        if (t->groups[g].level == RS_GROUP_RANK) ranks++, rank = g;
    char name[512];
    snprintf(name, sizeof name, "%.200s%s%.200s", ranks == 1 ? label(o, rank) : "", ranks == 1 ? ", " : "",
             label(o, group));
    struct rs_otf2_group row = {.type = OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                .node = o->host_node[t->groups[group].host],
                                .creator = OTF2_UNDEFINED_LOCATION_GROUP};
    rs_otf2_text(&o->archive, name, &row.name);
    return rs_otf2_group(&o->archive, &row, &o->proc_group[t->groups[group].proc], err);
}

static enum rs_status add_processes(struct rs_otf2 *o, struct rs_err *err)
{
    const struct rs_timeline *t = o->t;
    uint32_t nodes = 1; /* 0 is the run */
    for (uint32_t g = 0; g < t->ngroups; g++) {
        if (t->groups[g].level == RS_GROUP_HOST) o->host_node[t->groups[g].host] = nodes++;
        if (t->groups[g].level == RS_GROUP_PROCESS) RS_TRY(add_process(o, g, err));
    }
    return RS_OK;
}

/* GPUs of a process, when something needs them. */
static enum rs_status gpu_group(struct rs_otf2 *o, uint32_t rank, uint32_t process, uint32_t *index, struct rs_err *err)
{
    const uint64_t *known = rs_map_find(&o->gpu_groups, rank);
    if (known) {
        *index = (uint32_t)*known;
        return RS_OK;
    }
    struct rs_otf2_group row = {
        .type = OTF2_LOCATION_GROUP_TYPE_ACCELERATOR, .node = o->archive.groups[process].node, .creator = process};
    rs_otf2_text(&o->archive, label(o, rank), &row.name);
    RS_TRY(rs_otf2_group(&o->archive, &row, index, err));
    rs_map_put(&o->gpu_groups, rank, *index);
    return RS_OK;
}

enum rs_status rs_otf2_place_row(struct rs_otf2 *o, uint32_t group, bool on_gpu, const char *what,
                                 struct rs_otf2_location *row, struct rs_err *err)
{
    const struct rs_timeline *t = o->t;
    const struct rs_group *g = &t->groups[group];
    uint32_t rank = above(t, group, RS_GROUP_RANK);
    bool comm = g->level == RS_GROUP_COMM && rank != RS_NONE;
    const struct rs_member *whose = g->member != RS_NONE ? &t->model->members[g->member] : NULL;
    char name[1024];
    snprintf(name, sizeof name, "%.200s%s%.300s%s%.300s", comm ? label(o, rank) : "", comm ? ", " : "", label(o, group),
             what ? ", " : "", what ? what : "");
    *row = (struct rs_otf2_location){.group = o->proc_group[g->proc],
                                     .type = OTF2_LOCATION_TYPE_CPU_THREAD,
                                     .error_ns = g->error_ns,
                                     .job_rank = whose ? whose->global_rank : -1,
                                     .comm_rank = whose && g->level == RS_GROUP_COMM ? whose->rank : -1};
    if (on_gpu && rank != RS_NONE) {
        row->type = OTF2_LOCATION_TYPE_ACCELERATOR_STREAM;
        RS_TRY(gpu_group(o, rank, row->group, &row->group, err));
    }
    rs_otf2_text(&o->archive, name, &row->name);
    return RS_OK;
}

/* ---- members of communicators ---- */

static enum rs_status add_locations(struct rs_otf2 *o, uint32_t group, struct rs_err *err)
{
    o->location_of[group] = o->archive.nlocations;
    for (unsigned lane = 0; lane <= RS_OTF2_GROUPED; lane++) {
        char what[32];
        struct rs_otf2_location row;
        uint32_t index;
        if (!(o->plan.lanes[group] >> lane & 1)) continue;
        snprintf(what, sizeof what, lane == RS_OTF2_GROUPED ? "grouped" : "overlapping %u", lane);
        RS_TRY(rs_otf2_place_row(o, group, false, lane ? what : NULL, &row, err));
        RS_TRY(rs_otf2_location(&o->archive, &row, &index, err));
    }
    return RS_OK;
}

/* A rank that is not recorded is known by its rank of the job, else by its communicator. */
static uint64_t absent_key(const struct rs_model *m, uint32_t comm, int32_t rank)
{
    const struct rs_comm_row *c = &m->comms[comm];
    if (c->ranks && rank < c->nranks && c->ranks[rank] >= 0) return UINT64_C(1) << 63 | (uint32_t)c->ranks[rank];
    if (c->nranks > 0 && c->nranks == m->world) return UINT64_C(1) << 63 | (uint32_t)rank; /* that of all ranks */
    return (uint64_t)comm << 32 | (uint32_t)rank;
}

/* Only a few ranks of a large job may be recorded, and a location costs two files: further absent ranks share one. */
enum { MOST_ABSENT = 512 };

static enum rs_status add_absent(struct rs_otf2 *o, uint32_t comm, int32_t rank, struct rs_err *err)
{
    uint64_t key = absent_key(o->t->model, comm, rank);
    uint32_t index = o->archive.nlocations - 1; /* the last one, where it is shared */
    char name[96];
    if (rs_map_find(&o->absent, key)) return RS_OK;
    if (o->absences > MOST_ABSENT) {
        rs_map_put(&o->absent, key, index);
        return RS_OK;
    }
    struct rs_otf2_group group = {.type = OTF2_LOCATION_GROUP_TYPE_PROCESS, .creator = OTF2_UNDEFINED_LOCATION_GROUP};
    struct rs_otf2_location row = {
        .type = OTF2_LOCATION_TYPE_CPU_THREAD, .error_ns = INT64_MIN, .job_rank = -1, .comm_rank = -1};
    bool shared = o->absences++ == MOST_ABSENT, of_job = key >> 63;
    if (of_job && !shared) row.job_rank = (int32_t)(uint32_t)key;
    const char *why = rs_comm_member(o->t->model, comm, rank) == RS_NONE ? "not recorded" : "left out";
    if (shared)
        snprintf(name, sizeof name, "all further ranks (not recorded or left out)");
    else
        snprintf(name, sizeof name, "rank %u%s (%s)", of_job ? (unsigned)(uint32_t)key : (unsigned)rank,
                 of_job ? "" : " of a communicator", why);
    rs_otf2_text(&o->archive, name, &group.name);
    row.name = group.name;
    RS_TRY(rs_otf2_group(&o->archive, &group, &row.group, err));
    RS_TRY(rs_otf2_location(&o->archive, &row, &index, err));
    rs_map_put(&o->absent, key, index);
    return RS_OK;
}

uint32_t rs_otf2_member(const struct rs_otf2 *o, uint32_t comm, int32_t rank, unsigned lane)
{
    uint32_t group = rs_otf2_group_of(o->t, comm, rank);
    if (group == RS_NONE) return (uint32_t)rs_map_get(&o->absent, absent_key(o->t->model, comm, rank), 0);
    bool used = o->plan.lanes[group] >> lane & 1;
    return o->location_of[group] + (used ? rs_otf2_nth(o->plan.lanes[group], lane) : 0);
}

enum rs_status rs_otf2_places_init(struct rs_otf2 *o, struct rs_err *err)
{
    const struct rs_timeline *t = o->t;
    const struct rs_model *m = t->model;
    o->host_node = rs_zalloc((size_t)m->nhosts + 1, sizeof *o->host_node);
    o->proc_group = rs_zalloc((size_t)m->nprocs + 1, sizeof *o->proc_group);
    o->location_of = rs_zalloc((size_t)t->ngroups + 1, sizeof *o->location_of);
    RS_TRY(add_processes(o, err));
    for (uint32_t g = 0; g < t->ngroups; g++)
        if (o->plan.lanes[g]) RS_TRY(add_locations(o, g, err));
    for (uint32_t i = 0; i < o->plan.ncomms; i++) {
        uint32_t comm = o->plan.order[i];
        for (int32_t rank = 0; rank < o->plan.comms[comm].size; rank++)
            if (rs_otf2_group_of(t, comm, rank) == RS_NONE) RS_TRY(add_absent(o, comm, rank, err));
    }
    o->comm_locations = o->archive.nlocations;
    return RS_OK;
}

enum rs_status rs_otf2_places_finish(struct rs_otf2 *o, struct rs_err *err)
{
    struct rs_otf2_archive *a = &o->archive;
    for (uint32_t i = 0; i < a->ngroups; i++) {
        struct rs_otf2_location row = {
            .group = i, .type = OTF2_LOCATION_TYPE_CPU_THREAD, .error_ns = INT64_MIN, .job_rank = -1, .comm_rank = -1};
        uint32_t index;
        if (a->groups[i].type != OTF2_LOCATION_GROUP_TYPE_PROCESS || a->groups[i].threads) continue;
        rs_otf2_text(a, "nothing recorded", &row.name);
        RS_TRY(rs_otf2_location(a, &row, &index, err));
    }
    return RS_OK;
}

void rs_otf2_places_free(struct rs_otf2 *o)
{
    free(o->host_node);
    free(o->proc_group);
    free(o->location_of);
    rs_map_free(&o->absent);
    rs_map_free(&o->gpu_groups);
}

#endif

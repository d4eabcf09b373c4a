#include "export/csv/activities.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bisect.h"
#include "model/model.h"
#include "timeline/groups.h"
#include "timeline/index.h"
#include "timeline/passes.h"
#include "timeline/span.h"

/* The place of an activity among those of the process, which are in order; RS_NONE: it is not one of them. */
static uint32_t place_of(const struct rs_by_proc *all, uint32_t proc, uint32_t activity)
{
    uint32_t low = all->from[proc], end = all->from[proc + 1], high = end;
    RS_BISECT(low, high, mid, rs_by_proc_row(all, mid) < activity);
    return low < end && rs_by_proc_row(all, low) == activity ? low - all->from[proc] : RS_NONE;
}

/* Communicator and ranks: of a NCCL kernel those of the operation, of another the rank whose device it ran on. */
static void put_rank(struct rs_csv *c, const struct rs_model *m, uint32_t member, bool is_of_comm)
{
    const struct rs_member *x = member == RS_NONE ? NULL : &m->members[member];
    rs_csv_hex_or_empty(c, x && is_of_comm ? m->comms[x->comm].hash : 0);
    rs_csv_known(c, x && is_of_comm ? x->rank : -1);
    rs_csv_known(c, x ? x->global_rank : -1);
}

static void put_thread(struct rs_csv *c, const struct rs_lane *lane)
{
    bool on_stream = lane->kind == RS_LANE_STREAM;
    char stream[40];
    snprintf(stream, sizeof stream, "stream %" PRId64, lane->id);
    const char *name = lane->name ? lane->name : on_stream ? stream : "";
    size_t n = strlen(name);
    while (n && name[n - 1] == ' ') n--;
    rs_csv_known(c, on_stream ? -1 : lane->id);
    rs_csv_textn(c, n ? name : NULL, n);
}

static void put_row(struct rs_csv *c, const struct rs_timeline *t, uint32_t i, uint32_t op, uint32_t group,
                    uint64_t number, int64_t parent)
{
    const struct rs_model *m = t->model;
    const struct rs_activities *a = &m->activities;
    const struct rs_lane *lane = &m->lanes[a->lane[i]];
    const struct rs_proc *p = &m->procs[lane->proc];
    bool on_stream = lane->kind == RS_LANE_STREAM, ran = op != RS_NONE;
    rs_csv_text(c, rs_host_name(m, p->host));
    rs_csv_known(c, p->pid ? (int64_t)p->pid : -1);
    rs_csv_u64(c, number);
    rs_csv_text(c, rs_activity_kind_name(a->kind[i]));
    rs_csv_hex_or_empty(c, ran ? m->ops.id[t->ops[op]] : 0);
    put_rank(c, m, ran ? m->parts.member[a->part[i]] : on_stream ? t->groups[group].member : RS_NONE, ran);
    rs_csv_empty(c); /* handle */
    rs_csv_known(c, parent);
    rs_csv_empty(c); /* parent_handle */
    put_thread(c, lane);
    rs_csv_time(c, a->start[i]);
    rs_csv_time(c, a->end[i]);
    rs_csv_time(c, on_stream ? a->start[i] : RS_TIME_NONE);
    rs_csv_time(c, on_stream ? a->end[i] : RS_TIME_NONE);
    rs_csv_bool(c, false); /* stale_timer */
    rs_csv_bool(c, false); /* open */
    for (int k = 0; k < 5; k++) rs_csv_empty(c); /* channel, peer, direction, step, steps */
    rs_csv_known(c, a->bytes[i] && a->bytes[i] <= INT64_MAX ? (int64_t)a->bytes[i] : -1);
    rs_csv_empty(c); /* states */
    rs_csv_text(c, a->name[i] ? rs_model_name_text(m, a->name[i]) : NULL);
    rs_csv_line(c);
}

enum rs_status rs_csv_activities(struct rs_csv *c, const struct rs_timeline *t, uint32_t proc, uint64_t first,
                                 struct rs_err *err)
{
    const struct rs_model *m = t->model;
    const struct rs_activities *a = &m->activities;
    const struct rs_by_proc *all = &t->index->activities;
    for (uint32_t at = all->from[proc]; at < all->from[proc + 1]; at++) {
        uint32_t i = rs_by_proc_row(all, at), op;
        if (!rs_activity_passes(t, i, &op) || !rs_span_asked(t, a->start[i], a->end[i])) continue;
        const struct rs_lane *lane = &m->lanes[a->lane[i]];
        bool on_stream = lane->kind == RS_LANE_STREAM;
        uint32_t group = on_stream ? rs_group_of_device(t, proc, lane->device) : t->index->proc_group[proc];
        if (group == RS_NONE) continue; /* of a rank that does not pass */
        uint32_t launch = a->launch[i] < a->n ? place_of(all, proc, a->launch[i]) : RS_NONE;
        put_row(c, t, i, op, group, first + (at - all->from[proc]), launch == RS_NONE ? -1 : (int64_t)(first + launch));
        if (rs_csv_failed(c)) return rs_csv_finish(c, err);
    }
    return RS_OK;
}

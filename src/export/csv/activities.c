#include "export/csv/activities.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bisect.h"
#include "fields/event.h"
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
static void set_rank(struct rs_event_row *row, const struct rs_model *m, uint32_t member, bool is_of_comm)
{
    const struct rs_member *x = member == RS_NONE ? NULL : &m->members[member];
    row->comm = x && is_of_comm ? m->comms[x->comm].hash : 0;
    row->rank = x && is_of_comm ? x->rank : -1;
    row->global_rank = x ? x->global_rank : -1;
}

/* `stream`: room for its name. */
static void set_thread(struct rs_event_row *row, const struct rs_lane *lane, char stream[40])
{
    bool on_stream = lane->kind == RS_LANE_STREAM;
    snprintf(stream, 40, "stream %" PRId64, lane->id);
    row->thread = lane->name ? lane->name : on_stream ? stream : "";
    row->thread_len = strlen(row->thread);
    while (row->thread_len && row->thread[row->thread_len - 1] == ' ') row->thread_len--;
    row->tid = on_stream ? -1 : lane->id;
}

static void put_row(struct rs_csv *c, const struct rs_out_columns *columns, const struct rs_timeline *t, uint32_t i,
                    uint32_t op, uint32_t group, uint64_t number, int64_t parent)
{
    const struct rs_model *m = t->model;
    const struct rs_activities *a = &m->activities;
    const struct rs_lane *lane = &m->lanes[a->lane[i]];
    const struct rs_proc *p = &m->procs[lane->proc];
    bool on_stream = lane->kind == RS_LANE_STREAM, ran = op != RS_NONE;
    char stream[40];
    struct rs_event_row row = {
        .host = rs_host_name(m, p->host),
        .pid = p->pid,
        .number = number,
        .type = rs_activity_kind_name(a->kind[i]),
        .op = ran ? m->ops.id[t->ops[op]] : 0,
        .parent = parent,
        .start = a->start[i],
        .end = a->end[i],
        .gpu_start = on_stream ? a->start[i] : RS_TIME_NONE,
        .gpu_end = on_stream ? a->end[i] : RS_TIME_NONE,
        .channel = -1,
        .peer = -1,
        .is_send = -1,
        .step = -1,
        .steps = -1,
        .bytes = a->bytes[i] && a->bytes[i] <= INT64_MAX ? (int64_t)a->bytes[i] : -1,
        .args = a->name[i] ? rs_model_name_text(m, a->name[i]) : NULL,
    };
    set_rank(&row, m, ran ? m->parts.member[a->part[i]] : on_stream ? t->groups[group].member : RS_NONE, ran);
    set_thread(&row, lane, stream);
    rs_csv_fields(c, columns, &row);
    rs_csv_line(c);
}

enum rs_status rs_csv_activities(struct rs_csv *c, const struct rs_out_columns *columns, const struct rs_timeline *t,
                                 uint32_t proc, uint64_t first, struct rs_err *err)
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
        put_row(c, columns, t, i, op, group, first + (at - all->from[proc]),
                launch == RS_NONE ? -1 : (int64_t)(first + launch));
        if (rs_csv_failed(c)) return rs_csv_finish(c, err);
    }
    return RS_OK;
}

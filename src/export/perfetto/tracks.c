#include "export/perfetto/tracks.h"

#include "model/model.h"

void rs_pf_tracks_open(struct rs_pf_tracks *k, struct rs_packets *p, const struct rs_timeline *t,
                       const struct rs_rank_rows *rows)
{
    *k = (struct rs_pf_tracks){.packets = p, .t = t, .rows = rows, .tid = rows->n};
    k->next = rs_pf_tracks_counter(k, rows->n, 0);
}

void rs_pf_tracks_free(struct rs_pf_tracks *k)
{
    rs_wire_free(&k->track);
    rs_wire_free(&k->inner);
    rs_strbuf_free(&k->name);
    rs_lane_numbers_free(&k->lanes);
}

static uint64_t row_uuid(uint32_t row)
{
    return (uint64_t)row + 1;
}

static uint64_t comm_uuid(const struct rs_pf_tracks *k, uint32_t group)
{
    return (uint64_t)k->rows->n + 1 + group;
}

uint64_t rs_pf_tracks_counter(const struct rs_pf_tracks *k, uint32_t row, enum rs_rank_counter which)
{
    return (uint64_t)k->rows->n + 1 + k->t->ngroups + (uint64_t)row * RS_RANK_COUNTERS + which;
}

static void put_track(struct rs_pf_tracks *k)
{
    if (k->track.failed || k->inner.failed) k->packets->out.failed = true;
    rs_packets_plain(k->packets, PF_PACKET_TRACK_DESCRIPTOR, &k->track, -1);
}

/* ---- clocks ---- */

static void put_clock(struct rs_pf_tracks *k, uint32_t id, uint64_t at)
{
    rs_wire_clear(&k->inner);
    rs_wire_uint(&k->inner, PF_CLOCK_ID, id);
    rs_wire_uint(&k->inner, PF_CLOCK_TIMESTAMP, at);
    rs_wire_message(&k->track, PF_SNAPSHOT_CLOCKS, &k->inner);
}

/* The axis is wall time. */
static void put_clocks(struct rs_pf_tracks *k)
{
    uint64_t now = k->packets->base;
    rs_wire_clear(&k->track);
    put_clock(k, PF_BOOTTIME, now);
    put_clock(k, PF_REALTIME, now);
    rs_wire_uint(&k->track, PF_SNAPSHOT_PRIMARY, PF_BOOTTIME);
    rs_packets_plain(k->packets, PF_PACKET_CLOCK_SNAPSHOT, &k->track, -1);
}

/* ---- rows ---- */

/* The track of the whole trace says that rows are in our order. */
static void put_root(struct rs_pf_tracks *k)
{
    rs_wire_clear(&k->track);
    rs_wire_uint(&k->track, PF_TRACK_UUID, 0);
    rs_wire_uint(&k->track, PF_TRACK_PROCESS_ORDERING, PF_ROWS_EXPLICIT);
    rs_wire_uint(&k->track, PF_TRACK_THREAD_ORDERING, PF_ROWS_EXPLICIT);
    put_track(k);
}

static enum rs_status put_row(struct rs_pf_tracks *k, uint32_t row, struct rs_strbuf *label, struct rs_err *err)
{
    rs_strbuf_clear(label);
    rs_rank_row_label(k->rows, k->t, row, label);
    RS_TRY(rs_strbuf_check(label, err));
    rs_wire_clear(&k->inner);
    rs_wire_uint(&k->inner, PF_PROCESS_PID, row + 1);
    rs_wire_uint(&k->inner, PF_PROCESS_SORT, row);
    rs_wire_string(&k->inner, PF_PROCESS_NAME, rs_rank_row_name(k->rows, k->t, row));
    rs_wire_string(&k->inner, PF_PROCESS_LABELS, rs_strbuf_borrow(label));
    rs_wire_clear(&k->track);
    rs_wire_uint(&k->track, PF_TRACK_UUID, row_uuid(row));
    rs_wire_message(&k->track, PF_TRACK_PROCESS, &k->inner);
    rs_wire_uint(&k->track, PF_TRACK_CHILD_ORDERING, PF_CHILDREN_EXPLICIT);
    rs_wire_uint(&k->track, PF_TRACK_RANK, row);
    rs_wire_string(&k->track, PF_TRACK_DESCRIPTION, rs_strbuf_borrow(label));
    put_track(k);
    return RS_OK;
}

static void put_counter(struct rs_pf_tracks *k, uint32_t row, enum rs_rank_counter which)
{
    static const uint8_t units[RS_RANK_COUNTERS] = {
        [RS_COUNTER_BYTES] = PF_UNIT_BYTES, [RS_COUNTER_WAITING] = PF_UNIT_COUNT};
    rs_wire_clear(&k->inner);
    rs_wire_uint(&k->inner, PF_COUNTER_UNIT, units[which]);
    rs_wire_clear(&k->track);
    rs_wire_uint(&k->track, PF_TRACK_UUID, rs_pf_tracks_counter(k, row, which));
    rs_wire_uint(&k->track, PF_TRACK_PARENT, row_uuid(row));
    rs_wire_string(&k->track, PF_TRACK_NAME, rs_rank_counter_texts[which].name);
    rs_wire_message(&k->track, PF_TRACK_COUNTER, &k->inner);
    rs_wire_uint(&k->track, PF_TRACK_RANK, which);
    rs_wire_string(&k->track, PF_TRACK_DESCRIPTION, rs_rank_counter_texts[which].text);
    put_track(k);
}

static void put_comm(struct rs_pf_tracks *k, uint32_t group, uint32_t row)
{
    rs_wire_clear(&k->track);
    rs_wire_uint(&k->track, PF_TRACK_UUID, comm_uuid(k, group));
    rs_wire_uint(&k->track, PF_TRACK_PARENT, row_uuid(row));
    rs_wire_string(&k->track, PF_TRACK_NAME, rs_texts_at(&k->t->texts, k->t->groups[group].label));
    rs_wire_uint(&k->track, PF_TRACK_CHILD_ORDERING, PF_CHILDREN_EXPLICIT);
    rs_wire_uint(&k->track, PF_TRACK_RANK, (uint64_t)RS_RANK_COUNTERS + group);
    rs_wire_uint(&k->track, PF_TRACK_MERGE, PF_MERGE_NONE);
    put_track(k);
}

static void put_flag(struct rs_pf_tracks *k, const struct rs_timeline_flag *flag)
{
    rs_wire_clear(&k->inner);
    rs_wire_uint(&k->inner, PF_EVENT_TYPE, PF_INSTANT);
    rs_wire_uint(&k->inner, PF_EVENT_TRACK_UUID, comm_uuid(k, flag->group));
    rs_wire_string(&k->inner, PF_EVENT_CATEGORIES, flag->destroyed ? "destroyed" : "created");
    rs_wire_string(&k->inner, PF_EVENT_NAME, rs_texts_at(&k->t->texts, flag->label));
    rs_packets_plain(k->packets, PF_PACKET_TRACK_EVENT, &k->inner, flag->at);
}

enum rs_status rs_pf_tracks_head(struct rs_pf_tracks *k, struct rs_err *err)
{
    const struct rs_timeline *t = k->t;
    struct rs_strbuf label = {0};
    enum rs_status status = RS_OK;
    put_clocks(k);
    put_root(k);
    for (uint32_t row = 0; row < k->rows->n && status == RS_OK; row++) {
        status = put_row(k, row, &label, err);
        put_counter(k, row, RS_COUNTER_BYTES);
        put_counter(k, row, RS_COUNTER_WAITING);
    }
    rs_strbuf_free(&label);
    for (uint32_t g = 0; g < t->ngroups; g++)
        if (t->groups[g].level == RS_GROUP_COMM && k->rows->of_group[g] != RS_NONE)
            put_comm(k, g, k->rows->of_group[g]);
    for (uint32_t i = 0; i < t->nflags; i++)
        if (k->rows->of_group[t->flags[i].group] != RS_NONE) put_flag(k, &t->flags[i]);
    return status;
}

/* ---- lanes ---- */

void rs_pf_tracks_process(struct rs_pf_tracks *k)
{
    rs_lane_numbers_clear(&k->lanes);
}

enum rs_status rs_pf_tracks_lane(struct rs_pf_tracks *k, const struct rs_bar_lane *lane, uint64_t *uuid,
                                 struct rs_err *err)
{
    const struct rs_timeline *t = k->t;
    uint8_t level = t->groups[lane->group].level;
    uint32_t row = rs_rank_row_of(k->rows, lane);
    uint64_t *number;
    RS_TRY(rs_lane_number(&k->lanes, lane, &number, err));
    bool known = *number != 0;
    *uuid = *number = known ? *number : k->next++;
    if (known) return RS_OK;
    k->tid++;
    rs_strbuf_clear(&k->name);
    rs_rank_lane_name(t, lane, &k->name);
    if (k->name.failed) k->packets->out.failed = true;
    const char *label = rs_strbuf_borrow(&k->name);
    rs_wire_clear(&k->track);
    rs_wire_uint(&k->track, PF_TRACK_UUID, *uuid);
    if (level != RS_GROUP_COMM) { /* of the program's own, or of the GPU's */
        rs_wire_clear(&k->inner);
        rs_wire_uint(&k->inner, PF_THREAD_PID, row + 1);
        rs_wire_uint(&k->inner, PF_THREAD_TID, k->tid);
        rs_wire_string(&k->inner, PF_THREAD_NAME, label);
        rs_wire_message(&k->track, PF_TRACK_THREAD, &k->inner);
    } else {
        rs_wire_uint(&k->track, PF_TRACK_PARENT, comm_uuid(k, lane->group));
        rs_wire_string(&k->track, PF_TRACK_NAME, label);
    }
    rs_wire_uint(&k->track, PF_TRACK_RANK, rs_rank_lane_order(t, lane, true));
    put_track(k);
    return RS_OK;
}

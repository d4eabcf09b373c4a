#include "export/sqlite/rows.h"

/* ---- meta, notes, strings ---- */

#define KEY(key, value) ", " #key
static const char meta_keys[] =
#include "export/sqlite/meta_keys.inc"
    ;
#undef KEY

#define META_KEYS (meta_keys + 2) /* without the first comma */
#define RS_ROWS_FILE "export/sqlite/meta.inc"
#define RS_ROW struct rs_sql_meta_row
#define RS_GET(id) meta_##id
#define RS_FIELDS static const struct rs_out_field meta[]
#include "fields/table.inc"

#define RS_ROWS_FILE "export/sqlite/notes.inc"
#define RS_ROW struct rs_model_note
#define RS_GET(id) note_##id
#define RS_FIELDS static const struct rs_out_field notes[]
#include "fields/table.inc"

#define RS_ROWS_FILE "export/sqlite/strings.inc"
#define RS_ROW struct rs_sql_string_row
#define RS_GET(id) string_##id
#define RS_FIELDS static const struct rs_out_field strings[]
#include "fields/table.inc"

/* ---- ranks, statistics ---- */

void rs_sql_rank_row_make(struct rs_sql_rank_row *r, const struct rs_model *m, uint32_t id)
{
    uint32_t member = m->ranks[id].member;
    const struct rs_member *x = member == RS_NONE ? NULL : &m->members[member];
    *r = (struct rs_sql_rank_row){.m = m, .id = id, .bus_id = x && *x->bus_id ? x->bus_id : NULL};
    r->uuid = rs_uuid_text(x ? x->uuid : NULL, r->uuid_text);
}

#define RANK (&r->m->ranks[r->id])
#define RS_ROWS_FILE "export/sqlite/ranks.inc"
#define RS_ROW struct rs_sql_rank_row
#define RS_GET(id) rank_##id
#define RS_FIELDS static const struct rs_out_field ranks[]
#include "fields/table.inc"

static const char *const stat_kinds[] = {
    [RS_STAT_KERNEL] = "kernel",      [RS_STAT_COMM] = "comm",   [RS_STAT_COPY] = "copy",
    [RS_STAT_CALL] = "call",          [RS_STAT_RANGE] = "range", [RS_STAT_RANGE_WORK] = "range_work",
    [RS_STAT_OPERATION] = "operation"};

/* Of merged communicators, the primary one: the others have no row. */
static uint32_t communicator_of(const struct rs_sql_statistic_row *r)
{
    if (r->stat->member == RS_NONE) return RS_NONE;
    uint32_t comm = r->m->members[r->stat->member].comm;
    return comm == RS_NONE || r->m->comms[comm].over == RS_NONE ? comm : r->m->comms[comm].over;
}

#define RS_ROWS_FILE "export/sqlite/statistics.inc"
#define RS_ROW struct rs_sql_statistic_row
#define RS_GET(id) statistic_##id
#define RS_FIELDS static const struct rs_out_field statistics[]
#include "fields/table.inc"

/* ---- lanes and bars ---- */

#define RS_ROWS_FILE "export/sqlite/lanes.inc"
#define RS_ROW struct rs_sql_lane_row
#define RS_GET(id) lane_##id
#define RS_FIELDS static const struct rs_out_field lanes[]
#include "fields/table.inc"

#define RS_ROWS_FILE "export/sqlite/launches.inc"
#define RS_ROW struct rs_bar_edge
#define RS_GET(id) launch_##id
#define RS_FIELDS static const struct rs_out_field launches[]
#include "fields/table.inc"

#define OF(column) r->b->column[r->i]
#define HAS(flags_) ((OF(flags) & (flags_)) != 0)
enum { OPEN = RS_BAR_OPEN, END_BOUNDED = RS_BAR_END_BOUNDED, START_UNKNOWN = RS_BAR_START_UNKNOWN };

static int64_t start_of(const struct rs_sql_bar_row *r)
{
    return rs_time_plus(r->lane->t->begin, OF(start));
}

static int64_t end_of(const struct rs_sql_bar_row *r)
{
    return rs_time_plus(start_of(r), OF(dur));
}

/* Without usable GPU timers, the end is the time at which the host was notified, which is later. */
static bool is_end_late(const struct rs_sql_bar_row *r)
{
    bool of_gpu = OF(kind) == RS_BAR_CHANNEL || OF(kind) == RS_BAR_PHASE;
    return of_gpu && HAS(START_UNKNOWN) && !HAS(OPEN | END_BOUNDED);
}

/* Upper bound of an end that is not known. */
static int64_t latest_end_of(const struct rs_sql_bar_row *r)
{
    if (is_end_late(r)) return end_of(r);
    return HAS(END_BOUNDED) && OF(fade) > 0 ? rs_time_plus(end_of(r), OF(fade)) : RS_TIME_NONE;
}

static struct rs_value step_arg(const struct rs_sql_bar_row *r, enum rs_event_arg_id id)
{
    const int64_t args[RS_BAR_ARGS] = {OF(a1), OF(a2), OF(a3), OF(a4), OF(a5), OF(a6)};
    const uint8_t *ids = r->lane->t->kinds.rows[OF(kind)].args;
    for (unsigned i = 0; i < RS_BAR_ARGS; i++)
        if (ids[i] == id) return rs_v_time(args[i]);
    return rs_v_null();
}

/* How long a state of a send (or receive) lasted: to the next recorded state, or to the end. */
static struct rs_value state_of(const struct rs_sql_bar_row *r, bool send, unsigned state)
{
    const uint32_t marks[RS_BAR_MARKS] = {OF(m1), OF(m2), OF(m3)};
    if ((OF(kind) == RS_BAR_STEP_SEND) != send || !marks[state]) return rs_v_null();
    int64_t to = HAS(OPEN | END_BOUNDED) ? -1 : OF(dur);
    for (unsigned next = RS_BAR_MARKS; --next > state;)
        if (marks[next]) to = marks[next];
    return rs_v_known(to >= marks[state] ? to - marks[state] : -1);
}

#define RS_OUT_UNIT_NUMBER RS_OUT_PLAIN
#define RS_OUT_UNIT_TIME RS_OUT_NS
#define RS_OUT_UNIT_BYTES RS_OUT_BYTES
#define RS_ROWS_FILE "export/sqlite/events.inc"
#define RS_ROW struct rs_sql_bar_row
#define RS_GET(id) event_##id
#define RS_FIELDS static const struct rs_out_field events[]
#include "fields/table.inc"

#define RS_ROWS_FILE "export/sqlite/network_steps.inc"
#define RS_ROW struct rs_sql_bar_row
#define RS_GET(id) step_##id
#define RS_FIELDS static const struct rs_out_field network_steps[]
#include "fields/table.inc"

/* ---- tables ---- */

#define TABLE(name_)                                                                                                   \
    const struct rs_out_table rs_sql_##name_ = {                                                                       \
        .name = #name_, .where = "export --format sqlite", .fields = name_, .n = sizeof name_ / sizeof *name_}
TABLE(meta);
TABLE(notes);
TABLE(ranks);
TABLE(lanes);
TABLE(events);
TABLE(network_steps);
TABLE(launches);
TABLE(statistics);
TABLE(strings);

const struct rs_out_table *rs_sql_each_table(size_t index)
{
    static const struct rs_out_table *const own[] = {&rs_sql_meta,     &rs_sql_notes,      &rs_sql_ranks,
                                                     &rs_sql_lanes,    &rs_sql_events,     &rs_sql_network_steps,
                                                     &rs_sql_launches, &rs_sql_statistics, &rs_sql_strings};
    size_t n = 0;
    while (n < index && rs_out_table(n)) n++;
    if (rs_out_table(n)) return rs_out_table(n);
    return index - n < sizeof own / sizeof *own ? own[index - n] : NULL;
}

/* CSV: one table per file, of operations, of each rank in each operation, or of events; and the types of their columns. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "export/callback_args.h"
#include "export/csv/cells.h"
#include "export/exporter.h"
#include "fields/event.h"
#include "fields/operation.h"
#include "model/model.h"
#include "nccl/abi.h"
#include "nccl/names.h"
#include "timeline/groups.h"
#include "timeline/index.h"
#include "timeline/passes.h"
#include "timeline/span.h"
#include "timeline/timeline.h"

/* ---- activities ----
 * What other tools saw besides NCCL's operations, as rows of the CSV table of events: kernels, copies, annotations
 * and host calls of one process. */

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

/* Those of a (leading) process that are to be shown. Its activities are numbered from `first` on, shown or not, so that
 * no event of the process has their numbers. */
static enum rs_status csv_activities(struct rs_csv *c, const struct rs_out_columns *columns,
                                     const struct rs_timeline *t, uint32_t proc, uint64_t first, struct rs_err *err)
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

/* ---- tables ---- */

struct state {
    struct rs_export *x;
    struct rs_csv csv;
    struct rs_out_columns columns;
    struct rs_presence_index presence;
    struct rs_arguments args;
    struct rs_strbuf states, text; /* of cells */
    uint64_t next; /* no event of the process has this number or a higher one */
};

static const char *const table_names[] = {"operations", "ranks", "events", "schema", NULL};

/* ---- operations: as `ops --json` ---- */

static enum rs_status operations(struct state *s, struct rs_err *err)
{
    (void)err;
    const struct rs_timeline *t = s->x->timeline;
    struct rs_op_row row = {.m = t->model, .presence = &s->presence};
    rs_out_columns_make(&s->columns, &rs_out_operation, RS_IN_CSV);
    rs_presence_init(&s->presence, t->model);
    rs_csv_names(&s->csv, &s->columns);
    rs_csv_line(&s->csv);
    for (uint32_t k = 0; k < t->nops && !rs_csv_failed(&s->csv); k++) {
        rs_op_row_make(&row, t->ops[k]);
        rs_csv_fields(&s->csv, &s->columns, &row);
        rs_csv_line(&s->csv);
    }
    return RS_OK;
}

/* ---- each rank in each operation ---- */

/* What says which operation a rank is in. */
static const struct rs_out_columns which = {
    {&RS_OP_FIELD(op), &RS_OP_FIELD(comm), &RS_OP_FIELD(func), &RS_OP_FIELD(seq)}, 4};

static enum rs_status ranks(struct state *s, struct rs_err *err)
{
    const struct rs_timeline *t = s->x->timeline;
    struct rs_op_row op = {.m = t->model};
    (void)err;
    rs_out_columns_make(&s->columns, &rs_out_op_rank, RS_IN_CSV);
    rs_csv_names(&s->csv, &which);
    rs_csv_names(&s->csv, &s->columns);
    rs_csv_line(&s->csv);
    for (uint32_t k = 0; k < t->nops && !rs_csv_failed(&s->csv); k++) {
        struct rs_op_rank_row rank = {.op = &op};
        rs_op_row_begin(&op, t->ops[k]);
        for (uint32_t at = 0; rs_op_rank_row_next(&rank, &at);) {
            rs_csv_fields(&s->csv, &which, &op);
            rs_csv_fields(&s->csv, &s->columns, &rank);
            rs_csv_line(&s->csv);
        }
    }
    return RS_OK;
}

/* ---- events ---- */

static bool shown(const struct state *s, const struct rs_event *e)
{
    int64_t from = e->start != RS_TIME_NONE ? e->start : e->end, to = e->end != RS_TIME_NONE ? e->end : from;
    return from == RS_TIME_NONE || rs_span_asked(s->x->timeline, from, to < from ? from : to);
}

static void event_place(const struct rs_model *m, struct rs_event_row *row, const struct rs_event *e)
{
    const char *type = rs_nccl_type_name(e->type);
    uint32_t op = e->part == RS_NONE ? RS_NONE : m->parts.op[e->part];
    const struct rs_member *member = e->member == RS_NONE ? NULL : &m->members[e->member];
    row->host = rs_host_name(m, m->procs[e->proc].host);
    row->pid = m->procs[e->proc].pid;
    row->number = e->number;
    row->type = type ? type : e->category;
    row->op = op < m->ops.n ? m->ops.id[op] : 0;
    row->comm = member ? m->comms[member->comm].hash : 0;
    row->rank = member ? member->rank : -1;
    row->global_rank = member ? member->global_rank : -1;
    row->handle = e->handle;
    row->parent = e->parent == RS_NONE ? -1 : (int64_t)e->parent;
    row->parent_handle = e->parent_handle;
    row->tid = e->tid ? (int64_t)e->tid : -1;
    row->thread = e->thread;
    row->thread_len = e->thread ? strlen(e->thread) : 0;
}

/* "ProxyStepSendWait=123;...": with the moment at which each began. */
static const char *event_states(struct rs_strbuf *to, const struct rs_event *e)
{
    rs_strbuf_clear(to);
    for (unsigned i = 0; i < e->nstates; i++) {
        const char *name = rs_nccl_state_name(e->states[i].state);
        if (i) rs_strbuf_putc(to, ';');
        if (name)
            rs_strbuf_puts(to, name);
        else
            rs_strbuf_printf(to, "%d", e->states[i].state);
        rs_strbuf_printf(to, "=%lld", (long long)e->states[i].at);
    }
    return rs_strbuf_borrow(to);
}

static const char *event_args(struct rs_strbuf *to, const struct rs_event *e)
{
    if (!e->call) return e->name;
    rs_strbuf_clear(to);
    rs_callback_args_text(to, e->process, e->call);
    return rs_strbuf_borrow(to);
}

static enum rs_status event_row(void *to, const struct rs_event *e, struct rs_err *err)
{
    struct state *s = to;
    struct rs_csv *c = &s->csv;
    bool yes;
    if (e->number >= s->next) s->next = (uint64_t)e->number + 1;
    rs_event_passes(&s->args, s->x->timeline, e, &yes);
    if (!yes || !shown(s, e)) return RS_OK;
    struct rs_event_row row = {
        .start = e->start,
        .end = e->end,
        .gpu_start = e->gpu_start,
        .gpu_end = e->gpu_end,
        .stale = e->stale,
        .open = e->open,
        .channel = e->channel,
        .peer = e->peer,
        .is_send = e->is_send,
        .step = e->step,
        .steps = e->steps,
        .bytes = e->bytes,
        .states = event_states(&s->states, e),
        .args = event_args(&s->text, e),
    };
    event_place(s->x->timeline->model, &row, e);
    rs_csv_fields(c, &s->columns, &row);
    rs_csv_line(c);
    if (rs_csv_failed(c)) return rs_csv_finish(c, err);
    return RS_OK;
}

static enum rs_status events_of(struct state *s, uint32_t proc, struct rs_err *err)
{
    struct rs_timeline *t = s->x->timeline;
    const uint64_t operations = RS_COLL | RS_P2P | RS_CE_COLL;
    uint64_t all = (UINT64_C(1) << RS_ROWS) - 1;
    uint64_t rows = t->options.rows;
    bool deepest = rows == all; /* types that no row shows, too */
    rs_arguments_free(&s->args); /* of the strings of the process before */
    rs_arguments_init(&s->args);
    s->next = 0;
    RS_TRY(rs_events_read(t->model, t->inputs, proc, deepest ? UINT64_MAX : rs_row_types(rows, NULL) | operations, NULL,
                          event_row, s, err));
    return csv_activities(&s->csv, &s->columns, t, proc, s->next, err);
}

static enum rs_status events(struct state *s, struct rs_err *err)
{
    const struct rs_timeline *t = s->x->timeline;
    rs_out_columns_make(&s->columns, &rs_out_event, RS_IN_CSV);
    rs_csv_names(&s->csv, &s->columns);
    rs_csv_line(&s->csv);
    for (uint32_t i = 0; i < t->nprocs; i++) {
        RS_TRY(events_of(s, t->procs[i], err));
        if (s->x->progress) s->x->progress(i + 1, t->nprocs);
    }
    return RS_OK;
}

static enum rs_status schema(struct state *s, struct rs_err *err);

/* In step with their names. */
static const struct {
    enum rs_status (*write)(struct state *s, struct rs_err *err);
    const struct rs_out_columns *before; /* columns in front of the table's own; NULL: none */
    const struct rs_out_table *fields; /* NULL: none */
} tables[] = {{operations, NULL, &rs_out_operation},
              {ranks, &which, &rs_out_op_rank},
              {events, NULL, &rs_out_event},
              {schema, NULL, NULL}};

/* ---- the types of all columns ---- */

/* As DuckDB and pandas call them. Integers of pandas are those that may be unknown; a list is text: "a;b". */
static const struct {
    const char *duckdb, *pandas;
} types[] = {
    [RS_OUT_ANY] = {"VARCHAR", "string"},   [RS_OUT_INT] = {"BIGINT", "Int64"},
    [RS_OUT_UINT] = {"UBIGINT", "UInt64"},  [RS_OUT_DOUBLE] = {"DOUBLE", "float64"},
    [RS_OUT_BOOL] = {"BOOLEAN", "boolean"}, [RS_OUT_HEX] = {"VARCHAR", "string"},
    [RS_OUT_TEXT] = {"VARCHAR", "string"},  [RS_OUT_NUMBERS] = {"VARCHAR", "string"},
    [RS_OUT_TEXTS] = {"VARCHAR", "string"}, [RS_OUT_OBJECT] = {"VARCHAR", "string"},
    [RS_OUT_ROWS] = {"VARCHAR", "string"},
};

static const char *const units[RS_OUT_UNITS] = {
    [RS_OUT_PLAIN] = "",   [RS_OUT_NS] = "ns",       [RS_OUT_BYTES] = "bytes",
    [RS_OUT_GBS] = "GB/s", [RS_OUT_SHARE] = "share", [RS_OUT_PPM] = "ppm"};

static void put_types(struct rs_csv *c, const char *table, const struct rs_out_columns *columns)
{
    for (uint32_t i = 0; i < columns->n; i++) {
        const struct rs_out_field *f = columns->all[i];
        const char *const cells[] = {
            table, f->name, types[f->type].duckdb, types[f->type].pandas, units[f->unit], f->doc ? f->doc : ""};
        for (size_t k = 0; k < sizeof cells / sizeof *cells; k++) rs_csv_value(c, rs_v_text(cells[k]));
        rs_csv_line(c);
    }
}

static enum rs_status schema(struct state *s, struct rs_err *err)
{
    static const char *const names[] = {"table", "column", "duckdb", "pandas", "unit", "text"};
    (void)err;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) rs_csv_value(&s->csv, rs_v_text(names[i]));
    rs_csv_line(&s->csv);
    for (size_t i = 0; tables[i].fields; i++) {
        rs_out_columns_make(&s->columns, tables[i].fields, RS_IN_CSV);
        if (tables[i].before) put_types(&s->csv, table_names[i], tables[i].before);
        put_types(&s->csv, table_names[i], &s->columns);
    }
    return RS_OK;
}

/* ---- the exporter ---- */

static enum rs_status begin(struct rs_export *x, struct rs_err *err)
{
    size_t table = 0;
    while (x->table && table_names[table] && strcmp(table_names[table], x->table) != 0) table++;
    if (!table_names[table]) return rs_fail(err, RS_BAD_INPUT, "there is no table '%s'", x->table);
    struct state *s = x->state = rs_zalloc(1, sizeof *s);
    s->x = x;
    rs_csv_to_file(&s->csv, x->file, x->name);
    rs_arguments_init(&s->args);
    return tables[table].write(s, err);
}

static enum rs_status end(struct rs_export *x, struct rs_err *err)
{
    struct state *s = x->state;
    return rs_csv_finish(&s->csv, err);
}

static void release(struct rs_export *x)
{
    struct state *s = x->state;
    if (!s) return;
    rs_csv_free(&s->csv);
    rs_presence_free(&s->presence);
    rs_arguments_free(&s->args);
    rs_strbuf_free(&s->states);
    rs_strbuf_free(&s->text);
    free(s);
    x->state = NULL;
}

const struct rs_exporter rs_exporter_csv = {
    .name = "csv",
    .what = "a table: operations, or --table ranks, events, schema (types of all columns)",
    .suffixes = ".csv",
    .output = RS_EXPORT_STREAM,
    .tables = table_names,
    .rows_table = "events",
    .rows = (UINT64_C(1) << RS_ROWS) - 1,
    .begin = begin,
    .end = end,
    .free = release,
};

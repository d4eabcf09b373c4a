/* CSV: one table a file, of operations, of each rank in each operation, or of events. */
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "export/callback_args.h"
#include "export/csv/activities.h"
#include "export/csv/cells.h"
#include "export/exporter.h"
#include "fields/event.h"
#include "fields/operation.h"
#include "nccl/abi.h"
#include "nccl/names.h"
#include "timeline/passes.h"
#include "timeline/span.h"

struct state {
    struct rs_export *x;
    struct rs_csv csv;
    struct rs_out_columns columns;
    struct rs_presence_index presence;
    struct rs_arguments args;
    struct rs_strbuf states, text; /* of cells */
    uint64_t next; /* no event of the process has this number or a higher one */
};

/* ---- operations: as `ops --json` ---- */

static enum rs_status operations(struct state *s, struct rs_err *err)
{
    const struct rs_timeline *t = s->x->timeline;
    struct rs_op_row row = {.m = t->model, .presence = &s->presence};
    rs_out_columns_make(&s->columns, &rs_out_operation, RS_IN_CSV);
    RS_TRY(rs_presence_init(&s->presence, t->model, err));
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

static enum rs_status ranks(struct state *s, struct rs_err *err)
{
    /* What says which operation it is in. */
    static const struct rs_out_columns which = {
        {&RS_OP_FIELD(op), &RS_OP_FIELD(comm), &RS_OP_FIELD(func), &RS_OP_FIELD(seq)}, 4};
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
    RS_TRY(rs_event_passes(&s->args, s->x->timeline, e, &yes, err));
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
    return rs_csv_activities(&s->csv, &s->columns, t, proc, s->next, err);
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

/* ---- the exporter ---- */

static const char *const table_names[] = {"operations", "ranks", "events", NULL};

static enum rs_status (*const tables[])(struct state *s, struct rs_err *err) = {operations, ranks, events};

static enum rs_status begin(struct rs_export *x, struct rs_err *err)
{
    size_t table = 0;
    while (x->table && table_names[table] && strcmp(table_names[table], x->table) != 0) table++;
    if (!table_names[table]) return rs_fail(err, RS_BAD_INPUT, "there is no table '%s'", x->table);
    struct state *s = x->state = calloc(1, sizeof *s);
    if (!s) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    s->x = x;
    rs_csv_to_file(&s->csv, x->file, x->name);
    rs_arguments_init(&s->args);
    return tables[table](s, err);
}

static enum rs_status end(struct rs_export *x, struct rs_err *err)
{
    struct state *s = x->state;
    RS_TRY(rs_strbuf_check(&s->states, err));
    RS_TRY(rs_strbuf_check(&s->text, err));
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
    .what = "a table: operations, or --table ranks, --table events",
    .suffixes = ".csv",
    .output = RS_EXPORT_STREAM,
    .tables = table_names,
    .rows_table = "events",
    .rows = (UINT64_C(1) << RS_ROWS) - 1,
    .begin = begin,
    .end = end,
    .free = release,
};

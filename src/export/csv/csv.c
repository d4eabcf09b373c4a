/* CSV: one table a file, of operations, of each rank in each operation, or of events. */
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "export/callback_args.h"
#include "export/csv/activities.h"
#include "export/csv/cells.h"
#include "export/exporter.h"
#include "join/durations.h"
#include "join/op_facts.h"
#include "join/overlay_facts.h"
#include "join/totals.h"
#include "nccl/abi.h"
#include "nccl/names.h"
#include "timeline/passes.h"
#include "timeline/span.h"

struct state {
    struct rs_export *x;
    struct rs_csv csv;
    struct rs_presence_index presence;
    struct rs_arguments args;
    struct rs_strbuf text; /* of one cell */
    uint64_t next; /* no event of the process has this number or a higher one */
};

struct table {
    const char *columns;
    enum rs_status (*write)(struct state *s, struct rs_err *err);
};

static void string(struct state *s, uint16_t id)
{
    rs_csv_text(&s->csv, id ? rs_model_text(s->x->timeline->model, id) : NULL);
}

/* ---- operations: as `ops --json` ---- */

#define OP_COLUMNS                                                                                                     \
    "op,comm,func,kind,seq,replay,root,count,bytes,dtype,algo,proto,nranks,pg_name,pg_desc,comms_id,pg_seq,step,"      \
    "scope,"                                                                                                           \
    "seen_by,comm_source,src,dst,index,fanout,confidence,start_ns,end_ns,transfer_ns,algbw_gbs,busbw_gbs,wait_source," \
    "last_rank,tie,complete,error_ns,mismatch,violation,unreported,double,unknown,compared,"                           \
    "longest_wait_ns,mean_wait_ns,missing,not_recorded"

static void identity(struct state *s, uint32_t op)
{
    const struct rs_model *m = s->x->timeline->model;
    const struct rs_ops *o = &m->ops;
    struct rs_csv *c = &s->csv;
    uint32_t first = m->order[o->part[op]];
    rs_csv_hex(c, o->id[op]);
    rs_csv_hex_or_empty(c, m->comms[o->comm[op]].hash);
    string(s, o->func[op]);
    rs_csv_text(c, rs_op_kind_name(o->kind[op]));
    if (o->seq[op] == UINT64_MAX)
        rs_csv_empty(c);
    else
        rs_csv_u64(c, o->seq[op]);
    rs_csv_known(c, o->captured[op] ? (int64_t)o->replay[op] : -1);
    rs_csv_known(c, o->kind[op] == RS_OP_PAIR ? -1 : o->root[op]);
    rs_csv_u64(c, o->count[op]);
    if (rs_size_known(m, op))
        rs_csv_u64(c, o->bytes[op]);
    else
        rs_csv_empty(c);
    string(s, o->dtype[op]);
    string(s, m->parts.algo[first]);
    string(s, m->parts.proto[first]);
    rs_csv_known(c, m->comms[o->comm[op]].nranks);
}

/* What frameworks and other tools say of it. */
static void framework(struct state *s, uint32_t op)
{
    const struct rs_model *m = s->x->timeline->model;
    struct rs_csv *c = &s->csv;
    struct rs_facts f;
    rs_facts_of_op(m, op, &f);
    rs_csv_text(c, f.group);
    rs_csv_textn(c, f.desc, f.desc ? f.desc_len : 0);
    if (f.has_comms_id)
        rs_csv_hex(c, f.comms_id);
    else
        rs_csv_empty(c);
    rs_csv_known(c, f.pg_seq);
    rs_csv_known(c, f.step == RS_NONE ? -1 : (int64_t)f.step);
    rs_csv_text(c, f.scope ? rs_model_name_text(m, f.scope) : NULL);
    rs_strbuf_clear(&s->text);
    for (uint8_t t = 0; t < RS_TOOLS; t++)
        if (f.tools >> t & 1) rs_strbuf_printf(&s->text, "%s%s", s->text.len ? ";" : "", rs_tool_name(t));
    rs_csv_text(c, rs_strbuf_borrow(&s->text));
    rs_csv_text(c, rs_comm_source(&m->comms[m->ops.comm[op]]));
}

static void pair(struct state *s, uint32_t op)
{
    const struct rs_ops *o = &s->x->timeline->model->ops;
    bool is = o->kind[op] == RS_OP_PAIR;
    rs_csv_known(&s->csv, is ? o->root[op] : -1);
    rs_csv_known(&s->csv, is ? o->dst[op] : -1);
    rs_csv_known(&s->csv, is ? (int64_t)o->index[op] : -1);
    if (is && o->fanout[op] != RS_NONE)
        rs_csv_hex(&s->csv, o->id[o->fanout[op]]);
    else
        rs_csv_empty(&s->csv);
}

static void absent(struct state *s, uint32_t op, bool missing)
{
    const struct rs_model *m = s->x->timeline->model;
    int32_t rank, at = 0;
    rs_strbuf_clear(&s->text);
    while ((rank = rs_op_next_absent(m, op, &s->presence, missing, &at)) >= 0)
        rs_strbuf_printf(&s->text, "%s%d", s->text.len ? ";" : "", rank);
    rs_csv_text(&s->csv, rs_strbuf_borrow(&s->text));
}

static void op_times(struct state *s, uint32_t op)
{
    const struct rs_model *m = s->x->timeline->model;
    const struct rs_ops *o = &m->ops;
    struct rs_csv *c = &s->csv;
    uint8_t flags = o->flags[op];
    struct rs_op_rate rate = rs_op_rate(m, op);
    rs_csv_double(c, o->confidence[op] / 100.0);
    rs_csv_time(c, o->first[op]);
    rs_csv_time(c, o->end[op]);
    rs_csv_time(c, rate.transfer_ns);
    rs_csv_double(c, rate.algbw);
    rs_csv_double(c, rate.busbw);
    rs_csv_text(c, rs_op_wait_source(m, op, rs_op_shortest(m, op)));
    rs_csv_known(c, o->last_part[op] == RS_NONE ? -1 : m->members[m->parts.member[o->last_part[op]]].rank);
    rs_csv_bool(c, flags & RS_OP_TIE);
    rs_csv_bool(c, flags & RS_OP_COMPLETE);
    rs_csv_time(c, rs_op_error(m, op));
    rs_csv_bool(c, flags & RS_OP_MISMATCH);
    rs_csv_bool(c, flags & RS_OP_VIOLATION);
    rs_csv_bool(c, rs_op_unreported(m, op));
    rs_csv_bool(c, flags & RS_OP_DOUBLE);
    rs_csv_text(c, rs_op_unknown(m, op));
    struct rs_op_waits waits = rs_op_waits(m, op);
    rs_csv_bool(c, rs_op_is_compared(m, op));
    rs_csv_time(c, waits.longest_ns);
    rs_csv_time(c, waits.mean_ns);
}

static enum rs_status operations(struct state *s, struct rs_err *err)
{
    const struct rs_timeline *t = s->x->timeline;
    RS_TRY(rs_presence_make(&s->presence, t->model, err));
    for (uint32_t k = 0; k < t->nops && !rs_csv_failed(&s->csv); k++) {
        identity(s, t->ops[k]);
        framework(s, t->ops[k]);
        pair(s, t->ops[k]);
        op_times(s, t->ops[k]);
        absent(s, t->ops[k], true);
        absent(s, t->ops[k], false);
        rs_csv_line(&s->csv);
    }
    return RS_OK;
}

/* ---- each rank in each operation ---- */

#define RANK_COLUMNS                                                                                                   \
    "op,comm,func,seq,rank,global_rank,host,pid,device,launch,enqueued_ns,launched_ns,start_ns,start_source,end_ns,"   \
    "end_source,end_after_ns,end_before_ns,duration_ns,wait_ns,clock_error_ns,channels,parts,helper_pid,end_early,"    \
    "stale_timer,times_from,open,mismatch,count,dtype"

static void member(struct state *s, uint32_t member)
{
    const struct rs_model *m = s->x->timeline->model;
    const struct rs_member *x = &m->members[member];
    rs_csv_known(&s->csv, x->rank);
    rs_csv_known(&s->csv, x->global_rank);
    rs_csv_text(&s->csv, rs_host_name(m, m->procs[x->proc].host));
    rs_csv_known(&s->csv, m->procs[x->proc].pid ? (int64_t)m->procs[x->proc].pid : -1);
    rs_csv_known(&s->csv, x->device);
}

static void rank_row(struct state *s, uint32_t op, const struct rs_op_rank *r, int64_t shortest)
{
    const struct rs_model *m = s->x->timeline->model;
    const struct rs_parts *p = &m->parts;
    struct rs_csv *c = &s->csv;
    uint32_t i = r->part, domain = rs_part_start_domain(m, i);
    rs_csv_hex(c, m->ops.id[op]);
    rs_csv_hex_or_empty(c, m->comms[m->ops.comm[op]].hash);
    string(s, m->ops.func[op]);
    if (m->ops.seq[op] == UINT64_MAX)
        rs_csv_empty(c);
    else
        rs_csv_u64(c, m->ops.seq[op]);
    member(s, p->member[i]);
    rs_csv_hex_or_empty(c, p->launch[i]);
    rs_csv_time(c, p->enqueued[i]);
    rs_csv_time(c, p->launched[i]);
    rs_csv_time(c, r->start);
    rs_csv_text(c, rs_time_source_name(p->start_source[i]));
    rs_csv_time(c, r->end);
    rs_csv_text(c, rs_time_source_name(r->end_source));
    rs_csv_time(c, r->after);
    rs_csv_time(c, r->before);
    rs_csv_time(c, rs_op_rank_duration(m, r));
    rs_csv_time(c, rs_op_rank_wait(m, r, shortest));
    rs_csv_time(c, domain == RS_NONE ? RS_TIME_NONE : m->domains[domain].error_ns);
    rs_csv_u64(c, p->channels_seen[i]);
    rs_csv_u64(c, r->parts);
    rs_csv_known(c, p->flags[i] & RS_PART_HELPED ? (int64_t)m->procs[p->helper[i]].pid : -1);
    rs_csv_bool(c, p->flags[i] & RS_PART_END_EARLY && p->end_source[i] == RS_FROM_KERNEL);
    rs_csv_bool(c, p->flags[i] & RS_PART_STALE);
    rs_csv_text(c, rs_part_lender(m, i));
    rs_csv_bool(c, r->open);
    rs_csv_bool(c, p->flags[i] & RS_PART_MISMATCH);
    rs_csv_u64(c, p->count[i]);
    string(s, p->dtype[i]);
    rs_csv_line(c);
}

static enum rs_status ranks(struct state *s, struct rs_err *err)
{
    const struct rs_timeline *t = s->x->timeline;
    (void)err;
    for (uint32_t k = 0; k < t->nops && !rs_csv_failed(&s->csv); k++) {
        struct rs_op_rank rank;
        int64_t shortest = rs_op_shortest(t->model, t->ops[k]);
        for (uint32_t at = 0; rs_op_next_rank(t->model, t->ops[k], &at, &rank);)
            rank_row(s, t->ops[k], &rank, shortest);
    }
    return RS_OK;
}

/* ---- events ---- */

#define EVENT_COLUMNS                                                                                                  \
    "host,pid,number,type,op,comm,rank,global_rank,handle,parent,parent_handle,tid,thread,start_ns,end_ns,gpu_start_"  \
    "ns,"                                                                                                              \
    "gpu_end_ns,stale_timer,open,channel,peer,direction,step,steps,bytes,states,args"

static bool shown(const struct state *s, const struct rs_event *e)
{
    int64_t from = e->start != RS_TIME_NONE ? e->start : e->end, to = e->end != RS_TIME_NONE ? e->end : from;
    return from == RS_TIME_NONE || rs_span_asked(s->x->timeline, from, to < from ? from : to);
}

static void event_place(struct state *s, const struct rs_event *e)
{
    const struct rs_model *m = s->x->timeline->model;
    struct rs_csv *c = &s->csv;
    const char *type = rs_nccl_type_name(e->type);
    uint32_t op = e->part == RS_NONE ? RS_NONE : m->parts.op[e->part];
    rs_csv_text(c, rs_host_name(m, m->procs[e->proc].host));
    rs_csv_known(c, m->procs[e->proc].pid ? (int64_t)m->procs[e->proc].pid : -1);
    rs_csv_u64(c, e->number);
    rs_csv_text(c, type ? type : e->category);
    rs_csv_hex_or_empty(c, op < m->ops.n ? m->ops.id[op] : 0);
    rs_csv_hex_or_empty(c, e->member == RS_NONE ? 0 : m->comms[m->members[e->member].comm].hash);
    rs_csv_known(c, e->member == RS_NONE ? -1 : m->members[e->member].rank);
    rs_csv_known(c, e->member == RS_NONE ? -1 : m->members[e->member].global_rank);
    rs_csv_hex_or_empty(c, e->handle);
    rs_csv_known(c, e->parent == RS_NONE ? -1 : (int64_t)e->parent);
    rs_csv_hex_or_empty(c, e->parent_handle);
    rs_csv_known(c, e->tid ? (int64_t)e->tid : -1);
    rs_csv_text(c, e->thread);
}

/* "ProxyStepSendWait=123;...": with the moment at which each began. */
static void event_states(struct state *s, const struct rs_event *e)
{
    rs_strbuf_clear(&s->text);
    for (unsigned i = 0; i < e->nstates; i++) {
        const char *name = rs_nccl_state_name(e->states[i].state);
        if (i) rs_strbuf_putc(&s->text, ';');
        if (name)
            rs_strbuf_puts(&s->text, name);
        else
            rs_strbuf_printf(&s->text, "%d", e->states[i].state);
        rs_strbuf_printf(&s->text, "=%lld", (long long)e->states[i].at);
    }
    rs_csv_text(&s->csv, rs_strbuf_borrow(&s->text));
}

static enum rs_status event_row(void *to, const struct rs_event *e, struct rs_err *err)
{
    struct state *s = to;
    struct rs_csv *c = &s->csv;
    bool yes;
    if (e->number >= s->next) s->next = (uint64_t)e->number + 1;
    RS_TRY(rs_event_passes(&s->args, s->x->timeline, e, &yes, err));
    if (!yes || !shown(s, e)) return RS_OK;
    event_place(s, e);
    rs_csv_time(c, e->start);
    rs_csv_time(c, e->end);
    rs_csv_time(c, e->gpu_start);
    rs_csv_time(c, e->gpu_end);
    rs_csv_bool(c, e->stale);
    rs_csv_bool(c, e->open);
    rs_csv_known(c, e->channel);
    rs_csv_known(c, e->peer);
    rs_csv_text(c, e->is_send < 0 ? NULL : e->is_send ? "send" : "receive");
    rs_csv_known(c, e->step);
    rs_csv_known(c, e->steps);
    rs_csv_known(c, e->bytes);
    event_states(s, e);
    rs_strbuf_clear(&s->text);
    if (e->call) rs_callback_args_text(&s->text, e->process, e->call);
    rs_csv_text(c, e->call ? rs_strbuf_borrow(&s->text) : e->name);
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
    rs_arguments_make(&s->args);
    s->next = 0;
    RS_TRY(rs_events_read(t->model, t->inputs, proc, deepest ? UINT64_MAX : rs_row_types(rows, NULL) | operations, NULL,
                          event_row, s, err));
    return rs_csv_activities(&s->csv, t, proc, s->next, err);
}

static enum rs_status events(struct state *s, struct rs_err *err)
{
    const struct rs_timeline *t = s->x->timeline;
    for (uint32_t i = 0; i < t->nprocs; i++) {
        RS_TRY(events_of(s, t->procs[i], err));
        if (s->x->progress) s->x->progress(i + 1, t->nprocs);
    }
    return RS_OK;
}

/* ---- the exporter ---- */

static const char *const table_names[] = {"operations", "ranks", "events", NULL};

static const struct table tables[] = {
    {OP_COLUMNS, operations},
    {RANK_COLUMNS, ranks},
    {EVENT_COLUMNS, events},
};

static enum rs_status begin(struct rs_export *x, struct rs_err *err)
{
    size_t table = 0;
    while (x->table && table_names[table] && strcmp(table_names[table], x->table) != 0) table++;
    if (!table_names[table]) return rs_fail(err, RS_BAD_INPUT, "there is no table '%s'", x->table);
    struct state *s = x->state = calloc(1, sizeof *s);
    if (!s) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    s->x = x;
    rs_csv_to_file(&s->csv, x->file, x->name);
    rs_arguments_make(&s->args);
    rs_csv_header(&s->csv, tables[table].columns);
    return tables[table].write(s, err);
}

static enum rs_status end(struct rs_export *x, struct rs_err *err)
{
    struct state *s = x->state;
    RS_TRY(rs_strbuf_check(&s->text, err));
    return rs_csv_finish(&s->csv, err);
}

static void release(struct rs_export *x)
{
    struct state *s = x->state;
    if (!s) return;
    rs_presence_free(&s->presence);
    rs_arguments_free(&s->args);
    rs_strbuf_free(&s->text);
    free(s);
    x->state = NULL;
}

const struct rs_exporter rs_exporter_csv = {
    .name = "csv",
    .what = "a table for spreadsheets, pandas, R: --table operations, ranks or events",
    .suffixes = ".csv",
    .output = RS_EXPORT_STREAM,
    .tables = table_names,
    .rows = (UINT64_C(1) << RS_ROWS) - 1,
    .begin = begin,
    .end = end,
    .free = release,
};

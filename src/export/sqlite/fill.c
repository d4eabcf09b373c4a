#include "export/sqlite/fill.h"

#ifndef RS_NO_SQLITE

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "fields/communicator.h"
#include "fields/process.h"
#include "join/clock_rows.h"

/* ---- values ---- */

void rs_sql_json_begin(struct rs_sql_fill *f)
{
    rs_strbuf_clear(&f->text);
}

void rs_sql_json_bind(struct rs_sql_fill *f, struct rs_sql_insert *in)
{
    rs_json_flush(f->json);
    rs_sql_textn(in, rs_strbuf_borrow(&f->text), f->text.len);
    /* What comes next is a value of its own, not one of a list. */
    rs_json_to_text(f->json, &f->text, "text");
}

static void list_item(struct rs_json *j, const struct rs_value *item)
{
    if (item->type == RS_OUT_TEXT)
        rs_json_strn(j, item->text, item->n);
    else
        rs_json_i64(j, item->i);
}

/* A list as JSON. */
static void put_list(struct rs_sql_fill *f, struct rs_sql_insert *in, const struct rs_out_field *field, const void *row)
{
    struct rs_value item;
    uint32_t at = 0;
    if (!field->next(row, &at, &item)) {
        rs_sql_literal(in, "[]");
        return;
    }
    struct rs_value first = item;
    bool more = field->next(row, &at, &item), one = !more && first.type == RS_OUT_TEXT;
    if (one && first.text == f->one) {
        rs_sql_literal(in, f->one_list);
        return;
    }
    rs_sql_json_begin(f);
    rs_json_array(f->json);
    list_item(f->json, &first);
    for (; more; more = field->next(row, &at, &item)) list_item(f->json, &item);
    rs_json_end(f->json);
    rs_sql_json_bind(f, in);
    if (one && !f->one && f->text.len < sizeof f->one_list) {
        f->one = first.text;
        memcpy(f->one_list, rs_strbuf_borrow(&f->text), f->text.len + 1);
    }
}

enum rs_status rs_sql_fields(struct rs_sql_fill *f, enum rs_sql_table table, const void *row, struct rs_err *err)
{
    const struct rs_out_columns *columns = rs_sql_columns(table);
    struct rs_sql_insert *in = &f->db->inserts[table];
    for (uint32_t i = 0; i < columns->n; i++) {
        const struct rs_out_field *field = columns->all[i];
        struct rs_value v = field->get(row);
        switch (v.type) {
        case RS_OUT_INT: rs_sql_i64(in, v.i); break;
        case RS_OUT_BOOL:
        case RS_OUT_UINT: rs_sql_known(in, (int64_t)v.u); break; /* what exceeds 63 bits is null */
        case RS_OUT_DOUBLE: rs_sql_double(in, v.d); break;
        case RS_OUT_HEX: rs_sql_hex(in, v.u); break;
        case RS_OUT_TEXT: rs_sql_textn(in, v.text, v.n); break;
        case RS_OUT_ROWS: put_list(f, in, field, row); break;
        default: rs_sql_null(in); break;
        }
    }
    return rs_sql_row(f->db, table, err);
}

void rs_sql_pid(struct rs_sql_insert *in, uint32_t pid)
{
    rs_sql_known(in, pid ? (int64_t)pid : -1);
}

/* ---- facts of the whole ---- */

/* What was asked for, so that a part is not taken for the whole: the filters, and kinds of rows. */
struct wanted {
    struct rs_strbuf filters, rows;
};

static void tell_wanted(struct wanted *w, const struct rs_timeline *t)
{
    if (t->options.filter) rs_filter_describe(t->options.filter, &w->filters);
    for (unsigned i = 0; i < RS_ROWS; i++)
        if (t->options.rows >> i & 1) rs_strbuf_printf(&w->rows, "%s%s", w->rows.len ? "," : "", rs_row_kinds[i].id);
}

static enum rs_status meta_rows(struct rs_sql_fill *f, const struct wanted *w, struct rs_err *err)
{
    const struct rs_timeline *t = f->t;
    struct rs_model *m = t->model;
    struct rs_sql_insert *in = rs_sql_into(f->db, RS_SQL_META, err);
    if (!in) return err->code;
    const struct {
        const char *key, *text;
        int64_t number; /* where there is no text */
    } rows[] = {
        {"ringscope", RS_VERSION, 0},
        {"schema", NULL, RS_SQL_SCHEMA},
        {"title", f->title, RS_TIME_NONE},
        {"filters", rs_strbuf_borrow(&w->filters), 0},
        {"rows", rs_strbuf_borrow(&w->rows), 0},
        {"t0_ns", NULL, rs_model_begin(m)},
        {"from_ns", NULL, t->begin},
        {"to_ns", NULL, rs_time_plus(t->begin, t->span)},
        {"operations", NULL, (int64_t)t->totals.ops},
        {"compared", NULL, (int64_t)t->totals.compared},
        {"ties", NULL, (int64_t)t->totals.ties},
        {"compare_error_ns", NULL, t->totals.error_ns >= 0 ? t->totals.error_ns : RS_TIME_NONE},
        {"clocks_at_ns", NULL, m->aligned ? rs_clock_middle(m) : RS_TIME_NONE},
        {"aligned", NULL, m->aligned},
        {"world_size", NULL, m->world >= 0 ? m->world : RS_TIME_NONE},
        {"units", "times and durations ns, sizes bytes, rates 10^9 bytes a second; null is not known", 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rs_sql_text(in, rows[i].key);
        if (rows[i].text)
            rs_sql_text(in, rows[i].text);
        else
            rs_sql_time(in, rows[i].number);
        RS_TRY(rs_sql_row(f->db, RS_SQL_META, err));
    }
    return RS_OK;
}

static enum rs_status meta(struct rs_sql_fill *f, struct rs_err *err)
{
    struct wanted w = {0};
    tell_wanted(&w, f->t);
    enum rs_status status = RS_OK;
    status = meta_rows(f, &w, err);
    rs_strbuf_free(&w.filters);
    rs_strbuf_free(&w.rows);
    return status;
}

static enum rs_status notes(struct rs_sql_fill *f, struct rs_err *err)
{
    struct rs_sql_insert *in = rs_sql_into(f->db, RS_SQL_NOTES, err);
    if (!in) return err->code;
    for (uint32_t i = 0; i < f->t->model->nnotes; i++) {
        rs_sql_text(in, f->t->model->notes[i].text);
        RS_TRY(rs_sql_row(f->db, RS_SQL_NOTES, err));
    }
    return RS_OK;
}

/* ---- processes and ranks: all of them, whatever the filters, so that every id leads somewhere ---- */

static enum rs_status process_row(struct rs_sql_fill *f, uint32_t i, struct rs_err *err)
{
    static const char *const states[] = {[RS_END_WELL] = "closed",
                                         [RS_END_IDLE] = "idle",
                                         [RS_END_ALIVE] = "running",
                                         [RS_END_KILLED] = "killed",
                                         [RS_END_REPLACED] = "replaced"};
    const struct rs_model *m = f->t->model;
    const struct rs_proc *p = &m->procs[i];
    bool life = rs_tool_has(p->tool, RS_CAP_PROCESS_END), counted = rs_tool_has(p->tool, RS_CAP_CALLBACKS);
    struct rs_process_row row = {
        .id = i,
        .host = rs_host_name(m, p->host),
        .pid = p->pid,
        .tool = rs_tool_name(p->tool),
        .path = p->path,
        .launcher_rank = p->launcher_rank,
        .nccl_version = p->nccl_version,
        .from = life ? p->begin : p->first,
        .to = life ? p->end : p->last,
        .state = life ? states[p->ended] : NULL,
        .complete = p->complete,
        .callbacks = counted ? (int64_t)p->callbacks : -1,
        .lost = counted ? (int64_t)p->lost : -1,
        .overwritten = counted ? (int64_t)p->overwritten : -1,
        .damaged = counted ? (int64_t)p->damaged : -1,
        .clock_error_ns = counted ? p->clock_error_ns : -1,
        .same_as = p->same,
    };
    return rs_sql_fields(f, RS_SQL_PROCESSES, &row, err);
}

static enum rs_status processes(struct rs_sql_fill *f, struct rs_err *err)
{
    if (!rs_sql_into(f->db, RS_SQL_PROCESSES, err)) return err->code;
    for (uint32_t i = 0; i < f->t->model->nprocs; i++) RS_TRY(process_row(f, i, err));
    return RS_OK;
}

static enum rs_status ranks(struct rs_sql_fill *f, struct rs_err *err)
{
    const struct rs_model *m = f->t->model;
    struct rs_sql_insert *in = rs_sql_into(f->db, RS_SQL_RANKS, err);
    if (!in) return err->code;
    for (uint32_t i = 0; i < m->nranks; i++) {
        const struct rs_rank *s = &m->ranks[i];
        static const struct rs_member none;
        const struct rs_member *x = s->member != RS_NONE ? &m->members[s->member] : &none;
        rs_sql_i64(in, i);
        rs_sql_known(in, s->number);
        rs_sql_i64(in, s->proc);
        rs_sql_text(in, rs_host_name(m, s->host));
        rs_sql_pid(in, m->procs[s->proc].pid);
        rs_sql_known(in, s->device);
        char uuid[37];
        rs_sql_text(in, rs_uuid_text(x->uuid, uuid));
        rs_sql_text(in, *x->bus_id ? x->bus_id : NULL);
        RS_TRY(rs_sql_row(f->db, RS_SQL_RANKS, err));
    }
    return RS_OK;
}

/* ---- communicators ---- */

/* The communicator that leads, of one that several tools saw. */
static uint32_t leading(const struct rs_model *m, uint32_t comm)
{
    return comm == RS_NONE || m->comms[comm].over == RS_NONE ? comm : m->comms[comm].over;
}

static enum rs_status communicators(struct rs_sql_fill *f, struct rs_err *err)
{
    const struct rs_model *m = f->t->model;
    if (!rs_sql_into(f->db, RS_SQL_COMMUNICATORS, err) || !rs_sql_into(f->db, RS_SQL_MEMBERS, err)) return err->code;
    for (uint32_t i = 0; i < m->ncomms; i++) {
        if (m->comms[i].over != RS_NONE) continue;
        if (rs_sql_wants(f, RS_SQL_COMMUNICATORS)) {
            struct rs_life life = rs_comms_life(m, i);
            struct rs_comm_fields row;
            rs_comm_fields_make(&row, m, i, &life);
            RS_TRY(rs_sql_fields(f, RS_SQL_COMMUNICATORS, &row, err));
        }
        for (uint32_t k = m->comms[i].first_member; k != RS_NONE && rs_sql_wants(f, RS_SQL_MEMBERS);
             k = m->members[k].next) {
            struct rs_member_fields row;
            rs_member_fields_make(&row, m, i, k);
            RS_TRY(rs_sql_fields(f, RS_SQL_MEMBERS, &row, err));
        }
    }
    return RS_OK;
}

/* ---- sums ---- */

static enum rs_status statistics(struct rs_sql_fill *f, struct rs_err *err)
{
    static const char *const kinds[] = {
        [RS_STAT_KERNEL] = "kernel",      [RS_STAT_COMM] = "comm",   [RS_STAT_COPY] = "copy",
        [RS_STAT_CALL] = "call",          [RS_STAT_RANGE] = "range", [RS_STAT_RANGE_WORK] = "range_work",
        [RS_STAT_OPERATION] = "operation"};
    const struct rs_model *m = f->t->model;
    struct rs_sql_insert *in = rs_sql_into(f->db, RS_SQL_STATISTICS, err);
    if (!in) return err->code;
    for (uint32_t i = 0; i < m->nstats; i++) {
        const struct rs_stat *s = &m->stats[i];
        rs_sql_i64(in, s->proc);
        rs_sql_id(in, s->member == RS_NONE ? RS_NONE : leading(m, m->members[s->member].comm));
        rs_sql_text(in, kinds[s->kind]);
        rs_sql_text(in, s->func ? rs_model_text(m, s->func) : NULL);
        const uint32_t names[] = {s->name, s->within, s->thread};
        for (int k = 0; k < 3; k++) rs_sql_text(in, names[k] ? rs_model_name_text(m, names[k]) : NULL);
        rs_sql_i64(in, (int64_t)s->calls);
        rs_sql_known(in, s->bytes ? (int64_t)s->bytes : -1);
        rs_sql_time(in, s->total_ns);
        rs_sql_time(in, s->min_ns);
        rs_sql_time(in, s->max_ns);
        RS_TRY(rs_sql_row(f->db, RS_SQL_STATISTICS, err));
    }
    return RS_OK;
}

/* ---- all ---- */

static void begin(struct rs_sql_fill *f)
{
    const struct rs_model *m = f->t->model;
    rs_view_init(&f->view, m, &f->filter);
    f->json = rs_alloc(sizeof *f->json); /* large: not for the stack */
    f->only_rank = rs_alloc(((size_t)m->nprocs + 1) * sizeof *f->only_rank);
    rs_json_to_text(f->json, &f->text, "text");
    const uint32_t several = RS_NONE - 1;
    for (uint32_t i = 0; i < m->nprocs; i++) f->only_rank[i] = RS_NONE;
    for (uint32_t i = 0; i < m->nranks; i++) {
        uint32_t *at = &f->only_rank[m->ranks[i].proc];
        *at = *at == RS_NONE ? i : several;
    }
    for (uint32_t i = 0; i < m->nprocs; i++)
        if (f->only_rank[i] == several) f->only_rank[i] = RS_NONE;
}

void rs_sql_fill_begin(struct rs_sql_fill *f, struct rs_sql_db *db, struct rs_timeline *t, const char *title,
                       uint32_t tables)
{
    *f = (struct rs_sql_fill){.db = db, .t = t, .title = title, .tables = tables};
    if (t->options.filter) f->filter = *t->options.filter;
    begin(f);
}

enum rs_status rs_sql_fill_model(struct rs_sql_fill *f, struct rs_err *err)
{
    if (rs_sql_wants(f, RS_SQL_META)) RS_TRY(meta(f, err));
    if (rs_sql_wants(f, RS_SQL_PROCESSES)) RS_TRY(processes(f, err));
    if (rs_sql_wants(f, RS_SQL_RANKS)) RS_TRY(ranks(f, err));
    if (rs_sql_wants(f, RS_SQL_COMMUNICATORS) || rs_sql_wants(f, RS_SQL_MEMBERS)) RS_TRY(communicators(f, err));
    if (rs_sql_wants(f, RS_SQL_OPERATIONS) || rs_sql_wants(f, RS_SQL_OPERATION_RANKS))
        RS_TRY(rs_sql_fill_operations(f, err));
    if (rs_sql_wants(f, RS_SQL_STRAGGLERS)) RS_TRY(rs_sql_fill_stragglers(f, err));
    if (rs_sql_wants(f, RS_SQL_CLOCKS)) RS_TRY(rs_sql_fill_clocks(f, err));
    if (rs_sql_wants(f, RS_SQL_STATISTICS)) RS_TRY(statistics(f, err));
    return RS_OK;
}

static enum rs_status strings(struct rs_sql_fill *f, struct rs_err *err)
{
    struct rs_sql_insert *in = rs_sql_into(f->db, RS_SQL_STRINGS, err);
    if (!in) return err->code;
    for (uint32_t i = 0; i < f->t->texts.n; i++) {
        rs_sql_i64(in, i);
        rs_sql_textn(in, f->t->texts.rows[i].text, f->t->texts.rows[i].n);
        RS_TRY(rs_sql_row(f->db, RS_SQL_STRINGS, err));
    }
    return RS_OK;
}

enum rs_status rs_sql_fill_end(struct rs_sql_fill *f, struct rs_err *err)
{
    if (rs_sql_wants(f, RS_SQL_NOTES)) RS_TRY(notes(f, err));
    if (rs_sql_wants(f, RS_SQL_STRINGS)) RS_TRY(strings(f, err));
    return rs_sql_flush(f->db, err);
}

void rs_sql_fill_free(struct rs_sql_fill *f)
{
    rs_view_free(&f->view);
    rs_strbuf_free(&f->text);
    free(f->json);
    free(f->only_rank);
    free(f->lanes);
    rs_sql_kinds_free(f);
    *f = (struct rs_sql_fill){0};
}

#endif

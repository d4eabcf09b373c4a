#include "export/sqlite/fill.h"

#ifndef RS_NO_SQLITE

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "export/sqlite/rows.h"
#include "fields/clock.h"
#include "fields/communicator.h"
#include "fields/operation.h"
#include "fields/process.h"
#include "fields/report.h"

/* ---- facts of the whole ---- */

/* What was requested, so that a part is not taken for the whole: the filters, and kinds of rows. */
struct requested {
    struct rs_strbuf filters, rows;
};

static void requested_init(struct requested *w, const struct rs_timeline *t)
{
    *w = (struct requested){0};
    if (t->options.filter) rs_filter_describe(t->options.filter, &w->filters);
    for (unsigned i = 0; i < RS_ROWS; i++)
        if (t->options.rows >> i & 1) rs_strbuf_printf(&w->rows, "%s%s", w->rows.len ? "," : "", rs_row_kinds[i].id);
}

static enum rs_status meta_rows(struct rs_sql_fill *f, const struct requested *w, struct rs_err *err)
{
    const struct rs_sql_meta_row rows[] = {
#define KEY(key, value) {#key, value},
#include "export/sqlite/meta_keys.inc"
#undef KEY
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) RS_TRY(rs_sql_row(f->db, RS_SQL_META, &rows[i], err));
    return RS_OK;
}

static enum rs_status meta(struct rs_sql_fill *f, struct rs_err *err)
{
    struct requested w;
    requested_init(&w, f->t);
    enum rs_status status = meta_rows(f, &w, err);
    rs_strbuf_free(&w.filters);
    rs_strbuf_free(&w.rows);
    return status;
}

static enum rs_status notes(struct rs_sql_fill *f, struct rs_err *err)
{
    const struct rs_model *m = f->t->model;
    for (uint32_t i = 0; i < m->nnotes; i++) RS_TRY(rs_sql_row(f->db, RS_SQL_NOTES, &m->notes[i], err));
    return RS_OK;
}

/* ---- processes and ranks: all of them, whatever the filters, so that every id has its row ---- */

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
    return rs_sql_row(f->db, RS_SQL_PROCESSES, &row, err);
}

static enum rs_status processes(struct rs_sql_fill *f, struct rs_err *err)
{
    for (uint32_t i = 0; i < f->t->model->nprocs; i++) RS_TRY(process_row(f, i, err));
    return RS_OK;
}

static enum rs_status ranks(struct rs_sql_fill *f, struct rs_err *err)
{
    for (uint32_t i = 0; i < f->t->model->nranks; i++) {
        struct rs_sql_rank_row row;
        rs_sql_rank_row_make(&row, f->t->model, i);
        RS_TRY(rs_sql_row(f->db, RS_SQL_RANKS, &row, err));
    }
    return RS_OK;
}

/* ---- communicators ---- */

static enum rs_status communicators(struct rs_sql_fill *f, struct rs_err *err)
{
    const struct rs_model *m = f->t->model;
    for (uint32_t i = 0; i < m->ncomms; i++) {
        if (m->comms[i].over != RS_NONE) continue;
        if (rs_sql_wants(f, RS_SQL_COMMUNICATORS)) {
            struct rs_life life = rs_comms_life(m, i);
            struct rs_comm_fields row;
            rs_comm_fields_make(&row, m, i, &life);
            RS_TRY(rs_sql_row(f->db, RS_SQL_COMMUNICATORS, &row, err));
        }
        for (uint32_t k = m->comms[i].first_member; k != RS_NONE && rs_sql_wants(f, RS_SQL_MEMBERS);
             k = m->members[k].next) {
            struct rs_member_fields row;
            rs_member_fields_make(&row, m, i, k);
            RS_TRY(rs_sql_row(f->db, RS_SQL_MEMBERS, &row, err));
        }
    }
    return RS_OK;
}

/* ---- operations: as `ops --json` ---- */

static enum rs_status operation_rows(struct rs_sql_fill *f, struct rs_op_row *row, struct rs_err *err)
{
    const struct rs_timeline *t = f->t;
    for (uint32_t k = 0; k < t->nops; k++) {
        if (rs_sql_wants(f, RS_SQL_OPERATIONS)) {
            rs_op_row_make(row, t->ops[k]);
            RS_TRY(rs_sql_row(f->db, RS_SQL_OPERATIONS, row, err));
        } else {
            rs_op_row_begin(row, t->ops[k]);
        }
        if (!rs_sql_wants(f, RS_SQL_OPERATION_RANKS)) continue;
        struct rs_op_rank_row rank = {.op = row};
        for (uint32_t at = 0; rs_op_rank_row_next(&rank, &at);)
            RS_TRY(rs_sql_row(f->db, RS_SQL_OPERATION_RANKS, &rank, err));
    }
    return RS_OK;
}

static enum rs_status operations(struct rs_sql_fill *f, struct rs_err *err)
{
    struct rs_presence_index presence = {0};
    rs_presence_init(&presence, f->t->model);
    struct rs_op_row row = {.m = f->t->model, .presence = &presence, .numbers = f->t->op_number};
    enum rs_status status = operation_rows(f, &row, err);
    rs_presence_free(&presence);
    return status;
}

/* ---- stragglers: as `report --json`; clocks: as `clocks --json`; statistics ---- */

static enum rs_status stragglers(struct rs_sql_fill *f, struct rs_err *err)
{
    struct rs_report report;
    RS_TRY(rs_report_init(&report, f->t->model, &(struct rs_report_options){.filter = &f->filter}, err));
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < report.stragglers.nrows && status == RS_OK; i++) {
        const struct rs_straggler *x = &report.stragglers.rows[i];
        struct rs_straggler_fields row;
        if (x->cost_ns <= 0 && x->inherited_ns <= 0) continue;
        rs_straggler_fields_make(&row, &report, x);
        status = rs_sql_row(f->db, RS_SQL_STRAGGLERS, &row, err);
    }
    rs_report_free(&report);
    return status;
}

static enum rs_status clocks(struct rs_sql_fill *f, struct rs_err *err)
{
    struct rs_clock_rows rows;
    rs_clock_rows_init(&rows, f->t->model, &f->filter);
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < rows.n && status == RS_OK; i++) {
        struct rs_clock_fields row;
        rs_clock_fields_make(&row, f->t->model, &rows, &rows.all[i]);
        status = rs_sql_row(f->db, RS_SQL_CLOCKS, &row, err);
    }
    rs_clock_rows_free(&rows);
    return status;
}

static enum rs_status statistics(struct rs_sql_fill *f, struct rs_err *err)
{
    const struct rs_model *m = f->t->model;
    for (uint32_t i = 0; i < m->nstats; i++) {
        const struct rs_sql_statistic_row row = {m, &m->stats[i]};
        RS_TRY(rs_sql_row(f->db, RS_SQL_STATISTICS, &row, err));
    }
    return RS_OK;
}

/* ---- all ---- */

void rs_sql_fill_begin(struct rs_sql_fill *f, struct rs_sql_db *db, struct rs_timeline *t, const char *title,
                       uint32_t tables)
{
    const struct rs_model *m = t->model;
    const uint32_t several = RS_NONE - 1;
    *f = (struct rs_sql_fill){.db = db, .t = t, .title = title, .tables = tables};
    if (t->options.filter) f->filter = *t->options.filter;
    f->json = rs_alloc(sizeof *f->json); /* large: not for the stack */
    f->only_rank = rs_alloc(((size_t)m->nprocs + 1) * sizeof *f->only_rank);
    for (uint32_t i = 0; i < m->nprocs; i++) f->only_rank[i] = RS_NONE;
    for (uint32_t i = 0; i < m->nranks; i++) {
        uint32_t *at = &f->only_rank[m->ranks[i].proc];
        *at = *at == RS_NONE ? i : several;
    }
    for (uint32_t i = 0; i < m->nprocs; i++)
        if (f->only_rank[i] == several) f->only_rank[i] = RS_NONE;
}

enum rs_status rs_sql_fill_model(struct rs_sql_fill *f, struct rs_err *err)
{
    if (rs_sql_wants(f, RS_SQL_META)) RS_TRY(meta(f, err));
    if (rs_sql_wants(f, RS_SQL_PROCESSES)) RS_TRY(processes(f, err));
    if (rs_sql_wants(f, RS_SQL_RANKS)) RS_TRY(ranks(f, err));
    if (rs_sql_wants(f, RS_SQL_COMMUNICATORS) || rs_sql_wants(f, RS_SQL_MEMBERS)) RS_TRY(communicators(f, err));
    if (rs_sql_wants(f, RS_SQL_OPERATIONS) || rs_sql_wants(f, RS_SQL_OPERATION_RANKS)) RS_TRY(operations(f, err));
    if (rs_sql_wants(f, RS_SQL_STRAGGLERS)) RS_TRY(stragglers(f, err));
    if (rs_sql_wants(f, RS_SQL_CLOCKS)) RS_TRY(clocks(f, err));
    if (rs_sql_wants(f, RS_SQL_STATISTICS)) RS_TRY(statistics(f, err));
    return RS_OK;
}

static enum rs_status strings(struct rs_sql_fill *f, struct rs_err *err)
{
    for (uint32_t i = 0; i < f->t->texts.n; i++) {
        const struct rs_sql_string_row row = {i, f->t->texts.rows[i].text, f->t->texts.rows[i].n};
        RS_TRY(rs_sql_row(f->db, RS_SQL_STRINGS, &row, err));
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
    rs_strbuf_free(&f->text);
    free(f->json);
    free(f->only_rank);
    free(f->lanes);
    rs_sql_kinds_free(f);
    *f = (struct rs_sql_fill){0};
}

#endif

/* Operations, what each rank did in them, and who was late: as `ops --json` and `report --json` tell them. */
#include "export/sqlite/fill.h"

#ifndef RS_NO_SQLITE

#include "fields/operation.h"
#include "fields/report.h"

static enum rs_status fill(struct rs_sql_fill *f, struct rs_op_row *row, struct rs_err *err)
{
    const struct rs_timeline *t = f->t;
    for (uint32_t k = 0; k < t->nops; k++) {
        if (rs_sql_wants(f, RS_SQL_OPERATIONS)) {
            rs_op_row_make(row, t->ops[k]);
            RS_TRY(rs_sql_fields(f, RS_SQL_OPERATIONS, row, err));
        } else {
            rs_op_row_begin(row, t->ops[k]);
        }
        if (!rs_sql_wants(f, RS_SQL_OPERATION_RANKS)) continue;
        struct rs_op_rank_row rank = {.op = row};
        for (uint32_t at = 0; rs_op_rank_row_next(&rank, &at);)
            RS_TRY(rs_sql_fields(f, RS_SQL_OPERATION_RANKS, &rank, err));
    }
    return RS_OK;
}

enum rs_status rs_sql_fill_operations(struct rs_sql_fill *f, struct rs_err *err)
{
    struct rs_presence_index presence = {0};
    if (!rs_sql_into(f->db, RS_SQL_OPERATIONS, err) || !rs_sql_into(f->db, RS_SQL_OPERATION_RANKS, err))
        return err->code;
    rs_presence_init(&presence, f->t->model);
    struct rs_op_row row = {.m = f->t->model, .presence = &presence, .numbers = f->t->op_number};
    enum rs_status status = fill(f, &row, err);
    rs_presence_free(&presence);
    return status;
}

/* ---- who was late ---- */

enum rs_status rs_sql_fill_stragglers(struct rs_sql_fill *f, struct rs_err *err)
{
    if (!rs_sql_into(f->db, RS_SQL_STRAGGLERS, err)) return err->code;
    struct rs_report report;
    RS_TRY(rs_report_init(&report, f->t->model, &(struct rs_report_options){.filter = &f->filter}, err));
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < report.stragglers.nrows && status == RS_OK; i++) {
        const struct rs_straggler *x = &report.stragglers.rows[i];
        struct rs_straggler_fields row;
        if (x->cost_ns <= 0 && x->inherited_ns <= 0) continue;
        rs_straggler_fields_make(&row, &report, x); /* ranks of all views of a model are the same */
        status = rs_sql_fields(f, RS_SQL_STRAGGLERS, &row, err);
    }
    rs_report_free(&report);
    return status;
}

#endif

/* The clocks of each process and device: as `clocks --json` tells them. */
#include "export/sqlite/fill.h"

#ifndef RS_NO_SQLITE

#include "fields/clock.h"

enum rs_status rs_sql_fill_clocks(struct rs_sql_fill *f, struct rs_err *err)
{
    if (!rs_sql_into(f->db, RS_SQL_CLOCKS, err)) return err->code;
    struct rs_clock_rows rows;
    rs_clock_rows_init(&rows, f->t->model, &f->filter);
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < rows.n && status == RS_OK; i++) {
        struct rs_clock_fields row;
        rs_clock_fields_make(&row, f->t->model, &rows, &rows.all[i]);
        status = rs_sql_fields(f, RS_SQL_CLOCKS, &row, err);
    }
    rs_clock_rows_free(&rows);
    return status;
}

#endif

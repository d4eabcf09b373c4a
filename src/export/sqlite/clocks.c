/* The clocks of each process and device: as `clocks --json` tells them. */
#include "export/sqlite/fill.h"

#ifndef RS_NO_SQLITE

#include "fields/clock.h"

enum rs_status rs_sql_fill_clocks(struct rs_sql_fill *f, struct rs_err *err)
{
    if (!rs_sql_into(f->db, RS_SQL_CLOCKS, err)) return err->code;
    struct rs_clock_rows rows;
    bool made = rs_clock_rows_init(&rows, f->t->model, &f->filter);
    enum rs_status status = made ? RS_OK : rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; made && i < rows.n && status == RS_OK; i++) {
        struct rs_clock_fields row;
        status = rs_clock_fields_make(&row, f->t->model, &rows, &rows.all[i], err);
        if (status == RS_OK) status = rs_sql_fields(f, RS_SQL_CLOCKS, &row, err);
    }
    rs_clock_rows_free(&rows);
    return status;
}

#endif

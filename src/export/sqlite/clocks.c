/* The clocks of each process and device: as `clocks --json` tells them. */
#include "export/sqlite/fill.h"

#ifndef RS_NO_SQLITE

#include "join/clock_rows.h"
#include "join/clocks.h"

static void drift(struct rs_sql_insert *in, const struct rs_model *m, uint32_t domain)
{
    if (domain == RS_NONE || m->domains[domain].method == RS_CLOCK_NONE)
        rs_sql_null(in);
    else
        rs_sql_double(in, m->domains[domain].drift_ppm);
}

static void place(struct rs_sql_fill *f, struct rs_sql_insert *in, const struct rs_clock_row *row)
{
    const struct rs_model *m = f->t->model;
    const struct rs_proc *p = &m->procs[row->proc];
    rs_sql_i64(in, row->proc);
    rs_sql_text(in, rs_host_name(m, p->host));
    rs_sql_pid(in, p->pid);
    rs_sql_known(in, row->device);
    rs_sql_json_begin(f);
    rs_json_array(f->json);
    for (uint32_t i = 0; i < row->nranks; i++) rs_json_i64(f->json, row->ranks[i]);
    rs_json_end(f->json);
    rs_sql_json_bind(f, in);
}

static enum rs_status put(struct rs_sql_fill *f, struct rs_sql_insert *in, const struct rs_clock_rows *r,
                          const struct rs_clock_row *row, struct rs_err *err)
{
    struct rs_model *m = f->t->model;
    const struct rs_domain *gpu = row->gpu == RS_NONE ? NULL : &m->domains[row->gpu], *own = rs_clock_own(m, row);
    uint32_t host = rs_clock_of_host(m, row);
    struct rs_late late = {RS_TIME_NONE, RS_TIME_NONE};
    if (gpu) RS_TRY(rs_clocks_late(m, row->gpu, &late, err));
    place(f, in, row);
    rs_sql_time(in, rs_clock_offset(m, r, host));
    drift(in, m, host);
    rs_sql_time(in, rs_clock_host_error(m, r, row));
    rs_sql_time(in, rs_clock_offset(m, r, row->gpu));
    rs_sql_time(in, rs_clock_error(m, r, row->gpu));
    rs_sql_text(in, rs_clock_method_name(own->method));
    rs_sql_uuid(in, gpu ? gpu->uuid : NULL);
    drift(in, m, row->gpu);
    rs_sql_time(in, late.p50_ns);
    rs_sql_time(in, late.p99_ns);
    rs_sql_i64(in, gpu ? (int64_t)gpu->overruns : 0);
    rs_sql_i64(in, gpu ? (int64_t)gpu->stale : 0);
    rs_sql_i64(in, gpu ? (int64_t)gpu->timers : 0);
    rs_sql_text(in, rs_clock_method_name(m->domains[host].method));
    rs_sql_time(in, own->hull_low_ns);
    rs_sql_time(in, own->hull_high_ns);
    rs_sql_i64(in, r->islands[own - m->domains]);
    rs_sql_i64(in, own->fitted);
    rs_sql_time(in, own->spread_ns);
    rs_sql_i64(in, own->axis.n > 1 ? own->axis.n - 1 : own->axis.n);
    return rs_sql_row(f->db, RS_SQL_CLOCKS, err);
}

enum rs_status rs_sql_fill_clocks(struct rs_sql_fill *f, struct rs_err *err)
{
    struct rs_sql_insert *in = rs_sql_into(f->db, RS_SQL_CLOCKS, err);
    if (!in) return err->code;
    struct rs_clock_rows rows;
    bool made = rs_clock_rows_make(&rows, f->t->model, &f->filter);
    enum rs_status status = made ? RS_OK : rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; made && i < rows.n && status == RS_OK; i++) status = put(f, in, &rows, &rows.all[i], err);
    rs_clock_rows_free(&rows);
    return status;
}

#endif

#include "cli/clocks_json.h"

#include "cli/model_json.h"

static void put_drift(struct rs_json *j, const char *key, const struct rs_model *m, uint32_t domain)
{
    if (domain == RS_NONE || m->domains[domain].method == RS_CLOCK_NONE)
        rs_json_key_null(j, key);
    else
        rs_json_key_double(j, key, m->domains[domain].drift_ppm);
}

static void put_gpu(struct rs_json *j, const struct rs_model *m, const struct rs_clock_row *row,
                    const struct rs_late *late)
{
    const struct rs_domain *gpu = row->gpu == RS_NONE ? NULL : &m->domains[row->gpu];
    rs_uuid_json(j, gpu ? gpu->uuid : NULL);
    put_drift(j, "gpu_drift_ppm", m, row->gpu);
    rs_json_key(j, "read_late_ns");
    rs_json_object(j);
    rs_time_json(j, "p50", late->p50_ns);
    rs_time_json(j, "p99", late->p99_ns);
    rs_json_end(j);
    rs_json_key_u64(j, "ring_overruns", gpu ? gpu->overruns : 0);
    rs_json_key_u64(j, "stale_timers", gpu ? gpu->stale : 0);
    rs_json_key_u64(j, "timers", gpu ? gpu->timers : 0);
}

static void put_fit(struct rs_json *j, const struct rs_model *m, const struct rs_clock_rows *r,
                    const struct rs_clock_row *row)
{
    const struct rs_domain *own = rs_clock_own(m, row);
    rs_json_key_str(j, "host_method", rs_clock_method_name(m->domains[rs_clock_of_host(m, row)].method));
    rs_json_key(j, "hull_ns");
    rs_json_array(j);
    for (int side = 0; side < 2; side++) {
        int64_t hull = side ? own->hull_high_ns : own->hull_low_ns;
        if (hull == RS_TIME_NONE)
            rs_json_null(j);
        else
            rs_json_i64(j, hull);
    }
    rs_json_end(j);
    rs_json_key_u64(j, "island", r->islands[own - m->domains]);
    rs_json_key_u64(j, "fitted", own->fitted);
    rs_time_json(j, "spread_ns", own->spread_ns);
    rs_json_key_u64(j, "pieces", own->axis.n > 1 ? own->axis.n - 1 : own->axis.n);
    rs_time_json(j, "at_ns", m->aligned ? r->at : RS_TIME_NONE);
    rs_json_key_number_or_null(j, "compare_error_ns", r->compare_error_ns);
}

static void put_row(struct rs_json *j, struct rs_model *m, const struct rs_clock_rows *r,
                    const struct rs_clock_row *row, const struct rs_late *late)
{
    const struct rs_proc *p = &m->procs[row->proc];
    rs_json_object(j);
    rs_json_key_str(j, "host", rs_host_name(m, p->host));
    rs_pid_json(j, p->pid);
    rs_json_key_number_or_null(j, "device", row->device);
    rs_json_key(j, "ranks");
    rs_json_array(j);
    for (uint32_t i = 0; i < row->nranks; i++) rs_json_i64(j, row->ranks[i]);
    rs_json_end(j);
    rs_time_json(j, "offset_ns", rs_clock_offset(m, r, rs_clock_of_host(m, row)));
    put_drift(j, "drift_ppm", m, rs_clock_of_host(m, row));
    rs_time_json(j, "error_ns", rs_clock_host_error(m, r, row));
    rs_time_json(j, "gpu_offset_ns", rs_clock_offset(m, r, row->gpu));
    rs_time_json(j, "gpu_error_ns", rs_clock_error(m, r, row->gpu));
    rs_json_key_str(j, "method", rs_clock_method_name(rs_clock_own(m, row)->method));
    put_gpu(j, m, row, late);
    put_fit(j, m, r, row);
    rs_json_end(j);
    rs_json_newline(j);
}

enum rs_status rs_clocks_late_of(struct rs_model *m, const struct rs_clock_row *row, struct rs_late *late,
                                 struct rs_err *err)
{
    *late = (struct rs_late){RS_TIME_NONE, RS_TIME_NONE};
    return row->gpu == RS_NONE ? RS_OK : rs_clocks_late(m, row->gpu, late, err);
}

enum rs_status rs_clocks_json(struct rs_json *j, struct rs_model *m, const struct rs_clock_rows *r, struct rs_err *err)
{
    for (uint32_t i = 0; i < r->n && !rs_json_failed(j); i++) {
        struct rs_late late;
        RS_TRY(rs_clocks_late_of(m, &r->all[i], &late, err));
        put_row(j, m, r, &r->all[i], &late);
    }
    return RS_OK;
}

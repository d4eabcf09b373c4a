#include "fields/rank.h"
#include "fields/report.h"

#define MODEL r->report->view.model

/* ---- roles ---- */

static bool next_of_role(const void *row, uint32_t *at, struct rs_value *item)
{
    const struct rs_role_fields *r = row;
    if (*at >= r->n) return false;
    *item = rs_v_rank(MODEL, r->ranks[(*at)++]);
    return true;
}

#define RS_ROWS_FILE "fields/role.inc"
#define RS_ROW struct rs_role_fields
#define RS_GET(id) role_##id
#define RS_FIELDS static const struct rs_out_field role[]
#include "fields/table.inc"

const struct rs_out_table rs_out_role = {"role", "report --json: roles[]", role, sizeof role / sizeof *role, NULL,
                                         NULL};

/* ---- ranks that compute longer ---- */

struct slow_gpu {
    const struct rs_report *report;
    const struct rs_compute_row *row;
};

static void write_slow_kernels(struct rs_json *j, const void *row)
{
    const struct slow_gpu *r = row;
    rs_json_array(j);
    for (uint32_t i = 0; i < r->row->nkernels; i++) {
        const struct rs_compute_kernel *k = &r->row->kernels[i];
        rs_json_object(j);
        rs_json_key_str(j, "name", rs_model_name_text(MODEL, k->name));
        rs_json_key_i64(j, "excess_ns", k->excess_ns);
        rs_json_key_double(j, "launches", k->launches);
        rs_json_key_double(j, "usual_launches", k->usual_launches);
        rs_json_end(j);
    }
    rs_json_end(j);
}

#define RS_ROWS_FILE "fields/slow_gpu.inc"
#define RS_ROW struct slow_gpu
#define RS_GET(id) slow_gpu_##id
#define RS_FIELDS static const struct rs_out_field slow_gpu[]
#include "fields/table.inc"

const struct rs_out_table rs_out_slow_gpu = {
    "slow GPU", "report --json: compute.longer[]", slow_gpu, sizeof slow_gpu / sizeof *slow_gpu, NULL, NULL};

/* ---- all ---- */

static void write_longer(struct rs_json *j, const void *row)
{
    const struct rs_compute_fields *r = row;
    rs_json_array(j);
    for (uint32_t i = 0; i < r->report->compute.n; i++)
        rs_out_json(j, &rs_out_slow_gpu, &(struct slow_gpu){r->report, &r->report->compute.rows[i]});
    rs_json_end(j);
}

#define RS_ROWS_FILE "fields/compute.inc"
#define RS_ROW struct rs_compute_fields
#define RS_GET(id) compute_##id
#define RS_FIELDS static const struct rs_out_field compute[]
#include "fields/table.inc"

const struct rs_out_table rs_out_compute = {
    "compute", "report --json: compute", compute, sizeof compute / sizeof *compute, NULL, NULL};

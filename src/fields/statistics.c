#include "fields/statistics.h"

#define MODEL r->s->model

/* ---- what one process has of a row ---- */

struct cell_row {
    const struct rs_statistics *s;
    const struct rs_cell *cell;
    bool operation; /* of an operation: also its rank, bytes and wait */
    bool on_gpu; /* also its share of the GPU time */
};

int64_t rs_cell_average(const struct rs_cell *c)
{
    return c->total_ns == RS_TIME_NONE || !c->calls ? RS_TIME_NONE : (int64_t)((uint64_t)c->total_ns / c->calls);
}

static bool of_operation(const void *row)
{
    return ((const struct cell_row *)row)->operation;
}

static bool of_gpu(const void *row)
{
    return ((const struct cell_row *)row)->on_gpu;
}

#define RS_ROWS_FILE "fields/stat_cell.inc"
#define RS_ROW struct cell_row
#define RS_GET(id) cell_##id
#define RS_FIELDS static const struct rs_out_field stat_cell[]
#include "fields/table.inc"

const struct rs_out_table rs_out_stat_cell = {"statistics of a process in a row",
                                              "report --json: statistics.operations[].processes[]",
                                              stat_cell,
                                              sizeof stat_cell / sizeof *stat_cell,
                                              NULL,
                                              NULL};

static bool is_on_gpu(uint8_t kind)
{
    return kind == RS_STAT_KERNEL || kind == RS_STAT_COMM || kind == RS_STAT_COPY;
}

static void cells_json(struct rs_json *j, const struct rs_statistics *s, const struct rs_stat_row *row, bool operation)
{
    rs_json_array(j);
    for (uint32_t i = 0; i < row->n; i++)
        rs_out_json(j, &rs_out_stat_cell,
                    &(struct cell_row){s, &s->cells[row->first + i], operation, is_on_gpu(row->kind)});
    rs_json_end(j);
}

/* ---- rows ---- */

struct stat_row {
    const struct rs_statistics *s;
    const struct rs_stat_row *row;
    const struct rs_cell *cell; /* its first */
};

static const char *kind_name(uint8_t kind)
{
    static const char *const names[] = {
        [RS_STAT_KERNEL] = "kernel",      [RS_STAT_COMM] = "nccl_kernel", [RS_STAT_COPY] = "copy",
        [RS_STAT_CALL] = "call",          [RS_STAT_RANGE] = "range",      [RS_STAT_RANGE_WORK] = "range_work",
        [RS_STAT_OPERATION] = "operation"};
    return kind < sizeof names / sizeof *names ? names[kind] : "?";
}

static void write_operation_cells(struct rs_json *j, const void *row)
{
    const struct stat_row *r = row;
    cells_json(j, r->s, r->row, true);
}

static void write_cells(struct rs_json *j, const void *row)
{
    const struct stat_row *r = row;
    cells_json(j, r->s, r->row, false);
}

#define RS_ROWS_FILE "fields/stat_operation.inc"
#define RS_ROW struct stat_row
#define RS_GET(id) operation_##id
#define RS_FIELDS static const struct rs_out_field stat_operation[]
#include "fields/table.inc"

const struct rs_out_table rs_out_stat_operation = {"statistics of an operation",
                                                   "report --json: statistics.operations[]",
                                                   stat_operation,
                                                   sizeof stat_operation / sizeof *stat_operation,
                                                   NULL,
                                                   NULL};

#define RS_ROWS_FILE "fields/stat_call.inc"
#define RS_ROW struct stat_row
#define RS_GET(id) call_##id
#define RS_FIELDS static const struct rs_out_field stat_call[]
#include "fields/table.inc"

const struct rs_out_table rs_out_stat_call = {"statistics of a host call",
                                              "report --json: statistics.host_calls[]",
                                              stat_call,
                                              sizeof stat_call / sizeof *stat_call,
                                              NULL,
                                              NULL};

#define RS_ROWS_FILE "fields/stat_range.inc"
#define RS_ROW struct stat_row
#define RS_GET(id) range_##id
#define RS_FIELDS static const struct rs_out_field stat_range[]
#include "fields/table.inc"

const struct rs_out_table rs_out_stat_range = {"statistics of a range",
                                               "report --json: statistics.ranges[]",
                                               stat_range,
                                               sizeof stat_range / sizeof *stat_range,
                                               NULL,
                                               NULL};

#define RS_ROWS_FILE "fields/stat_kernel.inc"
#define RS_ROW struct stat_row
#define RS_GET(id) kernel_##id
#define RS_FIELDS static const struct rs_out_field stat_kernel[]
#include "fields/table.inc"

const struct rs_out_table rs_out_stat_kernel = {"statistics of a kernel",
                                                "report --json: statistics.kernels[]",
                                                stat_kernel,
                                                sizeof stat_kernel / sizeof *stat_kernel,
                                                NULL,
                                                NULL};

/* ---- processes ---- */

struct process_row {
    const struct rs_model *m;
    const struct rs_proc *proc;
    const struct rs_stat_process *row;
    double nccl_share;
};

#define RS_ROWS_FILE "fields/stat_process.inc"
#define RS_ROW struct process_row
#define RS_GET(id) process_##id
#define RS_FIELDS static const struct rs_out_field stat_process[]
#include "fields/table.inc"

const struct rs_out_table rs_out_stat_process = {"statistics of a process",
                                                 "report --json: statistics.processes[]",
                                                 stat_process,
                                                 sizeof stat_process / sizeof *stat_process,
                                                 NULL,
                                                 NULL};

/* ---- metrics ---- */

struct metric_row {
    const struct rs_model *m;
    const struct rs_metric *row;
};

#define RS_ROWS_FILE "fields/metric.inc"
#define RS_ROW struct metric_row
#define RS_GET(id) metric_##id
#define RS_FIELDS static const struct rs_out_field metric[]
#include "fields/table.inc"

const struct rs_out_table rs_out_metric = {
    "metric", "report --json: statistics.metrics[]", metric, sizeof metric / sizeof *metric, NULL, NULL};

/* ---- the whole ---- */

static void write_processes(struct rs_json *j, const void *row)
{
    const struct rs_statistics_fields *r = row;
    rs_json_array(j);
    for (uint32_t i = 0; i < MODEL->nprocs; i++)
        if (r->s->procs[i].has_rows)
            rs_out_json(j, &rs_out_stat_process,
                        &(struct process_row){MODEL, &MODEL->procs[i], &r->s->procs[i],
                                              rs_statistics_share(r->s, i, r->s->procs[i].comm_ns)});
    rs_json_end(j);
}

static void rows_json(struct rs_json *j, const void *row, enum rs_table_of which, const struct rs_out_table *table)
{
    const struct rs_statistics *s = ((const struct rs_statistics_fields *)row)->s;
    rs_json_array(j);
    for (uint32_t i = 0; i < s->nrows[which]; i++) {
        const struct rs_stat_row *x = &s->rows[which][i];
        rs_out_json(j, table, &(struct stat_row){s, x, &s->cells[x->first]});
    }
    rs_json_end(j);
}

static void write_operations(struct rs_json *j, const void *row)
{
    rows_json(j, row, RS_TABLE_OPERATIONS, &rs_out_stat_operation);
}

static void write_host_calls(struct rs_json *j, const void *row)
{
    rows_json(j, row, RS_TABLE_CALLS, &rs_out_stat_call);
}

static void write_ranges(struct rs_json *j, const void *row)
{
    rows_json(j, row, RS_TABLE_RANGES, &rs_out_stat_range);
}

static void write_kernels(struct rs_json *j, const void *row)
{
    rows_json(j, row, RS_TABLE_KERNELS, &rs_out_stat_kernel);
}

static void write_metrics(struct rs_json *j, const void *row)
{
    const struct rs_statistics_fields *r = row;
    rs_json_array(j);
    for (uint32_t i = 0; i < MODEL->nmetrics; i++)
        rs_out_json(j, &rs_out_metric, &(struct metric_row){MODEL, &MODEL->metrics[i]});
    rs_json_end(j);
}

static bool next_note(const void *row, uint32_t *at, struct rs_value *item)
{
    const struct rs_statistics_fields *r = row;
    if (*at >= MODEL->nnotes) return false;
    *item = rs_v_text(MODEL->notes[(*at)++].text);
    return true;
}

#define RS_ROWS_FILE "fields/statistics.inc"
#define RS_ROW struct rs_statistics_fields
#define RS_GET(id) statistics_##id
#define RS_FIELDS static const struct rs_out_field statistics[]
#include "fields/table.inc"

const struct rs_out_table rs_out_statistics = {
    "statistics", "report --json: statistics", statistics, sizeof statistics / sizeof *statistics, NULL, NULL};

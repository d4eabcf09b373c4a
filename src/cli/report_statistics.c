#include "cli/report_statistics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/model_json.h"
#include "cli/output.h"
#include "cli/table.h"

enum { MOST_ROWS = 10, MOST_OPERATIONS = 12 }; /* in the text; --json has them all */

/* ---- text ---- */

static void print_table(struct rs_table *t, const char *title, uint64_t all, uint64_t shown)
{
    printf("\n%s\n", title);
    rs_table_print(t, "", stdout);
    rs_table_free(t);
    if (all > shown) printf("and %s more (--json has all)\n", rs_text_count(all - shown).s);
}

static void columns(struct rs_table *t, const char *const *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++) rs_table_column(t, RS_RIGHT, numbers[i]);
}

static void time_cell(struct rs_table *t, int64_t ns)
{
    rs_table_cell(t, "%s", ns == RS_TIME_NONE ? "?" : rs_text_ns(ns).s);
}

static int64_t average(const struct rs_cell *c)
{
    return c->total_ns == RS_TIME_NONE || !c->calls ? RS_TIME_NONE : (int64_t)((uint64_t)c->total_ns / c->calls);
}

static void process_cell(struct rs_table *t, const struct rs_statistics *s, uint32_t proc)
{
    if (s->model->procs[proc].pid)
        rs_table_cell(t, "%" PRIu32, s->model->procs[proc].pid);
    else
        rs_table_cell(t, "?");
}

static void name_cell(struct rs_table *t, const struct rs_statistics *s, uint32_t name)
{
    rs_table_name(t, rs_model_name_text(s->model, name));
}

static void print_operations(const struct rs_statistics *s)
{
    static const char *const numbers[] = {"process", "calls", "time", "avg", "min", "max", "waiting"};
    uint32_t n = s->nrows[RS_TABLE_OPERATIONS], shown = 0;
    struct rs_table t = {0};
    if (!n) return;
    rs_table_column(&t, RS_LEFT, "function");
    columns(&t, numbers, sizeof numbers / sizeof *numbers);
    rs_table_column(&t, RS_LEFT, "name");
    for (; shown < n && shown < MOST_OPERATIONS; shown++) {
        const struct rs_stat_row *row = &s->rows[RS_TABLE_OPERATIONS][shown];
        for (uint32_t i = 0; i < row->n; i++) {
            const struct rs_cell *c = &s->cells[row->first + i];
            rs_table_cell(&t, "%s", i ? "" : row->func ? rs_model_text(s->model, row->func) : "?");
            process_cell(&t, s, c->proc);
            rs_table_cell(&t, "%s", rs_text_count(c->calls).s);
            time_cell(&t, c->total_ns);
            time_cell(&t, average(c));
            time_cell(&t, c->min_ns);
            time_cell(&t, c->max_ns);
            time_cell(&t, c->wait_ns);
            if (i)
                rs_table_cell(&t, "%s", "");
            else
                name_cell(&t, s, row->name);
        }
    }
    print_table(&t, "NCCL in summaries, process by process; waiting: the time above the fastest process", n, shown);
}

/* Rows of host calls and kernels alike. */
static void print_rows(const struct rs_statistics *s, enum rs_table_of table, const char *title)
{
    static const char *const numbers[] = {"process", "calls", "time", "avg"};
    uint32_t n = s->nrows[table], shown = 0;
    struct rs_table t = {0};
    if (!n) return;
    rs_table_column(&t, RS_LEFT, "name");
    if (table == RS_TABLE_CALLS) rs_table_column(&t, RS_RIGHT, "differs by");
    columns(&t, numbers, sizeof numbers / sizeof *numbers);
    for (; shown < n && shown < MOST_ROWS; shown++) {
        const struct rs_stat_row *row = &s->rows[table][shown];
        for (uint32_t i = 0; i < row->n; i++) {
            const struct rs_cell *c = &s->cells[row->first + i];
            if (i)
                rs_table_cell(&t, "%s", "");
            else
                name_cell(&t, s, row->name);
            if (table == RS_TABLE_CALLS && i) rs_table_cell(&t, "%s", "");
            if (table == RS_TABLE_CALLS && !i) time_cell(&t, row->spread_ns);
            process_cell(&t, s, c->proc);
            rs_table_cell(&t, "%s", rs_text_count(c->calls).s);
            time_cell(&t, c->total_ns);
            time_cell(&t, average(c));
        }
    }
    print_table(&t, title, n, shown);
}

static void print_ranges(const struct rs_statistics *s)
{
    static const char *const numbers[] = {"calls", "time", "avg", "GPU time inside"};
    uint32_t n = s->nrows[RS_TABLE_RANGES], shown = 0;
    struct rs_table t = {0};
    if (!n) return;
    rs_table_column(&t, RS_RIGHT, "process");
    rs_table_column(&t, RS_RIGHT, "thread");
    rs_table_column(&t, RS_LEFT, "range");
    columns(&t, numbers, sizeof numbers / sizeof *numbers);
    for (; shown < n && shown < MOST_ROWS; shown++) {
        const struct rs_stat_row *row = &s->rows[RS_TABLE_RANGES][shown];
        const struct rs_cell *c = &s->cells[row->first];
        process_cell(&t, s, c->proc);
        rs_table_cell(&t, "%s", row->thread ? rs_model_name_text(s->model, row->thread) : "?");
        name_cell(&t, s, row->name);
        rs_table_cell(&t, "%s", rs_text_count(c->calls).s);
        time_cell(&t, c->total_ns);
        time_cell(&t, average(c));
        rs_table_cell(&t, "%s", c->gpu_calls ? rs_text_ns(c->gpu_ns).s : "-");
    }
    print_table(&t, "annotated ranges (NVTX), by process and thread", n, shown);
}

void rs_statistics_print(const struct rs_statistics *s)
{
    if (!s->cells) return;
    print_operations(s);
    print_ranges(s);
    print_rows(s, RS_TABLE_CALLS, "host calls, by how much they differ between the processes that ran kernels");
    print_rows(s, RS_TABLE_KERNELS, "other work on the GPU");
}

/* ---- JSON ---- */

static const char *kind_name(uint8_t kind)
{
    static const char *const names[] = {
        [RS_STAT_KERNEL] = "kernel",      [RS_STAT_COMM] = "nccl_kernel", [RS_STAT_COPY] = "copy",
        [RS_STAT_CALL] = "call",          [RS_STAT_RANGE] = "range",      [RS_STAT_RANGE_WORK] = "range_work",
        [RS_STAT_OPERATION] = "operation"};
    return kind < sizeof names / sizeof *names ? names[kind] : "?";
}

static void amounts_json(struct rs_json *j, const struct rs_statistics *s, const struct rs_cell *c)
{
    const struct rs_proc *p = &s->model->procs[c->proc];
    rs_json_key_str(j, "host", rs_host_name(s->model, p->host));
    rs_pid_json(j, p->pid);
    rs_json_key_u64(j, "calls", c->calls);
    rs_time_json(j, "total_ns", c->total_ns);
    rs_time_json(j, "avg_ns", average(c));
    rs_time_json(j, "min_ns", c->min_ns);
    rs_time_json(j, "max_ns", c->max_ns);
}

static void cells_json(struct rs_json *j, const struct rs_statistics *s, const struct rs_stat_row *row, bool operation)
{
    rs_json_key(j, "processes");
    rs_json_array(j);
    for (uint32_t i = 0; i < row->n; i++) {
        const struct rs_cell *c = &s->cells[row->first + i];
        rs_json_object(j);
        amounts_json(j, s, c);
        if (operation) {
            int32_t rank = c->member != RS_NONE ? s->model->members[c->member].global_rank : -1;
            rs_json_key_number_or_null(j, "rank", rank);
            rs_json_key_number_or_null(j, "bytes", c->bytes && c->bytes <= INT64_MAX ? (int64_t)c->bytes : -1);
            rs_time_json(j, "wait_ns", c->wait_ns);
        }
        rs_json_end(j);
    }
    rs_json_end(j);
}

static void operations_json(struct rs_json *j, const struct rs_statistics *s)
{
    rs_json_key(j, "operations");
    rs_json_array(j);
    for (uint32_t i = 0; i < s->nrows[RS_TABLE_OPERATIONS]; i++) {
        const struct rs_stat_row *row = &s->rows[RS_TABLE_OPERATIONS][i];
        rs_json_object(j);
        rs_json_key_str(j, "func", row->func ? rs_model_text(s->model, row->func) : NULL);
        rs_json_key_str(j, "name", row->name ? rs_model_name_text(s->model, row->name) : NULL);
        rs_json_key_str(j, "kind", kind_name(row->kind));
        if (row->comm != RS_NONE && s->model->comms[row->comm].hash)
            rs_json_key_hex(j, "comm", s->model->comms[row->comm].hash);
        else
            rs_json_key_null(j, "comm");
        rs_json_key_i64(j, "total_ns", row->total_ns);
        rs_time_json(j, "wait_ns", row->wait_ns);
        cells_json(j, s, row, true);
        rs_json_end(j);
    }
    rs_json_end(j);
}

static void calls_json(struct rs_json *j, const struct rs_statistics *s)
{
    rs_json_key(j, "host_calls");
    rs_json_array(j);
    for (uint32_t i = 0; i < s->nrows[RS_TABLE_CALLS]; i++) {
        const struct rs_stat_row *row = &s->rows[RS_TABLE_CALLS][i];
        rs_json_object(j);
        rs_json_key_str(j, "name", rs_model_name_text(s->model, row->name));
        rs_json_key_i64(j, "total_ns", row->total_ns);
        rs_time_json(j, "spread_ns", row->spread_ns);
        cells_json(j, s, row, false);
        rs_json_end(j);
    }
    rs_json_end(j);
}

static void ranges_json(struct rs_json *j, const struct rs_statistics *s)
{
    rs_json_key(j, "ranges");
    rs_json_array(j);
    for (uint32_t i = 0; i < s->nrows[RS_TABLE_RANGES]; i++) {
        const struct rs_stat_row *row = &s->rows[RS_TABLE_RANGES][i];
        const struct rs_cell *c = &s->cells[row->first];
        rs_json_object(j);
        rs_json_key_str(j, "name", rs_model_name_text(s->model, row->name));
        rs_json_key_str(j, "domain", row->within ? rs_model_name_text(s->model, row->within) : NULL);
        rs_json_key_str(j, "thread", row->thread ? rs_model_name_text(s->model, row->thread) : NULL);
        amounts_json(j, s, c);
        rs_json_key_i64(j, "gpu_ns", c->gpu_ns);
        rs_json_key_u64(j, "gpu_calls", c->gpu_calls);
        rs_json_end(j);
    }
    rs_json_end(j);
}

static void kernels_json(struct rs_json *j, const struct rs_statistics *s)
{
    rs_json_key(j, "kernels");
    rs_json_array(j);
    for (uint32_t i = 0; i < s->nrows[RS_TABLE_KERNELS]; i++) {
        const struct rs_stat_row *row = &s->rows[RS_TABLE_KERNELS][i];
        rs_json_object(j);
        rs_json_key_str(j, "name", rs_model_name_text(s->model, row->name));
        rs_json_key_str(j, "kind", kind_name(row->kind));
        rs_json_key_i64(j, "total_ns", row->total_ns);
        cells_json(j, s, row, false);
        rs_json_end(j);
    }
    rs_json_end(j);
}

static void processes_json(struct rs_json *j, const struct rs_statistics *s)
{
    rs_json_key(j, "processes");
    rs_json_array(j);
    for (uint32_t i = 0; i < s->model->nprocs; i++) {
        const struct rs_stat_process *x = &s->procs[i];
        const struct rs_proc *p = &s->model->procs[i];
        if (!x->has_rows) continue;
        rs_json_object(j);
        rs_json_key_str(j, "host", rs_host_name(s->model, p->host));
        rs_pid_json(j, p->pid);
        rs_json_key_str(j, "path", p->path);
        rs_json_key_i64(j, "gpu_ns", x->gpu_ns);
        rs_json_key_i64(j, "nccl_ns", x->comm_ns);
        rs_time_json(j, "wait_ns", x->wait_ns);
        rs_json_end(j);
    }
    rs_json_end(j);
}

void rs_statistics_json(struct rs_json *j, const struct rs_statistics *s)
{
    rs_json_key(j, "statistics");
    if (!s->cells) {
        rs_json_null(j);
        return;
    }
    rs_json_object(j);
    processes_json(j, s);
    operations_json(j, s);
    calls_json(j, s);
    ranges_json(j, s);
    kernels_json(j, s);
    rs_json_key(j, "notes");
    rs_json_array(j);
    for (uint32_t i = 0; i < s->model->nnotes; i++) rs_json_str(j, s->model->notes[i].text);
    rs_json_end(j);
    rs_json_end(j);
}

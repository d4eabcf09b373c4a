#include "cli/report_statistics.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/output.h"
#include "cli/table.h"
#include "fields/statistics.h"

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
            time_cell(&t, rs_cell_average(c));
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
            time_cell(&t, rs_cell_average(c));
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
        time_cell(&t, rs_cell_average(c));
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

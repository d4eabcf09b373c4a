#include "cli/report_reference.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/print/output.h"
#include "cli/print/screen.h"
#include "cli/print/table.h"
#include "fields/reference.h"

enum { MOST_ROWS = 20 }; /* --json has them all */

/* ---- reading ---- */

const char *rs_reference_file(void *to, const char *path)
{
    struct rs_reference_files *f = to;
    if (f->n == RS_REFERENCES_MAX) return "names too many files";
    f->paths[f->n++] = path;
    return NULL;
}

static void add(struct rs_reference_files *f, unsigned i)
{
    const struct rs_nccl_tests *t = &f->tables[i];
    for (uint32_t k = 0; k < t->n; k++) {
        const struct rs_nccl_tests_row *row = &t->rows[k];
        struct rs_reference_point point = {row->func, row->dtype, row->nranks, row->bytes, rs_nccl_tests_best(row)};
        if (row->func) rs_reference_add(&f->reference, &point);
    }
    if (t->damage.code != RS_OK) rs_warn("report", "%s", t->damage.msg);
    if (t->unnamed)
        rs_warn("report",
                "%s: %" PRIu32 " of %" PRIu32 " rows: the test is unknown, or their bandwidths do not match it; name "
                "the file after the test (all_gather_perf.txt)",
                f->paths[i], t->unnamed, t->n);
}

enum rs_status rs_reference_read(struct rs_reference_files *f, struct rs_err *err)
{
    for (unsigned i = 0; i < f->n; i++) {
        RS_TRY(rs_nccl_tests_read(&f->tables[i], f->paths[i], err));
        add(f, i);
    }
    rs_reference_sort(&f->reference);
    if (f->n && !f->reference.n)
        return rs_fail(err, RS_BAD_INPUT, "%s: no bandwidth to compare a run with", f->paths[0]);
    return RS_OK;
}

void rs_reference_files_free(struct rs_reference_files *f)
{
    for (unsigned i = 0; i < f->n; i++) rs_nccl_tests_free(&f->tables[i]);
    rs_reference_free(&f->reference);
    f->n = 0;
}

/* ---- text ---- */

static void cell_share(struct rs_table *t, double share)
{
    if (isnan(share))
        rs_table_cell(t, "?");
    else
        rs_table_cell(t, "%.0f %%", 100 * share);
}

static void cells(struct rs_table *t, const struct rs_report *r, uint32_t i)
{
    static const char *const lacks[RS_LACKS] = {"",
                                                "counted differently by nccl-tests",
                                                "no such function",
                                                "not for that many ranks",
                                                "not for this type",
                                                "outside its sizes"};
    const struct rs_func_row *x = &r->bandwidth.rows[i];
    const struct rs_reached_row *y = &r->reached.rows[i];
    const char *dtype = rs_model_text(r->view.model, x->dtype);
    rs_table_cell(t, "%s", rs_model_text(r->view.model, x->func));
    if (x->unsized)
        rs_table_cell(t, "?");
    else if (x->bytes_min != x->bytes_max)
        rs_table_cell(t, "~%s", rs_text_bytes(x->bytes).s);
    else
        rs_table_cell(t, "%s", rs_text_size(x->bytes).s);
    if (x->nranks > 0)
        rs_table_cell(t, "%" PRId32, x->nranks);
    else
        rs_table_cell(t, "?");
    rs_table_cell(t, "%s", x->dtypes ? "several" : *dtype ? dtype : "?");
    rs_table_cell(t, "%s", rs_text_count(x->calls).s);
    rs_table_cell(t, "%s", rs_text_rate(y->possible).s);
    rs_table_cell(t, "%s", rs_text_rate(x->busbw).s);
    cell_share(t, y->share);
    rs_table_cell(t, "%s", rs_text_rate(x->busbw_seen).s);
    cell_share(t, y->share_seen);
    rs_table_cell(t, "%s", lacks[y->lack]);
}

void rs_reached_print(const struct rs_report *r, const struct rs_reference_files *f)
{
    static const enum rs_heading numbers[] = {RS_H_CALLS,  RS_H_REFERENCE, RS_H_ACHIEVED,
                                              RS_H_OF_REF, RS_H_INCL_WAIT, RS_H_OF_REF};
    struct rs_table t = {0};
    rs_table_column(&t, RS_LEFT, RS_H_FUNCTION);
    rs_table_column(&t, RS_RIGHT, RS_H_BYTES);
    rs_table_column(&t, RS_RIGHT, RS_H_RANKS);
    rs_table_column(&t, RS_LEFT, RS_H_TYPE);
    rs_table_numbers(&t, numbers, sizeof numbers / sizeof *numbers);
    rs_table_column(&t, RS_LEFT, RS_H_NONE);
    for (uint32_t i = 0; i < r->reached.n && i < MOST_ROWS; i++) cells(&t, r, i);
    rs_screen_print("\nbus bandwidth in GB/s: reference from ");
    const char *by = f->n == 1 ? f->paths[0] : "the references together";
    rs_screen_print("%s", by);
    rs_screen_print("; achieved after the last rank started, and including wait (below %.0f %% is reported)\n",
                    100 * RS_REACHED_LITTLE);
    rs_table_print(&t, "", stdout);
    rs_table_free(&t);
    if (r->reached.n > MOST_ROWS)
        rs_screen_print("and %s more (--json has all)\n", rs_text_count(r->reached.n - MOST_ROWS).s);
}

/* ---- JSON ---- */

void rs_reference_json(struct rs_json *j, const struct rs_reference_files *f)
{
    rs_json_key(j, "reference");
    if (!f || !f->n) {
        rs_json_null(j);
        return;
    }
    rs_json_object(j);
    rs_json_key_double(j, "threshold", RS_REACHED_LITTLE);
    rs_json_key(j, "files");
    rs_json_array(j);
    for (unsigned i = 0; i < f->n; i++) {
        const struct rs_nccl_tests *t = &f->tables[i];
        struct rs_reference_file_row row = {f->paths[i], t->n, t->unnamed, t->damage.code == RS_OK};
        rs_out_json(j, &rs_out_reference_file, &row);
    }
    rs_json_end(j);
    rs_json_key(j, "points");
    rs_json_array(j);
    for (uint32_t i = 0; i < f->reference.n; i++) rs_out_json(j, &rs_out_reference_point, &f->reference.points[i]);
    rs_json_end(j);
    rs_json_end(j);
}

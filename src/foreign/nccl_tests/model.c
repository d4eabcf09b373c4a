#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "foreign/formats.h"
#include "foreign/nccl_tests/nccl_tests.h"

static void add_proc(struct rs_model *m, const char *path, uint32_t *proc)
{
    uint32_t host;
    char boot[300];
    snprintf(boot, sizeof boot, "nccl-tests:%s", path);
    rs_model_host(m, "", boot, &host);
    rs_model_proc(m, proc);
    struct rs_proc *p = &m->procs[*proc];
    p->host = host;
    p->tool = RS_TOOL_NCCL_TESTS;
    p->path = rs_arena_text(&m->arena, path, strlen(path));
    p->ended = RS_END_WELL;
    p->drops = true; /* it has its own calls only, and of those the mean */
}

/* A half of a row: one call of the mean time. */
static enum rs_status add_half(struct rs_model *m, uint32_t proc, const struct rs_nccl_tests_row *r, bool in_place,
                               struct rs_err *err)
{
    const struct rs_nccl_tests_half *h = in_place ? &r->in_place : &r->out_of_place;
    if (!isfinite(h->time_us) || h->time_us < 0 || h->time_us > 1e15) return RS_OK;
    struct rs_stat row = {.proc = proc,
                          .member = RS_NONE,
                          .kind = RS_STAT_OPERATION,
                          .calls = 1,
                          .bytes = r->bytes,
                          .total_ns = (int64_t)(h->time_us * 1000 + 0.5),
                          .min_ns = RS_TIME_NONE,
                          .max_ns = RS_TIME_NONE};
    char name[160], ranks[32] = "";
    if (r->nranks > 0) snprintf(ranks, sizeof ranks, ", %" PRId32 " ranks", r->nranks);
    int n = snprintf(name, sizeof name, "%s %" PRIu64 " B%s%s%s%s", r->func ? r->func : "?", r->bytes,
                     r->dtype ? " " : "", r->dtype ? r->dtype : "", ranks, in_place ? ", in place" : "");
    RS_TRY(rs_model_name(m, name, n > 0 ? (size_t)n : 0, &row.name, err));
    if (r->func) rs_model_string(m, r->func, &row.func);
    rs_model_stat(m, &row);
    return RS_OK;
}

static enum rs_status add(struct rs_fill *fill, struct rs_other *file, struct rs_err *err)
{
    struct rs_model *m = fill->model;
    struct rs_nccl_tests table;
    enum rs_status status = rs_nccl_tests_read(&table, file->path, err);
    if (status == RS_OK) add_proc(m, file->path, &file->proc);
    for (uint32_t i = 0; i < table.n && status == RS_OK; i++) {
        status = add_half(m, file->proc, &table.rows[i], false, err);
        if (status == RS_OK) status = add_half(m, file->proc, &table.rows[i], true, err);
    }
    if (status == RS_OK && table.damage.code != RS_OK) rs_other_incomplete(file, &table.damage);
    rs_nccl_tests_free(&table);
    return status;
}

enum rs_status rs_nccl_tests_fill(struct rs_fill *fill, struct rs_err *err)
{
    rs_fill_each(fill, add);
    return rs_model_note(fill->model, err,
                         "a table of nccl-tests is no trace: a row is the mean of its calls; to compare a run with it: "
                         "ringscope report --reference FILE");
}

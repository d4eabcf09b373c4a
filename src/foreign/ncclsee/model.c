#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "foreign/formats.h"
#include "foreign/ncclsee/ncclsee.h"

/* Its files are called after the process: 4242.csv. 0: this one is not. */
static uint32_t pid_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *end;
    unsigned long pid = strtoul(name, &end, 10);
    return *name >= '0' && *name <= '9' && *end == '.' && pid <= UINT32_MAX ? (uint32_t)pid : 0;
}

static void add_proc(struct rs_model *m, const char *path, uint32_t *proc)
{
    uint32_t host;
    char boot[300];
    snprintf(boot, sizeof boot, "ncclsee:%s", path);
    rs_model_host(m, "", boot, &host);
    rs_model_proc(m, proc);
    struct rs_proc *p = &m->procs[*proc];
    p->host = host;
    p->tool = RS_TOOL_NCCLSEE;
    p->pid = pid_of(path);
    p->path = rs_arena_text(&m->arena, path, strlen(path));
    p->ended = RS_END_WELL; /* it is written when the first communicator is destroyed */
    p->drops = true;
}

static enum rs_status add_row(struct rs_model *m, uint32_t proc, const struct rs_ncclsee_row *r, struct rs_err *err)
{
    struct rs_stat row = {.proc = proc,
                          .member = RS_NONE,
                          .kind = RS_STAT_OPERATION,
                          .calls = r->calls,
                          .bytes = r->bytes > 0 ? (uint64_t)r->bytes : 0,
                          .total_ns = r->time_ns >= 0 ? r->time_ns : RS_TIME_NONE,
                          .min_ns = RS_TIME_NONE,
                          .max_ns = RS_TIME_NONE};
    char name[80];
    bool sized = *r->label && strcmp(r->label, "N/A") != 0;
    int n = snprintf(name, sizeof name, "%s%s%s", r->func, sized ? " " : "", sized ? r->label : "");
    RS_TRY(rs_model_name(m, name, n > 0 ? (size_t)n : 0, &row.name, err));
    if (strcmp(r->func, "Group") != 0) rs_model_string(m, r->func, &row.func);
    rs_model_stat(m, &row);
    return RS_OK;
}

static enum rs_status add(struct rs_fill *fill, struct rs_other *file, struct rs_err *err)
{
    struct rs_model *m = fill->model;
    struct rs_ncclsee table;
    enum rs_status status = rs_ncclsee_read(&table, file->path, err);
    if (status == RS_OK) add_proc(m, file->path, &file->proc);
    for (uint32_t i = 0; i < table.n && status == RS_OK; i++) status = add_row(m, file->proc, &table.rows[i], err);
    if (status == RS_OK && table.damage.code != RS_OK) rs_other_incomplete(file, &table.damage);
    rs_ncclsee_free(&table);
    return status;
}

enum rs_status rs_ncclsee_fill(struct rs_fill *fill, struct rs_err *err)
{
    rs_fill_each(fill, add);
    return rs_model_note(fill->model, err,
                         "ncclsee's tables have no time axis, and their times add the enqueueing to the kernels'");
}

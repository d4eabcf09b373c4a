#include "foreign/nvprof/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "base/strbuf.h"
#include "foreign/kernel_name.h"

/* ---- processes ---- */

/* Each has a clock of its own, whose zero is its start; which host it ran on is not told. */
static enum rs_status add_process(struct rs_model *m, const char *path, const struct rs_nvprof *log, uint32_t process,
                                  uint32_t *proc, struct rs_err *err)
{
    struct rs_strbuf boot = {0};
    uint32_t host;
    rs_strbuf_printf(&boot, "nvprof:%s:%" PRIu32, path, process);
    enum rs_status status = rs_strbuf_check(&boot, err);
    if (status == RS_OK) status = rs_model_host(m, "", rs_strbuf_borrow(&boot), &host, err);
    rs_strbuf_free(&boot);
    RS_TRY(status);
    RS_TRY(rs_model_proc(m, proc, err));
    struct rs_proc *p = &m->procs[*proc];
    p->host = host;
    p->tool = RS_TOOL_NVPROF;
    p->pid = log->processes[process].pid <= UINT32_MAX ? (uint32_t)log->processes[process].pid : 0;
    p->ended = RS_END_WELL; /* nvprof writes when its process is over */
    p->complete = log->damage.code == RS_OK;
    p->path = rs_arena_text(&m->arena, path, strlen(path));
    return p->path ? RS_OK : rs_fail(err, RS_NO_MEMORY, "out of memory");
}

/* ---- summaries ---- */

static enum rs_status name_of(struct rs_model *m, const char *text, uint32_t *id, struct rs_err *err)
{
    return rs_model_name(m, text, strlen(text), id, err);
}

/* "unnamed 291264256", or the name that the program gave. */
static enum rs_status thread_of(struct rs_model *m, const struct rs_nvprof_range *range, uint32_t *id,
                                struct rs_err *err)
{
    char text[256];
    if (range->thread_name[0] && range->thread_name[0] != '<')
        snprintf(text, sizeof text, "%.200s (%" PRIu64 ")", range->thread_name, range->thread);
    else
        snprintf(text, sizeof text, "%" PRIu64, range->thread);
    return name_of(m, text, id, err);
}

static enum rs_status add_row(struct rs_model *m, const struct rs_nvprof *log, const struct rs_nvprof_row *row,
                              uint32_t first_proc, struct rs_err *err)
{
    struct rs_stat s = {.proc = first_proc + row->process, .member = RS_NONE, .calls = row->calls};
    struct rs_kernel_name kernel;
    s.total_ns = row->time_ns;
    s.min_ns = row->min_ns;
    s.max_ns = row->max_ns;
    RS_TRY(name_of(m, row->name, &s.name, err));
    bool nccl = row->kind == RS_NVPROF_GPU && rs_kernel_name(row->name, strlen(row->name), &kernel);
    if (nccl) RS_TRY(rs_model_string(m, kernel.func, &s.func, err));
    if (row->range != RS_NVPROF_NONE) {
        if (row->kind != RS_NVPROF_GPU) return RS_OK; /* of a range, only the work on the GPU is shown */
        s.kind = RS_STAT_RANGE_WORK;
        RS_TRY(name_of(m, log->ranges[row->range].name, &s.within, err));
        RS_TRY(thread_of(m, &log->ranges[row->range], &s.thread, err));
    } else if (row->kind == RS_NVPROF_GPU) {
        s.kind = nccl ? RS_STAT_COMM : !strncmp(row->name, "[CUDA ", 6) ? RS_STAT_COPY : RS_STAT_KERNEL;
    } else {
        s.kind = RS_STAT_CALL;
    }
    return rs_model_stat(m, &s, err);
}

static enum rs_status add_range(struct rs_model *m, const struct rs_nvprof_range *range, uint32_t first_proc,
                                struct rs_err *err)
{
    if (!range->calls) return RS_OK; /* its numbers are missing */
    struct rs_stat s = {.proc = first_proc + range->process, .member = RS_NONE, .kind = RS_STAT_RANGE};
    s.calls = range->calls;
    s.total_ns = range->time_ns;
    s.min_ns = range->min_ns;
    s.max_ns = range->max_ns;
    RS_TRY(name_of(m, range->name, &s.name, err));
    RS_TRY(name_of(m, range->domain, &s.within, err));
    RS_TRY(thread_of(m, range, &s.thread, err));
    return rs_model_stat(m, &s, err);
}

/* ---- notes ---- */

static enum rs_status take_note(struct rs_model *m, const char *path, struct rs_strbuf *s, struct rs_err *err)
{
    enum rs_status status = rs_strbuf_check(s, err);
    if (status == RS_OK && s->len) status = rs_model_note(m, err, "%s: %s", path, rs_strbuf_borrow(s));
    rs_strbuf_free(s);
    return status;
}

static enum rs_status note_idle(struct rs_model *m, const char *path, const struct rs_nvprof *log, struct rs_err *err)
{
    enum { NAMED = 8 };
    struct rs_strbuf s = {0};
    uint32_t n = 0;
    for (uint32_t i = 0; i < log->n_processes; i++) {
        const struct rs_nvprof_process *p = &log->processes[i];
        if (p->gpu_rows || (p->traced && !p->no_kernels) || n++ >= NAMED) continue;
        rs_strbuf_printf(&s, "%s%" PRIu64 "%s", n > 1 ? ", " : "no kernels were profiled in process ", p->pid,
                         p->has_result ? "" : " (no result)");
    }
    if (n > NAMED) rs_strbuf_printf(&s, " and %" PRIu32 " more", n - NAMED);
    return take_note(m, path, &s, err);
}

/* Warnings that differ only in their numbers are one. */
static uint64_t kind_of(const char *text)
{
    uint64_t h = 0;
    for (; *text; text++)
        if (*text < '0' || *text > '9') h = rs_mix(h, (unsigned char)*text);
    return h;
}

static enum rs_status note_warnings(struct rs_model *m, const char *path, const struct rs_nvprof *log,
                                    struct rs_map *times, struct rs_err *err)
{
    enum { MOST = 5, SHOWN = 110 };
    uint64_t *count;
    for (uint32_t i = 0; i < log->n_notes; i++) {
        if (log->notes[i].kind != RS_NVPROF_WARNING) continue;
        RS_TRY(rs_map_at(times, kind_of(log->notes[i].text), 0, &count, err));
        ++*count;
    }
    for (uint32_t i = 0, said = 0; i < log->n_notes && said < MOST; i++) {
        const struct rs_nvprof_note *x = &log->notes[i];
        count = x->kind == RS_NVPROF_WARNING ? rs_map_find(times, kind_of(x->text)) : NULL;
        if (!count || !*count) continue;
        const char *text = strncmp(x->text, "Warning: ", 9) ? x->text : x->text + 9;
        char who[64] = "";
        if (x->process != RS_NVPROF_NONE)
            snprintf(who, sizeof who, " in process %" PRIu64, log->processes[x->process].pid);
        RS_TRY(rs_model_note(m, err, "%s: nvprof warns%s%s: %.*s%s", path, who, *count > 1 ? " and others" : "", SHOWN,
                             text, strlen(text) > SHOWN ? "..." : ""));
        *count = 0;
        said++;
    }
    return RS_OK;
}

static enum rs_status note_words(struct rs_model *m, const char *path, const struct rs_nvprof *log, struct rs_err *err)
{
    struct rs_map times = {0};
    enum rs_status status = note_warnings(m, path, log, &times, err);
    rs_map_free(&times);
    RS_TRY(status);
    uint64_t output = 0;
    const char *first = NULL;
    for (uint32_t i = 0; i < log->n_notes; i++)
        if (log->notes[i].kind == RS_NVPROF_OUTPUT && !output++) first = log->notes[i].text;
    if (output)
        RS_TRY(rs_model_note(m, err, "%s: %" PRIu64 " line%s of the programs' own output left out (the first: %.60s)",
                             path, output + log->notes_left_out, output + log->notes_left_out == 1 ? "" : "s", first));
    if (log->lines_not_read)
        RS_TRY(rs_model_note(m, err,
                             "%s: %" PRIu64 " lines of parts that ringscope does not read (metrics, unified memory)",
                             path, log->lines_not_read));
    return RS_OK;
}

static enum rs_status add_notes(struct rs_model *m, const char *path, const struct rs_nvprof *log, struct rs_err *err)
{
    if (log->n_rows)
        RS_TRY(rs_model_note(m, err,
                             "%s: a summary of nvprof has sums and no time axis: no operations, communicators, clocks "
                             "or hangs can be told from it; `ringscope report` shows what can",
                             path));
    RS_TRY(note_idle(m, path, log, err));
    return note_words(m, path, log, err);
}

/* ---- the whole ---- */

enum rs_status rs_nvprof_to_model(struct rs_model *m, struct rs_nvprof_places *places, struct rs_other *file,
                                  const struct rs_nvprof *log, struct rs_err *err)
{
    uint32_t first_proc = m->nprocs, proc = RS_NONE;
    for (uint32_t i = 0; i < log->n_processes; i++) RS_TRY(add_process(m, file->path, log, i, &proc, err));
    file->proc = log->n_processes == 1 ? proc : RS_NONE;
    for (uint32_t i = 0; i < log->n_ranges; i++) RS_TRY(add_range(m, &log->ranges[i], first_proc, err));
    for (uint32_t i = 0; i < log->n_rows; i++) RS_TRY(add_row(m, log, &log->rows[i], first_proc, err));
    RS_TRY(rs_nvprof_trace_add(places, m, log, first_proc, err));
    return add_notes(m, file->path, log, err);
}

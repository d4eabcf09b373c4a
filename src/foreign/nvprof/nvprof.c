#include "foreign/nvprof/nvprof.h"

#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "foreign/formats.h"
#include "foreign/nvprof/rows.h"

static struct rs_slice rest_of(struct rs_slice f, const char *word)
{
    size_t n = strlen(word);
    if (f.n < n || memcmp(f.text, word, n)) return (struct rs_slice){NULL, 0};
    return (struct rs_slice){f.text + n, f.n - n};
}

static bool begins(struct rs_slice f, const char *word)
{
    return rest_of(f, word).text != NULL;
}
/* ---- lines ---- */

/* Without a line that says whose they are (a cut log, -o), tables belong to an unknown process. */
static enum rs_status own(struct rs_nvprof_reader *r, struct rs_err *err)
{
    if (r->process == RS_NVPROF_NONE) RS_TRY(rs_nvprof_process_of(r, 0, false, &r->process, err));
    r->p->processes[r->process].has_result = true;
    r->seen = true;
    return RS_OK;
}

static enum rs_status begin_part(struct rs_nvprof_reader *r, enum rs_nvprof_part part, uint32_t process,
                                 struct rs_err *err)
{
    r->part = part;
    r->process = process;
    r->range = RS_NVPROF_NONE;
    r->table.n = 0;
    r->thread = 0;
    r->thread_name = r->domain = "";
    RS_TRY(rs_nvprof_set_type(r, (struct rs_slice){"GPU activities", 14}, err));
    return own(r, err);
}

static struct rs_slice quoted(struct rs_slice f)
{
    if (f.n && f.text[0] == '"') f = (struct rs_slice){f.text + 1, f.n - 1};
    size_t n = f.n;
    while (n && f.text[n - 1] != '"') n--;
    return (struct rs_slice){f.text, n ? n - 1 : f.n};
}

static enum rs_status nvtx_line(struct rs_nvprof_reader *r, struct rs_slice f, bool *fits, struct rs_err *err)
{
    struct rs_nvprof *p = r->p;
    struct rs_slice what;
    *fits = true;
    if ((what = rest_of(f, "Thread ")).text) {
        static const char before[] = "(id = ";
        const char *id = memmem(what.text, what.n, before, sizeof before - 1);
        r->thread = 0;
        if (id) {
            const char *digits = id + sizeof before - 1;
            struct rs_slice number = {digits, 0};
            while (digits + number.n < what.text + what.n && digits[number.n] != ')') number.n++;
            if (!rs_slice_u64(number, &r->thread)) r->thread = 0;
        }
        return rs_nvprof_keep(r, quoted(what), false, &r->thread_name, err);
    }
    if ((what = rest_of(f, "Domain ")).text) return rs_nvprof_keep(r, quoted(what), false, &r->domain, err);
    if (!(what = rest_of(f, "Range ")).text) {
        *fits = false;
        return RS_OK;
    }
    struct rs_nvprof_range g = {
        .process = r->process, .thread = r->thread, .thread_name = r->thread_name, .domain = r->domain};
    RS_TRY(rs_nvprof_keep(r, quoted(what), false, &g.name, err));
    RS_ROOM(p->ranges, p->n_ranges, p->ranges_cap, err);
    r->range = p->n_ranges;
    p->ranges[p->n_ranges++] = g;
    p->processes[r->process].ranges++;
    r->table.n = 0;
    return RS_OK;
}

/* What stands behind "==PID==" or "========". */
static enum rs_status tool_line(struct rs_nvprof_reader *r, uint64_t pid, struct rs_slice f, struct rs_err *err)
{
    struct rs_nvprof *p = r->p;
    uint32_t process;
    bool anew = begins(f, "NVPROF is profiling process"), fits = false;
    RS_TRY(rs_nvprof_process_of(r, pid, anew, &process, err));
    struct rs_slice command = rest_of(f, "Profiling application: ");
    if (anew) {
        const char *at = memmem(f.text, f.n, "command: ", 9);
        if (at) command = (struct rs_slice){at + 9, (size_t)(f.text + f.n - at) - 9};
    }
    if (anew || command.text) {
        r->seen = true;
        const char **known = &p->processes[process].command;
        return command.text && !**known ? rs_nvprof_keep(r, command, false, known, err) : RS_OK;
    }
    if (begins(f, "Profiling result:")) return begin_part(r, RS_NVPROF_PART_RESULT, process, err);
    if (begins(f, "NVTX result:")) return begin_part(r, RS_NVPROF_PART_NVTX, process, err);
    if (begins(f, "API calls:") && r->part == RS_NVPROF_PART_RESULT) { /* before CUDA 9 */
        r->table.n = 0;
        return rs_nvprof_set_type(r, (struct rs_slice){"API calls", 9}, err);
    }
    if (r->part == RS_NVPROF_PART_NVTX && process == r->process) {
        RS_TRY(nvtx_line(r, f, &fits, err));
        if (fits) return RS_OK;
    }
    if (begins(f, "Warning:") || begins(f, "Error:")) {
        r->warning = p->n_notes < RS_NVPROF_MOST_NOTES ? p->n_notes : RS_NVPROF_NONE;
        return rs_nvprof_note(r, RS_NVPROF_WARNING, process, f, err);
    }
    if (f.n > 7 && !memcmp(f.text + f.n - 7, "result:", 7)) RS_TRY(begin_part(r, RS_NVPROF_PART_UNKNOWN, process, err));
    return rs_nvprof_note(r, RS_NVPROF_TOOL, process, f, err);
}

/* "==4242== x" or "======== x". */
static bool tool_prefix(const char *text, size_t n, uint64_t *pid, struct rs_slice *rest)
{
    size_t i = 2;
    if (n < 6 || text[0] != '=' || text[1] != '=') return false;
    while (i < n && i < 22 && text[i] >= '0' && text[i] <= '9') i++;
    *pid = 0;
    if (i > 2) {
        if (!rs_slice_u64((struct rs_slice){text + 2, i - 2}, pid) || n - i < 3 || memcmp(text + i, "== ", 3))
            return false;
        i += 3;
    } else {
        if (n < 9 || memcmp(text, "======== ", 9)) return false;
        i = 9;
    }
    *rest = rs_slice_trim((struct rs_slice){text + i, n - i});
    return true;
}

/* A line that belongs to no table. */
static enum rs_status other_line(struct rs_nvprof_reader *r, struct rs_slice f, struct rs_err *err)
{
    static const char *const legend[] = {"Regs: ", "SSMem: ", "DSMem: ", "SrcMemType: ", "DstMemType: "};
    if (!f.n) return RS_OK;
    if (begins(f, "No kernels were profiled") || begins(f, "No API activities were profiled")) {
        if (r->part == RS_NVPROF_PART_NVTX || r->process == RS_NVPROF_NONE)
            return RS_OK; /* the numbers of the range say it */
        r->p->processes[r->process].no_kernels |= begins(f, "No kernels");
        return rs_nvprof_note(r, RS_NVPROF_NOTHING, r->process, f, err);
    }
    for (size_t i = 0; i < sizeof legend / sizeof *legend; i++)
        if (r->table.trace && begins(f, legend[i])) return RS_OK;
    if (r->warning != RS_NVPROF_NONE && begins(f, "This can happen because")) {
        struct rs_nvprof_note *of = &r->p->notes[r->warning];
        size_t n = strlen(of->text);
        char *longer = rs_arena_alloc(&r->p->texts, n + f.n + 2);
        if (!longer) return rs_fail(err, RS_NO_MEMORY, "%s: out of memory", r->path);
        memcpy(longer, of->text, n);
        longer[n] = ' ';
        memcpy(longer + n + 1, f.text, f.n);
        of->text = longer;
        r->warning = RS_NVPROF_NONE;
        return RS_OK;
    }
    if (r->part == RS_NVPROF_PART_UNKNOWN) {
        r->p->lines_not_read++;
        return RS_OK;
    }
    return rs_nvprof_note(r, RS_NVPROF_OUTPUT, RS_NVPROF_NONE, f, err);
}

static enum rs_status take_line(struct rs_nvprof_reader *r, struct rs_err *err)
{
    const char *text = r->lines.text;
    size_t n = r->lines.n;
    struct rs_slice rest;
    uint64_t pid;
    if (tool_prefix(text, n, &pid, &rest)) {
        r->warning = RS_NVPROF_NONE;
        return tool_line(r, pid, rest, err);
    }
    if (r->part != RS_NVPROF_PART_UNKNOWN && rs_nvprof_header(&r->table, text, n)) {
        if (r->part == RS_NVPROF_PART_NONE) RS_TRY(begin_part(r, RS_NVPROF_PART_RESULT, r->process, err));
        rs_nvprof_header(&r->table, text, n); /* the part's beginning dropped it */
        return own(r, err);
    }
    if (r->table.n && r->table.wants_units && rs_nvprof_units(&r->table, text, n)) return RS_OK;
    struct rs_nvprof_cells cells;
    if (r->table.n && !r->table.wants_units && rs_nvprof_split(&r->table, text, n, &cells)) {
        bool fits;
        RS_TRY(r->table.trace ? rs_nvprof_trace_row(r, &cells, &fits, err)
                              : rs_nvprof_summary_row(r, &cells, &fits, err));
        if (fits && r->lines.unended && r->p->damage.code == RS_OK)
            rs_fail(&r->p->damage, RS_BAD_INPUT, "%s: at byte %llu: the last line has no end: its name may be cut",
                    r->path, (unsigned long long)r->lines.offset);
        if (fits) return RS_OK;
    }
    return other_line(r, rs_slice_trim((struct rs_slice){text, n}), err);
}

static enum rs_status read_lines(struct rs_nvprof_reader *r, struct rs_err *err)
{
    struct rs_nvprof *p = r->p;
    r->process = r->range = r->warning = RS_NVPROF_NONE;
    r->thread_name = r->domain = r->type = "";
    enum rs_status status = RS_OK;
    while (status == RS_OK && rs_lines_next(&r->lines)) status = take_line(r, err);
    if (status == RS_OK && r->lines.err.code != RS_OK) p->damage = r->lines.err;
    rs_lines_free(&r->lines);
    rs_map_free(&r->by_pid);
    if (status == RS_OK && !r->seen)
        status = p->damage.code != RS_OK
                     ? rs_fail(err, RS_BAD_INPUT, "%s", p->damage.msg)
                     : rs_fail(err, RS_BAD_INPUT, "%s: at byte 0: no line of nvprof in it", r->path);
    return status;
}

enum rs_status rs_nvprof_read(struct rs_nvprof *p, const char *path, struct rs_err *err)
{
    struct rs_nvprof_reader r = {.p = p, .path = path};
    struct rs_bytes *bytes;
    *p = (struct rs_nvprof){0};
    RS_TRY(rs_bytes_open(&bytes, path, err));
    rs_lines_bytes(&r.lines, bytes);
    enum rs_status status = read_lines(&r, err);
    rs_bytes_close(bytes);
    return status;
}

enum rs_status rs_nvprof_read_memory(struct rs_nvprof *p, const char *path, const char *text, size_t n,
                                     struct rs_err *err)
{
    struct rs_nvprof_reader r = {.p = p, .path = path};
    *p = (struct rs_nvprof){0};
    rs_lines_memory(&r.lines, text, n);
    return read_lines(&r, err);
}

void rs_nvprof_free(struct rs_nvprof *p)
{
    free(p->processes);
    free(p->rows);
    free(p->ranges);
    free(p->traces);
    free(p->notes);
    rs_arena_free(&p->texts);
    rs_map_free(&p->known);
    *p = (struct rs_nvprof){0};
}

bool rs_nvprof_is(const char *path, const char *head, size_t n)
{
    (void)path;
    struct rs_lines l;
    struct rs_nvprof_table table;
    struct rs_slice rest;
    uint64_t pid;
    bool found = false;
    rs_lines_memory(&l, head, n);
    while (!found && rs_lines_next(&l)) {
        if (tool_prefix(l.text, l.n, &pid, &rest))
            found = begins(rest, "NVPROF is profiling process") || begins(rest, "Profiling result:") ||
                    begins(rest, "Profiling application: ") || begins(rest, "NVTX result:");
        else
            found = rs_nvprof_header(&table, l.text, l.n);
    }
    rs_lines_free(&l);
    return found;
}

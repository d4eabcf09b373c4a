#include "foreign/nvprof/rows.h"

#include <string.h>

#include "base/mix.h"
#include "base/room.h"

enum { LONGEST_NOTE = 2000, LONGEST_NAME = 1 << 16 };

enum rs_status rs_nvprof_keep(struct rs_nvprof_reader *r, struct rs_slice f, bool csv, const char **text,
                              struct rs_err *err)
{
    *text = "";
    if (!f.n) return RS_OK;
    if (f.n > LONGEST_NAME) f.n = LONGEST_NAME;
    uint64_t *place;
    RS_TRY(rs_map_at(&r->p->known, rs_mix_bytes(csv, f.text, f.n), 0, &place, err));
    const char *known = (const char *)(uintptr_t)*place;
    bool plain = !csv || !memchr(f.text, '"', f.n);
    if (known && plain && strlen(known) == f.n && !memcmp(known, f.text, f.n)) {
        *text = known;
        return RS_OK;
    }
    char *copy = rs_arena_text(&r->p->texts, f.text, f.n);
    if (!copy) return rs_fail(err, RS_NO_MEMORY, "%s: out of memory", r->path);
    if (!plain) {
        size_t out = 0;
        for (size_t i = 0; i < f.n; i++) {
            copy[out++] = f.text[i];
            if (f.text[i] == '"' && i + 1 < f.n && f.text[i + 1] == '"') i++;
        }
        copy[out] = 0;
    }
    if (!known) *place = (uint64_t)(uintptr_t)copy;
    *text = copy;
    return RS_OK;
}

enum rs_status rs_nvprof_note(struct rs_nvprof_reader *r, enum rs_nvprof_note_kind kind, uint32_t process,
                              struct rs_slice f, struct rs_err *err)
{
    struct rs_nvprof *p = r->p;
    if (p->n_notes >= RS_NVPROF_MOST_NOTES) {
        p->notes_left_out++;
        return RS_OK;
    }
    if (f.n > LONGEST_NOTE) f.n = LONGEST_NOTE;
    struct rs_nvprof_note n = {.kind = kind, .process = process, .offset = r->lines.offset};
    RS_TRY(rs_nvprof_keep(r, f, false, &n.text, err));
    RS_ROOM(p->notes, p->n_notes, p->notes_cap, err);
    p->notes[p->n_notes++] = n;
    return RS_OK;
}

enum rs_status rs_nvprof_process_of(struct rs_nvprof_reader *r, uint64_t pid, bool begins_anew, uint32_t *index,
                                    struct rs_err *err)
{
    struct rs_nvprof *p = r->p;
    uint64_t *known;
    RS_TRY(rs_map_at(&r->by_pid, pid, 0, &known, err));
    /* Logs put one behind the other may use a pid twice. */
    if (*known && !(begins_anew && p->processes[*known - 1].has_result)) {
        *index = (uint32_t)(*known - 1);
        return RS_OK;
    }
    RS_ROOM(p->processes, p->n_processes, p->processes_cap, err);
    *index = p->n_processes;
    p->processes[p->n_processes++] = (struct rs_nvprof_process){.pid = pid, .command = ""};
    *known = p->n_processes;
    return RS_OK;
}

static int64_t sum(int64_t a, int64_t b)
{
    return a > INT64_MAX - b ? INT64_MAX : a + b; /* none is negative */
}

/* ---- rows ---- */

static void range_row(struct rs_nvprof_range *g, const struct rs_nvprof_row *row)
{
    if (!g->calls || row->min_ns < g->min_ns) g->min_ns = row->min_ns;
    if (row->max_ns > g->max_ns) g->max_ns = row->max_ns;
    g->avg_ns = row->avg_ns;
    g->time_ns = sum(g->time_ns, row->time_ns);
    g->calls += row->calls;
}

enum rs_status rs_nvprof_set_type(struct rs_nvprof_reader *r, struct rs_slice type, struct rs_err *err)
{
    if (type.n && type.text[type.n - 1] == ':') type.n--;
    r->in_range_row = rs_slice_is(type, "Range");
    r->kind = rs_slice_is(type, "GPU activities") ? RS_NVPROF_GPU
              : rs_slice_is(type, "API calls")    ? RS_NVPROF_API
                                                  : RS_NVPROF_OTHER;
    return rs_nvprof_keep(r, type, false, &r->type, err);
}

enum rs_status rs_nvprof_summary_row(struct rs_nvprof_reader *r, const struct rs_nvprof_cells *c, bool *fits,
                                     struct rs_err *err)
{
    struct rs_nvprof *p = r->p;
    struct rs_nvprof_row row = {.process = r->process, .range = r->range, .offset = r->lines.offset};
    struct rs_slice percent = c->cell[RS_NC_PERCENT];
    if (percent.n && percent.text[percent.n - 1] == '%') percent.n--;
    *fits = rs_slice_double(percent, &row.percent) && row.percent >= 0 && row.percent < 1e6 &&
            rs_nvprof_time(c, RS_NC_TIME, &row.time_ns) && rs_slice_u64(c->cell[RS_NC_CALLS], &row.calls) &&
            rs_nvprof_time(c, RS_NC_AVG, &row.avg_ns) && rs_nvprof_time(c, RS_NC_MIN, &row.min_ns) &&
            rs_nvprof_time(c, RS_NC_MAX, &row.max_ns);
    if (!*fits) return RS_OK;
    if (c->cell[RS_NC_TYPE].n) RS_TRY(rs_nvprof_set_type(r, c->cell[RS_NC_TYPE], err));
    struct rs_nvprof_range *range = r->range == RS_NVPROF_NONE ? NULL : &p->ranges[r->range];
    if (r->in_range_row) {
        if (range) range_row(range, &row);
        return RS_OK;
    }
    row.kind = r->kind;
    row.type = r->type;
    RS_TRY(rs_nvprof_keep(r, c->cell[RS_NC_NAME], r->table.csv, &row.name, err));
    RS_ROOM(p->rows, p->n_rows, p->rows_cap, err);
    p->rows[p->n_rows++] = row;
    if (range && row.kind == RS_NVPROF_GPU) {
        range->gpu_ns = sum(range->gpu_ns, row.time_ns);
        range->gpu_calls += row.calls;
    } else if (range && row.kind == RS_NVPROF_API) {
        range->api_ns = sum(range->api_ns, row.time_ns);
    } else if (!range) {
        p->processes[r->process].gpu_rows += row.kind == RS_NVPROF_GPU;
        p->processes[r->process].api_rows += row.kind == RS_NVPROF_API;
    }
    return RS_OK;
}

/* Takes " [301]" or "(0)" off the end of a text. */
static bool take_number(struct rs_slice *f, char open, char close, uint64_t *v)
{
    if (!f->n || f->text[f->n - 1] != close) return false;
    size_t n = f->n - 1;
    while (n && f->text[n - 1] >= '0' && f->text[n - 1] <= '9') n--;
    if (n < 2 || f->text[n - 1] != open || f->text[n - 2] != ' ') return false;
    if (!rs_slice_u64((struct rs_slice){f->text + n, f->n - 1 - n}, v)) return false;
    *f = rs_slice_trim((struct rs_slice){f->text, n - 1});
    return true;
}

enum rs_status rs_nvprof_trace_row(struct rs_nvprof_reader *r, const struct rs_nvprof_cells *c, bool *fits,
                                   struct rs_err *err)
{
    struct rs_nvprof *p = r->p;
    struct rs_nvprof_trace t = {.process = r->process, .offset = r->lines.offset, .device = -1, .stream_name = ""};
    *fits = rs_nvprof_time(c, RS_NC_START, &t.start_ns) && rs_nvprof_time(c, RS_NC_DURATION, &t.duration_ns);
    if (!*fits) return RS_OK;
    struct rs_slice device = c->cell[RS_NC_DEVICE], name = c->cell[RS_NC_NAME], stream = c->cell[RS_NC_STREAM];
    uint64_t number;
    t.gpu = device.n > 0;
    t.bytes = rs_nvprof_bytes(c);
    if (take_number(&device, '(', ')', &number) && number <= INT32_MAX) t.device = (int32_t)number;
    if (!rs_slice_fixed(c->cell[RS_NC_CONTEXT], 0, &t.context)) t.context = -1;
    if (!rs_slice_fixed(stream, 0, &t.stream)) {
        t.stream = -1;
        RS_TRY(rs_nvprof_keep(r, stream, r->table.csv, &t.stream_name, err));
    }
    bool in_name = take_number(&name, '[', ']', &t.correlation);
    t.has_correlation = rs_slice_u64(c->cell[RS_NC_CORRELATION], &number);
    if (t.has_correlation) t.correlation = number;
    t.has_correlation |= in_name;
    RS_TRY(rs_nvprof_keep(r, device, r->table.csv, &t.device_name, err));
    RS_TRY(rs_nvprof_keep(r, name, r->table.csv, &t.name, err));
    RS_ROOM(p->traces, p->n_traces, p->traces_cap, err);
    p->traces[p->n_traces++] = t;
    p->processes[r->process].traced++;
    return RS_OK;
}

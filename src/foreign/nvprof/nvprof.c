#include "foreign/nvprof/nvprof.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "base/room.h"
#include "foreign/formats.h"
#include "foreign/lines.h"
#include "foreign/nvprof/metrics.h"

/* ---- tables ----
 * The tables that nvprof prints: header, row of units (CSV) and the cells of a row, for text and CSV alike.
 *
 * Nothing is allocated: cells point into the line. */

enum nvprof_column {
    NC_TYPE,
    NC_PERCENT,
    NC_TIME,
    NC_CALLS,
    NC_AVG,
    NC_MIN,
    NC_MAX,
    NC_NAME,
    NC_START,
    NC_DURATION,
    NC_SIZE,
    NC_DEVICE,
    NC_CONTEXT,
    NC_STREAM,
    NC_CORRELATION,
    NC_OTHER, /* grid, registers, throughput, ... */
};

enum { NVPROF_COLUMNS = 48 };

struct nvprof_table {
    unsigned n; /* columns; 0 = no table */
    bool csv, trace; /* trace: start and duration; else a summary */
    bool needs_units; /* CSV: the line after the header says them */
    enum nvprof_column column[NVPROF_COLUMNS];
    char unit[NVPROF_COLUMNS][8]; /* CSV */
};

/* The cells of a row. Empty: not there, or "-". */
struct nvprof_cells {
    struct rs_slice cell[NC_OTHER + 1];
    const char *unit[NC_OTHER + 1]; /* CSV; NULL = glued to the number */
};

static const struct {
    const char *name;
    enum nvprof_column column;
} names[] = {
    {"Type", NC_TYPE},       {"Time(%)", NC_PERCENT},   {"Time", NC_TIME},
    {"Calls", NC_CALLS},     {"Avg", NC_AVG},           {"Min", NC_MIN},
    {"Max", NC_MAX},         {"Name", NC_NAME},         {"Start", NC_START},
    {"Size", NC_SIZE},       {"Duration", NC_DURATION}, {"Device", NC_DEVICE},
    {"Context", NC_CONTEXT}, {"Stream", NC_STREAM},     {"Correlation_ID", NC_CORRELATION},
};

static enum nvprof_column column_of(struct rs_slice f)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (rs_slice_is(f, names[i].name)) return names[i].column;
    return NC_OTHER;
}

/* Text columns are at least two spaces apart; single ones belong to a cell ("(24 1 1)", "Tesla V100"). The last of
 * `most` is all that is left. */
static unsigned split_text(const char *text, size_t n, struct rs_slice *fields, unsigned most)
{
    struct rs_slice rest = rs_slice_trim((struct rs_slice){text, n});
    unsigned count = 0;
    while (rest.n && count < most) {
        size_t i = 0;
        if (count + 1 == most)
            i = rest.n;
        else
            while (i < rest.n && !(rest.text[i] == ' ' && i + 1 < rest.n && rest.text[i + 1] == ' ')) i++;
        fields[count++] = (struct rs_slice){rest.text, i};
        rest = rs_slice_trim((struct rs_slice){rest.text + i, rest.n - i});
    }
    return count;
}

/* Whether the line is the header of a table; fills `t` then, and leaves it alone otherwise. */
static bool nvprof_header(struct nvprof_table *t, const char *text, size_t n)
{
    struct rs_slice f = rs_slice_trim((struct rs_slice){text, n}), fields[NVPROF_COLUMNS];
    if (f.n && f.text[0] == '"') {
        f.text++;
        f.n--;
    }
    /* Nearly all lines end here. */
    bool likely = false;
    static const char *const first[] = {"Type", "Time(%)", "Start"};
    for (size_t i = 0; i < 3; i++) likely |= f.n > strlen(first[i]) && !memcmp(f.text, first[i], strlen(first[i]));
    if (!likely) return false;

    bool csv = memchr(text, ',', n) != NULL;
    unsigned count = csv ? rs_csv_split(text, n, fields, NVPROF_COLUMNS) : split_text(text, n, fields, NVPROF_COLUMNS);
    struct nvprof_table found = {.n = count, .csv = csv, .needs_units = csv};
    unsigned has = 0;
    for (unsigned i = 0; i < count; i++) {
        found.column[i] = column_of(fields[i]);
        has |= 1u << found.column[i];
    }
    const unsigned summary = 1u << NC_PERCENT | 1u << NC_TIME | 1u << NC_CALLS | 1u << NC_NAME;
    const unsigned trace = 1u << NC_START | 1u << NC_DURATION | 1u << NC_NAME;
    found.trace = (has & trace) == trace;
    if (!found.trace && (has & summary) != summary) return false;
    *t = found;
    return true;
}

/* Whether the line is the row of units that `t` waits for. */
static bool nvprof_units(struct nvprof_table *t, const char *text, size_t n)
{
    static const char *const units[] = {"",   "%",  "s",  "ms",  "us",   "ns",   "B",    "KB",
                                        "MB", "GB", "TB", "B/s", "KB/s", "MB/s", "GB/s", "TB/s"};
    struct rs_slice fields[NVPROF_COLUMNS];
    unsigned count = rs_csv_split(text, n, fields, NVPROF_COLUMNS);
    bool any = false;
    if (count > t->n) return false;
    for (unsigned i = 0; i < count; i++) {
        bool known = false;
        for (size_t u = 0; u < sizeof units / sizeof *units; u++) known |= rs_slice_is(fields[i], units[u]);
        if (!known) return false;
        any |= fields[i].n > 0;
    }
    if (!any) return false;
    for (unsigned i = 0; i < count; i++) {
        memcpy(t->unit[i], fields[i].text, fields[i].n); /* the longest has 4 letters */
        t->unit[i][fields[i].n] = 0;
    }
    t->needs_units = false;
    return true;
}

/* Splits a row; false when it has not the shape of one. */
static bool nvprof_split(const struct nvprof_table *t, const char *text, size_t n, struct nvprof_cells *c)
{
    struct rs_slice fields[NVPROF_COLUMNS];
    for (unsigned i = 0; i <= NC_OTHER; i++) {
        c->cell[i] = (struct rs_slice){"", 0};
        c->unit[i] = NULL;
    }
    if (!t->n) return false;
    unsigned skip = 0, count;
    if (t->csv) {
        count = rs_csv_split(text, n, fields, t->n);
    } else {
        /* Only the first row of a part has the type. */
        if (t->column[0] == NC_TYPE) {
            struct rs_slice first;
            if (!split_text(text, n, &first, 1)) return false;
            size_t i = 0;
            while (i < first.n && first.text[i] != ' ') i++;
            skip = i && first.text[i - 1] == '%';
        }
        count = split_text(text, n, fields, t->n - skip);
    }
    if (count + skip != t->n) return false;
    for (unsigned i = 0; i < count; i++) {
        enum nvprof_column column = t->column[i + skip];
        if (rs_slice_is(fields[i], "-")) continue;
        c->cell[column] = fields[i];
        c->unit[column] = t->csv ? t->unit[i + skip] : NULL;
    }
    return c->cell[NC_NAME].n > 0;
}

/* The number of a cell, and its unit, which in text is glued to it. */
static bool number_and_unit(const struct nvprof_cells *c, enum nvprof_column column, struct rs_slice *number,
                            struct rs_slice *unit)
{
    *number = c->cell[column];
    if (c->unit[column]) {
        *unit = (struct rs_slice){c->unit[column], strlen(c->unit[column])};
    } else {
        size_t n = number->n;
        while (n && ((number->text[n - 1] | 32) >= 'a' && (number->text[n - 1] | 32) <= 'z')) n--;
        *unit = (struct rs_slice){number->text + n, number->n - n};
        number->n = n;
    }
    return number->n > 0;
}

/* Exact, in ns. False: no time. */
static bool nvprof_time(const struct nvprof_cells *c, enum nvprof_column column, int64_t *ns)
{
    struct rs_slice number, unit;
    if (!number_and_unit(c, column, &number, &unit)) return false;
    if (rs_slice_is(unit, "s")) return rs_slice_fixed(number, 9, ns);
    if (rs_slice_is(unit, "ms")) return rs_slice_fixed(number, 6, ns);
    if (rs_slice_is(unit, "us")) return rs_slice_fixed(number, 3, ns);
    return rs_slice_is(unit, "ns") && rs_slice_fixed(number, 0, ns);
}

/* Of NC_SIZE; -1 = none. nvprof's MB are 2^20 */
static int64_t nvprof_bytes(const struct nvprof_cells *c)
{
    static const char *const units[] = {"B", "KB", "MB", "GB", "TB"};
    struct rs_slice number, unit;
    double v;
    if (!number_and_unit(c, NC_SIZE, &number, &unit) || !rs_slice_double(number, &v)) return -1;
    for (unsigned i = 0; i < 5; i++, v *= 1024)
        if (rs_slice_is(unit, units[i])) return v >= 0 && v < 9e15 ? (int64_t)(v + 0.5) : -1;
    return -1;
}

/* ---- rows ----
 * The state of a reading of nvprof's log, and what is put into the result: texts, notes, processes, rows.
 *
 * The reader borrows the result and the path, and owns its lines and its map. */

enum { NVPROF_MOST_NOTES = 4096 };

enum nvprof_part {
    NVPROF_PART_NONE,
    NVPROF_PART_RESULT,
    NVPROF_PART_NVTX,
    NVPROF_PART_METRICS,
    NVPROF_PART_UNKNOWN, /* unified memory, ...: not read */
};

struct nvprof_reader {
    struct rs_nvprof *p;
    const char *path;
    struct rs_lines lines;
    struct nvprof_table table;
    struct rs_metric_reader metrics;
    struct rs_map by_pid; /* pid -> index + 1 */
    enum nvprof_part part;
    uint32_t process; /* whose part it is */
    uint32_t range;
    const char *type; /* of the rows that follow */
    enum rs_nvprof_kind kind;
    bool in_range_row; /* the row that describes the range itself */
    const char *thread_name, *domain;
    uint64_t thread;
    uint32_t warning; /* index of the note that the next line may belong to, or RS_NVPROF_NONE */
    bool seen; /* anything of nvprof at all */
};

enum { LONGEST_NOTE = 2000, LONGEST_NAME = 1 << 16 };

/* The text ended with a 0, once for all that are equal. Doubled quotes become single where `csv`. */
static void nvprof_keep(struct nvprof_reader *r, struct rs_slice f, bool csv, const char **text)
{
    *text = "";
    if (!f.n) return;
    if (f.n > LONGEST_NAME) f.n = LONGEST_NAME;
    uint64_t *place;
    rs_map_at(&r->p->known, rs_mix_bytes(csv, f.text, f.n), 0, &place);
    const char *known = (const char *)(uintptr_t)*place;
    bool plain = !csv || !memchr(f.text, '"', f.n);
    if (known && plain && strlen(known) == f.n && !memcmp(known, f.text, f.n)) {
        *text = known;
        return;
    }
    char *copy = rs_arena_text(&r->p->texts, f.text, f.n);
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
}

static enum rs_status rs_nvprof_note(struct nvprof_reader *r, enum rs_nvprof_note_kind kind, uint32_t process,
                                     struct rs_slice f, struct rs_err *err)
{
    (void)err;
    struct rs_nvprof *p = r->p;
    if (p->n_notes >= NVPROF_MOST_NOTES) {
        p->notes_left_out++;
        return RS_OK;
    }
    if (f.n > LONGEST_NOTE) f.n = LONGEST_NOTE;
    struct rs_nvprof_note n = {.kind = kind, .process = process, .offset = r->lines.offset};
    nvprof_keep(r, f, false, &n.text);
    RS_ROOM(p->notes, p->n_notes, p->notes_cap);
    p->notes[p->n_notes++] = n;
    return RS_OK;
}

/* The process with this pid, made where there is none, or where one that has its result begins anew. */
static void nvprof_process_of(struct nvprof_reader *r, uint64_t pid, bool begins_anew, uint32_t *index)
{
    struct rs_nvprof *p = r->p;
    uint64_t *known;
    rs_map_at(&r->by_pid, pid, 0, &known);
    /* Concatenated logs may use a pid twice. */
    if (*known && !(begins_anew && p->processes[*known - 1].has_result)) {
        *index = (uint32_t)(*known - 1);
        return;
    }
    RS_ROOM(p->processes, p->n_processes, p->processes_cap);
    *index = p->n_processes;
    p->processes[p->n_processes++] = (struct rs_nvprof_process){.pid = pid, .command = ""};
    *known = p->n_processes;
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

/* "GPU activities:" and so on: what the rows from here on are. */
static void nvprof_set_type(struct nvprof_reader *r, struct rs_slice type)
{
    if (type.n && type.text[type.n - 1] == ':') type.n--;
    r->in_range_row = rs_slice_is(type, "Range");
    r->kind = rs_slice_is(type, "GPU activities") ? RS_NVPROF_GPU
              : rs_slice_is(type, "API calls")    ? RS_NVPROF_API
                                                  : RS_NVPROF_OTHER;
    nvprof_keep(r, type, false, &r->type);
}

/* Keep a row; *fits: whether it is one. */
static void nvprof_summary_row(struct nvprof_reader *r, const struct nvprof_cells *c, bool *fits)
{
    struct rs_nvprof *p = r->p;
    struct rs_nvprof_row row = {.process = r->process, .range = r->range, .offset = r->lines.offset};
    struct rs_slice percent = c->cell[NC_PERCENT];
    if (percent.n && percent.text[percent.n - 1] == '%') percent.n--;
    *fits = rs_slice_double(percent, &row.percent) && row.percent >= 0 && row.percent < 1e6 &&
            nvprof_time(c, NC_TIME, &row.time_ns) && rs_slice_u64(c->cell[NC_CALLS], &row.calls) &&
            nvprof_time(c, NC_AVG, &row.avg_ns) && nvprof_time(c, NC_MIN, &row.min_ns) &&
            nvprof_time(c, NC_MAX, &row.max_ns);
    if (!*fits) return;
    if (c->cell[NC_TYPE].n) nvprof_set_type(r, c->cell[NC_TYPE]);
    struct rs_nvprof_range *range = r->range == RS_NVPROF_NONE ? NULL : &p->ranges[r->range];
    if (r->in_range_row) {
        if (range) range_row(range, &row);
        return;
    }
    row.kind = r->kind;
    row.type = r->type;
    nvprof_keep(r, c->cell[NC_NAME], r->table.csv, &row.name);
    RS_ROOM(p->rows, p->n_rows, p->rows_cap);
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

static void nvprof_trace_row(struct nvprof_reader *r, const struct nvprof_cells *c, bool *fits)
{
    struct rs_nvprof *p = r->p;
    struct rs_nvprof_trace t = {.process = r->process, .offset = r->lines.offset, .device = -1, .stream_name = ""};
    *fits = nvprof_time(c, NC_START, &t.start_ns) && nvprof_time(c, NC_DURATION, &t.duration_ns);
    if (!*fits) return;
    struct rs_slice device = c->cell[NC_DEVICE], name = c->cell[NC_NAME], stream = c->cell[NC_STREAM];
    uint64_t number;
    t.gpu = device.n > 0;
    t.bytes = nvprof_bytes(c);
    if (take_number(&device, '(', ')', &number) && number <= INT32_MAX) t.device = (int32_t)number;
    if (!rs_slice_fixed(c->cell[NC_CONTEXT], 0, &t.context)) t.context = -1;
    if (!rs_slice_fixed(stream, 0, &t.stream)) {
        t.stream = -1;
        nvprof_keep(r, stream, r->table.csv, &t.stream_name);
    }
    bool in_name = take_number(&name, '[', ']', &t.correlation);
    t.has_correlation = rs_slice_u64(c->cell[NC_CORRELATION], &number);
    if (t.has_correlation) t.correlation = number;
    t.has_correlation |= in_name;
    nvprof_keep(r, device, r->table.csv, &t.device_name);
    nvprof_keep(r, name, r->table.csv, &t.name);
    RS_ROOM(p->traces, p->n_traces, p->traces_cap);
    p->traces[p->n_traces++] = t;
    p->processes[r->process].traced++;
}

/* ---- files ---- */

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
static void own(struct nvprof_reader *r)
{
    if (r->process == RS_NVPROF_NONE) nvprof_process_of(r, 0, false, &r->process);
    r->p->processes[r->process].has_result = true;
    r->seen = true;
}

static void begin_part(struct nvprof_reader *r, enum nvprof_part part, uint32_t process)
{
    r->part = part;
    r->process = process;
    r->range = RS_NVPROF_NONE;
    r->table.n = 0;
    r->thread = 0;
    r->thread_name = r->domain = "";
    nvprof_set_type(r, (struct rs_slice){"GPU activities", 14});
    own(r);
}

static struct rs_slice quoted(struct rs_slice f)
{
    if (f.n && f.text[0] == '"') f = (struct rs_slice){f.text + 1, f.n - 1};
    size_t n = f.n;
    while (n && f.text[n - 1] != '"') n--;
    return (struct rs_slice){f.text, n ? n - 1 : f.n};
}

static void nvtx_line(struct nvprof_reader *r, struct rs_slice f, bool *fits)
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
        nvprof_keep(r, quoted(what), false, &r->thread_name);
        return;
    }
    if ((what = rest_of(f, "Domain ")).text) {
        nvprof_keep(r, quoted(what), false, &r->domain);
        return;
    }
    if (!(what = rest_of(f, "Range ")).text) {
        *fits = false;
        return;
    }
    struct rs_nvprof_range g = {
        .process = r->process, .thread = r->thread, .thread_name = r->thread_name, .domain = r->domain};
    nvprof_keep(r, quoted(what), false, &g.name);
    RS_ROOM(p->ranges, p->n_ranges, p->ranges_cap);
    r->range = p->n_ranges;
    p->ranges[p->n_ranges++] = g;
    p->processes[r->process].ranges++;
    r->table.n = 0;
}

/* The text after "==PID==" or "========". */
static enum rs_status tool_line(struct nvprof_reader *r, uint64_t pid, struct rs_slice f, struct rs_err *err)
{
    struct rs_nvprof *p = r->p;
    uint32_t process;
    bool anew = begins(f, "NVPROF is profiling process"), fits = false;
    nvprof_process_of(r, pid, anew, &process);
    struct rs_slice command = rest_of(f, "Profiling application: ");
    if (anew) {
        const char *at = memmem(f.text, f.n, "command: ", 9);
        if (at) command = (struct rs_slice){at + 9, (size_t)(f.text + f.n - at) - 9};
    }
    if (anew || command.text) {
        r->seen = true;
        const char **known = &p->processes[process].command;
        if (command.text && !**known) nvprof_keep(r, command, false, known);
        return RS_OK;
    }
    if (begins(f, "Profiling result:")) {
        begin_part(r, NVPROF_PART_RESULT, process);
        return RS_OK;
    }
    if (begins(f, "NVTX result:")) {
        begin_part(r, NVPROF_PART_NVTX, process);
        return RS_OK;
    }
    if (begins(f, "API calls:") && r->part == NVPROF_PART_RESULT) { /* before CUDA 9 */
        r->table.n = 0;
        nvprof_set_type(r, (struct rs_slice){"API calls", 9});
        return RS_OK;
    }
    if (r->part == NVPROF_PART_NVTX && process == r->process) {
        nvtx_line(r, f, &fits);
        if (fits) return RS_OK;
    }
    if (begins(f, "Warning:") || begins(f, "Error:")) {
        r->warning = p->n_notes < NVPROF_MOST_NOTES ? p->n_notes : RS_NVPROF_NONE;
        return rs_nvprof_note(r, RS_NVPROF_WARNING, process, f, err);
    }
    if (begins(f, "Metric result:") || begins(f, "Event result:")) {
        r->metrics = (struct rs_metric_reader){0};
        begin_part(r, NVPROF_PART_METRICS, process);
        return RS_OK;
    }
    if (f.n > 7 && !memcmp(f.text + f.n - 7, "result:", 7)) begin_part(r, NVPROF_PART_UNKNOWN, process);
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

/* A row of a table of metrics. */
static void add_metric(struct nvprof_reader *r, const struct rs_metric_line *row, uint32_t process)
{
    struct rs_nvprof_metric m = {.process = process, .min = NAN, .max = NAN, .mean = NAN};
    struct rs_slice unit = {"", 0}, other;
    nvprof_keep(r, row->cells[RS_MC_OF], false, &m.of);
    nvprof_keep(r, row->cells[RS_MC_NAME], false, &m.name);
    if (!rs_metric_value(row->cells[RS_MC_MIN], &m.min, &other)) m.min = NAN;
    if (!rs_metric_value(row->cells[RS_MC_MAX], &m.max, &other)) m.max = NAN;
    if (!rs_metric_value(row->cells[RS_MC_MEAN], &m.mean, &unit)) m.mean = NAN;
    nvprof_keep(r, unit, false, &m.unit);
    if (!rs_slice_u64(row->cells[RS_MC_CALLS], &m.calls)) m.calls = 0;
    RS_ROOM(r->p->metrics, r->p->n_metrics, r->p->metrics_cap);
    r->p->metrics[r->p->n_metrics++] = m;
}

/* Whether the line is of a table of metrics. */
static bool take_metric(struct nvprof_reader *r, struct rs_slice f)
{
    struct rs_metric_line row;
    bool own_part = r->part == NVPROF_PART_METRICS;
    enum rs_metric_taken taken = own_part ? rs_metric_nvprof(&r->metrics, f, &row) : RS_METRIC_NOT;
    if (taken == RS_METRIC_NOT && r->part != NVPROF_PART_UNKNOWN) {
        taken = rs_metric_drawn(&r->metrics, f, &row);
        own_part = false;
    }
    if (taken == RS_METRIC_ROW) add_metric(r, &row, own_part ? r->process : RS_NVPROF_NONE);
    return taken != RS_METRIC_NOT;
}

/* A line that belongs to no table. */
static enum rs_status other_line(struct nvprof_reader *r, struct rs_slice f, struct rs_err *err)
{
    static const char *const legend[] = {"Regs: ", "SSMem: ", "DSMem: ", "SrcMemType: ", "DstMemType: "};
    if (!f.n) return RS_OK;
    if (begins(f, "No kernels were profiled") || begins(f, "No API activities were profiled")) {
        if (r->part == NVPROF_PART_NVTX || r->process == RS_NVPROF_NONE)
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
        memcpy(longer, of->text, n);
        longer[n] = ' ';
        memcpy(longer + n + 1, f.text, f.n);
        of->text = longer;
        r->warning = RS_NVPROF_NONE;
        return RS_OK;
    }
    if (take_metric(r, f)) return RS_OK;
    if (r->part == NVPROF_PART_UNKNOWN) {
        r->p->lines_not_read++;
        return RS_OK;
    }
    return rs_nvprof_note(r, RS_NVPROF_OUTPUT, RS_NVPROF_NONE, f, err);
}

static enum rs_status take_line(struct nvprof_reader *r, struct rs_err *err)
{
    const char *text = r->lines.text;
    size_t n = r->lines.n;
    struct rs_slice rest;
    uint64_t pid;
    if (tool_prefix(text, n, &pid, &rest)) {
        r->warning = RS_NVPROF_NONE;
        return tool_line(r, pid, rest, err);
    }
    if (r->part != NVPROF_PART_UNKNOWN && r->part != NVPROF_PART_METRICS && nvprof_header(&r->table, text, n)) {
        if (r->part == NVPROF_PART_NONE) begin_part(r, NVPROF_PART_RESULT, r->process);
        nvprof_header(&r->table, text, n); /* the part's beginning dropped it */
        own(r);
        return RS_OK;
    }
    if (r->table.n && r->table.needs_units && nvprof_units(&r->table, text, n)) return RS_OK;
    struct nvprof_cells cells;
    if (r->table.n && !r->table.needs_units && nvprof_split(&r->table, text, n, &cells)) {
        bool fits;
        if (r->table.trace)
            nvprof_trace_row(r, &cells, &fits);
        else
            nvprof_summary_row(r, &cells, &fits);
        if (fits && r->lines.unended && r->p->damage.code == RS_OK)
            rs_fail(&r->p->damage, RS_BAD_INPUT, "%s: at byte %llu: the last line has no end: its name may be cut",
                    r->path, (unsigned long long)r->lines.offset);
        if (fits) return RS_OK;
    }
    return other_line(r, rs_slice_trim((struct rs_slice){text, n}), err);
}

static enum rs_status read_lines(struct nvprof_reader *r, struct rs_err *err)
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
    struct nvprof_reader r = {.p = p, .path = path};
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
    struct nvprof_reader r = {.p = p, .path = path};
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
    free(p->metrics);
    rs_arena_free(&p->texts);
    rs_map_free(&p->known);
    *p = (struct rs_nvprof){0};
}

bool rs_nvprof_is(const char *path, const char *head, size_t n)
{
    (void)path;
    struct rs_lines l;
    struct nvprof_table table;
    struct rs_slice rest;
    uint64_t pid;
    bool found = false;
    rs_lines_memory(&l, head, n);
    while (!found && rs_lines_next(&l)) {
        if (tool_prefix(l.text, l.n, &pid, &rest))
            found = begins(rest, "NVPROF is profiling process") || begins(rest, "Profiling result:") ||
                    begins(rest, "Profiling application: ") || begins(rest, "NVTX result:") ||
                    begins(rest, "Metric result:") || begins(rest, "Event result:");
        else
            found = nvprof_header(&table, l.text, l.n);
    }
    rs_lines_free(&l);
    return found;
}

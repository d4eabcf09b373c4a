#include "foreign/nccl_tests/nccl_tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/bytes.h"
#include "base/room.h"
#include "foreign/formats.h"
#include "foreign/json_fields.h"
#include "foreign/lines.h"

/* ---- names ----
 * Names in nccl-tests and in NCCL, and which test a row can be of: shared by the readers of both of its formats. */

/* Names that contain others come first. */
static const struct test {
    const char *program, *func;
} tests[] = {
    {"all_reduce_perf", "AllReduce"}, {"all_gather_perf", "AllGather"}, {"reduce_scatter_perf", "ReduceScatter"},
    {"alltoallv_perf", ""},           {"alltoall_perf", "AlltoAll"},    {"sendrecv_perf", "SendRecv"},
    {"broadcast_perf", "Broadcast"},  {"hypercube_perf", ""},           {"scatter_perf", "Scatter"},
    {"gather_perf", "Gather"},        {"reduce_perf", "Reduce"},
};
enum { TESTS = sizeof tests / sizeof *tests };

static const struct {
    const char *test, *nccl;
} types[] = {
    {"float", "ncclFloat32"},       {"half", "ncclFloat16"},        {"bfloat16", "ncclBfloat16"},
    {"double", "ncclFloat64"},      {"int8", "ncclInt8"},           {"uint8", "ncclUint8"},
    {"int32", "ncclInt32"},         {"uint32", "ncclUint32"},       {"int64", "ncclInt64"},
    {"uint64", "ncclUint64"},       {"f8e4m3", "ncclFloat8e4m3"},   {"f8e5m2", "ncclFloat8e5m2"},
    {"char", "ncclInt8"},           {"int", "ncclInt32"}, /* of NCCL 1 */
    {"fp8_e4m3", "ncclFloat8e4m3"}, {"fp8_e5m2", "ncclFloat8e5m2"}, /* of rccl-tests */
};
enum { TYPES = sizeof types / sizeof *types };

/* The test whose program is named somewhere in a text (".../all_reduce_perf -b 8"), as NCCL's function; NULL: none is.
 * "" for a test that nothing else counts like (hypercube, alltoallv). */
static const char *nccl_tests_named(struct rs_slice text)
{
    const char *end = memmem(text.text, text.n, "_perf", 5);
    if (!end) return NULL;
    for (int i = 0; i < TESTS; i++)
        if (memmem(text.text, text.n, tests[i].program, strlen(tests[i].program))) return tests[i].func;
    return NULL;
}

const char *rs_nccl_tests_program(const char *func)
{
    for (int i = 0; i < TESTS && *func; i++)
        if (!strcmp(tests[i].func, func)) return tests[i].program;
    return NULL;
}

/* NCCL's type of one of nccl-tests'; NULL: not known. */
static const char *nccl_tests_dtype(struct rs_slice name)
{
    for (int i = 0; i < TYPES; i++)
        if (rs_slice_is(name, types[i].test)) return types[i].nccl;
    return NULL;
}

const char *rs_nccl_tests_type(const char *dtype)
{
    if (!strcmp(dtype, "Unknown")) dtype = "ncclUint8"; /* what NCCL calls it */
    for (int i = 0; i < TYPES; i++)
        if (!strcmp(types[i].nccl, dtype)) return types[i].test;
    return NULL;
}

/* busbw / algbw of a row; NAN where they have too few digits. */
static double ratio(const struct rs_nccl_tests_row *row)
{
    const struct rs_nccl_tests_half *h = row->out_of_place.busbw >= 1 ? &row->out_of_place : &row->in_place;
    return h->busbw >= 1 && h->algbw >= 1 && isfinite(h->busbw) && isfinite(h->algbw) ? h->busbw / h->algbw : NAN;
}

static double factor(const char *func, int32_t nranks)
{
    double others = (double)(nranks - 1) / nranks;
    if (!strcmp(func, "AllReduce")) return 2 * others;
    if (!strcmp(func, "Broadcast") || !strcmp(func, "Reduce") || !strcmp(func, "SendRecv")) return 1;
    return others;
}

/* Two decimals are too few for a small bandwidth: there the time is more exact. */
static double busbw_of(const struct rs_nccl_tests_row *row, const struct rs_nccl_tests_half *h)
{
    double gbs = h->busbw;
    if (!isfinite(gbs)) return 0;
    if (gbs < 1 && h->time_us > 0 && row->func && row->nranks > 1)
        gbs = (double)row->bytes / (h->time_us * 1000) * factor(row->func, row->nranks);
    return isfinite(gbs) ? gbs : 0;
}

double rs_nccl_tests_best(const struct rs_nccl_tests_row *row)
{
    double out = busbw_of(row, &row->out_of_place), in = busbw_of(row, &row->in_place);
    return in > out ? in : out;
}

/* Settles the function of a row, of which `said` was said (NULL: nothing): NULL where the ratio of its bandwidths
 * cannot be that of the function, and what alone has such a row where nothing was said. */
static const char *nccl_tests_func(const struct rs_nccl_tests_row *row, const char *said)
{
    double is = ratio(row);
    if (said && *said && row->nranks > 1 && fabs(is - factor(said, row->nranks)) > 0.03) return NULL;
    if (said) return *said ? said : NULL;
    bool reduces = row->redop[0] && strcmp(row->redop, "none") != 0;
    if (row->nranks < 2 || isnan(is)) return NULL;
    if (reduces && row->root >= 0) return "Reduce";
    if (reduces)
        return is > (row->nranks == 2 ? 0.75 : 1.15) ? "AllReduce" : "ReduceScatter"; /* 2 (n - 1) / n, or half */
    return row->root >= 0 && fabs(is - 1) < 0.03 && row->nranks < 30 ? "Broadcast" : NULL; /* else gather or scatter */
}

/* ---- JSON ----
 * The file that nccl-tests write with -J (from version 2.17.3 on): config, devices and results of one test. */

/* What is known before the results come. */
struct config {
    const char *said; /* function by the program's name; NULL: unknown */
    int64_t threads, gpus, processes; /* of a communicator; -1: unknown */
};

static struct rs_slice text_of(const char *text)
{
    return (struct rs_slice){text, strlen(text)};
}

/* "args": the program and its options. */
static void take_args(struct rs_scan *s, struct config *c)
{
    char text[4096];
    unsigned depth = rs_json_take_into(s, RS_T_ARRAY);
    bool first = true;
    while (depth && s->depth >= depth) {
        enum rs_token t = rs_scan_next(s);
        if (t == RS_T_END || s->depth < depth) return;
        if (t == RS_T_STRING && first) {
            rs_scan_text(s, text, sizeof text);
            c->said = nccl_tests_named(text_of(text));
        }
        first = false;
    }
}

/* One element per process, whatever its GPUs (versions 2 and 3): those of the first group are the communicator's. */
static void take_devices(struct rs_scan *s, struct config *c)
{
    unsigned list = rs_json_take_into(s, RS_T_ARRAY);
    int64_t of = -1;
    c->processes = 0;
    while (list && rs_json_take_object(s, list)) {
        int64_t group = 0;
        unsigned depth = s->depth;
        while (rs_json_take_key(s, depth)) {
            if (rs_scan_is(s, "group"))
                rs_json_take_i64(s, &group);
            else
                rs_scan_skip(s);
        }
        if (of < 0) of = group;
        c->processes += group == of;
    }
}

static void take_config(struct rs_scan *s, struct config *c)
{
    unsigned depth = rs_json_take_into(s, RS_T_OBJECT);
    while (depth && rs_json_take_key(s, depth)) {
        if (rs_scan_is(s, "nthreads"))
            rs_json_take_i64(s, &c->threads);
        else if (rs_scan_is(s, "ngpus"))
            rs_json_take_i64(s, &c->gpus);
        else if (rs_scan_is(s, "devices"))
            take_devices(s, c);
        else
            rs_scan_skip(s);
    }
}

static int32_t ranks_of(const struct config *c)
{
    enum { MOST = 1 << 20 };
    if (c->threads < 1 || c->gpus < 1 || c->processes < 1) return -1;
    if (c->threads > MOST || c->gpus > MOST || c->processes > MOST) return -1;
    int64_t n = c->threads * c->gpus;
    return n > MOST || n * c->processes > INT32_MAX ? -1 : (int32_t)(n * c->processes);
}

/* null: it was not run so. */
static void json_take_half(struct rs_scan *s, struct rs_nccl_tests_half *half)
{
    unsigned depth = rs_json_take_into(s, RS_T_OBJECT);
    while (depth && rs_json_take_key(s, depth)) {
        double *to = NULL;
        if (rs_scan_is(s, "time") || rs_scan_is(s, "cpu_time"))
            to = &half->time_us;
        else if (rs_scan_is(s, "alg_bw"))
            to = &half->algbw;
        else if (rs_scan_is(s, "bus_bw"))
            to = &half->busbw;
        if (!to) {
            rs_scan_skip(s);
            continue;
        }
        rs_json_take_double(s, to);
        if (!isfinite(*to) || *to < 0) *to = NAN;
    }
}

static void take_root(struct rs_scan *s, int32_t *root)
{
    char text[32];
    int64_t v;
    rs_json_take_text(s, text, sizeof text); /* "    -1" */
    *root = rs_slice_fixed(rs_slice_trim(text_of(text)), 0, &v) && v <= INT32_MAX ? (int32_t)v : -1;
}

static void nccl_tests_keep(struct rs_nccl_tests *t, struct rs_nccl_tests_row *row, const char *said);

static void take_results(struct rs_nccl_tests *t, struct rs_scan *s, const struct config *c)
{
    unsigned list = rs_json_take_into(s, RS_T_ARRAY);
    while (list && rs_json_take_object(s, list)) {
        const struct rs_nccl_tests_half none = {NAN, NAN, NAN};
        struct rs_nccl_tests_row row = {.root = -1, .nranks = ranks_of(c), .out_of_place = none, .in_place = none};
        char type[32] = "";
        unsigned depth = s->depth;
        while (rs_json_take_key(s, depth)) {
            if (rs_scan_is(s, "size"))
                rs_json_take_u64(s, &row.bytes);
            else if (rs_scan_is(s, "type"))
                rs_json_take_text(s, type, sizeof type);
            else if (rs_scan_is(s, "redop"))
                rs_json_take_text(s, row.redop, sizeof row.redop);
            else if (rs_scan_is(s, "root"))
                take_root(s, &row.root);
            else if (rs_scan_is(s, "out_of_place"))
                json_take_half(s, &row.out_of_place);
            else if (rs_scan_is(s, "in_place"))
                json_take_half(s, &row.in_place);
            else
                rs_scan_skip(s);
        }
        if (s->cut) return;
        row.dtype = nccl_tests_dtype(text_of(type));
        nccl_tests_keep(t, &row, c->said);
    }
}

static enum rs_status read_object(struct rs_nccl_tests *t, struct rs_scan *s, const char *path, struct rs_err *err)
{
    struct config c = {NULL, -1, -1, -1};
    unsigned depth = rs_json_take_into(s, RS_T_OBJECT);
    bool results = false;
    while (depth && rs_json_take_key(s, depth)) {
        if (rs_scan_is(s, "args")) {
            take_args(s, &c);
        } else if (rs_scan_is(s, "config")) {
            take_config(s, &c);
        } else if (rs_scan_is(s, "results")) {
            results = true;
            take_results(t, s, &c);
        } else {
            rs_scan_skip(s);
        }
    }
    if (!results) return rs_fail(err, RS_BAD_INPUT, "%s: no results of nccl-tests are in it", path);
    if (s->err.code != RS_OK) {
        t->damage = s->err;
    } else if (s->cut) {
        t->bad_lines++;
        rs_fail(&t->damage, RS_BAD_INPUT, "%s: at byte %llu: the file ends within its results", path,
                (unsigned long long)s->offset);
    }
    return RS_OK;
}

/* Fills a zeroed struct. RS_BAD_INPUT when it has no list of results. */
static enum rs_status nccl_tests_json(struct rs_nccl_tests *t, struct rs_bytes *bytes, const char *path,
                                      struct rs_err *err)
{
    struct rs_scan s;
    rs_scan_bytes(&s, bytes);
    enum rs_status status = read_object(t, &s, path, err);
    rs_scan_free(&s);
    return status;
}

/* version, start_time and args come first, and args names the program. */
static bool nccl_tests_json_is(const char *head, size_t n)
{
    struct rs_scan s;
    struct config c = {NULL, -1, -1, -1};
    bool versioned = false;
    rs_scan_memory(&s, head, n);
    unsigned depth = rs_json_take_into(&s, RS_T_OBJECT);
    for (int i = 0; depth && i < 3 && rs_json_take_key(&s, depth); i++) {
        versioned |= i == 0 && rs_scan_is(&s, "version");
        if (versioned && rs_scan_is(&s, "args"))
            take_args(&s, &c);
        else
            rs_scan_skip(&s);
    }
    rs_scan_free(&s);
    return c.said != NULL;
}

/* ---- text ---- */

enum { MOST = 40 }; /* words of a line that are looked at */

enum column { SIZE, COUNT, TYPE, REDOP, ROOT, TIME, ALGBW, BUSBW, STAMP, OTHER };

struct reader {
    struct rs_nccl_tests *t;
    const char *path;
    enum column columns[MOST];
    unsigned ncolumns; /* 0: no heading was seen yet */
    uint32_t tables; /* headings so far */
    unsigned first, second; /* of the columns: the time out of place, and in place (0: there is one half) */
    bool milliseconds; /* version 1 */
    const char *func; /* as the lines before say; NULL: they do not */
    bool used; /* by a row: the next test has a name of its own */
    int32_t nranks, top, group; /* ranks of the first group that was listed; the last of them */
};

/* ---- words ---- */

static unsigned split(struct rs_slice line, struct rs_slice *words)
{
    unsigned n = 0;
    while (n < MOST) {
        line = rs_slice_trim(line);
        if (!line.n) break;
        size_t length = 0;
        while (length < line.n && line.text[length] != ' ' && line.text[length] != '\t') length++;
        words[n++] = (struct rs_slice){line.text, length};
        line.text += length;
        line.n -= length;
    }
    return n;
}

static struct rs_slice skip(struct rs_slice line, size_t n)
{
    return (struct rs_slice){line.text + n, line.n - n};
}

static size_t digits(struct rs_slice f)
{
    size_t n = 0;
    while (n < f.n && f.text[n] >= '0' && f.text[n] <= '9') n++;
    return n;
}

/* Without what mpirun ("[1,0]<stdout>:") or srun ("12: ") put in front. */
static struct rs_slice bare(struct rs_slice line)
{
    size_t n = digits(line);
    if (n && n < 8 && n + 1 < line.n && line.text[n] == ':' && line.text[n + 1] == ' ') return skip(line, n + 2);
    if (!line.n || line.text[0] != '[') return line;
    const char *tag = memmem(line.text, line.n < 40 ? line.n : 40, "<std", 4);
    const char *end = tag ? memchr(tag, '>', line.n - (size_t)(tag - line.text)) : NULL;
    if (!end || (size_t)(end - tag) > 8) return line;
    line = skip(line, (size_t)(end - line.text) + 1);
    return line.n && line.text[0] == ':' ? skip(line, 1) : line;
}

static bool number(struct rs_slice f, int32_t *v)
{
    int64_t x;
    bool minus = f.n && f.text[0] == '-';
    if (!rs_slice_fixed(minus ? skip(f, 1) : f, 0, &x) || x > INT32_MAX) return false;
    *v = minus ? (int32_t)-x : (int32_t)x;
    return true;
}

/* ---- headings ---- */

static enum column column_of(struct rs_slice word)
{
    static const struct {
        const char *name;
        enum column column;
    } names[] = {{"size", SIZE},   {"bytes", SIZE},  {"count", COUNT},    {"N", COUNT},   {"type", TYPE},
                 {"redop", REDOP}, {"op", REDOP},    {"root", ROOT},      {"time", TIME}, {"cputime", TIME},
                 {"algbw", ALGBW}, {"busbw", BUSBW}, {"timestamp", STAMP}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (rs_slice_is(word, names[i].name)) return names[i].column;
    return OTHER;
}

/* "#  size  count  type  redop  root  time  algbw  busbw  #wrong  time ..." */
static bool take_heading(struct reader *r, struct rs_slice line)
{
    struct rs_slice words[MOST];
    if (!memmem(line.text, line.n, "busbw", 5)) return false;
    if (line.n && line.text[0] == '#') line = skip(line, 1);
    unsigned n = split(line, words), first = 0, second = 0, busbws = 0;
    if (n < 5 || column_of(words[0]) != SIZE || column_of(words[1]) != COUNT || column_of(words[2]) != TYPE)
        return false;
    enum column columns[MOST];
    for (unsigned i = 0; i < n; i++) {
        columns[i] = column_of(words[i]);
        busbws += columns[i] == BUSBW;
        if (columns[i] != TIME) continue;
        if (!first)
            first = i;
        else if (!second)
            second = i;
    }
    if (!first || busbws != (second ? 2u : 1u)) return false;
    memcpy(r->columns, columns, sizeof columns);
    r->ncolumns = n;
    r->tables++;
    r->first = first;
    r->second = second;
    r->milliseconds = rs_slice_is(words[0], "bytes");
    return true;
}

/* "#  Rank  0 Group  0 Pid 1887 on worker-1 device 0 [0x8d] NVIDIA H100": how many ranks a communicator has. */
static void take_rank(struct reader *r, const struct rs_slice *words, unsigned n)
{
    int32_t rank, group = 0;
    if (n < 4 || !number(words[2], &rank) || rank < 0) return;
    if (rs_slice_is(words[3], "Group") && (n < 5 || !number(words[4], &group))) return;
    if (r->nranks < 1) {
        r->group = group;
        r->top = -1;
        r->nranks = 0;
    }
    if (group != r->group || rank <= r->top) return;
    r->top = rank;
    r->nranks++;
}

static void take_comment(struct reader *r, struct rs_slice line)
{
    struct rs_slice words[MOST];
    unsigned n = split(line, words);
    const char *func = nccl_tests_named(line);
    if (n > 1 && (rs_slice_is(words[1], "nThread") || rs_slice_is(words[1], "nThreads:")) && r->used) r->func = NULL;
    if (n > 2 && rs_slice_is(words[1], "Using") && rs_slice_is(words[2], "devices")) r->nranks = -1;
    if (n > 1 && rs_slice_is(words[1], "Rank")) take_rank(r, words, n);
    if (n > 1 &&
        rs_slice_is(words[1], "Collective:")) { /* of our own table: "# Collective: all_reduce_perf nranks 8" */
        if (!func) func = "";
        r->nranks = -1;
        for (unsigned i = 2; i + 1 < n; i++)
            if (rs_slice_is(words[i], "nranks")) number(words[i + 1], &r->nranks);
    }
    if (!func || (n > 3 && rs_slice_is(words[3], "concluded:"))) return;
    r->func = func;
    r->used = false;
}

/* ---- rows ---- */

/* The numbers of one half, whose first column is words[0]; the columns are those from `at` on. */
static bool take_half(const struct reader *r, const struct rs_slice *words, unsigned at, unsigned n,
                      struct rs_nccl_tests_half *half)
{
    for (unsigned i = 0; i < n; i++) {
        enum column c = r->columns[at + i];
        double *to = c == TIME ? &half->time_us : c == ALGBW ? &half->algbw : c == BUSBW ? &half->busbw : NULL;
        if (!to) continue;
        if (!rs_slice_double(words[i], to)) return false;
        if (!isfinite(*to) || *to < 0) *to = NAN;
    }
    if (r->milliseconds) half->time_us *= 1000;
    return true;
}

/* Whether a line begins like a row, our own included: other output may begin with numbers, too. */
static bool is_row(const struct rs_slice *words, unsigned n)
{
    bool counted = n > 3 && (digits(words[1]) == words[1].n || rs_slice_is(words[1], "N/A"));
    return counted && digits(words[0]) == words[0].n &&
           (nccl_tests_dtype(words[2]) || rs_slice_is(words[2], "n/a") || rs_slice_is(words[2], "several"));
}

static bool take_row(struct reader *r, const struct rs_slice *words, unsigned n, struct rs_nccl_tests_row *row)
{
    const struct rs_nccl_tests_half none = {NAN, NAN, NAN};
    *row = (struct rs_nccl_tests_row){.root = -1, .nranks = r->nranks, .out_of_place = none, .in_place = none};
    unsigned columns = r->ncolumns, stamp = columns && r->columns[columns - 1] == STAMP;
    columns -= stamp;
    unsigned width = (r->second ? r->second : columns) - r->first;
    bool whole = n == columns || (stamp && n == columns + 2);
    bool only_in_place = !whole && r->second && (n == columns - width || (stamp && n == columns - width + 2));
    if (!whole && !only_in_place) return false;
    for (unsigned i = 0; i < r->first; i++) {
        struct rs_slice f = words[i];
        if (r->columns[i] == SIZE && !rs_slice_u64(f, &row->bytes)) return false;
        if (r->columns[i] == TYPE) row->dtype = nccl_tests_dtype(f);
        if (r->columns[i] == ROOT && !number(f, &row->root)) row->root = -1; /* "n/a" of our own table */
        if (r->columns[i] != REDOP || rs_slice_is(f, "n/a")) continue;
        size_t length = f.n < sizeof row->redop - 1 ? f.n : sizeof row->redop - 1;
        memcpy(row->redop, f.text, length);
    }
    const struct rs_slice *at = words + r->first;
    if (!only_in_place) {
        if (!take_half(r, at, r->first, width, &row->out_of_place)) return false;
        at += width;
    }
    return !r->second || take_half(r, at, r->second, columns - r->second, &row->in_place);
}

/* Adds a row once its function is settled: `said` as in nccl_tests_func(). Of both readers; in nccl_tests.c. */
static void nccl_tests_keep(struct rs_nccl_tests *t, struct rs_nccl_tests_row *row, const char *said)
{
    row->func = nccl_tests_func(row, said);
    t->unnamed += !row->func && !(said && !*said);
    RS_ROOM(t->rows, t->n, t->cap);
    t->rows[t->n++] = *row;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void take_line(struct reader *r, const struct rs_lines *l)
{
    struct rs_slice words[MOST], line = rs_slice_trim(bare((struct rs_slice){l->text, l->n}));
    struct rs_nccl_tests_row row;
    if (!line.n || take_heading(r, line)) return;
    unsigned n = digits(line) ? split(line, words) : 0;
    if (!is_row(words, n)) {
        take_comment(r, line);
        return;
    }
    if (!r->ncolumns) return;
    /* A last line without an end may have lost digits. */
    if (!l->unended && take_row(r, words, n, &row)) {
        const char *file = name_of(r->path);
        const char *said = r->func ? r->func : nccl_tests_named((struct rs_slice){file, strlen(file)});
        r->used = true;
        row.table = said ? 0 : r->tables;
        nccl_tests_keep(r->t, &row, said);
        return;
    }
    if (!r->t->bad_lines++)
        rs_fail(&r->t->damage, RS_BAD_INPUT, "%s: at byte %llu: %s", r->path, (unsigned long long)l->offset,
                l->unended ? "the last line has no end" : "not a row of nccl-tests' table");
}

/* Small bandwidths have too few digits to say which test they are of: the other rows of their table do. */
static void infer(struct rs_nccl_tests *t)
{
    for (uint32_t i = 0, next; i < t->n; i = next) {
        const char *func = NULL;
        bool several = false;
        for (next = i; next < t->n && t->rows[next].table == t->rows[i].table; next++) {
            const char *is = t->rows[next].func;
            several |= func && is && strcmp(func, is) != 0;
            if (is) func = is;
        }
        if (!t->rows[i].table || !func || several) continue;
        for (uint32_t k = i; k < next; k++) {
            t->unnamed -= !t->rows[k].func;
            t->rows[k].func = func;
        }
    }
}

static enum rs_status read_lines(struct rs_nccl_tests *t, struct rs_lines *l, const char *path, struct rs_err *err)
{
    struct reader r = {.t = t, .path = path, .nranks = -1};
    while (rs_lines_next(l)) take_line(&r, l);
    infer(t);
    if (l->err.code != RS_OK && t->damage.code == RS_OK) t->damage = l->err;
    if (!r.ncolumns) return rs_fail(err, RS_BAD_INPUT, "%s: no table of nccl-tests is in it", path);
    return RS_OK;
}

enum rs_status rs_nccl_tests_read(struct rs_nccl_tests *t, const char *path, struct rs_err *err)
{
    struct rs_bytes *bytes;
    char first;
    *t = (struct rs_nccl_tests){0};
    RS_TRY(rs_bytes_open(&bytes, path, err));
    enum rs_status status;
    if (rs_bytes_peek(bytes, &first, 1) == 1 && first == '{') {
        status = nccl_tests_json(t, bytes, path, err);
    } else {
        struct rs_lines lines;
        rs_lines_bytes(&lines, bytes);
        status = read_lines(t, &lines, path, err);
        rs_lines_free(&lines);
    }
    rs_bytes_close(bytes);
    return status;
}

void rs_nccl_tests_free(struct rs_nccl_tests *t)
{
    free(t->rows);
    *t = (struct rs_nccl_tests){0};
}

/* A document shows such a table, as this project's own does: it is not the output of a test. */
static bool is_document(const char *path, const char *head, size_t n)
{
    static const char *const ends[] = {".md", ".rst", ".html", ".adoc"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t p = strlen(path), e = strlen(ends[i]);
        if (p > e && !strcasecmp(path + p - e, ends[i])) return true;
    }
    return memmem(head, n, "\n```", 4) != NULL;
}

bool rs_nccl_tests_is(const char *path, const char *head, size_t n)
{
    struct reader r = {.nranks = -1};
    struct rs_lines l;
    if (n && head[0] == '{') return nccl_tests_json_is(head, n);
    if (is_document(path, head, n)) return false;
    bool is = false;
    rs_lines_memory(&l, head, n);
    while (!is && rs_lines_next(&l)) {
        struct rs_slice words[MOST], line = rs_slice_trim(bare((struct rs_slice){l.text, l.n}));
        if (!line.n || line.text[0] != '#') continue;
        unsigned count = split(line, words);
        is =
            take_heading(&r, line) || (count > 3 && rs_slice_is(words[1], "nThread") && rs_slice_is(words[3], "nGpus"));
    }
    rs_lines_free(&l);
    return is;
}

#include "foreign/nccl_tests/nccl_tests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "foreign/formats.h"
#include "foreign/nccl_tests/json.h"
#include "foreign/nccl_tests/names.h"

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

static struct rs_slice behind(struct rs_slice line, size_t n)
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
    if (n && n < 8 && n + 1 < line.n && line.text[n] == ':' && line.text[n + 1] == ' ') return behind(line, n + 2);
    if (!line.n || line.text[0] != '[') return line;
    const char *tag = memmem(line.text, line.n < 40 ? line.n : 40, "<std", 4);
    const char *end = tag ? memchr(tag, '>', line.n - (size_t)(tag - line.text)) : NULL;
    if (!end || (size_t)(end - tag) > 8) return line;
    line = behind(line, (size_t)(end - line.text) + 1);
    return line.n && line.text[0] == ':' ? behind(line, 1) : line;
}

static bool number(struct rs_slice f, int32_t *v)
{
    int64_t x;
    bool minus = f.n && f.text[0] == '-';
    if (!rs_slice_fixed(minus ? behind(f, 1) : f, 0, &x) || x > INT32_MAX) return false;
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
    if (line.n && line.text[0] == '#') line = behind(line, 1);
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
    const char *func = rs_nccl_tests_named(line);
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
           (rs_nccl_tests_dtype(words[2]) || rs_slice_is(words[2], "n/a") || rs_slice_is(words[2], "several"));
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
        if (r->columns[i] == TYPE) row->dtype = rs_nccl_tests_dtype(f);
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

enum rs_status rs_nccl_tests_keep(struct rs_nccl_tests *t, struct rs_nccl_tests_row *row, const char *said,
                                  struct rs_err *err)
{
    row->func = rs_nccl_tests_func(row, said);
    t->unnamed += !row->func && !(said && !*said);
    RS_ROOM(t->rows, t->n, t->cap, err);
    t->rows[t->n++] = *row;
    return RS_OK;
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static enum rs_status take_line(struct reader *r, const struct rs_lines *l, struct rs_err *err)
{
    struct rs_slice words[MOST], line = rs_slice_trim(bare((struct rs_slice){l->text, l->n}));
    struct rs_nccl_tests_row row;
    if (!line.n || take_heading(r, line)) return RS_OK;
    unsigned n = digits(line) ? split(line, words) : 0;
    if (!is_row(words, n)) {
        take_comment(r, line);
        return RS_OK;
    }
    if (!r->ncolumns) return RS_OK;
    /* A last line without an end may have lost digits. */
    if (!l->unended && take_row(r, words, n, &row)) {
        const char *file = name_of(r->path);
        const char *said = r->func ? r->func : rs_nccl_tests_named((struct rs_slice){file, strlen(file)});
        r->used = true;
        row.table = said ? 0 : r->tables;
        return rs_nccl_tests_keep(r->t, &row, said, err);
    }
    if (!r->t->bad_lines++)
        rs_fail(&r->t->damage, RS_BAD_INPUT, "%s: at byte %llu: %s", r->path, (unsigned long long)l->offset,
                l->unended ? "the last line has no end" : "not a row of nccl-tests' table");
    return RS_OK;
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
    while (rs_lines_next(l)) RS_TRY(take_line(&r, l, err));
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
        status = rs_nccl_tests_json(t, bytes, path, err);
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

bool rs_nccl_tests_is(const char *path, const char *head, size_t n)
{
    (void)path;
    struct reader r = {.nranks = -1};
    struct rs_lines l;
    if (n && head[0] == '{') return rs_nccl_tests_json_is(head, n);
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

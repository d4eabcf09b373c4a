#include "foreign/stages/stages.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/room.h"
#include "base/scan.h"
#include "foreign/lines.h"

/* ---- pairs ----
 * Begins and ends of stages put together to spans: the second half of foreign/stages/stages.h, which alone uses it. */

enum stage_event_kind {
    STAGE_SPAN, /* at .. until */
    STAGE_BEGIN,
    STAGE_END,
    STAGE_MARK, /* lasts until the next mark of its chunk */
    STAGE_STAMP, /* a time stamp with a known meaning; `name` is the stamp */
};

struct stage_event {
    int32_t rank;
    uint32_t name;
    int64_t chunk; /* -1: unknown */
    int64_t at, until;
    uint64_t line;
    enum stage_event_kind kind;
};

struct stage_events {
    struct stage_event *rows;
    uint32_t n, cap;
};

static void stage_events_add(struct stage_events *s, const struct stage_event *e)
{
    RS_ROOM(s->rows, s->n, s->cap);
    s->rows[s->n++] = *e;
}

static void stage_events_free(struct stage_events *s)
{
    free(s->rows);
    *s = (struct stage_events){0};
}

#define BY(member)                                                                                                     \
    if (x->member != y->member) return x->member < y->member ? -1 : 1

/* Marks of one chunk are together, by time. */
static int marks_by_time(const void *a, const void *b)
{
    const struct stage_event *x = a, *y = b;
    BY(rank);
    BY(chunk);
    BY(at);
    BY(line);
    return 0;
}

/* Events of one stage of one chunk are together, by time; at one moment the order of the lines decides. */
static int by_stage(const void *a, const void *b)
{
    const struct stage_event *x = a, *y = b;
    BY(rank);
    BY(name);
    BY(chunk);
    BY(at);
    BY(line);
    return 0;
}

static int rows_in_order(const void *a, const void *b)
{
    const struct rs_stage_row *x = a, *y = b;
    BY(rank);
    BY(chunk);
    BY(name);
    BY(start);
    return 0;
}

/* ---- time stamps with a known meaning ---- */

enum stamp { T_A0, T_A1, T_SEND, T_RECV, T_DECODE, T_B0, T_B1, T_EMIT, STAMPS };

static const char *const stamp_names[STAMPS] = {"tA0", "tA1", "tSend", "tRecv", "tDecode", "tB0", "tB1", "tEmit"};

/* The stages between them, in the order in which a chunk passes through them. */
static const struct {
    const char *name;
    enum stamp from, to;
} stamp_stages[] = {{"A", T_A0, T_A1},           {"send", T_A1, T_SEND},
                    {"receive", T_SEND, T_RECV}, {"decode", T_RECV, T_DECODE},
                    {"B", T_B0, T_B1},           {"emit", T_B1, T_EMIT}};
enum { STAMP_STAGES = sizeof stamp_stages / sizeof *stamp_stages };

static void pairs_complain(struct rs_stage_file *f, const struct stage_event *e, const char *what)
{
    if (!f->bad++) snprintf(f->why, sizeof f->why, "line %" PRIu64 ": %s", e->line, what);
}

static void add_row(struct rs_stage_file *f, const struct stage_event *e, int64_t until)
{
    RS_ROOM(f->rows, f->nrows, f->cap_rows);
    f->rows[f->nrows++] =
        (struct rs_stage_row){.rank = e->rank, .name = e->name, .chunk = e->chunk, .start = e->at, .end = until};
}

/* Marks become spans up to the next of their chunk; the last of a chunk goes. */
static uint32_t close_marks(struct stage_event *rows, uint32_t n)
{
    uint32_t kept = 0;
    if (n) qsort(rows, n, sizeof *rows, marks_by_time);
    for (uint32_t i = 0; i < n; i++) {
        struct stage_event e = rows[i];
        if (e.kind == STAGE_MARK) {
            uint32_t next = i + 1;
            while (next < n && rows[next].kind != STAGE_MARK && rows[next].rank == e.rank &&
                   rows[next].chunk == e.chunk)
                next++;
            if (next >= n || rows[next].rank != e.rank || rows[next].chunk != e.chunk) continue;
            e.until = rows[next].at;
            e.kind = STAGE_SPAN;
        }
        rows[kept++] = e;
    }
    return kept;
}

/* By rank, chunk and stamp. */
static int stamps_in_order(const void *a, const void *b)
{
    const struct stage_event *x = a, *y = b;
    BY(rank);
    BY(chunk);
    BY(name);
    BY(at);
    BY(line);
    return 0;
}

/* Without a number the i-th stamp of its kind on its rank is of chunk i. */
static void number_stamps(struct stage_event *rows, uint32_t n)
{
    int32_t rank = -1;
    int64_t next[STAMPS] = {0};
    for (uint32_t i = 0; i < n; i++) { /* of one rank they are in the order of their lines or times */
        if (!i || rows[i].rank != rank) memset(next, 0, sizeof next);
        rank = rows[i].rank;
        if (rows[i].chunk < 0) rows[i].chunk = next[rows[i].name]++;
    }
}

/* The stamps of one chunk on one rank, by stamp, become the stages between them. */
static void close_stamps(struct rs_stage_file *f, const struct stage_event *rows, uint32_t n)
{
    const struct stage_event *of[STAMPS] = {NULL};
    bool used[STAMPS] = {false};
    for (uint32_t i = 0; i < n; i++) {
        if (of[rows[i].name]) pairs_complain(f, &rows[i], "this time stamp of its chunk and rank was there before");
        if (!of[rows[i].name]) of[rows[i].name] = &rows[i];
    }
    for (uint32_t s = 0; s < STAMP_STAGES; s++) {
        const struct stage_event *from = of[stamp_stages[s].from], *to = of[stamp_stages[s].to];
        if (!from || !to) continue;
        used[stamp_stages[s].from] = used[stamp_stages[s].to] = true;
        if (to->at < from->at) {
            pairs_complain(f, to, "it ends before it begins");
            continue;
        }
        struct stage_event e = *from;
        e.name = f->stamp_stage + s;
        add_row(f, &e, to->at);
    }
    for (int i = 0; i < STAMPS; i++)
        if (of[i] && !used[i]) pairs_complain(f, of[i], "this time stamp is neither the begin nor the end of a stage");
}

/* Takes the stamps out of the events. */
static uint32_t take_stamps(struct rs_stage_file *f, struct stage_event *rows, uint32_t n)
{
    uint32_t kept = 0, stamps = 0;
    struct stage_event *list = rs_alloc(((size_t)n + 1) * sizeof *list);
    for (uint32_t i = 0; i < n; i++) {
        if (rows[i].kind == STAGE_STAMP)
            list[stamps++] = rows[i];
        else
            rows[kept++] = rows[i];
    }
    if (stamps) qsort(list, stamps, sizeof *list, stamps_in_order);
    number_stamps(list, stamps);
    if (stamps) qsort(list, stamps, sizeof *list, stamps_in_order);
    for (uint32_t i = 0, end; i < stamps; i = end) {
        for (end = i; end < stamps && list[end].rank == list[i].rank && list[end].chunk == list[i].chunk;) end++;
        close_stamps(f, list + i, end - i);
    }
    free(list);
    return kept;
}

/* Without a number the i-th of its name on its rank is chunk i. */
static void number(struct rs_stage_file *f)
{
    for (uint32_t i = 0; i < f->nrows; i++) {
        struct rs_stage_row *r = &f->rows[i], *before = i ? r - 1 : NULL;
        if (r->chunk < 0)
            r->chunk = before && before->rank == r->rank && before->name == r->name ? before->chunk + 1 : 0;
    }
}

/* Names that no row has (the mark that only ends a chunk) go. */
static void drop_names(struct rs_stage_file *f)
{
    uint32_t *now = rs_zalloc((size_t)f->nnames + 1, sizeof *now), n = 0;
    for (uint32_t i = 0; i < f->nrows; i++) now[f->rows[i].name] = 1;
    for (uint32_t i = 0; i < f->nnames; i++) {
        if (!now[i]) continue;
        f->names[n] = f->names[i];
        now[i] = n++;
    }
    for (uint32_t i = 0; i < f->nrows; i++) f->rows[i].name = now[f->rows[i].name];
    f->nnames = n;
    free(now);
}

/* Fills f->rows; what has no other half is counted in f->bad. */
static void stage_events_pair(struct stage_events *s, struct rs_stage_file *f)
{
    struct stage_event *rows = s->rows;
    uint32_t n = close_marks(rows, take_stamps(f, rows, s->n)), open = UINT32_MAX;
    if (n) qsort(rows, n, sizeof *rows, by_stage);
    for (uint32_t i = 0; i < n; i++) {
        const struct stage_event *e = &rows[i];
        const struct stage_event *o = open != UINT32_MAX ? &rows[open] : NULL;
        bool same = o && o->rank == e->rank && o->name == e->name && o->chunk == e->chunk;
        if (e->kind == STAGE_SPAN) {
            add_row(f, e, e->until);
        } else if (e->kind == STAGE_BEGIN) {
            if (o) pairs_complain(f, o, "it begins and does not end");
            open = i;
        } else if (same) {
            add_row(f, o, e->at);
            open = UINT32_MAX;
        } else {
            pairs_complain(f, e, "it ends and did not begin");
        }
    }
    if (open != UINT32_MAX) pairs_complain(f, &rows[open], "it begins and does not end");
    number(f);
    drop_names(f);
    if (f->nrows) qsort(f->rows, f->nrows, sizeof *f->rows, rows_in_order);
}

/* ---- the file ---- */

enum { MOST_COLUMNS = 64, MOST_NAMES = 256, LONGEST_NAME = 200 };

enum column { NOTHING, RANK, CHUNK, NAME, EVENT, TIME, START, END, STAMP, COLUMNS = STAMP + STAMPS };

/* The fields of a line, by column. */
struct line {
    struct rs_slice fields[COLUMNS];
    unsigned digits[COLUMNS]; /* a time times 10^digits is ns */
    bool has[COLUMNS];
};

struct reading {
    struct rs_stage_file *f;
    struct stage_events events;
    uint64_t number; /* of the line, from 1 */
    enum column columns[MOST_COLUMNS]; /* of CSV */
    unsigned digits[MOST_COLUMNS];
    unsigned ncolumns; /* 0: no heading yet */
    bool json; /* an object came first: there is no heading */
};

/* ---- columns ---- */

static bool is_word(const char *text, size_t n, const char *word)
{
    return strlen(word) == n && !strncasecmp(text, word, n);
}

/* The unit after a column's name: ns where there is none. Returns the length of the name without it. */
static size_t take_unit(const char *text, size_t n, unsigned *digits)
{
    static const struct {
        const char *suffix;
        unsigned digits;
    } units[] = {{"_ns", 0}, {"_us", 3}, {"_ms", 6}, {"_s", 9}};
    *digits = 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t length = strlen(units[i].suffix);
        if (n <= length || strncasecmp(text + n - length, units[i].suffix, length)) continue;
        *digits = units[i].digits;
        return n - length;
    }
    return n;
}

static enum column column_of(struct rs_slice f, unsigned *digits)
{
    static const struct {
        const char *word;
        enum column column;
    } words[] = {{"rank", RANK},   {"chunk", CHUNK}, {"microbatch", CHUNK}, {"name", NAME}, {"stage", NAME},
                 {"event", EVENT}, {"time", TIME},   {"timestamp", TIME},   {"ts", TIME},   {"start", START},
                 {"begin", START}, {"end", END},     {"stop", END}};
    size_t n = take_unit(f.text, f.n, digits);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(f.text, n, words[i].word)) return words[i].column;
    for (unsigned i = 0; i < STAMPS; i++)
        if (is_word(f.text, n, stamp_names[i])) return (enum column)(STAMP + i);
    return NOTHING;
}

/* ---- lines ---- */

static void complain(struct reading *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void complain(struct reading *r, const char *fmt, ...)
{
    if (r->f->bad++) return;
    int n = snprintf(r->f->why, sizeof r->f->why, "line %" PRIu64 ": ", r->number);
    va_list args;
    va_start(args, fmt);
    vsnprintf(r->f->why + n, sizeof r->f->why - (size_t)n, fmt, args);
    va_end(args);
}

static int quoted(struct rs_slice f)
{
    return f.n < 40 ? (int)f.n : 40;
}

/* The text ends in one of these: which of two it is, and how long the rest. */
static enum stage_event_kind ending(struct rs_slice *name)
{
    static const struct {
        const char *suffix;
        enum stage_event_kind kind;
    } ends[] = {{"_begin", STAGE_BEGIN}, {"_start", STAGE_BEGIN}, {"_end", STAGE_END}, {"_stop", STAGE_END}};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t n = strlen(ends[i].suffix);
        if (name->n <= n || strncasecmp(name->text + name->n - n, ends[i].suffix, n)) continue;
        name->n -= n;
        return ends[i].kind;
    }
    return STAGE_MARK;
}

static bool take_event(struct reading *r, const struct line *l, struct rs_slice *name, enum stage_event_kind *kind)
{
    struct rs_slice e = l->fields[EVENT];
    if (!l->has[EVENT]) {
        *kind = ending(name);
        return true;
    }
    static const char *const begins[] = {"begin", "start", "b"}, *const ends[] = {"end", "stop", "e"};
    for (size_t i = 0; i < 3; i++) {
        *kind = STAGE_BEGIN;
        if (is_word(e.text, e.n, begins[i])) return true;
        *kind = STAGE_END;
        if (is_word(e.text, e.n, ends[i])) return true;
    }
    complain(r, "the event is '%.*s', not begin or end", quoted(e), e.text);
    return false;
}

static bool take_time(struct reading *r, const struct line *l, enum column c, const char *what, int64_t *ns)
{
    if (l->has[c] && rs_slice_fixed(l->fields[c], l->digits[c], ns)) return true;
    if (!l->has[c])
        complain(r, "no %s", what);
    else
        complain(r, "the %s is '%.*s', not a number", what, quoted(l->fields[c]), l->fields[c].text);
    return false;
}

static bool take_number(struct reading *r, struct rs_slice f, const char *what, uint64_t most, int64_t *v)
{
    uint64_t n;
    if (rs_slice_u64(f, &n) && n <= most) {
        *v = (int64_t)n;
        return true;
    }
    complain(r, "the %s is '%.*s', not a number", what, quoted(f), f.text);
    return false;
}

/* The stages of time stamps become names when the first one comes. */
static void name_stamps(struct rs_stage_file *f)
{
    if (f->has_stamps) return;
    f->has_stamps = true;
    f->stamp_stage = f->nnames;
    for (uint32_t i = 0; i < STAMP_STAGES; i++) {
        RS_ROOM(f->names, f->nnames, f->cap_names);
        f->names[f->nnames++] = stamp_stages[i].name;
    }
}

static void add_stamp(struct reading *r, struct stage_event e, enum stamp stamp, int64_t at)
{
    name_stamps(r->f);
    e.kind = STAGE_STAMP;
    e.name = stamp;
    e.at = at;
    stage_events_add(&r->events, &e);
}

/* Time stamps in columns of their own. False: there are none. */
static bool take_stamp_columns(struct reading *r, const struct line *l, const struct stage_event *e)
{
    bool any = false;
    for (unsigned i = 0; i < STAMPS; i++) {
        int64_t at;
        if (!l->has[STAMP + i]) continue;
        any = true;
        if (take_time(r, l, (enum column)(STAMP + i), stamp_names[i], &at)) add_stamp(r, *e, (enum stamp)i, at);
    }
    return any;
}

/* The number of a name: few are different. */
static void name_of(struct rs_stage_file *f, struct rs_slice name, uint32_t *index)
{
    for (uint32_t i = 0; i < f->nnames; i++)
        if (rs_slice_is(name, f->names[i])) {
            *index = i;
            return;
        }
    RS_ROOM(f->names, f->nnames, f->cap_names);
    char *text = rs_arena_text(&f->arena, name.text, name.n);
    *index = f->nnames;
    f->names[f->nnames++] = text;
}

static void take_line(struct reading *r, const struct line *l)
{
    struct stage_event e = {.rank = -1, .chunk = -1, .line = r->number};
    struct rs_slice name = l->fields[NAME];
    int64_t rank;
    if (l->has[RANK]) {
        if (!take_number(r, l->fields[RANK], "rank", INT32_MAX, &rank)) return;
        e.rank = (int32_t)rank;
    }
    if (l->has[CHUNK] && !take_number(r, l->fields[CHUNK], "chunk", INT64_MAX / 2, &e.chunk)) return;
    if (take_stamp_columns(r, l, &e)) return;
    for (unsigned i = 0; i < STAMPS && l->has[TIME] && !l->has[EVENT]; i++) {
        if (!is_word(name.text, name.n, stamp_names[i])) continue;
        if (take_time(r, l, TIME, "time", &e.at)) add_stamp(r, e, (enum stamp)i, e.at);
        return;
    }
    if (l->has[START]) {
        e.kind = STAGE_SPAN;
        if (!take_time(r, l, START, "start", &e.at) || !take_time(r, l, END, "end", &e.until)) return;
        if (e.until < e.at) {
            complain(r, "it ends before it begins");
            return;
        }
    } else if (!take_event(r, l, &name, &e.kind) || !take_time(r, l, TIME, "time", &e.at)) {
        return;
    }
    if (!l->has[NAME] || !name.n || name.n > LONGEST_NAME || r->f->nnames >= MOST_NAMES) {
        complain(r, r->f->nnames >= MOST_NAMES ? "too many different names" : "no name, or one that is too long");
        return;
    }
    name_of(r->f, name, &e.name);
    stage_events_add(&r->events, &e);
}

static enum rs_status take_heading(struct reading *r, const struct rs_slice *fields, unsigned n, const char *path,
                                   struct rs_err *err)
{
    bool has[COLUMNS] = {false};
    for (unsigned i = 0; i < n; i++) {
        r->columns[i] = column_of(rs_slice_trim(fields[i]), &r->digits[i]);
        has[r->columns[i]] = true;
    }
    r->ncolumns = n;
    bool stamps = false;
    for (int i = STAMP; i < COLUMNS; i++) stamps |= has[i];
    if (stamps || (has[NAME] && (has[TIME] || (has[START] && has[END])))) return RS_OK;
    return rs_fail(err, RS_BAD_INPUT,
                   "%s: line %" PRIu64
                   ": no heading with the columns rank, chunk, name and start_ns, end_ns (or event, "
                   "time_ns; or time stamps tA0, tA1, ...)",
                   path, r->number);
}

static enum rs_status take_csv(struct reading *r, const struct rs_lines *lines, const char *path, struct rs_err *err)
{
    struct rs_slice fields[MOST_COLUMNS];
    struct line l = {0};
    unsigned n = rs_csv_split(lines->text, lines->n, fields, MOST_COLUMNS);
    if (r->json) {
        complain(r, "not a JSON object");
        return RS_OK;
    }
    if (!r->ncolumns) return take_heading(r, fields, n, path, err);
    for (unsigned i = 0; i < n && i < r->ncolumns; i++) {
        l.fields[r->columns[i]] = rs_slice_trim(fields[i]);
        l.digits[r->columns[i]] = r->digits[i];
        l.has[r->columns[i]] = l.fields[r->columns[i]].n > 0;
    }
    take_line(r, &l);
    return RS_OK;
}

/* An object on one line; its values are looked at as text, strings with escapes as they are. */
static void take_json(struct reading *r, const struct rs_lines *lines)
{
    struct rs_scan s;
    struct line l = {0};
    enum column column = NOTHING;
    unsigned digits = 0;
    rs_scan_memory(&s, lines->text, lines->n);
    for (enum rs_token t; (t = rs_scan_next(&s)) != RS_T_END;) {
        if (t == RS_T_KEY && s.depth == 1) {
            column = column_of((struct rs_slice){s.text, s.n}, &digits);
        } else if (s.depth == 1 && column != NOTHING && (t == RS_T_STRING || t == RS_T_NUMBER)) {
            l.fields[column] = (struct rs_slice){s.text, s.n}; /* memory stays: the line is all there */
            l.digits[column] = digits;
            l.has[column] = s.n > 0;
        } else if ((t == RS_T_OBJECT || t == RS_T_ARRAY) && s.depth > 1) {
            rs_scan_leave(&s, s.depth);
        }
    }
    if (s.cut)
        complain(r, "not a JSON object");
    else
        take_line(r, &l);
    rs_scan_free(&s);
}

static enum rs_status read_lines(struct reading *r, struct rs_lines *lines, const char *path, struct rs_err *err)
{
    while (rs_lines_next(lines)) {
        struct rs_slice text = rs_slice_trim((struct rs_slice){lines->text, lines->n});
        r->number++;
        if (!text.n || text.text[0] == '#') continue;
        if (text.text[0] == '{' && !r->ncolumns) r->json = true;
        if (text.text[0] == '{')
            take_json(r, lines);
        else
            RS_TRY(take_csv(r, lines, path, err));
    }
    if (lines->err.code != RS_OK) return rs_fail(err, lines->err.code, "%s", lines->err.msg);
    return RS_OK;
}

enum rs_status rs_stage_file_read(struct rs_stage_file *f, struct rs_bytes *bytes, struct rs_err *err)
{
    struct rs_lines lines;
    struct reading r = {.f = f};
    const char *path = rs_bytes_path(bytes);
    *f = (struct rs_stage_file){0};
    rs_lines_bytes(&lines, bytes);
    enum rs_status status = read_lines(&r, &lines, path, err);
    rs_lines_free(&lines);
    if (status == RS_OK) stage_events_pair(&r.events, f);
    stage_events_free(&r.events);
    if (status == RS_OK && !f->nrows)
        status = rs_fail(err, RS_BAD_INPUT, "%s: %s", path, f->bad ? f->why : "no stages in it");
    if (status != RS_OK) rs_stage_file_free(f);
    return status;
}

void rs_stage_file_free(struct rs_stage_file *f)
{
    free(f->rows);
    free(f->names);
    rs_arena_free(&f->arena);
    *f = (struct rs_stage_file){0};
}

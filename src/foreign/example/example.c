#include "foreign/example/example.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/bytes.h"
#include "base/memory.h"
#include "base/room.h"
#include "foreign/formats.h"
#include "model/model.h"

/* ---- whose each event is ----
 * Whose each event of a dump is.
 *
 * COLL and P2P say it themselves. What is inside them is theirs (kernels, proxy operations, network); the call
 * around them is too. A launch, or a call without an operation (the pool was full, or NCCL reports none), belongs to
 * the rank whose operations are on its stream: in the same group call, else in the file; on a stream that several
 * ranks use it stays unknown. Group calls and the proxy thread's Idle, Sleep and Append are the file's. A proxy
 * operation outside of everything was done for another process (PXN): unknown. */

#define SEVERAL UINT64_MAX /* of a stream: operations of more than one rank */

static bool is_op(const struct rs_example_event *e)
{
    return e->kind == RS_EX_COLL || e->kind == RS_EX_P2P;
}

static bool is_call(const struct rs_example_event *e)
{
    return e->kind == RS_EX_COLL_API || e->kind == RS_EX_P2P_API;
}

static void give(struct rs_example_event *e, uint64_t comm, int32_t rank, enum rs_example_who who)
{
    e->comm = comm;
    e->rank = rank;
    e->who = (uint8_t)who;
}

/* ---- ranks ---- */

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static void rank_of(struct rs_example *d, uint64_t comm, int32_t rank, uint32_t *index)
{
    for (uint64_t key = mix(comm) + (uint64_t)(int64_t)rank;; key++) { /* those with the same hash take the next keys */
        uint64_t *at;
        rs_map_at(&d->rank_index, key, 0, &at);
        if (*at && (d->ranks[*at - 1].comm != comm || d->ranks[*at - 1].rank != rank)) continue;
        if (!*at) {
            RS_ROOM(d->ranks, d->nranks, d->cap_ranks);
            d->ranks[d->nranks++] = (struct rs_example_rank){.comm = comm, .rank = rank};
            *at = d->nranks;
        }
        *index = (uint32_t)(*at - 1);
        return;
    }
}

static void list_ranks(struct rs_example *d)
{
    uint32_t own = 0, index;
    if (d->named) rank_of(d, d->comm, d->rank, &own);
    for (uint32_t i = 0; i < d->n; i++) {
        const struct rs_example_event *e = &d->events[i];
        if (e->who != RS_EX_WHO_OWN) continue;
        rank_of(d, e->comm, e->rank, &index);
        d->ranks[index].colls += e->kind == RS_EX_COLL;
        d->ranks[index].p2ps += e->kind == RS_EX_P2P;
    }
    if (!d->named && d->nranks == 1) { /* 2.23 to 2.26: not in the name */
        d->comm = d->ranks[0].comm;
        d->rank = d->ranks[0].rank;
    }
    if (d->rank >= 0) d->ranks[own].of_file = true;
}

/* ---- streams ---- */

static uint64_t stream_of(const struct rs_example_event *e)
{
    return is_call(e) ? e->call.stream : e->kind == RS_EX_LAUNCH ? e->launch.stream : 0;
}

/* Notes on which streams the operations of events [from, to) are: stream -> rank row, or SEVERAL. */
static void note_streams(struct rs_example *d, struct rs_map *streams, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        const struct rs_example_event *e = &d->events[i];
        uint32_t index;
        uint64_t *at;
        if (!is_call(e) || e->who != RS_EX_WHO_CHILD || !stream_of(e)) continue;
        rank_of(d, e->comm, e->rank, &index);
        rs_map_at(streams, stream_of(e), index, &at);
        if (*at != index) *at = SEVERAL;
    }
}

static void give_by_stream(struct rs_example *d, const struct rs_map *streams, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        struct rs_example_event *e = &d->events[i];
        if (e->who != RS_EX_WHO_NONE || !stream_of(e)) continue;
        uint64_t index = rs_map_get(streams, stream_of(e), SEVERAL);
        if (index < d->nranks) give(e, d->ranks[index].comm, d->ranks[index].rank, RS_EX_WHO_STREAM);
    }
}

/* A group's own operations first: a stream may serve other ranks at other times. */
static void streams_of_groups(struct rs_example *d)
{
    for (uint32_t from = 0, to; from < d->n; from = to) {
        for (to = from + 1; to < d->n && d->events[to].parent != RS_NONE;) to++;
        if (to == from + 1) continue;
        struct rs_map streams = {0};
        note_streams(d, &streams, from, to);
        give_by_stream(d, &streams, from, to);
        rs_map_free(&streams);
    }
}

static void streams_of_file(struct rs_example *d)
{
    struct rs_map streams = {0};
    note_streams(d, &streams, 0, d->n);
    give_by_stream(d, &streams, 0, d->n);
    size_t pos = 0;
    uint64_t stream, index;
    while (rs_map_next(&streams, &pos, &stream, &index)) {
        if (index >= d->nranks) continue;
        struct rs_example_rank *r = &d->ranks[index];
        r->stream = !r->stream || r->stream == stream ? stream : SEVERAL;
    }
    for (uint32_t i = 0; i < d->nranks; i++)
        if (d->ranks[i].stream == SEVERAL) d->ranks[i].stream = 0;
    rs_map_free(&streams);
}

/* ---- all together ---- */

static void give_by_nesting(struct rs_example *d)
{
    for (uint32_t i = 0; i < d->n; i++) {
        struct rs_example_event *e = &d->events[i];
        if (is_op(e) && e->who == RS_EX_WHO_OWN && e->parent != RS_NONE) {
            struct rs_example_event *call = &d->events[e->parent];
            if (is_call(call) && call->who == RS_EX_WHO_NONE) give(call, e->comm, e->rank, RS_EX_WHO_CHILD);
        }
        const struct rs_example_event *op = e->op == RS_NONE ? NULL : &d->events[e->op];
        if (op && op != e && op->who == RS_EX_WHO_OWN) give(e, op->comm, op->rank, RS_EX_WHO_PARENT);
    }
}

/* The rest: the file's, where that is known; and what is inside something that is known by now. */
static void give_the_rest(struct rs_example *d)
{
    bool alone = d->rank >= 0 && d->nranks == 1; /* no other rank's operations are in this file */
    for (uint32_t i = 0; i < d->n; i++) {
        struct rs_example_event *e = &d->events[i];
        const struct rs_example_event *around = e->parent == RS_NONE ? NULL : &d->events[e->parent];
        if (e->who != RS_EX_WHO_NONE) continue;
        bool of_thread = e->kind == RS_EX_GROUP_API || e->kind == RS_EX_GROUP || e->kind == RS_EX_PROXY_CTRL;
        bool of_host = is_call(e) || e->kind == RS_EX_LAUNCH;
        bool inherits = around && around->who != RS_EX_WHO_NONE && around->kind != RS_EX_GROUP_API &&
                        around->kind != RS_EX_GROUP && !is_op(e);
        if (inherits)
            give(e, around->comm, around->rank, RS_EX_WHO_PARENT);
        else if (d->rank >= 0 && (of_thread || (alone && (of_host || e->kind == RS_EX_CE_COLL))))
            give(e, d->comm, d->rank, RS_EX_WHO_FILE);
    }
}

static void example_attribute(struct rs_example *d)
{
    list_ranks(d);
    give_by_nesting(d);
    streams_of_groups(d);
    streams_of_file(d);
    give_the_rest(d);
}

/* ---- reading ---- */

enum { DEEPEST = 64, MOST_LEVELS = 512 };

/* ---- the name ---- */

static bool hash_of(const char *text, size_t n, unsigned base, uint64_t *v)
{
    *v = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned c = (unsigned char)text[i], digit = c - '0';
        if (digit > 9) digit = (c | 32u) >= 'a' ? (c | 32u) - 'a' + 10 : 99;
        if (digit >= base || __builtin_mul_overflow(*v, base, v) || __builtin_add_overflow(*v, digit, v)) return false;
    }
    return n > 0;
}

static bool strip(const char *text, size_t *n, const char *tail)
{
    size_t m = strlen(tail);
    bool is = *n >= m && !memcmp(text + *n - m, tail, m);
    if (is) *n -= m;
    return is;
}

/* The piece between the last '_' before `*n` and `*n`; *n becomes where that '_' is. */
static const char *last_piece(const char *text, size_t *n, size_t *length)
{
    size_t from = *n;
    while (from && text[from - 1] != '_') from--;
    if (!from) return NULL;
    *length = *n - from;
    *n = from - 1;
    return text + from;
}

/* `as_hex`: the hash's other reading, where its digits could be either. */
static bool name_of(const char *path, uint64_t *comm, int32_t *rank, uint64_t *as_hex)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t n = rs_compression_stem(name), length;
    uint64_t number;
    if (!strip(name, &n, ".json")) return false;
    const char *piece = last_piece(name, &n, &length);
    if (!piece || !hash_of(piece, length, 10, &number) || number > INT32_MAX) return false;
    piece = last_piece(name, &n, &length);
    if (!piece) return false;
    *rank = (int32_t)number;
    if (length > 2 && piece[0] == '0' && (piece[1] | 32) == 'x') {
        piece += 2;
        length -= 2;
        return hash_of(piece, length, 16, comm) && (*as_hex = *comm, true);
    }
    bool hex = hash_of(piece, length, 16, as_hex);
    if (hash_of(piece, length, 10, comm)) {
        if (!hex) *as_hex = *comm;
        return true;
    }
    *comm = *as_hex;
    return hex;
}

bool rs_example_name(const char *path, uint64_t *comm, int32_t *rank)
{
    uint64_t as_hex;
    return name_of(path, comm, rank, &as_hex);
}

/* ---- recognising ---- */

bool rs_example_is(const char *path, const char *text, size_t n)
{
    struct rs_scan s;
    struct rs_texts texts = {0};
    struct rs_example_event e;
    enum rs_example_line line = RS_EX_STRANGE;
    bool again, is = false;
    rs_scan_memory(&s, text, n);
    if (rs_scan_next(&s) == RS_T_ARRAY && rs_scan_next(&s) == RS_T_OBJECT &&
        rs_example_line(&s, &texts, &e, &line, &again, NULL) == RS_OK) {
        uint64_t comm;
        int32_t rank;
        bool known = (line == RS_EX_BEGIN || line == RS_EX_END) && e.kind != RS_EX_OTHER;
        is = known || (line == RS_EX_EMPTY && rs_scan_next(&s) == RS_T_CLOSE && rs_example_name(path, &comm, &rank));
    }
    rs_texts_free(&texts);
    rs_scan_free(&s);
    return is;
}

/* ---- lines ---- */

struct reader {
    struct rs_example *d;
    struct rs_scan s;
    uint32_t stack[DEEPEST]; /* events whose end has not come */
    unsigned depth;
    uint64_t lines; /* begin and end lines, and the last one */
};

static void damage(struct reader *r, uint64_t offset, const char *why)
{
    r->d->damaged++;
    if (r->d->broken.code == RS_OK)
        rs_fail(&r->d->broken, RS_BAD_INPUT, "%s: at byte %llu: %s", r->d->path, (unsigned long long)offset, why);
}

static enum rs_status begin(struct reader *r, struct rs_example_event *e, struct rs_err *err)
{
    (void)err;
    struct rs_example *d = r->d;
    e->parent = r->depth ? r->stack[r->depth - 1] : RS_NONE;
    if (e->kind == RS_EX_COLL || e->kind == RS_EX_P2P || e->kind == RS_EX_CE_COLL)
        e->op = d->n;
    else if (e->parent != RS_NONE)
        e->op = d->events[e->parent].op;
    if (!d->pid) d->pid = e->pid;
    if (r->depth == DEEPEST) { /* no dump nests so deep: end lines are lost, the outermost first */
        memmove(r->stack, r->stack + 1, (DEEPEST - 1) * sizeof *r->stack);
        r->depth--;
    }
    r->stack[r->depth++] = d->n;
    d->counts[e->kind]++;
    d->unclosed++;
    RS_ROOM(d->events, d->n, d->cap);
    d->events[d->n++] = *e;
    return RS_OK;
}

/* Closes the innermost event of that name. Those inside it whose end did not come stay without one. */
static void end(struct reader *r, const struct rs_example_event *e)
{
    for (unsigned i = r->depth; i-- > 0;) {
        struct rs_example_event *open = &r->d->events[r->stack[i]];
        if (open->cat != e->cat || open->name != e->name) continue;
        open->end = e->begin;
        open->closed = true;
        r->d->unclosed--;
        r->depth = i;
        return;
    }
    r->d->strays++;
}

static enum rs_status read_lines(struct reader *r, struct rs_err *err)
{
    struct rs_example *d = r->d;
    bool again = false;
    for (;;) {
        enum rs_token token = again ? RS_T_OBJECT : rs_scan_next(&r->s);
        again = false;
        if (token == RS_T_END) break;
        if (token == RS_T_CLOSE && !r->s.depth) d->closed = true;
        if (token != RS_T_OBJECT) continue;
        if (r->s.depth > MOST_LEVELS) {
            damage(r, r->s.offset, "too many lines before it break off; the rest is left out");
            break;
        }
        struct rs_example_event e;
        enum rs_example_line line;
        uint64_t offset = r->s.offset;
        RS_TRY(rs_example_line(&r->s, &d->texts, &e, &line, &again, err));
        r->lines += line != RS_EX_STRANGE && line != RS_EX_DAMAGED;
        switch (line) {
        case RS_EX_BEGIN: RS_TRY(begin(r, &e, err)); break;
        case RS_EX_END: end(r, &e); break;
        case RS_EX_EMPTY: break;
        case RS_EX_DAMAGED:
            damage(r, offset, again ? "this line breaks off" : "the file is cut off in this line");
            break;
        case RS_EX_STRANGE: d->strange++; break;
        }
    }
    if (r->s.err.code != RS_OK && d->broken.code == RS_OK) d->broken = r->s.err;
    if (!d->closed && d->broken.code == RS_OK)
        rs_fail(&d->broken, RS_BAD_INPUT, "%s: at byte %llu: the file ends without its closing ]", d->path,
                (unsigned long long)r->s.offset);
    if (!r->lines) return rs_fail(err, RS_BAD_INPUT, "%s: no line of an example-profiler dump in it", d->path);
    return RS_OK;
}

/* ---- what the proxy thread did ---- */

struct sleep {
    int64_t begin;
    uint32_t event;
};

static int by_begin(const void *a, const void *b)
{
    const struct sleep *x = a, *y = b;
    return x->begin != y->begin ? (x->begin > y->begin) - (x->begin < y->begin)
                                : (x->event > y->event) - (x->event < y->event);
}

static void list_sleeps(struct rs_example *d)
{
    uint32_t n = 0;
    struct sleep *rows = NULL;
    for (uint32_t i = 0; i < d->n; i++) {
        const struct rs_example_event *e = &d->events[i];
        n += e->kind == RS_EX_PROXY_CTRL && e->ctrl.what == RS_EX_SLEEP && e->begin != RS_TIME_NONE;
    }
    if (!n) return;
    rows = rs_alloc(n * sizeof *rows);
    d->sleeps = rs_alloc(n * sizeof *d->sleeps);
    n = 0;
    for (uint32_t i = 0; i < d->n; i++) {
        const struct rs_example_event *e = &d->events[i];
        if (e->kind == RS_EX_PROXY_CTRL && e->ctrl.what == RS_EX_SLEEP && e->begin != RS_TIME_NONE)
            rows[n++] = (struct sleep){e->begin, i};
    }
    qsort(rows, n, sizeof *rows, by_begin);
    for (uint32_t i = 0; i < n; i++) d->sleeps[i] = rows[i].event;
    d->nsleeps = n;
    free(rows);
}

int64_t rs_example_sleep_after(const struct rs_example *d, int64_t ns)
{
    uint32_t low = 0, high = d->nsleeps;
    RS_BISECT(low, high, middle, d->events[d->sleeps[middle]].begin < ns);
    return low < d->nsleeps && ns != RS_TIME_NONE ? d->events[d->sleeps[low]].begin : RS_TIME_NONE;
}

int64_t rs_example_destroyed(const struct rs_example *d)
{
    int64_t woken = d->nsleeps ? d->events[d->sleeps[d->nsleeps - 1]].end : RS_TIME_NONE;
    if (woken == RS_TIME_NONE) return RS_TIME_NONE;
    for (uint32_t i = 0; i < d->n; i++) { /* woken for work, and the dump ends before the next sleep: not the end */
        const struct rs_example_event *e = &d->events[i];
        bool work = e->kind == RS_EX_PROXY_CTRL && e->ctrl.what == RS_EX_APPEND && e->ctrl.appended != 0;
        if (work && e->begin != RS_TIME_NONE && e->begin >= woken) return RS_TIME_NONE;
    }
    return woken;
}

/* ---- the file ---- */

/* A hash of digits only may still be hex: the operations of the file decide. */
static void settle_name(struct rs_example *d)
{
    uint64_t as_hex;
    d->rank = -1;
    d->named = name_of(d->path, &d->comm, &d->rank, &as_hex);
    bool is_hex = false, is_decimal = false;
    for (uint32_t i = 0; d->named && i < d->n; i++) {
        if (d->events[i].who != RS_EX_WHO_OWN) continue;
        is_hex |= d->events[i].comm == as_hex;
        is_decimal |= d->events[i].comm == d->comm;
    }
    if (is_hex && !is_decimal) d->comm = as_hex;
    if (!d->named) d->rank = -1;
}

static enum rs_status read_all(struct reader *r, struct rs_err *err)
{
    RS_TRY(read_lines(r, err));
    settle_name(r->d);
    example_attribute(r->d);
    list_sleeps(r->d);
    return RS_OK;
}

static enum rs_status read_from(struct rs_example *d, const char *path, struct reader *r, struct rs_err *err)
{
    enum rs_status status = RS_OK;
    *d = (struct rs_example){.rank = -1, .path = rs_strdup(path)};
    r->d = d;
    status = read_all(r, err);
    rs_scan_free(&r->s);
    if (status != RS_OK) rs_example_close(d);
    return status;
}

enum rs_status rs_example_open(struct rs_example *d, const char *path, struct rs_err *err)
{
    struct rs_bytes *bytes;
    struct reader r = {0};
    *d = (struct rs_example){.rank = -1};
    RS_TRY(rs_bytes_open(&bytes, path, err));
    rs_scan_bytes(&r.s, bytes);
    enum rs_status status = read_from(d, path, &r, err);
    rs_bytes_close(bytes);
    return status;
}

enum rs_status rs_example_parse(struct rs_example *d, const char *path, const char *text, size_t n, struct rs_err *err)
{
    struct reader r = {0};
    rs_scan_memory(&r.s, text, n);
    return read_from(d, path, &r, err);
}

void rs_example_close(struct rs_example *d)
{
    free(d->path);
    free(d->events);
    free(d->ranks);
    free(d->sleeps);
    rs_map_free(&d->rank_index);
    rs_texts_free(&d->texts);
    *d = (struct rs_example){.rank = -1};
}

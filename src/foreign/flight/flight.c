#include "foreign/flight/flight.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/bytes.h"
#include "base/map.h"
#include "base/room.h"
#include "base/strbuf.h"
#include "foreign/flight/pickle.h"
#include "foreign/flight/value.h"
#include "foreign/formats.h"

/* ---- entries ----
 * One part of a Flight Recorder dump, from values into the structs of flight.h.
 *
 * Both forms of a dump come through here, so they mean the same. Rows and texts go into the dump's arena and arrays. */

struct flight_rows {
    struct rs_flight *f;
    struct rs_map texts; /* hash -> text in the arena: names come again with every entry */
    uint64_t held; /* bytes kept */
    uint64_t steps; /* values and characters that may still be looked at: a pickle can name one value many times */
    const char *path;
};

#define MOST_BYTES (UINT64_C(512) << 20)

static enum rs_status too_much(const struct flight_rows *r, struct rs_err *err)
{
    return rs_fail(err, RS_BAD_INPUT, "%s: entry %u: the dump says more than fits in %u MiB", r->path, r->f->n_entries,
                   (unsigned)(MOST_BYTES >> 20));
}

/* Counts work before it is done. */
static bool may(struct flight_rows *r, uint64_t steps)
{
    if (steps > r->steps) return false;
    r->steps -= steps;
    return true;
}

static void *keep(struct flight_rows *r, uint64_t bytes)
{
    if (bytes > MOST_BYTES || r->held > MOST_BYTES - bytes) return NULL;
    r->held += bytes;
    return rs_arena_alloc(&r->f->arena, (size_t)bytes);
}

/* A text of the dump's own; "" for what is no text. The same text mostly comes from the same place. */
static enum rs_status text(struct flight_rows *r, const struct rs_value *v, const char **to, struct rs_err *err)
{
    *to = "";
    if (!v || v->kind != RS_V_TEXT || !v->n) return RS_OK;
    if (!may(r, v->n)) return too_much(r, err);
    uint64_t hash = UINT64_C(14695981039346656037), *place;
    for (uint32_t i = 0; i < v->n; i++) hash = (hash ^ (unsigned char)v->text[i]) * UINT64_C(1099511628211);
    rs_map_at(&r->texts, hash, 0, &place);
    const char *known = (const char *)(uintptr_t)*place;
    if (known && !strncmp(known, v->text, v->n) && !known[v->n]) {
        *to = known;
        return RS_OK;
    }
    char *copy = keep(r, (uint64_t)v->n + 1);
    if (!copy) return too_much(r, err);
    memcpy(copy, v->text, v->n);
    *place = (uint64_t)(uintptr_t)copy;
    *to = copy;
    return RS_OK;
}

/* ---- entries ---- */

static enum rs_status sizes(struct flight_rows *r, const struct rs_value *v, struct rs_flight_tensors *t,
                            struct rs_err *err)
{
    if (!rs_value_is_list(v) || !v->n) return RS_OK;
    struct rs_flight_tensor *rows = may(r, v->n) ? keep(r, (uint64_t)v->n * sizeof *rows) : NULL;
    if (!rows) return too_much(r, err);
    for (uint32_t i = 0; i < v->n; i++) {
        const struct rs_value *dims = rs_value_plain(v->items[i]);
        if (!rs_value_is_list(dims) || !dims->n) continue;
        int64_t *d = may(r, dims->n) ? keep(r, (uint64_t)dims->n * sizeof *d) : NULL;
        if (!d) return too_much(r, err);
        for (uint32_t j = 0; j < dims->n; j++) d[j] = rs_value_i64(dims->items[j], -1);
        rows[i] = (struct rs_flight_tensor){d, dims->n};
    }
    t->rows = rows;
    t->n = v->n;
    return RS_OK;
}

static enum rs_status dtypes(struct flight_rows *r, const struct rs_value *v, struct rs_flight_tensors *t,
                             struct rs_err *err)
{
    if (!rs_value_is_list(v) || !v->n) return RS_OK;
    const char **names = may(r, v->n) ? keep(r, (uint64_t)v->n * sizeof *names) : NULL;
    if (!names) return too_much(r, err);
    for (uint32_t i = 0; i < v->n; i++) RS_TRY(text(r, v->items[i], &names[i], err));
    t->dtypes = names;
    t->n_dtypes = v->n;
    return RS_OK;
}

/* Whether a source file is PyTorch's own: the caller's frames say more. */
static bool is_torch(const struct rs_value *file)
{
    static const char *const inside[] = {"/torch/", "torch/csrc", "/site-packages/torch"};
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        if (memmem(file->text, file->n, inside[i], strlen(inside[i]))) return true;
    return false;
}

/* The innermost frames of the program itself; where all are PyTorch's, of those. */
static enum rs_status frames(struct flight_rows *r, const struct rs_value *list, const char **to, struct rs_err *err)
{
    enum { SHOWN = 6, MOST = 256 };
    *to = "";
    if (!rs_value_is_list(list) || !list->n) return RS_OK;
    struct rs_strbuf text_of = {0};
    for (int own = 1; own >= 0 && !text_of.len; own--)
        for (uint32_t i = 0, shown = 0; i < list->n && i < MOST && shown < SHOWN; i++) {
            const struct rs_value *frame = rs_value_plain(list->items[i]);
            const struct rs_value *file = rs_value_get(frame, "filename"), *function = rs_value_get(frame, "name");
            if (!file || file->kind != RS_V_TEXT || !file->n || file->n > 4096) continue;
            if (!may(r, 64 + (uint64_t)file->n * 4)) {
                rs_strbuf_free(&text_of);
                return too_much(r, err);
            }
            if (own && is_torch(file)) continue;
            rs_strbuf_printf(&text_of, "%s%.*s:%lld", shown++ ? "\n" : "", (int)file->n, file->text,
                             (long long)rs_value_i64(rs_value_get(frame, "line"), 0));
            if (function && function->kind == RS_V_TEXT && function->n && function->n < 512)
                rs_strbuf_printf(&text_of, " %.*s", (int)function->n, function->text);
        }
    const char *borrowed = rs_strbuf_borrow(&text_of);
    struct rs_value v = {.kind = RS_V_TEXT, .text = borrowed, .n = (uint32_t)text_of.len};
    enum rs_status status = text(r, &v, to, err);
    rs_strbuf_free(&text_of);
    return status;
}

/* Takes "nccl:send 1->2" or "nccl:recv 3<-0" apart. */
static enum rs_status name(struct flight_rows *r, struct rs_flight_entry *e, struct rs_err *err)
{
    const char *colon = strchr(e->name, ':'), *word = colon ? colon + 1 : e->name;
    size_t n = strcspn(word, " ");
    char *end;
    if (n > UINT32_MAX || !may(r, n)) return too_much(r, err);
    RS_TRY(text(r, &(struct rs_value){.kind = RS_V_TEXT, .text = word, .n = (uint32_t)n}, &e->op, err));
    if (word[n] != ' ') return RS_OK;
    long mine = strtol(word + n + 1, &end, 10);
    bool sends = !strncmp(end, "->", 2), receives = !strncmp(end, "<-", 2);
    if (end == word + n + 1 || (!sends && !receives)) return RS_OK;
    const char *rest = end + 2;
    long other = strtol(rest, &end, 10);
    if (end == rest || mine < 0 || mine > INT32_MAX || other < 0 || other > INT32_MAX) return RS_OK;
    e->src = (int32_t)(sends ? mine : other);
    e->dst = (int32_t)(sends ? other : mine);
    return RS_OK;
}

static enum rs_flight_state state(const struct rs_value *v)
{
    return rs_value_is(v, "completed")   ? RS_FLIGHT_COMPLETED
           : rs_value_is(v, "started")   ? RS_FLIGHT_STARTED
           : rs_value_is(v, "scheduled") ? RS_FLIGHT_SCHEDULED
                                         : RS_FLIGHT_UNKNOWN;
}

static int64_t duration(const struct rs_value *v)
{
    double ns = rs_value_double(v, -1) * 1e6;
    return ns >= 0 && ns < 9e18 ? (int64_t)llround(ns) : -1;
}

static enum rs_status flight_rows_entry(struct flight_rows *r, const struct rs_value *entry, struct rs_err *err)
{
    struct rs_flight *f = r->f;
    entry = rs_value_plain(entry);
    if (!entry || entry->kind != RS_V_DICT || entry->cut) {
        f->bad_entries++;
        return RS_OK;
    }
    /* One pass for each key below, and the keys of a real entry are few. */
    if (!may(r, 32 + (uint64_t)entry->n * 16)) return too_much(r, err);
    const struct rs_value *group = rs_value_get(entry, "process_group");
    const struct rs_value *seq = rs_value_get(entry, "collective_seq_id");
    struct rs_flight_entry e = {
        .record_id = rs_value_i64(rs_value_get(entry, "record_id"), -1),
        .pg_id = rs_value_i64(rs_value_get(entry, "pg_id"), -1),
        .collective_seq = rs_value_i64(seq ? seq : rs_value_get(entry, "seq_id"), -1), /* its name before 2.1 */
        .p2p_seq = rs_value_i64(rs_value_get(entry, "p2p_seq_id"), -1),
        .src = -1,
        .dst = -1,
        .pg_name = "",
        .pg_desc = "",
        .frames = "",
        .created_ns = rs_value_i64(rs_value_get(entry, "time_created_ns"), -1),
        .duration_ns = duration(rs_value_get(entry, "duration_ms")),
        .state = state(rs_value_get(entry, "state")),
        .is_p2p = rs_value_i64(rs_value_get(entry, "is_p2p"), 0) == 1,
        .retired = rs_value_i64(rs_value_get(entry, "retired"), 0) == 1,
        .discovered = {rs_value_i64(rs_value_get(entry, "time_discovered_started_ns"), 0),
                       rs_value_i64(rs_value_get(entry, "time_discovered_completed_ns"), 0)},
    };
    RS_TRY(text(r, rs_value_get(entry, "profiling_name"), &e.name, err));
    RS_TRY(name(r, &e, err));
    if (rs_value_is_list(group) && group->n >= 1) RS_TRY(text(r, group->items[0], &e.pg_name, err));
    if (rs_value_is_list(group) && group->n >= 2) RS_TRY(text(r, group->items[1], &e.pg_desc, err));
    RS_TRY(sizes(r, rs_value_get(entry, "input_sizes"), &e.in, err));
    RS_TRY(dtypes(r, rs_value_get(entry, "input_dtypes"), &e.in, err));
    RS_TRY(sizes(r, rs_value_get(entry, "output_sizes"), &e.out, err));
    RS_TRY(dtypes(r, rs_value_get(entry, "output_dtypes"), &e.out, err));
    RS_TRY(frames(r, rs_value_get(entry, "frames"), &e.frames, err));
    if ((r->held += sizeof e) > MOST_BYTES) return too_much(r, err);
    RS_ROOM(f->entries, f->n_entries, f->cap_entries);
    f->entries[f->n_entries++] = e;
    return RS_OK;
}

/* ---- groups ---- */

static int by_rank(const void *a, const void *b)
{
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Ranks as a list, or as the text of one: "[0, 1]". */
static enum rs_status ranks(struct flight_rows *r, const struct rs_value *v, struct rs_flight_group *g,
                            struct rs_err *err)
{
    bool listed = rs_value_is_list(v);
    if (!listed && (!v || v->kind != RS_V_TEXT)) return RS_OK;
    uint32_t most = listed ? v->n : v->n / 2 + 1;
    int32_t *to = may(r, (uint64_t)v->n * 2) ? keep(r, (uint64_t)most * sizeof *to) : NULL;
    if (!to) return too_much(r, err);
    g->ranks = to;
    for (uint32_t i = 0; i < v->n;) {
        int64_t rank = 0;
        if (listed) {
            rank = rs_value_i64(v->items[i++], -1);
        } else {
            uint32_t begin = i;
            for (; i < v->n && v->text[i] >= '0' && v->text[i] <= '9'; i++)
                if (rank <= INT32_MAX) rank = rank * 10 + (v->text[i] - '0');
            if (i == begin) {
                i++;
                continue;
            }
        }
        if (rank >= 0 && rank <= INT32_MAX) to[g->n++] = (int32_t)rank;
    }
    qsort(to, g->n, sizeof *to, by_rank);
    return RS_OK;
}

static enum rs_status group(struct flight_rows *r, const char *id, const struct rs_value *v, struct rs_err *err)
{
    struct rs_flight *f = r->f;
    struct rs_flight_group g = {.id = id};
    RS_TRY(text(r, rs_value_get(v, "name"), &g.name, err));
    RS_TRY(text(r, rs_value_get(v, "desc"), &g.desc, err));
    if (!*g.name) g.name = id;
    RS_TRY(ranks(r, rs_value_get(v, "ranks"), &g, err));
    RS_ROOM(f->groups, f->n_groups, f->cap_groups);
    f->groups[f->n_groups++] = g;
    return RS_OK;
}

static void progress(struct flight_rows *r, const char *id, const struct rs_value *v)
{
    struct rs_flight *f = r->f;
    struct rs_flight_status s = {
        .id = id,
        .enqueued = rs_value_i64(rs_value_get(v, "last_enqueued_collective"), -1),
        .started = rs_value_i64(rs_value_get(v, "last_started_collective"), -1),
        .completed = rs_value_i64(rs_value_get(v, "last_completed_collective"), -1),
    };
    RS_ROOM(f->status, f->n_status, f->cap_status);
    f->status[f->n_status++] = s;
}

/* A key of the dump other than entries; unknown ones are passed over. */
static enum rs_status flight_rows_top(struct flight_rows *r, const struct rs_value *key, const struct rs_value *value,
                                      struct rs_err *err)
{
    struct rs_flight *f = r->f;
    value = rs_value_plain(value);
    bool config = rs_value_is(key, "pg_config");
    if (rs_value_is(key, "version")) return text(r, value, &f->version, err);
    if (rs_value_is(key, "comm_lib_version") || rs_value_is(key, "nccl_version"))
        return text(r, value, &f->comm_version, err);
    if (rs_value_is(key, "rank")) f->rank_inside = rs_value_i64(value, -1);
    if ((!config && !rs_value_is(key, "pg_status")) || !value || value->kind != RS_V_DICT) return RS_OK;
    for (uint32_t i = 0; i + 1 < value->n; i += 2) {
        const struct rs_value *id = value->items[i], *v = rs_value_plain(value->items[i + 1]);
        char digits[24];
        const char *kept;
        struct rs_value number = {.kind = RS_V_TEXT, .text = digits};
        if (!v || v->kind != RS_V_DICT || v->cut) continue;
        if (!may(r, 32 + (uint64_t)v->n * 4)) return too_much(r, err);
        if ((r->held += sizeof(struct rs_flight_group)) > MOST_BYTES) return too_much(r, err);
        if (id->kind == RS_V_INT) { /* a pickle may have numbers where JSON has texts */
            number.n = (uint32_t)snprintf(digits, sizeof digits, "%lld", (long long)id->i);
            id = &number;
        }
        RS_TRY(text(r, id, &kept, err));
        if (config)
            RS_TRY(group(r, kept, v, err));
        else
            progress(r, kept, v);
    }
    return RS_OK;
}

static void flight_rows_free(struct flight_rows *r)
{
    rs_map_free(&r->texts);
}

/* ---- dumps ---- */

/* A packed pickle is unpacked whole before it is read; one entry of a JSON dump is held as values. */
#define MOST_PICKLE (UINT64_C(256) << 20)
#define MOST_ENTRY (UINT64_C(64) << 20)

void rs_flight_free(struct rs_flight *f)
{
    free(f->groups);
    free(f->status);
    free(f->entries);
    rs_arena_free(&f->arena);
    *f = (struct rs_flight){0};
}

/* ---- what it is ---- */

static bool known_key(const struct rs_scan *s)
{
    static const char *const keys[] = {"comm_lib_version", "pg_config", "pg_status", "nccl_comm_state"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (rs_scan_is(s, keys[i])) return true;
    return false;
}

static bool entry_key(const struct rs_scan *s)
{
    return rs_scan_is(s, "collective_seq_id") || rs_scan_is(s, "record_id") || rs_scan_is(s, "profiling_name") ||
           rs_scan_is(s, "pg_id");
}

static bool is_json(const char *text, size_t n)
{
    struct rs_scan s;
    rs_scan_memory(&s, text, n);
    bool entries = false, found = false;
    if (rs_scan_next(&s) != RS_T_OBJECT) return false;
    for (enum rs_token t = rs_scan_next(&s); t != RS_T_END && !found; t = rs_scan_next(&s)) {
        if (t != RS_T_KEY) continue;
        if (s.depth == 1) entries = rs_scan_is(&s, "entries");
        found = (s.depth == 1 && known_key(&s)) || (entries && s.depth == 3 && entry_key(&s));
        if (s.depth == 1 && rs_scan_is(&s, "traceEvents")) break;
    }
    rs_scan_free(&s);
    return found;
}

bool rs_flight_is(const char *path, const char *head, size_t n)
{
    (void)path;
    static const char *const words[] = {"pg_config", "pg_status", "comm_lib_version", "record_id", "profiling_name"};
    if (!rs_pickle_is(head, n)) return is_json(head, n);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (memmem(head, n, words[i], strlen(words[i]))) return true;
    return false;
}

/* ---- the rank ---- */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

int64_t rs_flight_rank_of_name(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path, *found = NULL;
    for (const char *p = base; (p = strcasestr(p, "rank")); p++) {
        const char *digits = p + 4 + strspn(p + 4, "_-.=");
        if (is_digit(*digits)) found = digits;
    }
    if (!found) { /* the user's own prefix: the number before the endings */
        static const char *const endings[] = {".json", ".pkl", ".pickle"};
        size_t n = rs_compression_stem(base);
        for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
            size_t e = strlen(endings[i]);
            if (n > e && !memcmp(base + n - e, endings[i], e)) n -= e;
        }
        const char *end = base + n;
        for (found = end; found > base && is_digit(found[-1]);) found--;
        if (found == end) return -1;
    }
    int64_t rank = 0;
    for (; is_digit(*found); found++)
        if ((rank = rank * 10 + (*found - '0')) > INT32_MAX) return -1;
    return rank;
}

/* NULL: not in the dump. */
static const struct rs_flight_group *group_of(const struct rs_flight *f, const struct rs_flight_entry *e)
{
    for (uint32_t i = 0; i < f->n_groups; i++)
        if (!strcmp(f->groups[i].name, e->pg_name)) return &f->groups[i];
    return NULL;
}

static bool has_rank(const struct rs_flight_group *g, int32_t rank)
{
    uint32_t low = 0, high = g->n;
    RS_BISECT(low, high, middle, g->ranks[middle] < rank);
    return low < g->n && g->ranks[low] == rank;
}

/* A send names its own rank first, and a rank is in every group that it lists. */
static int64_t rank_of_content(const struct rs_flight *f)
{
    for (uint32_t i = 0; i < f->n_entries; i++) {
        const struct rs_flight_entry *e = &f->entries[i];
        if (e->src < 0 || (strcmp(e->op, "send") && strcmp(e->op, "recv"))) continue;
        uint32_t mine = (uint32_t)(strcmp(e->op, "send") ? e->dst : e->src);
        const struct rs_flight_group *g = group_of(f, e);
        return g && mine < g->n ? g->ranks[mine] : -1;
    }
    int64_t only = -1;
    const struct rs_flight_group *g = f->groups;
    if (!f->n_groups || (uint64_t)f->n_groups * g->n > 1 << 24) return -1; /* the second: no real dump */
    for (uint32_t i = 0; i < g->n; i++) {
        bool in_all = true;
        for (uint32_t j = 1; j < f->n_groups && in_all; j++)
            in_all = !f->groups[j].n || has_rank(&f->groups[j], g->ranks[i]);
        if (in_all && only >= 0) return -1;
        if (in_all) only = g->ranks[i];
    }
    return only;
}

int64_t rs_flight_elements(const struct rs_flight_tensors *t)
{
    int64_t sum = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        int64_t product = 1;
        for (uint32_t j = 0; j < t->rows[i].n; j++)
            if (t->rows[i].sizes[j] < 0 || __builtin_mul_overflow(product, t->rows[i].sizes[j], &product)) return -1;
        if (__builtin_add_overflow(sum, product, &sum)) return -1;
    }
    return sum;
}

/* ---- reading ---- */

static enum rs_status entries_of(struct flight_rows *r, const struct rs_value *list, struct rs_err *err)
{
    for (uint32_t i = 0; rs_value_is_list(list) && i < list->n; i++) RS_TRY(flight_rows_entry(r, list->items[i], err));
    return RS_OK;
}

/* What was read before the damage is taken; the damage is the result then. */
static enum rs_status from_pickle(struct flight_rows *r, const void *bytes, size_t n, struct rs_err *err)
{
    struct rs_arena arena = {0};
    const struct rs_value *root;
    struct rs_err later;
    enum rs_status damage = rs_pickle_read(&arena, bytes, n, r->path, &root, err), status = RS_OK;
    r->steps = 65536 + (uint64_t)n * 64;
    root = rs_value_plain(root);
    if (rs_value_is_list(root)) { /* the first versions wrote the entries alone */
        status = entries_of(r, root, &later);
    } else if (root && root->kind == RS_V_DICT) {
        for (uint32_t i = 0; i + 1 < root->n && status == RS_OK; i += 2) {
            const struct rs_value *key = root->items[i], *value = root->items[i + 1];
            status = rs_value_is(key, "entries") ? entries_of(r, rs_value_plain(value), &later)
                                                 : flight_rows_top(r, key, value, &later);
        }
    } else if (damage == RS_OK) {
        status = rs_fail(&later, RS_BAD_INPUT, "%s: at byte 0: the pickle holds neither a dict nor a list", r->path);
    }
    rs_arena_free(&arena);
    if (damage != RS_OK || status == RS_OK) return damage;
    *err = later;
    return status;
}

/* The entries one by one, so that memory does not grow with what is not kept. */
static enum rs_status scan_entries(struct flight_rows *r, struct rs_scan *s, struct rs_err *err)
{
    if (rs_scan_next(s) != RS_T_ARRAY) {
        rs_scan_leave(s, 2);
        return RS_OK;
    }
    for (bool end = false; !end;) {
        struct rs_arena arena = {0};
        struct rs_value_builder build = {&arena, 0, MOST_ENTRY};
        struct rs_value *entry;
        enum rs_status status = RS_OK;
        if (!rs_value_scan(&build, s, &entry, &end))
            status = rs_fail(err, RS_BAD_INPUT, "%s: at byte %llu: an entry is too large", r->path,
                             (unsigned long long)s->offset);
        else if (!end)
            status = flight_rows_entry(r, entry, err);
        rs_arena_free(&arena);
        RS_TRY(status);
    }
    return RS_OK;
}

static enum rs_status from_json(struct flight_rows *r, struct rs_scan *s, struct rs_err *err)
{
    r->steps = UINT64_MAX;
    if (rs_scan_next(s) != RS_T_OBJECT) return rs_fail(err, RS_BAD_INPUT, "%s: at byte 0: not a JSON object", r->path);
    for (enum rs_token t = rs_scan_next(s); s->depth && t != RS_T_END; t = rs_scan_next(s)) {
        if (t != RS_T_KEY) continue;
        if (rs_scan_is(s, "entries")) {
            RS_TRY(scan_entries(r, s, err));
            continue;
        }
        struct rs_arena arena = {0};
        struct rs_value_builder build = {&arena, 0, MOST_ENTRY};
        char name[32];
        struct rs_value key = {.kind = RS_V_TEXT, .text = name, .n = (uint32_t)rs_scan_text(s, name, sizeof name)},
                        *value;
        bool end;
        enum rs_status status = RS_OK;
        if (!rs_value_scan(&build, s, &value, &end))
            status = rs_fail(err, RS_BAD_INPUT, "%s: at byte %llu: too large", r->path, (unsigned long long)s->offset);
        else if (!end)
            status = flight_rows_top(r, &key, value, err);
        rs_arena_free(&arena);
        RS_TRY(status);
        if (end) break;
    }
    if (s->err.code != RS_OK) {
        *err = s->err;
        return err->code;
    }
    if (s->cut)
        return rs_fail(err, RS_BAD_INPUT, "%s: at byte %llu: JSON: cut off here", r->path,
                       (unsigned long long)s->offset);
    return RS_OK;
}

/* A dump of active operations only has holes in its numbers, or begins late though nothing in it is complete. The
 * second may also be a ring that went round: then its summary says that more is pending than is listed. */
static bool is_active_only(const struct rs_flight *f)
{
    bool hole = false, complete = false;
    for (uint32_t i = 0; i < f->n_entries; i++) {
        const struct rs_flight_entry *e = &f->entries[i];
        complete |= e->state == RS_FLIGHT_COMPLETED || e->retired;
        hole |= i && e->record_id >= 0 && f->entries[i - 1].record_id >= 0 &&
                e->record_id > f->entries[i - 1].record_id + 1;
    }
    if (complete || f->damage.code != RS_OK || f->bad_entries) return false;
    if (hole) return true;
    struct rs_map first = {0}; /* pg_id -> its first entry */
    bool listed = !f->n_entries || f->entries[0].record_id > 0;
    for (uint32_t i = f->n_entries; i-- > 0;)
        if (f->entries[i].pg_id >= 0) rs_map_put(&first, (uint64_t)f->entries[i].pg_id, i);
    bool any = false;
    for (uint32_t i = 0; i < f->n_status && listed; i++) {
        const struct rs_flight_status *s = &f->status[i];
        char *end;
        unsigned long long id = strtoull(s->id, &end, 10);
        const uint64_t *at = *s->id && !*end ? rs_map_find(&first, id) : NULL;
        any |= s->completed > 0;
        if (!at) {
            listed = s->enqueued <= s->completed;
        } else {
            const struct rs_flight_entry *e = &f->entries[*at];
            listed = s->completed + 1 >= (e->is_p2p ? e->p2p_seq : e->collective_seq) || e->is_p2p;
        }
    }
    rs_map_free(&first);
    return listed && any;
}

/* What both forms share, before and after. */
static void begin(struct rs_flight *f, struct flight_rows *r, const char *path)
{
    *f = (struct rs_flight){.version = "", .comm_version = "", .rank = -1, .rank_inside = -1};
    *r = (struct flight_rows){.f = f, .path = path};
}

static enum rs_status finish(struct flight_rows *r, enum rs_status status, struct rs_err *err)
{
    struct rs_flight *f = r->f;
    flight_rows_free(r);
    if (status == RS_OK && !f->n_entries && !f->n_groups && !*f->version && f->damage.code == RS_OK)
        status = rs_fail(&f->damage, RS_BAD_INPUT, "%s: at byte 0: holds nothing of a Flight Recorder dump", r->path);
    if (status != RS_OK && !f->n_entries && !f->n_groups) { /* nothing to keep */
        if (err) *err = f->damage;
        rs_flight_free(f);
        return status;
    }
    f->active_only = is_active_only(f);
    if (f->rank_inside < 0) f->rank_inside = rank_of_content(f);
    f->rank = rs_flight_rank_of_name(r->path);
    if (f->rank < 0) f->rank = f->rank_inside;
    return RS_OK;
}

enum rs_status rs_flight_parse(struct rs_flight *f, const void *bytes, size_t n, const char *path, struct rs_err *err)
{
    struct flight_rows r;
    struct rs_scan s;
    enum rs_status status;
    begin(f, &r, path);
    f->pickle = rs_pickle_is(bytes, n);
    if (f->pickle) {
        status = from_pickle(&r, bytes, n, &f->damage);
    } else {
        rs_scan_memory(&s, bytes, n);
        status = from_json(&r, &s, &f->damage);
        rs_scan_free(&s);
    }
    return finish(&r, status, err);
}

static enum rs_status read_pickle(struct flight_rows *r, struct rs_bytes *bytes, struct rs_err *err)
{
    struct rs_strbuf all = {0};
    struct rs_err broken = {0};
    const char *block, *data;
    size_t n = 0, size;
    enum rs_status status = rs_bytes_next(bytes, &block, &n, &broken);
    data = block;
    size = n;
    if (rs_bytes_packing(bytes) != RS_PLAIN) {
        for (; status == RS_OK && n && all.len < MOST_PICKLE; status = rs_bytes_next(bytes, &block, &n, &broken))
            rs_strbuf_add(&all, block, n);
        data = rs_strbuf_borrow(&all);
        size = all.len;
    }
    enum rs_status read = from_pickle(r, data, size, err);
    if (status != RS_OK) *err = broken; /* the stream's end is why the pickle ends */
    if (status == RS_OK) status = read;
    rs_strbuf_free(&all);
    return status;
}

enum rs_status rs_flight_read(struct rs_flight *f, const char *path, struct rs_err *err)
{
    struct flight_rows r;
    struct rs_bytes *bytes;
    struct rs_scan s;
    char first[16];
    begin(f, &r, path);
    RS_TRY(rs_bytes_open(&bytes, path, err));
    size_t n = rs_bytes_peek(bytes, first, sizeof first);
    enum rs_status status;
    f->pickle = rs_pickle_is(first, n);
    if (f->pickle) {
        status = read_pickle(&r, bytes, &f->damage);
    } else {
        rs_scan_bytes(&s, bytes);
        status = from_json(&r, &s, &f->damage);
        rs_scan_free(&s);
    }
    rs_bytes_close(bytes);
    return finish(&r, status, err);
}

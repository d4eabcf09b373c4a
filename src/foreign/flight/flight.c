#include "foreign/flight/flight.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/bytes.h"
#include "base/strbuf.h"
#include "foreign/flight/pickle.h"
#include "foreign/flight/rows.h"
#include "foreign/formats.h"

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

/* ---- whose it is ---- */

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

static enum rs_status entries_of(struct rs_flight_rows *r, const struct rs_value *list, struct rs_err *err)
{
    for (uint32_t i = 0; rs_value_is_list(list) && i < list->n; i++)
        RS_TRY(rs_flight_rows_entry(r, list->items[i], err));
    return RS_OK;
}

/* What was read before the damage is taken; the damage is the result then. */
static enum rs_status from_pickle(struct rs_flight_rows *r, const void *bytes, size_t n, struct rs_err *err)
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
                                                 : rs_flight_rows_top(r, key, value, &later);
        }
    } else if (damage == RS_OK) {
        status = rs_fail(&later, RS_BAD_INPUT, "%s: at byte 0: the pickle holds neither a dict nor a list", r->path);
    }
    rs_arena_free(&arena);
    if (damage != RS_OK || status == RS_OK) return damage;
    *err = later;
    return status;
}

/* The entries one by one, so that memory does not grow with what nobody keeps. */
static enum rs_status scan_entries(struct rs_flight_rows *r, struct rs_scan *s, struct rs_err *err)
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
        if (!rs_value_scan(&build, s, "frames", &entry, &end))
            status = rs_fail(err, RS_NO_MEMORY, "%s: at byte %llu: an entry is too large", r->path,
                             (unsigned long long)s->offset);
        else if (!end)
            status = rs_flight_rows_entry(r, entry, err);
        rs_arena_free(&arena);
        RS_TRY(status);
    }
    return RS_OK;
}

static enum rs_status from_json(struct rs_flight_rows *r, struct rs_scan *s, struct rs_err *err)
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
        if (!rs_value_scan(&build, s, NULL, &value, &end))
            status = rs_fail(err, RS_NO_MEMORY, "%s: at byte %llu: too large", r->path, (unsigned long long)s->offset);
        else if (!end)
            status = rs_flight_rows_top(r, &key, value, err);
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

/* What holds of both forms, before and after. */
static void begin(struct rs_flight *f, struct rs_flight_rows *r, const char *path)
{
    *f = (struct rs_flight){.version = "", .comm_version = "", .rank = -1, .rank_inside = -1};
    *r = (struct rs_flight_rows){.f = f, .path = path};
}

static enum rs_status finish(struct rs_flight_rows *r, enum rs_status status, struct rs_err *err)
{
    struct rs_flight *f = r->f;
    rs_flight_rows_free(r);
    if (status == RS_OK && !f->n_entries && !f->n_groups && !*f->version && f->damage.code == RS_OK)
        status = rs_fail(&f->damage, RS_BAD_INPUT, "%s: at byte 0: holds nothing of a Flight Recorder dump", r->path);
    if (status != RS_OK && !f->n_entries && !f->n_groups) { /* nothing to keep */
        if (err) *err = f->damage;
        rs_flight_free(f);
        return status;
    }
    if (f->rank_inside < 0) f->rank_inside = rank_of_content(f);
    f->rank = rs_flight_rank_of_name(r->path);
    if (f->rank < 0) f->rank = f->rank_inside;
    return RS_OK;
}

enum rs_status rs_flight_parse(struct rs_flight *f, const void *bytes, size_t n, const char *path, struct rs_err *err)
{
    struct rs_flight_rows r;
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

static enum rs_status read_pickle(struct rs_flight_rows *r, struct rs_bytes *bytes, struct rs_err *err)
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
    if (all.failed)
        status = rs_strbuf_check(&all, err);
    else {
        enum rs_status read = from_pickle(r, data, size, err);
        if (status != RS_OK) *err = broken; /* the stream's end is why the pickle ends */
        if (status == RS_OK) status = read;
    }
    rs_strbuf_free(&all);
    return status;
}

enum rs_status rs_flight_read(struct rs_flight *f, const char *path, struct rs_err *err)
{
    struct rs_flight_rows r;
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

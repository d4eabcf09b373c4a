#include "foreign/nsys/nsys.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/memory.h"
#include "foreign/json_fields.h"

/* ---- the database ---- */

#ifdef RS_NO_SQLITE

enum rs_status rs_nsys_open(struct rs_nsys_db *db, const char *path, struct rs_err *err)
{
    *db = (struct rs_nsys_db){.path = path};
    return rs_fail(
        err, RS_FAILED,
        "%s: an export of Nsight Systems, which this build cannot read: libsqlite3 was not there when it was "
        "built",
        path);
}

enum rs_status rs_nsys_open_memory(struct rs_nsys_db *db, const char *path, const void *bytes, size_t n,
                                   struct rs_err *err)
{
    (void)bytes;
    (void)n;
    return rs_nsys_open(db, path, err);
}

void nsys_close(struct rs_nsys_db *db)
{
    *db = (struct rs_nsys_db){0};
}

bool rs_nsys_has(struct rs_nsys_db *db, const char *table, const char *column)
{
    (void)db;
    (void)table;
    (void)column;
    return false;
}

void rs_nsys_select(struct rs_nsys_rows *rows, struct rs_nsys_db *db, const char *table, const char *const *columns)
{
    (void)columns;
    *rows = (struct rs_nsys_rows){.db = db, .table = table};
}

bool rs_nsys_next(struct rs_nsys_rows *rows)
{
    (void)rows;
    return false;
}

void rs_nsys_stop(struct rs_nsys_rows *rows)
{
    (void)rows;
}

bool rs_nsys_i64(const struct rs_nsys_rows *rows, int column, int64_t *v)
{
    (void)rows;
    (void)column;
    (void)v;
    return false;
}

const char *rs_nsys_text(const struct rs_nsys_rows *rows, int column, size_t *n, bool *blob)
{
    (void)rows;
    (void)column;
    *n = 0;
    *blob = false;
    return NULL;
}

#else

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/bytes.h"
#include "base/strbuf.h"

enum { MOST_UNPACKED = 1 << 30, LONGEST_VALUE = 16 << 20 };

static void damaged(struct rs_nsys_db *db, const char *table, const char *why)
{
    if (db->damage.code != RS_OK) return;
    rs_fail(&db->damage, RS_BAD_INPUT, "%s: table %s: %s; what was whole before is used", db->path, table, why);
}

/* ---- opening ---- */

static int count_steps(void *of)
{
    struct rs_nsys_db *db = of;
    return --db->steps_left < 0;
}

/* Disables what a damaged or hostile file could do with SQLite. */
static enum rs_status make_safe(struct rs_nsys_db *db, struct rs_err *err)
{
    uint64_t longest = db->size < LONGEST_VALUE ? db->size : LONGEST_VALUE;
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db->handle, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, (int)(longest < 4096 ? 4096 : longest));
    sqlite3_limit(db->handle, SQLITE_LIMIT_ATTACHED, 0);
    db->steps_left = (int64_t)(db->size / 64) + 10000; /* 16 steps per byte: a row takes two or three per column */
    sqlite3_progress_handler(db->handle, 1000, count_steps, db);
    if (sqlite3_exec(db->handle, "SELECT count(*) FROM sqlite_master", NULL, NULL, NULL) != SQLITE_OK)
        return rs_fail(err, RS_BAD_INPUT, "%s: not a database that can be read: %s", db->path,
                       sqlite3_errmsg(db->handle));
    return RS_OK;
}

enum rs_status rs_nsys_open_memory(struct rs_nsys_db *db, const char *path, const void *bytes, size_t n,
                                   struct rs_err *err)
{
    *db = (struct rs_nsys_db){.path = path, .size = n};
    unsigned char *copy = sqlite3_malloc64(n ? n : 1);
    db->bytes = copy;
    if (!copy || sqlite3_open_v2(":memory:", &db->handle, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK) rs_memory_out();
    memcpy(copy, bytes, n);
    if (n > 19) copy[18] = copy[19] = 1; /* the log of a database that was still written is not here anyway */
    if (sqlite3_deserialize(db->handle, "main", copy, (sqlite3_int64)n, (sqlite3_int64)n,
                            SQLITE_DESERIALIZE_READONLY) != SQLITE_OK)
        return rs_fail(err, RS_BAD_INPUT, "%s: not a database that can be read: %s", path, sqlite3_errmsg(db->handle));
    return make_safe(db, err);
}

/* A packed database has to be unpacked as a whole: SQLite reads here and there. */
static enum rs_status open_packed(struct rs_nsys_db *db, const char *path, struct rs_bytes *bytes, struct rs_err *err)
{
    struct rs_strbuf all = {0};
    const char *block;
    size_t n;
    enum rs_status status;
    while ((status = rs_bytes_next(bytes, &block, &n, err)) == RS_OK && n) {
        if (all.len + n > MOST_UNPACKED) {
            status = rs_fail(err, RS_BAD_INPUT, "%s: more than 1 GiB unpacked: unpack it first", path);
            break;
        }
        rs_strbuf_add(&all, block, n);
    }
    if (status == RS_OK) status = rs_nsys_open_memory(db, path, rs_strbuf_borrow(&all), all.len, err);
    rs_strbuf_free(&all);
    return status;
}

/* Immutable: SQLite takes no lock, looks for no journal, and writes nothing. */
static enum rs_status open_plain(struct rs_nsys_db *db, const char *path, struct rs_err *err)
{
    struct rs_strbuf uri = {0};
    struct stat info;
    rs_strbuf_puts(&uri, "file:");
    if (path[0] == '/') rs_strbuf_puts(&uri, "//");
    for (const char *p = path; *p; p++) {
        if (strchr("%?#", *p))
            rs_strbuf_printf(&uri, "%%%02x", (unsigned char)*p);
        else
            rs_strbuf_putc(&uri, *p);
    }
    rs_strbuf_puts(&uri, "?mode=ro&immutable=1");
    enum rs_status status = RS_OK;
    if (stat(path, &info)) status = rs_fail_errno(err, "%s", path);
    if (status == RS_OK) db->size = (uint64_t)info.st_size;
    if (status == RS_OK &&
        sqlite3_open_v2(rs_strbuf_borrow(&uri), &db->handle, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL) != SQLITE_OK)
        status = rs_fail(err, RS_BAD_INPUT, "%s: cannot be opened: %s", path,
                         db->handle ? sqlite3_errmsg(db->handle) : "out of memory");
    rs_strbuf_free(&uri);
    return status == RS_OK ? make_safe(db, err) : status;
}

enum rs_status rs_nsys_open(struct rs_nsys_db *db, const char *path, struct rs_err *err)
{
    *db = (struct rs_nsys_db){.path = path};
    struct rs_bytes *bytes;
    RS_TRY(rs_bytes_open(&bytes, path, err));
    bool plain = rs_bytes_packing(bytes) == RS_PLAIN;
    enum rs_status status = plain ? RS_OK : open_packed(db, path, bytes, err);
    rs_bytes_close(bytes);
    return plain ? open_plain(db, path, err) : status;
}

/* A zeroed struct is fine */
static void nsys_close(struct rs_nsys_db *db)
{
    sqlite3_close_v2(db->handle);
    sqlite3_free(db->bytes);
    *db = (struct rs_nsys_db){0};
}

/* ---- tables ---- */

static bool has_table(struct rs_nsys_db *db, const char *table)
{
    sqlite3_stmt *q = NULL;
    bool found = false;
    static const char text[] = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND name = ?1";
    if (sqlite3_prepare_v2(db->handle, text, -1, &q, NULL) == SQLITE_OK) {
        sqlite3_bind_text(q, 1, table, -1, SQLITE_STATIC);
        found = sqlite3_step(q) == SQLITE_ROW;
    }
    sqlite3_finalize(q);
    return found;
}

static bool has_column(struct rs_nsys_db *db, const char *table, const char *column)
{
    return sqlite3_table_column_metadata(db->handle, "main", table, column, NULL, NULL, NULL, NULL, NULL) == SQLITE_OK;
}

bool rs_nsys_has(struct rs_nsys_db *db, const char *table, const char *column)
{
    return has_table(db, table) && (!column || has_column(db, table, column));
}

void rs_nsys_select(struct rs_nsys_rows *rows, struct rs_nsys_db *db, const char *table, const char *const *columns)
{
    *rows = (struct rs_nsys_rows){.db = db, .table = table};
    if (!has_table(db, table)) return;
    struct rs_strbuf text = {0};
    for (size_t i = 0; columns[i]; i++) {
        rs_strbuf_puts(&text, i ? ", " : "SELECT ");
        if (has_column(db, table, columns[i]))
            rs_strbuf_printf(&text, "\"%s\"", columns[i]);
        else
            rs_strbuf_puts(&text, "NULL");
    }
    rs_strbuf_printf(&text, " FROM \"%s\" NOT INDEXED", table);
    if (sqlite3_prepare_v2(db->handle, rs_strbuf_borrow(&text), -1, &rows->statement, NULL) != SQLITE_OK)
        damaged(db, table, sqlite3_errmsg(db->handle));
    rs_strbuf_free(&text);
}

void rs_nsys_stop(struct rs_nsys_rows *rows)
{
    sqlite3_finalize(rows->statement);
    rows->statement = NULL;
}

bool rs_nsys_next(struct rs_nsys_rows *rows)
{
    if (!rows->statement) return false;
    int result = sqlite3_step(rows->statement);
    if (result == SQLITE_ROW) return true;
    if (result == SQLITE_INTERRUPT)
        damaged(rows->db, rows->table, "more rows than the file can hold");
    else if (result != SQLITE_DONE)
        damaged(rows->db, rows->table, sqlite3_errmsg(rows->db->handle));
    rs_nsys_stop(rows);
    return false;
}

bool rs_nsys_i64(const struct rs_nsys_rows *rows, int column, int64_t *v)
{
    if (sqlite3_column_type(rows->statement, column) == SQLITE_NULL) return false;
    *v = sqlite3_column_int64(rows->statement, column);
    return true;
}

const char *rs_nsys_text(const struct rs_nsys_rows *rows, int column, size_t *n, bool *blob)
{
    int type = sqlite3_column_type(rows->statement, column);
    *n = 0;
    *blob = type == SQLITE_BLOB;
    if (type == SQLITE_NULL) return NULL;
    const char *text = *blob ? sqlite3_column_blob(rows->statement, column)
                             : (const char *)sqlite3_column_text(rows->statement, column);
    *n = text ? (size_t)sqlite3_column_bytes(rows->statement, column) : 0;
    /* Many rows may name the same long chain of pages: what is read counts. */
    rows->db->steps_left -= (int64_t)(*n / 4096);
    return text;
}

#endif

/* ---- payloads of NVTX ---- */

/* As NCCL names its fields. */
static const char *const names[RS_NSYS_FIELDS] = {
    [RS_NF_COMM] = "NCCL communicator ID",
    [RS_NF_BYTES] = "Message size [bytes]",
    [RS_NF_ROOT] = "Root",
    [RS_NF_PEER] = "Peer rank",
    [RS_NF_RANK] = "Rank",
    [RS_NF_NRANKS] = "No. of ranks",
    [RS_NF_DEVICE] = "CUDA device",
    [RS_NF_PARENT] = "Parent NCCL communicator ID",
    [RS_NF_COLOR] = "Color",
    [RS_NF_KEY] = "Key",
};

static int field_of(const char *name, size_t n)
{
    for (int f = 0; f < RS_NSYS_FIELDS; f++)
        if (strlen(names[f]) == n && !memcmp(names[f], name, n)) return f;
    return -1;
}

/* Bytes of NVTX's entry types; 0: not an integer, or not known. */
static unsigned type_bytes(uint8_t type)
{
    static const uint8_t bytes[] = {[1] = 1,  [2] = 1,  [3] = 2,  [4] = 2,  [5] = 4,   [6] = 4,  [7] = 8,  [8] = 8,
                                    [9] = 8,  [10] = 8, [11] = 1, [12] = 1, [13] = 2,  [14] = 2, [15] = 4, [16] = 4,
                                    [17] = 8, [18] = 8, [19] = 4, [20] = 8, [21] = 16, [22] = 8, [23] = 8};
    return type < sizeof bytes ? bytes[type] : 0;
}

static bool type_signed(uint8_t type)
{
    return (type <= 18 && type & 1) || type == 1; /* they come in pairs, the signed one first */
}

/* ---- schemas ---- */

static int by_place(const void *a, const void *b)
{
    const struct rs_nsys_entry *x = a, *y = b;
    if (x->schema != y->schema) return x->schema < y->schema ? -1 : 1;
    return x->idx < y->idx ? -1 : x->idx > y->idx;
}

/* An entry without an offset follows the one before it, aligned as a compiler would. */
static void lay_out(struct rs_nsys_schemas *s)
{
    uint64_t end = 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        struct rs_nsys_entry e = s->rows[i];
        if (!i || s->rows[i - 1].schema != e.schema) end = 0;
        unsigned bytes = type_bytes(e.type), align = bytes > 8 ? 8 : bytes;
        if (!e.offset && align) e.offset = (uint32_t)((end + align - 1) / align * align);
        end = (uint64_t)e.offset + bytes;
        s->rows[i].offset = e.offset;
    }
    for (uint32_t i = 0; i < s->n; i++)
        if (s->rows[i].field < RS_NSYS_FIELDS && type_bytes(s->rows[i].type)) s->rows[kept++] = s->rows[i];
    s->n = kept;
}

void rs_nsys_schemas_read(struct rs_nsys_schemas *s, struct rs_nsys_db *db)
{
    static const char *const columns[] = {"domainId", "schemaId", "idx", "type", "offset", "name", NULL};
    struct rs_nsys_rows rows;
    *s = (struct rs_nsys_schemas){0};
    rs_nsys_select(&rows, db, "NVTX_PAYLOAD_SCHEMA_ENTRIES", columns);
    while (rs_nsys_next(&rows)) {
        int64_t domain = 0, schema = 0, idx = 0, type = 0, offset = 0;
        size_t n;
        bool blob;
        rs_nsys_i64(&rows, 0, &domain);
        rs_nsys_i64(&rows, 1, &schema);
        rs_nsys_i64(&rows, 2, &idx);
        rs_nsys_i64(&rows, 3, &type);
        rs_nsys_i64(&rows, 4, &offset);
        const char *name = rs_nsys_text(&rows, 5, &n, &blob);
        if (offset < 0 || offset > 65535 || type < 0 || type > 255) continue;
        void *room = s->rows;
        rs_room(&room, s->n, &s->cap, sizeof *s->rows);
        s->rows = room;
        int field = name ? field_of(name, n) : -1;
        s->rows[s->n++] = (struct rs_nsys_entry){.schema = (uint64_t)(uint32_t)domain << 32 | (uint32_t)schema,
                                                 .idx = (uint32_t)idx,
                                                 .offset = (uint32_t)offset,
                                                 .type = (uint8_t)type,
                                                 .field = field < 0 ? RS_NSYS_FIELDS : (uint8_t)field};
    }
    rs_nsys_stop(&rows);
    if (s->n) qsort(s->rows, s->n, sizeof *s->rows, by_place);
    lay_out(s);
}

static void nsys_schemas_free(struct rs_nsys_schemas *s)
{
    free(s->rows);
    *s = (struct rs_nsys_schemas){0};
}

/* ---- payloads ---- */

static uint64_t take(const unsigned char *at, unsigned bytes)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < bytes; i++) v |= (uint64_t)at[i] << 8 * i;
    return v;
}

static void set(struct rs_nsys_payload *p, int field, uint64_t value)
{
    p->has |= 1u << field;
    p->value[field] = value;
}

static void unpack(const struct rs_nsys_schemas *s, const unsigned char *bytes, size_t n, struct rs_nsys_payload *p)
{
    enum { HEADER = 32 }; /* domain, 0, schema, 0 (4 bytes each); size of the payload, of all (8 each) */
    if (n < HEADER) return;
    uint64_t schema = take(bytes, 4) << 32 | take(bytes + 8, 4);
    uint32_t low = 0, high = s->n;
    RS_BISECT(low, high, mid, s->rows[mid].schema < schema);
    for (; low < s->n && s->rows[low].schema == schema; low++) {
        const struct rs_nsys_entry *e = &s->rows[low];
        unsigned size = type_bytes(e->type);
        if (size > 8 || (size_t)HEADER + e->offset + size > n) continue;
        uint64_t v = take(bytes + HEADER + e->offset, size);
        if (type_signed(e->type) && size < 8 && v >> (8 * size - 1)) v |= ~UINT64_C(0) << 8 * size;
        set(p, e->field, v);
    }
}

static int digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

void rs_nsys_payload_bytes(const struct rs_nsys_schemas *s, const char *text, size_t n, bool blob,
                           struct rs_nsys_payload *p)
{
    enum { MOST = 512 }; /* NCCL's are below 100 */
    unsigned char bytes[MOST];
    *p = (struct rs_nsys_payload){0};
    if (blob) {
        unpack(s, (const unsigned char *)text, n, p);
        return;
    }
    if (n > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        text += 2;
        n -= 2;
    }
    size_t got = 0;
    for (; got < MOST && 2 * got + 1 < n; got++) {
        int high = digit(text[2 * got]), low = digit(text[2 * got + 1]);
        if (high < 0 || low < 0) break;
        bytes[got] = (unsigned char)(high << 4 | low);
    }
    unpack(s, bytes, got, p);
}

void rs_nsys_payload_json(const char *text, size_t n, struct rs_nsys_payload *p)
{
    struct rs_scan s;
    *p = (struct rs_nsys_payload){0};
    rs_scan_memory(&s, text, n);
    unsigned depth = rs_json_take_into(&s, RS_T_OBJECT);
    while (depth && rs_json_take_key(&s, depth)) {
        int field = field_of(s.text, s.n);
        uint64_t v;
        int64_t negative;
        if (field < 0) {
            rs_scan_skip(&s);
            continue;
        }
        enum rs_token token = rs_scan_next(&s);
        if (token == RS_T_OBJECT || token == RS_T_ARRAY)
            rs_scan_skip(&s);
        else if (rs_scan_u64(&s, &v))
            set(p, field, v);
        else if (rs_scan_i64(&s, &negative))
            set(p, field, (uint64_t)negative);
    }
    rs_scan_free(&s);
}

/* ---- the trace ---- */

void rs_nsys_proc(struct rs_nsys *n, uint64_t pid, uint32_t *proc)
{
    uint64_t *at;
    rs_map_at(&n->procs, pid, RS_NONE, &at);
    if (*at == RS_NONE) {
        rs_model_proc(n->m, proc);
        *at = *proc;
        struct rs_proc *p = &n->m->procs[*proc];
        p->host = n->host;
        p->tool = RS_TOOL_NSYS;
        p->pid = (uint32_t)pid;
        p->ended = RS_END_WELL; /* an export does not say how its processes ended */
        p->complete = true;
        p->path = rs_arena_text(&n->m->arena, n->path, strlen(n->path));
    }
    *proc = (uint32_t)*at;
}

/* "GPU-5fe6ba1c-a69c-...", or 32 digits. */
static bool parse_uuid(const char *text, size_t n, uint8_t uuid[16])
{
    unsigned digits = 0;
    if (n > 4 && !memcmp(text, "GPU-", 4)) {
        text += 4;
        n -= 4;
    }
    memset(uuid, 0, 16);
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        int v = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
        if (v < 0 && c == '-') continue;
        if (v < 0 || digits == 32) return false;
        uuid[digits / 2] = (uint8_t)(uuid[digits / 2] << 4 | v);
        digits++;
    }
    return digits == 32;
}

/* Which GPU a device number of a process is, where the export says that (newer ones by process, older by number). */
static void find_uuid(struct rs_nsys *n, uint64_t pid, int32_t device, uint8_t uuid[16])
{
    static const char *const by_process[] = {"cudaId", "pid", "uuid", NULL}, *const by_number[] = {"id", "uuid", NULL};
    struct rs_nsys_rows rows;
    size_t length;
    bool blob, found = false;
    memset(uuid, 0, 16);
    rs_nsys_select(&rows, &n->db, "TARGET_INFO_CUDA_DEVICE", by_process);
    while (!found && rs_nsys_next(&rows)) {
        int64_t id = -1, of = (int64_t)pid;
        rs_nsys_i64(&rows, 0, &id);
        rs_nsys_i64(&rows, 1, &of);
        const char *text = id == device && of == (int64_t)pid ? rs_nsys_text(&rows, 2, &length, &blob) : NULL;
        found = text && parse_uuid(text, length, uuid);
    }
    rs_nsys_stop(&rows);
    if (!found) rs_nsys_select(&rows, &n->db, "TARGET_INFO_GPU", by_number);
    while (!found && rs_nsys_next(&rows)) {
        int64_t id = -1;
        rs_nsys_i64(&rows, 0, &id);
        const char *text = id == device ? rs_nsys_text(&rows, 1, &length, &blob) : NULL;
        found = text && parse_uuid(text, length, uuid);
    }
    rs_nsys_stop(&rows);
    if (!found) memset(uuid, 0, 16);
}

void rs_nsys_gpu(struct rs_nsys *n, uint64_t pid, int32_t device, uint32_t *domain)
{
    uint64_t *at;
    rs_map_at(&n->gpus, rs_nsys_key(pid, (uint32_t)device), RS_NONE, &at);
    if (*at == RS_NONE) {
        uint8_t uuid[16];
        find_uuid(n, pid, device, uuid);
        rs_model_gpu(n->m, n->host, uuid, domain);
        n->m->domains[*domain].rigid = true; /* Nsight Systems brings GPU times onto the session's clock */
        *at = *domain;
    }
    *domain = (uint32_t)*at;
}

enum rs_status rs_nsys_name(struct rs_nsys *n, const struct rs_nsys_rows *rows, int text, int id, uint32_t *name,
                            struct rs_err *err)
{
    size_t length = 0;
    bool blob;
    int64_t number;
    const char *found = text >= 0 ? rs_nsys_text(rows, text, &length, &blob) : NULL;
    *name = 0;
    if (found && length) return rs_model_name(n->m, found, length, name, err);
    if (id >= 0 && rs_nsys_i64(rows, id, &number)) *name = (uint32_t)rs_map_get(&n->strings, (uint64_t)number, 0);
    return RS_OK;
}

void rs_nsys_free(struct rs_nsys *n)
{
    nsys_close(&n->db);
    rs_map_free(&n->strings);
    rs_map_free(&n->procs);
    rs_map_free(&n->lanes);
    rs_map_free(&n->gpus);
    rs_map_free(&n->members);
    rs_map_free(&n->launches);
    nsys_schemas_free(&n->schemas);
    free(n->calls);
    free(n->kernels);
    free(n->nodes);
    *n = (struct rs_nsys){0};
}

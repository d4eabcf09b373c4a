#include "foreign/nsys/payload.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/room.h"
#include "foreign/json_fields.h"

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

/* An entry without an offset lies behind the one before it, as a compiler would put it. */
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

enum rs_status rs_nsys_schemas_read(struct rs_nsys_schemas *s, struct rs_nsys_db *db, struct rs_err *err)
{
    static const char *const columns[] = {"domainId", "schemaId", "idx", "type", "offset", "name", NULL};
    struct rs_nsys_rows rows;
    enum rs_status status = RS_OK;
    *s = (struct rs_nsys_schemas){0};
    rs_nsys_select(&rows, db, "NVTX_PAYLOAD_SCHEMA_ENTRIES", columns);
    while (status == RS_OK && rs_nsys_next(&rows)) {
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
        status = rs_room(&room, s->n, &s->cap, sizeof *s->rows, err);
        s->rows = room;
        if (status != RS_OK) break;
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
    return status;
}

void rs_nsys_schemas_free(struct rs_nsys_schemas *s)
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

#include "bundle/table.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

#define NONE UINT32_MAX /* no such row */

static const unsigned widths[] = {1, 2, 4, 4, 8, 8, 4}; /* by enum rs_column_type */

static void put_u32(uint8_t *to, uint32_t v)
{
    for (int i = 0; i < 4; i++) to[i] = (uint8_t)(v >> 8 * i);
}

void rs_packer_begin(struct rs_packer *p, uint32_t rows)
{
    p->rows = rows;
    p->ncolumns = 0;
    p->n = sizeof p->head;
    if (p->cap_values >= rows && p->values) return;
    free(p->values);
    p->cap_values = (size_t)rows + 1;
    p->values = rs_alloc(p->cap_values * sizeof *p->values);
}

static void has_room(struct rs_packer *p, size_t more)
{
    if (more <= p->cap - p->n && p->bytes) return;
    size_t cap = p->n + more + p->cap / 2;
    uint8_t *bytes = rs_realloc(p->bytes, cap);
    p->bytes = bytes;
    p->cap = cap;
}

/* Stores p->values, of which the lower `width` bytes count. */
static void put_column(struct rs_packer *p, const char *name, enum rs_column_type type, enum rs_column_coding coding)
{
    unsigned width = widths[type];
    size_t rows = p->rows, bytes = rows * width;
    assert(p->ncolumns < RS_TABLE_COLUMNS && strlen(name) <= RS_TABLE_NAME);
    if (width == 1 && coding == RS_COLUMN_PLANES) coding = RS_COLUMN_PLAIN; /* the same bytes */
    has_room(p, bytes);
    if (coding == RS_COLUMN_DELTA)
        for (size_t i = rows; i-- > 1;) p->values[i] -= p->values[i - 1];
    uint8_t *entry = p->head + RS_TABLE_HEAD + p->ncolumns++ * RS_TABLE_ENTRY;
    memset(entry, 0, RS_TABLE_ENTRY);
    memcpy(entry, name, strlen(name));
    entry[12] = (uint8_t)type;
    entry[13] = (uint8_t)coding;
    put_u32(entry + 16, (uint32_t)(p->n - sizeof p->head)); /* the size of the head is added when it is known */
    put_u32(entry + 20, (uint32_t)bytes);
    for (unsigned plane = 0; plane < width; plane++) {
        uint8_t *to = p->bytes + p->n + plane * rows;
        for (size_t i = 0; i < rows; i++) to[i] = (uint8_t)(p->values[i] >> 8 * plane);
    }
    p->n += bytes;
}

static enum rs_column_type narrowest(uint64_t most)
{
    return most <= UINT8_MAX ? RS_COLUMN_U8 : most <= UINT16_MAX ? RS_COLUMN_U16 : RS_COLUMN_U32;
}

void rs_packer_u8(struct rs_packer *p, const char *name, const uint8_t *values)
{
    for (uint32_t i = 0; i < p->rows; i++) p->values[i] = values[i];
    put_column(p, name, RS_COLUMN_U8, RS_COLUMN_PLAIN);
}

void rs_packer_u32(struct rs_packer *p, const char *name, const uint32_t *values, enum rs_column_coding coding)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < p->rows; i++) {
        p->values[i] = values[i];
        if (values[i] > most) most = values[i];
    }
    put_column(p, name, narrowest(most), coding);
}

void rs_packer_next(struct rs_packer *p, const char *name, const uint32_t *values)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < p->rows; i++) {
        uint32_t next = values[i] + 1; /* of NONE: 0 */
        p->values[i] = next;
        if (next > most) most = next;
    }
    if (most) put_column(p, name, narrowest(most), RS_COLUMN_DELTA);
}

void rs_packer_u64(struct rs_packer *p, const char *name, const uint64_t *values)
{
    if (p->rows) memcpy(p->values, values, p->rows * sizeof *values);
    put_column(p, name, RS_COLUMN_U64, RS_COLUMN_PLANES);
}

static uint64_t bits_of(double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    return bits;
}

void rs_packer_i64(struct rs_packer *p, const char *name, const int64_t *values, int64_t base,
                   enum rs_column_coding coding)
{
    int64_t least = 0, most = 0;
    for (uint32_t i = 0; i < p->rows; i++) {
        int64_t v = (int64_t)((uint64_t)values[i] - (uint64_t)base);
        p->values[i] = (uint64_t)v;
        if (v < least) least = v;
        if (v > most) most = v;
    }
    if (least >= 0 && most <= UINT32_MAX) {
        put_column(p, name, narrowest((uint64_t)most), coding);
    } else if (least >= INT32_MIN && most <= INT32_MAX) {
        put_column(p, name, RS_COLUMN_I32, coding);
    } else {
        for (uint32_t i = 0; i < p->rows; i++) p->values[i] = bits_of((double)(int64_t)p->values[i]);
        put_column(p, name, RS_COLUMN_F64, RS_COLUMN_PLANES);
    }
}

void rs_packer_sparse(struct rs_packer *p, const char *name, const int64_t *values, const bool *hex)
{
    bool none = false, some = false, wide = false;
    int64_t least = 0, most = 0;
    for (uint32_t i = 0; i < p->rows; i++) {
        int64_t v = values[i];
        bool is_none = v == INT64_MIN;
        none |= is_none;
        some |= !is_none;
        if (is_none) continue;
        if (hex[i] && (v < 0 || v > 1ll << 53)) {
            wide = true;
            continue;
        }
        if (v < least) least = v;
        if (v > most) most = v;
    }
    if (!some) return;
    if (!none && !wide) {
        rs_packer_i64(p, name, values, 0, RS_COLUMN_PLANES);
    } else if (!wide && least >= 0 && most < NONE) {
        for (uint32_t i = 0; i < p->rows; i++) p->values[i] = values[i] == INT64_MIN ? NONE : (uint64_t)values[i];
        put_column(p, name, RS_COLUMN_U32, RS_COLUMN_PLANES);
    } else if (!none && least >= 0) {
        rs_packer_u64(p, name, (const uint64_t *)values);
    } else {
        for (uint32_t i = 0; i < p->rows; i++)
            p->values[i] = bits_of(values[i] == INT64_MIN ? NAN
                                   : hex[i]               ? (double)(uint64_t)values[i]
                                                          : (double)values[i]);
        put_column(p, name, RS_COLUMN_F64, RS_COLUMN_PLANES);
    }
}

void rs_packer_f64(struct rs_packer *p, const char *name, const double *values)
{
    if (p->rows) memcpy(p->values, values, p->rows * sizeof *values);
    put_column(p, name, RS_COLUMN_F64, RS_COLUMN_PLANES);
}

void rs_packer_f32(struct rs_packer *p, const char *name, const double *values)
{
    for (uint32_t i = 0; i < p->rows; i++) {
        float v = (float)values[i];
        uint32_t bits;
        memcpy(&bits, &v, sizeof bits);
        p->values[i] = bits;
    }
    put_column(p, name, RS_COLUMN_F32, RS_COLUMN_PLANES);
}

enum rs_status rs_packer_bytes(struct rs_packer *p, const uint8_t **bytes, size_t *n, struct rs_err *err)
{
    has_room(p, 0);
    size_t head = RS_TABLE_HEAD + (size_t)p->ncolumns * RS_TABLE_ENTRY;
    if (p->n - sizeof p->head + head > UINT32_MAX)
        return rs_fail(err, RS_BAD_INPUT, "a table of the bundle would exceed 4 GB: draw less, e.g. with --rank");
    put_u32(p->head, p->rows);
    put_u32(p->head + 4, p->ncolumns);
    for (unsigned i = 0; i < p->ncolumns; i++) {
        uint8_t *at = p->head + RS_TABLE_HEAD + i * RS_TABLE_ENTRY + 16;
        uint32_t offset = (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
        put_u32(at, (uint32_t)(offset + head));
    }
    uint8_t *begin = p->bytes + sizeof p->head - head; /* directly before the columns */
    memcpy(begin, p->head, head);
    *bytes = begin;
    *n = p->n - sizeof p->head + head;
    return RS_OK;
}

void rs_packer_free(struct rs_packer *p)
{
    free(p->bytes);
    free(p->values);
    *p = (struct rs_packer){0};
}

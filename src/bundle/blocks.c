#include "bundle/blocks.h"

#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/memory.h"

#define INDEX(X)                                                                                                       \
    X(uint32_t, lane)                                                                                                  \
    X(uint32_t, first)                                                                                                 \
    X(uint32_t, bars)                                                                                                  \
    X(int64_t, from)                                                                                                   \
    X(int64_t, to)

enum rs_status rs_blocks_open(struct rs_blocks *b, const char *folder, struct rs_err *err)
{
    *b = (struct rs_blocks){0};
    return rs_pieces_open(&b->pieces, folder, err);
}

static bool any_i64(const int64_t *values, uint32_t n, int64_t none)
{
    for (uint32_t i = 0; i < n; i++)
        if (values[i] != none) return true;
    return false;
}

static bool any_u32(const uint32_t *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (values[i]) return true;
    return false;
}

static bool any_u8(const uint8_t *values, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (values[i]) return true;
    return false;
}

/* Times relative to the start of their bar: small numbers. */
static void put_argument(struct rs_blocks *b, struct rs_packer *table, const char *name, unsigned which,
                         const int64_t *values, const struct rs_bars *bars, uint32_t at, const struct rs_kinds *kinds)
{
    uint32_t n = table->rows;
    if (!any_i64(values, n, RS_BAR_NO_ARG)) return;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t kind = bars->kind[at + i];
        enum rs_bar_unit unit = kind < kinds->n ? rs_bar_arg(&kinds->rows[kind], which)->unit : RS_UNIT_NUMBER;
        bool time = unit == RS_UNIT_TIME && values[i] != RS_BAR_NO_ARG;
        b->hex[i] = unit == RS_UNIT_HEX;
        b->values[i] = time ? (int64_t)((uint64_t)values[i] - (uint64_t)bars->start[at + i]) : values[i];
    }
    rs_packer_sparse(table, name, b->values, b->hex);
}

const struct rs_event_arg rs_buffer_args[RS_BUFFER_ARGS] = {
    {.label = "send buffer", .unit = RS_UNIT_HEX},
    {.label = "receive buffer", .unit = RS_UNIT_HEX},
    {.label = "warps", .unit = RS_UNIT_NUMBER},
};

void rs_blocks_process(struct rs_blocks *b, const struct rs_timeline *t, const struct rs_bars *bars)
{
    b->buffers = t->buffers;
    if (b->buffers == NULL) return;
    free(b->part_of_bar);
    b->part_of_bar = rs_alloc(((size_t)bars->n + 1) * sizeof *b->part_of_bar);
    for (uint32_t i = 0; i < bars->n; i++) b->part_of_bar[i] = RS_NONE;
    for (uint32_t i = 0; i < bars->nparts; i++) {
        uint32_t bar = t->bar_of_part[bars->parts[i]];
        if (bar != RS_NONE && bar >= bars->first && bar - bars->first < bars->n)
            b->part_of_bar[bar - bars->first] = bars->parts[i];
    }
}

static int64_t buffer_arg(const struct rs_part_buffers *p, unsigned which)
{
    return which == 0 ? p->send : which == 1 ? p->recv : p->warps;
}

static void put_buffers(struct rs_blocks *b, struct rs_packer *table, uint32_t at)
{
    static const char *const names[RS_BUFFER_ARGS] = {"a7", "a8", "a9"};
    for (unsigned k = 0; k < RS_BUFFER_ARGS; k++) {
        for (uint32_t i = 0; i < table->rows; i++) {
            uint32_t part = b->part_of_bar[at + i];
            b->hex[i] = rs_buffer_args[k].unit == RS_UNIT_HEX;
            b->values[i] = part != RS_NONE ? buffer_arg(&b->buffers[part], k) : RS_BAR_NO_ARG;
        }
        if (any_i64(b->values, table->rows, RS_BAR_NO_ARG)) rs_packer_sparse(table, names[k], b->values, b->hex);
    }
}

/* The columns of bars [at, at + n). The codings are the smallest ones: ascending values as differences. */
static void pack(struct rs_blocks *b, const struct rs_bars *bars, uint32_t at, uint32_t n, const struct rs_kinds *kinds,
                 struct rs_packer *t)
{
    rs_packer_begin(t, n);
    rs_packer_i64(t, "start", bars->start + at, bars->start[at], RS_COLUMN_DELTA);
    rs_packer_i64(t, "dur", bars->dur + at, 0, RS_COLUMN_PLANES);
    rs_packer_u8(t, "kind", bars->kind + at);
    if (any_u8(bars->flags + at, n)) rs_packer_u8(t, "flags", bars->flags + at);
    if (any_u32(bars->name + at, n)) rs_packer_u32(t, "name", bars->name + at, RS_COLUMN_PLANES);
    rs_packer_next(t, "op", bars->op + at);
    rs_packer_next(t, "parent", bars->parent + at);
    if (any_i64(bars->wait + at, n, 0)) rs_packer_i64(t, "wait", bars->wait + at, 0, RS_COLUMN_PLANES);
    if (any_i64(bars->fade + at, n, 0)) rs_packer_i64(t, "fade", bars->fade + at, 0, RS_COLUMN_PLANES);
    if (any_u32(bars->m1 + at, n)) rs_packer_u32(t, "m1", bars->m1 + at, RS_COLUMN_PLANES);
    if (any_u32(bars->m2 + at, n)) rs_packer_u32(t, "m2", bars->m2 + at, RS_COLUMN_PLANES);
    if (any_u32(bars->m3 + at, n)) rs_packer_u32(t, "m3", bars->m3 + at, RS_COLUMN_PLANES);
    const int64_t *arguments[RS_BAR_ARGS] = {bars->a1, bars->a2, bars->a3, bars->a4, bars->a5, bars->a6};
    static const char *const names[RS_BAR_ARGS] = {"a1", "a2", "a3", "a4", "a5", "a6"};
    for (unsigned k = 0; k < RS_BAR_ARGS; k++) put_argument(b, t, names[k], k, arguments[k] + at, bars, at, kinds);
    if (b->buffers) put_buffers(b, t, at);
}

static void add_index(struct rs_blocks *t, uint32_t lane, const struct rs_bars *bars, uint32_t at, uint32_t n)
{
    uint32_t row;
    RS_COLUMNS_ADD(INDEX, &row);
    int64_t to = bars->start[at];
    for (uint32_t i = at; i < at + n; i++) {
        int64_t end = bars->start[i] + bars->dur[i] + bars->fade[i];
        if (end > to) to = end;
    }
    t->lane[row] = lane;
    t->first[row] = bars->first + at;
    t->bars[row] = n;
    t->from[row] = bars->start[at];
    t->to[row] = to;
}

/* How many of the bars [at, at + left) are in the next block. */
static uint32_t next_block(const struct rs_bars *bars, uint32_t at, uint32_t left)
{
    uint32_t n = left < RS_BLOCK_BARS ? left : RS_BLOCK_BARS;
    if (bars->start[at + n - 1] - bars->start[at] <= UINT32_MAX) return n;
    uint32_t low = 0, high = n;
    RS_BISECT(low, high, mid, bars->start[at + mid] - bars->start[at] <= UINT32_MAX);
    return low >= RS_BLOCK_FEW ? low : n;
}

enum rs_status rs_blocks_lane(struct rs_blocks *b, const struct rs_bars *bars, const struct rs_bar_lane *lane,
                              uint32_t number, const struct rs_kinds *kinds, struct rs_packer *table, struct rs_zip *z,
                              struct rs_err *err)
{
    for (uint32_t done = 0; done < lane->n;) {
        uint32_t n = next_block(bars, lane->from + done, lane->n - done);
        pack(b, bars, lane->from + done, n, kinds, table);
        RS_TRY(rs_pieces_add(&b->pieces, z, table, err));
        add_index(b, number, bars, lane->from + done, n);
        done += n;
    }
    return RS_OK;
}

void rs_blocks_index(const struct rs_blocks *b, struct rs_packer *table)
{
    rs_packer_begin(table, b->n);
    rs_packer_u32(table, "lane", b->lane, RS_COLUMN_DELTA);
    rs_packer_u32(table, "first", b->first, RS_COLUMN_DELTA);
    rs_packer_u32(table, "bars", b->bars, RS_COLUMN_PLANES);
    rs_packer_i64(table, "from", b->from, 0, RS_COLUMN_PLANES);
    rs_packer_i64(table, "to", b->to, 0, RS_COLUMN_PLANES);
    rs_pieces_columns(&b->pieces, table);
}

void rs_blocks_free(struct rs_blocks *t)
{
    free(t->part_of_bar);
    rs_pieces_free(&t->pieces);
    RS_COLUMNS_FREE(INDEX)
    t->lane = t->first = t->bars = NULL;
    t->from = t->to = NULL;
}

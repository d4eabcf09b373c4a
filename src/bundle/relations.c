#include "bundle/relations.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/room.h"

enum rs_status rs_edges_open(struct rs_edges *r, const char *folder, struct rs_err *err)
{
    *r = (struct rs_edges){.rows = rs_alloc(sizeof *r->rows)};
    r->rows->n = 0;
    return rs_pieces_open(&r->pieces, folder, err);
}

/* ---- pieces ---- */

enum rs_status rs_edges_end(struct rs_edges *r, struct rs_packer *table, struct rs_zip *z, struct rs_err *err)
{
    struct rs_edge_rows *rows = r->rows;
    if (!rows->n) return RS_OK;
    rs_packer_begin(table, rows->n);
    rs_packer_u32(table, "from", rows->from, RS_COLUMN_DELTA);
    rs_packer_u32(table, "to", rows->to, RS_COLUMN_DELTA);
    rs_packer_u8(table, "kind", rows->kind);
    RS_ROOM(r->first, r->pieces.n, r->cap_first);
    r->first[r->pieces.n] = rows->from[0];
    rows->n = 0;
    return rs_pieces_add(&r->pieces, z, table, err);
}

/* Packs a full piece. */
struct packing {
    struct rs_edges *r;
    struct rs_packer *table;
    struct rs_zip *z;
};

static enum rs_status put(const struct packing *p, uint32_t from, uint32_t to, enum rs_edge_kind kind,
                          struct rs_err *err)
{
    struct rs_edge_rows *rows = p->r->rows;
    p->r->n++;
    rows->from[rows->n] = from;
    rows->to[rows->n] = to;
    rows->kind[rows->n++] = (uint8_t)kind;
    return rows->n < RS_PIECE_ROWS ? RS_OK : rs_edges_end(p->r, p->table, p->z, err);
}

/* ---- one process ---- */

static void make_room(struct rs_edges *r, uint32_t n)
{
    if (n < r->room) return;
    free(r->place);
    free(r->children);
    r->room = (size_t)n + n / 4 + 2;
    r->place = rs_alloc(r->room * sizeof *r->place);
    r->children = rs_alloc(r->room * sizeof *r->children);
}

static bool is_here(const struct rs_bars *b, uint32_t bar)
{
    return bar >= b->first && bar - b->first < b->n;
}

static enum rs_status check(const struct rs_bars *b, struct rs_err *err)
{
    bool fine = true;
    for (uint32_t i = 0; i < b->n; i++) fine &= b->parent[i] == RS_BAR_NONE || is_here(b, b->parent[i]);
    for (uint32_t i = 0; i < b->nedges; i++) fine &= is_here(b, b->edges[i].from);
    return fine ? RS_OK : rs_fail(err, RS_FAILED, "internal error: the parent of a bar is in another process");
}

/* Sorts children by parent: place[i] .. place[i + 1] are those of bar i, by number. */
static void sort_children(struct rs_edges *r, const struct rs_bars *b)
{
    memset(r->place, 0, ((size_t)b->n + 1) * sizeof *r->place);
    for (uint32_t i = 0; i < b->n; i++)
        if (b->parent[i] != RS_BAR_NONE) r->place[b->parent[i] - b->first]++;
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= b->n; i++) {
        uint32_t here = r->place[i];
        r->place[i] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < b->n; i++)
        if (b->parent[i] != RS_BAR_NONE) r->children[r->place[b->parent[i] - b->first]++] = b->first + i;
    /* Each position is now where the next begins: back by one. */
    memmove(r->place + 1, r->place, (size_t)b->n * sizeof *r->place);
    r->place[0] = 0;
}

enum rs_status rs_edges_process(struct rs_edges *r, const struct rs_bars *b, struct rs_packer *table, struct rs_zip *z,
                                struct rs_err *err)
{
    const struct packing p = {r, table, z};
    make_room(r, b->n);
    RS_TRY(check(b, err));
    sort_children(r, b);
    for (uint32_t i = 0, e = 0; i < b->n; i++) {
        uint32_t from = b->first + i;
        for (uint32_t c = r->place[i]; c < r->place[i + 1]; c++) {
            for (; e < b->nedges && b->edges[e].from == from && b->edges[e].to < r->children[c]; e++)
                RS_TRY(put(&p, from, b->edges[e].to, RS_EDGE_LAUNCH, err));
            RS_TRY(put(&p, from, r->children[c], RS_EDGE_CHILD, err));
        }
        for (; e < b->nedges && b->edges[e].from == from; e++)
            RS_TRY(put(&p, from, b->edges[e].to, RS_EDGE_LAUNCH, err));
    }
    return RS_OK;
}

void rs_edges_index(const struct rs_edges *r, struct rs_packer *table)
{
    rs_packer_begin(table, r->pieces.n);
    rs_packer_i64(table, "first", r->first, 0, RS_COLUMN_PLANES);
    rs_pieces_columns(&r->pieces, table);
}

void rs_edges_free(struct rs_edges *r)
{
    rs_pieces_free(&r->pieces);
    free(r->rows);
    free(r->place);
    free(r->children);
    free(r->first);
    *r = (struct rs_edges){0};
}

#include "bundle/relations.h"

#include <stdlib.h>
#include <string.h>

#include "base/room.h"

enum rs_status rs_edges_open(struct rs_edges *r, const char *folder, struct rs_err *err)
{
    *r = (struct rs_edges){0};
    RS_TRY(rs_spool_open(&r->spool, folder, err));
    return rs_pieces_open(&r->pieces, folder, err);
}

static enum rs_status put(struct rs_edges *r, uint32_t from, uint32_t to, uint32_t kind, struct rs_err *err)
{
    r->n++;
    return rs_spool_write(&r->spool, &(struct rs_edge){from, to, kind}, sizeof(struct rs_edge), err);
}

static enum rs_status put_stray(struct rs_edges *r, uint32_t from, uint32_t to, uint32_t kind, struct rs_err *err)
{
    RS_ROOM(r->strays, r->nstrays, r->cap_strays, err);
    r->strays[r->nstrays++] = (struct rs_edge){from, to, kind};
    return RS_OK;
}

static bool is_here(const struct rs_bars *b, uint32_t bar)
{
    return bar >= b->first && bar - b->first < b->n;
}

static enum rs_status make_room(struct rs_edges *r, uint32_t n, struct rs_err *err)
{
    if (n < r->room) return RS_OK;
    free(r->place);
    free(r->children);
    r->room = (size_t)n + n / 4 + 2;
    r->place = malloc(r->room * sizeof *r->place);
    r->children = malloc(r->room * sizeof *r->children);
    if (r->place && r->children) return RS_OK;
    r->room = 0;
    return rs_fail(err, RS_NO_MEMORY, "out of memory");
}

/* Sorts children by parent: place[i] .. place[i + 1] are those of bar i, in the order of their numbers. */
static enum rs_status sort_children(struct rs_edges *r, const struct rs_bars *b, struct rs_err *err)
{
    memset(r->place, 0, ((size_t)b->n + 1) * sizeof *r->place);
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t parent = b->parent[i];
        if (parent == RS_BAR_NONE) continue;
        if (is_here(b, parent))
            r->place[parent - b->first]++;
        else
            RS_TRY(put_stray(r, parent, b->first + i, RS_EDGE_CHILD, err));
    }
    uint32_t sum = 0;
    for (uint32_t i = 0; i <= b->n; i++) {
        uint32_t here = r->place[i];
        r->place[i] = sum;
        sum += here;
    }
    for (uint32_t i = 0; i < b->n; i++)
        if (b->parent[i] != RS_BAR_NONE && is_here(b, b->parent[i]))
            r->children[r->place[b->parent[i] - b->first]++] = b->first + i;
    /* Each place is now where the next begins: back by one. */
    memmove(r->place + 1, r->place, (size_t)b->n * sizeof *r->place);
    r->place[0] = 0;
    return RS_OK;
}

enum rs_status rs_edges_process(struct rs_edges *r, const struct rs_bars *b, struct rs_err *err)
{
    RS_TRY(make_room(r, b->n, err));
    RS_TRY(sort_children(r, b, err));
    uint32_t e = 0;
    for (; e < b->nedges && b->edges[e].from < b->first; e++)
        RS_TRY(put_stray(r, b->edges[e].from, b->edges[e].to, RS_EDGE_LAUNCH, err));
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t from = b->first + i;
        for (uint32_t c = r->place[i]; c < r->place[i + 1]; c++) {
            for (; e < b->nedges && b->edges[e].from == from && b->edges[e].to < r->children[c]; e++)
                RS_TRY(put(r, from, b->edges[e].to, RS_EDGE_LAUNCH, err));
            RS_TRY(put(r, from, r->children[c], RS_EDGE_CHILD, err));
        }
        for (; e < b->nedges && b->edges[e].from == from; e++)
            RS_TRY(put(r, from, b->edges[e].to, RS_EDGE_LAUNCH, err));
    }
    for (; e < b->nedges; e++) RS_TRY(put_stray(r, b->edges[e].from, b->edges[e].to, RS_EDGE_LAUNCH, err));
    return RS_OK;
}

static int by_from(const void *a, const void *b)
{
    const struct rs_edge *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    return x->kind < y->kind ? -1 : x->kind > y->kind;
}

struct batch {
    uint32_t from[RS_PIECE_ROWS], to[RS_PIECE_ROWS];
    uint8_t kind[RS_PIECE_ROWS];
    uint32_t n;
};

static enum rs_status flush(struct rs_edges *r, struct batch *b, struct rs_packer *table, struct rs_zip *z,
                            struct rs_err *err)
{
    if (!b->n) return RS_OK;
    rs_packer_begin(table, b->n);
    rs_packer_u32(table, "from", b->from, RS_COLUMN_DELTA);
    rs_packer_u32(table, "to", b->to, RS_COLUMN_DELTA);
    rs_packer_u8(table, "kind", b->kind);
    RS_ROOM(r->first, r->pieces.n, r->cap_first, err);
    r->first[r->pieces.n] = b->from[0];
    b->n = 0;
    return rs_pieces_add(&r->pieces, z, table, err);
}

static enum rs_status merge(struct rs_edges *r, struct batch *b, struct rs_packer *table, struct rs_zip *z,
                            struct rs_err *err)
{
    struct rs_edge next = {0};
    uint64_t left = r->n;
    uint32_t stray = 0;
    RS_TRY(rs_spool_rewind(&r->spool, err));
    if (left) RS_TRY(rs_spool_read(&r->spool, &next, sizeof next, err));
    while (left || stray < r->nstrays) {
        struct rs_edge it;
        if (!left || (stray < r->nstrays && by_from(&r->strays[stray], &next) < 0)) {
            it = r->strays[stray++];
        } else {
            it = next;
            if (--left) RS_TRY(rs_spool_read(&r->spool, &next, sizeof next, err));
        }
        b->from[b->n] = it.from;
        b->to[b->n] = it.to;
        b->kind[b->n++] = (uint8_t)it.kind;
        if (b->n == RS_PIECE_ROWS) RS_TRY(flush(r, b, table, z, err));
    }
    return flush(r, b, table, z, err);
}

enum rs_status rs_edges_pack(struct rs_edges *r, struct rs_packer *table, struct rs_zip *z, struct rs_err *err)
{
    struct batch *b = malloc(sizeof *b);
    if (!b) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    b->n = 0;
    if (r->nstrays) qsort(r->strays, r->nstrays, sizeof *r->strays, by_from);
    enum rs_status status = merge(r, b, table, z, err);
    free(b);
    return status;
}

void rs_edges_index(const struct rs_edges *r, struct rs_packer *table)
{
    rs_packer_begin(table, r->pieces.n);
    rs_packer_i64(table, "first", r->first, 0, RS_COLUMN_PLANES);
    rs_pieces_columns(&r->pieces, table);
}

void rs_edges_free(struct rs_edges *r)
{
    rs_spool_close(&r->spool);
    rs_pieces_free(&r->pieces);
    free(r->strays);
    free(r->place);
    free(r->children);
    free(r->first);
    *r = (struct rs_edges){0};
}

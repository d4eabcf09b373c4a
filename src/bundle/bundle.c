#include "bundle/bundle.h"

#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "bundle/blocks.h"
#include "bundle/meta.h"
#include "bundle/operations.h"
#include "bundle/overview.h"
#include "bundle/places.h"
#include "bundle/relations.h"

struct writer {
    struct rs_timeline *t;
    struct rs_zip zip;
    struct rs_packer table;
    struct rs_bars bars; /* of the process at hand */
    struct rs_blocks blocks;
    struct rs_overviews overview;
    struct rs_edges relations;
    struct rs_operations operations;
    struct rs_lane_list places;
    struct rs_container container;
};

static enum rs_status open_all(struct writer *w, double span, const struct rs_bundle_place *place, struct rs_err *err)
{
    RS_TRY(rs_zip_init(&w->zip, err));
    RS_TRY(rs_blocks_open(&w->blocks, place->folder, err));
    RS_TRY(rs_overviews_open(&w->overview, span, place->folder, err));
    RS_TRY(rs_edges_open(&w->relations, place->folder, err));
    return rs_operations_open(&w->operations, w->t, place->folder, err);
}

static void free_all(struct writer *w)
{
    rs_bars_free(&w->bars);
    rs_packer_free(&w->table);
    rs_blocks_free(&w->blocks);
    rs_overviews_free(&w->overview);
    rs_edges_free(&w->relations);
    rs_operations_free(&w->operations);
    rs_lane_list_free(&w->places);
    rs_zip_free(&w->zip);
}

/* ---- process by process ---- */

static enum rs_status add_process(struct writer *w, uint32_t i, uint64_t *bars, struct rs_err *err)
{
    struct rs_bars *b = &w->bars;
    RS_TRY(rs_timeline_process(w->t, i, (uint32_t)*bars, b, err));
    *bars += b->n;
    if (*bars >= RS_BAR_NONE)
        return rs_fail(err, RS_BAD_INPUT,
                       "more than four billion bars: draw less of it (--rank, --from, --to, --level ops)");
    for (uint32_t k = 0; k < b->nlanes; k++) {
        RS_TRY(rs_blocks_lane(&w->blocks, b, &b->lanes[k], w->places.n, &w->t->kinds, &w->table, &w->zip, err));
        RS_TRY(rs_overviews_lane(&w->overview, b, &b->lanes[k], err));
        RS_TRY(rs_lane_list_add(&w->places, &b->lanes[k], err));
    }
    return rs_edges_process(&w->relations, b, &w->table, &w->zip, err);
}

static enum rs_status add_processes(struct writer *w, const struct rs_bundle_place *place, rs_bundle_progress progress,
                                    struct rs_bundle_sizes *sizes, struct rs_err *err)
{
    for (uint32_t i = 0; i < w->t->nprocs; i++) {
        RS_TRY(add_process(w, i, &sizes->bars, err));
        sizes->bytes = w->blocks.pieces.spool.bytes; /* most of it */
        if (place->most && sizes->bytes > place->most)
            return rs_fail(err, RS_BAD_INPUT, "the bundle would be larger than %llu bytes",
                           (unsigned long long)place->most);
        if (progress) progress(i + 1, w->t->nprocs);
    }
    rs_bars_free(&w->bars); /* the largest of all, and done with */
    w->bars = (struct rs_bars){0};
    return RS_OK;
}

/* ---- the sections ---- */

static enum rs_status write_strings(struct writer *w, struct rs_err *err)
{
    const struct rs_texts *texts = &w->t->texts;
    struct rs_strbuf all = {0};
    uint32_t n = texts->n ? texts->n : 1; /* string 0 is there in any case */
    int64_t *end = calloc(n, sizeof *end);
    if (!end) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 1; i < n; i++) {
        rs_strbuf_add(&all, texts->rows[i].text, texts->rows[i].n);
        end[i] = (int64_t)all.len;
    }
    rs_packer_begin(&w->table, n);
    rs_packer_i64(&w->table, "end", end, 0, RS_COLUMN_DELTA);
    free(end);
    enum rs_status status = rs_strbuf_check(&all, err);
    if (status == RS_OK) status = rs_container_table(&w->container, &w->zip, "strings", &w->table, err);
    if (status == RS_OK)
        status = rs_container_bytes(&w->container, &w->zip, "strtext", rs_strbuf_borrow(&all), all.len, err);
    rs_strbuf_free(&all);
    return status;
}

static enum rs_status write_meta(struct writer *w, const struct rs_bundle_texts *texts, struct rs_err *err)
{
    struct rs_strbuf meta = {0};
    enum rs_status status = rs_meta_write(&meta, w->t, texts, err);
    if (status == RS_OK)
        status = rs_container_bytes(&w->container, &w->zip, "meta", rs_strbuf_borrow(&meta), meta.len, err);
    rs_strbuf_free(&meta);
    return status;
}

/* What the page holds in memory: small, or needed for the first picture. */
static enum rs_status write_tables(struct writer *w, const struct rs_bundle_texts *texts, struct rs_err *err)
{
    struct rs_container *c = &w->container;
    struct rs_packer *t = &w->table;
    RS_TRY(write_meta(w, texts, err));
    RS_TRY(rs_lane_list_groups(&w->places, w->t, t, err));
    RS_TRY(rs_container_table(c, &w->zip, "groups", t, err));
    rs_lane_list_lanes(&w->places, t);
    RS_TRY(rs_container_table(c, &w->zip, "lanes", t, err));
    RS_TRY(rs_operations_members(&w->operations, t, err));
    RS_TRY(rs_container_table(c, &w->zip, "members", t, err));
    RS_TRY(rs_lane_list_flags(w->t, t, err));
    RS_TRY(rs_container_table(c, &w->zip, "flags", t, err));
    RS_TRY(rs_operations_table(&w->operations, t, err));
    RS_TRY(rs_container_table(c, &w->zip, "ops", t, err));
    RS_TRY(write_strings(w, err)); /* those of the operations are in now */
    rs_blocks_index(&w->blocks, t);
    RS_TRY(rs_container_table(c, &w->zip, "blocks", t, err));
    rs_packer_begin(t, w->overview.pieces.n);
    rs_pieces_columns(&w->overview.pieces, t);
    RS_TRY(rs_container_table(c, &w->zip, "overidx", t, err));
    rs_operations_index(&w->operations, t);
    RS_TRY(rs_container_table(c, &w->zip, "partidx", t, err));
    rs_edges_index(&w->relations, t);
    return rs_container_table(c, &w->zip, "edgeidx", t, err);
}

static enum rs_status write_all(struct writer *w, double span, const struct rs_bundle_texts *texts,
                                const struct rs_bundle_place *place, struct rs_bundle_sizes *sizes, struct rs_err *err)
{
    struct rs_container *c = &w->container;
    uint32_t buckets;
    RS_TRY(rs_overviews_pack(&w->overview, &w->table, &w->zip, &buckets, err));
    RS_TRY(rs_operations_pack(&w->operations, &w->table, &w->zip, err));
    RS_TRY(rs_edges_end(&w->relations, &w->table, &w->zip, err));
    RS_TRY(rs_container_begin(c, place->fd, place->name, err));
    RS_TRY(write_tables(w, texts, err));
    RS_TRY(rs_container_pieces(c, "overview", &w->overview.pieces, err));
    sizes->first_bytes = c->at;
    RS_TRY(rs_container_pieces(c, "parts", &w->operations.pieces, err));
    RS_TRY(rs_container_pieces(c, "edges", &w->relations.pieces, err));
    RS_TRY(rs_container_pieces(c, "bars", &w->blocks.pieces, err));
    sizes->bytes = c->at;
    sizes->operations = w->t->nops;
    sizes->parts = w->operations.parts;
    sizes->relations = w->relations.n;
    return rs_container_end(c, span, buckets, err);
}

enum rs_status rs_bundle_write(struct rs_timeline *t, const struct rs_bundle_texts *texts,
                               const struct rs_bundle_place *place, rs_bundle_progress progress,
                               struct rs_bundle_sizes *sizes, struct rs_err *err)
{
    *sizes = (struct rs_bundle_sizes){0};
    struct writer *w = calloc(1, sizeof *w); /* large: not for the stack */
    if (!w) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    w->t = t;
    double span = t->span > 0 ? (double)t->span : 1; /* a moment has no buckets */
    enum rs_status status = open_all(w, span, place, err);
    if (status == RS_OK) status = add_processes(w, place, progress, sizes, err);
    if (status == RS_OK) status = write_all(w, span, texts, place, sizes, err);
    free_all(w);
    free(w);
    return status;
}

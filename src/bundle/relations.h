/* Relations between bars: sections "edgeidx" and "edges". From a parent to its children (the reverse is the column
 * `parent` of a bar), and from a launch to what it launched.
 *
 * A relation is inside one process (timeline/bars.h), and processes are in the order of their bars: those of each are
 * sorted, and packed after the previous ones. Owned by the caller until rs_edges_free(); one thread at a time. */
#ifndef RS_BUNDLE_RELATIONS_H
#define RS_BUNDLE_RELATIONS_H

#include "bundle/container.h"
#include "timeline/bars.h"

enum rs_edge_kind { RS_EDGE_CHILD, RS_EDGE_LAUNCH };
enum { RS_PIECE_ROWS = 65536 }; /* of long tables: edges, parts */

/* Rows of the next piece. */
struct rs_edge_rows {
    uint32_t from[RS_PIECE_ROWS], to[RS_PIECE_ROWS]; /* bars */
    uint8_t kind[RS_PIECE_ROWS]; /* enum rs_edge_kind */
    uint32_t n;
};

struct rs_edges {
    uint64_t n; /* all so far */
    struct rs_edge_rows *rows;
    uint32_t *place, *children; /* by bar of the current process: its first child; and the children */
    size_t room;
    struct rs_pieces pieces;
    int64_t *first; /* by piece: its first `from` */
    uint32_t cap_first;
};

enum rs_status rs_edges_open(struct rs_edges *r, const char *folder, struct rs_err *err);
/* The relations of one process; `table` is used for them. */
enum rs_status rs_edges_process(struct rs_edges *r, const struct rs_bars *bars, struct rs_packer *table,
                                struct rs_zip *z, struct rs_err *err);
/* After the last process: packs the rest. */
enum rs_status rs_edges_end(struct rs_edges *r, struct rs_packer *table, struct rs_zip *z, struct rs_err *err);
/* The table "edgeidx". */
void rs_edges_index(const struct rs_edges *r, struct rs_packer *table);
void rs_edges_free(struct rs_edges *r);

#endif

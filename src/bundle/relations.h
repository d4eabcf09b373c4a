/* Relations between bars: sections "edgeidx" and "edges". From a parent to its children (the way back is the column
 * `parent` of a bar), and from a launch to what it launched.
 *
 * Processes come one after the other. A relation is nearly always inside one, so each process's are sorted and spooled;
 * the few that begin in another one (PXN) are held in memory and merged in when all is packed. Owned by the caller
 * until rs_edges_free(); one thread at a time. */
#ifndef RS_BUNDLE_RELATIONS_H
#define RS_BUNDLE_RELATIONS_H

#include "bundle/container.h"
#include "timeline/bars.h"

enum rs_edge_kind { RS_EDGE_CHILD, RS_EDGE_LAUNCH };
enum { RS_PIECE_ROWS = 65536 }; /* of long tables: edges, parts */

struct rs_edge {
    uint32_t from, to; /* bars */
    uint32_t kind; /* enum rs_edge_kind */
};

struct rs_edges {
    struct rs_spool spool;
    uint64_t n; /* spooled */
    struct rs_edge *strays; /* that begin in another process than they end in */
    uint32_t nstrays, cap_strays;
    uint32_t *place, *children; /* by bar of the process at hand: where its children begin; and they */
    size_t room;
    struct rs_pieces pieces;
    int64_t *first; /* by piece: its first `from` */
    uint32_t cap_first;
};

enum rs_status rs_edges_open(struct rs_edges *r, const char *folder, struct rs_err *err);
enum rs_status rs_edges_process(struct rs_edges *r, const struct rs_bars *bars, struct rs_err *err);
/* When all processes are in. */
enum rs_status rs_edges_pack(struct rs_edges *r, struct rs_packer *table, struct rs_zip *z, struct rs_err *err);
/* The table "edgeidx". */
void rs_edges_index(const struct rs_edges *r, struct rs_packer *table);
void rs_edges_free(struct rs_edges *r);

#endif

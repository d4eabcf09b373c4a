/* Bars of lanes, in blocks of at most RS_BLOCK_BARS, each a table of its own: sections "blocks" and "bars".
 *
 * Lanes come one after the other. What no bar of a block has takes no column. Owned by the caller until
 * rs_blocks_free(); one thread at a time. */
#ifndef RS_BUNDLE_BLOCKS_H
#define RS_BUNDLE_BLOCKS_H

#include "bundle/container.h"
#include "timeline/bars.h"

enum {
    RS_BLOCK_BARS = 16384, /* unpacked in about a millisecond: several fit into a frame */
    RS_BLOCK_FEW = 1024, /* that end a block before 2^32 ns do: starts in it need 4 bytes and not 8 */
};

struct rs_blocks {
    struct rs_pieces pieces;
    /* By bar of the block: the argument at hand, and whether it is a number in hex. */
    int64_t values[RS_BLOCK_BARS];
    bool hex[RS_BLOCK_BARS];
    uint32_t n, cap; /* of the columns below: the index */
    uint32_t *lane, *first, *bars;
    int64_t *from, *to;
};

enum rs_status rs_blocks_open(struct rs_blocks *b, const char *folder, struct rs_err *err);
/* `number` is the lane's in the whole bundle. */
enum rs_status rs_blocks_lane(struct rs_blocks *b, const struct rs_bars *bars, const struct rs_bar_lane *lane,
                              uint32_t number, const struct rs_kinds *kinds, struct rs_packer *table, struct rs_zip *z,
                              struct rs_err *err);
/* The table "blocks". */
void rs_blocks_index(const struct rs_blocks *b, struct rs_packer *table);
void rs_blocks_free(struct rs_blocks *b);

#endif

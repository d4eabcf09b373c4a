/* Bars of lanes, in blocks of at most RS_BLOCK_BARS, each a separate table: sections "blocks" and "bars".
 *
 * Lanes are consecutive. A column that no bar of a block has is omitted. Owned by the caller until rs_blocks_free();
 * one thread at a time. */
#ifndef RS_BUNDLE_BLOCKS_H
#define RS_BUNDLE_BLOCKS_H

#include "bundle/container.h"
#include "timeline/timeline.h"

enum {
    RS_BLOCK_BARS = 16384, /* unpacked in about a millisecond: several per frame */
    RS_BLOCK_FEW = 1024, /* minimum for ending a block before 2^32 ns do: its starts need 4 bytes instead of 8 */
};

struct rs_blocks {
    struct rs_pieces pieces;
    /* By bar of the block: the current argument, and whether it is a hex number. */
    int64_t values[RS_BLOCK_BARS];
    bool hex[RS_BLOCK_BARS];
    /* Of the current process: */
    const struct rs_part_buffers *buffers; /* by part; NULL: none */
    uint32_t *part_of_bar; /* RS_NONE: none */
    uint32_t n, cap; /* of the columns below: the index */
    uint32_t *lane, *first, *bars;
    int64_t *from, *to;
};

enum rs_status rs_blocks_open(struct rs_blocks *b, const char *folder, struct rs_err *err);
/* The labels of arguments that only operations have, and only in a bundle: columns a7 to a9. */
enum { RS_BUFFER_ARGS = 3 };
extern const struct rs_event_arg rs_buffer_args[RS_BUFFER_ARGS];
/* The lanes that follow are of these bars. */
void rs_blocks_process(struct rs_blocks *b, const struct rs_timeline *t, const struct rs_bars *bars);
/* `number` is the lane's in the whole bundle. */
enum rs_status rs_blocks_lane(struct rs_blocks *b, const struct rs_bars *bars, const struct rs_bar_lane *lane,
                              uint32_t number, const struct rs_kinds *kinds, struct rs_packer *table, struct rs_zip *z,
                              struct rs_err *err);
/* The table "blocks". */
void rs_blocks_index(const struct rs_blocks *b, struct rs_packer *table);
void rs_blocks_free(struct rs_blocks *b);

#endif

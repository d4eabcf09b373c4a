/* Each lane in a few thousand equal parts of the whole time: sections "overidx" and "overview", of which the first
 * picture is painted.
 *
 * How many buckets a lane gets depends on how many lanes there are, which is known at the end: lanes are spooled in as
 * many as there could be, and halved when they are packed. Owned by the caller until rs_overviews_free(); one thread at
 * a time. */
#ifndef RS_BUNDLE_OVERVIEW_H
#define RS_BUNDLE_OVERVIEW_H

#include "bundle/container.h"
#include "timeline/bars.h"

enum {
    RS_OVERVIEW_LANES = 64, /* in a piece */
    RS_OVERVIEW_MOST = 4096, /* buckets of a lane */
    RS_OVERVIEW_LEAST = 64,
    RS_OVERVIEW_ALL = 16 << 20, /* buckets of all lanes */
};

struct rs_overviews {
    struct rs_spool lanes; /* each: busy, kind, flags, most; a byte a bucket */
    struct rs_pieces pieces;
    double span;
    uint32_t n, cap; /* lanes so far */
    uint16_t *buckets; /* by lane: in how many it was spooled */
    uint32_t now; /* and the next one will be */
    double *time, *most; /* of the lane at hand, by bucket: ns covered; by the bar that gives the kind */
    uint8_t *bytes; /* busy, kind, flags, most of the lane at hand */
    uint8_t *piece; /* busy, kind, flags of RS_OVERVIEW_LANES lanes */
};

enum rs_status rs_overviews_open(struct rs_overviews *o, double span, const char *folder, struct rs_err *err);
enum rs_status rs_overviews_lane(struct rs_overviews *o, const struct rs_bars *bars, const struct rs_bar_lane *lane,
                                 struct rs_err *err);
/* When all lanes are in: packs them. Returns the buckets of a lane in *buckets. */
enum rs_status rs_overviews_pack(struct rs_overviews *o, struct rs_packer *table, struct rs_zip *z, uint32_t *buckets,
                                 struct rs_err *err);
void rs_overviews_free(struct rs_overviews *o);

#endif

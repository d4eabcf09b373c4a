/* Each lane in a few thousand equal buckets of the whole time: sections "overidx" and "overview", for the first
 * picture.
 *
 * The number of buckets per lane depends on the number of lanes, which is known at the end: lanes are spooled with the
 * maximum, and halved when they are packed. Owned by the caller until rs_overviews_free(); one thread at a time. */
#ifndef RS_BUNDLE_OVERVIEW_H
#define RS_BUNDLE_OVERVIEW_H

#include "bundle/container.h"
#include "timeline/bars.h"

enum {
    RS_OVERVIEW_LANES = 64, /* per piece */
    RS_OVERVIEW_MOST = 4096, /* buckets per lane */
    RS_OVERVIEW_LEAST = 64,
    RS_OVERVIEW_ALL = 16 << 20, /* buckets over all lanes */
};

struct rs_overviews {
    struct rs_spool lanes; /* each: busy, kind, flags, most; one byte per bucket */
    struct rs_pieces pieces;
    double span;
    uint32_t n, cap; /* lanes so far */
    uint16_t *buckets; /* by lane: how many were spooled */
    uint32_t now; /* for the next one */
    double *time, *most; /* of the current lane, by bucket: ns covered; by the bar that determines the kind */
    uint8_t *bytes; /* busy, kind, flags, most of the current lane */
    uint8_t *piece; /* busy, kind, flags of RS_OVERVIEW_LANES lanes */
};

enum rs_status rs_overviews_open(struct rs_overviews *o, double span, const char *folder, struct rs_err *err);
enum rs_status rs_overviews_lane(struct rs_overviews *o, const struct rs_bars *bars, const struct rs_bar_lane *lane,
                                 struct rs_err *err);
/* After the last lane: packs them. *buckets becomes the number per lane. */
enum rs_status rs_overviews_pack(struct rs_overviews *o, struct rs_packer *table, struct rs_zip *z, uint32_t *buckets,
                                 struct rs_err *err);
void rs_overviews_free(struct rs_overviews *o);

#endif

/* Rows of the timeline as tables: sections "groups", "lanes" and "flags".
 *
 * Lanes are collected while processes are drawn. Owned by the caller until rs_lane_list_free(), which a zeroed struct
 * survives; one thread at a time. */
#ifndef RS_BUNDLE_PLACES_H
#define RS_BUNDLE_PLACES_H

#include "bundle/table.h"
#include "timeline/timeline.h"

struct rs_lane_list {
    uint32_t n, cap; /* lanes */
    uint32_t *group, *sub, *label, *bars;
    uint8_t *row;
};

enum rs_status rs_lane_list_add(struct rs_lane_list *p, const struct rs_bar_lane *lane, struct rs_err *err);
/* The tables of those names. */
enum rs_status rs_lane_list_groups(const struct rs_lane_list *p, const struct rs_timeline *t, struct rs_packer *table,
                                   struct rs_err *err);
void rs_lane_list_lanes(const struct rs_lane_list *p, struct rs_packer *table);
enum rs_status rs_lane_list_flags(const struct rs_timeline *t, struct rs_packer *table, struct rs_err *err);
void rs_lane_list_free(struct rs_lane_list *p);

#endif

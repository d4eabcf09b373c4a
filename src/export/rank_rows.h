/* Rows for tools that have processes and threads: one process per rank, and one for lanes that belong to no rank.
 *
 * A rank of the job is a row. Lanes of a whole process (proxy thread, host threads) are on the row of its rank, or, if it
 * has several ranks or none, on a row of their own. Rows are numbered from 0 in drawing order, not by process ids, which
 * are not unique across hosts. Owned by the caller; only reads the timeline. One thread at a time. */
#ifndef RS_EXPORT_RANK_ROWS_H
#define RS_EXPORT_RANK_ROWS_H

#include "base/strbuf.h"
#include "model/model.h"
#include "timeline/timeline.h"

struct rs_rank_rows {
    uint32_t *groups; /* by row: of the timeline */
    uint32_t n;
    uint32_t *of_group; /* by group of the timeline: row; RS_NONE: a host's */
};

void rs_rank_rows_init(struct rs_rank_rows *r, const struct rs_timeline *t);
void rs_rank_rows_free(struct rs_rank_rows *r);

/* "rank 3 · GPU 3"; borrowed from the timeline. */
const char *rs_rank_row_name(const struct rs_rank_rows *r, const struct rs_timeline *t, uint32_t row);
/* "host n1, pid 4711, clock error 1200 ns, 17 callbacks lost": appended. */
void rs_rank_row_label(const struct rs_rank_rows *r, const struct rs_timeline *t, uint32_t row, struct rs_strbuf *to);

/* The row of a lane; a host has no lanes. */
static inline uint32_t rs_rank_row_of(const struct rs_rank_rows *r, const struct rs_bar_lane *lane)
{
    return r->of_group[lane->group] == RS_NONE ? 0 : r->of_group[lane->group];
}

/* Lanes of a row are in the order of these numbers. `below_comm`: lanes of a communicator are nested below it, so their
 * numbers need not distinguish communicators, and all fit in 31 bits. */
uint64_t rs_rank_lane_order(const struct rs_timeline *t, const struct rs_bar_lane *lane, bool below_comm);
/* What a lane is called below its communicator, rank or process: "proxy operations: receive, channel 0"; appended. */
void rs_rank_lane_name(const struct rs_timeline *t, const struct rs_bar_lane *lane, struct rs_strbuf *to);

#endif

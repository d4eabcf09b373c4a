/* What the analyses look at: the operations of a job by time, and who of its ranks (model.ranks) came when to one.
 *
 * Its operations are those that count (join/totals.h), in the order of their latest start, so that what held a rank
 * comes before what it was late for.
 * Borrows the model; owns its tables until rs_view_free(). One thread at a time. */
#ifndef RS_ANALYSE_VIEW_H
#define RS_ANALYSE_VIEW_H

#include "join/waits.h"
#include "model/filter.h"
#include "model/model.h"

/* A rank's part in an operation: of a fan-out, all its sends and receives together. */
struct rs_arrival {
    uint32_t rank_id, member; /* rank_id: row of model.ranks */
    uint32_t part; /* the one that started first */
    int64_t start, end; /* first start; last end, RS_TIME_NONE: not known */
};

struct rs_view {
    const struct rs_model *model;
    uint32_t *ops; /* that count, by time */
    uint32_t nops;
    bool *passes; /* by operation: the filter lets it through */
    struct rs_arrival *arrivals; /* of the operation asked for last; room for the largest */
    uint32_t narrivals;
};

void rs_view_init(struct rs_view *view, const struct rs_model *m, const struct rs_filter *filter);
void rs_view_free(struct rs_view *view);

/* When an operation was: its latest start, else its first, else the first API call; RS_TIME_NONE: not known. */
int64_t rs_op_moment(const struct rs_model *m, uint32_t op);
/* When it was over, at the earliest: its end where that is known, else its moment. */
int64_t rs_op_over(const struct rs_model *m, uint32_t op);

/* Fills view->arrivals with the ranks of an operation, by rank, as far as it is known who they are; starts may be
 * RS_TIME_NONE. */
void rs_view_arrivals(struct rs_view *view, uint32_t op);
/* The same, for comparing. False where it was not compared (rs_op_is_compared()). */
bool rs_view_compare(struct rs_view *view, uint32_t op);

#endif

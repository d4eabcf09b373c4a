/* The input of the analyses: the operations of a job by time, and when each rank (model.ranks) started in one.
 *
 * Its operations are those that count (join/totals.h), in the order of their latest start, so that what held a rank
 * precedes what it was late for. Borrows the model; owns its tables until rs_view_free(). One thread at a time. */
#ifndef RS_ANALYSE_VIEW_H
#define RS_ANALYSE_VIEW_H

#include "join/waits.h"
#include "model/filter.h"
#include "model/model.h"

/* A rank's part in an operation: in a fan-out, all its sends and receives together. */
struct rs_arrival {
    uint32_t rank_id, member; /* rank_id: row of model.ranks */
    uint32_t part; /* the one that started first */
    int64_t start, end; /* first start; last end, RS_TIME_NONE: unknown */
};

struct rs_view {
    const struct rs_model *model;
    uint32_t *ops; /* that count, by time */
    uint32_t nops;
    bool *passes; /* by operation: passes the filter */
    struct rs_arrival *arrivals; /* of the current operation; room for the largest */
    uint32_t narrivals;
};

void rs_view_init(struct rs_view *view, const struct rs_model *m, const struct rs_filter *filter);
void rs_view_free(struct rs_view *view);

/* The time of an operation: its latest start, else its first, else the first API call; RS_TIME_NONE: unknown. */
int64_t rs_op_moment(const struct rs_model *m, uint32_t op);
/* When it was over, at the earliest: its end if known, else its time. */
int64_t rs_op_over(const struct rs_model *m, uint32_t op);

/* Fills view->arrivals with the known ranks of an operation, by rank; starts may be RS_TIME_NONE. */
void rs_view_arrivals(struct rs_view *view, uint32_t op);
/* The same, for comparing. False if it was not compared (rs_op_is_compared()). */
bool rs_view_compare(struct rs_view *view, uint32_t op);

#endif

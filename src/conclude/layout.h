/* The layout of a job: how its ranks are divided into tensor, pipeline, data, expert and context parallel groups.
 *
 * From the names of communicators where a framework gives them, else from their shape and what is done on them. What is
 * ambiguous stays unknown. Owned until rs_layout_free(). One thread at a time. */
#ifndef RS_CONCLUDE_LAYOUT_H
#define RS_CONCLUDE_LAYOUT_H

#include "analyse/view.h"

enum rs_dimension { RS_DIM_TP, RS_DIM_CP, RS_DIM_EP, RS_DIM_PP, RS_DIM_DP, RS_DIMENSIONS };

struct rs_layout {
    uint32_t size[RS_DIMENSIONS]; /* 0: unknown, or the job is not divided so */
    uint32_t *stage; /* by rank_id: its stage of the pipeline, from 0; RS_NONE: unknown. NULL: no pipeline is known */
    uint32_t nranks; /* rows of `stage` */
};

/* A rank's stage of the pipeline, from 0; RS_NONE: unknown, or there is no pipeline. */
static inline uint32_t rs_layout_stage(const struct rs_layout *l, uint32_t rank_id)
{
    return l && l->stage && rank_id < l->nranks ? l->stage[rank_id] : RS_NONE;
}

#endif

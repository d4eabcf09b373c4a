/* The layout of a job: how its ranks are divided into tensor, pipeline, data, expert and context parallel groups.
 *
 * Names of communicators decide where a framework gives them (tp, mesh_dp_shard, TENSOR_MODEL_PARALLEL_GROUP...). Without
 * names:
 *   pp  sends and receives connect the ranks to chains of equal length (closed to rings with traffic both ways if stages
 *       are interleaved)
 *   tp  the innermost groups (consecutive ranks) all-reduce, and strided groups across them exist
 *   dp  those groups; or all ranks, if what they do is what gradients do: the sizes differ and occur once or twice per
 *       step, or two all-gathers come with one reduce-scatter (FSDP), or the parameters were broadcast at the start
 *   ep  many all-to-alls per step, whose sizes change from call to call
 * Everything else is ambiguous and stays unknown; cp without a name always does. A size is known only if the product of
 * tp, pp, dp and cp divides the number of ranks; ep is inside dp. Owned until rs_job_layout_free(). One thread at a time. */
#ifndef RS_CONCLUDE_LAYOUT_H
#define RS_CONCLUDE_LAYOUT_H

#include "analyse/steps.h"
#include "analyse/view.h"

enum rs_dimension { RS_DIM_TP, RS_DIM_PP, RS_DIM_DP, RS_DIM_EP, RS_DIM_CP, RS_DIMENSIONS };

struct rs_job_layout {
    uint32_t size[RS_DIMENSIONS]; /* ranks of a group, 2 or more; 0: unknown, or the job is not divided so */
    uint32_t stride[RS_DIMENSIONS]; /* in ranks of the job, between neighbours in a group; 0: irregular */
    bool named[RS_DIMENSIONS]; /* from names, not from operations */
    uint32_t world; /* ranks of the job */
    uint8_t *of_class; /* by class of communicators: its dimension; RS_DIMENSIONS: none */
    uint32_t nclasses;
    uint32_t *stage; /* by rank_id: its stage of the pipeline, from 0; RS_NONE: unknown. NULL: no pipeline is known */
    uint32_t nranks; /* rows of `stage` */
    char *text; /* "8 ranks = tp 2 × pp 2 × dp 2 (tp: consecutive ranks; pp: stride 2; dp: stride 4), from names"; NULL:
                   nothing is known */
};

/* Of all operations of the view, whatever its filter. `steps` may be NULL: unknown, and with it most of what operations
 * without names could tell. */
void rs_job_layout_find(struct rs_job_layout *l, const struct rs_view *view, const struct rs_steps *steps);
/* The same of a joined model, with the steps of the whole run. */
enum rs_status rs_job_layout_of(struct rs_job_layout *l, const struct rs_model *m, struct rs_err *err);
void rs_job_layout_free(struct rs_job_layout *l);

const char *rs_dimension_name(enum rs_dimension d); /* "tp"; NULL of RS_DIMENSIONS */
/* What it was found by, in JSON: "names", "operations", "names and operations"; NULL: nothing was found. */
const char *rs_job_layout_how(const struct rs_job_layout *l);
/* The dimension of a communicator; RS_DIMENSIONS: none is known. */
enum rs_dimension rs_job_layout_dimension(const struct rs_job_layout *l, const struct rs_model *m, uint32_t comm);
/* A rank's stage of the pipeline, from 0; RS_NONE: unknown, or there is no pipeline. */
static inline uint32_t rs_job_layout_stage(const struct rs_job_layout *l, uint32_t rank_id)
{
    return l && l->stage && rank_id < l->nranks ? l->stage[rank_id] : RS_NONE;
}

#endif

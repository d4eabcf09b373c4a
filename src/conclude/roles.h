/* Roles: ranks that do the same work, and so can be compared with each other ("equals").
 *
 * A rank's work is what it does in each step: the collectives of its communicators (function, size of the communicator,
 * bytes, whether it is the root), and its sends and receives by direction (to and from higher or lower ranks). A
 * collective counts for every member of its communicator, recorded or not, so that a rank that is recorded later than
 * the others keeps its role. Counts are compared per step, by median, with a tolerance: lost records, a step that was
 * cut and a few extra operations do not separate equals.
 *
 * Stages of a pipeline differ even if they do the same operations: models are divided unevenly by design (embedding,
 * loss, layers that do not divide), so a stage that computes longer than the next is not slow. So where the layout is
 * known, only ranks of one stage are equals; in a pipeline without replicas no rank has any.
 *
 * Linear in the operations. Owned until rs_roles_free(). One thread at a time. */
#ifndef RS_CONCLUDE_ROLES_H
#define RS_CONCLUDE_ROLES_H

#include "analyse/steps.h"
#include "analyse/view.h"

struct rs_job_layout;

struct rs_roles {
    uint32_t *of; /* by rank_id: its role, numbered in the order of ranks; RS_NONE: takes part in no operation */
    uint32_t n;
    uint32_t *size; /* ranks of each role */
};

/* Of all operations of the view, whatever its filter. `steps` and `layout` (conclude/layout.h) may be NULL: unknown. */
void rs_roles_find(struct rs_roles *r, const struct rs_view *view, const struct rs_steps *steps,
                   const struct rs_job_layout *layout);
void rs_roles_free(struct rs_roles *r);

/* Whether a rank has more than two peers in a fan-out: an all-to-all, however uneven, a gather or a scatter. Rings and
 * pipelines are not. */
bool rs_fanout_is_wide(const struct rs_model *m, uint32_t op);

#endif

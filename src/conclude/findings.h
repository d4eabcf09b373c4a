/* What a report finds: who is late persistently, beyond chance and against its equals, and what taking that out would
 * save; what is late sporadically; what happened once.
 *
 * Persistent lateness names a rank, a host or a group of ranks, lateness of some steps a rank that has it again and again
 * (conclude/recurrent.h), and only if the replayed run is shorter by RS_FINDING_SHARE of it. Ranks that are late together are one finding: by what they share, if together they explain more
 * than the worst of them alone.
 *
 * Borrows the model, one-offs, links and what-if cases; owns the rest until rs_findings_free(). One thread at a time. */
#ifndef RS_CONCLUDE_FINDINGS_H
#define RS_CONCLUDE_FINDINGS_H

#include "analyse/network.h"
#include "analyse/one_offs.h"
#include "analyse/steps.h"
#include "analyse/stragglers.h"
#include "conclude/compute.h"
#include "conclude/roles.h"
#include "conclude/whatif.h"

#define RS_FINDING_SHARE 0.005 /* of the run: a cure that saves less is not worth a sentence */

enum rs_finding_kind { RS_PERSISTENT, RS_SPORADIC, RS_ONE_OFF };
enum rs_finding_scope { RS_SCOPE_RANK, RS_SCOPE_HOST, RS_SCOPE_LINK, RS_SCOPE_GROUP, RS_SCOPE_RUN };

struct rs_finding {
    enum rs_finding_kind kind;
    enum rs_finding_scope scope;
    char *name; /* "rank 3", "host node1", "ranks 0-3"; as --take-out of `whatif` accepts it */
    uint32_t rank_id, host, peer_id; /* RS_NONE: does not apply */
    uint32_t *ranks; /* rank ids that it is about, ascending */
    uint32_t nranks;
    uint32_t steps, late_steps; /* compared; those in which it was late */
    int64_t late_ns, late_low_ns, late_high_ns; /* per step, with its 95 % interval; RS_TIME_NONE: unknown */
    int64_t cost_ns; /* the upper bound (analyse/stragglers.h); RS_TIME_NONE: unknown */
    int64_t saving_ns, saving_low_ns, saving_high_ns; /* of the replayed run; RS_TIME_NONE: unknown */
    int64_t at_ns; /* when it happened; RS_TIME_NONE: in the whole run */
    double p_value; /* NAN: does not apply */
    char *shared; /* of a group: what its ranks have in common; of sporadic lateness: when, or of whom; NULL */
    const char *
        why; /* "launched late"; of a group, and if sporadic: `shared`; of a one-off: what happened. NULL: unknown. Borrowed from `one_offs` */
    const char *advice; /* NULL: nothing is known that would support one */
    const struct rs_slow_link *slow; /* of a link, and the slowest of its links; else NULL. Borrowed */
    const struct rs_link_row *link;
    const struct rs_compute_row *compute; /* of a rank that is not late, but computes longer: hidden. Borrowed */
    bool named; /* a culprit in the conclusion */
};

/* The rank that takes longest between its operations, in the median step. In a pipeline without replicas that is what is
 * known: the stage that sets the pace, by its share of the model or because it is slow. */
struct rs_pace {
    uint32_t rank_id; /* RS_NONE: unknown, or none by RS_PACE_SHARE */
    int64_t own_ns, others_ns; /* per step: its own, and the median of the others */
};
#define RS_PACE_SHARE 0.05

struct rs_findings {
    struct rs_finding *rows; /* in the order of the conclusion */
    uint32_t n, cap;
    const char *refused; /* why nothing could be replayed; NULL: it could. Of the whatif */
    int64_t
        run_ns; /* from the first step that is looked at to the end: what is too little to be named is a share of it */
    int64_t steps_ns; /* that the shares in sentences are of, as those of `whatif` */
    uint64_t measured, operations; /* of the whatif: in windows of detail, and in all; equal without windows */
    uint32_t steps, compared; /* steps, and ranks that have equals in enough of them */
    bool *is_compared; /* by rank_id; NULL: `compared` is 0 */
    struct rs_pace pace; /* if no rank was compared */
    uint32_t hosts; /* hosts that were compared */
    double seen_ns; /* a delay per step that would have been found in every compared rank; NAN: none would */
};

struct rs_findings_of {
    const struct rs_view *view;
    const struct rs_steps *steps;
    const struct rs_stragglers *stragglers;
    const struct rs_one_offs *one_offs;
    const struct rs_matrix *network;
    const struct rs_compute *compute;
    const struct rs_roles *roles;
    struct rs_whatif *whatif; /* cases of all findings are added */
};

void rs_findings_init(struct rs_findings *f, const struct rs_findings_of *of);
void rs_findings_free(struct rs_findings *f);

const char *rs_finding_kind_name(enum rs_finding_kind kind); /* "one_off" */
const char *rs_finding_scope_name(enum rs_finding_scope scope); /* "rank" */

/* Appends the sentence of a finding. */
void rs_finding_say(struct rs_strbuf *s, const struct rs_findings *f, const struct rs_finding *row,
                    const struct rs_model *m);

#endif

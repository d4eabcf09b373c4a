/* The runs of a bundle: one, or two that are drawn above each other on one axis.
 *
 * Their rows are tables of one bundle, so that the page needs no second of anything: groups, operations, ranks and
 * communicators of the second run are numbered after those of the first, operations of both by time. Made by
 * rs_runs_init() when the timelines are, before any process is drawn. One thread at a time. */
#ifndef RS_BUNDLE_RUNS_H
#define RS_BUNDLE_RUNS_H

#include "timeline/timeline.h"

struct rs_run {
    struct rs_timeline *t;
    int64_t delay; /* ns: all its times are moved by that, >= 0 */
    uint32_t root; /* group of the run itself; RS_NONE: the only run has none */
    uint32_t first_group; /* its groups are numbered from here */
    uint32_t *comm; /* by communicator of the model: its position in meta.comms; RS_NONE: merged into another */
    uint32_t *member; /* by member of the model: its row in "members"; RS_NONE: likewise */
};

struct rs_run_op {
    uint32_t run, op; /* op: of that run's model */
};

struct rs_runs {
    struct rs_run *rows;
    uint32_t n;
    struct rs_run_op *ops; /* of all runs, as timeline.ops are sorted */
    uint32_t nops, nmembers, ngroups;
    uint32_t holder; /* the run that has the texts and kinds of all */
};

/* The operations' numbers in the timelines become those of all runs. `delays`: by run. The last timeline was made
 * beside the one before it. */
void rs_runs_init(struct rs_runs *r, struct rs_timeline *const *timelines, const int64_t *delays, uint32_t n);
void rs_runs_free(struct rs_runs *r);

/* Hands texts and kinds to a run, and returns its timeline. */
struct rs_timeline *rs_runs_hold(struct rs_runs *r, uint32_t run);

/* A time of a run on the axis of the bundle; RS_TIME_NONE: unknown. */
static inline int64_t rs_run_time(const struct rs_run *r, int64_t ns)
{
    return ns == RS_TIME_NONE ? ns : rs_time_minus(ns, r->t->begin) + r->delay;
}
/* The end of all bars, ns. */
int64_t rs_runs_span(const struct rs_runs *r);

#endif

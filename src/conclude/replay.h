/* The recorded run, replayed with other gaps (conclude/graph.h): how long it would have taken.
 *
 * A gap is what a rank did between two operations: compute, launching, or nothing. Replayed unchanged, every time is the
 * recorded one. The order is by starts and ends, not by operations: eager sends in opposite directions make operations
 * depend on each other, but not their parts. Owned until rs_replay_free(). One thread at a time. */
#ifndef RS_CONCLUDE_REPLAY_H
#define RS_CONCLUDE_REPLAY_H

#include "conclude/graph.h"

struct rs_replay {
    int64_t *starts, *ends, *launches; /* of the last replay, by node; launches: where they are known */
    int64_t *ready; /* by operation of the graph: its last start */
    uint32_t *
        order; /* topological: v < nnodes is the start of node v, then the ends, then operations ready, then launches */
    uint32_t norder;
    uint32_t cycles; /* starts that depend on themselves (clock errors): they keep their recorded time */
};
void rs_replay_init(struct rs_replay *r, const struct rs_graph *g);
void rs_replay_free(struct rs_replay *r);

/* Takes take[i] ns out of the gap before node i (NULL: nothing; a gap does not become negative) and cut[i] ns out of its
 * tail (NULL: nothing, likewise). Returns the time from the run's first recorded start to the last end. */
int64_t rs_replay_run(struct rs_replay *r, const struct rs_graph *g, const int64_t *take, const int64_t *cut);

/* The last end of each step, by row of steps.rows; RS_TIME_NONE: no node. */
void rs_replay_step_ends(const struct rs_replay *r, const struct rs_graph *g, int64_t *ends, uint32_t nsteps);

#endif

/* The recorded run, replayed with other gaps (conclude/graph.h): how long it would have taken.
 *
 * A gap is what a rank did between two operations: compute, launching, or nothing. Replayed unchanged, every time is the
 * recorded one. Only reads the graph: any number of threads. */
#ifndef RS_CONCLUDE_REPLAY_H
#define RS_CONCLUDE_REPLAY_H

#include "conclude/graph.h"

/* Times of a replay by node, to be allocated by the caller; `ready` by operation of the graph. */
struct rs_replay {
    int64_t *starts, *ends, *ready;
};
void rs_replay_init(struct rs_replay *r, const struct rs_graph *g);
void rs_replay_free(struct rs_replay *r);

/* Takes take[i] ns out of the gap before node i (NULL: nothing; a gap does not become negative) and cut[i] ns out of its
 * tail (NULL: nothing, likewise). Returns the time from the run's first recorded start to the last end. */
int64_t rs_replay_run(struct rs_replay *r, const struct rs_graph *g, const int64_t *take, const int64_t *cut);

/* The last end of each step, by row of steps.rows; RS_TIME_NONE: no node. */
void rs_replay_step_ends(const struct rs_replay *r, const struct rs_graph *g, int64_t *ends, uint32_t nsteps);

#endif

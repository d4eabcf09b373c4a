/* NCCL's calls by an application thread: groups, collectives, sends and receives, and their API events.
 *
 * An app is the state of one application thread and belongs to it alone; communicators of several devices may be used
 * in one group. A call returns false if the job was aborted: only destroy is possible then. */
#ifndef RS_SIM_GROUP_H
#define RS_SIM_GROUP_H

#include "sim/launch.h"

enum { RS_SIM_MAX_JOINED = 64 };

struct rs_sim_graph;

struct rs_sim_app {
    const struct rs_sim_job *job;
    int rank; /* the first rank that this thread drives */
    int native; /* version of the simulated NCCL */
    uint64_t tag; /* the user's, from version 7 on */
    enum rs_sim_fate fate;
    struct rs_sim_graph *capture; /* launches are added to it instead of the GPU */
    /* the group that is open */
    int depth;
    bool group_begun; /* an operation was added */
    void *group; /* GroupApi handle */
    struct rs_sim_comm *group_comm; /* whose context it was started with */
    struct rs_sim_comm *joined[RS_SIM_MAX_JOINED]; /* in the order of their first operation */
    int njoined;
    struct rs_sim_task *tasks;
    int ntasks, cap;
    /* Kept after stop, as NCCL does up to 2.30. */
    void *coll_api, *p2p_api;
};

/* ---- CUDA graphs ----
 * A graph holds the captured launches. Replaying puts their kernels on the GPU from the application thread; if the
 * launches post to the proxy, a host-function thread reports them, at every replay. That thread belongs to the graph.
 * One application thread owns a graph. */

struct rs_sim_graph *rs_sim_graph_capture(struct rs_sim_app *app);
void rs_sim_graph_end_capture(struct rs_sim_app *app);
bool rs_sim_graph_replay(struct rs_sim_app *app, struct rs_sim_graph *graph);
/* Waits for its host functions first. */
void rs_sim_graph_free(struct rs_sim_graph *graph);

/* ---- groups ---- */

void rs_sim_app_free(struct rs_sim_app *app);

void rs_sim_group_start(struct rs_sim_app *app);
bool rs_sim_group_end(struct rs_sim_app *app);

bool rs_sim_coll(struct rs_sim_app *app, struct rs_sim_comm *comm, enum rs_sim_func func, size_t count,
                 enum rs_sim_dtype dtype, int root);
bool rs_sim_p2p(struct rs_sim_app *app, struct rs_sim_comm *comm, enum rs_sim_func func, int peer, size_t count,
                enum rs_sim_dtype dtype);
/* One call that NCCL turns into sends and receives. `count` elements go to each rank. */
bool rs_sim_alltoall(struct rs_sim_app *app, struct rs_sim_comm *comm, size_t count, enum rs_sim_dtype dtype);
/* A collective by copy engine; needs a communicator within one host and version 6 or newer. */
bool rs_sim_ce_coll(struct rs_sim_app *app, struct rs_sim_comm *comm, enum rs_sim_func func, size_t count,
                    enum rs_sim_dtype dtype);

#endif

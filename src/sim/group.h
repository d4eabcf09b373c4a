/* NCCL's calls as an application thread makes them: groups, collectives, sends and receives, and the API events they
 * make.
 *
 * An app is the state of one application thread and belongs to it alone; communicators of several devices may be used
 * in one group. Calls that return false found the job aborted: nothing more can be done but destroy. */
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
    struct rs_sim_graph *capture; /* launches go there instead of the GPU */
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

void rs_sim_app_free(struct rs_sim_app *app);

/* Ends the process or gives up, if that is this thread's fate: as an application does that has seen an error, first the
 * chosen rank, then, a little later, the others. Called after a launch that will never run. */
void rs_sim_meet_fate(struct rs_sim_app *app);

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

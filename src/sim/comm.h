/* One rank's communicator.
 *
 * Created and destroyed by the rank's application thread (or a transient init thread per rank); its counters belong to
 * the thread that issues work, except `seq`, which host-function threads advance too. All members must call create and
 * destroy: both wait for the others. */
#ifndef RS_SIM_COMM_H
#define RS_SIM_COMM_H

#include "sim/proxy.h"

struct rs_sim_comm {
    const struct rs_sim_job *job;
    const struct rs_sim_comm_def *def;
    int index; /* of def in the plan */
    int rank; /* in this communicator */
    struct rs_sim_gpu *gpu;
    struct rs_sim_plugin *plugin; /* one reference; NULL = no profiler */
    void *ctx;
    struct rs_sim_proxy *proxy;
    _Atomic uint64_t seq[RS_SIM_FUNCS];
    uint64_t next_meet; /* collective kernels launched */
    uint64_t next_op; /* collectives launched */
    uint64_t sends[RS_SIM_MAX_RANKS], recvs[RS_SIM_MAX_RANKS]; /* by peer */
    uint32_t ce_seq;
    uint32_t barriers; /* this member has arrived at */
    bool parting;
};

/* `parent`: for a split that shares the parent's proxy, else NULL. Returns NULL if the job was aborted before all
 * members arrived. */
struct rs_sim_comm *rs_sim_comm_create(const struct rs_sim_job *job, int index, struct rs_sim_gpu *gpu,
                                       struct rs_sim_comm *parent);
/* Announces that this member is done, without waiting for the others; else destroy does. */
void rs_sim_comm_part(struct rs_sim_comm *comm);
/* Waits for all members to do the same, except after an abort. Frees it. NULL is fine. */
void rs_sim_comm_destroy(struct rs_sim_comm *comm);

#endif

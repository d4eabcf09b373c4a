/* Calls into the plugin, with events in the form of its interface version, including what NCCL's shims do to them.
 *
 * Every call that returns is counted. `plugin` may be NULL (no profiler): then nothing happens. Like NCCL, the caller
 * does not clear its variables for handles. Any thread. */
#ifndef RS_SIM_ADAPTER_H
#define RS_SIM_ADAPTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "nccl/abi.h"
#include "sim/loader.h"

/* ---- events, independent of the version: a start fills in what belongs to its type and leaves the rest zero ---- */

/* In the order of NCCL's own numbers, which version 1 of the interface shows. */
enum rs_sim_func {
    RS_SIM_BROADCAST,
    RS_SIM_REDUCE,
    RS_SIM_ALLGATHER,
    RS_SIM_REDUCESCATTER,
    RS_SIM_ALLREDUCE,
    RS_SIM_SENDRECV,
    RS_SIM_SEND,
    RS_SIM_RECV,
    RS_SIM_FN_ALLTOALL, /* newer than version 1 */
    RS_SIM_FUNCS,
};
enum rs_sim_dtype { RS_SIM_INT8 = 0, RS_SIM_FLOAT16 = 6, RS_SIM_FLOAT32 = 7, RS_SIM_BFLOAT16 = 9, RS_SIM_DTYPES };

struct rs_sim_event {
    uint64_t type; /* one bit of enum rs_nccl_type */
    void *parent;
    void *parent_group; /* Coll, P2p: the Group event */
    int rank;
    /* CollApi, P2pApi, Coll, P2p, CeColl */
    enum rs_sim_func func;
    enum rs_sim_dtype dtype;
    size_t count;
    int root, peer;
    void *stream;
    bool captured;
    int depth; /* GroupApi */
    uint64_t tag;
    /* Coll, P2p */
    const char *name;
    uint64_t hash;
    uint64_t seq;
    const void *send_buff;
    void *recv_buff;
    size_t traffic;
    uint8_t nchannels;
    bool small; /* protocol LL, else SIMPLE */
    /* ProxyOp, ProxyStep, KernelCh, KernelPhase */
    pid_t pid;
    uint8_t channel;
    int nsteps, chunk, is_send, step;
    uint64_t ptimer;
    uint8_t phase;
    /* NetPlugin */
    int64_t net_id;
    void *net_data;
    /* CeColl, CeSync, CeBatch */
    uint32_t ce_seq;
    bool complete;
    int nranks, nops;
    size_t bytes;
};

/* Arguments of a state; which of them are passed depends on the state and the version. */
struct rs_sim_args {
    size_t trans;
    int steps;
    int appended;
    void *data;
    uint64_t ptimer;
};

size_t rs_sim_dtype_size(enum rs_sim_dtype t);

/* Whether NCCL makes callbacks of a type with an activation mask: a bit enables its parents too. */
bool rs_sim_wants(int mask, uint64_t type);

/* ---- calls ---- */

struct rs_sim_init {
    const char *name; /* NULL = none */
    uint64_t hash;
    int nnodes, nranks, rank;
};

void rs_sim_call_init(struct rs_sim_plugin *plugin, const struct rs_sim_init *init, void **ctx);
void rs_sim_call_finalize(struct rs_sim_plugin *plugin, void *ctx);
void rs_sim_call_start(struct rs_sim_plugin *plugin, void *ctx, void **handle, const struct rs_sim_event *ev);
/* Not for handle NULL, except from network plugins, which do not check. */
void rs_sim_call_stop(struct rs_sim_plugin *plugin, void *handle);
/* `args` NULL = NCCL passes none in this state. */
void rs_sim_call_record(struct rs_sim_plugin *plugin, void *handle, int st, const struct rs_sim_args *args);

/* stop and record as in NCCL's core: only if there is a handle. */
void rs_sim_stop_if(struct rs_sim_plugin *plugin, void *handle);
void rs_sim_record_if(struct rs_sim_plugin *plugin, void *handle, int st, const struct rs_sim_args *args);

#endif

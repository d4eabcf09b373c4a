/* The callbacks of group calls on a program's thread, in NCCL's order.
 *
 * Each function generates one call of one process, beginning when the program can make it (rs_gen_process.cpu, bounded
 * by how far it may be ahead of its GPU), and stores for each participating member of the communicator: when its kernel
 * was launched (job->kl), when its proxy got the work (job->post), and the handle of its Coll (job->handle). All times
 * are true ns. One thread. */
#ifndef RS_GEN_CALL_H
#define RS_GEN_CALL_H

#include "gen/job.h"

struct rs_gen_coll {
    struct rs_gen_comm *comm;
    int func, root;
    uint64_t count; /* elements, as passed by the user */
    uint64_t bytes; /* of nccl-tests: all ranks' together for AllGather and ReduceScatter */
    uint64_t seq, op;
    uint32_t buffer; /* number of the program's buffer: determines addresses */
    enum rs_gen_stream stream;
};

/* A send or receive of a group call. */
struct rs_gen_task {
    uint64_t op; /* of its pair */
    uint64_t count; /* elements of 2 bytes */
    int peer;
    bool send;
};

/* Members first to first + n - 1, all of one process. */
void rs_gen_call_coll(struct rs_gen_job *job, const struct rs_gen_coll *coll, int first, int n);

/* The same under capture: handles of the CollApi go to api[member], and nothing runs. `report`: the Coll is sent
 * too. */
void rs_gen_call_capture(struct rs_gen_job *job, const struct rs_gen_coll *coll, int first, int n, uint64_t *api,
                         bool report);
/* A replay: on CUDA's thread, once the GPU reaches it. */
void rs_gen_call_replay(struct rs_gen_job *job, const struct rs_gen_coll *coll, int member, uint64_t api);

/* One member's tasks; handles of the P2p by task. `order` lists them as NCCL plans them. */
void rs_gen_call_p2p(struct rs_gen_job *job, struct rs_gen_comm *comm, int member, const struct rs_gen_task *tasks,
                     int n, const int *order, int depth, enum rs_gen_stream stream, uint64_t *handles);

#endif

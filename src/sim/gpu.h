/* A simulated GPU: one stream of kernels that run in order, take time, and wait for their peers on other GPUs.
 *
 * One thread per GPU runs its kernels. Start and end are model times: a kernel starts when it was launched, its stream
 * is free, the compute work before it is over and its host node (if any) has run; it ends when every participating rank
 * has started, the transfer time has passed, and the network part of each is over. The thread wakes up at these times
 * or a little later, so what others see is never earlier than the model. Launch from one thread at a time. */
#ifndef RS_SIM_GPU_H
#define RS_SIM_GPU_H

#include <pthread.h>

#include "sim/shared.h"

/* One send or receive inside a kernel. */
struct rs_sim_transfer {
    int peer; /* rank in the communicator */
    bool send;
    uint64_t index; /* number of earlier sends to that peer, or from it */
    uint64_t ns;
};

struct rs_sim_kernel {
    _Atomic int refs;
    struct rs_sim_kernel *next; /* in the GPU's queue */
    uint64_t work; /* ordinal on its GPU, set by the launch */
    int comm, rank;
    bool coll; /* all ranks take part, else the pairs in `transfers` */
    uint64_t meet; /* ordinal of this kernel among the collective kernels of the communicator */
    uint64_t transfer_ns; /* of a collective */
    bool never; /* it will not start: the process dies or aborts first */
    uint64_t launch_ns, not_before_ns;
    uint64_t gap_ns; /* compute work between the previous kernel and this one */
    _Atomic uint64_t gate; /* 0 = its host node has yet to run, else when it ran (1 = there is none) */
    _Atomic uint64_t start_ns, end_ns; /* 0 until then */
    int ntransfers;
    struct rs_sim_transfer transfers[];
};

struct rs_sim_gpu {
    const struct rs_sim_job *job;
    int rank; /* in the job */
    pthread_t thread;
    pthread_mutex_t lock; /* of the queue */
    struct rs_sim_kernel *head, *tail;
    _Atomic bool quit;
    uint64_t launched;
    _Atomic uint64_t completed;
    uint64_t free_ns; /* end of the last kernel; the thread's own */
    uint64_t compute_until; /* end of the compute work so far; this and the next are the launching thread's own */
    uint64_t gap_ns; /* for the next launch */
};

enum rs_status rs_sim_gpu_open(struct rs_sim_gpu *gpu, const struct rs_sim_job *job, int rank, struct rs_err *err);
void rs_sim_gpu_close(struct rs_sim_gpu *gpu); /* waits for its kernels, unless the job is aborted */

struct rs_sim_kernel *rs_sim_kernel_new(int ntransfers);
void rs_sim_kernel_unref(struct rs_sim_kernel *k);

/* Queues a kernel that has `nets` network operations and takes over the caller's reference; keep another one to access
 * it later. False = aborted while the queue was full; the kernel is then released. */
bool rs_sim_gpu_launch(struct rs_sim_gpu *gpu, struct rs_sim_kernel *k, uint64_t nets);
void rs_sim_kernel_open_gate(struct rs_sim_gpu *gpu, struct rs_sim_kernel *k);

/* Adds compute work before the kernels launched from now on: concurrent with the queued kernels, or after them. */
void rs_sim_gpu_compute(struct rs_sim_gpu *gpu, uint64_t ns);
void rs_sim_gpu_compute_behind(struct rs_sim_gpu *gpu, uint64_t ns);

/* Waits until all kernels have ended. False = aborted. */
bool rs_sim_gpu_sync(struct rs_sim_gpu *gpu);

#endif

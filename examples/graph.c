/* graph: three all-reduces captured once into a CUDA graph and replayed in each step. */
#include "rank.h"

enum { STEPS = 10, FLOATS = 1 << 18, LAYERS = 3 };

int main(void)
{
    struct rank me = open_rank("graph", FLOATS);
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    CUDA_OK(cudaStreamBeginCapture(me.stream, cudaStreamCaptureModeThreadLocal));
    for (int layer = 0; layer < LAYERS; layer++)
        NCCL_OK(ncclAllReduce(me.in, me.out, FLOATS, ncclFloat, ncclSum, me.comm, me.stream));
    CUDA_OK(cudaStreamEndCapture(me.stream, &graph));
    CUDA_OK(cudaGraphInstantiateWithFlags(&replay, graph, 0));
    for (int step = 0; step < STEPS; step++) {
        CUDA_OK(cudaGraphLaunch(replay, me.stream));
        wait_for(me.stream);
    }
    /* Before its communicator: ncclCommDestroy() waits for the graphs that use it. */
    CUDA_OK(cudaGraphExecDestroy(replay));
    CUDA_OK(cudaGraphDestroy(graph));
    close_rank(&me);
    return 0;
}

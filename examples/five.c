/* five: all five collective functions in one group. NCCL launches them together: one kernel launch, five operations.
 * Started once per rank, like all examples that are not one process. */
#include "rank.h"

enum { STEPS = 10, FLOATS = 1 << 18 };

int main(void)
{
    struct rank me = open_rank("five", FLOATS);
    size_t each = FLOATS / (size_t)me.ranks;
    for (int step = 0; step < STEPS; step++) {
        int root = step % me.ranks;
        NCCL_OK(ncclGroupStart());
        NCCL_OK(ncclAllReduce(me.in, me.out, FLOATS, ncclFloat, ncclSum, me.comm, me.stream));
        NCCL_OK(ncclBroadcast(me.in, me.out, FLOATS, ncclFloat, root, me.comm, me.stream));
        NCCL_OK(ncclReduce(me.in, me.out, FLOATS, ncclFloat, ncclSum, root, me.comm, me.stream));
        NCCL_OK(ncclAllGather(me.in, me.out, each, ncclFloat, me.comm, me.stream));
        NCCL_OK(ncclReduceScatter(me.in, me.out, each, ncclFloat, ncclSum, me.comm, me.stream));
        NCCL_OK(ncclGroupEnd());
        wait_for(me.stream);
    }
    close_rank(&me);
    return 0;
}

/* devices: one thread that drives several devices. Calls for all of them are in one group, or the first would wait for the
 * others for ever.
 *
 *   RANKS=4 ringscope run -o rec -- build/examples/devices */
#include "process.h"

enum { STEPS = 10, FLOATS = 1 << 20 };

int main(void)
{
    struct rank all[MAX_RANKS] = {{0}};
    int ranks = ranks_of_process();
    ncclUniqueId id;
    NCCL_OK(ncclGetUniqueId(&id));
    NCCL_OK(ncclGroupStart());
    for (int r = 0; r < ranks; r++) {
        select_device(r, ranks);
        open_buffers(&all[r], FLOATS);
        NCCL_OK(ncclCommInitRank(&all[r].comm, ranks, id, r));
    }
    NCCL_OK(ncclGroupEnd());
    for (int step = 0; step < STEPS; step++) {
        NCCL_OK(ncclGroupStart());
        for (int r = 0; r < ranks; r++)
            NCCL_OK(ncclAllReduce(all[r].in, all[r].out, FLOATS, ncclFloat, ncclSum, all[r].comm, all[r].stream));
        NCCL_OK(ncclGroupEnd());
        for (int r = 0; r < ranks; r++) wait_for(all[r].stream);
    }
    for (int r = 0; r < ranks; r++) {
        select_device(r, ranks);
        close_rank(&all[r]);
    }
    printf("devices: %d ranks in one thread, %d steps\n", ranks, STEPS);
    return 0;
}

/* split: tensor and data parallel groups, split from the communicator of all ranks: tensor parallel pairs {0,1} {2,3}, data
 * parallel ranks of the same parity {0,2} {1,3}. */
#include "rank.h"

enum { STEPS = 10, FLOATS = 1 << 18, LAYERS = 3 };

int main(void)
{
    struct rank me = open_rank("world", FLOATS);
    ncclComm_t tensor, data;
    NCCL_OK(ncclCommSplit(me.comm, me.rank / 2, me.rank, &tensor, NULL));
    NCCL_OK(ncclCommSplit(me.comm, me.rank % 2, me.rank, &data, NULL));
    for (int step = 0; step < STEPS; step++) {
        for (int layer = 0; layer < LAYERS; layer++)
            NCCL_OK(ncclAllReduce(me.in, me.out, FLOATS / 4, ncclFloat, ncclSum, tensor, me.stream));
        NCCL_OK(ncclAllReduce(me.in, me.out, FLOATS, ncclFloat, ncclSum, data, me.stream));
        NCCL_OK(ncclAllReduce(me.in, me.out, 1, ncclFloat, ncclSum, me.comm, me.stream)); /* the loss */
        wait_for(me.stream);
    }
    NCCL_OK(ncclCommDestroy(tensor));
    NCCL_OK(ncclCommDestroy(data));
    close_rank(&me);
    return 0;
}

/* ring: each rank sends to the next one and receives from the previous one, in one group: a send alone would wait for a receive
 * that comes after another send. */
#include "rank.h"

enum { STEPS = 10, FLOATS = 1 << 20 };

int main(void)
{
    struct rank me = open_rank("ring", FLOATS);
    int next = (me.rank + 1) % me.ranks, previous = (me.rank + me.ranks - 1) % me.ranks;
    for (int step = 0; step < STEPS; step++) {
        NCCL_OK(ncclGroupStart());
        NCCL_OK(ncclSend(me.in, FLOATS, ncclFloat, next, me.comm, me.stream));
        NCCL_OK(ncclRecv(me.out, FLOATS, ncclFloat, previous, me.comm, me.stream));
        NCCL_OK(ncclGroupEnd());
        wait_for(me.stream);
    }
    close_rank(&me);
    return 0;
}

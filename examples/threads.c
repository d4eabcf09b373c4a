/* threads: one process, one thread per device, each with its own communicator, as many C++ programs do it.
 *
 *   RANKS=4 ringscope run -o rec -- build/examples/threads */
#include "process.h"

#include <pthread.h>

enum { STEPS = 10, FLOATS = 1 << 20 };

static ncclUniqueId id;
static int ranks;

static void *thread(void *number)
{
    struct rank me = {.rank = (int)(size_t)number, .ranks = ranks};
    select_device(me.rank, ranks);
    open_buffers(&me, FLOATS);
    NCCL_OK(ncclCommInitRank(&me.comm, ranks, id, me.rank));
    for (int step = 0; step < STEPS; step++) {
        NCCL_OK(ncclAllReduce(me.in, me.out, FLOATS, ncclFloat, ncclSum, me.comm, me.stream));
        wait_for(me.stream);
    }
    close_rank(&me);
    return NULL;
}

int main(void)
{
    pthread_t threads[MAX_RANKS];
    ranks = ranks_of_process();
    NCCL_OK(ncclGetUniqueId(&id));
    for (int r = 0; r < ranks; r++)
        if (pthread_create(&threads[r], NULL, thread, (void *)(size_t)r)) DIE("no thread");
    for (int r = 0; r < ranks; r++) pthread_join(threads[r], NULL);
    printf("threads: %d ranks, %d steps\n", ranks, STEPS);
    return 0;
}

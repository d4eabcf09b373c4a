/* ./train of the documents: one rank of a job. Its number and the number of ranks are those that launchers give. It does some
 * all-reduces with NCCL, for which nccl.c stands in, and fails if the launcher gave it no place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int ncclCommInitRank(int nranks, int rank);
int ncclAllReduce(size_t count);
int ncclCommDestroy(void);

static int number(const char *const *names, int otherwise)
{
    for (; *names; names++)
        if (getenv(*names)) return atoi(getenv(*names));
    return otherwise;
}

int main(int argc, char **argv)
{
    static const char *const ranks[] = {"RANK", "OMPI_COMM_WORLD_RANK", "SLURM_PROCID", NULL};
    static const char *const sizes[] = {"WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "SLURM_NTASKS", NULL};
    int steps = 20;
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--steps") != 0) return fprintf(stderr, "train: %s?\n", argv[i]), 2;
        steps = atoi(argv[i + 1]);
    }
    int rank = number(ranks, 0), size = number(sizes, 1);
    if (rank < 0 || rank >= size) return fprintf(stderr, "train: rank %d of %d\n", rank, size), 2;
    if (ncclCommInitRank(size, rank)) return 1;
    for (int i = 0; i < steps; i++) {
        if (ncclAllReduce(1 << 20)) return 1;
        usleep(1000);
    }
    return ncclCommDestroy();
}

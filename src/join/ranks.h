/* The ranks of the job: model.ranks, made, counted, numbered and labelled here and nowhere else.
 *
 * A rank is a GPU of a process: what its communicators have in common. Several ranks of one process on one GPU
 * (NCCL_MULTI_RANK_GPU_ENABLE) are the members of the communicator that has most there; the members of others are told
 * apart by the threads that called for them, or by their order where there are as many; else which rank they are is
 * not known. A process that several tools saw (join/overlay.h) has its ranks once. A communicator of one rank adds none
 * where its process is not known (dumps without events), or has ranks already. A process without a communicator is a
 * rank if its number is known or its GPU worked. Numbers: rank_numbers.h. */
#ifndef RS_JOIN_RANKS_H
#define RS_JOIN_RANKS_H

#include "base/strbuf.h"
#include "model/model.h"

/* Makes model.ranks anew, and sets rank_id, place and global_rank of all members, and the model's world. Called when all
 * members are linked, and again when tools were laid over each other. */
void rs_ranks_find(struct rs_model *m);
/* The same, when all that can be laid over is: processes of one rank that two files show are one from then on. */
void rs_ranks_settle(struct rs_model *m);

/* The rank of the job that a rank of a communicator is; -1: not known. Of one without a recording it is known where the
 * communicator is a regular part of the job. */
int32_t rs_job_rank(const struct rs_model *m, uint32_t comm, int32_t rank);

/* "rank 3 (node1, GPU 2)"; without its number "process 4711 (node1, GPU 2)". */
void rs_rank_words(struct rs_strbuf *s, const struct rs_model *m, uint32_t rank);
/* "rank 3 · GPU 2", where host and process stand beside it; "GPU 2", "GPU". */
void rs_rank_label(struct rs_strbuf *s, const struct rs_model *m, uint32_t rank);

/* Orders rows of model.ranks for tables: by number, those without one last. */
int rs_rank_compare(const struct rs_model *m, uint32_t a, uint32_t b);

#endif

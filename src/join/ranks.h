/* The ranks of the job: model.ranks. Only this module creates, counts, numbers and names them.
 *
 * A rank is a GPU of a process: what its communicators have in common. Of several ranks of one process on one GPU
 * (NCCL_MULTI_RANK_GPU_ENABLE), the rows are the members of the communicator with the most ranks there; members of
 * others are distinguished by the calling threads, or by their order if there are equally many; otherwise their rank is
 * unknown. A process recorded by several tools (join/overlay.h) has its ranks once. A communicator of one rank adds
 * none if its process is unknown (dumps without events), or has ranks already. A process without a communicator is a
 * rank if its number is known or its GPU was active. */
#ifndef RS_JOIN_RANKS_H
#define RS_JOIN_RANKS_H

#include "base/strbuf.h"
#include "model/model.h"

/* Rebuilds model.ranks, and sets rank_id, place and global_rank of all members, and the model's world. Called when all
 * members are linked, and again after merging. */
void rs_ranks_find(struct rs_model *m);
/* The same after all merging: from then on, processes of one rank in two files are one. */
void rs_ranks_settle(struct rs_model *m);

/* The rank of the job of a communicator's rank; -1: unknown. Without a recording it is known if the communicator is a
 * regular part of the job. */
int32_t rs_job_rank(const struct rs_model *m, uint32_t comm, int32_t rank);

/* "rank 3 (node1, GPU 2)"; without its number "process 4711 (node1, GPU 2)". */
void rs_rank_words(struct rs_strbuf *s, const struct rs_model *m, uint32_t rank);
/* "rank 3 · GPU 2", shown next to host and process; "GPU 2", "GPU". */
void rs_rank_label(struct rs_strbuf *s, const struct rs_model *m, uint32_t rank);

/* Orders rows of model.ranks for tables: by number, unknown ones last. */
int rs_rank_compare(const struct rs_model *m, uint32_t a, uint32_t b);

#endif

/* Counts of what the model has of each process, for telling what a file holds. */
#ifndef RS_CLI_EXPLAIN_FACTS_H
#define RS_CLI_EXPLAIN_FACTS_H

#include "model/model.h"

struct rs_file_facts {
    uint64_t parts[5]; /* by enum rs_part_kind */
    uint64_t started, ended, bounded; /* with a known start; a known end; an end that lies between two times */
    uint64_t timed; /* how long it took is known, and not when */
    uint64_t ids, ids_read; /* with PyTorch's id; as it stood in the trace */
    uint64_t net; /* with network work */
    uint64_t activities[RS_ACTIVITY_KINDS];
    uint64_t stats;
    uint32_t members, made_up; /* communicators, as a member; of which NCCL's hash is not known */
};

/* One row a process, `procs` of the model many; the caller frees it. NULL: out of memory. */
struct rs_file_facts *rs_file_facts_find(const struct rs_model *m);
void rs_file_facts_add(struct rs_file_facts *sum, const struct rs_file_facts *row);

#endif

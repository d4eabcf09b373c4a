/* Facts of an operation beyond NCCL's, from all tools that recorded it: a framework's name of the group, its step, the
 * annotation that contains the call. Functions that only read a joined model. */
#ifndef RS_JOIN_OVERLAY_FACTS_H
#define RS_JOIN_OVERLAY_FACTS_H

#include "model/model.h"

struct rs_facts {
    const char *group; /* PyTorch's name of the process group; NULL: unknown */
    const char *desc; /* its description: the first desc_len bytes of the communicator's full name */
    size_t desc_len;
    bool has_comms_id; /* all ranks that have one have the same */
    uint64_t comms_id;
    int64_t pg_seq; /* -1: unknown, or ranks differ */
    uint32_t step; /* RS_NONE: unknown */
    uint32_t scope; /* see rs_model_name(); 0: none */
    uint32_t tools; /* bit 1 << enum rs_tool for each that recorded it */
};

void rs_facts_of_op(const struct rs_model *m, uint32_t op, struct rs_facts *f);
/* Of a communicator: group, desc and tools. */
void rs_facts_of_comm(const struct rs_model *m, uint32_t comm, struct rs_facts *f);

/* A communicator's name, from the primary or a secondary source; NULL: none. */
const char *rs_comm_name(const struct rs_model *m, uint32_t comm);
/* The rank of the job of a communicator's rank, recorded or not, from any tool; -1: unknown. */
int32_t rs_comm_job_rank(const struct rs_model *m, uint32_t comm, int32_t rank);

/* Once, after the join: notes collectives whose ranks do not agree in their comms id. */
enum rs_status rs_facts_check(struct rs_model *m, struct rs_err *err);

#endif

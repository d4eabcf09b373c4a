/* What is known of an operation besides NCCL's facts, from all tools that saw it: what a framework calls its group, its
 * step, the annotation that it lies in. Pure looks at a joined model. */
#ifndef RS_JOIN_OVERLAY_FACTS_H
#define RS_JOIN_OVERLAY_FACTS_H

#include "model/model.h"

struct rs_facts {
    const char *group; /* PyTorch's name of the process group; NULL: not known */
    const char *desc; /* and its description: desc_len bytes, with which the communicator's whole name begins */
    size_t desc_len;
    bool has_comms_id; /* all ranks that tell one tell the same */
    uint64_t comms_id;
    int64_t pg_seq; /* -1: not known, or ranks differ */
    uint32_t step; /* RS_NONE: not known */
    uint32_t scope; /* see rs_model_name(); 0: none */
    uint32_t tools; /* bit 1 << enum rs_tool for each that saw it */
};

void rs_facts_of_op(const struct rs_model *m, uint32_t op, struct rs_facts *f);
/* Of a communicator: group, desc and tools. */
void rs_facts_of_comm(const struct rs_model *m, uint32_t comm, struct rs_facts *f);

/* A communicator's name as the tool that leads, or one laid over it, tells it; NULL: none. */
const char *rs_comm_name(const struct rs_model *m, uint32_t comm);
/* The rank of the job of a rank, recorded or not, as any tool tells it; -1: not known. */
int32_t rs_comm_job_rank(const struct rs_model *m, uint32_t comm, int32_t rank);

/* Once, after the join: notes collectives whose ranks do not agree in their comms id. */
enum rs_status rs_facts_check(struct rs_model *m, struct rs_err *err);

#endif

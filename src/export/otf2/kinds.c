#ifndef RS_NO_OTF2

#include "export/otf2/kinds.h"

#include <string.h>

static const struct rs_otf2_kind kinds[] = {
    {"AllReduce", OTF2_REGION_ROLE_COLL_ALL2ALL, true, false, OTF2_COLLECTIVE_OP_ALLREDUCE},
    {"AllGather", OTF2_REGION_ROLE_COLL_ALL2ALL, true, false, OTF2_COLLECTIVE_OP_ALLGATHER},
    {"AllGatherV", OTF2_REGION_ROLE_COLL_ALL2ALL, true, false, OTF2_COLLECTIVE_OP_ALLGATHERV},
    {"ReduceScatter", OTF2_REGION_ROLE_COLL_ALL2ALL, true, false, OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK},
    {"AlltoAll", OTF2_REGION_ROLE_COLL_ALL2ALL, true, false, OTF2_COLLECTIVE_OP_ALLTOALL},
    {"Broadcast", OTF2_REGION_ROLE_COLL_ONE2ALL, true, true, OTF2_COLLECTIVE_OP_BCAST},
    {"Reduce", OTF2_REGION_ROLE_COLL_ALL2ONE, true, true, OTF2_COLLECTIVE_OP_REDUCE},
    {"Gather", OTF2_REGION_ROLE_COLL_ALL2ONE, true, true, OTF2_COLLECTIVE_OP_GATHER},
    {"Scatter", OTF2_REGION_ROLE_COLL_ONE2ALL, true, true, OTF2_COLLECTIVE_OP_SCATTER},
    {"Send", OTF2_REGION_ROLE_POINT2POINT, false, false, 0},
    {"Recv", OTF2_REGION_ROLE_POINT2POINT, false, false, 0},
};

const struct rs_otf2_kind *rs_otf2_kind(const char *func)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].func, func)) return &kinds[i];
    return NULL;
}

bool rs_otf2_is_call(uint8_t bar_kind)
{
    return bar_kind == RS_BAR_COLL_API || bar_kind == RS_BAR_P2P_API || bar_kind == RS_BAR_ENQUEUED;
}

void rs_otf2_sizes(const struct rs_otf2_kind *kind, uint64_t bytes, int32_t nranks, bool is_root, uint64_t *sent,
                   uint64_t *received)
{
    uint64_t n = nranks > 0 ? (uint64_t)nranks : 1;
    *sent = *received = bytes;
    switch (kind->op) {
    case OTF2_COLLECTIVE_OP_ALLGATHER:
    case OTF2_COLLECTIVE_OP_ALLGATHERV: *sent = bytes / n; break;
    case OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK: *received = bytes / n; break;
    case OTF2_COLLECTIVE_OP_BCAST: *(is_root ? received : sent) = 0; break;
    case OTF2_COLLECTIVE_OP_REDUCE: *received = is_root ? bytes : 0; break;
    case OTF2_COLLECTIVE_OP_GATHER: *received = is_root ? bytes * n : 0; break;
    case OTF2_COLLECTIVE_OP_SCATTER: *sent = is_root ? bytes * n : 0; break;
    default: break;
    }
}

OTF2_RegionRole rs_otf2_role(const struct rs_timeline *t, uint8_t bar_kind)
{
    switch (bar_kind) {
    case RS_BAR_LOSS:
    case RS_BAR_BLANK: return OTF2_REGION_ROLE_ARTIFICIAL;
    case RS_BAR_GROUP_API:
    case RS_BAR_COLL_API:
    case RS_BAR_P2P_API:
    case RS_BAR_ENQUEUED:
    case RS_BAR_LAUNCH:
    case RS_BAR_HOST_LAUNCH: return OTF2_REGION_ROLE_WRAPPER;
    case RS_BAR_COPY:
    case RS_BAR_SET:
    case RS_BAR_CE_BATCH: return OTF2_REGION_ROLE_DATA_TRANSFER;
    case RS_BAR_SYNC: return OTF2_REGION_ROLE_TASK_WAIT;
    case RS_BAR_MEMORY: return OTF2_REGION_ROLE_ALLOCATE;
    default: break;
    }
    uint8_t row = t->kinds.rows[bar_kind].row;
    bool network = row == RS_ROW_PROXY || row == RS_ROW_STEPS || row == RS_ROW_NETWORK;
    if (network) return OTF2_REGION_ROLE_DATA_TRANSFER;
    return row == RS_ROW_ANNOTATIONS ? OTF2_REGION_ROLE_CODE : OTF2_REGION_ROLE_FUNCTION;
}

OTF2_Paradigm rs_otf2_paradigm(const struct rs_timeline *t, uint8_t bar_kind)
{
    if (bar_kind == RS_BAR_LOSS || bar_kind == RS_BAR_BLANK) return OTF2_PARADIGM_MEASUREMENT_SYSTEM;
    uint8_t row = t->kinds.rows[bar_kind].row;
    bool cuda =
        rs_otf2_is_on_gpu(row) || bar_kind == RS_BAR_LAUNCH || bar_kind == RS_BAR_HOST_LAUNCH || row == RS_ROW_HOST;
    return cuda ? OTF2_PARADIGM_CUDA : OTF2_PARADIGM_USER;
}

bool rs_otf2_is_on_gpu(enum rs_row row)
{
    return row == RS_ROW_CHANNELS || row == RS_ROW_COMPUTE || row == RS_ROW_COMM || row == RS_ROW_COPIES;
}

#endif

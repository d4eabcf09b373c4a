#include "sim/event.h"

enum {
    NET_BITS = RS_PROXY_OP | RS_PROXY_STEP | RS_NET_PLUGIN,
    BELOW_OP = NET_BITS | RS_KERNEL_CH,
    CE_BITS = RS_CE_COLL | RS_CE_SYNC | RS_CE_BATCH,
};

size_t rs_sim_dtype_size(enum rs_sim_dtype t)
{
    switch (t) {
    case RS_SIM_FLOAT32: return 4;
    case RS_SIM_FLOAT16:
    case RS_SIM_BFLOAT16: return 2;
    default: return 1;
    }
}

bool rs_sim_wants(int mask, uint64_t type)
{
    switch (type) {
    case RS_GROUP_API: return (mask & ~RS_PROXY_CTRL) != 0;
    case RS_COLL_API: return (mask & (RS_COLL_API | RS_COLL | BELOW_OP | CE_BITS)) != 0;
    case RS_P2P_API: return (mask & (RS_P2P_API | RS_P2P | BELOW_OP)) != 0;
    case RS_GROUP: return (mask & (RS_GROUP | RS_COLL | RS_P2P | BELOW_OP)) != 0;
    case RS_COLL: return (mask & (RS_COLL | BELOW_OP)) != 0;
    case RS_P2P: return (mask & (RS_P2P | BELOW_OP)) != 0;
    case RS_PROXY_OP: return (mask & NET_BITS) != 0;
    case RS_PROXY_STEP: return (mask & (RS_PROXY_STEP | RS_NET_PLUGIN)) != 0;
    case RS_CE_COLL: return (mask & CE_BITS) != 0;
    default: return ((uint64_t)mask & type) != 0;
    }
}

#include "nccl/names.h"

#include <stddef.h>

#include "nccl/abi.h"

static const char *const types[RS_NCCL_TYPE_BITS] = {
    "Group",    "Coll",    "P2p",    "ProxyOp",      "ProxyStep", "ProxyCtrl", "KernelCh", "NetPlugin",
    "GroupApi", "CollApi", "P2pApi", "KernelLaunch", "CeColl",    "CeSync",    "CeBatch",  "KernelPhase",
};

static const char *const states[RS_NCCL_STATES] = {
    [RS_ST_OP_SEND_POSTED] = "ProxyOpSendPosted",
    [RS_ST_OP_SEND_REM_FIFO_WAIT] = "ProxyOpSendRemFifoWait",
    [RS_ST_OP_SEND_TRANSMITTED] = "ProxyOpSendTransmitted",
    [RS_ST_OP_SEND_DONE] = "ProxyOpSendDone",
    [RS_ST_OP_RECV_POSTED] = "ProxyOpRecvPosted",
    [RS_ST_OP_RECV_RECEIVED] = "ProxyOpRecvReceived",
    [RS_ST_OP_RECV_TRANSMITTED] = "ProxyOpRecvTransmitted",
    [RS_ST_OP_RECV_DONE] = "ProxyOpRecvDone",
    [RS_ST_STEP_SEND_GPU_WAIT] = "ProxyStepSendGPUWait",
    [RS_ST_STEP_SEND_WAIT] = "ProxyStepSendWait",
    [RS_ST_STEP_RECV_WAIT] = "ProxyStepRecvWait",
    [RS_ST_STEP_RECV_FLUSH_WAIT] = "ProxyStepRecvFlushWait",
    [RS_ST_STEP_RECV_GPU_WAIT] = "ProxyStepRecvGPUWait",
    [RS_ST_CTRL_IDLE] = "ProxyCtrlIdle",
    [RS_ST_CTRL_ACTIVE] = "ProxyCtrlActive",
    [RS_ST_CTRL_SLEEP] = "ProxyCtrlSleep",
    [RS_ST_CTRL_WAKEUP] = "ProxyCtrlWakeup",
    [RS_ST_CTRL_APPEND] = "ProxyCtrlAppend",
    [RS_ST_CTRL_APPEND_END] = "ProxyCtrlAppendEnd",
    [RS_ST_OP_IN_PROGRESS] = "ProxyOpInProgress",
    [RS_ST_STEP_SEND_PEER_WAIT] = "ProxyStepSendPeerWait",
    [RS_ST_NET_PLUGIN_UPDATE] = "NetPluginUpdate",
    [RS_ST_KERNEL_CH_STOP] = "KernelChStop",
    [RS_ST_GROUP_START_API_STOP] = "GroupStartApiStop",
    [RS_ST_GROUP_END_API_START] = "GroupEndApiStart",
    [RS_ST_CE_COLL_START] = "CeCollStart",
    [RS_ST_CE_COLL_COMPLETE] = "CeCollComplete",
    [RS_ST_CE_SYNC_START] = "CeSyncStart",
    [RS_ST_CE_SYNC_COMPLETE] = "CeSyncComplete",
    [RS_ST_CE_BATCH_START] = "CeBatchStart",
    [RS_ST_CE_BATCH_COMPLETE] = "CeBatchComplete",
    [RS_ST_KERNEL_PHASE_STOP] = "KernelPhaseStop",
};

static const char *const funcs_v1[] = {"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                       "AllReduce", "SendRecv", "Send",      "Recv"};
static const char *const datatypes_v1[] = {"ncclInt8",   "ncclUint8",   "ncclInt32",   "ncclUint32",  "ncclInt64",
                                           "ncclUint64", "ncclFloat16", "ncclFloat32", "ncclFloat64", "ncclBfloat16"};
static const char *const algos_v1[] = {"TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
static const char *const protos_v1[] = {"LL", "LL128", "SIMPLE"};

#define LOOK_UP(table, i) ((i) < sizeof table / sizeof *table ? table[i] : NULL)

const char *rs_nccl_type_name(uint64_t type)
{
    if (!type || type & (type - 1)) return NULL;
    unsigned bit = (unsigned)__builtin_ctzll(type);
    return LOOK_UP(types, bit);
}

const char *rs_nccl_state_name(int state)
{
    return state < 0 ? NULL : LOOK_UP(states, (unsigned)state);
}

const char *rs_nccl_func_v1(unsigned func)
{
    return LOOK_UP(funcs_v1, func);
}
const char *rs_nccl_datatype_v1(unsigned datatype)
{
    return LOOK_UP(datatypes_v1, datatype);
}
const char *rs_nccl_algo_v1(unsigned algo)
{
    return LOOK_UP(algos_v1, algo);
}
const char *rs_nccl_proto_v1(unsigned proto)
{
    return LOOK_UP(protos_v1, proto);
}

/* The NCCL profiler plugin interface, versions 1 to 7, declared by us.
 *
 * NCCL looks for a data object `ncclProfiler_vN` in the plugin, newest version first, and calls through its five
 * function pointers. The descriptors of the versions differ in small ways; each layout is declared here once, and a
 * version's descriptor is a union of its layouts. Shared by the recorder (which receives these structs) and by the
 * simulator (which makes them). No NCCL or CUDA header is needed.
 *
 * Strings of `const char *` members are static in libnccl, except `name`; descriptors and state arguments are on the
 * caller's stack and are valid only during the call. */
#ifndef RS_NCCL_ABI_H
#define RS_NCCL_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

typedef int rs_nccl_result; /* ncclResult_t; 0 = ncclSuccess */
enum { RS_NCCL_SUCCESS = 0 };

/* ncclDebugLogger_t, its levels, and the subsystem flag of plugins. */
typedef void (*rs_nccl_logger)(int level, unsigned long flags, const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));
enum { RS_NCCL_LOG_WARN = 2, RS_NCCL_LOG_INFO = 3 };
#define RS_NCCL_SUBSYS_PROFILE 0x4000ul

/* Event types: one bit each, the same in all versions. v1, v2 know bits 0-5; v3, v4 0-7; v5 0-11; v6 0-14; v7 0-15. */
enum rs_nccl_type {
    RS_GROUP = 1 << 0,
    RS_COLL = 1 << 1,
    RS_P2P = 1 << 2,
    RS_PROXY_OP = 1 << 3,
    RS_PROXY_STEP = 1 << 4,
    RS_PROXY_CTRL = 1 << 5,
    RS_KERNEL_CH = 1 << 6,
    RS_NET_PLUGIN = 1 << 7,
    RS_GROUP_API = 1 << 8,
    RS_COLL_API = 1 << 9,
    RS_P2P_API = 1 << 10,
    RS_KERNEL_LAUNCH = 1 << 11,
    RS_CE_COLL = 1 << 12,
    RS_CE_SYNC = 1 << 13,
    RS_CE_BATCH = 1 << 14,
    RS_KERNEL_PHASE = 1 << 15,
};
enum { RS_NCCL_TYPE_BITS = 16 };

/* States, one shared numbering. 0-7 were sent by NCCL 2.23-2.26 only; 25-30 are defined but never sent. */
enum rs_nccl_state {
    RS_ST_OP_SEND_POSTED = 0,
    RS_ST_OP_SEND_REM_FIFO_WAIT = 1,
    RS_ST_OP_SEND_TRANSMITTED = 2,
    RS_ST_OP_SEND_DONE = 3,
    RS_ST_OP_RECV_POSTED = 4,
    RS_ST_OP_RECV_RECEIVED = 5,
    RS_ST_OP_RECV_TRANSMITTED = 6,
    RS_ST_OP_RECV_DONE = 7,
    RS_ST_STEP_SEND_GPU_WAIT = 8,
    RS_ST_STEP_SEND_WAIT = 9,
    RS_ST_STEP_RECV_WAIT = 10,
    RS_ST_STEP_RECV_FLUSH_WAIT = 11,
    RS_ST_STEP_RECV_GPU_WAIT = 12,
    RS_ST_CTRL_IDLE = 13,
    RS_ST_CTRL_ACTIVE = 14,
    RS_ST_CTRL_SLEEP = 15,
    RS_ST_CTRL_WAKEUP = 16,
    RS_ST_CTRL_APPEND = 17,
    RS_ST_CTRL_APPEND_END = 18,
    RS_ST_OP_IN_PROGRESS = 19,
    RS_ST_STEP_SEND_PEER_WAIT = 20,
    RS_ST_NET_PLUGIN_UPDATE = 21,
    RS_ST_KERNEL_CH_STOP = 22,
    RS_ST_GROUP_START_API_STOP = 23,
    RS_ST_GROUP_END_API_START = 24,
    RS_ST_CE_COLL_START = 25,
    RS_ST_CE_COLL_COMPLETE = 26,
    RS_ST_CE_SYNC_START = 27,
    RS_ST_CE_SYNC_COMPLETE = 28,
    RS_ST_CE_BATCH_START = 29,
    RS_ST_CE_BATCH_COMPLETE = 30,
    RS_ST_KERNEL_PHASE_STOP = 31,
};
enum { RS_NCCL_STATES = 32 };

/* ---- members of the descriptors, named by event and by the version that introduced the layout ---- */

struct rs_nccl_coll_v1 {
    const char *name;
    uint64_t commHash;
    uint64_t seqNumber;
    uint8_t func;
    void const *sendBuff;
    void *recvBuff;
    size_t count;
    int root;
    uint8_t datatype;
    uint32_t op;
    size_t trafficBytes;
    uint8_t nMaxChannels;
    uint8_t nWarps;
    uint8_t algo;
    uint8_t proto;
    int isCollnet;
    int isNvls;
};
struct rs_nccl_coll_v2 {
    const char *name;
    uint64_t commHash;
    uint64_t seqNumber;
    const char *func;
    void const *sendBuff;
    void *recvBuff;
    size_t count;
    int root;
    const char *datatype;
    size_t trafficBytes;
    uint8_t nMaxChannels;
    uint8_t nWarps;
    const char *algo;
    const char *proto;
};
struct rs_nccl_coll_v3 {
    const char *name;
    uint64_t commHash;
    uint64_t seqNumber;
    const char *func;
    void const *sendBuff;
    void *recvBuff;
    size_t count;
    int root;
    const char *datatype;
    uint8_t nMaxChannels;
    uint8_t nWarps;
    const char *algo;
    const char *proto;
};
struct rs_nccl_coll_v4 {
    uint64_t seqNumber;
    const char *func;
    void const *sendBuff;
    void *recvBuff;
    size_t count;
    int root;
    const char *datatype;
    uint8_t nChannels;
    uint8_t nWarps;
    const char *algo;
    const char *proto;
};
struct rs_nccl_coll_v5 {
    uint64_t seqNumber;
    const char *func;
    void const *sendBuff;
    void *recvBuff;
    size_t count;
    int root;
    const char *datatype;
    uint8_t nChannels;
    uint8_t nWarps;
    const char *algo;
    const char *proto;
    void *parentGroup;
};
struct rs_nccl_coll_v7 {
    uint64_t seqNumber;
    const char *func;
    void const *sendBuff;
    void *recvBuff;
    size_t count;
    int root;
    const char *datatype;
    uint8_t nChannels;
    uint8_t nWarps;
    const char *algo;
    const char *proto;
    void *parentGroup;
    const char *kernelVariant;
    bool isSymColl;
    uint64_t userTag;
};

struct rs_nccl_p2p_v1 {
    const char *name;
    uint64_t commHash;
    uint8_t func;
    void *buff;
    uint8_t datatype;
    size_t count;
    int peer;
};
struct rs_nccl_p2p_v2 { /* v3 too */
    const char *name;
    uint64_t commHash;
    const char *func;
    void *buff;
    const char *datatype;
    size_t count;
    int peer;
};
struct rs_nccl_p2p_v4 {
    const char *func;
    void *buff;
    const char *datatype;
    size_t count;
    int peer;
    uint8_t nChannels; /* uninitialized when NCCL 2.28 or newer calls a v4 plugin */
};
struct rs_nccl_p2p_v5 {
    const char *func;
    void *buff;
    const char *datatype;
    size_t count;
    int peer;
    uint8_t nChannels;
    void *parentGroup;
};
struct rs_nccl_p2p_v7 {
    const char *func;
    void *buff;
    const char *datatype;
    size_t count;
    int peer;
    uint8_t nChannels;
    void *parentGroup;
    uint64_t userTag;
};

struct rs_nccl_proxy_op {
    pid_t pid; /* of the process that posted the operation: another one under PXN */
    uint8_t channelId;
    int peer;
    int nSteps;
    int chunkSize;
    int isSend;
};
struct rs_nccl_proxy_step {
    int step;
};
struct rs_nccl_kernel_ch_v3 {
    uint8_t channelId;
};
struct rs_nccl_kernel_ch_v4 {
    uint8_t channelId;
    uint64_t pTimer; /* ns of the GPU's globaltimer */
};
struct rs_nccl_kernel_phase {
    uint8_t channelId;
    uint8_t phaseId; /* 0 initial_sync, 1 compute, 2 final_sync */
    const char *phaseName;
    uint64_t pTimer;
};
struct rs_nccl_net_plugin {
    int64_t id; /* RS_NCCL_NET_* | version in the low 16 bits */
    void *data; /* struct rs_nccl_net_ib_v1 or _sock_v1, by id */
};
struct rs_nccl_group_api {
    bool graphCaptured;
    int groupDepth;
};
struct rs_nccl_coll_api_v5 {
    const char *func;
    size_t count;
    const char *datatype;
    int root;
    void *stream;
    bool graphCaptured;
};
struct rs_nccl_coll_api_v7 {
    const char *func;
    size_t count;
    const char *datatype;
    int root;
    void *stream;
    bool graphCaptured;
    uint64_t userTag;
};
struct rs_nccl_p2p_api_v5 {
    const char *func;
    size_t count;
    const char *datatype;
    void *stream;
    bool graphCaptured;
};
struct rs_nccl_p2p_api_v7 {
    const char *func;
    size_t count;
    const char *datatype;
    void *stream;
    bool graphCaptured;
    uint64_t userTag;
};
struct rs_nccl_kernel_launch {
    void *stream;
};
struct rs_nccl_ce_coll_v6 {
    uint64_t seqNumber;
    const char *func;
    void const *sendBuff;
    void *recvBuff;
    size_t count;
    int root;
    const char *datatype;
    const char *syncStrategy;
    bool intraBatchSync;
    uint32_t batchSize;
    uint32_t numBatches;
    uint32_t ceSeqNum;
    void *stream;
};
struct rs_nccl_ce_coll_v7 {
    uint64_t seqNumber;
    const char *func;
    void const *sendBuff;
    void *recvBuff;
    size_t count;
    int root;
    const char *datatype;
    const char *syncStrategy;
    bool intraBatchSync;
    uint32_t batchSize;
    uint32_t numBatches;
    uint32_t ceSeqNum;
    void *stream;
    uint64_t userTag;
};
struct rs_nccl_ce_sync {
    bool isComplete;
    int nRanks;
};
struct rs_nccl_ce_batch {
    int numOps;
    size_t totalBytes;
    bool useIntraSync;
};

/* What netPlugin.data points to; sent only by NCCL builds with NET_PROFILER=1 and by external network plugins. */
#define RS_NCCL_NET_IB (1 << 16)
#define RS_NCCL_NET_SOCK (2 << 16)
struct rs_nccl_net_ib_v1 {
    uint8_t type; /* 1 = a queue pair's work request */
    struct {
        int device;
        uint64_t wr_id;
        int opcode;
        int qpNum;
        size_t length;
    } qp;
};
struct rs_nccl_net_sock_v1 {
    uint8_t type; /* 1 = a socket transfer */
    struct {
        int fd;
        int op;
        size_t length;
    } sock;
};

/* ---- descriptors ---- */

struct rs_nccl_descr_v1 {
    uint8_t type;
    void *parentObj;
    int rank;
    union {
        struct rs_nccl_coll_v1 coll;
        struct rs_nccl_p2p_v1 p2p;
        struct rs_nccl_proxy_op proxyOp;
        struct rs_nccl_proxy_step proxyStep;
    };
};
struct rs_nccl_descr_v2 {
    uint8_t type;
    void *parentObj;
    int rank;
    union {
        struct rs_nccl_coll_v2 coll;
        struct rs_nccl_p2p_v2 p2p;
        struct rs_nccl_proxy_op proxyOp;
        struct rs_nccl_proxy_step proxyStep;
    };
};
struct rs_nccl_descr_v3 {
    uint8_t type;
    void *parentObj;
    int rank;
    union {
        struct rs_nccl_coll_v3 coll;
        struct rs_nccl_p2p_v2 p2p;
        struct rs_nccl_proxy_op proxyOp;
        struct rs_nccl_proxy_step proxyStep;
        struct rs_nccl_kernel_ch_v3 kernelCh;
        struct rs_nccl_net_plugin netPlugin;
    };
};
struct rs_nccl_descr_v4 {
    uint8_t type;
    void *parentObj;
    int rank;
    union {
        struct rs_nccl_coll_v4 coll;
        struct rs_nccl_p2p_v4 p2p;
        struct rs_nccl_proxy_op proxyOp;
        struct rs_nccl_proxy_step proxyStep;
        struct rs_nccl_kernel_ch_v4 kernelCh;
        struct rs_nccl_net_plugin netPlugin;
    };
};
struct rs_nccl_descr_v5 {
    uint64_t type;
    void *parentObj;
    int rank;
    union {
        struct rs_nccl_group_api groupApi;
        struct rs_nccl_coll_api_v5 collApi;
        struct rs_nccl_p2p_api_v5 p2pApi;
        struct rs_nccl_kernel_launch kernelLaunch;
        struct rs_nccl_coll_v5 coll;
        struct rs_nccl_p2p_v5 p2p;
        struct rs_nccl_proxy_op proxyOp;
        struct rs_nccl_proxy_step proxyStep;
        struct rs_nccl_kernel_ch_v4 kernelCh;
        struct rs_nccl_net_plugin netPlugin;
    };
};
struct rs_nccl_descr_v6 {
    uint64_t type;
    void *parentObj;
    int rank;
    union {
        struct rs_nccl_group_api groupApi;
        struct rs_nccl_coll_api_v5 collApi;
        struct rs_nccl_p2p_api_v5 p2pApi;
        struct rs_nccl_kernel_launch kernelLaunch;
        struct rs_nccl_coll_v5 coll;
        struct rs_nccl_p2p_v5 p2p;
        struct rs_nccl_proxy_op proxyOp;
        struct rs_nccl_proxy_step proxyStep;
        struct rs_nccl_kernel_ch_v4 kernelCh;
        struct rs_nccl_net_plugin netPlugin;
        struct rs_nccl_ce_coll_v6 ceColl;
        struct rs_nccl_ce_sync ceCollSync;
        struct rs_nccl_ce_batch ceCollBatch;
    };
};
struct rs_nccl_descr_v7 {
    uint64_t type;
    void *parentObj;
    int rank;
    union {
        struct rs_nccl_group_api groupApi;
        struct rs_nccl_coll_api_v7 collApi;
        struct rs_nccl_p2p_api_v7 p2pApi;
        struct rs_nccl_kernel_launch kernelLaunch;
        struct rs_nccl_coll_v7 coll;
        struct rs_nccl_p2p_v7 p2p;
        struct rs_nccl_proxy_op proxyOp;
        struct rs_nccl_proxy_step proxyStep;
        struct rs_nccl_kernel_ch_v4 kernelCh;
        struct rs_nccl_net_plugin netPlugin;
        struct rs_nccl_ce_coll_v7 ceColl;
        struct rs_nccl_ce_sync ceCollSync;
        struct rs_nccl_ce_batch ceCollBatch;
        struct rs_nccl_kernel_phase kernelPhase;
    };
};

union rs_nccl_args_v1 { /* v1 to v3 */
    struct {
        size_t transSize;
        int steps;
    } proxyOp;
    struct {
        int appendedProxyOps;
    } proxyCtrl;
};
union rs_nccl_args_v4 { /* v4 to v7 */
    struct {
        size_t transSize; /* meaningful only with states 9 and 11 */
    } proxyStep;
    struct {
        int appendedProxyOps;
    } proxyCtrl;
    struct {
        void *data;
    } netPlugin;
    struct {
        uint64_t pTimer;
    } kernelCh; /* kernelPhase too */
};

#if defined(__x86_64__) || defined(__aarch64__)
_Static_assert(sizeof(struct rs_nccl_descr_v1) == 120, "v1 descriptor");
_Static_assert(sizeof(struct rs_nccl_descr_v2) == 128, "v2 descriptor");
_Static_assert(sizeof(struct rs_nccl_descr_v3) == 120, "v3 descriptor");
_Static_assert(sizeof(struct rs_nccl_descr_v4) == 104, "v4 descriptor");
_Static_assert(sizeof(struct rs_nccl_descr_v5) == 112, "v5 descriptor");
_Static_assert(sizeof(struct rs_nccl_descr_v6) == 112, "v6 descriptor");
_Static_assert(offsetof(struct rs_nccl_descr_v5, collApi.graphCaptured) == 64, "v5 collApi");
_Static_assert(offsetof(struct rs_nccl_descr_v5, coll.parentGroup) == 104, "v5 coll");
_Static_assert(offsetof(struct rs_nccl_descr_v5, p2p.parentGroup) == 64, "v5 p2p");
_Static_assert(offsetof(struct rs_nccl_descr_v5, proxyOp.isSend) == 44, "v5 proxyOp");
_Static_assert(offsetof(struct rs_nccl_descr_v6, ceColl.stream) == 104, "v6 ceColl");
_Static_assert(offsetof(struct rs_nccl_descr_v7, coll.userTag) == 128, "v7 coll");
#endif

/* ---- the exported objects ---- */

#define RS_NCCL_PLUGIN(V, INIT_ARGS, ARGS)                                                                             \
    struct rs_nccl_profiler_v##V {                                                                                     \
        const char *name;                                                                                              \
        rs_nccl_result(*init) INIT_ARGS;                                                                               \
        rs_nccl_result (*startEvent)(void *context, void **eHandle, struct rs_nccl_descr_v##V *eDescr);                \
        rs_nccl_result (*stopEvent)(void *eHandle);                                                                    \
        rs_nccl_result (*recordEventState)(void *eHandle, int eState, union ARGS *eStateArgs);                         \
        rs_nccl_result (*finalize)(void *context);                                                                     \
    }
#define RS_NCCL_INIT_V1 (void **context, int *eActivationMask)
#define RS_NCCL_INIT_V4                                                                                                \
    (void **context, int *eActivationMask, const char *commName, uint64_t commHash, int nNodes, int nranks, int rank,  \
     rs_nccl_logger logfn)
#define RS_NCCL_INIT_V5                                                                                                \
    (void **context, uint64_t commId, int *eActivationMask, const char *commName, int nNodes, int nranks, int rank,    \
     rs_nccl_logger logfn)
RS_NCCL_PLUGIN(1, RS_NCCL_INIT_V1, rs_nccl_args_v1);
RS_NCCL_PLUGIN(2, RS_NCCL_INIT_V1, rs_nccl_args_v1);
RS_NCCL_PLUGIN(3, RS_NCCL_INIT_V1, rs_nccl_args_v1);
RS_NCCL_PLUGIN(4, RS_NCCL_INIT_V4, rs_nccl_args_v4);
RS_NCCL_PLUGIN(5, RS_NCCL_INIT_V5, rs_nccl_args_v4);
RS_NCCL_PLUGIN(6, RS_NCCL_INIT_V5, rs_nccl_args_v4);
RS_NCCL_PLUGIN(7, RS_NCCL_INIT_V5, rs_nccl_args_v4);

#endif

#include "format/kinds.h"

#include <stddef.h>
#include <string.h>

#include "nccl/abi.h"

#define SMALL(name, shift, bits, format)                                                                               \
    {                                                                                                                  \
        name, RS_FROM_SMALL, 0, shift, bits, format                                                                    \
    }
#define WORD(name, word, shift, bits, format)                                                                          \
    {                                                                                                                  \
        name, RS_FROM_WORD, word, shift, bits, format                                                                  \
    }
#define ALL(name, word, format)                                                                                        \
    {                                                                                                                  \
        name, RS_FROM_WORD, word, 0, 64, format                                                                        \
    }
#define END                                                                                                            \
    {                                                                                                                  \
        NULL, 0, 0, 0, 0, 0                                                                                            \
    }

static const struct rs_field f_proxy_op[] = {WORD("pid", 0, 0, 32, RS_F_INT),
                                             SMALL("channelId", 0, 8, RS_F_UINT),
                                             WORD("peer", 0, 32, 32, RS_F_INT),
                                             WORD("nSteps", 1, 0, 32, RS_F_INT),
                                             WORD("chunkSize", 1, 32, 32, RS_F_INT),
                                             SMALL("isSend", 8, 16, RS_F_INT),
                                             END};
static const struct rs_field f_proxy_step[] = {SMALL("step", 0, 32, RS_F_INT), END};
static const struct rs_field f_kernel_ch[] = {SMALL("channelId", 0, 8, RS_F_UINT), ALL("pTimer", 0, RS_F_UINT), END};
static const struct rs_field f_kernel_ch_v3[] = {SMALL("channelId", 0, 8, RS_F_UINT), END};
static const struct rs_field f_kernel_phase[] = {SMALL("channelId", 0, 8, RS_F_UINT), SMALL("phaseId", 8, 8, RS_F_UINT),
                                                 WORD("phaseName", 1, 0, 16, RS_F_STRING), ALL("pTimer", 0, RS_F_UINT),
                                                 END};
static const struct rs_field f_net_plugin[] = {ALL("id", 0, RS_F_INT), ALL("data", 1, RS_F_POINTER), END};
static const struct rs_field f_net_ib[] = {SMALL("type", 0, 8, RS_F_UINT),
                                           WORD("device", 0, 0, 32, RS_F_INT),
                                           ALL("wr_id", 1, RS_F_UINT),
                                           WORD("opcode", 0, 32, 32, RS_F_INT),
                                           WORD("qpNum", 2, 0, 32, RS_F_INT),
                                           ALL("length", 3, RS_F_UINT),
                                           ALL("id", 4, RS_F_INT),
                                           END};
static const struct rs_field f_net_sock[] = {SMALL("type", 0, 8, RS_F_UINT),  WORD("fd", 0, 0, 32, RS_F_INT),
                                             WORD("op", 0, 32, 32, RS_F_INT), ALL("length", 1, RS_F_UINT),
                                             ALL("id", 2, RS_F_INT),          END};
static const struct rs_field f_net_update_ib[] = {
    WORD("device", 0, 0, 32, RS_F_INT), ALL("wr_id", 1, RS_F_UINT),  WORD("opcode", 0, 32, 32, RS_F_INT),
    WORD("qpNum", 2, 0, 32, RS_F_INT),  ALL("length", 3, RS_F_UINT), END};
static const struct rs_field f_net_update_sock[] = {WORD("fd", 0, 0, 32, RS_F_INT), WORD("op", 0, 32, 32, RS_F_INT),
                                                    ALL("length", 1, RS_F_UINT), END};
static const struct rs_field f_group_api[] = {SMALL("graphCaptured", 0, 1, RS_F_BOOL),
                                              SMALL("groupDepth", 1, 32, RS_F_INT), END};

#define COLL_API_FIELDS                                                                                                \
    WORD("func", 1, 32, 16, RS_F_STRING), ALL("count", 0, RS_F_UINT), WORD("datatype", 1, 48, 16, RS_F_STRING),        \
        WORD("root", 1, 0, 32, RS_F_INT), ALL("stream", 2, RS_F_POINTER), SMALL("graphCaptured", 0, 1, RS_F_BOOL)
static const struct rs_field f_coll_api[] = {COLL_API_FIELDS, END};
static const struct rs_field f_coll_api_v7[] = {COLL_API_FIELDS, ALL("userTag", 3, RS_F_UINT), END};

#define P2P_API_FIELDS                                                                                                 \
    WORD("func", 1, 0, 16, RS_F_STRING), ALL("count", 0, RS_F_UINT), WORD("datatype", 1, 16, 16, RS_F_STRING),         \
        ALL("stream", 2, RS_F_POINTER), SMALL("graphCaptured", 0, 1, RS_F_BOOL)
static const struct rs_field f_p2p_api[] = {P2P_API_FIELDS, END};
static const struct rs_field f_p2p_api_v7[] = {P2P_API_FIELDS, ALL("userTag", 3, RS_F_UINT), END};

static const struct rs_field f_kernel_launch[] = {ALL("stream", 0, RS_F_POINTER), END};

static const struct rs_field f_coll_v1[] = {ALL("commHash", 6, RS_F_HASH),
                                            WORD("name", 7, 48, 16, RS_F_STRING),
                                            ALL("seqNumber", 0, RS_F_UINT),
                                            WORD("func", 7, 0, 8, RS_F_FUNC_V1),
                                            ALL("sendBuff", 3, RS_F_POINTER),
                                            ALL("recvBuff", 4, RS_F_POINTER),
                                            ALL("count", 2, RS_F_UINT),
                                            WORD("root", 1, 0, 32, RS_F_INT),
                                            WORD("datatype", 7, 8, 8, RS_F_DTYPE_V1),
                                            WORD("op", 1, 32, 32, RS_F_UINT),
                                            ALL("trafficBytes", 5, RS_F_UINT),
                                            SMALL("nMaxChannels", 0, 8, RS_F_UINT),
                                            SMALL("nWarps", 8, 8, RS_F_UINT),
                                            WORD("algo", 7, 16, 8, RS_F_ALGO_V1),
                                            WORD("proto", 7, 24, 8, RS_F_PROTO_V1),
                                            WORD("isCollnet", 7, 32, 8, RS_F_INT),
                                            WORD("isNvls", 7, 40, 8, RS_F_INT),
                                            END};

/* Words 0-4 are common to the collectives of v2 and newer. */
#define COLL_FIELDS                                                                                                    \
    ALL("seqNumber", 0, RS_F_UINT), WORD("func", 1, 0, 16, RS_F_STRING), ALL("sendBuff", 3, RS_F_POINTER),             \
        ALL("recvBuff", 4, RS_F_POINTER), ALL("count", 2, RS_F_UINT), WORD("root", 5, 0, 32, RS_F_INT),                \
        WORD("datatype", 1, 16, 16, RS_F_STRING), WORD("algo", 1, 32, 16, RS_F_STRING),                                \
        WORD("proto", 1, 48, 16, RS_F_STRING)
#define COLL_OLD_FIELDS                                                                                                \
    ALL("commHash", 6, RS_F_HASH), WORD("name", 5, 32, 16, RS_F_STRING), COLL_FIELDS,                                  \
        SMALL("nMaxChannels", 0, 8, RS_F_UINT), SMALL("nWarps", 8, 8, RS_F_UINT)
#define COLL_NEW_FIELDS COLL_FIELDS, SMALL("nChannels", 0, 8, RS_F_UINT), SMALL("nWarps", 8, 8, RS_F_UINT)
static const struct rs_field f_coll_v2[] = {COLL_OLD_FIELDS, ALL("trafficBytes", 7, RS_F_UINT), END};
static const struct rs_field f_coll_v3[] = {COLL_OLD_FIELDS, END};
static const struct rs_field f_coll_v4[] = {COLL_NEW_FIELDS, END};
static const struct rs_field f_coll[] = {COLL_NEW_FIELDS, ALL("parentGroup", 6, RS_F_HANDLE), END};
static const struct rs_field f_coll_v7[] = {COLL_NEW_FIELDS,
                                            ALL("parentGroup", 6, RS_F_HANDLE),
                                            WORD("kernelVariant", 5, 32, 16, RS_F_STRING),
                                            SMALL("isSymColl", 16, 1, RS_F_BOOL),
                                            ALL("userTag", 7, RS_F_UINT),
                                            END};

static const struct rs_field f_p2p_v1[] = {ALL("commHash", 3, RS_F_HASH),          WORD("name", 1, 32, 16, RS_F_STRING),
                                           SMALL("func", 0, 8, RS_F_FUNC_V1),      ALL("buff", 2, RS_F_POINTER),
                                           SMALL("datatype", 8, 8, RS_F_DTYPE_V1), ALL("count", 0, RS_F_UINT),
                                           WORD("peer", 1, 0, 32, RS_F_INT),       END};
#define P2P_FIELDS                                                                                                     \
    WORD("func", 3, 0, 16, RS_F_STRING), ALL("buff", 2, RS_F_POINTER), WORD("datatype", 3, 16, 16, RS_F_STRING),       \
        ALL("count", 0, RS_F_UINT), WORD("peer", 1, 0, 32, RS_F_INT)
static const struct rs_field f_p2p_v2[] = {ALL("commHash", 4, RS_F_HASH), WORD("name", 3, 32, 16, RS_F_STRING),
                                           P2P_FIELDS, END};
static const struct rs_field f_p2p_v4[] = {P2P_FIELDS, SMALL("nChannels", 0, 8, RS_F_UINT), END};
static const struct rs_field f_p2p[] = {P2P_FIELDS, SMALL("nChannels", 0, 8, RS_F_UINT),
                                        ALL("parentGroup", 4, RS_F_HANDLE), END};
static const struct rs_field f_p2p_v7[] = {P2P_FIELDS, SMALL("nChannels", 0, 8, RS_F_UINT),
                                           ALL("parentGroup", 4, RS_F_HANDLE), ALL("userTag", 5, RS_F_UINT), END};

#define CE_COLL_FIELDS                                                                                                 \
    ALL("seqNumber", 0, RS_F_UINT), WORD("func", 1, 0, 16, RS_F_STRING), ALL("sendBuff", 3, RS_F_POINTER),             \
        ALL("recvBuff", 4, RS_F_POINTER), ALL("count", 2, RS_F_UINT), WORD("root", 5, 0, 32, RS_F_INT),                \
        WORD("datatype", 1, 16, 16, RS_F_STRING), WORD("syncStrategy", 1, 32, 16, RS_F_STRING),                        \
        SMALL("intraBatchSync", 0, 1, RS_F_BOOL), WORD("batchSize", 5, 32, 32, RS_F_UINT),                             \
        WORD("numBatches", 6, 0, 32, RS_F_UINT), WORD("ceSeqNum", 6, 32, 32, RS_F_UINT),                               \
        ALL("stream", 7, RS_F_POINTER)
static const struct rs_field f_ce_coll[] = {CE_COLL_FIELDS, END};
static const struct rs_field f_ce_coll_v7[] = {CE_COLL_FIELDS, ALL("userTag", 8, RS_F_UINT), END};
static const struct rs_field f_ce_sync[] = {SMALL("isComplete", 0, 1, RS_F_BOOL), WORD("nRanks", 0, 0, 32, RS_F_INT),
                                            END};
static const struct rs_field f_ce_batch[] = {WORD("numOps", 0, 0, 32, RS_F_INT), ALL("totalBytes", 1, RS_F_UINT),
                                             SMALL("useIntraSync", 0, 1, RS_F_BOOL), END};
static const struct rs_field f_raw[] = {ALL("type", 0, RS_F_UINT),
                                        SMALL("api", 0, 8, RS_F_UINT),
                                        ALL("raw0", 1, RS_F_UINT),
                                        ALL("raw1", 2, RS_F_UINT),
                                        ALL("raw2", 3, RS_F_UINT),
                                        ALL("raw3", 4, RS_F_UINT),
                                        ALL("raw4", 5, RS_F_UINT),
                                        ALL("raw5", 6, RS_F_UINT),
                                        ALL("raw6", 7, RS_F_UINT),
                                        ALL("raw7", 8, RS_F_UINT),
                                        ALL("raw8", 9, RS_F_UINT),
                                        ALL("raw9", 10, RS_F_UINT),
                                        ALL("raw10", 11, RS_F_UINT),
                                        ALL("raw11", 12, RS_F_UINT),
                                        ALL("raw12", 13, RS_F_UINT),
                                        ALL("raw13", 14, RS_F_UINT),
                                        END};

const struct rs_kind_info rs_kind_starts[RS_K_START_END - RS_K_START] = {
    [RS_K_GROUP - RS_K_START] = {RS_GROUP, NULL},
    [RS_K_PROXY_OP - RS_K_START] = {RS_PROXY_OP, f_proxy_op},
    [RS_K_PROXY_STEP - RS_K_START] = {RS_PROXY_STEP, f_proxy_step},
    [RS_K_PROXY_CTRL - RS_K_START] = {RS_PROXY_CTRL, NULL},
    [RS_K_KERNEL_CH - RS_K_START] = {RS_KERNEL_CH, f_kernel_ch},
    [RS_K_KERNEL_CH_V3 - RS_K_START] = {RS_KERNEL_CH, f_kernel_ch_v3},
    [RS_K_KERNEL_PHASE - RS_K_START] = {RS_KERNEL_PHASE, f_kernel_phase},
    [RS_K_NET_PLUGIN - RS_K_START] = {RS_NET_PLUGIN, f_net_plugin},
    [RS_K_NET_IB - RS_K_START] = {RS_NET_PLUGIN, f_net_ib},
    [RS_K_NET_SOCK - RS_K_START] = {RS_NET_PLUGIN, f_net_sock},
    [RS_K_GROUP_API - RS_K_START] = {RS_GROUP_API, f_group_api},
    [RS_K_COLL_API - RS_K_START] = {RS_COLL_API, f_coll_api},
    [RS_K_COLL_API_V7 - RS_K_START] = {RS_COLL_API, f_coll_api_v7},
    [RS_K_P2P_API - RS_K_START] = {RS_P2P_API, f_p2p_api},
    [RS_K_P2P_API_V7 - RS_K_START] = {RS_P2P_API, f_p2p_api_v7},
    [RS_K_KERNEL_LAUNCH - RS_K_START] = {RS_KERNEL_LAUNCH, f_kernel_launch},
    [RS_K_COLL_V1 - RS_K_START] = {RS_COLL, f_coll_v1},
    [RS_K_COLL_V2 - RS_K_START] = {RS_COLL, f_coll_v2},
    [RS_K_COLL_V3 - RS_K_START] = {RS_COLL, f_coll_v3},
    [RS_K_COLL_V4 - RS_K_START] = {RS_COLL, f_coll_v4},
    [RS_K_COLL - RS_K_START] = {RS_COLL, f_coll},
    [RS_K_COLL_V7 - RS_K_START] = {RS_COLL, f_coll_v7},
    [RS_K_P2P_V1 - RS_K_START] = {RS_P2P, f_p2p_v1},
    [RS_K_P2P_V2 - RS_K_START] = {RS_P2P, f_p2p_v2},
    [RS_K_P2P_V4 - RS_K_START] = {RS_P2P, f_p2p_v4},
    [RS_K_P2P - RS_K_START] = {RS_P2P, f_p2p},
    [RS_K_P2P_V7 - RS_K_START] = {RS_P2P, f_p2p_v7},
    [RS_K_CE_COLL - RS_K_START] = {RS_CE_COLL, f_ce_coll},
    [RS_K_CE_COLL_V7 - RS_K_START] = {RS_CE_COLL, f_ce_coll_v7},
    [RS_K_CE_SYNC - RS_K_START] = {RS_CE_SYNC, f_ce_sync},
    [RS_K_CE_BATCH - RS_K_START] = {RS_CE_BATCH, f_ce_batch},
    [RS_K_START_RAW - RS_K_START] = {0, f_raw},
};

/* clang-format off */
#define NO 0xff
const uint8_t rs_kind_args[256] = {
    [0] = NO,
    [RS_K_STOP] = 0, [RS_K_STATE_V1] = 2, [RS_K_STATE_RAW] = 2, [RS_K_LOST] = 2 + RS_LOST_COUNTS,
    [RS_K_TICK_BASE] = 1, [RS_K_THREAD] = 3, [RS_K_HANDLE] = 1, [RS_K_NET_UPDATE_IB] = 4, [RS_K_NET_UPDATE_SOCK] = 2,
    [0x0a ... 0x0f] = NO,
    [RS_K_GROUP] = 0, [RS_K_PROXY_OP] = 2, [RS_K_PROXY_STEP] = 0, [RS_K_PROXY_CTRL] = 0,
    [RS_K_KERNEL_CH] = 1, [RS_K_KERNEL_CH_V3] = 0, [RS_K_KERNEL_PHASE] = 2,
    [RS_K_NET_PLUGIN] = 2, [RS_K_NET_IB] = 5, [RS_K_NET_SOCK] = 3,
    [RS_K_GROUP_API] = 0, [RS_K_COLL_API] = 3, [RS_K_COLL_API_V7] = 4, [RS_K_P2P_API] = 3, [RS_K_P2P_API_V7] = 4,
    [RS_K_KERNEL_LAUNCH] = 1,
    [RS_K_COLL_V1] = 8, [RS_K_COLL_V2] = 8, [RS_K_COLL_V3] = 7, [RS_K_COLL_V4] = 6, [RS_K_COLL] = 7, [RS_K_COLL_V7] = 8,
    [RS_K_P2P_V1] = 4, [RS_K_P2P_V2] = 5, [RS_K_P2P_V4] = 4, [RS_K_P2P] = 5, [RS_K_P2P_V7] = 6,
    [RS_K_CE_COLL] = 8, [RS_K_CE_COLL_V7] = 9, [RS_K_CE_SYNC] = 1, [RS_K_CE_BATCH] = 2,
    [RS_K_START_RAW] = 1 + RS_RAW_WORDS,
    [RS_K_START_END ... RS_K_STATE - 1] = NO,
    [RS_K_STATE ... RS_K_STATE_ARG - 1] = 0,
    [RS_K_STATE_ARG ... RS_K_LIMIT - 1] = 1,
    [RS_K_LIMIT ... 0xff] = NO,
};
/* clang-format on */

void rs_kind_find_fields(const char *const *names, unsigned n, const struct rs_field **found)
{
    for (unsigned kind = RS_K_START; kind < RS_K_START_END; kind++) {
        const struct rs_field **row = found + (size_t)(kind - RS_K_START) * n;
        for (unsigned i = 0; i < n; i++) row[i] = NULL;
        for (const struct rs_field *f = rs_kind_start(kind)->fields; f && f->name; f++)
            for (unsigned i = 0; i < n; i++)
                if (*f->name == *names[i] && !strcmp(f->name, names[i])) row[i] = f;
    }
}

const struct rs_field *rs_kind_state_fields(unsigned kind)
{
    return kind == RS_K_NET_UPDATE_IB ? f_net_update_ib : kind == RS_K_NET_UPDATE_SOCK ? f_net_update_sock : NULL;
}

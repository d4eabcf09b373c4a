#include "plugin/start.h"

#include <stdatomic.h>

#include "plugin/facts.h"
#include "plugin/recorder.h"

static uint64_t four(const char *a, const char *b, const char *c, const char *d)
{
    return rs_string_id(a) | rs_string_id(b) << 16 | rs_string_id(c) << 32 | rs_string_id(d) << 48;
}

/* With RINGSCOPE_KEEP=last: records a captured parent as a fact too. */
static void keep_captured(const struct rs_write *w, uint64_t handle)
{
    uint64_t head[2] = {handle, w->buffer->tick_now};
    rs_fact(RS_FACT_CAPTURED, rs_tick(), head, sizeof head, w->word, w->n * sizeof *w->word);
}

/* Ends a start that may be the parent of every replay of a captured graph. */
static void *end_api_start(struct rs_write *w, bool captured)
{
    if (captured && rs_keep_captured) keep_captured(w, w->buffer->first_handle + (w->commit >> 32));
    return rs_write_end_start(w);
}

void *rs_start_proxy_step(struct rs_common c, const struct rs_nccl_proxy_step *d)
{
    RS_START(RS_K_PROXY_STEP, RS_PROXY_STEP, c, (uint32_t)d->step);
    return rs_write_end_start(&w);
}

void *rs_start_kernel_phase(struct rs_common c, const struct rs_nccl_kernel_phase *d)
{
    uint64_t name = rs_string_id(d->phaseName);
    RS_START(RS_K_KERNEL_PHASE, RS_KERNEL_PHASE, c, d->channelId | (uint64_t)d->phaseId << 8);
    rs_put(&w, d->pTimer);
    rs_put(&w, name);
    return rs_write_end_start(&w);
}

/* The one id seen so far, or -1 once there were several. */
static _Atomic int64_t net_id;

int64_t rs_net_payload(void)
{
    int64_t id = atomic_load_explicit(&net_id, memory_order_relaxed);
    return id > 0 ? id : 0;
}

void *rs_start_net_plugin(struct rs_common c, const struct rs_nccl_net_plugin *d)
{
    int64_t seen = atomic_load_explicit(&net_id, memory_order_relaxed);
    if (seen != d->id && (seen || !atomic_compare_exchange_strong(&net_id, &seen, d->id)) && seen != d->id)
        atomic_store_explicit(&net_id, -1, memory_order_relaxed);
    if (d->data && d->id == (RS_NCCL_NET_IB | 1)) {
        const struct rs_nccl_net_ib_v1 *ib = d->data;
        RS_START(RS_K_NET_IB, RS_NET_PLUGIN, c, ib->type);
        rs_put(&w, rs_pair(ib->qp.device, ib->qp.opcode));
        rs_put(&w, ib->qp.wr_id);
        rs_put(&w, (uint32_t)ib->qp.qpNum);
        rs_put(&w, ib->qp.length);
        rs_put(&w, (uint64_t)d->id);
        return rs_write_end_start(&w);
    }
    if (d->data && d->id == (RS_NCCL_NET_SOCK | 1)) {
        const struct rs_nccl_net_sock_v1 *s = d->data;
        RS_START(RS_K_NET_SOCK, RS_NET_PLUGIN, c, s->type);
        rs_put(&w, rs_pair(s->sock.fd, s->sock.op));
        rs_put(&w, s->sock.length);
        rs_put(&w, (uint64_t)d->id);
        return rs_write_end_start(&w);
    }
    RS_START(RS_K_NET_PLUGIN, RS_NET_PLUGIN, c, 0);
    rs_put(&w, (uint64_t)d->id);
    rs_put(&w, rs_address(d->data));
    return rs_write_end_start(&w);
}

#define COLL_API_WORDS                                                                                                 \
    rs_put(&w, d->count);                                                                                              \
    rs_put(&w, (uint32_t)d->root | strings);                                                                           \
    rs_put(&w, rs_address(d->stream))

void *rs_start_coll_api_v5(struct rs_common c, const struct rs_nccl_coll_api_v5 *d)
{
    uint64_t strings = four(NULL, NULL, d->func, d->datatype);
    RS_START(RS_K_COLL_API, RS_COLL_API, c, d->graphCaptured);
    COLL_API_WORDS;
    return end_api_start(&w, d->graphCaptured);
}

void *rs_start_coll_api_v7(struct rs_common c, const struct rs_nccl_coll_api_v7 *d)
{
    uint64_t strings = four(NULL, NULL, d->func, d->datatype);
    RS_START(RS_K_COLL_API_V7, RS_COLL_API, c, d->graphCaptured);
    COLL_API_WORDS;
    rs_put(&w, d->userTag);
    return end_api_start(&w, d->graphCaptured);
}

#define P2P_API_WORDS                                                                                                  \
    rs_put(&w, d->count);                                                                                              \
    rs_put(&w, strings);                                                                                               \
    rs_put(&w, rs_address(d->stream))

void *rs_start_p2p_api_v5(struct rs_common c, const struct rs_nccl_p2p_api_v5 *d)
{
    uint64_t strings = four(d->func, d->datatype, NULL, NULL);
    RS_START(RS_K_P2P_API, RS_P2P_API, c, d->graphCaptured);
    P2P_API_WORDS;
    return end_api_start(&w, d->graphCaptured);
}

void *rs_start_p2p_api_v7(struct rs_common c, const struct rs_nccl_p2p_api_v7 *d)
{
    uint64_t strings = four(d->func, d->datatype, NULL, NULL);
    RS_START(RS_K_P2P_API_V7, RS_P2P_API, c, d->graphCaptured);
    P2P_API_WORDS;
    rs_put(&w, d->userTag);
    return end_api_start(&w, d->graphCaptured);
}

void *rs_start_coll_v1(struct rs_common c, const struct rs_nccl_coll_v1 *d)
{
    uint64_t name = rs_string_id(d->name);
    RS_START(RS_K_COLL_V1, RS_COLL, c, d->nMaxChannels | (uint64_t)d->nWarps << 8);
    rs_put(&w, d->seqNumber);
    rs_put(&w, rs_pair(d->root, d->op));
    rs_put(&w, d->count);
    rs_put(&w, rs_address(d->sendBuff));
    rs_put(&w, rs_address(d->recvBuff));
    rs_put(&w, d->trafficBytes);
    rs_put(&w, d->commHash);
    rs_put(&w, d->func | (uint64_t)d->datatype << 8 | (uint64_t)d->algo << 16 | (uint64_t)d->proto << 24 |
                   (uint64_t)(uint8_t)d->isCollnet << 32 | (uint64_t)(uint8_t)d->isNvls << 40 | name << 48);
    return rs_write_end_start(&w);
}

/* The five words that the collectives of v2 and newer share. */
#define COLL_WORDS                                                                                                     \
    rs_put(&w, d->seqNumber);                                                                                          \
    rs_put(&w, strings);                                                                                               \
    rs_put(&w, d->count);                                                                                              \
    rs_put(&w, rs_address(d->sendBuff));                                                                               \
    rs_put(&w, rs_address(d->recvBuff))
#define COLL_STRINGS uint64_t strings = four(d->func, d->datatype, d->algo, d->proto)

void *rs_start_coll_v2(struct rs_common c, const struct rs_nccl_coll_v2 *d)
{
    COLL_STRINGS, name = rs_string_id(d->name);
    RS_START(RS_K_COLL_V2, RS_COLL, c, d->nMaxChannels | (uint64_t)d->nWarps << 8);
    COLL_WORDS;
    rs_put(&w, (uint32_t)d->root | name << 32);
    rs_put(&w, d->commHash);
    rs_put(&w, d->trafficBytes);
    return rs_write_end_start(&w);
}

void *rs_start_coll_v3(struct rs_common c, const struct rs_nccl_coll_v3 *d)
{
    COLL_STRINGS, name = rs_string_id(d->name);
    RS_START(RS_K_COLL_V3, RS_COLL, c, d->nMaxChannels | (uint64_t)d->nWarps << 8);
    COLL_WORDS;
    rs_put(&w, (uint32_t)d->root | name << 32);
    rs_put(&w, d->commHash);
    return rs_write_end_start(&w);
}

void *rs_start_coll_v4(struct rs_common c, const struct rs_nccl_coll_v4 *d)
{
    COLL_STRINGS;
    RS_START(RS_K_COLL_V4, RS_COLL, c, d->nChannels | (uint64_t)d->nWarps << 8);
    COLL_WORDS;
    rs_put(&w, (uint32_t)d->root);
    return rs_write_end_start(&w);
}

void *rs_start_coll_v5(struct rs_common c, const struct rs_nccl_coll_v5 *d)
{
    COLL_STRINGS;
    RS_START(RS_K_COLL, RS_COLL, c, d->nChannels | (uint64_t)d->nWarps << 8);
    COLL_WORDS;
    rs_put(&w, (uint32_t)d->root);
    rs_put(&w, rs_address(d->parentGroup));
    return rs_write_end_start(&w);
}

void *rs_start_coll_v7(struct rs_common c, const struct rs_nccl_coll_v7 *d)
{
    COLL_STRINGS, variant = rs_string_id(d->kernelVariant);
    RS_START(RS_K_COLL_V7, RS_COLL, c, d->nChannels | (uint64_t)d->nWarps << 8 | (uint64_t)d->isSymColl << 16);
    COLL_WORDS;
    rs_put(&w, (uint32_t)d->root | variant << 32);
    rs_put(&w, rs_address(d->parentGroup));
    rs_put(&w, d->userTag);
    return rs_write_end_start(&w);
}

void *rs_start_p2p_v1(struct rs_common c, const struct rs_nccl_p2p_v1 *d)
{
    uint64_t name = rs_string_id(d->name);
    RS_START(RS_K_P2P_V1, RS_P2P, c, d->func | (uint64_t)d->datatype << 8);
    rs_put(&w, d->count);
    rs_put(&w, (uint32_t)d->peer | name << 32);
    rs_put(&w, rs_address(d->buff));
    rs_put(&w, d->commHash);
    return rs_write_end_start(&w);
}

/* The four words that point to point of v2 and newer share. */
#define P2P_WORDS                                                                                                      \
    rs_put(&w, d->count);                                                                                              \
    rs_put(&w, (uint32_t)d->peer);                                                                                     \
    rs_put(&w, rs_address(d->buff));                                                                                   \
    rs_put(&w, strings)

void *rs_start_p2p_v2(struct rs_common c, const struct rs_nccl_p2p_v2 *d)
{
    uint64_t strings = four(d->func, d->datatype, d->name, NULL);
    RS_START(RS_K_P2P_V2, RS_P2P, c, 0);
    P2P_WORDS;
    rs_put(&w, d->commHash);
    return rs_write_end_start(&w);
}

void *rs_start_p2p_v4(struct rs_common c, const struct rs_nccl_p2p_v4 *d)
{
    uint64_t strings = four(d->func, d->datatype, NULL, NULL);
    RS_START(RS_K_P2P_V4, RS_P2P, c, d->nChannels);
    P2P_WORDS;
    return rs_write_end_start(&w);
}

void *rs_start_p2p_v5(struct rs_common c, const struct rs_nccl_p2p_v5 *d)
{
    uint64_t strings = four(d->func, d->datatype, NULL, NULL);
    RS_START(RS_K_P2P, RS_P2P, c, d->nChannels);
    P2P_WORDS;
    rs_put(&w, rs_address(d->parentGroup));
    return rs_write_end_start(&w);
}

void *rs_start_p2p_v7(struct rs_common c, const struct rs_nccl_p2p_v7 *d)
{
    uint64_t strings = four(d->func, d->datatype, NULL, NULL);
    RS_START(RS_K_P2P_V7, RS_P2P, c, d->nChannels);
    P2P_WORDS;
    rs_put(&w, rs_address(d->parentGroup));
    rs_put(&w, d->userTag);
    return rs_write_end_start(&w);
}

/* The eight words of a copy-engine collective. */
#define CE_COLL_WORDS                                                                                                  \
    rs_put(&w, d->seqNumber);                                                                                          \
    rs_put(&w, strings);                                                                                               \
    rs_put(&w, d->count);                                                                                              \
    rs_put(&w, rs_address(d->sendBuff));                                                                               \
    rs_put(&w, rs_address(d->recvBuff));                                                                               \
    rs_put(&w, rs_pair(d->root, d->batchSize));                                                                        \
    rs_put(&w, rs_pair(d->numBatches, d->ceSeqNum));                                                                   \
    rs_put(&w, rs_address(d->stream))

void *rs_start_ce_coll_v6(struct rs_common c, const struct rs_nccl_ce_coll_v6 *d)
{
    uint64_t strings = four(d->func, d->datatype, d->syncStrategy, NULL);
    RS_START(RS_K_CE_COLL, RS_CE_COLL, c, d->intraBatchSync);
    CE_COLL_WORDS;
    return rs_write_end_start(&w);
}

void *rs_start_ce_coll_v7(struct rs_common c, const struct rs_nccl_ce_coll_v7 *d)
{
    uint64_t strings = four(d->func, d->datatype, d->syncStrategy, NULL);
    RS_START(RS_K_CE_COLL_V7, RS_CE_COLL, c, d->intraBatchSync);
    CE_COLL_WORDS;
    rs_put(&w, d->userTag);
    return rs_write_end_start(&w);
}

void *rs_start_ce_sync(struct rs_common c, const struct rs_nccl_ce_sync *d)
{
    RS_START(RS_K_CE_SYNC, RS_CE_SYNC, c, d->isComplete);
    rs_put(&w, (uint32_t)d->nRanks);
    return rs_write_end_start(&w);
}

void *rs_start_ce_batch(struct rs_common c, const struct rs_nccl_ce_batch *d)
{
    RS_START(RS_K_CE_BATCH, RS_CE_BATCH, c, d->useIntraSync);
    rs_put(&w, (uint32_t)d->numOps);
    rs_put(&w, d->totalBytes);
    return rs_write_end_start(&w);
}

void *rs_start_raw(struct rs_common c, uint64_t type, int api, const void *members, size_t bytes)
{
    uint64_t raw[RS_RAW_WORDS] = {0};
    memcpy(raw, members, bytes < sizeof raw ? bytes : sizeof raw);
    RS_START(RS_K_START_RAW, 1u << RS_LOST_START_RAW, c, (uint64_t)api);
    rs_put(&w, type);
    for (int i = 0; i < RS_RAW_WORDS; i++) rs_put(&w, raw[i]);
    return rs_write_end_start(&w);
}

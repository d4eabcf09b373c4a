/* Starts: one function per layout of an event's descriptor, which writes its record.
 *
 * Each takes the members of its layout (nccl/abi.h) and writes the words that format/kinds.c describes. A version's
 * startEvent (entry.c) selects by type. All return the handle for NCCL, even if the record found no room. */
#ifndef RS_PLUGIN_START_H
#define RS_PLUGIN_START_H

#include <string.h>

#include "nccl/abi.h"
#include "plugin/detail.h"
#include "plugin/masks.h"
#include "plugin/record.h"
#include "plugin/strings.h"

/* What every descriptor begins with. */
struct rs_common {
    void *context, *parent;
    int rank;
};

#define RS_START(kind, type_bit, c, small)                                                                             \
    struct rs_write w;                                                                                                 \
    if (!rs_write_begin(&w)) return (void *)(uintptr_t)rs_lost_start((unsigned)__builtin_ctz(type_bit));               \
    rs_put_start(&w, kind, (c).context, (c).parent, (c).rank, small)

RS_INLINE uint64_t rs_pair(int64_t low, int64_t high)
{
    return (uint32_t)low | (uint64_t)(uint32_t)high << 32;
}
RS_INLINE uint64_t rs_address(const void *p)
{
    return (uintptr_t)p;
}

void *rs_start_proxy_step(struct rs_common c, const struct rs_nccl_proxy_step *d);

/* Most callbacks of a job with a network are about proxy steps. */
RS_INLINE bool rs_start_proxy_step_fast(void *context, void *const *parent, const int *rank, const int *step,
                                        void **handle)
{
    struct rs_write w;
    if (!RS_LIKELY((uintptr_t)context - rs_context_base < RS_CTX_ESCAPE && (unsigned)*rank < RS_RANK_LIMIT &&
                   (unsigned)*step < RS_SMALL_ESCAPE) ||
        !RS_LIKELY(rs_write_begin_fast(&w, RS_K_PROXY_STEP, parent)))
        return false;
    /* Read again rather than kept, to stay within the registers that need not be saved. The base has zeros where the
     * index is. */
    rs_put(&w, rs_start_word((uint16_t)(uintptr_t)context, *rank, (unsigned)*step));
    *handle = rs_write_end_start(&w);
    return true;
}

RS_INLINE void *rs_start_proxy_op(struct rs_common c, const struct rs_nccl_proxy_op *d)
{
    RS_START(RS_K_PROXY_OP, RS_PROXY_OP, c, d->channelId | (uint64_t)(uint16_t)d->isSend << 8);
    rs_put(&w, rs_pair(d->pid, d->peer));
    rs_put(&w, rs_pair(d->nSteps, d->chunkSize));
    return rs_write_end_start(&w);
}

RS_INLINE void *rs_start_plain(struct rs_common c, unsigned kind, unsigned type)
{
    RS_START(kind, type, c, 0);
    return rs_write_end_start(&w);
}

RS_INLINE void *rs_start_kernel_ch_v3(struct rs_common c, const struct rs_nccl_kernel_ch_v3 *d)
{
    RS_START(RS_K_KERNEL_CH_V3, RS_KERNEL_CH, c, d->channelId);
    return rs_write_end_start(&w);
}

RS_INLINE void *rs_start_kernel_ch(struct rs_common c, const struct rs_nccl_kernel_ch_v4 *d)
{
    RS_START(RS_K_KERNEL_CH, RS_KERNEL_CH, c, d->channelId);
    rs_put(&w, d->pTimer);
    return rs_write_end_start(&w);
}

/* *tick: of the record; unchanged if there was no room. */
RS_INLINE void *rs_record_group_api(struct rs_common c, const struct rs_nccl_group_api *d, uint64_t *tick)
{
    RS_START(RS_K_GROUP_API, RS_GROUP_API, c, (uint64_t)d->graphCaptured | (uint64_t)(uint32_t)d->groupDepth << 1);
    *tick = w.buffer->tick_now + (w.tick >> 32);
    return rs_write_end_start(&w);
}

RS_INLINE void *rs_start_group_api(struct rs_common c, const struct rs_nccl_group_api *d)
{
    uint64_t tick = 0;
    void *handle = rs_record_group_api(c, d, &tick);
    if (!RS_LIKELY(!atomic_load_explicit(&rs_detail_watching, memory_order_relaxed))) rs_detail_called(tick);
    rs_group_opened(c.context, handle, d->groupDepth);
    return handle;
}

RS_INLINE void *rs_start_kernel_launch(struct rs_common c, const struct rs_nccl_kernel_launch *d)
{
    rs_group_launched(c.parent);
    RS_START(RS_K_KERNEL_LAUNCH, RS_KERNEL_LAUNCH, c, 0);
    rs_put(&w, rs_address(d->stream));
    return rs_write_end_start(&w);
}

/* These have strings or are rare: not inlined, so that the others stay small. */
void *rs_start_kernel_phase(struct rs_common c, const struct rs_nccl_kernel_phase *d);
void *rs_start_net_plugin(struct rs_common c, const struct rs_nccl_net_plugin *d);
void *rs_start_coll_api_v5(struct rs_common c, const struct rs_nccl_coll_api_v5 *d);
void *rs_start_coll_api_v7(struct rs_common c, const struct rs_nccl_coll_api_v7 *d);
void *rs_start_p2p_api_v5(struct rs_common c, const struct rs_nccl_p2p_api_v5 *d);
void *rs_start_p2p_api_v7(struct rs_common c, const struct rs_nccl_p2p_api_v7 *d);
void *rs_start_coll_v1(struct rs_common c, const struct rs_nccl_coll_v1 *d);
void *rs_start_coll_v2(struct rs_common c, const struct rs_nccl_coll_v2 *d);
void *rs_start_coll_v3(struct rs_common c, const struct rs_nccl_coll_v3 *d);
void *rs_start_coll_v4(struct rs_common c, const struct rs_nccl_coll_v4 *d);
void *rs_start_coll_v5(struct rs_common c, const struct rs_nccl_coll_v5 *d);
void *rs_start_coll_v7(struct rs_common c, const struct rs_nccl_coll_v7 *d);
void *rs_start_p2p_v1(struct rs_common c, const struct rs_nccl_p2p_v1 *d);
void *rs_start_p2p_v2(struct rs_common c, const struct rs_nccl_p2p_v2 *d);
void *rs_start_p2p_v4(struct rs_common c, const struct rs_nccl_p2p_v4 *d);
void *rs_start_p2p_v5(struct rs_common c, const struct rs_nccl_p2p_v5 *d);
void *rs_start_p2p_v7(struct rs_common c, const struct rs_nccl_p2p_v7 *d);
void *rs_start_ce_coll_v6(struct rs_common c, const struct rs_nccl_ce_coll_v6 *d);
void *rs_start_ce_coll_v7(struct rs_common c, const struct rs_nccl_ce_coll_v7 *d);
void *rs_start_ce_sync(struct rs_common c, const struct rs_nccl_ce_sync *d);
void *rs_start_ce_batch(struct rs_common c, const struct rs_nccl_ce_batch *d);
/* A type unknown to this version: the whole union of its descriptor. */
void *rs_start_raw(struct rs_common c, uint64_t type, int api, const void *members, size_t bytes);

/* The kind of payload of state 21, from the network events started so far. 0 = none, or more than one kind. */
int64_t rs_net_payload(void);

#endif

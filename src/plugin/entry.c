/* The entry points: the exported objects ncclProfiler_v1 to v7.
 *
 * Each version's functions read that version's structs and pass the members on (start.h, record.h, recorder.h). They
 * always write *eHandle and *context, and always return success. */
#include "plugin/recorder.h"
#include "plugin/start.h"

/* ---- init, finalize, stop: shared by versions ---- */

#define INIT_OLD(V)                                                                                                    \
    static rs_nccl_result init_v##V(void **context, int *mask)                                                         \
    {                                                                                                                  \
        return rs_recorder_init(context, mask,                                                                         \
                                &(struct rs_comm_args){.api = V, .nnodes = -1, .nranks = -1, .rank = -1});             \
    }
INIT_OLD(1)
INIT_OLD(2)
INIT_OLD(3)

static rs_nccl_result init_v4(void **context, int *mask, const char *name, uint64_t hash, int nnodes, int nranks,
                              int rank, rs_nccl_logger logger)
{
    return rs_recorder_init(context, mask, &(struct rs_comm_args){4, hash, name, nnodes, nranks, rank, logger});
}

#define INIT_NEW(V)                                                                                                    \
    static rs_nccl_result init_v##V(void **context, uint64_t id, int *mask, const char *name, int nnodes, int nranks,  \
                                    int rank, rs_nccl_logger logger)                                                   \
    {                                                                                                                  \
        return rs_recorder_init(context, mask, &(struct rs_comm_args){V, id, name, nnodes, nranks, rank, logger});     \
    }
INIT_NEW(5)
INIT_NEW(6)
INIT_NEW(7)

static RS_OUTLINE rs_nccl_result stop_slow(void *handle)
{
    struct rs_write w;
    if (rs_write_begin(&w)) {
        rs_put_head(&w, RS_K_STOP, (uintptr_t)handle);
        rs_write_end(&w);
    } else {
        rs_lost(RS_LOST_STOP);
    }
    rs_group_stopped(handle);
    return RS_NCCL_SUCCESS;
}

static rs_nccl_result stop(void *handle)
{
    struct rs_write w;
    if (!RS_LIKELY(rs_write_begin_fast(&w, RS_K_STOP, &handle))) return stop_slow(handle);
    rs_write_end(&w);
    return RS_NCCL_SUCCESS;
}

/* ---- start ---- */

/* The members after the common head, for types unknown to a version. */
#define RAW(V) rs_start_raw(c, d->type, V, &d->coll, sizeof *d - offsetof(struct rs_nccl_descr_v##V, coll))

/* Two functions, so that the fast one needs no registers saved. */
#define START(V, ...)                                                                                                  \
    static __attribute__((noinline))                                                                                   \
    rs_nccl_result start_any_v##V(void *context, void **handle, struct rs_nccl_descr_v##V *d)                          \
    {                                                                                                                  \
        struct rs_common c = {context, d->parentObj, d->rank};                                                         \
        switch (d->type) {                                                                                             \
        case RS_GROUP:                                                                                                 \
            *handle = rs_start_plain(c, RS_K_GROUP, RS_GROUP);                                                         \
            if (V < 5) rs_group_legacy(context);                                                                       \
            break;                                                                                                     \
        case RS_PROXY_CTRL: *handle = rs_start_plain(c, RS_K_PROXY_CTRL, RS_PROXY_CTRL); break;                        \
        case RS_PROXY_OP: *handle = rs_start_proxy_op(c, &d->proxyOp); break;                                          \
        case RS_PROXY_STEP:                                                                                            \
            *handle = rs_start_proxy_step(c, &d->proxyStep);                                                           \
            break;                                                                                                     \
            __VA_ARGS__                                                                                                \
        default: *handle = RAW(V);                                                                                     \
        }                                                                                                              \
        return RS_NCCL_SUCCESS;                                                                                        \
    }                                                                                                                  \
    static rs_nccl_result start_v##V(void *context, void **handle, struct rs_nccl_descr_v##V *d)                       \
    {                                                                                                                  \
        if (RS_LIKELY(d->type == RS_PROXY_STEP) &&                                                                     \
            rs_start_proxy_step_fast(context, &d->parentObj, &d->rank, &d->proxyStep.step, handle))                    \
            return RS_NCCL_SUCCESS;                                                                                    \
        return start_any_v##V(context, handle, d);                                                                     \
    }
#define CASE(TYPE, FUNCTION, MEMBER)                                                                                   \
    case TYPE:                                                                                                         \
        *handle = FUNCTION(c, &d->MEMBER);                                                                             \
        break;

#define API_CASES(COLL_API, P2P_API)                                                                                   \
    CASE(RS_GROUP_API, rs_start_group_api, groupApi)                                                                   \
    CASE(RS_COLL_API, COLL_API, collApi)                                                                               \
    CASE(RS_P2P_API, P2P_API, p2pApi)                                                                                  \
    CASE(RS_KERNEL_LAUNCH, rs_start_kernel_launch, kernelLaunch)
#define CE_CASES(CE_COLL)                                                                                              \
    CASE(RS_CE_COLL, CE_COLL, ceColl)                                                                                  \
    CASE(RS_CE_SYNC, rs_start_ce_sync, ceCollSync)                                                                     \
    CASE(RS_CE_BATCH, rs_start_ce_batch, ceCollBatch)

START(1, CASE(RS_COLL, rs_start_coll_v1, coll) CASE(RS_P2P, rs_start_p2p_v1, p2p))
START(2, CASE(RS_COLL, rs_start_coll_v2, coll) CASE(RS_P2P, rs_start_p2p_v2, p2p))
START(3, CASE(RS_COLL, rs_start_coll_v3, coll) CASE(RS_P2P, rs_start_p2p_v2, p2p)
             CASE(RS_KERNEL_CH, rs_start_kernel_ch_v3, kernelCh) CASE(RS_NET_PLUGIN, rs_start_net_plugin, netPlugin))
START(4, CASE(RS_COLL, rs_start_coll_v4, coll) CASE(RS_P2P, rs_start_p2p_v4, p2p)
             CASE(RS_KERNEL_CH, rs_start_kernel_ch, kernelCh) CASE(RS_NET_PLUGIN, rs_start_net_plugin, netPlugin))
START(5, CASE(RS_COLL, rs_start_coll_v5, coll) CASE(RS_P2P, rs_start_p2p_v5, p2p)
             CASE(RS_KERNEL_CH, rs_start_kernel_ch, kernelCh) CASE(RS_NET_PLUGIN, rs_start_net_plugin, netPlugin)
                 API_CASES(rs_start_coll_api_v5, rs_start_p2p_api_v5))
START(6, CASE(RS_COLL, rs_start_coll_v5, coll) CASE(RS_P2P, rs_start_p2p_v5, p2p)
             CASE(RS_KERNEL_CH, rs_start_kernel_ch, kernelCh) CASE(RS_NET_PLUGIN, rs_start_net_plugin, netPlugin)
                 API_CASES(rs_start_coll_api_v5, rs_start_p2p_api_v5) CE_CASES(rs_start_ce_coll_v6))
START(7, CASE(RS_COLL, rs_start_coll_v7, coll) CASE(RS_P2P, rs_start_p2p_v7, p2p)
             CASE(RS_KERNEL_CH, rs_start_kernel_ch, kernelCh) CASE(RS_NET_PLUGIN, rs_start_net_plugin, netPlugin)
                 API_CASES(rs_start_coll_api_v7, rs_start_p2p_api_v7) CE_CASES(rs_start_ce_coll_v7)
                     CASE(RS_KERNEL_PHASE, rs_start_kernel_phase, kernelPhase))

/* ---- state ---- */

static rs_nccl_result lost_state(void)
{
    rs_lost(RS_LOST_STATE);
    return RS_NCCL_SUCCESS;
}

static RS_OUTLINE rs_nccl_result state_raw(void *handle, int state, const uint64_t *arg)
{
    struct rs_write w;
    if (!rs_write_begin(&w)) return lost_state();
    rs_put_head(&w, RS_K_STATE_RAW, (uintptr_t)handle);
    rs_put(&w, (uint32_t)state | (uint64_t)(arg != NULL) << 32);
    rs_put(&w, arg ? *arg : 0);
    rs_write_end(&w);
    return RS_NCCL_SUCCESS;
}

static RS_OUTLINE rs_nccl_result state_slow(void *handle, unsigned kind, uint64_t arg)
{
    struct rs_write w;
    if (!rs_write_begin(&w)) return lost_state();
    rs_put_head(&w, kind, (uintptr_t)handle);
    if (kind >= RS_K_STATE_ARG) rs_put(&w, arg);
    rs_write_end(&w);
    return RS_NCCL_SUCCESS;
}

RS_INLINE rs_nccl_result state_plain(void *handle, int state)
{
    struct rs_write w;
    unsigned kind = RS_K_STATE + (unsigned)state;
    if (!RS_LIKELY(rs_write_begin_fast(&w, kind, &handle))) return state_slow(handle, kind, 0);
    rs_write_end(&w);
    return RS_NCCL_SUCCESS;
}

RS_INLINE rs_nccl_result state_arg(void *handle, int state, uint64_t arg)
{
    struct rs_write w;
    unsigned kind = RS_K_STATE_ARG + (unsigned)state;
    if (!RS_LIKELY(rs_write_begin_fast(&w, kind, &handle))) return state_slow(handle, kind, arg);
    rs_put(&w, arg);
    rs_write_end(&w);
    return RS_NCCL_SUCCESS;
}

/* v1 to v3: the states of proxy operations have two arguments, those of the proxy thread one, the others none. */
static rs_nccl_result state_v1(void *handle, int state, union rs_nccl_args_v1 *args)
{
    if ((unsigned)state >= RS_NCCL_STATES) return state_raw(handle, state, (const uint64_t *)args);
    if (!args) return state_plain(handle, state);
    if (state >= RS_ST_CTRL_IDLE && state <= RS_ST_CTRL_APPEND_END)
        return state_arg(handle, state, (uint32_t)args->proxyCtrl.appendedProxyOps);
    if (state > RS_ST_OP_RECV_DONE) return state_plain(handle, state);
    struct rs_write w;
    if (!rs_write_begin(&w)) return lost_state();
    rs_put_head(&w, RS_K_STATE_V1, (uintptr_t)handle);
    rs_put(&w, rs_pair(state, args->proxyOp.steps));
    rs_put(&w, args->proxyOp.transSize);
    rs_write_end(&w);
    return RS_NCCL_SUCCESS;
}

/* State 21. The payload has no id: it is read only while all network events so far were of one kind. */
static RS_OUTLINE rs_nccl_result state_net_update(void *handle, const union rs_nccl_args_v4 *args)
{
    const void *data = args->netPlugin.data;
    int64_t id = data ? rs_net_payload() : 0;
    bool ib = id == (RS_NCCL_NET_IB | 1);
    if (!ib && id != (RS_NCCL_NET_SOCK | 1)) return state_arg(handle, RS_ST_NET_PLUGIN_UPDATE, rs_address(data));
    struct rs_write w;
    if (!rs_write_begin(&w)) return lost_state();
    rs_put_head(&w, ib ? RS_K_NET_UPDATE_IB : RS_K_NET_UPDATE_SOCK, (uintptr_t)handle);
    if (ib) {
        const struct rs_nccl_net_ib_v1 *p = data;
        rs_put(&w, rs_pair(p->qp.device, p->qp.opcode));
        rs_put(&w, p->qp.wr_id);
        rs_put(&w, (uint32_t)p->qp.qpNum);
        rs_put(&w, p->qp.length);
    } else {
        const struct rs_nccl_net_sock_v1 *p = data;
        rs_put(&w, rs_pair(p->sock.fd, p->sock.op));
        rs_put(&w, p->sock.length);
    }
    rs_write_end(&w);
    return RS_NCCL_SUCCESS;
}

/* States whose argument is a 64-bit number, by bit. The others have none: their union may be uninitialized. */
#define STEP_STATES                                                                                                    \
    (1u << RS_ST_STEP_SEND_GPU_WAIT | 1u << RS_ST_STEP_SEND_WAIT | 1u << RS_ST_STEP_RECV_WAIT |                        \
     1u << RS_ST_STEP_RECV_FLUSH_WAIT | 1u << RS_ST_STEP_RECV_GPU_WAIT | 1u << RS_ST_STEP_SEND_PEER_WAIT)
#define TIMER_STATES (1u << RS_ST_KERNEL_CH_STOP | 1u << RS_ST_KERNEL_PHASE_STOP)

static rs_nccl_result state_v4(void *handle, int state, union rs_nccl_args_v4 *args)
{
    if (!RS_LIKELY((unsigned)state < RS_NCCL_STATES)) return state_raw(handle, state, (const uint64_t *)args);
    if (args && 1u << state & (STEP_STATES | TIMER_STATES))
        return state_arg(handle, state, args->kernelCh.pTimer); /* transSize has the same offset */
    if (args && state >= RS_ST_CTRL_IDLE && state <= RS_ST_CTRL_APPEND_END)
        return state_arg(handle, state, (uint32_t)args->proxyCtrl.appendedProxyOps);
    if (args && state == RS_ST_NET_PLUGIN_UPDATE) return state_net_update(handle, args);
    return state_plain(handle, state);
}

/* ---- exports ---- */

#define NAME "ringscope"
#define EXPORT(V, STATE)                                                                                               \
    extern const struct rs_nccl_profiler_v##V ncclProfiler_v##V;                                                       \
    __attribute__((visibility("default"))) const struct rs_nccl_profiler_v##V ncclProfiler_v##V = {                    \
        NAME, init_v##V, start_v##V, stop, STATE, rs_recorder_finalize}
EXPORT(1, state_v1);
EXPORT(2, state_v1);
EXPORT(3, state_v1);
EXPORT(4, state_v4);
EXPORT(5, state_v4);
EXPORT(6, state_v4);
EXPORT(7, state_v4);

#include "timeline/passes.h"

#include "nccl/abi.h"

/* A new event type to be drawn is a row here. */
/* clang-format off */
#define ROW(type) [__builtin_ctz(type)]
#define BAR(kind) RS_BAR_##kind, RS_BAR_##kind
#define WAYS(kind) RS_BAR_##kind##_SEND, RS_BAR_##kind##_RECV
static const struct rs_event_drawing rows_of[RS_NCCL_TYPE_BITS] = {
    ROW(RS_GROUP_API) = {RS_ROW_CALLS, RS_EVENT_ON_THREAD, BAR(GROUP_API), false, 0, true},
    ROW(RS_COLL_API) = {RS_ROW_CALLS, RS_EVENT_ON_THREAD, BAR(COLL_API), false, 0, true},
    ROW(RS_P2P_API) = {RS_ROW_CALLS, RS_EVENT_ON_THREAD, BAR(P2P_API), false, 0, true},
    ROW(RS_GROUP) = {RS_ROW_LAUNCHES, RS_EVENT_ON_THREAD, BAR(PLAN), false, RS_GROUP_API, true},
    ROW(RS_KERNEL_LAUNCH) = {RS_ROW_LAUNCHES, RS_EVENT_ON_THREAD, BAR(LAUNCH), false, RS_GROUP_API, true},
    ROW(RS_KERNEL_CH) = {RS_ROW_CHANNELS, RS_EVENT_ON_CHANNEL, BAR(CHANNEL), true, 0, true},
    ROW(RS_KERNEL_PHASE) = {RS_ROW_CHANNELS, RS_EVENT_ON_CHANNEL, BAR(PHASE), true, 0, true},
    ROW(RS_PROXY_OP) = {RS_ROW_PROXY, RS_EVENT_ON_WAY, WAYS(PROXY), false, 0, true},
    ROW(RS_PROXY_STEP) = {RS_ROW_STEPS, RS_EVENT_ON_WAY, WAYS(STEP), false, RS_PROXY_OP, true},
    ROW(RS_NET_PLUGIN) = {RS_ROW_NETWORK, RS_EVENT_ON_LINK, BAR(NET), false, RS_PROXY_OP | RS_PROXY_STEP, true},
    ROW(RS_CE_COLL) = {RS_ROW_COPY_ENGINE, RS_EVENT_ON_COMM, BAR(CE_COLL), false, 0, true},
    ROW(RS_CE_SYNC) = {RS_ROW_COPY_ENGINE, RS_EVENT_ON_COMM, BAR(CE_SYNC), false, 0, true},
    ROW(RS_CE_BATCH) = {RS_ROW_COPY_ENGINE, RS_EVENT_ON_COMM, BAR(CE_BATCH), false, 0, true},
    ROW(RS_PROXY_CTRL) = {RS_ROW_PROXY_THREAD, RS_EVENT_ON_THREAD, BAR(PROXY_CTRL), false, 0, true},
};
/* clang-format on */

const struct rs_event_drawing *rs_event_drawing_of(uint64_t type)
{
    static const struct rs_event_drawing none;
    return type ? &rows_of[__builtin_ctzll(type)] : &none;
}

uint64_t rs_row_types(uint64_t rows, uint64_t *above)
{
    uint64_t types = 0, read = 0;
    for (unsigned bit = 0; bit < RS_NCCL_TYPE_BITS; bit++) {
        if (!rows_of[bit].drawn || !(rows >> rows_of[bit].row & 1)) continue;
        types |= UINT64_C(1) << bit;
        read |= rows_of[bit].above;
    }
    if (above) *above = read;
    return types;
}

void rs_event_passes(struct rs_arguments *args, struct rs_timeline *t, const struct rs_event *e, bool *yes)
{
    const struct rs_filter *f = t->options.filter;
    *yes = true;
    if (!f) return;
    if (e->part != RS_NONE) {
        uint32_t op = t->model->parts.op[e->part];
        *yes = op < t->model->ops.n && t->op_number[op] != RS_NONE;
    } else if (e->member != RS_NONE) {
        *yes = rs_filter_comm(f, t->model, t->model->members[e->member].comm);
    }
    if (*yes && e->member != RS_NONE) *yes = rs_filter_rank(f, t->model, e->member);
    if (*yes && f->nfuncs && e->part == RS_NONE && (e->type & (RS_COLL_API | RS_P2P_API))) {
        uint32_t func;
        rs_argument_text(args, t, e, RS_ARG_FUNC, &func);
        *yes = rs_filter_func(f, func ? rs_texts_at(&t->texts, func) : e->name ? e->name : "");
    }
}

/* ---- other tools' activities ---- */

enum rs_row rs_activity_row(uint8_t kind)
{
    static const uint8_t rows[RS_ACTIVITY_KINDS] = {
        [RS_ACT_COMPUTE] = RS_ROW_COMPUTE,   [RS_ACT_COMM] = RS_ROW_COMM,
        [RS_ACT_COPY] = RS_ROW_COPIES,       [RS_ACT_SET] = RS_ROW_COPIES,
        [RS_ACT_RANGE] = RS_ROW_ANNOTATIONS, [RS_ACT_GPU_RANGE] = RS_ROW_ANNOTATIONS,
        [RS_ACT_STEP] = RS_ROW_ANNOTATIONS,  [RS_ACT_LAUNCH] = RS_ROW_LAUNCHES,
        [RS_ACT_SYNC] = RS_ROW_HOST,         [RS_ACT_MEMORY] = RS_ROW_HOST,
        [RS_ACT_CALL] = RS_ROW_HOST,
    };
    return (enum rs_row)rows[kind];
}

static uint32_t op_of_kernel(const struct rs_timeline *t, uint32_t part)
{
    const struct rs_model *m = t->model;
    uint32_t op = part < m->parts.n ? m->parts.op[part] : RS_NONE;
    if (op >= m->ops.n) return RS_NONE;
    if (m->ops.over[op] < m->ops.n) op = m->ops.over[op];
    return t->op_number[op];
}

bool rs_activity_passes(const struct rs_timeline *t, uint32_t activity, uint32_t *op)
{
    const struct rs_activities *a = &t->model->activities;
    uint8_t kind = a->kind[activity];
    *op = RS_NONE;
    if (kind >= RS_ACTIVITY_KINDS || !(t->options.rows >> rs_activity_row(kind) & 1)) return false;
    if (kind != RS_ACT_COMM) return true;
    *op = op_of_kernel(t, a->part[activity]);
    return !t->options.filter || a->part[activity] == RS_NONE || *op != RS_NONE;
}

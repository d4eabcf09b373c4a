#include "timeline/passes.h"

#include "nccl/abi.h"

static const struct {
    uint8_t row;
    uint32_t types, above; /* to be drawn; to be read, so that what hangs on them finds its operation */
} rows_of[] = {
    {RS_ROW_CALLS, RS_GROUP_API | RS_COLL_API | RS_P2P_API, 0},
    {RS_ROW_LAUNCHES, RS_KERNEL_LAUNCH | RS_GROUP, RS_GROUP_API},
    {RS_ROW_CHANNELS, RS_KERNEL_CH | RS_KERNEL_PHASE, 0},
    {RS_ROW_PROXY, RS_PROXY_OP, 0},
    {RS_ROW_STEPS, RS_PROXY_STEP, RS_PROXY_OP},
    {RS_ROW_NETWORK, RS_NET_PLUGIN, RS_PROXY_OP | RS_PROXY_STEP},
    {RS_ROW_COPY_ENGINE, RS_CE_COLL | RS_CE_SYNC | RS_CE_BATCH, 0},
    {RS_ROW_PROXY_THREAD, RS_PROXY_CTRL, 0},
};

uint64_t rs_row_types(uint64_t rows, uint64_t *above)
{
    uint64_t types = 0, read = 0;
    for (size_t i = 0; i < sizeof rows_of / sizeof *rows_of; i++) {
        if (!(rows >> rows_of[i].row & 1)) continue;
        types |= rows_of[i].types;
        read |= rows_of[i].above;
    }
    if (above) *above = read;
    return types;
}

enum rs_status rs_event_passes(struct rs_arguments *args, struct rs_timeline *t, const struct rs_event *e, bool *yes,
                               struct rs_err *err)
{
    const struct rs_filter *f = t->options.filter;
    *yes = true;
    if (!f) return RS_OK;
    if (e->part != RS_NONE) {
        uint32_t op = t->model->parts.op[e->part];
        *yes = op < t->model->ops.n && t->op_number[op] != RS_NONE;
    } else if (e->member != RS_NONE) {
        *yes = rs_filter_comm(f, t->model, t->model->members[e->member].comm);
    }
    if (*yes && e->member != RS_NONE) *yes = rs_filter_rank(f, t->model, e->member);
    if (*yes && f->nfuncs && e->part == RS_NONE && (e->type & (RS_COLL_API | RS_P2P_API))) {
        uint32_t func;
        RS_TRY(rs_argument_text(args, t, e, RS_ARG_FUNC, &func, err));
        *yes = rs_filter_func(f, func ? rs_texts_at(&t->texts, func) : e->name ? e->name : "");
    }
    return RS_OK;
}

/* ---- what other tools saw ---- */

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

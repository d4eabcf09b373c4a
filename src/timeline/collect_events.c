/* Events below operations: API calls, launches, channels, proxy operations, steps, copy engines, the proxy thread. */
#include <inttypes.h>
#include <string.h>

#include "nccl/abi.h"
#include "timeline/arguments.h"
#include "timeline/collect.h"
#include "timeline/launch_key.h"
#include "timeline/passes.h"
#include "timeline/pieces.h"
#include "timeline/span.h"

/* ---- facts of an event ----
 * The values of an event's bar: its states as marks, and its arguments by the names in timeline/kinds.c. */

static uint32_t offset(int64_t at, int64_t start)
{
    int64_t ns = rs_time_minus(at, start);
    return ns < 1 ? 1 : ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX; /* 0 would mean none */
}

static void event_marks(struct rs_bars *b, uint32_t bar, const struct rs_event *e)
{
    for (unsigned i = 0; i < e->nstates; i++) {
        uint32_t at = offset(e->states[i].at, e->start);
        switch (e->states[i].state) {
        case RS_ST_GROUP_START_API_STOP:
        case RS_ST_STEP_SEND_GPU_WAIT:
        case RS_ST_STEP_RECV_WAIT:
        case RS_ST_OP_IN_PROGRESS:
        case RS_ST_NET_PLUGIN_UPDATE: b->m1[bar] = at; break;
        case RS_ST_GROUP_END_API_START:
        case RS_ST_STEP_SEND_PEER_WAIT:
        case RS_ST_STEP_RECV_FLUSH_WAIT: b->m2[bar] = at; break;
        case RS_ST_STEP_SEND_WAIT:
        case RS_ST_STEP_RECV_GPU_WAIT: b->m3[bar] = at; break;
        case RS_ST_CTRL_WAKEUP:
        case RS_ST_CTRL_APPEND_END:
            if (i) b->m1[bar] = at;
            break;
        default: break;
        }
    }
}

static int64_t known(int64_t value)
{
    return value < 0 ? RS_BAR_NO_ARG : value;
}

static int64_t moment(const struct rs_timeline *t, int64_t at)
{
    int64_t start, dur;
    return rs_span_place(t, at, at, &start, &dur) ? start : RS_BAR_NO_ARG;
}

static int64_t text_or_none(uint32_t text)
{
    return text ? text : RS_BAR_NO_ARG;
}

static void call_arguments(struct rs_collect *c, struct rs_arguments *args, const struct rs_event *e, uint32_t bar)
{
    struct rs_timeline *t = c->t;
    struct rs_bars *b = c->bars;
    uint32_t dtype;
    if (e->member != RS_NONE) b->a1[bar] = text_or_none(t->index->member_text[e->member]);
    b->a2[bar] = rs_argument(args, e, RS_ARG_COUNT);
    rs_argument_text(args, t, e, RS_ARG_DATATYPE, &dtype);
    b->a3[bar] = text_or_none(dtype);
    if (e->type == RS_COLL_API) b->a4[bar] = known(rs_argument(args, e, RS_ARG_ROOT));
    b->a5[bar] = rs_argument(args, e, RS_ARG_STREAM);
    b->a6[bar] = rs_argument(args, e, RS_ARG_CAPTURED);
    rs_argument_text(args, t, e, RS_ARG_FUNC, &b->name[bar]);
    if (!b->name[bar] && e->name) rs_texts_id(&t->texts, e->name, strlen(e->name), &b->name[bar]);
}

static void ce_arguments(struct rs_collect *c, struct rs_arguments *args, const struct rs_event *e, uint32_t bar)
{
    struct rs_timeline *t = c->t;
    struct rs_bars *b = c->bars;
    uint32_t text;
    rs_argument_text(args, t, e, RS_ARG_FUNC, &text);
    b->a1[bar] = text_or_none(text);
    b->name[bar] = text;
    b->a2[bar] = rs_argument(args, e, RS_ARG_COUNT);
    rs_argument_text(args, t, e, RS_ARG_DATATYPE, &text);
    b->a3[bar] = text_or_none(text);
    b->a4[bar] = known(rs_argument(args, e, RS_ARG_ROOT));
    rs_argument_text(args, t, e, RS_ARG_SYNC, &text);
    b->a5[bar] = text_or_none(text);
    b->a6[bar] = rs_argument(args, e, RS_ARG_BATCHES);
}

static void network_arguments(struct rs_collect *c, struct rs_arguments *args, const struct rs_event *e, uint32_t bar,
                              uint8_t kind)
{
    struct rs_bars *b = c->bars;
    b->a2[bar] = known(e->bytes);
    switch (kind) {
    case RS_BAR_NET_IB:
        b->a1[bar] = rs_argument(args, e, RS_ARG_QP);
        b->a3[bar] = rs_argument(args, e, RS_ARG_DEVICE);
        b->a4[bar] = rs_argument(args, e, RS_ARG_WORK_REQUEST);
        b->a5[bar] = rs_argument(args, e, RS_ARG_OPCODE);
        b->a6[bar] = known(e->peer);
        break;
    case RS_BAR_NET_SOCKET:
        b->a1[bar] = rs_argument(args, e, RS_ARG_FD);
        b->a3[bar] = rs_argument(args, e, RS_ARG_OP);
        b->a4[bar] = known(e->peer);
        break;
    default:
        b->a1[bar] = rs_argument(args, e, RS_ARG_ID);
        b->a3[bar] = known(e->peer);
        break;
    }
}

static void event_arguments(struct rs_collect *c, struct rs_arguments *args, const struct rs_event *e, uint32_t bar,
                            uint8_t kind)
{
    struct rs_timeline *t = c->t;
    struct rs_bars *b = c->bars;
    switch (e->type) {
    case RS_PROXY_STEP:
        b->a1[bar] = known(e->peer);
        b->a2[bar] = known(e->bytes);
        b->a3[bar] = known(e->channel);
        b->a4[bar] = known(e->step);
        b->a5[bar] = known(e->steps);
        return;
    case RS_PROXY_OP:
        b->a1[bar] = known(e->peer);
        b->a2[bar] = known(e->bytes);
        b->a3[bar] = known(e->channel);
        b->a4[bar] = known(e->steps);
        b->a5[bar] = known(rs_argument(args, e, RS_ARG_CHUNK));
        b->a6[bar] = known(rs_argument(args, e, RS_ARG_PID));
        return;
    case RS_KERNEL_CH:
    case RS_KERNEL_PHASE:
        b->a1[bar] = known(e->channel);
        b->a2[bar] = moment(t, e->start);
        b->a3[bar] = moment(t, e->end);
        if (!(e->type == RS_KERNEL_CH)) rs_argument_text(args, t, e, RS_ARG_PHASE, &b->name[bar]);
        return;
    case RS_COLL_API:
    case RS_P2P_API: call_arguments(c, args, e, bar); return;
    case RS_GROUP_API:
        b->a1[bar] = known(rs_argument(args, e, RS_ARG_DEPTH));
        b->a2[bar] = rs_argument(args, e, RS_ARG_CAPTURED);
        return;
    case RS_KERNEL_LAUNCH:
        b->a4[bar] = rs_argument(args, e, RS_ARG_STREAM);
        if (e->member == RS_NONE) return;
        b->a2[bar] = known(t->model->members[e->member].rank);
        b->a1[bar] = text_or_none(t->index->member_text[e->member]);
        return;
    case RS_GROUP:
        if (e->member != RS_NONE) b->a1[bar] = text_or_none(t->index->member_text[e->member]);
        return;
    case RS_NET_PLUGIN: network_arguments(c, args, e, bar, kind); return;
    case RS_CE_COLL: ce_arguments(c, args, e, bar); return;
    case RS_CE_SYNC:
        b->a1[bar] = known(rs_argument(args, e, RS_ARG_RANKS));
        b->a2[bar] = rs_argument(args, e, RS_ARG_COMPLETE);
        return;
    case RS_CE_BATCH:
        b->a1[bar] = known(rs_argument(args, e, RS_ARG_COPIES));
        b->a2[bar] = known(rs_argument(args, e, RS_ARG_TOTAL));
        return;
    default: return;
    }
}

/* ---- events ---- */

struct visit {
    struct rs_collect *c;
    struct rs_event_pieces pieces;
    struct rs_arguments args;
    uint64_t drawn; /* types of the selected rows */
};

/* How an event is drawn. */
struct drawn {
    uint8_t row, kind;
    uint32_t group;
    uint64_t key;
    int64_t from, to, fade;
    uint8_t flags;
};

enum {
    PIECE = 1 << 12, /* small enough for its bars to stay in the caches of a processor */
    LAG = 1 << 16, /* large enough that nothing is added to a piece later */
    PATIENCE = 1 << 18,
    BARS_A_LANE = 16,
    OPERATIONS = RS_COLL | RS_P2P | RS_CE_COLL,
    THREADED = RS_COLL_API | RS_P2P_API | RS_KERNEL_LAUNCH, /* on rows of threads, and of a communicator */
};
#define NO_CHANNEL (UINT64_C(1) << 32) /* keys of lanes: after all channels */

/* ---- times ---- */

/* From the host's callbacks. */
static void host_times(const struct rs_collect *c, const struct rs_event *e, struct drawn *d)
{
    d->from = d->to = e->start;
    if (e->start == RS_TIME_NONE) { /* a dump that contains only the end */
        d->from = d->to = e->end;
        d->flags |= RS_BAR_START_UNKNOWN;
    } else if (e->end != RS_TIME_NONE && e->end >= e->start) {
        d->to = e->end;
    } else if (e->open) {
        int64_t heard = rs_proc_heard(c->t, e->proc);
        if (heard > d->to) d->to = heard;
        d->flags |= RS_BAR_OPEN;
    } else {
        d->flags |= RS_BAR_END_BOUNDED;
    }
}

/* The end of an open kernel according to its operation: it may be over (aborted, or followed by others) although the
 * time is unknown. RS_TIME_NONE: unknown. */
static int64_t over_by(const struct rs_collect *c, const struct rs_event *e)
{
    const struct rs_model *m = c->t->model;
    if (e->part == RS_NONE || m->parts.end[e->part] != RS_TIME_NONE) return RS_TIME_NONE;
    return m->parts.before[e->part];
}

/* Of a kernel: the GPU's times if known. */
static void gpu_times(const struct rs_collect *c, const struct rs_event *e, struct drawn *d)
{
    bool has_timers = e->stale || !e->call || e->call->kind != RS_K_KERNEL_CH_V3;
    host_times(c, e, d);
    if (e->gpu_start == RS_TIME_NONE) {
        /* The host is notified some time after it began: if nothing better is expected, that is its time. */
        if (has_timers) d->flags |= RS_BAR_START_UNKNOWN;
    } else {
        d->from = e->gpu_start;
        if (e->gpu_end != RS_TIME_NONE && e->gpu_end >= e->gpu_start) {
            d->to = e->gpu_end;
            d->flags &= (uint8_t) ~(RS_BAR_OPEN | RS_BAR_END_BOUNDED);
        } else if (d->flags & RS_BAR_OPEN) {
            if (d->to < d->from) d->to = d->from;
        } else {
            d->fade = e->end != RS_TIME_NONE && e->end > d->from ? rs_time_minus(e->end, d->from) : 0;
            d->to = d->from;
            d->flags |= RS_BAR_END_BOUNDED;
        }
    }
    int64_t over = d->flags & RS_BAR_OPEN ? over_by(c, e) : RS_TIME_NONE;
    if (over == RS_TIME_NONE || over < d->from) return;
    d->flags = (uint8_t)((d->flags & ~RS_BAR_OPEN) | RS_BAR_END_BOUNDED);
    d->fade = rs_time_minus(over, d->from);
    d->to = d->from;
}

/* ---- lanes ---- */

/* The group of the event's communicator; the process's if that is unknown, or belongs to a process that it helps. */
static uint32_t group_of(const struct rs_collect *c, const struct rs_event *e, bool *others)
{
    const struct rs_timeline *t = c->t;
    bool own = e->member != RS_NONE && t->index->lead[t->model->members[e->member].proc] == c->proc;
    *others = !own && e->member != RS_NONE;
    return own ? t->group_of_member[e->member] : t->index->proc_group[c->proc];
}

static uint8_t ctrl_kind(const struct rs_event *e)
{
    switch (e->nstates ? e->states[0].state : -1) {
    case RS_ST_CTRL_IDLE: return RS_BAR_PROXY_IDLE;
    case RS_ST_CTRL_ACTIVE: return RS_BAR_PROXY_ACTIVE;
    case RS_ST_CTRL_SLEEP: return RS_BAR_PROXY_SLEEP;
    case RS_ST_CTRL_WAKEUP: return RS_BAR_PROXY_WAKEUP;
    case RS_ST_CTRL_APPEND:
    case RS_ST_CTRL_APPEND_END: return RS_BAR_PROXY_APPEND;
    default: return RS_BAR_PROXY_CTRL;
    }
}

/* On a lane of its queue pair or socket. */
static void on_link(struct visit *v, const struct rs_event *e, struct drawn *d)
{
    int64_t qp = rs_argument(&v->args, e, RS_ARG_QP), fd = rs_argument(&v->args, e, RS_ARG_FD);
    d->kind = qp != RS_BAR_NO_ARG ? RS_BAR_NET_IB : fd != RS_BAR_NO_ARG ? RS_BAR_NET_SOCKET : RS_BAR_NET;
    d->key = d->kind == RS_BAR_NET ? NO_CHANNEL : (uint32_t)(d->kind == RS_BAR_NET_IB ? qp : fd);
    if (d->kind == RS_BAR_NET_SOCKET) d->key |= NO_CHANNEL << 1;
}

/* False: an event of this type has no row. */
static bool drawn_of(struct visit *v, const struct rs_event *e, struct drawn *d)
{
    const struct rs_collect *c = v->c;
    const struct rs_event_drawing *x = rs_event_drawing_of(e->type);
    bool others = false;
    *d = (struct drawn){.row = x->row, .kind = e->is_send > 0 ? x->send : x->receive};
    if (!x->drawn) return false;
    d->group = x->lane == RS_EVENT_ON_THREAD ? c->t->index->proc_group[c->proc] : group_of(c, e, &others);
    switch (x->lane) {
    case RS_EVENT_ON_THREAD: d->key = e->tid; break;
    case RS_EVENT_ON_LINK: on_link(v, e, d); break;
    case RS_EVENT_ON_COMM: others = false; break;
    default:
        d->key = e->channel < 0 ? NO_CHANNEL : (uint64_t)e->channel;
        if (x->lane == RS_EVENT_ON_WAY) d->key = d->key << 1 | (e->is_send <= 0);
        break;
    }
    if (others) d->key |= RS_KEY_OF_OTHERS;
    if (d->kind == RS_BAR_PROXY_CTRL) d->kind = ctrl_kind(e);
    (x->timed ? gpu_times : host_times)(c, e, d);
    return true;
}

static void label(struct rs_collect *c, const struct rs_event *e, const struct drawn *d, uint32_t *text)
{
    const char *helped = d->key & RS_KEY_OF_OTHERS ? ", for another process" : "";
    const char *way = e->is_send > 0 ? "send" : "receive";
    switch (d->row) {
    case RS_ROW_CHANNELS:
        if (e->channel < 0) {
            rs_timeline_text(c->t, text, "unknown channel%s", helped);
            return;
        }
        rs_timeline_text(c->t, text, "channel %" PRId32 "%s", e->channel, helped);
        return;
    case RS_ROW_PROXY:
    case RS_ROW_STEPS:
        if (e->channel < 0) {
            rs_timeline_text(c->t, text, "%s%s", way, helped);
            return;
        }
        rs_timeline_text(c->t, text, "%s, channel %" PRId32 "%s", way, e->channel, helped);
        return;
    case RS_ROW_NETWORK:
        if (d->kind == RS_BAR_NET) {
            rs_timeline_text(c->t, text, "network%s", helped);
            return;
        }
        rs_timeline_text(c->t, text, "%s %" PRIu32 "%s", d->kind == RS_BAR_NET_IB ? "queue pair" : "socket",
                         (uint32_t)d->key, helped);
        return;
    case RS_ROW_COPY_ENGINE: rs_timeline_text(c->t, text, "copy engine"); return;
    default:
        if (!e->tid) {
            rs_timeline_text(c->t, text, "unknown thread");
            return;
        }
        rs_timeline_text(c->t, text, "thread %" PRIu32 "%s%s", e->tid, *e->thread ? " " : "", e->thread);
        return;
    }
}

/* ---- bars ---- */

static enum rs_status draw(struct visit *v, const struct rs_event *e, uint32_t *bar, struct rs_err *err)
{
    struct rs_collect *c = v->c;
    struct drawn d;
    uint32_t lane;
    bool yes, is_new;
    *bar = RS_NONE;
    rs_event_passes(&v->args, c->t, e, &yes);
    if (!yes || !drawn_of(v, e, &d) || d.group == RS_NONE) return RS_OK;
    RS_TRY(rs_collect_lane(c, d.group, d.row, d.key, &lane, &is_new, err));
    if (is_new) label(c, e, &d, &c->lanes[lane].label);
    if (c->t->options.to_bound) d.to = rs_time_plus(d.to, d.fade);
    RS_TRY(rs_collect_bar(c, lane, d.kind, d.from, d.to, bar, err));
    if (*bar == RS_NONE) return RS_OK;
    struct rs_bars *b = c->bars;
    b->fade[*bar] = rs_collect_fade(c, *bar, d.fade);
    b->flags[*bar] = d.flags;
    if (e->nstates) event_marks(b, *bar, e);
    event_arguments(c, &v->args, e, *bar, d.kind);
    return RS_OK;
}

/* The bar of the operation that an event is, or depends on; RS_NONE: not drawn, or in another process or piece. */
static enum rs_status bar_of_part(struct rs_collect *c, uint32_t part, uint32_t *bar, struct rs_err *err)
{
    const struct rs_model *m = c->t->model;
    *bar = RS_NONE;
    if (part == RS_NONE || c->t->index->lead[m->members[m->parts.member[part]].proc] != c->proc) return RS_OK;
    if (c->piece_of_part) {
        const uint32_t *piece = &c->piece_of_part[part - c->first_part];
        if (*piece == RS_NONE) RS_TRY(rs_collect_part(c, part, err));
        if (*piece != c->piece->number) return RS_OK;
    }
    *bar = c->t->bar_of_part[part];
    return RS_OK;
}

static void keep_buffers(const struct rs_arguments *args, const struct rs_event *e, uint8_t kind,
                         struct rs_part_buffers *to)
{
    int64_t buffer = rs_argument(args, e, RS_ARG_BUFFER);
    to->send = kind == RS_PART_SEND ? buffer : rs_argument(args, e, RS_ARG_SEND_BUFFER);
    to->recv = kind == RS_PART_RECV ? buffer : rs_argument(args, e, RS_ARG_RECV_BUFFER);
    to->warps = rs_argument(args, e, RS_ARG_WARPS);
}

static enum rs_status visit(void *to, const struct rs_event *e, struct rs_err *err)
{
    struct visit *v = to;
    struct rs_collect *c = v->c;
    const struct rs_model *m = c->t->model;
    uint32_t above = e->parent < RS_BY_EVENT ? RS_BY_EVENT | e->parent : RS_NONE, op_bar, bar = RS_NONE;
    rs_bar_pieces_turn(c, e->piece);
    struct rs_bars *b = c->bars;
    RS_TRY(bar_of_part(c, e->part, &op_bar, err));
    bool is_part = e->part != RS_NONE && op_bar != RS_NONE && m->parts.handle[e->part] == e->handle;
    if (is_part && c->t->buffers) keep_buffers(&v->args, e, m->parts.kind[e->part], &c->t->buffers[e->part]);
    if (e->type & THREADED && e->member != RS_NONE && !e->call) /* in a dump: the model does not contain its threads */
        rs_collect_thread(c, e->tid, e->member);
    if (e->type & v->drawn) RS_TRY(draw(v, e, &bar, err));
    if (bar != RS_NONE) {
        if (e->part != RS_NONE && m->parts.op[e->part] < m->ops.n) b->op[bar] = c->t->op_number[m->parts.op[e->part]];
        b->parent[bar] = above != RS_NONE ? above : is_part ? RS_NONE : op_bar;
        if (e->type == RS_KERNEL_LAUNCH && e->member != RS_NONE) rs_launch_put(c, e->member, e->start, e->end, bar);
    }
    if (is_part && b->parent[op_bar] == RS_BAR_NONE) /* a call without further events from NCCL: the call itself */
        b->parent[op_bar] = bar != RS_NONE && !(e->type & OPERATIONS) ? bar : above;
    uint32_t stands = bar != RS_NONE ? bar : op_bar != RS_NONE ? op_bar : above;
    if (stands == (RS_BY_EVENT | e->number)) stands = RS_NONE;
    rs_collect_event(c, e->number, stands);
    return RS_OK;
}

/* Each lane has a cost in each piece: it should have a few bars there. */
static enum rs_status begun(void *to, uint32_t number, struct rs_err *err)
{
    (void)err;
    struct visit *v = to;
    uint32_t lanes = v->c->nlanes;
    if (v->pieces.least >= PIECE && lanes < UINT32_MAX / BARS_A_LANE && lanes * BARS_A_LANE > v->pieces.least)
        v->pieces.least = lanes * BARS_A_LANE;
    rs_bar_pieces_begin(v->c, number);
    return RS_OK;
}

static enum rs_status closed(void *to, struct rs_err *err)
{
    return rs_bar_pieces_end(((struct visit *)to)->c, false, err);
}

enum rs_status rs_collect_events(struct rs_collect *c, struct rs_err *err)
{
    struct visit v = {.c = c};
    uint64_t above;
    v.drawn = rs_row_types(c->t->options.rows, &above);
    if (!v.drawn || !c->t->inputs) return RS_OK;
    uint32_t piece = c->t->options.piece;
    v.pieces = (struct rs_event_pieces){.least = piece ? piece : PIECE,
                                        .lag = piece ? piece : LAG,
                                        .patience = PATIENCE,
                                        .begun = begun,
                                        .closed = closed};
    const uint32_t *parts = &c->t->index->parts.from[c->proc];
    if (v.drawn & RS_KERNEL_LAUNCH) rs_map_reserve(&c->launches, parts[1] - parts[0]);
    rs_arguments_init(&v.args);
    enum rs_status status = rs_events_read(c->t->model, c->t->inputs, c->proc, v.drawn | above | OPERATIONS,
                                           c->pieces->whole ? NULL : &v.pieces, visit, &v, err);
    rs_arguments_free(&v.args);
    c->t->index->apart += v.pieces.late;
    return status;
}

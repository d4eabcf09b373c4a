#include "gen/proxy.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "gen/truth.h"

enum {
    APPEND_NS = 1200, /* from the post to its callback, at least */
    STUCK_STEP_NS = 8000, /* of the steps that go through before a stall */
};

void rs_gen_proxy_init(struct rs_gen_proxy *p, struct rs_gen_gpu *gpu, int rank, int net_steps)
{
    *p = (struct rs_gen_proxy){.gpu = gpu, .rank = rank, .net_steps = net_steps};
}

void rs_gen_proxy_free(struct rs_gen_proxy *p)
{
    for (int k = 0; k < RS_GEN_STREAMS; k++) {
        struct rs_gen_lane *lane = &p->lanes[k];
        for (uint32_t i = 0; i < lane->cap; i++) {
            free(lane->queue[i].events);
            free(lane->queue[i].nets);
        }
        free(lane->queue);
    }
    *p = (struct rs_gen_proxy){0};
}

/* ---- when ---- */

/* The next callback of a burst: 30 to 61 ns after the previous one. */
static inline int64_t soon(struct rs_gen_proxy *p)
{
    if (p->bits < 32) p->bits = rs_gen_next(&p->rng) | UINT64_C(1) << 63;
    p->cursor += 30 + (int64_t)(p->bits & 31);
    p->bits >>= 5;
    return p->cursor;
}

static void append(struct rs_gen_proxy *p, struct rs_gen_launch *l)
{
    l->appended = true;
    int64_t t = l->post + APPEND_NS;
    if (p->cursor < t) p->cursor = t;
    for (int i = 0; i < l->nnets; i++) {
        struct rs_gen_net *n = &l->nets[i];
        const uint64_t chunk = n->bytes < INT32_MAX ? n->bytes : INT32_MAX;
        const uint64_t args[2] = {l->pid | (uint64_t)(uint32_t)n->peer << 32, (uint32_t)p->net_steps | chunk << 32};
        n->handle = rs_gen_start(p->slot, soon(p), RS_K_PROXY_OP, n->parent, l->ctx, l->rank,
                                 n->channel | (uint64_t)n->send << 8, args, 2);
        rs_gen_truth_note(p->truth, p->slot, n->op, p->rank, RS_GEN_LOST_NET);
    }
}

static struct rs_gen_launch *at(const struct rs_gen_lane *lane, uint32_t i)
{
    return &lane->queue[(lane->head + i) & (lane->cap - 1)];
}

static struct rs_gen_launch *first_not_appended(const struct rs_gen_lane *lane)
{
    for (uint32_t i = 0; i < lane->count; i++)
        if (!at(lane, i)->appended) return at(lane, i);
    return NULL;
}

/* Advances to a time; handles earlier posts of the program first, in their order. */
static void reach(struct rs_gen_proxy *p, int64_t t)
{
    for (;;) {
        struct rs_gen_launch *first = NULL;
        for (int k = 0; k < p->nlanes; k++) {
            struct rs_gen_launch *l = first_not_appended(&p->lanes[k]);
            if (l && (!first || l->post < first->post)) first = l;
        }
        if (!first || first->post + APPEND_NS > t) break;
        append(p, first);
    }
    if (p->cursor < t) p->cursor = t;
}

/* A pass of the loop some 100 ns after something happened. */
static void pass(struct rs_gen_proxy *p, int64_t t)
{
    reach(p, t + 200 + rs_gen_below(&p->rng, 900));
}

/* The same for kernels, which are polled less often. The thread may also be away for long, but not beyond `until`: that
 * would have delayed the network, which others would have seen. */
static void kernel_pass(struct rs_gen_proxy *p, int64_t t, int64_t until)
{
    uint64_t x = rs_gen_next(&p->rng);
    int64_t away = 0;
    t += 1000 + (int64_t)(x & 4095);
    if (!(x >> 12 & 511)) away = 100000 + (int64_t)(x >> 21 & 0xfffff);
    if (!(x >> 41 & 0x3fff)) away = 1000000 + (int64_t)(x >> 21 & 0x3fffff);
    if (away && until != RS_GEN_NEVER) away = until - t < away ? until - t : away;
    reach(p, away > 0 ? t + away : t);
}

/* ---- kernels ---- */

static void kernels_start(struct rs_gen_proxy *p, struct rs_gen_launch *l)
{
    kernel_pass(p, l->start, l->nnets ? l->transfer : RS_GEN_NEVER);
    for (int i = 0; i < l->nevents; i++) {
        struct rs_gen_event *e = &l->events[i];
        for (unsigned c = 0; c < e->nchannels; c++) {
            uint64_t timer = rs_gen_gpu_read(p->gpu, &p->view, l->start + 64 * (int64_t)c);
            uint64_t h =
                rs_gen_start(p->slot, soon(p), RS_K_KERNEL_CH, e->handle, l->ctx, 0, e->first_channel + c, &timer, 1);
            if (!c) e->kernels = h;
        }
        rs_gen_truth_note(p->truth, p->slot, e->op, p->rank, RS_GEN_LOST_KERNEL);
    }
}

static void kernels_stop(struct rs_gen_proxy *p, const struct rs_gen_lane *lane, struct rs_gen_launch *l)
{
    const struct rs_gen_launch *next = lane->count > 1 && !at(lane, 1)->pending ? at(lane, 1) : NULL;
    int64_t busy = next ? (next->nnets ? next->transfer : RS_GEN_NEVER) : l->nnets ? l->end : RS_GEN_NEVER;
    kernel_pass(p, l->end, busy);
    for (int i = 0; i < l->nevents; i++) {
        struct rs_gen_event *e = &l->events[i];
        for (unsigned c = 0; c < e->nchannels; c++) {
            uint64_t timer = rs_gen_gpu_read(p->gpu, &p->view, l->end - 32 * (int64_t)(e->nchannels - 1 - c));
            rs_gen_state_arg(p->slot, soon(p), e->kernels + c, RS_ST_KERNEL_CH_STOP, timer);
            rs_gen_stop(p->slot, soon(p), e->kernels + c);
        }
        rs_gen_truth_note(p->truth, p->slot, e->op, p->rank, RS_GEN_LOST_KERNEL);
    }
}

/* ---- the network ---- */

static inline uint64_t *step_of(struct rs_gen_net *n, int step)
{
    return &n->steps[step % RS_GEN_WINDOW];
}

static void post_step(struct rs_gen_proxy *p, const struct rs_gen_launch *l, struct rs_gen_net *n, int step)
{
    uint64_t *h = step_of(n, step);
    *h = rs_gen_start(p->slot, soon(p), RS_K_PROXY_STEP, n->handle, l->ctx, l->rank, (uint64_t)step, NULL, 0);
    /* The size with these two states is the previous one: NCCL does not clear it. */
    rs_gen_state_arg(p->slot, soon(p), *h, n->send ? RS_ST_STEP_SEND_GPU_WAIT : RS_ST_STEP_RECV_WAIT,
                     step ? n->bytes : 0);
}

static void peer_wait(struct rs_gen_proxy *p, struct rs_gen_net *n, int step)
{
    rs_gen_state_arg(p->slot, soon(p), *step_of(n, step), RS_ST_STEP_SEND_PEER_WAIT, n->bytes);
}

static void send_wait(struct rs_gen_proxy *p, struct rs_gen_net *n, int step)
{
    rs_gen_state_arg(p->slot, soon(p), *step_of(n, step), RS_ST_STEP_SEND_WAIT, n->bytes);
}

static void arrived(struct rs_gen_proxy *p, struct rs_gen_net *n, int step)
{
    uint64_t h = *step_of(n, step);
    rs_gen_state_arg(p->slot, soon(p), h, RS_ST_STEP_RECV_FLUSH_WAIT, n->bytes);
    rs_gen_state_arg(p->slot, soon(p), h, RS_ST_STEP_RECV_GPU_WAIT, n->bytes);
}

#define EACH_NET(n, l)                                                                                                 \
    for (struct rs_gen_net *n = (l)->nets, *n##_end = (l)->nnets ? n + (l)->nnets : n; n < n##_end;                    \
         rs_gen_truth_note(p->truth, p->slot, n->op, p->rank, RS_GEN_LOST_NET), n++)

/* Begins the network operations: as many steps as may be in flight. A receiver that is late posts none yet. */
static void nets_begin(struct rs_gen_proxy *p, struct rs_gen_launch *l)
{
    EACH_NET(n, l) rs_gen_state(p->slot, soon(p), n->handle, RS_ST_OP_IN_PROGRESS);
    for (int i = 0; i < RS_GEN_WINDOW && i < p->net_steps; i++)
        EACH_NET(n, l) if (n->send || !n->late_credit) post_step(p, l, n, i);
}

/* The data of a send are there; the receiver may not be. */
static void nets_ask(struct rs_gen_proxy *p, struct rs_gen_launch *l)
{
    EACH_NET(n, l) if (n->send && n->done) peer_wait(p, n, 0);
}

/* A step is on the network, if the data and the credit are there in time. */
static void nets_send(struct rs_gen_proxy *p, struct rs_gen_launch *l)
{
    int i = l->step;
    EACH_NET(n, l)
    {
        if (!n->send || n->fed_late || i >= n->done) continue;
        if (!l->p2p || i) peer_wait(p, n, i);
        if (!n->late_credit) send_wait(p, n, i);
    }
}

/* The same for data and credit that come late. */
static void nets_send_late(struct rs_gen_proxy *p, struct rs_gen_launch *l)
{
    int i = l->step;
    EACH_NET(n, l)
    {
        if (i >= n->done) continue;
        if (n->send && n->fed_late && (!l->p2p || i)) peer_wait(p, n, i);
        if (n->send && (n->fed_late || n->late_credit)) send_wait(p, n, i);
        if (!n->send && n->late_credit) post_step(p, l, n, i);
    }
}

static void nets_arrive(struct rs_gen_proxy *p, struct rs_gen_launch *l)
{
    int i = l->step;
    EACH_NET(n, l) if (i < n->done)
    {
        if (!n->send) arrived(p, n, i);
        rs_gen_stop(p->slot, soon(p), *step_of(n, i));
        if (i + RS_GEN_WINDOW < p->net_steps && (n->send || !n->late_credit)) post_step(p, l, n, i + RS_GEN_WINDOW);
    }
}

/* The state in which the first blocked step stays. */
static void nets_stall(struct rs_gen_proxy *p, struct rs_gen_launch *l)
{
    EACH_NET(n, l)
    {
        if (n->done >= p->net_steps) continue;
        if (n->state == RS_ST_STEP_SEND_PEER_WAIT || n->state == RS_ST_STEP_SEND_WAIT) peer_wait(p, n, n->done);
        if (n->state == RS_ST_STEP_SEND_WAIT) send_wait(p, n, n->done);
        if (n->state == RS_ST_STEP_RECV_GPU_WAIT) arrived(p, n, n->done);
    }
}

/* ---- one launch after the other ---- */

/* What the callbacks of a launch are about, in their order. Network steps repeat SEND to ARRIVE. */
enum phase { KERNELS_EARLY, NETS_BEGIN, KERNELS, ASK, SEND, SEND_LATE, ARRIVE, NETS_END, KERNELS_STOP, DONE };

static bool has_nets(const struct rs_gen_launch *l)
{
    return l->nnets && (l->start != RS_GEN_NEVER || l->progress);
}

static bool has_phase(const struct rs_gen_launch *l)
{
    bool starts = l->start != RS_GEN_NEVER, ends = l->end != RS_GEN_NEVER, nets = has_nets(l);
    switch ((enum phase)l->phase) {
    case KERNELS_EARLY: return starts && l->early;
    case NETS_BEGIN: return nets;
    case KERNELS: return starts && !l->early;
    case ASK: return nets && l->p2p && l->most;
    case SEND: return nets && l->step < l->most;
    case SEND_LATE: return nets && l->fed && l->step < l->most;
    case ARRIVE: return nets && l->step < l->most;
    case NETS_END: return nets;
    case KERNELS_STOP: return ends;
    case DONE: break;
    }
    return true;
}

static void next_phase(struct rs_gen_launch *l)
{
    if (l->phase == ARRIVE && ++l->step < l->most)
        l->phase = SEND;
    else
        l->phase++;
    while (!has_phase(l)) l->phase++;
}

/* The head of a lane: nothing before it is left. */
static void begin(struct rs_gen_proxy *p, const struct rs_gen_lane *lane, struct rs_gen_launch *l)
{
    l->begun = true;
    p->bits = 0;
    l->early = l->start != RS_GEN_NEVER && l->start < lane->net_free;
    EACH_NET(n, l)
    {
        if (l->end != RS_GEN_NEVER) n->done = p->net_steps;
        if (n->done > l->most) l->most = n->done;
        l->fed |= n->fed_late || n->late_credit;
    }
    while (!has_phase(l)) l->phase++;
}

/* When the next callbacks of a launch are due. */
static int64_t due(const struct rs_gen_proxy *p, const struct rs_gen_lane *lane, struct rs_gen_launch *l)
{
    int64_t post = l->post + APPEND_NS;
    switch ((enum phase)l->phase) {
    case KERNELS_EARLY:
    case KERNELS: return l->start;
    case NETS_BEGIN: return post > lane->net_free ? post : lane->net_free;
    case ASK: return l->start + 1500;
    case NETS_END: return l->end != RS_GEN_NEVER ? l->net_end : p->cursor + STUCK_STEP_NS;
    case KERNELS_STOP: return l->end;
    default: break;
    }
    if (!l->each) l->each = l->end != RS_GEN_NEVER ? (l->net_end - l->transfer) / p->net_steps : STUCK_STEP_NS;
    int64_t from = l->transfer + l->step * l->each;
    if (l->phase == SEND) return from + l->each / 8;
    return from + (l->phase == SEND_LATE ? (int64_t)((double)l->each * l->fed_part) : l->each);
}

/* Makes the next callbacks of the head of a lane, due at `t`. */
static void advance(struct rs_gen_proxy *p, struct rs_gen_lane *lane, int64_t t)
{
    struct rs_gen_launch *l = at(lane, 0);
    bool kernels = l->phase == KERNELS || l->phase == KERNELS_EARLY || l->phase == KERNELS_STOP;
    p->rng = l->rng;
    if (!l->appended) reach(p, l->post + APPEND_NS);
    if (!kernels && l->phase != DONE) pass(p, t);
    switch ((enum phase)l->phase) {
    case KERNELS_EARLY:
    case KERNELS: kernels_start(p, l); break;
    case NETS_BEGIN: nets_begin(p, l); break;
    case ASK: nets_ask(p, l); break;
    case SEND: nets_send(p, l); break;
    case SEND_LATE: nets_send_late(p, l); break;
    case ARRIVE: nets_arrive(p, l); break;
    case NETS_END:
        if (l->end == RS_GEN_NEVER) {
            nets_stall(p, l);
            break;
        }
        EACH_NET(n, l) rs_gen_stop(p->slot, soon(p), n->handle);
        lane->net_free = p->cursor;
        break;
    case KERNELS_STOP: kernels_stop(p, lane, l); break;
    case DONE: break;
    }
    l->rng = p->rng;
    if (l->phase != DONE) next_phase(l);
    if (l->phase != DONE) return;
    lane->head = (lane->head + 1) & (lane->cap - 1);
    lane->count--;
}

/* ---- the queue ---- */

static void reserve(void **list, int *cap, int n, size_t size)
{
    if (n <= *cap) return;
    void *grown = rs_realloc(*list, (size_t)n * size);
    *list = grown;
    *cap = n;
}

/* Makes the next callbacks that are due before `t`; false: there are none. */
static bool next(struct rs_gen_proxy *p, int64_t t)
{
    struct rs_gen_lane *first = NULL;
    int64_t earliest = RS_GEN_NEVER;
    bool last = t == RS_GEN_NEVER;
    for (int k = 0; k < p->nlanes; k++) {
        struct rs_gen_lane *lane = &p->lanes[k];
        if (!lane->count) continue;
        struct rs_gen_launch *l = at(lane, 0);
        /* A launch without end is written at the end of the job, so that later posts come first. */
        if (!last && !l->pending && l->end == RS_GEN_NEVER) continue;
        if (last) l->pending = false;
        if (!l->pending && !l->begun) begin(p, lane, l);
        int64_t when = l->pending || l->phase == DONE ? l->post : due(p, lane, l);
        if (first && when >= earliest) continue;
        first = lane;
        earliest = when;
    }
    /* What comes after the post of a pending launch has to wait for that. */
    if (!first || at(first, 0)->pending || (!last && earliest + 20000 >= t)) return false;
    advance(p, first, earliest);
    return true;
}

static void widen(struct rs_gen_lane *lane)
{
    uint32_t cap = lane->cap ? lane->cap * 2 : RS_GEN_QUEUE;
    struct rs_gen_launch *queue = rs_zalloc(cap, sizeof *queue);
    for (uint32_t i = 0; i < lane->count; i++) queue[i] = *at(lane, i);
    free(lane->queue); /* all of it is in use */
    lane->queue = queue;
    lane->head = 0;
    lane->cap = cap;
}

struct rs_gen_launch *rs_gen_proxy_push(struct rs_gen_proxy *p, enum rs_gen_stream stream, int nevents, int nnets)
{
    struct rs_gen_lane *lane = &p->lanes[stream];
    if (p->nlanes <= (int)stream) p->nlanes = (int)stream + 1;
    while (lane->cap && lane->count == lane->cap && next(p, RS_GEN_NEVER - 1)) {
    }
    if (lane->count == lane->cap) widen(lane);
    struct rs_gen_launch *l = at(lane, lane->count++);
    struct rs_gen_launch empty = {
        .events = l->events, .nets = l->nets, .events_cap = l->events_cap, .nets_cap = l->nets_cap};
    *l = empty;
    reserve((void **)&l->events, &l->events_cap, nevents, sizeof *l->events);
    reserve((void **)&l->nets, &l->nets_cap, nnets, sizeof *l->nets);
    return l;
}

struct rs_gen_launch *rs_gen_proxy_pending(struct rs_gen_proxy *p, enum rs_gen_stream stream)
{
    const struct rs_gen_lane *lane = &p->lanes[stream];
    for (uint32_t i = 0; i < lane->count; i++)
        if (at(lane, i)->pending) return at(lane, i);
    return NULL;
}

void rs_gen_proxy_until(struct rs_gen_proxy *p, int64_t t)
{
    while (next(p, t)) {
    }
}

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
    p->queue = rs_zalloc(RS_GEN_QUEUE, sizeof *p->queue);
}

void rs_gen_proxy_free(struct rs_gen_proxy *p)
{
    for (int i = 0; p->queue && i < RS_GEN_QUEUE; i++) {
        free(p->queue[i].events);
        free(p->queue[i].nets);
    }
    free(p->queue);
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

/* Advances to a time; handles earlier posts of the program first. */
static void reach(struct rs_gen_proxy *p, int64_t t)
{
    for (uint32_t i = 0; i < p->count; i++) {
        struct rs_gen_launch *l = &p->queue[(p->head + i) % RS_GEN_QUEUE];
        if (l->appended) continue;
        if (l->post + APPEND_NS > t) break;
        append(p, l);
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

static void kernels_stop(struct rs_gen_proxy *p, struct rs_gen_launch *l)
{
    const struct rs_gen_launch *next = p->count > 1 ? &p->queue[(p->head + 1) % RS_GEN_QUEUE] : NULL;
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

static void sent(struct rs_gen_proxy *p, struct rs_gen_net *n, int step, bool credit)
{
    uint64_t h = *step_of(n, step);
    if (!credit) rs_gen_state_arg(p->slot, soon(p), h, RS_ST_STEP_SEND_PEER_WAIT, n->bytes);
    rs_gen_state_arg(p->slot, soon(p), h, RS_ST_STEP_SEND_WAIT, n->bytes);
}

static void arrived(struct rs_gen_proxy *p, struct rs_gen_net *n, int step)
{
    uint64_t h = *step_of(n, step);
    rs_gen_state_arg(p->slot, soon(p), h, RS_ST_STEP_RECV_FLUSH_WAIT, n->bytes);
    rs_gen_state_arg(p->slot, soon(p), h, RS_ST_STEP_RECV_GPU_WAIT, n->bytes);
}

#define EACH_NET(n, l)                                                                                                 \
    for (struct rs_gen_net *n = (l)->nets, *n##_end = n + (l)->nnets; n < n##_end;                                     \
         rs_gen_truth_note(p->truth, p->slot, n->op, p->rank, RS_GEN_LOST_NET), n++)

/* Begins the network operations: as many steps as may be in flight. */
static void nets_begin(struct rs_gen_proxy *p, struct rs_gen_launch *l)
{
    int64_t t = l->post + APPEND_NS;
    pass(p, t > p->net_free ? t : p->net_free);
    EACH_NET(n, l) rs_gen_state(p->slot, soon(p), n->handle, RS_ST_OP_IN_PROGRESS);
    for (int i = 0; i < RS_GEN_WINDOW && i < p->net_steps; i++) EACH_NET(n, l) post_step(p, l, n, i);
}

static void nets_move(struct rs_gen_proxy *p, struct rs_gen_launch *l)
{
    bool ends = l->end != RS_GEN_NEVER;
    int most = 0;
    bool fed_late = false;
    EACH_NET(n, l)
    {
        if (ends) n->done = p->net_steps;
        if (n->done > most) most = n->done;
        fed_late |= n->fed_late;
    }
    int64_t each = ends ? (l->net_end - l->transfer) / p->net_steps : STUCK_STEP_NS;
    if (l->p2p && most) { /* the data are there; the receiver may not be */
        pass(p, l->start + 1500);
        EACH_NET(n, l)
        if (n->send && n->done) rs_gen_state_arg(p->slot, soon(p), *step_of(n, 0), RS_ST_STEP_SEND_PEER_WAIT, n->bytes);
    }
    for (int i = 0; i < most; i++) {
        int64_t t = l->transfer + i * each;
        pass(p, t + each / 8);
        EACH_NET(n, l) if (n->send && !n->fed_late && i < n->done) sent(p, n, i, l->p2p && !i);
        if (fed_late) {
            pass(p, t + (int64_t)((double)each * l->fed_part));
            EACH_NET(n, l) if (n->send && n->fed_late && i < n->done) sent(p, n, i, l->p2p && !i);
        }
        pass(p, t + each);
        EACH_NET(n, l) if (i < n->done)
        {
            if (!n->send) arrived(p, n, i);
            rs_gen_stop(p->slot, soon(p), *step_of(n, i));
            if (i + RS_GEN_WINDOW < p->net_steps) post_step(p, l, n, i + RS_GEN_WINDOW);
        }
    }
}

/* The state in which the first blocked step stays. */
static void nets_stall(struct rs_gen_proxy *p, struct rs_gen_launch *l)
{
    pass(p, p->cursor + STUCK_STEP_NS);
    EACH_NET(n, l)
    {
        if (n->done >= p->net_steps) continue;
        uint64_t h = *step_of(n, n->done);
        if (n->state == RS_ST_STEP_SEND_PEER_WAIT)
            rs_gen_state_arg(p->slot, soon(p), h, RS_ST_STEP_SEND_PEER_WAIT, n->bytes);
        else if (n->state == RS_ST_STEP_SEND_WAIT)
            sent(p, n, n->done, false);
        else if (n->state == RS_ST_STEP_RECV_GPU_WAIT)
            arrived(p, n, n->done);
    }
}

static void emit(struct rs_gen_proxy *p, struct rs_gen_launch *l)
{
    bool starts = l->start != RS_GEN_NEVER, ends = l->end != RS_GEN_NEVER;
    p->rng = l->rng;
    p->bits = 0;
    bool nets = l->nnets && (starts || l->progress), early = starts && l->start < p->net_free;
    if (!l->appended) reach(p, l->post + APPEND_NS);
    if (early) kernels_start(p, l);
    if (nets) nets_begin(p, l);
    if (starts && !early) kernels_start(p, l);
    if (nets) nets_move(p, l);
    if (nets && ends) {
        pass(p, l->net_end);
        EACH_NET(n, l) rs_gen_stop(p->slot, soon(p), n->handle);
        p->net_free = p->cursor;
    } else if (nets) {
        nets_stall(p, l);
    }
    if (ends) kernels_stop(p, l);
}

/* ---- the queue ---- */

static void reserve(void **list, int *cap, int n, size_t size)
{
    if (n <= *cap) return;
    void *grown = rs_realloc(*list, (size_t)n * size);
    *list = grown;
    *cap = n;
}

static void pop(struct rs_gen_proxy *p)
{
    emit(p, &p->queue[p->head]);
    p->head = (p->head + 1) % RS_GEN_QUEUE;
    p->count--;
}

struct rs_gen_launch *rs_gen_proxy_push(struct rs_gen_proxy *p, int nevents, int nnets)
{
    if (p->count == RS_GEN_QUEUE) pop(p);
    struct rs_gen_launch *l = &p->queue[(p->head + p->count) % RS_GEN_QUEUE];
    struct rs_gen_launch empty = {
        .events = l->events, .nets = l->nets, .events_cap = l->events_cap, .nets_cap = l->nets_cap};
    *l = empty;
    reserve((void **)&l->events, &l->events_cap, nevents, sizeof *l->events);
    reserve((void **)&l->nets, &l->nets_cap, nnets, sizeof *l->nets);
    p->count++;
    return l;
}

void rs_gen_proxy_until(struct rs_gen_proxy *p, int64_t t)
{
    /* A launch without end is written at the end of the job, so that later posts come first. */
    while (p->count && p->queue[p->head].end != RS_GEN_NEVER && p->queue[p->head].end + 20000 < t) pop(p);
    while (p->count && t == RS_GEN_NEVER) pop(p);
}

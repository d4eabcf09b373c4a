#include "sim/launch.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"

enum { SMALL_BYTES = 64 * 1024, KILL_DELAY_NS = 30000000 };

static int channels(const struct rs_sim_comm *c)
{
    return c->job->plan->cfg.channels;
}

/* Collectives of one kernel divide its channels; send and receive of a pair must choose the same ones. */
static void choose_channels(struct rs_sim_task *t, int i, int ntasks)
{
    int all = channels(t->comm);
    if (!t->p2p) {
        int share = all / ntasks > 0 ? all / ntasks : 1;
        t->first_channel = i * share % all;
        t->nchannels = share;
        return;
    }
    int n = t->comm->def->nranks;
    int src = t->func == RS_SIM_SEND ? t->comm->rank : t->peer;
    int dst = t->func == RS_SIM_SEND ? t->peer : t->comm->rank;
    t->nchannels = all >= 4 ? 2 : 1;
    t->first_channel = (dst - src + n) % n * t->nchannels % all;
}

struct rs_sim_launch *rs_sim_launch_new(struct rs_sim_comm *comm, struct rs_sim_task *const *tasks, int ntasks)
{
    struct rs_sim_launch *l = rs_zalloc(1, sizeof *l + (size_t)ntasks * sizeof l->tasks[0]);
    l->comm = comm;
    l->p2p = tasks[0]->p2p;
    l->ntasks = ntasks;
    for (int i = 0; i < ntasks; i++) {
        l->tasks[i] = *tasks[i];
        choose_channels(&l->tasks[i], i, ntasks);
    }
    return l;
}

struct rs_sim_launch *rs_sim_launch_copy(const struct rs_sim_launch *from)
{
    size_t size = sizeof *from + (size_t)from->ntasks * sizeof from->tasks[0];
    struct rs_sim_launch *l = rs_alloc(size);
    memcpy(l, from, size);
    l->next = NULL;
    l->kernel = NULL;
    return l;
}

void rs_sim_launch_free(struct rs_sim_launch *l)
{
    if (l->kernel) rs_sim_kernel_unref(l->kernel);
    free(l);
}

/* ---- network ---- */

/* Bytes that cross each hop of the ring. */
static size_t ring_bytes(const struct rs_sim_task *t)
{
    size_t n = (size_t)t->comm->def->nranks;
    if (t->func == RS_SIM_ALLREDUCE) return t->bytes / n * 2 * (n - 1) + t->bytes % n;
    if (t->func == RS_SIM_BROADCAST || t->func == RS_SIM_REDUCE) return t->bytes;
    return t->bytes / n * (n - 1);
}

static uint64_t task_ns(const struct rs_sim_task *t)
{
    const struct rs_sim_plan *plan = t->comm->job->plan;
    if (!t->p2p) return rs_sim_transfer_ns(plan, ring_bytes(t), t->comm->def->nnodes > 1);
    return rs_sim_transfer_ns(plan, t->bytes, rs_sim_remote(plan, t->comm->def, t->comm->rank, t->peer));
}

/* A broadcast begins at its root, a reduction behind it, so that it ends there. */
static int first_rank(const struct rs_sim_task *t)
{
    if (t->func == RS_SIM_BROADCAST) return t->root;
    return t->func == RS_SIM_REDUCE ? (t->root + 1) % t->comm->def->nranks : -1;
}

/* The network operations of a task, at most two; returns their number. */
static int net_ops(const struct rs_sim_launch *l, const struct rs_sim_task *t, struct rs_sim_netop out[2])
{
    const struct rs_sim_comm *c = t->comm;
    const struct rs_sim_plan *plan = c->job->plan;
    int n = c->def->nranks, k = 0;
    if (l->ce) return 0;
    struct rs_sim_netop op = {.pid = getpid(),
                              .ctx = c->ctx,
                              .parent = t->event,
                              .mask = t->mask,
                              .comm = c->index,
                              .owner = c->rank,
                              .is_coll = !t->p2p,
                              .first = first_rank(t),
                              .op_index = t->op_index,
                              .meet = l->kernel ? l->kernel->meet : 0,
                              .work = l->kernel ? l->kernel->work : 0,
                              .nsteps = plan->cfg.net_steps,
                              .bytes = (t->p2p ? t->bytes : ring_bytes(t)) / (size_t)t->nchannels,
                              .step_ns = task_ns(t) / (uint64_t)plan->cfg.net_steps,
                              .first_channel = t->first_channel,
                              .nchannels = t->nchannels};
    if (t->p2p) {
        if (!rs_sim_remote(plan, c->def, c->rank, t->peer)) return 0;
        op.peer = t->peer;
        op.is_send = t->func == RS_SIM_SEND;
        out[k++] = op;
        return k;
    }
    int next = (c->rank + 1) % n, prev = (c->rank + n - 1) % n;
    if (rs_sim_remote(plan, c->def, prev, c->rank) && c->rank != op.first) {
        out[k] = op;
        out[k].peer = prev;
        out[k++].is_send = false;
    }
    if (rs_sim_remote(plan, c->def, c->rank, next) && next != op.first) {
        out[k] = op;
        out[k].peer = next;
        out[k++].is_send = true;
    }
    return k;
}

/* ---- the kernel ---- */

bool rs_sim_launch_kernel(struct rs_sim_launch *l, bool gated, bool never)
{
    struct rs_sim_comm *c = l->comm;
    struct rs_sim_netop ops[2];
    uint64_t nets = 0;
    int ntransfers = 0;
    for (int i = 0; i < l->ntasks; i++) {
        struct rs_sim_task *t = &l->tasks[i];
        if (t->p2p && t->peer != c->rank) ntransfers++;
        if (!t->p2p) t->op_index = c->next_op++;
        nets += (uint64_t)net_ops(l, t, ops);
    }
    struct rs_sim_kernel *k = rs_sim_kernel_new(ntransfers);
    k->comm = c->index;
    k->rank = c->rank;
    k->coll = !l->p2p;
    k->never = never;
    if (gated) atomic_store(&k->gate, 0);
    if (k->coll) k->meet = c->next_meet++;
    int n = 0;
    for (int i = 0; i < l->ntasks; i++) {
        struct rs_sim_task *t = &l->tasks[i];
        if (!t->p2p) k->transfer_ns += task_ns(t);
        if (!t->p2p || t->peer == c->rank) continue;
        bool send = t->func == RS_SIM_SEND;
        k->transfers[n++] = (struct rs_sim_transfer){
            .peer = t->peer, .send = send, .index = send ? c->sends[t->peer]++ : c->recvs[t->peer]++, .ns = task_ns(t)};
    }
    atomic_fetch_add(&k->refs, 1);
    l->kernel = k;
    return rs_sim_gpu_launch(c->gpu, k, nets);
}

/* ---- events ---- */

static bool watched(const struct rs_sim_launch *l, const struct rs_sim_task *t)
{
    if (l->ce || !l->comm->plugin || l->comm->plugin->native < 3) return false;
    return (t->mask & RS_KERNEL_CH) != 0 && !(t->p2p && t->peer == t->comm->rank);
}

bool rs_sim_launch_posts(const struct rs_sim_launch *l)
{
    struct rs_sim_netop ops[2];
    for (int i = 0; i < l->ntasks; i++) {
        if (watched(l, &l->tasks[i]) || net_ops(l, &l->tasks[i], ops) > 0) return true;
    }
    return false;
}

static void start_task(struct rs_sim_launch *l, struct rs_sim_task *t, void *group)
{
    struct rs_sim_comm *c = l->comm;
    struct rs_sim_event ev = {.type = t->p2p ? RS_P2P : RS_COLL,
                              .parent = t->api,
                              .parent_group = group,
                              .rank = c->rank,
                              .func = t->func,
                              .dtype = t->dtype,
                              .count = t->count,
                              .root = t->root,
                              .peer = t->peer,
                              .tag = t->tag,
                              .name = c->def->name[0] ? c->def->name : NULL,
                              .hash = c->def->hash,
                              .traffic = t->bytes * 2,
                              .nchannels = (uint8_t)t->nchannels,
                              .small = t->bytes < SMALL_BYTES};
    ev.send_buff = (const void *)(uintptr_t)(0x7f0000000000u + (uint64_t)c->rank * 0x100000000u);
    ev.recv_buff = (void *)(uintptr_t)(0x7f0080000000u + (uint64_t)c->rank * 0x100000000u);
    if (t->func == RS_SIM_ALLGATHER || t->func == RS_SIM_BROADCAST) {
        ev.count = t->count * rs_sim_dtype_size(t->dtype);
        ev.dtype = RS_SIM_INT8;
    }
    if (!t->p2p) {
        /* A captured launch advances the number only if KernelCh is enabled. */
        bool counts = !l->captured || (t->mask & RS_KERNEL_CH) != 0;
        ev.seq = counts ? atomic_fetch_add(&c->seq[t->func], 1) : atomic_load(&c->seq[t->func]);
    }
    if (rs_sim_wants(t->mask, ev.type)) rs_sim_call_start(c->plugin, c->ctx, &t->event, &ev);
}

static void push(struct rs_sim_post ***tail, struct rs_sim_post *p)
{
    **tail = p;
    *tail = &p->next;
}

static void post(struct rs_sim_launch *l)
{
    struct rs_sim_comm *c = l->comm;
    struct rs_sim_post *list = NULL, **tail = &list;
    for (int i = 0; i < l->ntasks; i++) {
        struct rs_sim_task *t = &l->tasks[i];
        struct rs_sim_netop ops[2];
        int n = net_ops(l, t, ops);
        for (int k = 0; k < n; k++) {
            int helper = ops[k].is_send ? rs_sim_pxn_helper(c->job->plan, c->def, c->rank) : -1;
            if (helper >= 0) {
                struct rs_sim_inbox *in = rs_sim_inbox(c->job, c->index, helper);
                while (!rs_sim_inbox_put(in, &ops[k]) && !rs_sim_aborted(c->job, c->gpu->rank))
                    rs_sim_sleep_until(rs_sim_now() + 200000);
                rs_sim_bell_ring(&c->job->shared->ranks[c->def->ranks[helper]].proxy);
                continue;
            }
            struct rs_sim_post *p = rs_sim_post_new();
            p->op = ops[k];
            push(&tail, p);
        }
        if (watched(l, t)) {
            struct rs_sim_post *p = rs_sim_post_new();
            p->kernel = l->kernel;
            atomic_fetch_add(&l->kernel->refs, 1);
            p->op = (struct rs_sim_netop){.ctx = c->ctx,
                                          .parent = t->event,
                                          .mask = t->mask,
                                          .first_channel = t->first_channel,
                                          .nchannels = t->nchannels};
            push(&tail, p);
        }
    }
    if (list) rs_sim_proxy_post(c->proxy, list);
}

void rs_sim_launch_report(struct rs_sim_launch *l, enum rs_sim_fate fate)
{
    struct rs_sim_comm *c = l->comm;
    int mask = 0;
    for (int i = 0; i < l->ntasks; i++) mask |= l->tasks[i].mask;
    void *group = NULL;
    if (rs_sim_wants(mask, RS_GROUP)) {
        rs_sim_call_start(c->plugin, c->ctx, &group, &(struct rs_sim_event){.type = RS_GROUP});
    }
    if (!group && c->plugin && c->plugin->native < 5) {
        for (int i = 0; i < l->ntasks; i++)
            l->tasks[i].mask = 0; /* up to 2.27 nothing is reported below a NULL Group */
    }
    for (int i = 0; i < l->ntasks; i++) start_task(l, &l->tasks[i], group);
    if (l->kernel) post(l);
    if (fate == RS_SIM_KILLED) {
        rs_sim_sleep_until(rs_sim_now() + KILL_DELAY_NS); /* meanwhile the proxy begins the work */
        kill(getpid(), SIGKILL);
    }
    for (int i = 0; i < l->ntasks; i++) rs_sim_stop_if(c->plugin, l->tasks[i].event);
    rs_sim_stop_if(c->plugin, group);
}

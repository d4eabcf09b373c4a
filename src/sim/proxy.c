#include "sim/proxy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"

/* ---- network operations ----
 * Network operations of a proxy: their steps, and their ProxyOp, ProxyStep and NetPlugin events.
 *
 * A run is one operation in progress on one proxy thread, which owns it; it uses only shared memory and the plugin, so
 * an operation of another process (PXN) is no different. Steps depend on each other across ranks: a send needs its GPU
 * to have started, the ring's data to have arrived, and the receiver's credit; a receive needs the data. */

struct sim_netrun;

enum {
    KEY_IRECV = 201,
    QPS = 2, /* queue pairs of an InfiniBand connection */
    SOCK_FD = 40,
};

/* One channel of an operation. Counters are steps of this operation; each is at most the one before it. */
struct sub {
    int channel;
    struct rs_sim_link *link;
    uint64_t base; /* steps of earlier operations on the link */
    bool begun;
    int posted, ready, moved_on, flushed, done;
    bool refused; /* the receive of step `posted` was tried once and must be tried again */
    size_t trans; /* bytes of the latest transfer */
    size_t total;
    void *handle;
    void *step[RS_SIM_WINDOW];
    void *net[RS_SIM_WINDOW][QPS];
    uint64_t arrive_ns[RS_SIM_WINDOW];
};

struct sim_netrun {
    const struct rs_sim_job *job;
    struct rs_sim_plugin *plugin;
    struct rs_sim_netop op;
    size_t chunk;
    struct sub sub[];
};

static const struct rs_sim_comm_def *def_of(const struct sim_netrun *r)
{
    return &r->job->plan->comms[r->op.comm];
}

static struct rs_sim_rank *owner_rank(const struct sim_netrun *r)
{
    return &r->job->shared->ranks[def_of(r)->ranks[r->op.owner]];
}

/* Starts the ProxyOp events; as many as the operation has channels. */
static struct sim_netrun *sim_net_begin(const struct rs_sim_job *job, struct rs_sim_plugin *plugin,
                                        const struct rs_sim_netop *op)
{
    struct sim_netrun *r = rs_zalloc(1, sizeof *r + (size_t)op->nchannels * sizeof r->sub[0]);
    r->job = job;
    r->plugin = plugin;
    r->op = *op;
    r->chunk = (op->bytes + (size_t)op->nsteps - 1) / (size_t)op->nsteps;
    int src = op->is_send ? op->owner : op->peer;
    int dst = op->is_send ? op->peer : op->owner;
    for (int i = 0; i < op->nchannels; i++) {
        struct sub *s = &r->sub[i];
        s->channel = (op->first_channel + i) % job->plan->cfg.channels;
        s->link = rs_sim_link(job, op->comm, src, dst, s->channel);
        if (!rs_sim_wants(op->mask, RS_PROXY_OP)) continue;
        rs_sim_call_start(plugin, op->ctx, &s->handle,
                          &(struct rs_sim_event){.type = RS_PROXY_OP,
                                                 .parent = op->parent,
                                                 .rank = op->owner,
                                                 .pid = op->pid,
                                                 .channel = (uint8_t)s->channel,
                                                 .peer = op->peer,
                                                 .nsteps = op->nsteps,
                                                 .chunk = (int)(r->chunk > 0x7fffffff ? 0x7fffffff : r->chunk),
                                                 .is_send = op->is_send});
    }
    return r;
}

static void sim_net_free(struct sim_netrun *run)
{
    free(run);
}

/* Whether the two share a channel of the same connection: then the later one must wait. */
static bool sim_net_collide(const struct sim_netrun *a, const struct sim_netrun *b)
{
    if (a->op.comm != b->op.comm || a->op.owner != b->op.owner || a->op.peer != b->op.peer ||
        a->op.is_send != b->op.is_send)
        return false;
    for (int i = 0; i < a->op.nchannels; i++) {
        for (int j = 0; j < b->op.nchannels; j++) {
            if (a->sub[i].channel == b->sub[j].channel) return true;
        }
    }
    return false;
}

static size_t step_bytes(const struct sim_netrun *r, int step)
{
    size_t before = (size_t)step * r->chunk;
    if (before >= r->op.bytes) return 0;
    return r->op.bytes - before < r->chunk ? r->op.bytes - before : r->chunk;
}

/* A state of an operation as a whole, which NCCL recorded up to 2.26. */
static void op_state(struct sim_netrun *r, struct sub *s, int st, int steps)
{
    if (!r->plugin || r->plugin->native > 3) return;
    rs_sim_record_if(r->plugin, s->handle, st, &(struct rs_sim_args){.trans = s->total, .steps = steps});
}

static void step_state(struct sim_netrun *r, struct sub *s, int step, int st)
{
    if (!r->plugin || !s->handle) return;
    struct rs_sim_args args = {.trans = s->trans};
    rs_sim_record_if(r->plugin, s->step[step % RS_SIM_WINDOW], st, r->plugin->native > 3 ? &args : NULL);
}

static void step_start(struct sim_netrun *r, struct sub *s, int step)
{
    if (!r->plugin || !rs_sim_wants(r->op.mask, RS_PROXY_STEP)) return;
    if (!s->handle && r->plugin->native < 5) return;
    rs_sim_call_start(
        r->plugin, r->op.ctx, &s->step[step % RS_SIM_WINDOW],
        &(struct rs_sim_event){.type = RS_PROXY_STEP, .parent = s->handle, .rank = r->op.owner, .step = step});
}

static void step_stop(struct sim_netrun *r, struct sub *s, int step)
{
    rs_sim_stop_if(r->plugin, s->step[step % RS_SIM_WINDOW]);
    s->step[step % RS_SIM_WINDOW] = NULL;
}

/* ---- events of the network plugin, as with a NCCL built for network profiling ---- */

static void net_start(struct sim_netrun *r, struct sub *s, int step)
{
    enum rs_sim_net kind = r->job->plan->cfg.net;
    if (!r->plugin || kind == RS_SIM_NET_QUIET || r->plugin->native < 3) return;
    void **h = s->net[step % RS_SIM_WINDOW];
    size_t bytes = step_bytes(r, step);
    struct rs_sim_event ev = {.type = RS_NET_PLUGIN, .parent = s->step[step % RS_SIM_WINDOW], .rank = r->op.owner};
    if (!rs_sim_wants(r->op.mask, RS_NET_PLUGIN)) {
        h[0] = h[1] = NULL;
    } else if (kind == RS_SIM_NET_IB) {
        for (int q = 0; q < QPS; q++) {
            struct rs_nccl_net_ib_v1 ib = {.type = 1,
                                           .qp = {.device = r->op.owner % 2,
                                                  .wr_id = (s->base + (uint64_t)step) * QPS + (uint64_t)q,
                                                  .opcode = r->op.is_send ? 1 : 0,
                                                  .qpNum = 1000 + s->channel * QPS + q,
                                                  .length = r->op.is_send ? bytes / QPS : 0}};
            ev.net_id = RS_NCCL_NET_IB | 1;
            ev.net_data = &ib;
            rs_sim_call_start(r->plugin, r->op.ctx, &h[q], &ev);
        }
    } else {
        struct rs_nccl_net_sock_v1 sock = {
            .type = 1, .sock = {.fd = SOCK_FD + s->channel, .op = r->op.is_send ? 1 : 0, .length = bytes}};
        ev.net_id = RS_NCCL_NET_SOCK | 1;
        ev.net_data = &sock;
        rs_sim_call_start(r->plugin, r->op.ctx, &h[0], &ev);
    }
}

static void net_stop(struct sim_netrun *r, struct sub *s, int step)
{
    enum rs_sim_net kind = r->job->plan->cfg.net;
    if (!r->plugin || kind == RS_SIM_NET_QUIET || r->plugin->native < 3) return;
    void **h = s->net[step % RS_SIM_WINDOW];
    if (kind == RS_SIM_NET_IB) {
        /* Once at the completion of each queue pair, once more when the request is over; handles are not checked. */
        for (int q = 0; q < QPS; q++) rs_sim_call_stop(r->plugin, h[q]);
        for (int q = 0; q < QPS; q++) rs_sim_call_stop(r->plugin, h[q]);
    } else {
        struct rs_nccl_net_sock_v1 sock = {
            .type = 1,
            .sock = {.fd = SOCK_FD + s->channel, .op = r->op.is_send ? 1 : 0, .length = step_bytes(r, step)}};
        rs_sim_call_record(r->plugin, h[0], RS_ST_NET_PLUGIN_UPDATE, &(struct rs_sim_args){.data = &sock});
        rs_sim_call_stop(r->plugin, h[0]);
    }
}

/* ---- the two directions ---- */

/* Whether the owner's GPU has the data of a step: it runs, and for a ring the data of this step has arrived. */
static bool gpu_has(const struct sim_netrun *r, const struct sub *s, int step)
{
    struct rs_sim_rank *me = owner_rank(r);
    if (atomic_load(&me->work[r->op.work % RS_SIM_WORKS].started) != r->op.work + 1) return false;
    if (!r->op.is_coll || step == 0) return true;
    /* Walk back to where the ring enters this host; the GPUs between pass the data on. */
    const struct rs_sim_comm_def *def = def_of(r);
    for (int i = 0, x = r->op.owner; i < def->nranks && x != r->op.first; i++) {
        if (atomic_load(&rs_sim_meet(r->job, r->op.comm, r->op.meet, x)->started) != r->op.meet + 1) return false;
        int prev = (x + def->nranks - 1) % def->nranks;
        if (rs_sim_remote(r->job->plan, def, prev, x)) {
            uint64_t need = (r->op.op_index + 1) << 20 | (uint64_t)step;
            return atomic_load(rs_sim_received(r->job, r->op.comm, x, s->channel)) >= need;
        }
        x = prev;
    }
    return true;
}

static void wake_peer(const struct sim_netrun *r)
{
    const struct rs_sim_comm_def *def = def_of(r);
    rs_sim_bell_ring(&r->job->shared->ranks[def->ranks[r->op.peer]].proxy);
    int helper = r->op.is_send ? -1 : rs_sim_pxn_helper(r->job->plan, def, r->op.peer);
    if (helper >= 0) rs_sim_bell_ring(&r->job->shared->ranks[def->ranks[helper]].proxy);
}

static bool send_progress(struct sim_netrun *r, struct sub *s, uint64_t now, uint64_t *deadline)
{
    bool moved = false;
    while (s->posted < r->op.nsteps && s->posted < s->done + RS_SIM_WINDOW) {
        step_start(r, s, s->posted);
        step_state(r, s, s->posted, RS_ST_STEP_SEND_GPU_WAIT);
        op_state(r, s, RS_ST_OP_SEND_POSTED, ++s->posted);
        moved = true;
    }
    while (s->moved_on < s->posted) {
        int step = s->moved_on;
        uint64_t at = s->base + (uint64_t)step;
        if (!gpu_has(r, s, step)) break;
        step_state(r, s, step, RS_ST_STEP_SEND_PEER_WAIT); /* again whenever the send is tried again */
        if (step == s->ready) {
            op_state(r, s, RS_ST_OP_SEND_REM_FIFO_WAIT, step);
            s->ready++;
            moved = true;
        }
        if (atomic_load(&s->link->posted) <= at) break;
        s->trans = step_bytes(r, step);
        s->total += s->trans;
        s->arrive_ns[step % RS_SIM_WINDOW] = now + r->op.step_ns;
        atomic_store(&s->link->arrive_ns[at % (2 * RS_SIM_WINDOW)], now + r->op.step_ns);
        atomic_store(&s->link->sent, at + 1);
        net_start(r, s, step);
        step_state(r, s, step, RS_ST_STEP_SEND_WAIT);
        op_state(r, s, RS_ST_OP_SEND_TRANSMITTED, ++s->moved_on);
        wake_peer(r);
        moved = true;
    }
    while (s->done < s->moved_on) {
        uint64_t arrive = s->arrive_ns[s->done % RS_SIM_WINDOW];
        if (now < arrive) {
            if (arrive < *deadline) *deadline = arrive;
            break;
        }
        net_stop(r, s, s->done);
        step_stop(r, s, s->done);
        op_state(r, s, RS_ST_OP_SEND_DONE, ++s->done);
        moved = true;
    }
    if (s->done == r->op.nsteps) atomic_store(&s->link->send_base, s->base + (uint64_t)r->op.nsteps);
    return moved;
}

/* Receives the next step, if it has arrived. */
static bool receive(struct sim_netrun *r, struct sub *s, uint64_t now, uint64_t *deadline)
{
    uint64_t at = s->base + (uint64_t)s->ready;
    if (atomic_load(&s->link->sent) <= at) return false;
    uint64_t arrive = atomic_load(&s->link->arrive_ns[at % (2 * RS_SIM_WINDOW)]);
    if (now < arrive) {
        if (arrive < *deadline) *deadline = arrive;
        return false;
    }
    net_stop(r, s, s->ready);
    s->trans = step_bytes(r, s->ready);
    s->total += s->trans;
    step_state(r, s, s->ready, RS_ST_STEP_RECV_FLUSH_WAIT);
    op_state(r, s, RS_ST_OP_RECV_RECEIVED, ++s->ready);
    if (r->op.is_coll) {
        atomic_store(rs_sim_received(r->job, r->op.comm, r->op.owner, s->channel),
                     (r->op.op_index + 1) << 20 | (uint64_t)s->ready);
        rs_sim_ring_host(r->job, def_of(r), r->op.owner);
    }
    *deadline = now; /* the flush is over at the next poll */
    return true;
}

static bool recv_progress(struct sim_netrun *r, struct sub *s, uint64_t now, uint64_t *deadline)
{
    bool moved = false;
    while (s->posted < r->op.nsteps && s->posted < s->done + RS_SIM_WINDOW) {
        uint64_t at = s->base + (uint64_t)s->posted;
        step_start(r, s, s->posted);
        /* Sometimes the network accepts no request, and the next poll starts the same step again. */
        if (!s->refused && rs_sim_random(r->job->plan->cfg.seed, KEY_IRECV, at, (uint64_t)s->channel) % 16 == 0) {
            s->refused = true;
            if (now < *deadline) *deadline = now;
            break;
        }
        s->refused = false;
        net_start(r, s, s->posted);
        step_state(r, s, s->posted, RS_ST_STEP_RECV_WAIT);
        op_state(r, s, RS_ST_OP_RECV_POSTED, ++s->posted);
        atomic_store(&s->link->posted, at + 1);
        wake_peer(r);
        moved = true;
    }
    if (s->ready < s->posted && receive(r, s, now, deadline)) return true;
    while (s->flushed < s->ready) {
        step_state(r, s, s->flushed, RS_ST_STEP_RECV_GPU_WAIT);
        op_state(r, s, RS_ST_OP_RECV_TRANSMITTED, ++s->flushed);
        moved = true;
    }
    struct rs_sim_rank *me = owner_rank(r);
    bool running = atomic_load(&me->work[r->op.work % RS_SIM_WORKS].started) == r->op.work + 1;
    while (running && s->done < s->flushed) {
        step_stop(r, s, s->done);
        op_state(r, s, RS_ST_OP_RECV_DONE, ++s->done);
        moved = true;
    }
    if (s->done == r->op.nsteps) atomic_store(&s->link->recv_base, s->base + (uint64_t)r->op.nsteps);
    return moved;
}

/* Does what can be done now. Sets *moved on progress; lowers *deadline to the next time of progress without a bell.
 * Returns true when the operation is over and its events are stopped. */
static bool sim_net_progress(struct sim_netrun *r, bool *moved, uint64_t *deadline)
{
    uint64_t now = rs_sim_now();
    bool all = true;
    for (int i = 0; i < r->op.nchannels; i++) {
        struct sub *s = &r->sub[i];
        if (!s->begun) {
            s->begun = true;
            s->base = atomic_load(r->op.is_send ? &s->link->send_base : &s->link->recv_base);
            if (r->plugin && r->plugin->native >= 4) rs_sim_record_if(r->plugin, s->handle, RS_ST_OP_IN_PROGRESS, NULL);
            *moved = true;
        }
        if (s->done < r->op.nsteps) {
            bool m = r->op.is_send ? send_progress(r, s, now, deadline) : recv_progress(r, s, now, deadline);
            if (m) *moved = true;
        }
        if (s->done < r->op.nsteps) all = false;
    }
    if (!all) return false;
    for (int i = 0; i < r->op.nchannels; i++) rs_sim_stop_if(r->plugin, r->sub[i].handle);
    struct rs_sim_rank *me = owner_rank(r);
    struct rs_sim_work *w = &me->work[r->op.work % RS_SIM_WORKS];
    uint64_t before = atomic_load(&w->net_done_ns);
    now = rs_sim_now();
    while (before < now && !atomic_compare_exchange_weak(&w->net_done_ns, &before, now)) {
    }
    atomic_fetch_sub(&w->pending, 1);
    rs_sim_bell_ring(&me->gpu);
    *moved = true;
    return true;
}

/* ---- the proxy ---- */

enum {
    MAX_SHARERS = 8,
    POLL_NS = 1000000, /* how often work in progress is polled without a bell */
    CHANNEL_SKEW_NS = 120, /* between the first instructions of a kernel's blocks */
    FINAL_SYNC_NS = 1000,
};
enum lane_kind { PROGRESS, PROFILER, LANES };

/* Work in progress of a lane. */
struct active {
    struct active *next;
    struct sim_netrun *net; /* or, when NULL: */
    struct rs_sim_kernel *kernel;
    struct rs_sim_netop op;
    bool started;
    void *handle[RS_SIM_MAX_CHANNELS];
    void *phase[RS_SIM_MAX_CHANNELS];
};

struct lane {
    struct rs_sim_proxy *px;
    enum lane_kind kind;
    bool running; /* under the proxy's lock */
    pthread_t thread;
    struct rs_sim_post *head, **tail; /* under the proxy's lock */
    struct active *active; /* the thread's own, oldest first */
    void *sleeping; /* handle of the open ProxyCtrl Sleep */
    bool parked; /* also when that handle is NULL */
};

struct rs_sim_proxy {
    const struct rs_sim_job *job;
    struct rs_sim_plugin *plugin;
    int rank;
    void *ctx; /* of the communicator that created it, even after that was destroyed */
    pthread_mutex_t lock;
    int refs;
    int serves[MAX_SHARERS]; /* communicators whose inboxes are polled; under the lock */
    int nserves;
    _Atomic bool quit;
    struct lane lane[LANES];
};

static struct rs_sim_bell *bell(struct rs_sim_proxy *px)
{
    return &px->job->shared->ranks[px->rank].proxy;
}

struct rs_sim_post *rs_sim_post_new(void)
{
    struct rs_sim_post *p = rs_zalloc(1, sizeof *p);
    return p;
}

static void free_post(struct rs_sim_post *p)
{
    if (p->kernel) rs_sim_kernel_unref(p->kernel);
    free(p);
}

static void free_active(struct active *a)
{
    if (a->net) sim_net_free(a->net);
    if (a->kernel) rs_sim_kernel_unref(a->kernel);
    free(a);
}

/* ---- ProxyCtrl: the mask is read live ---- */

static void *ctrl_start(struct rs_sim_proxy *px, int st)
{
    void *h = NULL;
    if (!rs_sim_wants(rs_sim_mask(), RS_PROXY_CTRL)) return NULL;
    rs_sim_call_start(px->plugin, px->ctx, &h, &(struct rs_sim_event){.type = RS_PROXY_CTRL});
    rs_sim_record_if(px->plugin, h, st, &(struct rs_sim_args){0});
    return h;
}

static void ctrl_end(struct rs_sim_proxy *px, void *h, int st, int appended)
{
    if (st >= 0) rs_sim_record_if(px->plugin, h, st, &(struct rs_sim_args){.appended = appended});
    rs_sim_stop_if(px->plugin, h);
}

static void unpark(struct lane *l)
{
    if (!l->parked) return;
    l->parked = false;
    if (l->kind == PROGRESS) ctrl_end(l->px, l->sleeping, RS_ST_CTRL_WAKEUP, 0);
    l->sleeping = NULL;
}

/* ---- KernelCh ---- */

static int channel_of(const struct lane *l, const struct active *a, int i)
{
    return (a->op.first_channel + i) % l->px->job->plan->cfg.channels;
}

static void phase_start(struct lane *l, struct active *a, int i, int phase, uint64_t ns)
{
    struct rs_sim_proxy *px = l->px;
    if (px->plugin->native < 7 || !(a->op.mask & RS_KERNEL_PHASE) || !a->handle[i]) return;
    rs_sim_call_start(px->plugin, a->op.ctx, &a->phase[i],
                      &(struct rs_sim_event){.type = RS_KERNEL_PHASE,
                                             .parent = a->handle[i],
                                             .channel = (uint8_t)channel_of(l, a, i),
                                             .phase = (uint8_t)phase,
                                             .ptimer = rs_sim_gpu_clock(px->job, px->rank, ns)});
}

static void phase_stop(struct lane *l, struct active *a, int i, uint64_t ns)
{
    struct rs_sim_args args = {.ptimer = rs_sim_gpu_clock(l->px->job, l->px->rank, ns)};
    rs_sim_record_if(l->px->plugin, a->phase[i], RS_ST_KERNEL_PHASE_STOP, &args);
    rs_sim_stop_if(l->px->plugin, a->phase[i]);
    a->phase[i] = NULL;
}

static void kernel_started(struct lane *l, struct active *a, uint64_t start)
{
    struct rs_sim_proxy *px = l->px;
    for (int i = 0; i < a->op.nchannels; i++) {
        uint64_t at = start + (uint64_t)(channel_of(l, a, i) % 16) * CHANNEL_SKEW_NS;
        rs_sim_call_start(px->plugin, a->op.ctx, &a->handle[i],
                          &(struct rs_sim_event){.type = RS_KERNEL_CH,
                                                 .parent = a->op.parent,
                                                 .channel = (uint8_t)channel_of(l, a, i),
                                                 .ptimer = rs_sim_gpu_clock(px->job, px->rank, at)});
        phase_start(l, a, i, 0, at);
    }
}

static void kernel_ended(struct lane *l, struct active *a, uint64_t end)
{
    struct rs_sim_proxy *px = l->px;
    uint64_t start = atomic_load(&a->kernel->start_ns);
    uint64_t move = a->kernel->transfer_ns + FINAL_SYNC_NS;
    uint64_t synced = end - start > move ? end - move : start; /* when the last peer had started */
    /* Backwards every other time: the order of channels is not defined. */
    bool backwards = a->kernel->work % 2 == 1;
    for (int n = 0; n < a->op.nchannels; n++) {
        int i = backwards ? a->op.nchannels - 1 - n : n;
        if (a->phase[i]) {
            uint64_t began = start + (uint64_t)(channel_of(l, a, i) % 16) * CHANNEL_SKEW_NS;
            uint64_t moves = synced > began ? synced : began;
            phase_stop(l, a, i, moves);
            phase_start(l, a, i, 1, moves);
            phase_stop(l, a, i, end - FINAL_SYNC_NS);
            phase_start(l, a, i, 2, end - FINAL_SYNC_NS);
            phase_stop(l, a, i, end);
        }
        struct rs_sim_args args = {.ptimer = rs_sim_gpu_clock(px->job, px->rank, end)};
        rs_sim_record_if(px->plugin, a->handle[i], RS_ST_KERNEL_CH_STOP, &args);
        rs_sim_stop_if(px->plugin, a->handle[i]);
    }
}

/* Returns true when there is nothing more to report. */
static bool watch_kernel(struct lane *l, struct active *a, bool *moved)
{
    uint64_t start = atomic_load(&a->kernel->start_ns);
    if (!a->started && start != 0) {
        a->started = *moved = true;
        kernel_started(l, a, start);
    }
    uint64_t end = atomic_load(&a->kernel->end_ns);
    if (!a->started || end == 0) return false;
    kernel_ended(l, a, end);
    *moved = true;
    return true;
}

/* ---- the loop ---- */

static void take_up(struct lane *l, struct rs_sim_kernel *kernel, const struct rs_sim_netop *op)
{
    struct active *a = rs_zalloc(1, sizeof *a);
    a->kernel = kernel;
    a->op = *op;
    if (!kernel) a->net = sim_net_begin(l->px->job, l->px->plugin, op);
    struct active **at = &l->active;
    while (*at) at = &(*at)->next;
    *at = a;
}

/* Takes what was posted, here and by other processes. */
static void append(struct lane *l)
{
    struct rs_sim_proxy *px = l->px;
    int serves[MAX_SHARERS], nserves, n = 0;
    pthread_mutex_lock(&px->lock);
    struct rs_sim_post *list = l->head;
    l->head = NULL;
    l->tail = &l->head;
    nserves = px->job->plan->cfg.pxn && l->kind == PROGRESS ? px->nserves : 0;
    for (int i = 0; i < nserves; i++) serves[i] = px->serves[i];
    pthread_mutex_unlock(&px->lock);

    struct rs_sim_netop op;
    bool foreign = false;
    int from = 0;
    for (; from < nserves && !foreign; from++) {
        int r = rs_sim_comm_rank(&px->job->plan->comms[serves[from]], px->rank);
        foreign = rs_sim_inbox_take(rs_sim_inbox(px->job, serves[from], r), &op);
    }
    if (!list && !foreign) return;
    unpark(l);
    void *h = l->kind == PROGRESS ? ctrl_start(px, RS_ST_CTRL_APPEND) : NULL;
    if (foreign) {
        take_up(l, NULL, &op);
        n++;
    }
    while (list) {
        struct rs_sim_post *p = list;
        list = p->next;
        take_up(l, p->kernel, &p->op);
        free(p); /* its kernel is used further */
        n++;
    }
    ctrl_end(px, h, RS_ST_CTRL_APPEND_END, n);
    if (foreign) rs_sim_bell_ring(bell(px)); /* there may be more */
}

static bool must_wait(const struct lane *l, const struct active *a)
{
    for (const struct active *b = l->active; b != a; b = b->next) {
        if (b->net && sim_net_collide(a->net, b->net)) return true;
    }
    return false;
}

static bool progress(struct lane *l, uint64_t *deadline)
{
    bool moved = false;
    for (struct active **at = &l->active; *at;) {
        struct active *a = *at;
        bool over = false;
        if (!a->net)
            over = watch_kernel(l, a, &moved);
        else if (!must_wait(l, a))
            over = sim_net_progress(a->net, &moved, deadline);
        if (over) {
            *at = a->next;
            free_active(a);
        } else {
            at = &a->next;
        }
    }
    return moved;
}

static void *lane_main(void *arg)
{
    struct lane *l = arg;
    struct rs_sim_proxy *px = l->px;
    char name[16];
    snprintf(name, sizeof name, l->kind == PROGRESS ? "NCCL Progress%2d" : "NCCL Profiler%2d",
             px->job->plan->ranks[px->rank].device % 100);
    pthread_setname_np(pthread_self(), name);
    bool idle = true;
    while (!rs_sim_aborted(px->job, px->rank)) {
        uint32_t seen = rs_sim_bell_read(bell(px));
        append(l);
        if (!l->active) {
            if (!l->parked && l->kind == PROGRESS) l->sleeping = ctrl_start(px, RS_ST_CTRL_SLEEP);
            l->parked = true;
            if (atomic_load(&px->quit)) break;
            rs_sim_bell_wait(bell(px), seen, UINT64_MAX);
            continue;
        }
        uint64_t deadline = rs_sim_now() + POLL_NS;
        bool moved = progress(l, &deadline);
        if (idle == moved && l->kind == PROGRESS)
            ctrl_end(px, ctrl_start(px, moved ? RS_ST_CTRL_ACTIVE : RS_ST_CTRL_IDLE), -1, 0);
        idle = !moved;
        if (!moved) rs_sim_bell_wait(bell(px), seen, deadline);
    }
    /* After an abort events stay open: NCCL leaves its loop without stopping them. */
    if (!l->active) unpark(l);
    while (l->active) {
        struct active *a = l->active;
        l->active = a->next;
        free_active(a);
    }
    return NULL;
}

struct rs_sim_proxy *rs_sim_proxy_new(const struct rs_sim_job *job, struct rs_sim_plugin *plugin, int rank, int comm,
                                      void *ctx)
{
    struct rs_sim_proxy *px = rs_zalloc(1, sizeof *px);
    px->job = job;
    px->plugin = plugin;
    px->rank = rank;
    px->ctx = ctx;
    pthread_mutex_init(&px->lock, NULL);
    for (int k = 0; k < LANES; k++) {
        px->lane[k] = (struct lane){.px = px, .kind = (enum lane_kind)k};
        px->lane[k].tail = &px->lane[k].head;
    }
    rs_sim_proxy_share(px, comm);
    return px;
}

void rs_sim_proxy_share(struct rs_sim_proxy *px, int comm)
{
    pthread_mutex_lock(&px->lock);
    px->refs++;
    if (px->nserves < MAX_SHARERS) px->serves[px->nserves++] = comm;
    pthread_mutex_unlock(&px->lock);
}

void rs_sim_proxy_leave(struct rs_sim_proxy *px)
{
    pthread_mutex_lock(&px->lock);
    bool last = --px->refs == 0;
    pthread_mutex_unlock(&px->lock);
    if (!last) return;
    atomic_store(&px->quit, true);
    rs_sim_bell_ring(bell(px));
    for (int k = 0; k < LANES; k++) {
        struct lane *l = &px->lane[k];
        if (l->running) pthread_join(l->thread, NULL);
        while (l->head) {
            struct rs_sim_post *p = l->head;
            l->head = p->next;
            free_post(p);
        }
    }
    pthread_mutex_destroy(&px->lock);
    free(px);
}

/* Called with the lock held. */
static void run_lane(struct lane *l)
{
    if (l->running) return;
    if (pthread_create(&l->thread, NULL, lane_main, l) != 0) abort();
    l->running = true;
}

void rs_sim_proxy_wake(struct rs_sim_proxy *px)
{
    pthread_mutex_lock(&px->lock);
    run_lane(&px->lane[PROGRESS]);
    pthread_mutex_unlock(&px->lock);
}

void rs_sim_proxy_post(struct rs_sim_proxy *px, struct rs_sim_post *list)
{
    pthread_mutex_lock(&px->lock);
    while (list) {
        struct rs_sim_post *p = list;
        list = p->next;
        p->next = NULL;
        bool apart = p->kernel && px->plugin && px->plugin->native >= 7;
        struct lane *l = &px->lane[apart ? PROFILER : PROGRESS];
        *l->tail = p;
        l->tail = &p->next;
        run_lane(l);
    }
    pthread_mutex_unlock(&px->lock);
    rs_sim_bell_ring(bell(px));
}

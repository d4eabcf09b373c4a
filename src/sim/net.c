#include "sim/net.h"

#include <stdlib.h>
#include <string.h>

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
    bool refused; /* the receive of step `posted` was tried once and has to be tried again */
    size_t trans; /* bytes of the latest transfer */
    size_t total;
    void *handle;
    void *step[RS_SIM_WINDOW];
    void *net[RS_SIM_WINDOW][QPS];
    uint64_t arrive_ns[RS_SIM_WINDOW];
};

struct rs_sim_netrun {
    const struct rs_sim_job *job;
    struct rs_sim_plugin *plugin;
    struct rs_sim_netop op;
    size_t chunk;
    struct sub sub[];
};

static const struct rs_sim_comm_def *def_of(const struct rs_sim_netrun *r)
{
    return &r->job->plan->comms[r->op.comm];
}

static struct rs_sim_rank *owner_rank(const struct rs_sim_netrun *r)
{
    return &r->job->shared->ranks[def_of(r)->ranks[r->op.owner]];
}

struct rs_sim_netrun *rs_sim_net_begin(const struct rs_sim_job *job, struct rs_sim_plugin *plugin,
                                       const struct rs_sim_netop *op)
{
    struct rs_sim_netrun *r = calloc(1, sizeof *r + (size_t)op->nchannels * sizeof r->sub[0]);
    if (!r) abort(); /* a simulated process has nothing to fall back on */
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

void rs_sim_net_free(struct rs_sim_netrun *run)
{
    free(run);
}

bool rs_sim_net_collide(const struct rs_sim_netrun *a, const struct rs_sim_netrun *b)
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

static size_t step_bytes(const struct rs_sim_netrun *r, int step)
{
    size_t before = (size_t)step * r->chunk;
    if (before >= r->op.bytes) return 0;
    return r->op.bytes - before < r->chunk ? r->op.bytes - before : r->chunk;
}

/* A state of an operation as a whole, which NCCL recorded up to 2.26. */
static void op_state(struct rs_sim_netrun *r, struct sub *s, int st, int steps)
{
    if (!r->plugin || r->plugin->native > 3) return;
    rs_sim_record_if(r->plugin, s->handle, st, &(struct rs_sim_args){.trans = s->total, .steps = steps});
}

static void step_state(struct rs_sim_netrun *r, struct sub *s, int step, int st)
{
    if (!r->plugin || !s->handle) return;
    struct rs_sim_args args = {.trans = s->trans};
    rs_sim_record_if(r->plugin, s->step[step % RS_SIM_WINDOW], st, r->plugin->native > 3 ? &args : NULL);
}

static void step_start(struct rs_sim_netrun *r, struct sub *s, int step)
{
    if (!r->plugin || !rs_sim_wants(r->op.mask, RS_PROXY_STEP)) return;
    if (!s->handle && r->plugin->native < 5) return;
    rs_sim_call_start(
        r->plugin, r->op.ctx, &s->step[step % RS_SIM_WINDOW],
        &(struct rs_sim_event){.type = RS_PROXY_STEP, .parent = s->handle, .rank = r->op.owner, .step = step});
}

static void step_stop(struct rs_sim_netrun *r, struct sub *s, int step)
{
    rs_sim_stop_if(r->plugin, s->step[step % RS_SIM_WINDOW]);
    s->step[step % RS_SIM_WINDOW] = NULL;
}

/* ---- events of the network plugin, as a NCCL built with network profiling makes them ---- */

static void net_start(struct rs_sim_netrun *r, struct sub *s, int step)
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

static void net_stop(struct rs_sim_netrun *r, struct sub *s, int step)
{
    enum rs_sim_net kind = r->job->plan->cfg.net;
    if (!r->plugin || kind == RS_SIM_NET_QUIET || r->plugin->native < 3) return;
    void **h = s->net[step % RS_SIM_WINDOW];
    if (kind == RS_SIM_NET_IB) {
        /* Once at the completion of each queue pair, once more when the request is over; handles are not looked at. */
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

/* Whether the owner's GPU has the data of a step: it runs, and for a ring what goes into this step has come round. */
static bool gpu_has(const struct rs_sim_netrun *r, const struct sub *s, int step)
{
    struct rs_sim_rank *me = owner_rank(r);
    if (atomic_load(&me->work[r->op.work % RS_SIM_WORKS].started) != r->op.work + 1) return false;
    if (!r->op.is_coll || step == 0) return true;
    /* Walk back to where the ring enters this host; the GPUs on the way pass the data on. */
    const struct rs_sim_comm_def *def = def_of(r);
    for (int i = 0, x = r->op.owner; i < def->nranks && x != r->op.root; i++) {
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

static void wake_peer(const struct rs_sim_netrun *r)
{
    const struct rs_sim_comm_def *def = def_of(r);
    rs_sim_bell_ring(&r->job->shared->ranks[def->ranks[r->op.peer]].proxy);
    int helper = r->op.is_send ? -1 : rs_sim_pxn_helper(r->job->plan, def, r->op.peer);
    if (helper >= 0) rs_sim_bell_ring(&r->job->shared->ranks[def->ranks[helper]].proxy);
}

static bool send_progress(struct rs_sim_netrun *r, struct sub *s, uint64_t now, uint64_t *deadline)
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

/* Takes in the next step, if it has arrived. */
static bool receive(struct rs_sim_netrun *r, struct sub *s, uint64_t now, uint64_t *deadline)
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

static bool recv_progress(struct rs_sim_netrun *r, struct sub *s, uint64_t now, uint64_t *deadline)
{
    bool moved = false;
    while (s->posted < r->op.nsteps && s->posted < s->done + RS_SIM_WINDOW) {
        uint64_t at = s->base + (uint64_t)s->posted;
        step_start(r, s, s->posted);
        /* Now and then the network takes no request, and the next poll starts the same step once more. */
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

bool rs_sim_net_progress(struct rs_sim_netrun *r, bool *moved, uint64_t *deadline)
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

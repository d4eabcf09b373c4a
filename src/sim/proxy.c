#include "sim/proxy.h"

#include <stdio.h>
#include <stdlib.h>

#include "sim/net.h"

enum {
    MAX_SHARERS = 8,
    POLL_NS = 1000000, /* how often work in progress is looked at when nobody rings */
    CHANNEL_SKEW_NS = 120, /* between the first instructions of a kernel's blocks */
    FINAL_SYNC_NS = 1000,
};
enum lane_kind { PROGRESS, PROFILER, LANES };

/* Work that a lane has taken up. */
struct active {
    struct active *next;
    struct rs_sim_netrun *net; /* or, when NULL: */
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
    void *ctx; /* of the communicator that made it, even after that one is gone */
    pthread_mutex_t lock;
    int refs;
    int serves[MAX_SHARERS]; /* communicators whose inboxes are looked at; under the lock */
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
    struct rs_sim_post *p = calloc(1, sizeof *p);
    if (!p) abort(); /* a simulated process has nothing to fall back on */
    return p;
}

static void free_post(struct rs_sim_post *p)
{
    if (p->kernel) rs_sim_kernel_unref(p->kernel);
    free(p);
}

static void free_active(struct active *a)
{
    if (a->net) rs_sim_net_free(a->net);
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
    uint64_t synced = end - start > move ? end - move : start; /* when the last peer had come */
    /* Backwards every other time: nothing may rely on the order of channels. */
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
    struct active *a = calloc(1, sizeof *a);
    if (!a) abort();
    a->kernel = kernel;
    a->op = *op;
    if (!kernel) a->net = rs_sim_net_begin(l->px->job, l->px->plugin, op);
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
        free(p); /* its kernel went on */
        n++;
    }
    ctrl_end(px, h, RS_ST_CTRL_APPEND_END, n);
    if (foreign) rs_sim_bell_ring(bell(px)); /* there may be more */
}

static bool must_wait(const struct lane *l, const struct active *a)
{
    for (const struct active *b = l->active; b != a; b = b->next) {
        if (b->net && rs_sim_net_collide(a->net, b->net)) return true;
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
            over = rs_sim_net_progress(a->net, &moved, deadline);
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
    /* After an abort events stay as they are: NCCL leaves its loop and stops nothing. */
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
    struct rs_sim_proxy *px = calloc(1, sizeof *px);
    if (!px) abort();
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

#include "sim/group.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"

/* ---- CUDA graphs ---- */

enum { FATE_DELAY_NS = 30000000 };

struct rs_sim_graph {
    struct rs_sim_launch *nodes, **tail;
    pthread_t thread; /* runs host functions */
    bool running;
    pthread_mutex_t lock;
    pthread_cond_t more;
    struct rs_sim_launch *queue, **queue_tail;
    bool quit;
};

static void *host_main(void *arg)
{
    struct rs_sim_graph *g = arg;
    pthread_mutex_lock(&g->lock);
    for (;;) {
        struct rs_sim_launch *l = g->queue;
        if (!l && g->quit) break;
        if (!l) {
            pthread_cond_wait(&g->more, &g->lock);
            continue;
        }
        g->queue = l->next;
        if (!g->queue) g->queue_tail = &g->queue;
        pthread_mutex_unlock(&g->lock);
        rs_sim_launch_report(l, RS_SIM_GO_ON);
        rs_sim_kernel_open_gate(l->comm->gpu, l->kernel);
        rs_sim_launch_free(l);
        pthread_mutex_lock(&g->lock);
    }
    pthread_mutex_unlock(&g->lock);
    return NULL;
}

struct rs_sim_graph *rs_sim_graph_capture(struct rs_sim_app *app)
{
    struct rs_sim_graph *g = rs_zalloc(1, sizeof *g);
    g->tail = &g->nodes;
    g->queue_tail = &g->queue;
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->more, NULL);
    app->capture = g;
    return g;
}

void rs_sim_graph_end_capture(struct rs_sim_app *app)
{
    app->capture = NULL;
}

/* During a capture: takes over the launch. */
static void sim_graph_add(struct rs_sim_graph *g, struct rs_sim_launch *l)
{
    l->captured = true;
    *g->tail = l;
    g->tail = &l->next;
}

static void sim_meet_fate(struct rs_sim_app *app);

bool rs_sim_graph_replay(struct rs_sim_app *app, struct rs_sim_graph *g)
{
    for (const struct rs_sim_launch *node = g->nodes; node; node = node->next) {
        struct rs_sim_launch *l = rs_sim_launch_copy(node);
        bool reports = rs_sim_launch_posts(l);
        bool launched = rs_sim_launch_kernel(l, reports, app->fate != RS_SIM_GO_ON);
        if (!launched || !reports) {
            rs_sim_launch_free(l);
            if (!launched) return false;
            continue;
        }
        pthread_mutex_lock(&g->lock);
        *g->queue_tail = l;
        g->queue_tail = &l->next;
        if (!g->running) g->running = pthread_create(&g->thread, NULL, host_main, g) == 0;
        pthread_cond_signal(&g->more);
        pthread_mutex_unlock(&g->lock);
    }
    if (app->fate != RS_SIM_GO_ON) {
        rs_sim_sleep_until(rs_sim_now() + FATE_DELAY_NS); /* the host functions run meanwhile */
        sim_meet_fate(app);
    }
    return true;
}

static void free_list(struct rs_sim_launch *l)
{
    while (l) {
        struct rs_sim_launch *next = l->next;
        rs_sim_launch_free(l);
        l = next;
    }
}

void rs_sim_graph_free(struct rs_sim_graph *g)
{
    pthread_mutex_lock(&g->lock);
    g->quit = true;
    pthread_cond_signal(&g->more);
    pthread_mutex_unlock(&g->lock);
    if (g->running) pthread_join(g->thread, NULL);
    free_list(g->nodes);
    free_list(g->queue);
    pthread_cond_destroy(&g->more);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

/* ---- groups ---- */

enum { COLLS_PER_KERNEL = 4, ABORT_AFTER_NS = 200000000 };

static void *stream_of(const struct rs_sim_comm *c)
{
    return (void *)(uintptr_t)(0x5500000000u + (uint64_t)c->gpu->rank * 0x100);
}

void rs_sim_app_free(struct rs_sim_app *app)
{
    free(app->tasks);
    app->tasks = NULL;
}

void rs_sim_group_start(struct rs_sim_app *app)
{
    app->depth++;
}

/* The group has work on a communicator; the first operation starts the GroupApi event in its context. */
static void join_group(struct rs_sim_app *app, struct rs_sim_comm *c, int mask)
{
    if (!app->group_begun) {
        app->group_begun = true;
        app->group_comm = c;
        if (app->native >= 5 && rs_sim_wants(mask, RS_GROUP_API)) {
            struct rs_sim_event ev = {.type = RS_GROUP_API, .captured = app->capture != NULL, .depth = app->depth};
            rs_sim_call_start(c->plugin, c->ctx, &app->group, &ev);
            rs_sim_record_if(c->plugin, app->group, RS_ST_GROUP_START_API_STOP, NULL);
        }
    }
    for (int i = 0; i < app->njoined; i++) {
        if (app->joined[i] == c) return;
    }
    if (app->njoined == RS_SIM_MAX_JOINED) abort();
    app->joined[app->njoined++] = c;
}

/* The CollApi or P2pApi event of a task. Its stop checks the handle, not the mask. */
static void api_event(struct rs_sim_app *app, struct rs_sim_task *t)
{
    struct rs_sim_comm *c = t->comm;
    void **slot = t->p2p ? &app->p2p_api : &app->coll_api;
    uint64_t type = t->p2p ? RS_P2P_API : RS_COLL_API;
    if (app->native < 5) return;
    if (rs_sim_wants(t->mask, type)) {
        struct rs_sim_event ev = {.type = type,
                                  .parent = app->group,
                                  .func = t->func,
                                  .dtype = t->dtype,
                                  .count = t->count,
                                  .root = t->root,
                                  .stream = stream_of(c),
                                  .captured = app->capture != NULL,
                                  .tag = t->tag};
        rs_sim_call_start(c->plugin, c->ctx, slot, &ev);
        t->api = *slot;
    }
    rs_sim_stop_if(c->plugin, *slot);
    if (app->native >= 7) *slot = NULL;
}

static struct rs_sim_task *add_task(struct rs_sim_app *app, struct rs_sim_task t)
{
    t.mask = t.comm->plugin ? rs_sim_mask() : 0;
    t.tag = app->tag;
    join_group(app, t.comm, t.mask);
    api_event(app, &t);
    if (app->ntasks == app->cap) {
        app->cap = app->cap ? app->cap * 2 : 32;
        app->tasks = rs_realloc(app->tasks, (size_t)app->cap * sizeof app->tasks[0]);
    }
    app->tasks[app->ntasks] = t;
    return &app->tasks[app->ntasks++];
}

static void launch_event(struct rs_sim_app *app, struct rs_sim_launch *l, void **h)
{
    for (int i = 0; i < l->ntasks && app->native >= 5; i++) {
        if (!rs_sim_wants(l->tasks[i].mask, RS_KERNEL_LAUNCH)) continue;
        struct rs_sim_event ev = {.type = RS_KERNEL_LAUNCH, .parent = app->group, .stream = stream_of(l->comm)};
        rs_sim_call_start(l->comm->plugin, l->comm->ctx, h, &ev);
        return;
    }
}

/* Kills the process or aborts, if this thread was chosen, as an application does on an error: first the chosen rank, a
 * little later the others. Called after a launch that will never run. */
static void sim_meet_fate(struct rs_sim_app *app)
{
    if (app->fate == RS_SIM_KILLED) kill(getpid(), SIGKILL);
    if (app->fate != RS_SIM_GIVES_UP) return;
    atomic_store(&app->job->shared->abort_first, app->rank);
    atomic_store(&app->job->shared->abort_at, rs_sim_now() + ABORT_AFTER_NS);
}

static bool play(struct rs_sim_app *app, struct rs_sim_comm *c, struct rs_sim_task *const *tasks, int n)
{
    struct rs_sim_launch *l = rs_sim_launch_new(c, tasks, n);
    void *h = NULL;
    launch_event(app, l, &h);
    bool launched = app->capture || rs_sim_launch_kernel(l, false, app->fate != RS_SIM_GO_ON);
    rs_sim_stop_if(c->plugin, h);
    if (app->capture) {
        sim_graph_add(app->capture, l);
        if (!rs_sim_launch_posts(l)) {
            struct rs_sim_launch *once = rs_sim_launch_copy(l);
            rs_sim_launch_report(once, RS_SIM_GO_ON);
            rs_sim_launch_free(once);
        }
        return true;
    }
    if (launched) rs_sim_launch_report(l, app->fate);
    if (launched) sim_meet_fate(app);
    rs_sim_launch_free(l);
    return launched;
}

/* Collectives: the largest first. Sends and receives: round by round, the send of a round before its receive. */
static int round_of(const struct rs_sim_task *t)
{
    int n = t->comm->def->nranks;
    int ahead = t->func == RS_SIM_SEND ? t->peer - t->comm->rank : t->comm->rank - t->peer;
    return (ahead + n) % n * 2 + (t->func == RS_SIM_SEND ? 0 : 1);
}

static int by_plan_order(const void *pa, const void *pb)
{
    const struct rs_sim_task *a = *(struct rs_sim_task *const *)pa, *b = *(struct rs_sim_task *const *)pb;
    if (!a->p2p && a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
    if (a->p2p && round_of(a) != round_of(b)) return round_of(a) < round_of(b) ? -1 : 1;
    return a < b ? -1 : a > b; /* else in the order of the calls */
}

static bool play_comm(struct rs_sim_app *app, struct rs_sim_comm *c)
{
    struct rs_sim_task **list = rs_zalloc((size_t)app->ntasks, sizeof list[0]);
    bool fine = true;
    for (int p2p = 0; p2p < 2; p2p++) {
        int n = 0;
        for (int i = 0; i < app->ntasks; i++) {
            struct rs_sim_task *t = &app->tasks[i];
            if (t->comm == c && t->p2p == (p2p == 1)) list[n++] = t;
        }
        qsort(list, (size_t)n, sizeof list[0], by_plan_order);
        int most = p2p ? n : COLLS_PER_KERNEL;
        for (int i = 0; i < n && fine; i += most) fine = play(app, c, list + i, n - i < most ? n - i : most);
    }
    free(list);
    return fine;
}

static void end_group_event(struct rs_sim_app *app)
{
    rs_sim_stop_if(app->group_comm ? app->group_comm->plugin : NULL, app->group);
    app->group = NULL;
    app->group_begun = false;
    app->group_comm = NULL;
    app->njoined = 0;
    app->ntasks = 0;
}

bool rs_sim_group_end(struct rs_sim_app *app)
{
    if (--app->depth > 0) return true;
    if (!app->group_begun) return true;
    rs_sim_record_if(app->group_comm->plugin, app->group, RS_ST_GROUP_END_API_START, NULL);
    bool fine = true;
    for (int i = app->njoined - 1; i >= 0 && fine; i--) fine = play_comm(app, app->joined[i]);
    end_group_event(app);
    return fine;
}

bool rs_sim_coll(struct rs_sim_app *app, struct rs_sim_comm *c, enum rs_sim_func func, size_t count,
                 enum rs_sim_dtype dtype, int root)
{
    size_t n = (size_t)c->def->nranks;
    if (n == 1 || count == 0) return true; /* NCCL does not report these */
    size_t bytes = count * rs_sim_dtype_size(dtype);
    if (func == RS_SIM_ALLGATHER || func == RS_SIM_REDUCESCATTER) bytes *= n;
    rs_sim_group_start(app);
    struct rs_sim_task *t = add_task(
        app, (struct rs_sim_task){
                 .comm = c, .func = func, .dtype = dtype, .count = count, .bytes = bytes, .root = root, .peer = -1});
    if (func == RS_SIM_BROADCAST && app->native == 6) t->mask = 0; /* 2.29.2 to 2.30.7 report only the API call */
    return rs_sim_group_end(app);
}

bool rs_sim_p2p(struct rs_sim_app *app, struct rs_sim_comm *c, enum rs_sim_func func, int peer, size_t count,
                enum rs_sim_dtype dtype)
{
    rs_sim_group_start(app);
    add_task(app, (struct rs_sim_task){.comm = c,
                                       .p2p = true,
                                       .func = func,
                                       .dtype = dtype,
                                       .count = count,
                                       .bytes = count * rs_sim_dtype_size(dtype),
                                       .peer = peer});
    return rs_sim_group_end(app);
}

bool rs_sim_alltoall(struct rs_sim_app *app, struct rs_sim_comm *c, size_t count, enum rs_sim_dtype dtype)
{
    struct rs_sim_task t = {
        .comm = c, .p2p = true, .dtype = dtype, .count = count, .bytes = count * rs_sim_dtype_size(dtype)};
    if (app->native < 5 && c->def->nranks == 1) return true;
    rs_sim_group_start(app);
    for (int r = 0; r < c->def->nranks; r++) {
        t.peer = r;
        t.func = RS_SIM_SEND;
        add_task(app, t);
        t.func = RS_SIM_RECV;
        add_task(app, t);
    }
    return rs_sim_group_end(app);
}

static void ce_part(struct rs_sim_comm *c, void *coll, uint64_t type, bool complete, size_t bytes)
{
    void *h = NULL;
    if (!coll || !rs_sim_wants(rs_sim_mask(), type)) return;
    struct rs_sim_event ev = {.type = type,
                              .parent = coll,
                              .rank = c->rank,
                              .complete = complete,
                              .nranks = c->def->nranks,
                              .nops = c->def->nranks - 1,
                              .bytes = bytes};
    rs_sim_call_start(c->plugin, c->ctx, &h, &ev);
    rs_sim_stop_if(c->plugin, h);
}

bool rs_sim_ce_coll(struct rs_sim_app *app, struct rs_sim_comm *c, enum rs_sim_func func, size_t count,
                    enum rs_sim_dtype dtype)
{
    size_t bytes = count * rs_sim_dtype_size(dtype) * (size_t)c->def->nranks;
    if (c->def->nranks == 1) return true;
    rs_sim_group_start(app);
    struct rs_sim_task *t =
        add_task(app, (struct rs_sim_task){.comm = c, .func = func, .dtype = dtype, .count = count, .bytes = bytes});
    rs_sim_record_if(c->plugin, app->group, RS_ST_GROUP_END_API_START, NULL);
    struct rs_sim_launch *l = rs_sim_launch_new(c, &t, 1);
    l->ce = true;
    void *coll = NULL;
    struct rs_sim_event ev = {.type = RS_CE_COLL,
                              .parent = t->api,
                              .rank = c->rank,
                              .func = func,
                              .dtype = dtype,
                              .count = count,
                              .stream = stream_of(c),
                              .ce_seq = c->ce_seq,
                              .tag = t->tag};
    if (c->plugin && rs_sim_wants(rs_sim_mask(), RS_CE_COLL)) rs_sim_call_start(c->plugin, c->ctx, &coll, &ev);
    ce_part(c, coll, RS_CE_SYNC, false, 0);
    bool fine = rs_sim_launch_kernel(l, false, app->fate != RS_SIM_GO_ON);
    ce_part(c, coll, RS_CE_BATCH, false, bytes);
    ce_part(c, coll, RS_CE_SYNC, true, 0);
    c->ce_seq += 2; /* it counts synchronisations */
    rs_sim_stop_if(c->plugin, coll);
    rs_sim_launch_free(l);
    app->depth--;
    end_group_event(app);
    return fine;
}

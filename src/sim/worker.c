#include "sim/worker.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/memory.h"
#include "sim/fakecuda.h"

/* ---- steps of the workloads ---- */

/* Times in us, before the speed is applied. */
enum {
    BUCKETS = 4,
    FORWARD_US = 6000,
    BACKWARD_US = 3000, /* per bucket */
    CALL_US = 400, /* the application between two calls */
    MICROBATCHES = 4,
    STAGE_US = 800, /* forward; backward takes twice as long */
    LOSS_EVERY = 5,
    KEY_COMPUTE = 401,
};

static const struct rs_sim_config *cfg(const struct rs_sim_worker *w)
{
    return &w->app.job->plan->cfg;
}

/* A time with a spread of 4 % that depends on the rank and the kernel. */
static uint64_t around(struct rs_sim_worker *w, struct rs_sim_gpu *gpu, uint64_t us)
{
    uint64_t x = rs_sim_random(cfg(w)->seed, KEY_COMPUTE, (uint64_t)gpu->rank, gpu->launched);
    return rs_sim_scaled(w->app.job->plan, us * 980 + us * (x % 41));
}

static void think(struct rs_sim_worker *w)
{
    rs_sim_sleep_until(rs_sim_now() + rs_sim_scaled(w->app.job->plan, CALL_US * 1000));
}

/* The size of a bucket in elements: of 4 bytes, and of 2 bytes for each of n ranks. */
static size_t sim_floats(const struct rs_sim_worker *w)
{
    size_t n = (size_t)cfg(w)->bytes / 4;
    return n > 0 ? n : 1;
}

static size_t sim_halves_each(const struct rs_sim_worker *w, int n)
{
    size_t each = (size_t)cfg(w)->bytes / 2 / (size_t)n;
    return each > 0 ? each : 1;
}

/* Copy engines are used inside a host, and not for an operation that never runs. */
static bool by_ce(const struct rs_sim_worker *w, const struct rs_sim_comm *c)
{
    return cfg(w)->ce && w->app.native >= 6 && c->def->nnodes == 1 && w->app.fate == RS_SIM_GO_ON;
}

static bool ddp_step(struct rs_sim_worker *w, int step)
{
    struct rs_sim_comm *c = w->world[0];
    struct rs_sim_app *app = &w->app;
    bool mixed = cfg(w)->workload == RS_SIM_MIX;
    if (mixed && step == w->phase->first_step) {
        if (!rs_sim_coll(app, c, RS_SIM_BROADCAST, sim_floats(w), RS_SIM_FLOAT32, 0)) return false;
    }
    if (mixed && !rs_sim_coll(app, c, RS_SIM_ALLGATHER, sim_halves_each(w, c->def->nranks), RS_SIM_BFLOAT16, 0))
        return false;
    rs_sim_gpu_compute(c->gpu, around(w, c->gpu, FORWARD_US));
    if (by_ce(w, c) && !rs_sim_ce_coll(app, c, RS_SIM_ALLGATHER, sim_halves_each(w, c->def->nranks), RS_SIM_BFLOAT16))
        return false;
    for (int b = 0; b < BUCKETS; b++) {
        think(w);
        rs_sim_gpu_compute(c->gpu, around(w, c->gpu, BACKWARD_US));
        if (!rs_sim_coll(app, c, RS_SIM_ALLREDUCE, sim_floats(w), RS_SIM_FLOAT32, 0)) return false;
    }
    if (mixed && !rs_sim_coll(app, c, RS_SIM_REDUCESCATTER, sim_halves_each(w, c->def->nranks), RS_SIM_BFLOAT16, 0))
        return false;
    if (step % LOSS_EVERY == LOSS_EVERY - 1 && !rs_sim_coll(app, c, RS_SIM_ALLREDUCE, 1, RS_SIM_FLOAT32, 0))
        return false;
    return rs_sim_gpu_sync(c->gpu);
}

/* One direction of a pipeline: from rank `from` (or none), compute, to rank `to` (or none). */
static bool stage(struct rs_sim_worker *w, int from, int to, uint64_t us)
{
    struct rs_sim_comm *c = w->world[0];
    size_t count = sim_halves_each(w, 1);
    int n = c->def->nranks;
    if (from >= 0 && from < n && !rs_sim_p2p(&w->app, c, RS_SIM_RECV, from, count, RS_SIM_BFLOAT16)) return false;
    rs_sim_gpu_compute_behind(c->gpu, around(w, c->gpu, us));
    return to < 0 || to >= n || rs_sim_p2p(&w->app, c, RS_SIM_SEND, to, count, RS_SIM_BFLOAT16);
}

static bool pipeline_step(struct rs_sim_worker *w, int step)
{
    (void)step;
    struct rs_sim_comm *c = w->world[0];
    int r = c->rank;
    for (int m = 0; m < MICROBATCHES; m++) {
        if (!stage(w, r - 1, r + 1, STAGE_US)) return false;
    }
    think(w);
    for (int m = 0; m < MICROBATCHES; m++) {
        if (!stage(w, r + 1, r - 1, 2 * STAGE_US)) return false;
    }
    return rs_sim_coll(&w->app, c, RS_SIM_ALLREDUCE, 1, RS_SIM_FLOAT32, 0) && rs_sim_gpu_sync(c->gpu);
}

static bool alltoall_step(struct rs_sim_worker *w, int step)
{
    (void)step;
    struct rs_sim_comm *c = w->world[0];
    size_t each = sim_halves_each(w, c->def->nranks);
    rs_sim_gpu_compute(c->gpu, around(w, c->gpu, FORWARD_US));
    think(w);
    bool fine = by_ce(w, c) ? rs_sim_ce_coll(&w->app, c, RS_SIM_FN_ALLTOALL, each, RS_SIM_BFLOAT16)
                            : rs_sim_alltoall(&w->app, c, each, RS_SIM_BFLOAT16);
    return fine && rs_sim_gpu_sync(c->gpu);
}

static bool aggregate_step(struct rs_sim_worker *w, int step)
{
    struct rs_sim_comm *c = w->world[0];
    struct rs_sim_app *app = &w->app;
    rs_sim_gpu_compute(c->gpu, around(w, c->gpu, FORWARD_US));
    think(w);
    /* Every third group is too large for one kernel. */
    int rounds = step % 3 == 2 ? 2 : 1;
    rs_sim_group_start(app);
    for (int i = 0; i < rounds; i++) {
        size_t n = sim_floats(w);
        if (!rs_sim_coll(app, c, RS_SIM_ALLREDUCE, n / 4 + 1, RS_SIM_FLOAT32, 0)) return false;
        if (!rs_sim_coll(app, c, RS_SIM_ALLREDUCE, n, RS_SIM_FLOAT32, 0)) return false;
        if (!rs_sim_coll(app, c, RS_SIM_ALLREDUCE, n / 2 + 1, RS_SIM_FLOAT32, 0)) return false;
    }
    return rs_sim_group_end(app) && rs_sim_gpu_sync(c->gpu);
}

/* All five collective functions in one group: one launch of several functions. */
static bool five_step(struct rs_sim_worker *w, int step)
{
    static const enum rs_sim_func funcs[] = {RS_SIM_ALLREDUCE, RS_SIM_BROADCAST, RS_SIM_REDUCE, RS_SIM_ALLGATHER,
                                             RS_SIM_REDUCESCATTER};
    struct rs_sim_comm *c = w->world[0];
    int n = c->def->nranks;
    rs_sim_gpu_compute(c->gpu, around(w, c->gpu, FORWARD_US));
    think(w);
    rs_sim_group_start(&w->app);
    for (size_t i = 0; i < sizeof funcs / sizeof *funcs; i++) {
        bool rooted = funcs[i] == RS_SIM_BROADCAST || funcs[i] == RS_SIM_REDUCE;
        bool each = funcs[i] == RS_SIM_ALLGATHER || funcs[i] == RS_SIM_REDUCESCATTER;
        size_t count = sim_floats(w) / (each ? (size_t)n : 1);
        if (!rs_sim_coll(&w->app, c, funcs[i], count, RS_SIM_FLOAT32, rooted ? step % n : 0)) return false;
    }
    return rs_sim_group_end(&w->app) && rs_sim_gpu_sync(c->gpu);
}

static bool multidev_step(struct rs_sim_worker *w, int step)
{
    (void)step;
    think(w);
    rs_sim_group_start(&w->app);
    for (int i = 0; i < w->ngpus; i++) {
        rs_sim_gpu_compute(&w->gpus[i], around(w, &w->gpus[i], FORWARD_US));
        if (!rs_sim_coll(&w->app, w->world[i], RS_SIM_ALLREDUCE, sim_floats(w), RS_SIM_FLOAT32, 0)) return false;
    }
    if (!rs_sim_group_end(&w->app)) return false;
    for (int i = 0; i < w->ngpus; i++) {
        if (!rs_sim_gpu_sync(&w->gpus[i])) return false;
    }
    return true;
}

static bool split_step(struct rs_sim_worker *w, int step)
{
    struct rs_sim_comm *c = w->world[0];
    struct rs_sim_app *app = &w->app;
    rs_sim_gpu_compute(c->gpu, around(w, c->gpu, FORWARD_US));
    if (!rs_sim_coll(app, w->tp, RS_SIM_ALLREDUCE, sim_floats(w), RS_SIM_FLOAT32, 0)) return false;
    think(w);
    rs_sim_gpu_compute(c->gpu, around(w, c->gpu, BACKWARD_US));
    if (!rs_sim_coll(app, w->dp, RS_SIM_REDUCESCATTER, sim_halves_each(w, c->def->nranks), RS_SIM_BFLOAT16, 0))
        return false;
    if (w->second && !rs_sim_coll(app, w->second, RS_SIM_ALLREDUCE, 1, RS_SIM_FLOAT32, 0)) return false;
    if (!rs_sim_coll(app, w->mesh, RS_SIM_ALLGATHER, sim_halves_each(w, c->def->nranks), RS_SIM_BFLOAT16, 0))
        return false;
    if (!rs_sim_coll(app, c, RS_SIM_ALLREDUCE, 1, RS_SIM_FLOAT32, 0) || !rs_sim_gpu_sync(c->gpu)) return false;
    if (w->second && step == w->phase->first_step) {
        /* From here on the child uses the proxy of a destroyed parent. */
        rs_sim_comm_destroy(w->second);
        w->second = NULL;
    }
    return true;
}

static bool graph_step(struct rs_sim_worker *w, int step)
{
    struct rs_sim_comm *c = w->world[0];
    rs_sim_gpu_compute(c->gpu, around(w, c->gpu, FORWARD_US));
    think(w);
    if (!rs_sim_graph_replay(&w->app, w->graph)) return false;
    if (!rs_sim_gpu_sync(c->gpu)) return false; /* an eager call must not overtake the host functions of the replay */
    if (step % 4 != 3) return true;
    return rs_sim_coll(&w->app, c, RS_SIM_ALLREDUCE, 1, RS_SIM_FLOAT32, 0) && rs_sim_gpu_sync(c->gpu);
}

static bool ring_step(struct rs_sim_worker *w, int step)
{
    (void)step;
    struct rs_sim_comm *c = w->world[0];
    int n = c->def->nranks;
    size_t count = sim_halves_each(w, 1);
    rs_sim_gpu_compute(c->gpu, around(w, c->gpu, FORWARD_US));
    think(w);
    rs_sim_group_start(&w->app);
    rs_sim_p2p(&w->app, c, RS_SIM_SEND, (c->rank + 1) % n, count, RS_SIM_BFLOAT16);
    rs_sim_p2p(&w->app, c, RS_SIM_RECV, (c->rank + n - 1) % n, count, RS_SIM_BFLOAT16);
    return rs_sim_group_end(&w->app) && rs_sim_gpu_sync(c->gpu);
}

bool (*const rs_sim_steps[RS_SIM_WORKLOADS])(struct rs_sim_worker *w, int step) = {
    [RS_SIM_DDP] = ddp_step,           [RS_SIM_PIPELINE] = pipeline_step,
    [RS_SIM_ALLTOALL] = alltoall_step, [RS_SIM_AGGREGATE] = aggregate_step,
    [RS_SIM_MULTIDEV] = multidev_step, [RS_SIM_SPLIT] = split_step,
    [RS_SIM_GRAPH] = graph_step,       [RS_SIM_RING] = ring_step,
    [RS_SIM_FIVE] = five_step,
};

/* ---- workers ---- */

struct init_thread {
    pthread_t thread;
    struct rs_sim_worker *w;
    int gpu;
};

static void *init_main(void *arg)
{
    struct init_thread *t = arg;
    t->w->world[t->gpu] = rs_sim_comm_create(t->w->app.job, t->w->phase->first_comm, &t->w->gpus[t->gpu], NULL);
    return NULL;
}

/* One thread drives several devices: NCCL then creates each communicator on a transient thread. */
static bool create_worlds(struct rs_sim_worker *w)
{
    if (w->ngpus == 1) {
        w->world[0] = rs_sim_comm_create(w->app.job, w->phase->first_comm, w->gpus, NULL);
        return w->world[0] != NULL;
    }
    struct init_thread *threads = rs_zalloc((size_t)w->ngpus, sizeof threads[0]);
    for (int i = 0; i < w->ngpus; i++) {
        threads[i].w = w;
        threads[i].gpu = i;
        if (pthread_create(&threads[i].thread, NULL, init_main, &threads[i]) != 0) abort();
    }
    bool fine = true;
    for (int i = 0; i < w->ngpus; i++) {
        pthread_join(threads[i].thread, NULL);
        if (!w->world[i]) fine = false;
    }
    free(threads);
    return fine;
}

/* The child of `parent` that this rank belongs to, out of one split. */
static struct rs_sim_comm *child_of(struct rs_sim_worker *w, struct rs_sim_comm *parent, int child_count)
{
    for (int i = w->phase->first_comm; i < w->phase->first_comm + w->phase->ncomms; i++) {
        const struct rs_sim_comm_def *d = &w->app.job->plan->comms[i];
        if (d->parent != parent->index || d->child_count != child_count) continue;
        if (rs_sim_comm_rank(d, w->gpus->rank) < 0) continue;
        return rs_sim_comm_create(w->app.job, i, w->gpus, d->share ? parent : NULL);
    }
    return NULL;
}

static int second_world(const struct rs_sim_worker *w)
{
    int i = w->phase->first_comm + 1;
    while (w->app.job->plan->comms[i].parent >= 0) i++;
    return i;
}

static bool set_up(struct rs_sim_worker *w)
{
    if (!create_worlds(w)) return false;
    if (w->phase->workload == RS_SIM_SPLIT) {
        if (!(w->tp = child_of(w, w->world[0], 1))) return false;
        if (!(w->dp = child_of(w, w->world[0], 2))) return false;
        if (!(w->second = rs_sim_comm_create(w->app.job, second_world(w), w->gpus, NULL))) return false;
        if (!(w->mesh = child_of(w, w->second, 1))) return false;
    }
    if (w->phase->workload == RS_SIM_GRAPH) {
        struct rs_sim_comm *c = w->world[0];
        w->graph = rs_sim_graph_capture(&w->app);
        rs_sim_coll(&w->app, c, RS_SIM_ALLREDUCE, sim_floats(w), RS_SIM_FLOAT32, 0);
        rs_sim_coll(&w->app, c, RS_SIM_ALLGATHER, sim_halves_each(w, c->def->nranks), RS_SIM_BFLOAT16, 0);
        rs_sim_graph_end_capture(&w->app);
    }
    return true;
}

static void tear_down(struct rs_sim_worker *w)
{
    if (w->graph) rs_sim_graph_free(w->graph);
    rs_sim_comm_destroy(w->second);
    rs_sim_comm_destroy(w->mesh);
    rs_sim_comm_destroy(w->dp);
    rs_sim_comm_destroy(w->tp);
    /* One thread may drive several members, none of which may wait for another. */
    for (int i = 0; i < w->ngpus; i++) {
        if (w->world[i]) rs_sim_comm_part(w->world[i]);
    }
    for (int i = 0; i < w->ngpus; i++) rs_sim_comm_destroy(w->world[i]);
}

static bool drives(const struct rs_sim_worker *w, int rank)
{
    return rank >= w->gpus[0].rank && rank < w->gpus[0].rank + w->ngpus;
}

static bool falls_on(const struct rs_sim_worker *w, struct rs_sim_at at, int step)
{
    return at.rank >= 0 && drives(w, at.rank) && at.step == step;
}

/* Stops forever, outside NCCL. */
static void hang(struct rs_sim_worker *w)
{
    const struct rs_sim_job *job = w->app.job;
    atomic_store(&job->shared->die_at, rs_sim_now() + (uint64_t)(job->plan->cfg.hang_seconds * 1e9));
    for (int p = 0; p < job->plan->nprocs; p++) rs_sim_bell_ring(&job->shared->procs[p].bell);
    for (;;) pause();
}

static void begin_step(struct rs_sim_worker *w, int step)
{
    const struct rs_sim_config *cfg = &w->app.job->plan->cfg;
    w->app.tag = (uint64_t)step + 1;
    if (falls_on(w, cfg->kill, step)) w->app.fate = RS_SIM_KILLED;
    if (falls_on(w, cfg->abort, step)) w->app.fate = RS_SIM_GIVES_UP;
    if (falls_on(w, cfg->hang, step)) hang(w);
    for (int i = 0; i < cfg->nslow; i++) {
        const struct rs_sim_slow *s = &cfg->slow[i];
        if (!drives(w, s->rank)) continue;
        uint64_t ns = (uint64_t)s->usec * 1000; /* as requested, whatever the speed */
        if (s->cpu)
            rs_sim_sleep_until(rs_sim_now() + ns);
        else
            rs_sim_gpu_compute(&w->gpus[s->rank - w->gpus[0].rank], ns);
    }
}

struct rs_sim_worker *rs_sim_worker_new(const struct rs_sim_job *job, const struct rs_sim_phase *phase,
                                        struct rs_sim_gpu *gpus, int ngpus)
{
    struct rs_sim_worker *w = rs_zalloc(1, sizeof *w);
    w->world = rs_zalloc((size_t)ngpus, sizeof w->world[0]);
    w->app = (struct rs_sim_app){.job = job, .rank = gpus[0].rank, .native = job->plan->cfg.api};
    w->phase = phase;
    w->gpus = gpus;
    w->ngpus = ngpus;
    return w;
}

void rs_sim_worker_run(struct rs_sim_worker *w)
{
    const struct rs_sim_job *job = w->app.job;
    rs_sim_cuda_use(job, w->app.rank);
    bool fine = set_up(w);
    for (int i = 0; i < w->phase->steps && fine; i++) {
        int step = w->phase->first_step + i;
        begin_step(w, step);
        fine = rs_sim_steps[w->phase->workload](w, step);
    }
    if (fine && job->plan->cfg.no_destroy) return;
    tear_down(w);
}

void rs_sim_worker_free(struct rs_sim_worker *w)
{
    rs_sim_app_free(&w->app);
    free(w->world);
    free(w);
}

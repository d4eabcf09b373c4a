#include "sim/workload.h"

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

size_t rs_sim_floats(const struct rs_sim_worker *w)
{
    size_t n = (size_t)cfg(w)->bytes / 4;
    return n > 0 ? n : 1;
}

size_t rs_sim_halves_each(const struct rs_sim_worker *w, int n)
{
    size_t each = (size_t)cfg(w)->bytes / 2 / (size_t)n;
    return each > 0 ? each : 1;
}

/* Copy engines are used inside a host, and not for an operation that is never to run. */
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
        if (!rs_sim_coll(app, c, RS_SIM_BROADCAST, rs_sim_floats(w), RS_SIM_FLOAT32, 0)) return false;
    }
    if (mixed && !rs_sim_coll(app, c, RS_SIM_ALLGATHER, rs_sim_halves_each(w, c->def->nranks), RS_SIM_BFLOAT16, 0))
        return false;
    rs_sim_gpu_compute(c->gpu, around(w, c->gpu, FORWARD_US));
    if (by_ce(w, c) &&
        !rs_sim_ce_coll(app, c, RS_SIM_ALLGATHER, rs_sim_halves_each(w, c->def->nranks), RS_SIM_BFLOAT16))
        return false;
    for (int b = 0; b < BUCKETS; b++) {
        think(w);
        rs_sim_gpu_compute(c->gpu, around(w, c->gpu, BACKWARD_US));
        if (!rs_sim_coll(app, c, RS_SIM_ALLREDUCE, rs_sim_floats(w), RS_SIM_FLOAT32, 0)) return false;
    }
    if (mixed && !rs_sim_coll(app, c, RS_SIM_REDUCESCATTER, rs_sim_halves_each(w, c->def->nranks), RS_SIM_BFLOAT16, 0))
        return false;
    if (step % LOSS_EVERY == LOSS_EVERY - 1 && !rs_sim_coll(app, c, RS_SIM_ALLREDUCE, 1, RS_SIM_FLOAT32, 0))
        return false;
    return rs_sim_gpu_sync(c->gpu);
}

/* One direction of a pipeline: from rank `from` (or none), compute, to rank `to` (or none). */
static bool stage(struct rs_sim_worker *w, int from, int to, uint64_t us)
{
    struct rs_sim_comm *c = w->world[0];
    size_t count = rs_sim_halves_each(w, 1);
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
    size_t each = rs_sim_halves_each(w, c->def->nranks);
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
    /* Every third group is too much for one kernel. */
    int rounds = step % 3 == 2 ? 2 : 1;
    rs_sim_group_start(app);
    for (int i = 0; i < rounds; i++) {
        size_t n = rs_sim_floats(w);
        if (!rs_sim_coll(app, c, RS_SIM_ALLREDUCE, n / 4 + 1, RS_SIM_FLOAT32, 0)) return false;
        if (!rs_sim_coll(app, c, RS_SIM_ALLREDUCE, n, RS_SIM_FLOAT32, 0)) return false;
        if (!rs_sim_coll(app, c, RS_SIM_ALLREDUCE, n / 2 + 1, RS_SIM_FLOAT32, 0)) return false;
    }
    return rs_sim_group_end(app) && rs_sim_gpu_sync(c->gpu);
}

static bool multidev_step(struct rs_sim_worker *w, int step)
{
    (void)step;
    think(w);
    rs_sim_group_start(&w->app);
    for (int i = 0; i < w->ngpus; i++) {
        rs_sim_gpu_compute(&w->gpus[i], around(w, &w->gpus[i], FORWARD_US));
        if (!rs_sim_coll(&w->app, w->world[i], RS_SIM_ALLREDUCE, rs_sim_floats(w), RS_SIM_FLOAT32, 0)) return false;
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
    if (!rs_sim_coll(app, w->tp, RS_SIM_ALLREDUCE, rs_sim_floats(w), RS_SIM_FLOAT32, 0)) return false;
    think(w);
    rs_sim_gpu_compute(c->gpu, around(w, c->gpu, BACKWARD_US));
    if (!rs_sim_coll(app, w->dp, RS_SIM_REDUCESCATTER, rs_sim_halves_each(w, c->def->nranks), RS_SIM_BFLOAT16, 0))
        return false;
    if (w->second && !rs_sim_coll(app, w->second, RS_SIM_ALLREDUCE, 1, RS_SIM_FLOAT32, 0)) return false;
    if (!rs_sim_coll(app, w->mesh, RS_SIM_ALLGATHER, rs_sim_halves_each(w, c->def->nranks), RS_SIM_BFLOAT16, 0))
        return false;
    if (!rs_sim_coll(app, c, RS_SIM_ALLREDUCE, 1, RS_SIM_FLOAT32, 0) || !rs_sim_gpu_sync(c->gpu)) return false;
    if (w->second && step == w->phase->first_step) {
        /* From here on the child works with the proxy of a parent that is gone. */
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
    size_t count = rs_sim_halves_each(w, 1);
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
};

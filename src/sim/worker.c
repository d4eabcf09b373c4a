#include "sim/worker.h"

#include <stdlib.h>
#include <unistd.h>

#include "sim/fakecuda.h"
#include "sim/workload.h"

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

/* One thread drives several devices: NCCL then makes the communicators on a transient thread each. */
static bool create_worlds(struct rs_sim_worker *w)
{
    if (w->ngpus == 1) {
        w->world[0] = rs_sim_comm_create(w->app.job, w->phase->first_comm, w->gpus, NULL);
        return w->world[0] != NULL;
    }
    struct init_thread *threads = calloc((size_t)w->ngpus, sizeof threads[0]);
    if (!threads) abort(); /* a simulated process has nothing to fall back on */
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
        rs_sim_coll(&w->app, c, RS_SIM_ALLREDUCE, rs_sim_floats(w), RS_SIM_FLOAT32, 0);
        rs_sim_coll(&w->app, c, RS_SIM_ALLGATHER, rs_sim_halves_each(w, c->def->nranks), RS_SIM_BFLOAT16, 0);
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
    /* One thread may hold several members, none of which may wait for another. */
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

/* Stops taking part, outside NCCL, for good. */
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
        uint64_t ns = (uint64_t)s->usec * 1000; /* as it was asked for, whatever the speed */
        if (s->cpu)
            rs_sim_sleep_until(rs_sim_now() + ns);
        else
            rs_sim_gpu_compute(&w->gpus[s->rank - w->gpus[0].rank], ns);
    }
}

struct rs_sim_worker *rs_sim_worker_new(const struct rs_sim_job *job, const struct rs_sim_phase *phase,
                                        struct rs_sim_gpu *gpus, int ngpus)
{
    struct rs_sim_worker *w = calloc(1, sizeof *w);
    if (!w) abort();
    w->world = calloc((size_t)ngpus, sizeof w->world[0]);
    if (!w->world) abort();
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

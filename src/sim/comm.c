#include "sim/comm.h"

#include <stdlib.h>

#include "base/memory.h"
#include "sim/fakecuda.h"

/* Barriers in two halves, since one thread may drive several members. */
static void arrive(struct rs_sim_comm *c)
{
    struct rs_sim_area *area = rs_sim_area(c->job, c->index);
    struct rs_sim_rank *ranks = c->job->shared->ranks;
    if (atomic_fetch_add(&area->arrivals, 1) + 1 != ++c->barriers * (uint32_t)c->def->nranks) return;
    for (int i = 0; i < c->def->nranks; i++) rs_sim_bell_ring(&ranks[c->def->ranks[i]].app);
}

/* False = aborted before all have arrived. */
static bool await_arrivals(struct rs_sim_comm *c)
{
    struct rs_sim_area *area = rs_sim_area(c->job, c->index);
    struct rs_sim_bell *b = &c->job->shared->ranks[c->gpu->rank].app;
    for (;;) {
        uint32_t seen = rs_sim_bell_read(b);
        if (atomic_load(&area->arrivals) >= c->barriers * (uint32_t)c->def->nranks) return true;
        if (rs_sim_aborted(c->job, c->gpu->rank)) return false;
        rs_sim_bell_wait(b, seen, UINT64_MAX);
    }
}

struct rs_sim_comm *rs_sim_comm_create(const struct rs_sim_job *job, int index, struct rs_sim_gpu *gpu,
                                       struct rs_sim_comm *parent)
{
    struct rs_sim_comm *c = rs_zalloc(1, sizeof *c);
    c->job = job;
    c->def = &job->plan->comms[index];
    c->index = index;
    c->rank = rs_sim_comm_rank(c->def, gpu->rank);
    c->gpu = gpu;
    c->plugin = rs_sim_plugin_acquire(job);

    /* The plugin must copy the name: the caller's memory is gone after the call. */
    char name[sizeof c->def->name];
    for (size_t i = 0; i < sizeof name; i++) name[i] = c->def->name[i];
    struct rs_sim_init init = {.name = name[0] ? name : NULL,
                               .hash = c->def->hash,
                               .nnodes = c->def->nnodes,
                               .nranks = c->def->nranks,
                               .rank = c->rank};
    rs_sim_cuda_use(job, gpu->rank);
    rs_sim_cuda_allow(true);
    rs_sim_call_init(c->plugin, &init, &c->ctx);
    rs_sim_cuda_allow(false);
    for (size_t i = 0; i < sizeof name; i++) name[i] = '#';

    if (parent) {
        c->proxy = parent->proxy;
        rs_sim_proxy_share(c->proxy, index);
    } else {
        c->proxy = rs_sim_proxy_new(job, c->plugin, gpu->rank, index, c->ctx);
    }
    if (job->plan->cfg.pxn) rs_sim_proxy_wake(c->proxy);
    arrive(c);
    if (await_arrivals(c)) return c;
    rs_sim_comm_destroy(c);
    return NULL;
}

void rs_sim_comm_part(struct rs_sim_comm *c)
{
    if (c->parting || rs_sim_aborted(c->job, c->gpu->rank)) return;
    rs_sim_gpu_sync(c->gpu);
    c->parting = true;
    arrive(c);
}

void rs_sim_comm_destroy(struct rs_sim_comm *c)
{
    if (!c) return;
    rs_sim_comm_part(c);
    if (c->parting) await_arrivals(c);
    rs_sim_proxy_leave(c->proxy);
    rs_sim_call_finalize(c->plugin, c->ctx);
    rs_sim_plugin_release(c->plugin);
    free(c);
}

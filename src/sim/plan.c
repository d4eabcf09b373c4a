#include "sim/plan.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "nccl/digest.h"

const char *const rs_sim_workload_names[RS_SIM_WORKLOADS] = {
    [RS_SIM_DDP] = "ddp",           [RS_SIM_PIPELINE] = "pipeline",
    [RS_SIM_ALLTOALL] = "alltoall", [RS_SIM_AGGREGATE] = "aggregate",
    [RS_SIM_MULTIDEV] = "multidev", [RS_SIM_SPLIT] = "split",
    [RS_SIM_GRAPH] = "graph",       [RS_SIM_RING] = "ring",
    [RS_SIM_FIVE] = "five",         [RS_SIM_MIX] = "mix",
};

/* Keys of rs_sim_random(), one per use. */
enum { KEY_HOST = 1, KEY_GPU, KEY_COMM };

uint64_t rs_sim_random(uint64_t seed, uint64_t a, uint64_t b, uint64_t c)
{
    uint64_t x = seed;
    const uint64_t in[3] = {a, b, c};
    for (int i = 0; i < 3; i++) {
        x += in[i] * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
        x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
        x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
        x ^= x >> 31;
    }
    return x;
}

int rs_sim_comm_rank(const struct rs_sim_comm_def *comm, int rank)
{
    for (int i = 0; i < comm->nranks; i++) {
        if (comm->ranks[i] == rank) return i;
    }
    return -1;
}

bool rs_sim_remote(const struct rs_sim_plan *plan, const struct rs_sim_comm_def *comm, int a, int b)
{
    return plan->ranks[comm->ranks[a]].host != plan->ranks[comm->ranks[b]].host;
}

int rs_sim_pxn_helper(const struct rs_sim_plan *plan, const struct rs_sim_comm_def *comm, int r)
{
    if (!plan->cfg.pxn) return -1;
    const struct rs_sim_rank_def *me = &plan->ranks[comm->ranks[r]];
    for (int i = 1; i < comm->nranks; i++) {
        int other = (r + i) % comm->nranks;
        const struct rs_sim_rank_def *o = &plan->ranks[comm->ranks[other]];
        if (o->host == me->host && o->process != me->process) return other;
    }
    return -1;
}

uint64_t rs_sim_scaled(const struct rs_sim_plan *plan, uint64_t ns)
{
    return (uint64_t)((double)ns / plan->cfg.speed);
}

uint64_t rs_sim_transfer_ns(const struct rs_sim_plan *plan, size_t bytes, bool net)
{
    /* A latency, and a bandwidth in bytes per ns: NVLink-like inside a host, 400 Gbit/s per GPU between hosts. */
    double latency = net ? 30e3 : 12e3;
    double bandwidth = net ? 50.0 : 200.0;
    return rs_sim_scaled(plan, (uint64_t)(latency + (double)bytes / bandwidth));
}

static struct rs_sim_comm_def *add_comm(struct rs_sim_plan *plan, const char *name)
{
    struct rs_sim_comm_def *c = &plan->comms[plan->ncomms++];
    c->parent = -1;
    snprintf(c->name, sizeof c->name, "%s", name);
    return c;
}

static void finish_comm(struct rs_sim_plan *plan, struct rs_sim_comm_def *c)
{
    bool seen[RS_SIM_MAX_RANKS] = {false};
    for (int i = 0; i < c->nranks; i++) {
        int host = plan->ranks[c->ranks[i]].host;
        if (!seen[host]) c->nnodes++;
        seen[host] = true;
    }
}

static int add_world(struct rs_sim_plan *plan, const char *name)
{
    int index = plan->ncomms;
    struct rs_sim_comm_def *c = add_comm(plan, name);
    /* Different in each run, as in NCCL: two jobs in one folder are two runs, whatever their seeds. */
    c->hash = rs_sim_random(plan->cfg.seed, KEY_COMM, (uint64_t)index, plan->launch);
    c->nranks = plan->cfg.ranks;
    for (int r = 0; r < c->nranks; r++) c->ranks[r] = r;
    finish_comm(plan, c);
    return index;
}

/* All the children of one ncclCommSplit(): the color of rank r is r / per, or r % ncolors if per is 0. */
static void add_split(struct rs_sim_plan *plan, int parent, int child_count, int ncolors, int per, bool share,
                      const char *name)
{
    for (int color = 0; color < ncolors; color++) {
        struct rs_sim_comm_def *c = add_comm(plan, name);
        const struct rs_sim_comm_def *p = &plan->comms[parent];
        c->parent = parent;
        c->child_count = child_count;
        c->color = color;
        c->share = share;
        c->hash = rs_nccl_split_hash(p->hash, child_count, color);
        for (int r = 0; r < p->nranks; r++) {
            if ((per > 0 ? r / per : r % ncolors) == color) c->ranks[c->nranks++] = p->ranks[r];
        }
        finish_comm(plan, c);
    }
}

static void add_phase(struct rs_sim_plan *plan, enum rs_sim_workload w, int first_step, int steps)
{
    struct rs_sim_phase *ph = &plan->phases[plan->nphases++];
    *ph = (struct rs_sim_phase){.workload = w, .first_step = first_step, .steps = steps, .first_comm = plan->ncomms};
    /* One communicator without a name: applications that set none are common. */
    int world = add_world(plan, w == RS_SIM_RING ? "" : "default_pg:0");
    if (w == RS_SIM_SPLIT) {
        int n = plan->cfg.ranks;
        int colors = n > 1 ? 2 : 1;
        add_split(plan, world, 1, colors, (n + 1) / 2, false, "tp_group:1");
        add_split(plan, world, 2, colors, 0, true, "dp_group:2");
        int second = add_world(plan, "default_pg:3");
        add_split(plan, second, 1, 1, n, true, "mesh_all:4");
    }
    ph->ncomms = plan->ncomms - ph->first_comm;
}

static enum rs_status check(const struct rs_sim_config *c, struct rs_err *err)
{
    if (c->ranks < 1 || c->ranks > RS_SIM_MAX_RANKS)
        return rs_fail(err, RS_BAD_INPUT, "the number of ranks must be 1 to %d", RS_SIM_MAX_RANKS);
    if (c->ranks_per_process < 1 || c->ranks % c->ranks_per_process != 0)
        return rs_fail(err, RS_BAD_INPUT, "%d ranks cannot be split into processes of %d", c->ranks,
                       c->ranks_per_process);
    if (c->hosts < 1 || c->hosts > c->ranks / c->ranks_per_process)
        return rs_fail(err, RS_BAD_INPUT, "%d processes cannot be split over %d hosts", c->ranks / c->ranks_per_process,
                       c->hosts);
    if (c->workload == RS_SIM_MULTIDEV && c->ranks_per_process < 2)
        return rs_fail(err, RS_BAD_INPUT, "the workload multidev needs at least 2 ranks per process");
    if (c->channels < 1 || c->channels > RS_SIM_MAX_CHANNELS)
        return rs_fail(err, RS_BAD_INPUT, "the number of channels must be 1 to %d", RS_SIM_MAX_CHANNELS);
    if (c->net_steps < 1 || c->net_steps > RS_SIM_MAX_NET_STEPS)
        return rs_fail(err, RS_BAD_INPUT, "the number of network steps must be 1 to %d", RS_SIM_MAX_NET_STEPS);
    if (c->api < 1 || c->api > 7) return rs_fail(err, RS_BAD_INPUT, "the API version must be 1 to 7");
    if (c->steps < 1) return rs_fail(err, RS_BAD_INPUT, "at least one step is needed");
    if (c->bytes < 1 || c->bytes > (int64_t)1 << 40)
        return rs_fail(err, RS_BAD_INPUT, "the size of a bucket must be 1 byte to 1 TiB");
    if (!(c->speed > 0)) return rs_fail(err, RS_BAD_INPUT, "the speed must be above 0");
    if (!(c->hang_seconds >= 0) || c->hang_seconds > 1e6)
        return rs_fail(err, RS_BAD_INPUT, "the duration of a hang must be 0 to 1000000 seconds");
    if (!(c->notice_seconds >= 0) || c->notice_seconds > 1e6)
        return rs_fail(err, RS_BAD_INPUT, "the time until a death is noticed must be 0 to 1000000 seconds");
    const struct rs_sim_at *at[3] = {&c->hang, &c->kill, &c->abort};
    int fates = 0;
    for (int i = 0; i < 3; i++) {
        if (at[i]->rank == -1) continue;
        fates++;
        if (at[i]->rank < 0 || at[i]->rank >= c->ranks || at[i]->step < 0 || at[i]->step >= c->steps)
            return rs_fail(err, RS_BAD_INPUT, "there is no rank %d at step %d: ranks are 0 to %d, steps 0 to %d",
                           at[i]->rank, at[i]->step, c->ranks - 1, c->steps - 1);
    }
    if (c->kill_after.rank >= 0) fates++;
    if (c->kill_after.rank >= c->ranks)
        return rs_fail(err, RS_BAD_INPUT, "there is no rank %d to kill: ranks are 0 to %d", c->kill_after.rank,
                       c->ranks - 1);
    if (fates > 1) return rs_fail(err, RS_BAD_INPUT, "only one of hang, kill and abort can happen in a run");
    if (fates == 1 && c->ranks < 2 && c->kill_after.rank < 0)
        return rs_fail(err, RS_BAD_INPUT, "hang, kill and abort need a second rank that waits");
    for (int i = 0; i < c->nslow; i++) {
        if (c->slow[i].rank < 0 || c->slow[i].rank >= c->ranks || c->slow[i].usec < 0)
            return rs_fail(err, RS_BAD_INPUT, "there is no rank %d to make slow: ranks are 0 to %d", c->slow[i].rank,
                           c->ranks - 1);
    }
    return RS_OK;
}

enum rs_status rs_sim_plan_build(struct rs_sim_plan *plan, const struct rs_sim_config *cfg, struct rs_err *err)
{
    RS_TRY(check(cfg, err));
    memset(plan, 0, sizeof *plan);
    plan->cfg = *cfg;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    plan->launch = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    plan->nprocs = cfg->ranks / cfg->ranks_per_process;

    for (int h = 1; h < cfg->hosts; h++) {
        /* Within 5 s and 40 ppm: badly set, but not absurd, clocks. Host 0 is the reference. */
        uint64_t x = rs_sim_random(cfg->seed, KEY_HOST, (uint64_t)h, 0);
        plan->host_offset_ns[h] = (int64_t)(x % 10000000000u) - 5000000000;
        plan->host_ppm[h] = (int)((x >> 40) % 81) - 40;
    }
    int on_host[RS_SIM_MAX_RANKS] = {0};
    for (int r = 0; r < cfg->ranks; r++) {
        struct rs_sim_rank_def *d = &plan->ranks[r];
        uint64_t x = rs_sim_random(cfg->seed, KEY_GPU, (uint64_t)r, 0);
        d->process = r / cfg->ranks_per_process;
        d->host = d->process * cfg->hosts / plan->nprocs;
        d->device = on_host[d->host]++;
        d->gpu_offset_ns = (int64_t)(x % 40000000000u) - 20000000000;
        d->gpu_ppm = (double)((x >> 40) % 6001) / 100.0 - 30.0;
        d->gpu_grain_ns = (x >> 60) % 2 == 0 ? 32 : 1024;
    }

    if (cfg->workload != RS_SIM_MIX) {
        add_phase(plan, cfg->workload, 0, cfg->steps);
        return RS_OK;
    }
    enum rs_sim_workload all[RS_SIM_WORKLOADS];
    int n = 0;
    for (enum rs_sim_workload w = 0; w < RS_SIM_MIX; w++) {
        if (w != RS_SIM_MULTIDEV || cfg->ranks_per_process > 1) all[n++] = w;
    }
    for (int i = 0, step = 0; i < n; i++) {
        int steps = cfg->steps / n + (i < cfg->steps % n ? 1 : 0);
        if (steps > 0) add_phase(plan, all[i], step, steps);
        step += steps;
    }
    return RS_OK;
}

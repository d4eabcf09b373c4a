#include "sim/process.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "sim/worker.h"

struct app_thread {
    pthread_t thread;
    struct rs_sim_worker *worker;
    struct rs_sim_bell *bell; /* rung at the end */
    _Atomic int *left; /* threads that are not done */
    struct app_thread *older; /* in the list below */
};

/* The workers of phases that destroyed nothing: their communicators live until exit, as in programs that just leave. */
static struct app_thread *kept;

void rs_sim_host_name(int host, char out[16])
{
    snprintf(out, 16, "host%02d", host);
}

static void set_number(const char *name, int value)
{
    char text[16];
    snprintf(text, sizeof text, "%d", value);
    setenv(name, text, 0);
}

static void set_environment(const struct rs_sim_job *job)
{
    const struct rs_sim_plan *plan = job->plan;
    const struct rs_sim_config *cfg = &plan->cfg;
    int host = plan->ranks[job->process * cfg->ranks_per_process].host;
    int local = 0;
    for (int p = 0; p < job->process; p++) {
        if (plan->ranks[p * cfg->ranks_per_process].host == host) local++;
    }
    char text[64];
    rs_sim_host_name(host, text);
    setenv("RINGSCOPE_TEST_HOST", text, 1);
    snprintf(text, sizeof text, "%lld:%d", (long long)plan->host_offset_ns[host], plan->host_ppm[host]);
    setenv("RINGSCOPE_TEST_CLOCK", text, 1);
    if (cfg->dir) setenv("RINGSCOPE_DIR", cfg->dir, 1);
    if (cfg->events) setenv("RINGSCOPE_EVENTS", cfg->events, 1);
    if (cfg->plugin) setenv("NCCL_PROFILER_PLUGIN", cfg->plugin, 1);
    /* As torchrun does, a number per process. */
    set_number("RANK", job->process);
    set_number("LOCAL_RANK", local);
    set_number("WORLD_SIZE", plan->nprocs);
}

static void *app_main(void *arg)
{
    struct app_thread *t = arg;
    rs_sim_worker_run(t->worker);
    atomic_fetch_sub(t->left, 1);
    rs_sim_bell_ring(t->bell);
    return NULL;
}

/* Ends the process as it is when the time of a hang is up, as a watchdog would. */
static void watch(const struct rs_sim_job *job, uint32_t seen)
{
    uint64_t die_at = atomic_load(&job->shared->die_at);
    if (die_at != 0 && rs_sim_now() >= die_at) abort();
    rs_sim_bell_wait(&job->shared->procs[job->process].bell, seen, die_at != 0 ? die_at : UINT64_MAX);
}

static void play_phase(const struct rs_sim_job *job, const struct rs_sim_phase *phase, struct rs_sim_gpu *gpus)
{
    int ngpus = job->plan->cfg.ranks_per_process;
    int n = phase->workload == RS_SIM_MULTIDEV ? 1 : ngpus;
    struct rs_sim_bell *bell = &job->shared->procs[job->process].bell;
    _Atomic int left = n;
    struct app_thread *threads = calloc((size_t)n, sizeof threads[0]);
    if (!threads) abort();
    for (int i = 0; i < n; i++) {
        threads[i].worker = rs_sim_worker_new(job, phase, gpus + i, n == 1 ? ngpus : 1);
        threads[i].bell = bell;
        threads[i].left = &left;
        if (pthread_create(&threads[i].thread, NULL, app_main, &threads[i]) != 0) abort();
    }
    for (;;) {
        uint32_t seen = rs_sim_bell_read(bell);
        if (atomic_load(&left) == 0) break;
        watch(job, seen);
    }
    for (int i = 0; i < n; i++) pthread_join(threads[i].thread, NULL);
    if (job->plan->cfg.no_destroy) {
        threads->older = kept;
        kept = threads;
        return;
    }
    for (int i = 0; i < n; i++) rs_sim_worker_free(threads[i].worker);
    free(threads);
}

/* Waits for all processes to finish the phase. False = the job was aborted. */
static bool phase_barrier(const struct rs_sim_job *job, int phase)
{
    struct rs_sim_shared *sh = job->shared;
    struct rs_sim_bell *bell = &sh->procs[job->process].bell;
    uint32_t target = (uint32_t)(phase + 1) * (uint32_t)job->plan->nprocs;
    if (atomic_fetch_add(&sh->phase_arrivals, 1) + 1 == target) {
        for (int p = 0; p < job->plan->nprocs; p++) rs_sim_bell_ring(&sh->procs[p].bell);
    }
    for (;;) {
        uint32_t seen = rs_sim_bell_read(bell);
        if (atomic_load(&sh->phase_arrivals) >= target) return true;
        if (rs_sim_aborted(job, job->process * job->plan->cfg.ranks_per_process)) return false;
        watch(job, seen);
    }
}

_Noreturn void rs_sim_process_main(const struct rs_sim_job *job)
{
    const struct rs_sim_config *cfg = &job->plan->cfg;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_TIMERSLACK, 1000ul); /* sleeps to the us, not to 50 us; inherited by the threads */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    set_environment(job);

    int ngpus = cfg->ranks_per_process;
    struct rs_sim_gpu *gpus = calloc((size_t)ngpus, sizeof gpus[0]);
    struct rs_err err = {.code = RS_OK};
    if (!gpus) exit(1);
    for (int i = 0; i < ngpus; i++) {
        if (rs_sim_gpu_open(&gpus[i], job, job->process * ngpus + i, &err) != RS_OK) {
            rs_sim_failure(job, "%s", err.msg);
            exit(1);
        }
    }
    for (int i = 0; i < job->plan->nphases; i++) {
        play_phase(job, &job->plan->phases[i], gpus);
        if (!phase_barrier(job, i)) break;
    }
    if (!cfg->no_destroy) {
        for (int i = 0; i < ngpus; i++) rs_sim_gpu_close(&gpus[i]);
        free(gpus);
    }
    exit(0);
}

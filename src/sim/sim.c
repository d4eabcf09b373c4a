#include "sim/sim.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "nccl/names.h"
#include "sim/fakecuda.h"
#include "sim/shared.h"
#include "sim/worker.h"

/* ---- the truth ----
 * What a simulated job really sent, for tests to compare recordings with: JSON Lines.
 *
 * One line per object, with its "kind": job (options and how it ended), process (calls made and returned, by kind; how
 * it ended), gpu (its clock and identity), comm (members, and the origin of a split). Counts are exact for killed
 * processes too. Called after all processes have ended. */

struct sim_child {
    pid_t pid;
    bool ended;
    int status; /* from waitpid() */
};

static uint64_t starts(const struct rs_sim_counts *c)
{
    uint64_t n = 0;
    for (int i = 0; i < RS_NCCL_TYPE_BITS; i++) n += atomic_load(&c->start[i]);
    return n;
}

static uint64_t sim_callbacks(const struct rs_sim_counts *c)
{
    return atomic_load(&c->init) + atomic_load(&c->finalize) + atomic_load(&c->stop) + atomic_load(&c->record) +
           starts(c);
}

static void write_job(struct rs_json *j, const struct rs_sim_job *job, const struct rs_sim_result *res)
{
    const struct rs_sim_config *cfg = &job->plan->cfg;
    rs_json_object(j);
    rs_json_key_str(j, "kind", "job");
    rs_json_key_str(j, "workload", rs_sim_workload_names[cfg->workload]);
    rs_json_key_i64(j, "ranks", cfg->ranks);
    rs_json_key_i64(j, "hosts", cfg->hosts);
    rs_json_key_i64(j, "processes", job->plan->nprocs);
    rs_json_key_i64(j, "steps", cfg->steps);
    rs_json_key_i64(j, "channels", cfg->channels);
    rs_json_key_i64(j, "api", cfg->api);
    rs_json_key_i64(j, "plugin_version", res->plugin_version);
    rs_json_key_u64(j, "seed", cfg->seed);
    rs_json_key_u64(j, "wall_ns", job->shared->wall0); /* at the start: a GPU's clock read this + its offset then */
    rs_json_key_u64(j, "callbacks", res->callbacks);
    rs_json_key_str(j, "ended", res->hung ? "hung" : res->killed ? "killed" : res->aborted ? "aborted" : "complete");
    rs_json_end(j);
    rs_json_newline(j);
}

static void sim_host_name(int host, char out[16]);

static void write_process(struct rs_json *j, const struct rs_sim_job *job, int p, const struct sim_child *child)
{
    const struct rs_sim_config *cfg = &job->plan->cfg;
    const struct rs_sim_counts *c = &job->shared->procs[p].counts;
    int first = p * cfg->ranks_per_process;
    int host = job->plan->ranks[first].host;
    char name[16];
    sim_host_name(host, name);
    rs_json_object(j);
    rs_json_key_str(j, "kind", "process");
    rs_json_key_i64(j, "process", p);
    rs_json_key_i64(j, "pid", child->pid);
    rs_json_key_str(j, "host", name);
    rs_json_key_i64(j, "clock_offset_ns", job->plan->host_offset_ns[host]);
    rs_json_key_i64(j, "clock_ppm", job->plan->host_ppm[host]);
    rs_json_key(j, "ranks");
    rs_json_array(j);
    for (int r = first; r < first + cfg->ranks_per_process; r++) rs_json_i64(j, r);
    rs_json_end(j);
    rs_json_key_i64(j, "exit", WIFEXITED(child->status) ? WEXITSTATUS(child->status) : -1);
    rs_json_key_i64(j, "signal", WIFSIGNALED(child->status) ? WTERMSIG(child->status) : 0);
    rs_json_key_u64(j, "init", atomic_load(&c->init));
    rs_json_key_u64(j, "finalize", atomic_load(&c->finalize));
    rs_json_key_u64(j, "start", starts(c));
    rs_json_key_u64(j, "stop", atomic_load(&c->stop));
    rs_json_key_u64(j, "record", atomic_load(&c->record));
    rs_json_key_u64(j, "callbacks", sim_callbacks(c));
    rs_json_key(j, "starts");
    rs_json_object(j);
    for (int i = 0; i < RS_NCCL_TYPE_BITS; i++) {
        uint64_t n = atomic_load(&c->start[i]);
        if (n > 0) rs_json_key_u64(j, rs_nccl_type_name(UINT64_C(1) << i), n);
    }
    rs_json_end(j);
    rs_json_key_u64(j, "cuda_misuse", atomic_load(&c->cuda_misuse));
    rs_json_end(j);
    rs_json_newline(j);
}

static void write_gpu(struct rs_json *j, const struct rs_sim_job *job, int rank)
{
    const struct rs_sim_rank_def *d = &job->plan->ranks[rank];
    unsigned char uuid[16];
    char text[33], bus_id[16];
    rs_sim_gpu_uuid(job->plan, rank, uuid);
    for (int i = 0; i < 16; i++) snprintf(text + 2 * i, 3, "%02x", uuid[i]);
    rs_sim_gpu_bus_id(job->plan, rank, bus_id, sizeof bus_id);
    rs_json_object(j);
    rs_json_key_str(j, "kind", "gpu");
    rs_json_key_i64(j, "rank", rank);
    rs_json_key_i64(j, "device", d->device);
    rs_json_key_str(j, "bus_id", bus_id);
    rs_json_key_str(j, "uuid", text);
    rs_json_key_i64(j, "offset_ns", d->gpu_offset_ns);
    rs_json_key_double(j, "ppm", d->gpu_ppm);
    rs_json_key_u64(j, "grain_ns", d->gpu_grain_ns);
    rs_json_end(j);
    rs_json_newline(j);
}

static void write_comm(struct rs_json *j, const struct rs_sim_plan *plan, int index)
{
    const struct rs_sim_comm_def *c = &plan->comms[index];
    rs_json_object(j);
    rs_json_key_str(j, "kind", "comm");
    rs_json_key_hex(j, "comm", c->hash);
    rs_json_key_str(j, "name", c->name[0] ? c->name : NULL);
    rs_json_key_i64(j, "nranks", c->nranks);
    rs_json_key_i64(j, "nnodes", c->nnodes);
    rs_json_key(j, "ranks");
    rs_json_array(j);
    for (int i = 0; i < c->nranks; i++) rs_json_i64(j, c->ranks[i]);
    rs_json_end(j);
    rs_json_key(j, "parent");
    if (c->parent >= 0) {
        rs_json_object(j);
        rs_json_key_hex(j, "comm", plan->comms[c->parent].hash);
        rs_json_key_i64(j, "count", c->child_count);
        rs_json_key_i64(j, "color", c->color);
        rs_json_key_bool(j, "share", c->share);
        rs_json_end(j);
    } else {
        rs_json_null(j);
    }
    rs_json_end(j);
    rs_json_newline(j);
}

static enum rs_status sim_truth_write(const char *path, const struct rs_sim_job *job, const struct sim_child *children,
                                      const struct rs_sim_result *res, struct rs_err *err)
{
    struct rs_out out = {0};
    RS_TRY(rs_out_open(&out, path, true, err));
    struct rs_json *j = rs_alloc(sizeof *j);
    rs_json_to_file(j, out.file, path);
    write_job(j, job, res);
    for (int p = 0; p < job->plan->nprocs; p++) write_process(j, job, p, &children[p]);
    for (int r = 0; r < job->plan->cfg.ranks; r++) write_gpu(j, job, r);
    for (int c = 0; c < job->plan->ncomms; c++) write_comm(j, job->plan, c);
    enum rs_status status = rs_json_finish(j, err);
    free(j);
    if (status != RS_OK) {
        rs_out_abort(&out);
        return status;
    }
    return rs_out_commit(&out, err);
}

/* ---- processes ----
 * One process of a simulated job, after the fork.
 *
 * Sets the environment as a launcher would, opens the GPUs of its ranks, and runs the phases of the plan. Never
 * returns. */

struct app_thread {
    pthread_t thread;
    struct rs_sim_worker *worker;
    struct rs_sim_bell *bell; /* rung at the end */
    _Atomic int *left; /* threads that are not done */
    struct app_thread *older; /* in the list below */
};

/* The workers of phases that destroyed nothing: their communicators exist until exit, as in programs that just exit. */
static struct app_thread *kept;

/* The name of a simulated host. */
static void sim_host_name(int host, char out[16])
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
    sim_host_name(host, text);
    setenv("RINGSCOPE_TEST_HOST", text, 1);
    snprintf(text, sizeof text, "%lld:%d", (long long)plan->host_offset_ns[host], plan->host_ppm[host]);
    setenv("RINGSCOPE_TEST_CLOCK", text, 1);
    if (cfg->dir) setenv("RINGSCOPE_DIR", cfg->dir, 1);
    if (cfg->events) setenv("RINGSCOPE_EVENTS", cfg->events, 1);
    if (cfg->detail) setenv("RINGSCOPE_DETAIL", cfg->detail, 1);
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

/* Ends the process when the time of a hang is over, like a watchdog. */
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
    struct app_thread *threads = rs_zalloc((size_t)n, sizeof threads[0]);
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

static _Noreturn void sim_process_main(const struct rs_sim_job *job)
{
    const struct rs_sim_config *cfg = &job->plan->cfg;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_TIMERSLACK, 1000ul); /* 1 us instead of 50; inherited by the threads */
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    set_environment(job);

    int ngpus = cfg->ranks_per_process;
    struct rs_sim_gpu *gpus = rs_zalloc((size_t)ngpus, sizeof gpus[0]);
    struct rs_err err = {.code = RS_OK};
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

/* ---- the job ---- */

enum { CHECK_NS = 5000000 };
#define STALLED_NS 60e9 /* without a callback: the simulator itself is stuck */

void rs_sim_config_default(struct rs_sim_config *cfg)
{
    *cfg = (struct rs_sim_config){.ranks = 4,
                                  .hosts = 1,
                                  .ranks_per_process = 1,
                                  .steps = 20,
                                  .workload = RS_SIM_DDP,
                                  .channels = 2,
                                  .bytes = 25 << 20,
                                  .net_steps = 8,
                                  .hang = {.rank = -1},
                                  .kill = {.rank = -1},
                                  .abort = {.rank = -1},
                                  .kill_after = {.rank = -1},
                                  .hang_seconds = 2,
                                  .notice_seconds = 1,
                                  .api = 6,
                                  .seed = 1,
                                  .speed = 1};
}

static uint64_t total_callbacks(const struct rs_sim_job *job)
{
    uint64_t n = 0;
    for (int p = 0; p < job->plan->nprocs; p++) n += sim_callbacks(&job->shared->procs[p].counts);
    return n;
}

static void kill_all(const struct rs_sim_job *job, const struct sim_child *children)
{
    for (int p = 0; p < job->plan->nprocs; p++) {
        if (children[p].pid > 0 && !children[p].ended) kill(children[p].pid, SIGKILL);
    }
}

static bool is_victim(const struct rs_sim_plan *plan, int process)
{
    int rank = plan->cfg.kill.rank >= 0 ? plan->cfg.kill.rank : plan->cfg.kill_after.rank;
    return rank >= 0 && plan->ranks[rank].process == process;
}

/* What the end of a process means for the others. */
static void child_ended(struct rs_sim_job *job, int p, const struct sim_child *child)
{
    const struct rs_sim_plan *plan = job->plan;
    if (WIFEXITED(child->status) && WEXITSTATUS(child->status) == 0) return;
    uint64_t none = 0;
    int sig = WIFSIGNALED(child->status) ? WTERMSIG(child->status) : 0;
    if (sig == SIGKILL && is_victim(plan, p)) {
        uint64_t notice = (uint64_t)(plan->cfg.notice_seconds * 1e9);
        atomic_compare_exchange_strong(&job->shared->abort_at, &none, rs_sim_now() + notice);
        return;
    }
    if (sig == SIGABRT && atomic_load(&job->shared->die_at) != 0) return;
    if (sig)
        rs_sim_failure(job, "process %d (pid %d) was ended by signal %d", p, (int)child->pid, sig);
    else
        rs_sim_failure(job, "process %d (pid %d) exited with %d", p, (int)child->pid, WEXITSTATUS(child->status));
    atomic_compare_exchange_strong(&job->shared->abort_at, &none, rs_sim_now());
}

static void supervise(struct rs_sim_job *job, struct sim_child *children)
{
    int left = job->plan->nprocs;
    double speed = job->plan->cfg.speed < 1 ? job->plan->cfg.speed : 1;
    uint64_t patience = (uint64_t)(STALLED_NS / speed + job->plan->cfg.hang_seconds * 1e9);
    uint64_t moved_at = rs_sim_now(), before = 0, kill_at = UINT64_MAX;
    const struct rs_sim_slow *after = &job->plan->cfg.kill_after;
    if (after->rank >= 0) kill_at = job->shared->t0 + (uint64_t)after->usec * 1000;
    while (left > 0) {
        for (int p = 0; p < job->plan->nprocs; p++) {
            struct sim_child *c = &children[p];
            if (c->ended || waitpid(c->pid, &c->status, WNOHANG) != c->pid) continue;
            c->ended = true;
            left--;
            child_ended(job, p, c);
        }
        uint64_t calls = total_callbacks(job), now = rs_sim_now();
        if (calls != before) moved_at = now;
        before = calls;
        if (now - moved_at > patience) {
            rs_sim_failure(job, "no progress for %.0f seconds", (double)patience / 1e9);
            kill_all(job, children);
            moved_at = now;
        }
        if (now >= kill_at) {
            const struct sim_child *victim = &children[job->plan->ranks[after->rank].process];
            if (!victim->ended) kill(victim->pid, SIGKILL);
            kill_at = UINT64_MAX;
        }
        if (left > 0) rs_sim_sleep_until(now + CHECK_NS < kill_at ? now + CHECK_NS : kill_at);
    }
}

static enum rs_status start_all(struct rs_sim_job *job, struct sim_child *children, struct rs_err *err)
{
    fflush(NULL); /* else each child would write the buffers, too */
    for (int p = 0; p < job->plan->nprocs; p++) {
        pid_t pid = fork();
        if (pid == 0) {
            job->process = p;
            sim_process_main(job);
        }
        if (pid < 0) {
            enum rs_status status = rs_fail_errno(err, "cannot start process %d of the simulated job", p);
            for (int i = 0; i < p; i++) {
                kill(children[i].pid, SIGKILL);
                waitpid(children[i].pid, NULL, 0);
            }
            return status;
        }
        children[p].pid = pid;
    }
    return RS_OK;
}

static enum rs_status play(struct rs_sim_job *job, struct rs_sim_result *res, struct rs_err *err)
{
    const struct rs_sim_plan *plan = job->plan;
    struct sim_child children[RS_SIM_MAX_RANKS] = {{0}};
    struct sigaction usual = {.sa_handler = SIG_DFL}, before;
    sigaction(SIGCHLD, &usual, &before); /* if it is ignored, waitpid() does not work */
    enum rs_status status = start_all(job, children, err);
    if (status == RS_OK) supervise(job, children);
    sigaction(SIGCHLD, &before, NULL);
    if (status != RS_OK) return status;

    *res = (struct rs_sim_result){.processes = plan->nprocs,
                                  .hosts = plan->cfg.hosts,
                                  .callbacks = total_callbacks(job),
                                  .wall_ns = rs_sim_now() - job->shared->t0,
                                  .plugin_version = atomic_load(&job->shared->procs[0].plugin_version),
                                  .hung = atomic_load(&job->shared->die_at) != 0,
                                  .aborted = plan->cfg.abort.rank >= 0 && atomic_load(&job->shared->abort_at) != 0};
    for (int p = 0; p < plan->nprocs; p++) {
        if (is_victim(plan, p))
            res->killed = WIFSIGNALED(children[p].status) && WTERMSIG(children[p].status) == SIGKILL;
    }
    if (plan->cfg.truth) RS_TRY(sim_truth_write(plan->cfg.truth, job, children, res, err));
    if (atomic_load(&job->shared->failed) == 2) return rs_fail(err, RS_FAILED, "%s", job->shared->failure);
    if ((plan->cfg.hang.rank >= 0 && !res->hung) || (plan->cfg.kill.rank >= 0 && !res->killed) ||
        (plan->cfg.abort.rank >= 0 && !res->aborted))
        return rs_fail(err, RS_FAILED, "the job ended before the requested hang, kill or abort");
    return RS_OK;
}

enum rs_status rs_sim_run(const struct rs_sim_config *cfg, struct rs_sim_result *res, struct rs_err *err)
{
    struct rs_sim_plan *plan = rs_alloc(sizeof *plan);
    struct rs_sim_job job = {.plan = plan, .process = -1};
    enum rs_status status = rs_sim_plan_build(plan, cfg, err);
    if (status == RS_OK) status = rs_sim_shared_init(plan, &job.shared, err);
    if (status == RS_OK) status = play(&job, res, err);
    rs_sim_shared_free(job.shared);
    free(plan);
    return status;
}

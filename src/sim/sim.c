#include "sim/sim.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/process.h"
#include "sim/truth.h"

enum { CHECK_NS = 5000000 };
#define STALLED_NS 60e9 /* without a callback from anybody: the simulator itself is stuck */

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
    for (int p = 0; p < job->plan->nprocs; p++) n += rs_sim_callbacks(&job->shared->procs[p].counts);
    return n;
}

static void kill_all(const struct rs_sim_job *job, const struct rs_sim_child *children)
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
static void child_ended(struct rs_sim_job *job, int p, const struct rs_sim_child *child)
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

static void supervise(struct rs_sim_job *job, struct rs_sim_child *children)
{
    int left = job->plan->nprocs;
    double speed = job->plan->cfg.speed < 1 ? job->plan->cfg.speed : 1;
    uint64_t patience = (uint64_t)(STALLED_NS / speed + job->plan->cfg.hang_seconds * 1e9);
    uint64_t moved_at = rs_sim_now(), before = 0, kill_at = UINT64_MAX;
    const struct rs_sim_slow *after = &job->plan->cfg.kill_after;
    if (after->rank >= 0) kill_at = job->shared->t0 + (uint64_t)after->usec * 1000;
    while (left > 0) {
        for (int p = 0; p < job->plan->nprocs; p++) {
            struct rs_sim_child *c = &children[p];
            if (c->ended || waitpid(c->pid, &c->status, WNOHANG) != c->pid) continue;
            c->ended = true;
            left--;
            child_ended(job, p, c);
        }
        uint64_t calls = total_callbacks(job), now = rs_sim_now();
        if (calls != before) moved_at = now;
        before = calls;
        if (now - moved_at > patience) {
            rs_sim_failure(job, "nothing has moved for %.0f seconds", (double)patience / 1e9);
            kill_all(job, children);
            moved_at = now;
        }
        if (now >= kill_at) {
            const struct rs_sim_child *victim = &children[job->plan->ranks[after->rank].process];
            if (!victim->ended) kill(victim->pid, SIGKILL);
            kill_at = UINT64_MAX;
        }
        if (left > 0) rs_sim_sleep_until(now + CHECK_NS < kill_at ? now + CHECK_NS : kill_at);
    }
}

static enum rs_status start_all(struct rs_sim_job *job, struct rs_sim_child *children, struct rs_err *err)
{
    fflush(NULL); /* else each child would write out what is buffered, too */
    for (int p = 0; p < job->plan->nprocs; p++) {
        pid_t pid = fork();
        if (pid == 0) {
            job->process = p;
            rs_sim_process_main(job);
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
    struct rs_sim_child children[RS_SIM_MAX_RANKS] = {{0}};
    struct sigaction usual = {.sa_handler = SIG_DFL}, before;
    sigaction(SIGCHLD, &usual, &before); /* where it is ignored nobody could be waited for */
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
    if (plan->cfg.truth) RS_TRY(rs_sim_truth_write(plan->cfg.truth, job, children, res, err));
    if (atomic_load(&job->shared->failed) == 2) return rs_fail(err, RS_FAILED, "%s", job->shared->failure);
    if ((plan->cfg.hang.rank >= 0 && !res->hung) || (plan->cfg.kill.rank >= 0 && !res->killed) ||
        (plan->cfg.abort.rank >= 0 && !res->aborted))
        return rs_fail(err, RS_FAILED, "the job ended before what was to happen to it");
    return RS_OK;
}

enum rs_status rs_sim_run(const struct rs_sim_config *cfg, struct rs_sim_result *res, struct rs_err *err)
{
    struct rs_sim_plan *plan = malloc(sizeof *plan);
    if (!plan) return rs_fail(err, RS_NO_MEMORY, "no memory for the plan of the job");
    struct rs_sim_job job = {.plan = plan, .process = -1};
    enum rs_status status = rs_sim_plan_build(plan, cfg, err);
    if (status == RS_OK) status = rs_sim_shared_init(plan, &job.shared, err);
    if (status == RS_OK) status = play(&job, res, err);
    rs_sim_shared_free(job.shared);
    free(plan);
    return status;
}

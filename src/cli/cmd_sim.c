/* ringscope sim: options and messages of the simulated job; the job itself is in src/sim. */
#include "base/file.h"
#include "cli/commands.h"
#include "cli/print/output.h"
#include "cli/recorder.h"
#include "sim/sim.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "A:B" or "A@B" with two numbers. */
static bool two_numbers(const char *text, char between, int64_t *a, int64_t *b)
{
    char *end;
    *a = strtoll(text, &end, 10);
    if (end == text || *end != between) return false;
    const char *second = end + 1;
    *b = strtoll(second, &end, 10);
    return end != second && *end == '\0' && *a >= 0 && *a <= INT_MAX && *b >= 0 && *b <= INT_MAX;
}

static const char *add_slow(struct rs_sim_config *cfg, const char *value, bool cpu)
{
    int64_t rank, usec;
    if (!two_numbers(value, ':', &rank, &usec)) return "should be RANK:USEC";
    if (cfg->nslow == RS_SIM_MAX_SLOW) return "is one too many";
    cfg->slow[cfg->nslow++] = (struct rs_sim_slow){.rank = (int)rank, .usec = usec, .cpu = cpu};
    return NULL;
}

static const char *take_slow(void *to, const char *value)
{
    return add_slow(to, value, false);
}

static const char *take_slow_cpu(void *to, const char *value)
{
    return add_slow(to, value, true);
}

static const char *take_after(void *to, const char *value)
{
    struct rs_sim_slow *after = to;
    int64_t rank, usec;
    if (!two_numbers(value, ':', &rank, &usec)) return "should be RANK:USEC";
    *after = (struct rs_sim_slow){.rank = (int)rank, .usec = usec};
    return NULL;
}

static const char *take_at(void *to, const char *value)
{
    struct rs_sim_at *at = to;
    int64_t rank, step;
    if (!two_numbers(value, '@', &rank, &step)) return "should be RANK@STEP";
    *at = (struct rs_sim_at){.rank = (int)rank, .step = (int)step};
    return NULL;
}

static void print_result(const struct rs_sim_config *cfg, const struct rs_sim_result *res)
{
    printf("simulated %s: %d ranks in %d processes on %d host%s, %d steps, %.1f s, %" PRIu64 " callbacks",
           rs_sim_workload_names[cfg->workload], cfg->ranks, res->processes, res->hosts, res->hosts == 1 ? "" : "s",
           cfg->steps, (double)res->wall_ns / 1e9, res->callbacks);
    if (res->hung) printf("; rank %d stopped taking part at step %d", cfg->hang.rank, cfg->hang.step);
    if (res->killed && cfg->kill.rank >= 0) printf("; rank %d was killed at step %d", cfg->kill.rank, cfg->kill.step);
    if (res->killed && cfg->kill.rank < 0) printf("; rank %d was killed", cfg->kill_after.rank);
    if (res->aborted) printf("; rank %d gave up at step %d", cfg->abort.rank, cfg->abort.step);
    printf("\n");
}

/* The job runs on if its recording fails, as a real one does; here the user is warned. */
static int report_recording(const struct rs_command *self, const struct rs_sim_config *cfg,
                            const struct rs_sim_result *res, bool own_plugin)
{
    if (cfg->count_only) return RS_EXIT_FINE;
    if (res->plugin_version == 0) {
        printf("nothing was recorded: NCCL_PROFILER_PLUGIN is none\n");
        return RS_EXIT_FINE;
    }
    struct rs_dir files = {0};
    struct rs_err ignored;
    bool any = rs_dir_list(&files, cfg->dir, ".rsc", &ignored) == RS_OK && files.count != 0;
    rs_dir_free(&files);
    if (!any) {
        if (!own_plugin) return RS_EXIT_FINE; /* another one writes elsewhere, or nothing */
        rs_warn(self->name, "nothing was recorded in %s; see why with NCCL_DEBUG=WARN", cfg->dir);
        return RS_EXIT_FAILURE;
    }
    const char *next = res->hung || res->killed ? "hang" : "report";
    printf("the recording is in %s\nnext: ringscope %s %s\n", cfg->dir, next, cfg->dir);
    return RS_EXIT_FINE;
}

static int run(const struct rs_command *self, int argc, char **argv)
{
    struct rs_sim_config cfg;
    rs_sim_config_default(&cfg);
    char workloads[128];
    int64_t seed = (int64_t)cfg.seed;
    const struct rs_opt opts[] = {
        {RS_OPT_STRING, 'o', "output", &cfg.dir, "DIR", "folder for the recording"},
        {RS_OPT_WORD, 'w', "workload", &cfg.workload,
         rs_opt_words(workloads, sizeof workloads, rs_sim_workload_names, RS_SIM_WORKLOADS), "mix: all in turn (ddp)"},
        {RS_OPT_COUNT, 'n', "ranks", &cfg.ranks, "N", "ranks of the job (4)"},
        {RS_OPT_COUNT, 0, "hosts", &cfg.hosts, "N",
         "simulated hosts, with clocks of their own and a network between (1)"},
        {RS_OPT_COUNT, 0, "ranks-per-process", &cfg.ranks_per_process, "N",
         "ranks, each with its GPU, in one process (1)"},
        {RS_OPT_COUNT, 0, "steps", &cfg.steps, "N", "training steps (20)"},
        {RS_OPT_COUNT, 0, "channels", &cfg.channels, "N", "channels of a kernel (2)"},
        {RS_OPT_INT, 0, "bytes", &cfg.bytes, "N", "size of a bucket or message (25Mi)"},
        {RS_OPT_COUNT, 0, "net-steps", &cfg.net_steps, "N", "network transfers per operation and channel (8)"},
        {RS_OPT_EACH, 0, "slow", RS_EACH(take_slow, &cfg), "RANK:USEC",
         "a GPU that computes longer in each step; may be repeated"},
        {RS_OPT_EACH, 0, "slow-cpu", RS_EACH(take_slow_cpu, &cfg), "RANK:USEC",
         "a program that calls NCCL late; may be repeated"},
        {RS_OPT_EACH, 0, "hang", RS_EACH(take_at, &cfg.hang), "RANK@STEP",
         "a rank stops taking part; all end without cleaning up"},
        {RS_OPT_DOUBLE, 0, "hang-seconds", &cfg.hang_seconds, "S", "how long a hang lasts (2)"},
        {RS_OPT_EACH, 0, "kill", RS_EACH(take_at, &cfg.kill), "RANK@STEP",
         "a process is killed in an operation; the others give up"},
        {RS_OPT_EACH, 0, "kill-after", RS_EACH(take_after, &cfg.kill_after), "RANK:USEC",
         "a process is killed this long after the start of the job"},
        {RS_OPT_DOUBLE, 0, "notice-seconds", &cfg.notice_seconds, "S",
         "how long the others run on after a process died (1)"},
        {RS_OPT_EACH, 0, "abort", RS_EACH(take_at, &cfg.abort), "RANK@STEP",
         "a rank aborts its communicators; the others follow"},
        {RS_OPT_COUNT, 0, "api", &cfg.api, "1..7", "the simulated NCCL's version of the profiler interface (6)"},
        RS_EVENTS_OPTION(0, &cfg.events),
        RS_DETAIL_OPTION(&cfg.detail),
        {RS_OPT_WORD, 0, "net", &cfg.net, "none|ib|socket",
         "events of the network plugin, too, where the mask has them"},
        {RS_OPT_FLAG, 0, "ce", &cfg.ce, NULL, "collectives by copy engine where possible"},
        {RS_OPT_FLAG, 0, "pxn", &cfg.pxn, NULL, "sends to other hosts go through a neighbour process"},
        {RS_OPT_FLAG, 0, "no-destroy", &cfg.no_destroy, NULL, "programs exit without destroying communicators"},
        {RS_OPT_INT, 0, "seed", &seed, "N", "for clocks, hashes and spreads (1)"},
        {RS_OPT_DOUBLE, 0, "speed", &cfg.speed, "X", "divides compute and transfer times (1)"},
        {RS_OPT_STRING, 0, "plugin", &cfg.plugin, "FILE", "the plugin to load ($NCCL_PROFILER_PLUGIN, or ringscope's)"},
        {RS_OPT_STRING, 0, "truth", &cfg.truth, "FILE", "write what was really sent, as JSON lines"},
        {RS_OPT_FLAG, 0, "count-only", &cfg.count_only, NULL, "load no plugin, only count the calls"},
        {.kind = RS_OPT_END},
    };
    int noperands = 0;
    int status = rs_opt_parse(self, opts, argc, argv, &noperands);
    if (status >= 0) return status;
    if (noperands > 0) return rs_opt_usage(self, "unexpected operand '%s'", argv[1]);
    if (cfg.dir == NULL && !cfg.count_only) return rs_opt_usage(self, "-o DIR is needed");
    cfg.seed = (uint64_t)seed;

    struct rs_err err = {.code = RS_OK};
    char found[PATH_MAX];
    const char *preset = getenv("NCCL_PROFILER_PLUGIN");
    if (cfg.plugin == NULL && preset == NULL && !cfg.count_only) {
        if (rs_plugin_path(found, &err) != RS_OK) return rs_print_err(self->name, &err);
        cfg.plugin = found;
    }
    status = rs_event_sets_check(self, cfg.events);
    if (status < 0) status = rs_detail_check(self, cfg.detail);
    if (status >= 0) return status;
    if (cfg.count_only) cfg.dir = NULL;

    struct rs_sim_result res = {0};
    enum rs_status done = rs_sim_run(&cfg, &res, &err);
    if (done == RS_BAD_INPUT) return rs_opt_usage(self, "%s", err.msg);
    if (done != RS_OK) return rs_print_err(self->name, &err);
    print_result(&cfg, &res);
    return report_recording(self, &cfg, &res, cfg.plugin == found);
}

const struct rs_command rs_cmd_sim = {
    .name = "sim",
    .summary = "simulate a multi-process job with the real recorder, without a GPU",
    .usage = "[options] -o DIR",
    .text =
        "Starts real processes that load the profiler plugin as NCCL does and make the calls that NCCL makes, in real\n"
        "time: kernels and network steps take time and wait for their peers. For a first look at ringscope, and\n"
        "for tests of everything that reads recordings.",
    .lists = rs_event_sets_list,
    .examples = "ringscope sim -o run                                    # 4 ranks, data-parallel\n"
                "ringscope sim --ranks 8 --hosts 2 --slow 3:2000 -o run  # rank 3 computes 2 ms longer in each step\n"
                "ringscope sim --hosts 2 --hang 2@10 -o run              # rank 2 stops at step 10",
    .run = run,
};

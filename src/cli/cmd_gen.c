/* ringscope gen: options and messages of the generated run; the run itself is in src/gen. */
#include "base/file.h"
#include "cli/commands.h"
#include "cli/print/output.h"
#include "gen/gen.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* A number from 0 on at *text, which is moved behind it. */
static bool number(const char **text, int *value)
{
    char *end;
    long long v = strtoll(*text, &end, 10);
    if (end == *text || v < 0 || v > INT_MAX) return false;
    *text = end;
    *value = (int)v;
    return true;
}

static bool amount_at(const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    return end != text && !*end && *value >= 0;
}

static const char *take_detail(void *to, const char *value)
{
    struct rs_gen_config *c = to;
    return rs_setting_detail(value, &c->detail) ? NULL : "should be WINDOW:PERIOD, such as 200ms:10s";
}

static const char *take_amount(struct rs_gen_amount *list, int *n, const char *value, const char *form)
{
    struct rs_gen_amount a;
    if (!number(&value, &a.who) || *value++ != ':' || !amount_at(value, &a.value)) return form;
    if (*n == RS_GEN_MAX_EACH) return "is one too many";
    list[(*n)++] = a;
    return NULL;
}
static const char *take_slow(void *to, const char *value)
{
    struct rs_gen_config *c = to;
    return take_amount(c->slow, &c->nslow, value, "should be RANK:USEC");
}
static const char *take_slow_host(void *to, const char *value)
{
    struct rs_gen_config *c = to;
    return take_amount(c->slow_host, &c->nslow_host, value, "should be HOST:USEC");
}
static const char *take_slow_cpu(void *to, const char *value)
{
    struct rs_gen_config *c = to;
    return take_amount(c->slow_cpu, &c->nslow_cpu, value, "should be RANK:USEC");
}

static const char *take_slow_factor(void *to, const char *value)
{
    struct rs_gen_config *c = to;
    return take_amount(c->slow_factor, &c->nslow_factor, value, "should be RANK:FACTOR");
}
static const char *take_late_credit(void *to, const char *value)
{
    struct rs_gen_config *c = to;
    return take_amount(c->late_credit, &c->nlate_credit, value, "should be RANK:USEC");
}

static const char *take_sporadic(void *to, const char *value)
{
    struct rs_gen_config *c = to;
    struct rs_gen_sporadic s;
    char *end;
    if (!number(&value, &s.rank) || *value++ != ':') return "should be RANK:PART:USEC";
    s.part = strtod(value, &end);
    if (end == value || *end != ':' || !amount_at(end + 1, &s.us)) return "should be RANK:PART:USEC";
    if (c->nsporadic == RS_GEN_MAX_EACH) return "is one too many";
    c->sporadic[c->nsporadic++] = s;
    return NULL;
}

static const char *add_pause(struct rs_gen_config *c, const struct rs_gen_pause *pause)
{
    if (c->npauses == RS_GEN_MAX_EACH) return "is one too many";
    c->pauses[c->npauses++] = *pause;
    return NULL;
}
static const char *take_pause_of(void *to, const char *value, enum rs_gen_pause_kind kind, const char *form)
{
    struct rs_gen_pause q = {.kind = kind, .rank = -1};
    if (!strncmp(value, "all", 3))
        value += 3;
    else if (!number(&value, &q.rank))
        return form;
    if (*value++ != '@' || !number(&value, &q.step) || *value++ != ':' || !amount_at(value, &q.us)) return form;
    return add_pause(to, &q);
}
static const char *take_pause(void *to, const char *value)
{
    return take_pause_of(to, value, RS_GEN_PAUSE, "should be RANK@STEP:USEC or all@STEP:USEC");
}
static const char *take_profiler(void *to, const char *value)
{
    return take_pause_of(to, value, RS_GEN_PROFILER, "should be RANK@STEP:USEC or all@STEP:USEC");
}
static const char *take_checkpoint(void *to, const char *value)
{
    return take_pause_of(to, value, RS_GEN_CHECKPOINT, "should be RANK@STEPS:USEC or all@STEPS:USEC");
}
static const char *take_warm_up(void *to, const char *value)
{
    struct rs_gen_pause q = {.kind = RS_GEN_WARM_UP, .rank = -1};
    if (!number(&value, &q.step) || *value++ != ':' || !amount_at(value, &q.us)) return "should be STEPS:USEC";
    return add_pause(to, &q);
}

static const char *take_ring(void *to, const char *value)
{
    struct rs_gen_config *c = to;
    struct rs_gen_amount a = {.value = 64 << 10};
    int64_t bytes;
    if (!number(&value, &a.who) || (*value && *value != ':')) return "should be RANK or RANK:BYTES";
    if (*value) {
        if (!rs_opt_int(value + 1, &bytes) || bytes < 0) return "should be RANK or RANK:BYTES";
        a.value = (double)bytes;
    }
    if (c->nring == RS_GEN_MAX_EACH) return "is one too many";
    c->ring[c->nring++] = a;
    return NULL;
}

static const char *take_link(void *to, const char *value)
{
    struct rs_gen_config *c = to;
    struct rs_gen_link l;
    if (!number(&value, &l.a) || *value++ != '-' || !number(&value, &l.b) || *value++ != ':' ||
        !amount_at(value, &l.factor))
        return "should be RANK-RANK:FACTOR";
    if (c->nslow_link == RS_GEN_MAX_EACH) return "is one too many";
    c->slow_link[c->nslow_link++] = l;
    return NULL;
}

static const char *take_moment(struct rs_gen_moment *list, int *n, const char *value)
{
    struct rs_gen_moment m;
    if (!number(&value, &m.rank) || *value++ != '@' || !number(&value, &m.step) || *value) return "should be RANK@STEP";
    if (*n == RS_GEN_MAX_EACH) return "is one too many";
    list[(*n)++] = m;
    return NULL;
}
static const char *take_mismatch(void *to, const char *value)
{
    struct rs_gen_config *c = to;
    return take_moment(c->mismatch, &c->nmismatch, value);
}
static const char *take_late(void *to, const char *value)
{
    struct rs_gen_config *c = to;
    return take_moment(c->late, &c->nlate, value);
}

static const char *take_no_recording(void *to, const char *value)
{
    struct rs_gen_config *c = to;
    int rank;
    if (!number(&value, &rank) || *value) return "should be a rank";
    if (c->nno_recording == RS_GEN_MAX_EACH) return "is one too many";
    c->no_recording[c->nno_recording++] = rank;
    return NULL;
}

static const char *take_hang(void *to, const char *value)
{
    struct rs_gen_config *c = to;
    size_t word = strcspn(value, ":@");
    for (c->hang = 1; c->hang < RS_GEN_HANGS; c->hang++) {
        const char *name = rs_gen_hang_names[c->hang];
        if (strlen(name) == word && !strncmp(value, name, word)) break;
    }
    if (c->hang == RS_GEN_HANGS)
        return "is none of dead, not-joined, outside, mismatch, mismatch-func, stream-blocked, stalled-net, "
               "stalled-credit, stalled-gpu, deadlock, deadlock-sync";
    value += word;
    c->hang_at.rank = -1;
    if (*value == ':' && (value++, !number(&value, &c->hang_at.rank))) return "should be KIND[:RANK]@STEP";
    if (*value++ != '@' || !number(&value, &c->hang_at.step) || *value) return "should be KIND[:RANK]@STEP";
    return NULL;
}

/* The numbers that each shape of noise takes, in this order. */
static const struct {
    const char *form;
    bool part, steps; /* besides USEC */
} shapes[RS_GEN_SHAPES] = {
    [RS_GEN_GAUSS] = {"gauss takes USEC: gauss:20", false, false},
    [RS_GEN_FOLDED] = {"folded takes USEC: folded:20", false, false},
    [RS_GEN_TAILS] = {"tails takes PART:USEC: tails:0.01:100", true, false},
    [RS_GEN_SLICES] = {"slices takes PART:USEC: slices:0.05:4000", true, false},
    [RS_GEN_BURSTS] = {"bursts takes PART:USEC:STEPS: bursts:0.05:500:4", true, true},
    [RS_GEN_HOST] = {"host takes USEC: host:50", false, false},
};

static const char *take_noise(void *to, const char *value)
{
    struct rs_gen_config *c = to;
    struct rs_gen_variation v = {.shape = 0};
    size_t word = strcspn(value, ":");
    while (v.shape < RS_GEN_SHAPES &&
           (strlen(rs_gen_shape_names[v.shape]) != word || strncmp(value, rs_gen_shape_names[v.shape], word) != 0))
        v.shape++;
    if (v.shape == RS_GEN_SHAPES) return "is none of gauss, folded, tails, slices, bursts, host";
    value += word;
    double *const numbers[] = {shapes[v.shape].part ? &v.part : NULL, &v.us};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (!numbers[i]) continue;
        char *end;
        if (*value != ':') return shapes[v.shape].form;
        *numbers[i] = strtod(value + 1, &end);
        if (end == value + 1) return shapes[v.shape].form;
        value = end;
    }
    if (shapes[v.shape].steps && (*value++ != ':' || !number(&value, &v.steps))) return shapes[v.shape].form;
    if (*value) return shapes[v.shape].form;
    if (c->nnoise == RS_GEN_MAX_EACH) return "is one too many";
    c->noise[c->nnoise++] = v;
    return NULL;
}

/* ---- the folder ---- */

static const char *const suffixes[] = {".rsc", ".live", "truth.json", ".json"};

/* Of the other files with this ending only the dumps of a run are ours. */
static bool is_ours(const char *name, const char *suffix)
{
    return strcmp(suffix, ".json") != 0 || !strncmp(name, "gen_", 4);
}

/* Makes the folder; a run that is there already is removed, or refused. */
static enum rs_status prepare(const char *dir, bool force, struct rs_err *err)
{
    RS_TRY(rs_dir_make(dir, err));
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        struct rs_dir files = {0};
        RS_TRY(rs_dir_list(&files, dir, suffixes[i], err));
        enum rs_status status = RS_OK;
        for (size_t k = 0; status == RS_OK && k < files.count; k++) {
            char path[PATH_MAX];
            if (!is_ours(files.names[k], suffixes[i])) continue;
            if (!force) {
                status = rs_fail(err, RS_FAILED, "%s contains a run already; --force replaces it", dir);
                break;
            }
            snprintf(path, sizeof(path), "%s/%s", dir, files.names[k]);
            if (unlink(path)) status = rs_fail_errno(err, "cannot remove %s", path);
        }
        rs_dir_free(&files);
        RS_TRY(status);
    }
    return RS_OK;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void print_result(const struct rs_gen_config *cfg, const struct rs_gen_result *res, double seconds)
{
    printf("generated %s: %d ranks in %d process%s on %d host%s, %" PRId64 " steps, %" PRIu64 " operations, %" PRIu64
           " callbacks",
           rs_gen_workload_names[cfg->workload], cfg->ranks, res->processes, res->processes == 1 ? "" : "es",
           cfg->hosts, cfg->hosts == 1 ? "" : "s", res->steps, res->operations, res->callbacks);
    if (res->lost) printf(", %" PRIu64 " lost", res->lost);
    printf(", %.1f s of a job in %.2f s (%.1f M callbacks/s)\n", (double)res->length_ns / 1e9, seconds,
           seconds > 0 ? (double)(res->callbacks + res->lost) / seconds / 1e6 : 0);
    printf("next: ringscope %s %s\n", cfg->hang ? "hang" : "report", cfg->dir);
}

static int run(const struct rs_command *self, int argc, char **argv)
{
    struct rs_gen_config cfg;
    rs_gen_config_default(&cfg);
    char workloads[128], schedules[64];
    int64_t seed = (int64_t)cfg.seed;
    int as = 0, events = 1;
    bool force = false;
    const struct rs_opt opts[] = {
        {RS_OPT_STRING, 'o', "output", &cfg.dir, "DIR", "folder for the recordings and truth.json"},
        {RS_OPT_FLAG, 'f', "force", &force, NULL, "replace a run that is in the folder already"},
        {RS_OPT_WORD, 'w', "workload", &cfg.workload,
         rs_opt_words(workloads, sizeof workloads, rs_gen_workload_names, RS_GEN_WORKLOADS),
         "mix: the ones before it in turn (ddp)"},
        {RS_OPT_COUNT, 'n', "ranks", &cfg.ranks, "N", "ranks of the job (8)"},
        {RS_OPT_COUNT, 0, "hosts", &cfg.hosts, "N", "hosts, with clocks of their own and a network between (2)"},
        {RS_OPT_COUNT, 0, "devices-per-process", &cfg.devices_per_process, "N",
         "ranks, each with its GPU, in one process (1)"},
        {RS_OPT_INT, 0, "steps", &cfg.steps, "N", "training steps (20)"},
        {RS_OPT_INT, 0, "callbacks", &cfg.callbacks, "N", "as many steps as make about N callbacks"},
        {RS_OPT_COUNT, 0, "buckets", &cfg.buckets, "N", "all-reduces of a step: ddp, graph (4)"},
        {RS_OPT_COUNT, 0, "layers", &cfg.layers, "N",
         "layers, each with a tensor-parallel all-reduce: tpdp, tpppdp (4)"},
        {RS_OPT_COUNT, 0, "microbatches", &cfg.microbatches, "N", "micro-batches of a step: pipeline, tpppdp (4)"},
        {RS_OPT_COUNT, 0, "stages", &cfg.stages, "N", "stages: pipeline (up to 8), tpppdp (2)"},
        {RS_OPT_WORD, 0, "schedule", &cfg.schedule,
         rs_opt_words(schedules, sizeof schedules, rs_gen_schedule_names, RS_GEN_SCHEDULES),
         "order of micro-batches: pipeline, tpppdp (gpipe)"},
        {RS_OPT_COUNT, 0, "chunks", &cfg.chunks, "N", "chunks of layers on each stage: interleaved (2)"},
        {RS_OPT_COUNT, 0, "tensor", &cfg.tensor, "N", "ranks that share each layer: tpppdp (2)"},
        {RS_OPT_INT, 0, "eager", &cfg.eager, "BYTES", "sends up to this size do not wait for their receivers"},
        {RS_OPT_INT, 0, "bytes", &cfg.bytes, "N", "size of the largest bucket (8Mi)"},
        {RS_OPT_DOUBLE, 0, "compute", &cfg.compute_us, "USEC", "compute time of a step (2000)"},
        {RS_OPT_FLAG, 0, "overlap", &cfg.overlap, NULL, "gradients are reduced while later layers compute: ddp, tpdp"},
        {RS_OPT_FLAG, 0, "no-world", &cfg.no_world, NULL, "no communicator of all ranks: tpdp, tpppdp"},
        {RS_OPT_COUNT, 0, "channels", &cfg.channels, "N", "channels of a kernel (2)"},
        {RS_OPT_COUNT, 0, "net-steps", &cfg.net_steps, "N", "network transfers per proxy operation (4)"},
        {RS_OPT_WORD, 0, "as", &as, "ringscope|example",
         "example: dumps of NCCL's example profiler in place of recordings (ringscope)"},
        {RS_OPT_EACH, 0, "detail", RS_EACH(take_detail, &cfg), "WINDOW:PERIOD",
         "kernels and proxy events in windows only, e.g. 200ms:10s"},
        {RS_OPT_WORD, 0, "events", &events, "ops|net", "ops: without proxy events (net)"},
        {RS_OPT_COUNT, 0, "api", &cfg.api, "4..6", "version of the profiler interface (5)"},
        {RS_OPT_INT, 0, "seed", &seed, "N", "for everything random; the same gives the same bytes (1)"},
        {RS_OPT_DOUBLE, 0, "spread", &cfg.spread, "PART", "spread of compute times, one sigma (0.01)"},
        {RS_OPT_DOUBLE, 0, "host-part", &cfg.host_part, "PART",
         "time that a program takes to launch its compute, as part of it (0)"},
        {RS_OPT_EACH, 0, "noise", RS_EACH(take_noise, &cfg), "SHAPE:...",
         "further noise of compute times: see the man page for shapes; may be repeated"},
        {RS_OPT_DOUBLE, 0, "rank-noise", &cfg.rank_noise, "PART", "by which ranks differ in all steps, one sigma (0)"},
        {RS_OPT_DOUBLE, 0, "run-noise", &cfg.run_noise, "PART", "by which runs of other seeds differ, one sigma (0)"},
        {RS_OPT_DOUBLE, 0, "clock-offset", &cfg.clock_offset_ms, "MS", "most that a host's clock is off (500)"},
        {RS_OPT_DOUBLE, 0, "drift", &cfg.drift_ppm, "PPM", "most that a clock runs fast or slow (50)"},
        {RS_OPT_DOUBLE, 0, "wander", &cfg.wander_ppm, "PPM", "change of a clock's rate in a second, one sigma (0.05)"},
        {RS_OPT_DOUBLE, 0, "jitter", &cfg.jitter_us, "USEC", "spread of the ends of operations (2)"},
        {RS_OPT_DOUBLE, 0, "bias", &cfg.bias_us, "USEC", "most that a rank's ends are always early or late (2)"},
        {RS_OPT_DOUBLE, 0, "tails", &cfg.tails, "PART", "ends that are late by some 50 us (0.01)"},
        {RS_OPT_EACH, 0, "slow", RS_EACH(take_slow, &cfg), "RANK:USEC",
         "a GPU that computes longer in each step; may be repeated"},
        {RS_OPT_EACH, 0, "slow-factor", RS_EACH(take_slow_factor, &cfg), "RANK:FACTOR",
         "a GPU that computes everything slower; may be repeated"},
        {RS_OPT_EACH, 0, "slow-host", RS_EACH(take_slow_host, &cfg), "HOST:USEC",
         "all GPUs of a host; may be repeated"},
        {RS_OPT_EACH, 0, "slow-cpu", RS_EACH(take_slow_cpu, &cfg), "RANK:USEC",
         "a program that launches late; may be repeated"},
        {RS_OPT_EACH, 0, "slow-link", RS_EACH(take_link, &cfg), "A-B:FACTOR",
         "a slow link between two ranks; may be repeated"},
        {RS_OPT_EACH, 0, "late-credit", RS_EACH(take_late_credit, &cfg), "RANK:USEC",
         "a receiver that posts late in each operation over the network; may be repeated"},
        {RS_OPT_EACH, 0, "sporadic", RS_EACH(take_sporadic, &cfg), "RANK:PART:USEC",
         "a GPU that computes longer in a part of the steps; may be repeated"},
        {RS_OPT_EACH, 0, "warm-up", RS_EACH(take_warm_up, &cfg), "STEPS:USEC",
         "the first steps take longer: the first one by USEC, each further one by less"},
        {RS_OPT_EACH, 0, "pause", RS_EACH(take_pause, &cfg), "RANK|all@STEP:USEC",
         "a program, or all, stand still once; may be repeated"},
        {RS_OPT_EACH, 0, "profiler", RS_EACH(take_profiler, &cfg), "RANK|all@STEP:USEC",
         "the same: a profiler starts; may be repeated"},
        {RS_OPT_EACH, 0, "checkpoint", RS_EACH(take_checkpoint, &cfg), "RANK|all@STEPS:USEC",
         "a checkpoint is written every so many steps, by one rank or by all; may be repeated"},
        {RS_OPT_EACH, 0, "mismatch", RS_EACH(take_mismatch, &cfg), "RANK@STEP",
         "a rank gives another count once; may be repeated"},
        {RS_OPT_DOUBLE, 0, "drop", &cfg.drop, "PART", "part of the callbacks of half of the processes is lost"},
        {RS_OPT_EACH, 0, "late", RS_EACH(take_late, &cfg), "RANK@STEP",
         "recording begins at this step; may be repeated"},
        {RS_OPT_EACH, 0, "ring", RS_EACH(take_ring, &cfg), "RANK[:BYTES]",
         "only the latest chunks are kept; may be repeated"},
        {RS_OPT_EACH, 0, "no-recording", RS_EACH(take_no_recording, &cfg), "RANK",
         "no file of this rank's process; may be repeated"},
        {RS_OPT_EACH, 0, "hang", RS_EACH(take_hang, &cfg), "KIND[:RANK]@STEP",
         "the job hangs there: see the man page for kinds"},
        {RS_OPT_FLAG, 0, "replays-unreported", &cfg.replays_unreported, NULL, "replays are not reported: graph"},
        {RS_OPT_FLAG, 0, "truth-times", &cfg.truth_times, NULL, "starts and ends of all operations in truth.json"},
        {RS_OPT_FLAG, 0, "no-truth", &cfg.no_truth, NULL, "write no truth.json"},
        {.kind = RS_OPT_END},
    };
    int noperands = 0;
    int status = rs_opt_parse(self, opts, argc, argv, &noperands);
    if (status >= 0) return status;
    if (noperands > 0) return rs_opt_usage(self, "unexpected operand '%s'", argv[1]);
    if (cfg.dir == NULL) return rs_opt_usage(self, "-o DIR is needed");
    if (cfg.callbacks < 0) return rs_opt_usage(self, "--callbacks takes a number from 0 on");
    cfg.seed = (uint64_t)seed;
    cfg.dumps = as == 1;
    cfg.net = events == 1;

    struct rs_err err = {.code = RS_OK};
    struct rs_gen_result res = {0};
    if (prepare(cfg.dir, force, &err) != RS_OK) return rs_print_err(self->name, &err);
    double begin = now();
    enum rs_status done = rs_gen_run(&cfg, &res, &err);
    if (done == RS_BAD_INPUT) return rs_opt_usage(self, "%s", err.msg);
    if (done != RS_OK) return rs_print_err(self->name, &err);
    print_result(&cfg, &res, now() - begin);
    return RS_EXIT_FINE;
}

const struct rs_command rs_cmd_gen = {
    .name = "gen",
    .summary = "generate a synthetic run of any size, with known truth",
    .usage = "[options] -o DIR",
    .text =
        "Computes the timeline of a job and writes the recordings that its processes would have left, several million\n"
        "callbacks a second, with clocks, delays and losses like those of real jobs. What really happened is in\n"
        "truth.json beside them. For tests and benchmarks of everything that reads recordings.",
    .examples = "ringscope gen -o run                                     # 8 ranks on 2 hosts, data-parallel\n"
                "ringscope gen -w tpdp --ranks 64 --hosts 8 --slow 3:500 -o run   # rank 3 computes 0.5 ms longer\n"
                "ringscope gen --callbacks 100M --no-truth -o run         # a large one\n"
                "ringscope gen --as example -o run                        # as NCCL's example profiler writes it\n"
                "ringscope gen --hang stalled-net:3@10 -o run             # a network step that never ends",
    .run = run,
};

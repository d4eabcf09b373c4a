#include "gen/gen.h"

#include "gen/hang.h"
#include "gen/step.h"

void rs_gen_config_default(struct rs_gen_config *c)
{
    *c = (struct rs_gen_config){.workload = RS_GEN_DDP,
                                .ranks = 8,
                                .hosts = 2,
                                .devices_per_process = 1,
                                .steps = 20,
                                .channels = 2,
                                .net_steps = 4,
                                .api = 5,
                                .net = true,
                                .buckets = 4,
                                .layers = 4,
                                .microbatches = 4,
                                .tensor = 2,
                                .chunks = 2,
                                .eager = -1,
                                .bytes = 8 << 20,
                                .compute_us = 2000,
                                .seed = 1,
                                .spread = 0.01,
                                .clock_offset_ms = 500,
                                .drift_ppm = 50,
                                .wander_ppm = 0.05,
                                .jitter_us = 2,
                                .bias_us = 2,
                                .tails = 0.01,
                                .hang_at = {.rank = -1}};
}

/* ---- checks ---- */

static enum rs_status check_shape(const struct rs_gen_config *c, struct rs_err *err)
{
    if (c->ranks < 1 || c->ranks > RS_GEN_MAX_RANKS)
        return rs_fail(err, RS_BAD_INPUT, "the number of ranks must be 1 to %d", RS_GEN_MAX_RANKS);
    if (c->hosts < 1 || c->ranks % c->hosts)
        return rs_fail(err, RS_BAD_INPUT, "%d ranks cannot be divided evenly among %d hosts", c->ranks, c->hosts);
    if (c->devices_per_process < 1 || c->devices_per_process > 64 || c->ranks / c->hosts % c->devices_per_process)
        return rs_fail(err, RS_BAD_INPUT, "%d ranks of a host cannot be split into processes of %d (at most 64)",
                       c->ranks / c->hosts, c->devices_per_process);
    if (c->channels < 1 || c->channels > RS_GEN_MAX_CHANNELS)
        return rs_fail(err, RS_BAD_INPUT, "the number of channels must be 1 to %d", RS_GEN_MAX_CHANNELS);
    if (c->net_steps < 1 || c->net_steps > RS_GEN_MAX_NET_STEPS)
        return rs_fail(err, RS_BAD_INPUT, "the number of network steps must be 1 to %d", RS_GEN_MAX_NET_STEPS);
    if (c->api < 4 || c->api > 6) return rs_fail(err, RS_BAD_INPUT, "the API version must be 4 to 6");
    if (c->steps < 1) return rs_fail(err, RS_BAD_INPUT, "at least one step is needed");
    if (c->dumps && (c->api != 5 || c->drop > 0 || c->nring || c->hang != RS_GEN_NO_HANG))
        return rs_fail(err, RS_BAD_INPUT,
                       "dumps of the example profiler are of version 5 and of complete jobs: without --drop, --ring, "
                       "--hang and --api");
    if (c->buckets < 1 || c->layers < 1 || c->microbatches < 1 || c->buckets > 1000000 || c->layers > 1000000 ||
        c->microbatches > 1000000)
        return rs_fail(err, RS_BAD_INPUT, "buckets, layers and micro-batches must be 1 to 1000000");
    if (c->bytes < 64 || c->bytes > (int64_t)1 << 40)
        return rs_fail(err, RS_BAD_INPUT, "the size of a bucket must be 64 bytes to 1 TiB");
    const double numbers[] = {c->compute_us, c->clock_offset_ms, c->drift_ppm,  c->wander_ppm,
                              c->jitter_us,  c->bias_us,         c->tails,      c->drop,
                              c->spread,     c->run_noise,       c->rank_noise, c->host_part};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!(numbers[i] >= 0 && numbers[i] <= 1e9))
            return rs_fail(err, RS_BAD_INPUT, "times and spreads must be 0 to 1e9");
    if (c->drift_ppm > 1e5 || c->wander_ppm > 1000)
        return rs_fail(err, RS_BAD_INPUT, "the drift of clocks must be at most 100000 ppm, their wander at most 1000");
    if (c->tails > 1 || c->drop > 0.9) return rs_fail(err, RS_BAD_INPUT, "--tails is 0 to 1, --drop 0 to 0.9");
    bool graph = c->workload == RS_GEN_GRAPH || c->workload == RS_GEN_MIX;
    if (graph && c->api < 5) return rs_fail(err, RS_BAD_INPUT, "captured graphs need version 5 or newer");
    if (graph && c->nlate) return rs_fail(err, RS_BAD_INPUT, "--late is not for captured graphs");
    if (c->detail.period_ns && (graph || c->dumps || c->hang))
        return rs_fail(err, RS_BAD_INPUT, "--detail is not for captured graphs, dumps and hangs");
    if (c->no_world && c->workload != RS_GEN_TPDP && c->workload != RS_GEN_TPPPDP)
        return rs_fail(err, RS_BAD_INPUT, "--no-world is for the workloads tpdp and tpppdp: the others need it");
    if (c->overlap && c->workload != RS_GEN_DDP && c->workload != RS_GEN_TPDP)
        return rs_fail(err, RS_BAD_INPUT, "--overlap is for the workloads ddp and tpdp");
    if (c->replays_unreported && c->workload != RS_GEN_GRAPH)
        return rs_fail(err, RS_BAD_INPUT, "--replays-unreported is for the workload graph");
    if (c->replays_unreported && c->callbacks)
        return rs_fail(err, RS_BAD_INPUT, "--callbacks cannot be reached when nothing is reported: use --steps");
    return RS_OK;
}

/* Checks the stages of pipelines, and chooses their number if none was given. */
static enum rs_status check_pipeline(struct rs_gen_config *c, struct rs_err *err)
{
    bool deep = c->workload == RS_GEN_TPPPDP, any = deep || c->workload == RS_GEN_PIPELINE || c->workload == RS_GEN_MIX;
    if (!any) {
        if (c->stages || c->schedule != RS_GEN_GPIPE)
            return rs_fail(err, RS_BAD_INPUT, "--stages and --schedule are for the workloads pipeline, mix and tpppdp");
        c->stages = 1;
        return RS_OK;
    }
    int tensor = deep ? c->tensor : 1;
    if (!c->stages) {
        c->stages = deep ? 2 : c->ranks < 8 ? c->ranks : 8;
        while (!deep && c->ranks % c->stages) c->stages--;
    }
    if (c->stages < 1 || tensor < 1 || c->ranks % c->stages || c->ranks / c->stages % tensor)
        return rs_fail(err, RS_BAD_INPUT, "%d ranks cannot be divided into %d stages of groups of %d", c->ranks,
                       c->stages, tensor);
    if (c->schedule != RS_GEN_INTERLEAVED) return RS_OK;
    if (c->stages < 2 || c->chunks < 1 || c->chunks > 1000)
        return rs_fail(err, RS_BAD_INPUT, "an interleaved schedule needs 2 or more stages, and 1 to 1000 chunks");
    if (c->microbatches % c->stages)
        return rs_fail(err, RS_BAD_INPUT,
                       "an interleaved schedule needs a multiple of %d micro-batches (--microbatches)", c->stages);
    return RS_OK;
}

static enum rs_status check_noise(const struct rs_gen_config *c, struct rs_err *err)
{
    if (c->spread > 1 || c->run_noise > 0.2 || c->rank_noise > 0.2)
        return rs_fail(err, RS_BAD_INPUT, "--spread is 0 to 1, --run-noise and --rank-noise 0 to 0.2");
    for (int i = 0; i < c->nnoise; i++) {
        const struct rs_gen_variation *v = &c->noise[i];
        if (!(v->us >= 0 && v->us <= 1e9 && v->part >= 0 && v->part <= 1) || v->steps < 0)
            return rs_fail(err, RS_BAD_INPUT, "noise is 0 to 1e9 us, in a part of 0 to 1");
        if (v->shape == RS_GEN_BURSTS && v->steps < 1)
            return rs_fail(err, RS_BAD_INPUT, "bursts last one step or more");
    }
    return RS_OK;
}

static enum rs_status check_rank(int rank, const struct rs_gen_config *c, struct rs_err *err)
{
    if (rank >= 0 && rank < c->ranks) return RS_OK;
    return rs_fail(err, RS_BAD_INPUT, "there is no rank %d: ranks are 0 to %d", rank, c->ranks - 1);
}

static enum rs_status check_disturbances(const struct rs_gen_config *c, struct rs_err *err)
{
    for (int i = 0; i < c->nslow; i++) RS_TRY(check_rank(c->slow[i].who, c, err));
    for (int i = 0; i < c->nslow_cpu; i++) RS_TRY(check_rank(c->slow_cpu[i].who, c, err));
    for (int i = 0; i < c->nslow_factor; i++) {
        RS_TRY(check_rank(c->slow_factor[i].who, c, err));
        if (!(c->slow_factor[i].value >= 1 && c->slow_factor[i].value <= 1000))
            return rs_fail(err, RS_BAD_INPUT, "the factor of a slow GPU is 1 to 1000");
    }
    for (int i = 0; i < c->nlate_credit; i++) RS_TRY(check_rank(c->late_credit[i].who, c, err));
    for (int i = 0; i < c->nsporadic; i++) {
        RS_TRY(check_rank(c->sporadic[i].rank, c, err));
        if (!(c->sporadic[i].part >= 0 && c->sporadic[i].part <= 1))
            return rs_fail(err, RS_BAD_INPUT, "a rank is late in a part of its steps, 0 to 1");
    }
    for (int i = 0; i < c->npauses; i++) {
        if (c->pauses[i].rank >= 0) RS_TRY(check_rank(c->pauses[i].rank, c, err));
        if (c->pauses[i].step < 1 && c->pauses[i].kind == RS_GEN_CHECKPOINT)
            return rs_fail(err, RS_BAD_INPUT, "checkpoints are written every 1 or more steps");
    }
    for (int i = 0; i < c->nmismatch; i++) RS_TRY(check_rank(c->mismatch[i].rank, c, err));
    for (int i = 0; i < c->nlate; i++) RS_TRY(check_rank(c->late[i].rank, c, err));
    for (int i = 0; i < c->nno_recording; i++) RS_TRY(check_rank(c->no_recording[i], c, err));
    for (int i = 0; i < c->nslow_host; i++)
        if (c->slow_host[i].who < 0 || c->slow_host[i].who >= c->hosts)
            return rs_fail(err, RS_BAD_INPUT, "there is no host %d: hosts are 0 to %d", c->slow_host[i].who,
                           c->hosts - 1);
    for (int i = 0; i < c->nslow_link; i++) {
        RS_TRY(check_rank(c->slow_link[i].a, c, err));
        RS_TRY(check_rank(c->slow_link[i].b, c, err));
        if (!(c->slow_link[i].factor >= 1)) return rs_fail(err, RS_BAD_INPUT, "the factor of a slow link is 1 or more");
    }
    for (int i = 0; i < c->nring; i++) {
        RS_TRY(check_rank(c->ring[i].who, c, err));
        if (!(c->ring[i].value >= 4096)) return rs_fail(err, RS_BAD_INPUT, "a ring has at least 4096 bytes");
    }
    return RS_OK;
}

/* Checks the hang, and chooses its rank if none was given. */
static enum rs_status check_hang(struct rs_gen_config *c, struct rs_err *err)
{
    enum rs_gen_hang h = c->hang;
    int per_host = c->ranks / c->hosts;
    bool stall = h == RS_GEN_STALLED_NET || h == RS_GEN_STALLED_CREDIT || h == RS_GEN_STALLED_GPU;
    if (h == RS_GEN_NO_HANG) return RS_OK;
    if (c->hang_at.step < 0 || (!c->callbacks && c->hang_at.step >= c->steps))
        return rs_fail(err, RS_BAD_INPUT, "there is no step %d: steps are 0 to %lld", c->hang_at.step,
                       (long long)c->steps - 1);
    if (c->hang_at.rank < 0) c->hang_at.rank = stall ? per_host - 1 : c->ranks / 2;
    RS_TRY(check_rank(c->hang_at.rank, c, err));
    if (c->ranks < 2 && h != RS_GEN_OUTSIDE) return rs_fail(err, RS_BAD_INPUT, "a hang needs a second rank that waits");
    if (stall && (c->hosts < 2 || !c->net))
        return rs_fail(err, RS_BAD_INPUT, "a stalled step needs two hosts, and --events net");
    /* There each rank has a ring over hosts. */
    bool tpdp = c->workload == RS_GEN_TPDP || c->workload == RS_GEN_MIX || c->workload == RS_GEN_TPPPDP;
    if (stall && !tpdp && c->hang_at.rank % per_host != per_host - 1)
        return rs_fail(err, RS_BAD_INPUT,
                       "rank %d sends to its own host; the last rank of each host (%d, ...) to the next",
                       c->hang_at.rank, per_host - 1);
    bool deadlock = h == RS_GEN_DEADLOCK || h == RS_GEN_DEADLOCK_SYNC;
    if (deadlock && (c->no_world || c->devices_per_process > 1))
        return rs_fail(err, RS_BAD_INPUT, "a deadlock needs a world communicator, and one device per process");
    if (c->replays_unreported && h != RS_GEN_OUTSIDE)
        return rs_fail(err, RS_BAD_INPUT, "a hang cannot be seen in replays that are not reported");
    return RS_OK;
}

/* ---- the run ---- */

static int64_t latest(const struct rs_gen_job *j)
{
    int64_t t = 0;
    for (int r = 0; r < j->cfg->ranks; r++) {
        if (j->ranks[r].gpu_free > t) t = j->ranks[r].gpu_free;
        for (int s = RS_GEN_MAIN + 1; s < RS_GEN_STREAMS; s++)
            if (j->ranks[r].side_free[s] > t) t = j->ranks[r].side_free[s];
    }
    for (int i = 0; i < j->nprocs; i++)
        if (j->procs[i].cpu > t) t = j->procs[i].cpu;
    return t;
}

static void play(struct rs_gen_job *j)
{
    const struct rs_gen_config *c = j->cfg;
    struct rs_gen_programs programs = {0};
    uint64_t lost;
    for (;; j->step++) {
        bool over =
            c->callbacks ? rs_gen_job_callbacks(j, &lost) + lost >= (uint64_t)c->callbacks : j->step >= c->steps;
        if (c->hang != RS_GEN_NO_HANG)
            over = j->step > c->hang_at.step + 8; /* the workload has no suitable operation */
        if (over || j->disk.err.code != RS_OK) break;
        rs_gen_step(j, &programs);
        if (rs_gen_hang_step(j)) {
            j->step++;
            break;
        }
    }
    rs_gen_programs_free(&programs);
}

static enum rs_status run(struct rs_gen_job *j, struct rs_gen_result *res, struct rs_err *err)
{
    const struct rs_gen_config *c = j->cfg;
    if (!c->no_truth) RS_TRY(rs_gen_truth_open(&j->truth, j, err));
    for (int r = 0; r < c->ranks; r++) j->ranks[r].proxy.truth = j->truth;
    play(j);
    int64_t end = latest(j);
    rs_gen_job_close(j, end);
    if (j->disk.err.code != RS_OK) return *err = j->disk.err, err->code;
    if (c->hang != RS_GEN_NO_HANG && c->hang != RS_GEN_OUTSIDE && !j->hung)
        return rs_fail(err, RS_BAD_INPUT, "rank %d has no operation in which this hang can happen", c->hang_at.rank);
    RS_TRY(rs_gen_truth_close(j->truth, j, end, err));
    *res = (struct rs_gen_result){.steps = j->step, .operations = j->ops, .length_ns = end};
    for (int i = 0; i < j->nprocs; i++) res->processes += j->procs[i].recorded;
    res->callbacks = rs_gen_job_callbacks(j, &res->lost);
    return RS_OK;
}

enum rs_status rs_gen_run(const struct rs_gen_config *config, struct rs_gen_result *res, struct rs_err *err)
{
    struct rs_gen_config cfg = *config;
    RS_TRY(check_shape(&cfg, err));
    RS_TRY(check_pipeline(&cfg, err));
    RS_TRY(check_noise(&cfg, err));
    RS_TRY(check_disturbances(&cfg, err));
    RS_TRY(check_hang(&cfg, err));
    struct rs_gen_job job;
    enum rs_status status = rs_gen_job_init(&job, &cfg, err);
    if (status == RS_OK) status = run(&job, res, err);
    rs_gen_truth_free(job.truth);
    rs_gen_job_free(&job);
    return status;
}

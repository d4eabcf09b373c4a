#include "gen/gen.h"

#include <stdlib.h>

#include "base/memory.h"
#include "gen/hang.h"
#include "gen/op.h"

/* ---- steps of the workloads ---- */

enum { GEN_MAX_CAPTURED = 16 };

/* The captured operations, kept between steps. Freed by gen_workload_free(). */
struct gen_programs {
    struct rs_gen_capture captured[GEN_MAX_CAPTURED];
    int ncaptured;
};

const char *const rs_gen_workload_names[RS_GEN_WORKLOADS] = {"ddp", "tpdp", "pipeline", "alltoall", "graph", "mix"};

enum { TINY = 4096, KEY_TOKENS = 0x300 };

/* Every rank computes a part of its step before its next operation, each a little differently. */
static void compute(struct rs_gen_job *j, int rank, double part)
{
    struct rs_gen_rank *r = &j->ranks[rank];
    struct rs_gen_rng rng = rs_gen_noise(j, rank, RS_GEN_FOR_COMPUTE);
    double spread = 1 + 0.01 * rs_gen_normal(&rng);
    r->compute += (int64_t)(j->cfg->compute_us * 1e3 * part * (spread > 0.5 ? spread : 0.5));
}

static void compute_all(struct rs_gen_job *j, double part)
{
    for (int r = 0; r < j->cfg->ranks; r++) compute(j, r, part);
}

/* Sizes of buckets: the largest first, a tiny one last. */
static uint64_t bucket_bytes(const struct rs_gen_config *c, int i)
{
    if (i == c->buckets - 1 && i) return TINY;
    uint64_t bytes = (uint64_t)c->bytes >> (i % 4);
    return bytes > TINY ? bytes : TINY;
}

static void ddp(struct rs_gen_job *j)
{
    const struct rs_gen_config *c = j->cfg;
    compute_all(j, 0.4);
    for (int b = 0; b < c->buckets; b++) {
        compute_all(j, 0.6 / c->buckets);
        rs_gen_op_coll(j, j->world, RS_GEN_ALLREDUCE, bucket_bytes(c, b), 0, (uint32_t)b);
    }
}

static void tpdp(struct rs_gen_job *j)
{
    const struct rs_gen_config *c = j->cfg;
    int per_host = c->ranks / c->hosts;
    for (int l = 0; l < c->layers; l++) {
        compute_all(j, 0.9 / c->layers);
        for (int h = 0; h < c->hosts; h++)
            rs_gen_op_coll(j, j->tp + h, RS_GEN_ALLREDUCE, (uint64_t)c->bytes / 4, 0, (uint32_t)l);
    }
    compute_all(j, 0.1);
    for (int l = 0; l < per_host; l++) rs_gen_op_coll(j, j->dp + l, RS_GEN_REDUCESCATTER, (uint64_t)c->bytes, 0, 20);
    for (int l = 0; l < per_host; l++) rs_gen_op_coll(j, j->dp + l, RS_GEN_ALLGATHER, (uint64_t)c->bytes, 0, 21);
    for (int l = 0; l < per_host; l++) rs_gen_op_coll(j, j->dp + l, RS_GEN_ALLREDUCE, TINY, 0, 22);
    if (j->world >= 0) rs_gen_op_coll(j, j->world, RS_GEN_ALLREDUCE, TINY, 0, 23);
}

/* One boundary between stages, in all lanes side by side. */
static void hop(struct rs_gen_job *j, struct rs_gen_pair *pairs, int lanes, int from, int to)
{
    for (int l = 0; l < lanes; l++) {
        int src = from * lanes + l, dst = to * lanes + l;
        pairs[l] = (struct rs_gen_pair){.src = src, .dst = dst, .bytes = (uint64_t)j->cfg->bytes / 8};
    }
    rs_gen_op_pairs(j, j->world, pairs, lanes, 1, false);
}

/* Stages of neighbouring ranks: at most 8, each `lanes` wide. Micro-batches go forward, then back. */
static void pipeline(struct rs_gen_job *j)
{
    const struct rs_gen_config *c = j->cfg;
    int stages = c->ranks < 8 ? c->ranks : 8;
    while (c->ranks % stages) stages--;
    int lanes = c->ranks / stages;
    struct rs_gen_pair *pairs = rs_zalloc((size_t)lanes, sizeof *pairs);
    double part = 0.5 / c->microbatches;
    if (j->step % 4 == 0 && c->api != 6) /* 2.29 to 2.30 report only the API call of broadcasts */
        rs_gen_op_coll(j, j->world, RS_GEN_BROADCAST, (uint64_t)c->bytes / 16, 0, 30);
    for (int b = 0; b < c->microbatches; b++)
        for (int s = 0; s < stages; s++) {
            for (int l = 0; l < lanes; l++) compute(j, s * lanes + l, part);
            if (s + 1 < stages) hop(j, pairs, lanes, s, s + 1);
        }
    for (int b = 0; b < c->microbatches; b++)
        for (int s = stages - 1; s >= 0; s--) {
            for (int l = 0; l < lanes; l++) compute(j, s * lanes + l, part);
            if (s > 0) hop(j, pairs, lanes, s, s - 1);
        }
    rs_gen_op_coll(j, j->world, RS_GEN_ALLREDUCE, (uint64_t)c->bytes / 2, 0, 0);
    rs_gen_op_coll(j, j->world, RS_GEN_ALLREDUCE, TINY, 0, 31);
    free(pairs);
}

static void alltoall(struct rs_gen_job *j)
{
    const struct rs_gen_config *c = j->cfg;
    int n = c->ranks, npairs = 0;
    struct rs_gen_pair *pairs = rs_zalloc((size_t)n * (size_t)n, sizeof *pairs);
    uint64_t each = ((uint64_t)c->bytes / 4 / (uint64_t)n) & ~UINT64_C(1);
    if (each < 2) each = 2;
    compute_all(j, 0.4);
    for (int s = 0; s < n; s++)
        for (int d = 0; d < n; d++) pairs[npairs++] = (struct rs_gen_pair){s, d, each};
    rs_gen_op_pairs(j, j->world, pairs, npairs, 1, true);
    /* Tokens of experts: uneven, and some pairs exchange nothing. */
    compute_all(j, 0.4);
    npairs = 0;
    struct rs_gen_rng rng = {rs_gen_hash(c->seed, KEY_TOKENS, (uint64_t)j->step)};
    for (int s = 0; s < n; s++)
        for (int d = 0; d < n; d++) {
            uint64_t x = rs_gen_next(&rng);
            if (s == d || (n > 2 && x % 5 == 0)) continue;
            pairs[npairs++] = (struct rs_gen_pair){s, d, (each / 4 + (x >> 8) % each + 2) & ~UINT64_C(1)};
        }
    rs_gen_op_pairs(j, j->world, pairs, npairs, 2, true);
    compute_all(j, 0.2);
    rs_gen_op_coll(j, j->world, RS_GEN_ALLREDUCE, (uint64_t)c->bytes / 2, 0, 0);
    free(pairs);
}

static void graph(struct rs_gen_job *j, struct gen_programs *p)
{
    const struct rs_gen_config *c = j->cfg;
    int want = c->buckets < GEN_MAX_CAPTURED ? c->buckets : GEN_MAX_CAPTURED;
    if (c->ranks < 2) return; /* NCCL does not report collectives of one rank */
    if (!p->ncaptured) {
        rs_gen_op_coll(j, j->world, RS_GEN_ALLREDUCE, TINY, 0, 40); /* warming up, not captured */
        for (; p->ncaptured < want; p->ncaptured++)
            rs_gen_op_capture(j, j->world, bucket_bytes(c, p->ncaptured), (uint32_t)p->ncaptured,
                              &p->captured[p->ncaptured]);
    }
    for (int i = 0; i < p->ncaptured; i++) {
        compute_all(j, 1.0 / p->ncaptured);
        rs_gen_op_replay(j, &p->captured[i]);
    }
}

/* Programs read their loss at the end of a step: the thread waits for its GPUs. */
static void begin_step(struct rs_gen_job *j)
{
    const struct rs_gen_config *c = j->cfg;
    rs_gen_job_noise(j);
    for (int r = 0; r < c->ranks; r++) {
        struct rs_gen_rank *k = &j->ranks[r];
        struct rs_gen_process *p = &j->procs[k->process];
        if (p->cpu < k->gpu_free) p->cpu = k->gpu_free;
        k->compute += (int64_t)k->slow_ns;
        k->late_call = (int64_t)k->slow_cpu_ns;
    }
    for (int i = 0; i < j->nprocs; i++) {
        struct rs_gen_process *p = &j->procs[i];
        if (!p->late_step || p->late_step != j->step || !p->recorded) continue;
        rs_gen_job_ask(j, p, p->cpu);
    }
}

/* Generates step job->step on all ranks. */
static void gen_workload_step(struct rs_gen_job *j, struct gen_programs *p)
{
    enum rs_gen_workload w = j->cfg->workload;
    if (w == RS_GEN_MIX) w = (enum rs_gen_workload)(j->step % RS_GEN_MIX);
    begin_step(j);
    switch (w) {
    case RS_GEN_DDP: ddp(j); break;
    case RS_GEN_TPDP: tpdp(j); break;
    case RS_GEN_PIPELINE: pipeline(j); break;
    case RS_GEN_ALLTOALL: alltoall(j); break;
    default: graph(j, p); break;
    }
}

static void gen_workload_free(struct gen_programs *p)
{
    for (int i = 0; i < p->ncaptured; i++) free(p->captured[i].api);
    *p = (struct gen_programs){0};
}

/* ---- the job ---- */

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
                                .bytes = 8 << 20,
                                .compute_us = 2000,
                                .seed = 1,
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
    const double numbers[] = {c->compute_us, c->clock_offset_ms, c->drift_ppm, c->wander_ppm,
                              c->jitter_us,  c->bias_us,         c->tails,     c->drop};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!(numbers[i] >= 0 && numbers[i] <= 1e9))
            return rs_fail(err, RS_BAD_INPUT, "times and spreads must be 0 to 1e9");
    if (c->drift_ppm > 1e5 || c->wander_ppm > 1000)
        return rs_fail(err, RS_BAD_INPUT, "the drift of clocks must be at most 100000 ppm, their wander at most 1000");
    if (c->tails > 1 || c->drop > 0.9) return rs_fail(err, RS_BAD_INPUT, "--tails is 0 to 1, --drop 0 to 0.9");
    bool graph = c->workload == RS_GEN_GRAPH || c->workload == RS_GEN_MIX;
    if (graph && c->api < 5) return rs_fail(err, RS_BAD_INPUT, "captured graphs need version 5 or newer");
    if (graph && c->nlate) return rs_fail(err, RS_BAD_INPUT, "--late is not for captured graphs");
    if (c->no_world && c->workload != RS_GEN_TPDP)
        return rs_fail(err, RS_BAD_INPUT, "--no-world is for the workload tpdp: the others need it");
    if (c->replays_unreported && c->workload != RS_GEN_GRAPH)
        return rs_fail(err, RS_BAD_INPUT, "--replays-unreported is for the workload graph");
    if (c->replays_unreported && c->callbacks)
        return rs_fail(err, RS_BAD_INPUT, "--callbacks cannot be reached when nothing is reported: use --steps");
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
    bool tpdp = c->workload == RS_GEN_TPDP || c->workload == RS_GEN_MIX; /* there each rank has a ring over hosts */
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
    for (int r = 0; r < j->cfg->ranks; r++)
        if (j->ranks[r].gpu_free > t) t = j->ranks[r].gpu_free;
    for (int i = 0; i < j->nprocs; i++)
        if (j->procs[i].cpu > t) t = j->procs[i].cpu;
    return t;
}

static void play(struct rs_gen_job *j)
{
    const struct rs_gen_config *c = j->cfg;
    struct gen_programs programs = {0};
    uint64_t lost;
    for (;; j->step++) {
        bool over =
            c->callbacks ? rs_gen_job_callbacks(j, &lost) + lost >= (uint64_t)c->callbacks : j->step >= c->steps;
        if (c->hang != RS_GEN_NO_HANG)
            over = j->step > c->hang_at.step + 8; /* the workload has no suitable operation */
        if (over || j->disk.err.code != RS_OK) break;
        gen_workload_step(j, &programs);
        if (rs_gen_hang_step(j)) {
            j->step++;
            break;
        }
    }
    gen_workload_free(&programs);
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
    RS_TRY(check_disturbances(&cfg, err));
    RS_TRY(check_hang(&cfg, err));
    struct rs_gen_job job;
    enum rs_status status = rs_gen_job_init(&job, &cfg, err);
    if (status == RS_OK) status = run(&job, res, err);
    rs_gen_truth_free(job.truth);
    rs_gen_job_free(&job);
    return status;
}

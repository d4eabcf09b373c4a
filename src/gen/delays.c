/* What delays a rank in a step besides its operations: see step.h. */
#include <math.h>

#include "gen/step.h"

enum { KEY_BURST = 0x400, KEY_SPORADIC = 0x500, KEY_LAUNCHING };

const char *const rs_gen_shape_names[RS_GEN_SHAPES] = {"gauss", "folded", "tails", "slices", "bursts", "host"};

/* ---- compute ---- */

/* Heavy tails: Pareto of shape 1.5 (a finite mean, no finite variance) above 1, cut off at 100. */
static double heavy(struct rs_gen_rng *rng)
{
    double x = pow(1 - rs_gen_unit(rng), -1 / 1.5);
    return x < 100 ? x : 100;
}

/* Whether a burst of this rank is on: its steps are divided into runs of v->steps, of which a part are bursts. */
static bool in_burst(const struct rs_gen_job *j, int rank, const struct rs_gen_variation *v)
{
    uint64_t key = rs_gen_hash(j->cfg->seed, KEY_BURST + (uint64_t)(v - j->cfg->noise), (uint64_t)rank);
    uint64_t run = ((uint64_t)j->step + key % (uint64_t)v->steps) / (uint64_t)v->steps;
    struct rs_gen_rng rng = {rs_gen_hash(key, run, 0)};
    return rs_gen_unit(&rng) < v->part;
}

/* What one shape of noise adds to the n-th stretch of a rank's compute in this step, in us. */
static double vary(struct rs_gen_job *j, int rank, uint32_t n, const struct rs_gen_variation *v, struct rs_gen_rng *rng)
{
    switch (v->shape) {
    case RS_GEN_GAUSS: return v->us * rs_gen_normal(rng);
    case RS_GEN_FOLDED: return v->us * fabs(rs_gen_normal(rng));
    case RS_GEN_TAILS: return rs_gen_unit(rng) < v->part ? v->us * heavy(rng) : 0;
    case RS_GEN_SLICES: return rs_gen_unit(rng) < v->part ? v->us : 0;
    case RS_GEN_BURSTS: return !n && in_burst(j, rank, v) ? v->us : 0;
    default: break;
    }
    /* The same for all ranks of a host. */
    uint64_t host =
        rs_gen_hash(j->cfg->seed, KEY_BURST + (uint64_t)(v - j->cfg->noise), ~(uint64_t)j->ranks[rank].host);
    struct rs_gen_rng shared = {rs_gen_hash(host, (uint64_t)j->step, n)};
    return v->us * rs_gen_normal(&shared);
}

void rs_gen_compute(struct rs_gen_job *j, int rank, double part_of_step)
{
    const struct rs_gen_config *c = j->cfg;
    struct rs_gen_rank *r = &j->ranks[rank];
    uint32_t n = r->drawn[RS_GEN_FOR_COMPUTE];
    struct rs_gen_rng rng = rs_gen_noise(j, rank, RS_GEN_FOR_COMPUTE);
    double spread = 1 + c->spread * rs_gen_normal(&rng);
    double us = c->compute_us * part_of_step * r->pace * (spread > 0.5 ? spread : 0.5);
    for (int i = 0; i < c->nnoise; i++) us += vary(j, rank, n, &c->noise[i], &rng);
    if (us > 0) r->compute += (int64_t)(us * 1e3);
    if (c->host_part > 0) { /* whatever the GPU takes: a slow GPU does not slow its program down */
        struct rs_gen_rng host = {rs_gen_hash(r->noise, KEY_LAUNCHING, n)};
        double part = c->host_part * (1 + c->spread * rs_gen_normal(&host));
        j->procs[r->process].cpu += (int64_t)(c->compute_us * part_of_step * (part > 0 ? part : 0) * 1e3);
    }
}

void rs_gen_compute_all(struct rs_gen_job *j, double part_of_step)
{
    for (int r = 0; r < j->cfg->ranks; r++) rs_gen_compute(j, r, part_of_step);
}

/* ---- pauses ---- */

const char *const rs_gen_pause_names[RS_GEN_PAUSE_KINDS] = {"pause", "profiler", "checkpoint", "warm-up"};

/* How long this pause is in this step, in ns; 0: it is not in this step. */
static double due(const struct rs_gen_pause *q, int64_t step)
{
    switch (q->kind) {
    case RS_GEN_CHECKPOINT: return step && step % q->step == 0 ? q->us * 1e3 : 0;
    case RS_GEN_WARM_UP: return step < q->step ? q->us * 1e3 * (double)(q->step - step) / q->step : 0;
    default: return step == q->step ? q->us * 1e3 : 0;
    }
}

static void pause_process(struct rs_gen_job *j, struct rs_gen_process *p, double ns)
{
    p->cpu += (int64_t)ns;
    for (int r = p->first_rank; r < p->first_rank + j->cfg->devices_per_process; r++)
        if (j->ranks[r].gpu_free < p->cpu) j->ranks[r].gpu_free = p->cpu;
}

static void pauses(struct rs_gen_job *j)
{
    const struct rs_gen_config *c = j->cfg;
    for (int k = 0; k < c->npauses; k++) {
        const struct rs_gen_pause *q = &c->pauses[k];
        double ns = due(q, j->step);
        int64_t at = RS_GEN_NEVER;
        if (!(ns > 0)) continue;
        for (int i = 0; i < j->nprocs; i++) {
            struct rs_gen_process *p = &j->procs[i];
            if (q->rank >= 0 && j->ranks[q->rank].process != i) continue;
            if (p->cpu < at) at = p->cpu;
            /* What all do at a time takes each a little longer or shorter. */
            struct rs_gen_rng rng = rs_gen_noise(j, p->first_rank, RS_GEN_FOR_PAUSE);
            double spread = q->rank < 0 ? 1 + 0.05 * rs_gen_normal(&rng) : 1;
            pause_process(j, p, ns * spread);
        }
        rs_gen_truth_one_off(j->truth, rs_gen_pause_names[q->kind], j->step, q->rank, at, ns);
    }
}

/* ---- the beginning of a step ---- */

void rs_gen_join_streams(struct rs_gen_job *j)
{
    for (int r = 0; r < j->cfg->ranks; r++) {
        struct rs_gen_rank *k = &j->ranks[r];
        for (int s = RS_GEN_MAIN + 1; s < RS_GEN_STREAMS; s++)
            if (k->gpu_free + k->compute < k->side_free[s]) k->gpu_free = k->side_free[s] - k->compute;
    }
}

static void sporadic(struct rs_gen_job *j)
{
    const struct rs_gen_config *c = j->cfg;
    for (int i = 0; i < c->nsporadic; i++) {
        const struct rs_gen_sporadic *s = &c->sporadic[i];
        uint64_t key = rs_gen_hash(c->seed, KEY_SPORADIC + (uint64_t)i, (uint64_t)s->rank);
        struct rs_gen_rng rng = {rs_gen_hash(key, (uint64_t)j->step, 0)};
        if (rs_gen_unit(&rng) < s->part) j->ranks[s->rank].compute += (int64_t)(s->us * 1e3);
    }
}

/* Programs read their loss at the end of a step: the thread waits for its GPUs. */
void rs_gen_step_begin(struct rs_gen_job *j)
{
    const struct rs_gen_config *c = j->cfg;
    rs_gen_job_noise(j);
    rs_gen_join_streams(j); /* the optimizer needs everything */
    for (int r = 0; r < c->ranks; r++) {
        struct rs_gen_rank *k = &j->ranks[r];
        struct rs_gen_process *p = &j->procs[k->process];
        if (p->cpu < k->gpu_free) p->cpu = k->gpu_free;
        k->compute += (int64_t)k->slow_ns;
        k->late_call = (int64_t)k->slow_cpu_ns;
    }
    sporadic(j);
    pauses(j);
    for (int i = 0; i < j->nprocs; i++) {
        struct rs_gen_process *p = &j->procs[i];
        if (!p->late_step || p->late_step != j->step || !p->recorded) continue;
        rs_gen_job_ask(j, p, p->cpu);
    }
}

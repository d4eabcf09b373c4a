#include "gen/truth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/json.h"
#include "base/memory.h"
#include "gen/job.h"

/* ---- JSON ---- The parts of truth.json that come from the job: options, places, clocks, costs. Each function writes
 * one key and its value into an open object. */

enum { SAMPLES = 9 };

/* A true time, on the true wall clock; null for RS_GEN_NEVER. */
static void gen_truth_time(struct rs_json *j, int64_t t)
{
    if (t == RS_GEN_NEVER)
        rs_json_null(j);
    else
        rs_json_i64(j, RS_GEN_EPOCH_NS + t);
}

static void put_amounts(struct rs_json *j, const char *key, const struct rs_gen_amount *a, int n)
{
    rs_json_key(j, key);
    rs_json_array(j);
    for (int i = 0; i < n; i++) {
        rs_json_array(j);
        rs_json_i64(j, a[i].who);
        rs_json_double(j, a[i].value);
        rs_json_end(j);
    }
    rs_json_end(j);
}

static void put_moments(struct rs_json *j, const char *key, const struct rs_gen_moment *a, int n)
{
    rs_json_key(j, key);
    rs_json_array(j);
    for (int i = 0; i < n; i++) {
        rs_json_array(j);
        rs_json_i64(j, a[i].rank);
        rs_json_i64(j, a[i].step);
        rs_json_end(j);
    }
    rs_json_end(j);
}

static void put_noise(struct rs_json *j, const struct rs_gen_config *c)
{
    rs_json_key(j, "noise");
    rs_json_array(j);
    for (int i = 0; i < c->nnoise; i++) {
        const struct rs_gen_variation *v = &c->noise[i];
        rs_json_object(j);
        rs_json_key_str(j, "shape", rs_gen_shape_names[v->shape]);
        rs_json_key_double(j, "us", v->us);
        rs_json_key_double(j, "part", v->part);
        rs_json_key_i64(j, "steps", v->steps);
        rs_json_end(j);
    }
    rs_json_end(j);
}

static void gen_truth_options(struct rs_json *j, const struct rs_gen_config *c)
{
    rs_json_key(j, "options");
    rs_json_object(j);
    rs_json_key_str(j, "workload", rs_gen_workload_names[c->workload]);
    rs_json_key_i64(j, "ranks", c->ranks);
    rs_json_key_i64(j, "hosts", c->hosts);
    rs_json_key_i64(j, "devices_per_process", c->devices_per_process);
    rs_json_key_i64(j, "channels", c->channels);
    rs_json_key_i64(j, "net_steps", c->net_steps);
    rs_json_key_i64(j, "api", c->api);
    rs_json_key_str(j, "events", c->net ? "net" : "ops");
    rs_json_key_i64(j, "bytes", c->bytes);
    rs_json_key_double(j, "compute_us", c->compute_us);
    rs_json_key_u64(j, "seed", c->seed);
    rs_json_key_i64(j, "microbatches", c->microbatches);
    rs_json_key_i64(j, "stages", c->stages);
    rs_json_key_i64(j, "tensor", c->workload == RS_GEN_TPPPDP ? c->tensor : 1);
    rs_json_key_str(j, "schedule", rs_gen_schedule_names[c->schedule]);
    rs_json_key_number_or_null(j, "eager", c->eager);
    rs_json_key_bool(j, "overlap", c->overlap);
    rs_json_key_double(j, "host_part", c->host_part);
    rs_json_key_double(j, "spread", c->spread);
    rs_json_key_double(j, "run_noise", c->run_noise);
    rs_json_key_double(j, "rank_noise", c->rank_noise);
    put_noise(j, c);
    rs_json_key_double(j, "clock_offset_ms", c->clock_offset_ms);
    rs_json_key_double(j, "drift_ppm", c->drift_ppm);
    rs_json_key_double(j, "wander_ppm", c->wander_ppm);
    rs_json_key_double(j, "jitter_us", c->jitter_us);
    rs_json_key_double(j, "bias_us", c->bias_us);
    rs_json_key_double(j, "tails", c->tails);
    rs_json_key_bool(j, "world", !c->no_world);
    rs_json_key_bool(j, "replays_unreported", c->replays_unreported);
    put_amounts(j, "slow", c->slow, c->nslow);
    put_amounts(j, "slow_host", c->slow_host, c->nslow_host);
    put_amounts(j, "slow_cpu", c->slow_cpu, c->nslow_cpu);
    put_amounts(j, "ring", c->ring, c->nring);
    rs_json_key(j, "slow_link");
    rs_json_array(j);
    for (int i = 0; i < c->nslow_link; i++) {
        rs_json_array(j);
        rs_json_i64(j, c->slow_link[i].a);
        rs_json_i64(j, c->slow_link[i].b);
        rs_json_double(j, c->slow_link[i].factor);
        rs_json_end(j);
    }
    rs_json_end(j);
    put_moments(j, "mismatch", c->mismatch, c->nmismatch);
    put_moments(j, "late", c->late, c->nlate);
    rs_json_key(j, "no_recording");
    rs_json_array(j);
    for (int i = 0; i < c->nno_recording; i++) rs_json_i64(j, c->no_recording[i]);
    rs_json_end(j);
    rs_json_key_double(j, "drop", c->drop);
    rs_json_key_str(j, "hang", rs_gen_hang_names[c->hang]);
    rs_json_end(j);
}

static void gen_truth_comms(struct rs_json *j, const struct rs_gen_job *job)
{
    rs_json_key(j, "communicators");
    rs_json_array(j);
    for (int i = 0; i < job->ncomms; i++) {
        const struct rs_gen_comm *c = &job->comms[i];
        rs_json_object(j);
        rs_json_key_hex(j, "comm", c->hash);
        rs_json_key_str(j, "name", c->name);
        rs_json_key_i64(j, "nranks", c->n);
        rs_json_key_i64(j, "nnodes", c->nnodes);
        rs_json_key(j, "parent");
        if (c->parent < 0) {
            rs_json_null(j);
        } else {
            rs_json_object(j);
            rs_json_key_hex(j, "comm", job->comms[c->parent].hash);
            rs_json_key_i64(j, "count", c->child_count);
            rs_json_key_i64(j, "color", c->color);
            rs_json_end(j);
        }
        rs_json_key(j, "members");
        rs_json_array(j);
        for (int m = 0; m < c->n; m++) {
            const struct rs_gen_rank *r = &job->ranks[c->ranks[m]];
            rs_json_array(j);
            rs_json_i64(j, m);
            rs_json_str(j, job->hosts[r->host].name);
            rs_json_u64(j, job->procs[r->process].pid);
            rs_json_i64(j, r->gpu.device);
            rs_json_i64(j, c->ranks[m]);
            rs_json_end(j);
        }
        rs_json_end(j);
        rs_json_end(j);
    }
    rs_json_end(j);
}

/* With samples of their clocks, equally spaced from 0 to `end`. */
static void gen_truth_hosts(struct rs_json *j, struct rs_gen_job *job, int64_t end)
{
    rs_json_key(j, "hosts");
    rs_json_array(j);
    for (int h = 0; h < job->cfg->hosts; h++) {
        struct rs_gen_host *host = &job->hosts[h];
        rs_json_object(j);
        rs_json_key_str(j, "host", host->name);
        rs_json_key_str(j, "boot_id", host->boot_id);
        rs_json_key_i64(j, "offset_ns", host->offset);
        rs_json_key_double(j, "drift_ppm", rs_gen_clock_segment(&host->clock, 0).rate * 1e6);
        rs_json_key_double(j, "cost_ns", round(job->host_cost[h]));
        rs_json_key(j, "samples"); /* true ns, host's wall minus true */
        rs_json_array(j);
        for (int i = 0; i < SAMPLES; i++) {
            int64_t t = end / (SAMPLES - 1) * i;
            rs_json_array(j);
            gen_truth_time(j, t);
            rs_json_i64(j, rs_gen_host_wall(host, t) - RS_GEN_EPOCH_NS - t);
            rs_json_end(j);
        }
        rs_json_end(j);
        rs_json_end(j);
    }
    rs_json_end(j);
}

static void gen_truth_gpus(struct rs_json *j, struct rs_gen_job *job, int64_t end)
{
    rs_json_key(j, "gpus");
    rs_json_array(j);
    for (int r = 0; r < job->cfg->ranks; r++) {
        struct rs_gen_rank *k = &job->ranks[r];
        struct rs_gen_host *host = &job->hosts[k->host];
        char uuid[33];
        for (int i = 0; i < 16; i++) snprintf(uuid + 2 * i, 3, "%02x", k->gpu.uuid[i]);
        rs_json_object(j);
        rs_json_key_i64(j, "rank", r);
        rs_json_key_str(j, "host", host->name);
        rs_json_key_u64(j, "pid", job->procs[k->process].pid);
        rs_json_key_i64(j, "device", k->gpu.device);
        rs_json_key_str(j, "uuid", uuid);
        rs_json_key_bool(j, "recorded", job->procs[k->process].recorded);
        rs_json_key_double(j, "drift_ppm", rs_gen_clock_segment(&k->gpu.clock, 0).rate * 1e6);
        rs_json_key_double(j, "end_bias_ns", k->bias);
        rs_json_key_double(j, "cost_ns", round(k->cost));
        rs_json_key(j, "samples"); /* true ns, the GPU's timer, the host's wall */
        rs_json_array(j);
        for (int i = 0; i < SAMPLES; i++) {
            int64_t t = end / (SAMPLES - 1) * i;
            rs_json_array(j);
            gen_truth_time(j, t);
            rs_json_i64(j, rs_gen_gpu_time(&k->gpu, t));
            rs_json_i64(j, rs_gen_host_wall(host, t));
            rs_json_end(j);
        }
        rs_json_end(j);
        rs_json_end(j);
    }
    rs_json_end(j);
}

/* The rank and the host of the largest cost. */
static void gen_truth_straggler(struct rs_json *j, const struct rs_gen_job *job)
{
    const struct rs_gen_config *c = job->cfg;
    int worst = 0, host = 0;
    for (int r = 1; r < c->ranks; r++)
        if (job->ranks[r].cost > job->ranks[worst].cost) worst = r;
    for (int h = 1; h < c->hosts; h++)
        if (job->host_cost[h] > job->host_cost[host]) host = h;
    rs_json_key(j, "straggler");
    rs_json_object(j);
    rs_json_key_i64(j, "rank", worst);
    rs_json_key_double(j, "rank_cost_ns", round(job->ranks[worst].cost));
    rs_json_key_str(j, "host", job->hosts[host].name);
    rs_json_key_double(j, "host_cost_ns", round(job->host_cost[host]));
    rs_json_end(j);
}

/* ---- the truth ---- */

struct lost {
    uint64_t op;
    int rank;
    unsigned what;
};
struct fanout {
    int comm, depth;
    int64_t step;
    uint64_t first, n;
};
struct mismatch {
    uint64_t op, count;
    int rank;
};

struct one_off {
    const char *kind;
    int64_t step, at;
    double ns;
    int rank;
};

struct rs_gen_truth {
    struct rs_out out;
    struct rs_json json;
    bool times;
    const struct rs_gen_job *job;
    struct lost *lost;
    size_t nlost, lost_cap;
    struct fanout *fanouts;
    size_t nfanouts, fanouts_cap;
    struct one_off *pauses;
    size_t npauses, pauses_cap;
    struct mismatch mismatches[RS_GEN_MAX_EACH];
    int nmismatches;
    struct rs_gen_verdict verdict;
    bool hung;
};

static void *grow(void *list, size_t n, size_t *cap, size_t size)
{
    if (n < *cap) return list;
    void *grown = rs_realloc(list, (*cap ? *cap * 2 : 64) * size);
    *cap = *cap ? *cap * 2 : 64;
    return grown;
}

/* ---- while the job is computed ---- */

enum rs_status rs_gen_truth_open(struct rs_gen_truth **out, const struct rs_gen_job *job, struct rs_err *err)
{
    static const char *const columns[] = {"op",   "comm", "func", "seq",   "replay",  "bytes",
                                          "step", "src",  "dst",  "index", "complete"};
    char path[4200];
    struct rs_gen_truth *t = *out = rs_zalloc(1, sizeof *t);
    snprintf(path, sizeof path, "%s/truth.json", job->cfg->dir);
    t->job = job;
    t->times = job->cfg->truth_times;
    RS_TRY(rs_out_open(&t->out, path, true, err));
    struct rs_json *j = &t->json;
    rs_json_to_file(j, t->out.file, "truth.json");
    rs_json_object(j);
    rs_json_key_str(j, "made_by", "ringscope gen " RS_VERSION);
    gen_truth_options(j, job->cfg);
    gen_truth_comms(j, job);
    rs_json_key(j, "operation_columns");
    rs_json_array(j);
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) rs_json_str(j, columns[i]);
    if (t->times) rs_json_str(j, "starts");
    if (t->times) rs_json_str(j, "ends");
    rs_json_end(j);
    rs_json_key(j, "operations");
    rs_json_array(j);
    return RS_OK;
}

static void put_or_null(struct rs_json *j, int64_t value, bool known)
{
    if (known)
        rs_json_i64(j, value);
    else
        rs_json_null(j);
}

void rs_gen_truth_op(struct rs_gen_truth *t, const struct rs_gen_op *op, const int64_t *start, const int64_t *end,
                     int members)
{
    if (!t) return;
    struct rs_json *j = &t->json;
    bool p2p = op->src >= 0;
    rs_json_array(j);
    rs_json_u64(j, op->number);
    rs_json_i64(j, op->comm);
    rs_json_str(j, rs_gen_func_names[op->func]);
    put_or_null(j, (int64_t)op->seq, !p2p);
    put_or_null(j, op->replay, op->replay >= 0);
    rs_json_u64(j, op->bytes);
    rs_json_i64(j, op->step);
    put_or_null(j, op->src, p2p);
    put_or_null(j, op->dst, p2p);
    put_or_null(j, (int64_t)op->index, p2p);
    rs_json_i64(j, op->complete);
    for (int which = 0; t->times && which < 2; which++) {
        rs_json_array(j);
        for (int m = 0; m < members; m++) gen_truth_time(j, which ? end[m] : start[m]);
        rs_json_end(j);
    }
    rs_json_end(j);
}

void rs_gen_truth_fanout(struct rs_gen_truth *t, int comm, int64_t step, int depth, uint64_t first, uint64_t n)
{
    if (!t) return;
    struct fanout *list = grow(t->fanouts, t->nfanouts, &t->fanouts_cap, sizeof *list);
    if (!list) return;
    t->fanouts = list;
    list[t->nfanouts++] = (struct fanout){comm, depth, step, first, n};
}

void rs_gen_truth_mismatch(struct rs_gen_truth *t, uint64_t op, int rank, uint64_t count)
{
    if (!t || t->nmismatches == RS_GEN_MAX_EACH) return;
    t->mismatches[t->nmismatches++] = (struct mismatch){op, count, rank};
}

void rs_gen_truth_one_off(struct rs_gen_truth *t, const char *kind, int64_t step, int rank, int64_t at, double ns)
{
    if (!t) return;
    t->pauses = grow(t->pauses, t->npauses, &t->pauses_cap, sizeof *t->pauses);
    t->pauses[t->npauses++] = (struct one_off){kind, step, at, ns, rank};
}

void rs_gen_truth_hang(struct rs_gen_truth *t, const struct rs_gen_verdict *v)
{
    if (!t) return;
    t->verdict = *v;
    t->hung = true;
}

void rs_gen_truth_note_slow(struct rs_gen_truth *t, struct rs_gen_slot *s, uint64_t op, int rank, unsigned what)
{
    if (s->loss->noted == s->loss->total) return;
    s->loss->noted = s->loss->total;
    if (!t || op == UINT64_MAX) return;
    if (t->nlost && t->lost[t->nlost - 1].op == op && t->lost[t->nlost - 1].rank == rank) {
        t->lost[t->nlost - 1].what |= what;
        return;
    }
    struct lost *list = grow(t->lost, t->nlost, &t->lost_cap, sizeof *list);
    if (!list) return;
    t->lost = list;
    list[t->nlost++] = (struct lost){op, rank, what};
}

/* ---- at the end ---- */

static int by_op(const void *a, const void *b)
{
    const struct lost *x = a, *y = b;
    if (x->op != y->op) return x->op < y->op ? -1 : 1;
    return x->rank - y->rank;
}

static void put_lost(struct rs_json *j, struct rs_gen_truth *t)
{
    if (t->nlost) qsort(t->lost, t->nlost, sizeof *t->lost, by_op);
    rs_json_key(j, "lost_columns");
    rs_json_array(j);
    rs_json_str(j, "op");
    rs_json_str(j, "rank");
    rs_json_str(j, "what");
    rs_json_end(j);
    rs_json_key(j, "lost");
    rs_json_array(j);
    for (size_t i = 0, k; i < t->nlost; i = k) {
        unsigned what = 0;
        for (k = i; k < t->nlost && !by_op(&t->lost[k], &t->lost[i]); k++) what |= t->lost[k].what;
        rs_json_array(j);
        rs_json_u64(j, t->lost[i].op);
        rs_json_i64(j, t->lost[i].rank);
        rs_json_u64(j, what);
        rs_json_end(j);
    }
    rs_json_end(j);
}

static void put_fanouts(struct rs_json *j, const struct rs_gen_truth *t)
{
    rs_json_key(j, "fanout_columns");
    rs_json_array(j);
    const char *const columns[] = {"comm", "step", "depth", "first_op", "ops"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) rs_json_str(j, columns[i]);
    rs_json_end(j);
    rs_json_key(j, "fanouts");
    rs_json_array(j);
    for (size_t i = 0; i < t->nfanouts; i++) {
        const struct fanout *f = &t->fanouts[i];
        rs_json_array(j);
        rs_json_i64(j, f->comm);
        rs_json_i64(j, f->step);
        rs_json_i64(j, f->depth);
        rs_json_u64(j, f->first);
        rs_json_u64(j, f->n);
        rs_json_end(j);
    }
    rs_json_end(j);
}

static void put_one_offs(struct rs_json *j, const struct rs_gen_truth *t)
{
    rs_json_key(j, "one_off_columns");
    rs_json_array(j);
    const char *const columns[] = {"kind", "step", "rank", "at_ns", "ns"};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) rs_json_str(j, columns[i]);
    rs_json_end(j);
    rs_json_key(j, "one_offs");
    rs_json_array(j);
    for (size_t i = 0; i < t->npauses; i++) {
        const struct one_off *o = &t->pauses[i];
        rs_json_array(j);
        rs_json_str(j, o->kind);
        rs_json_i64(j, o->step);
        put_or_null(j, o->rank, o->rank >= 0);
        gen_truth_time(j, o->at);
        rs_json_double(j, round(o->ns));
        rs_json_end(j);
    }
    rs_json_end(j);
}

/* Begins an object of the list of what was planted. */
static void planted(struct rs_json *j, const char *kind, int rank)
{
    rs_json_object(j);
    rs_json_key_str(j, "kind", kind);
    rs_json_key_number_or_null(j, "rank", rank);
}

static void plant_amounts(struct rs_json *j, const char *kind, const struct rs_gen_amount *a, int n, const char *key)
{
    for (int i = 0; i < n; i++) {
        planted(j, kind, a[i].who);
        rs_json_key_double(j, key, round(a[i].value * 1e3));
        rs_json_end(j);
    }
}

/* What was planted, in the words of an analysis: who, what, and how much. */
static void put_planted(struct rs_json *j, const struct rs_gen_job *job)
{
    const struct rs_gen_config *c = job->cfg;
    rs_json_key(j, "planted");
    rs_json_array(j);
    plant_amounts(j, "slow-gpu", c->slow, c->nslow, "step_ns");
    for (int i = 0; i < c->nslow_factor; i++) {
        planted(j, "slow-gpu", c->slow_factor[i].who);
        rs_json_key_double(j, "step_ns", round(c->compute_us * 1e3 * (c->slow_factor[i].value - 1)));
        rs_json_key_double(j, "factor", c->slow_factor[i].value);
        rs_json_end(j);
    }
    plant_amounts(j, "slow-cpu", c->slow_cpu, c->nslow_cpu, "step_ns");
    plant_amounts(j, "late-credit", c->late_credit, c->nlate_credit, "operation_ns");
    for (int i = 0; i < c->nslow_host; i++) {
        planted(j, "slow-host", -1);
        rs_json_key_str(j, "host", job->hosts[c->slow_host[i].who].name);
        rs_json_key_double(j, "step_ns", round(c->slow_host[i].value * 1e3));
        rs_json_end(j);
    }
    for (int i = 0; i < c->nslow_link; i++) {
        planted(j, "slow-link", c->slow_link[i].a);
        rs_json_key_i64(j, "peer", c->slow_link[i].b);
        rs_json_key_double(j, "factor", c->slow_link[i].factor);
        rs_json_end(j);
    }
    for (int i = 0; i < c->nsporadic; i++) {
        planted(j, "sporadic", c->sporadic[i].rank);
        rs_json_key_double(j, "step_ns", round(c->sporadic[i].us * 1e3));
        rs_json_key_double(j, "part", c->sporadic[i].part);
        rs_json_end(j);
    }
    for (int i = 0; i < c->npauses; i++) {
        const struct rs_gen_pause *q = &c->pauses[i];
        planted(j, rs_gen_pause_names[q->kind], q->rank);
        rs_json_key_i64(j,
                        q->kind == RS_GEN_CHECKPOINT ? "every"
                        : q->kind == RS_GEN_WARM_UP  ? "steps"
                                                     : "step",
                        q->step);
        rs_json_key_double(j, "ns", round(q->us * 1e3));
        rs_json_end(j);
    }
    rs_json_end(j);
}

static void put_verdict(struct rs_json *j, const struct rs_gen_truth *t, const struct rs_gen_job *job)
{
    const struct rs_gen_verdict *v = &t->verdict;
    rs_json_key(j, "hang");
    if (!t->hung) {
        rs_json_null(j);
        return;
    }
    rs_json_object(j);
    rs_json_key_str(j, "verdict", v->verdict);
    if (v->comm >= 0) {
        rs_json_key_hex(j, "comm", job->comms[v->comm].hash);
        rs_json_key_str(j, "func", rs_gen_func_names[v->func]);
        rs_json_key_u64(j, "seq", v->seq);
        rs_json_key_u64(j, "op", v->op);
    } else {
        rs_json_key_null(j, "comm");
        rs_json_key_null(j, "func");
        rs_json_key_null(j, "seq");
        rs_json_key_null(j, "op");
    }
    rs_json_key(j, "ranks");
    rs_json_array(j);
    if (v->rank >= 0) rs_json_i64(j, v->rank);
    rs_json_end(j);
    rs_json_key_number_or_null(j, "peer", v->peer);
    rs_json_key_number_or_null(j, "step", v->step);
    rs_json_key_str(j, "state", v->state);
    if (v->other_comm >= 0)
        rs_json_key_hex(j, "other_comm", job->comms[v->other_comm].hash);
    else
        rs_json_key_null(j, "other_comm");
    rs_json_end(j);
}

enum rs_status rs_gen_truth_close(struct rs_gen_truth *t, struct rs_gen_job *job, int64_t end, struct rs_err *err)
{
    if (!t) return RS_OK;
    struct rs_json *j = &t->json;
    uint64_t lost, kept = rs_gen_job_callbacks(job, &lost);
    rs_json_end(j); /* operations */
    rs_json_key_i64(j, "steps", job->step);
    rs_json_key_u64(j, "callbacks", kept);
    rs_json_key_u64(j, "callbacks_lost", lost);
    rs_json_key_i64(j, "begin_ns", RS_GEN_EPOCH_NS);
    rs_json_key_i64(j, "end_ns", RS_GEN_EPOCH_NS + end);
    rs_json_key_i64(j, "length_ns", end);
    gen_truth_hosts(j, job, end);
    gen_truth_gpus(j, job, end);
    gen_truth_straggler(j, job);
    put_fanouts(j, t);
    rs_json_key(j, "mismatches");
    rs_json_array(j);
    for (int i = 0; i < t->nmismatches; i++) {
        rs_json_object(j);
        rs_json_key_u64(j, "op", t->mismatches[i].op);
        rs_json_key_i64(j, "rank", t->mismatches[i].rank);
        rs_json_key_u64(j, "count", t->mismatches[i].count);
        rs_json_end(j);
    }
    rs_json_end(j);
    put_planted(j, job);
    put_one_offs(j, t);
    put_lost(j, t);
    put_verdict(j, t, job);
    rs_json_end(j);
    rs_json_newline(j);
    RS_TRY(rs_json_finish(j, err));
    return rs_out_commit(&t->out, err);
}

void rs_gen_truth_free(struct rs_gen_truth *t)
{
    if (!t) return;
    rs_out_abort(&t->out);
    free(t->lost);
    free(t->fanouts);
    free(t->pauses);
    free(t);
}

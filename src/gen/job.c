#include "gen/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "format/settings.h"
#include "gen/strings.h"
#include "nccl/digest.h"

const char *const rs_gen_func_names[RS_GEN_FUNCS] = {"AllReduce", "AllGather", "ReduceScatter",
                                                     "Broadcast", "Send",      "Recv"};

enum {
    KEY_NONCE = 0x200,
    KEY_COMM,
    KEY_BIAS,
    KEY_NOISE,
    KEY_LOSS,
    KEY_LOSSY,
    KEY_ZERO,
    KEY_OPEN,
    KEY_BEGIN,
    KEY_INIT,
    KEY_CLOSE,
    KEY_HEARTBEAT,
    KEY_SAMPLE,
    KEY_RUN,
    KEY_PACE,
    KEY_NTP,
};
enum {
    OPEN_NS = 2000000, /* processes start */
    COMM_NS = 40000000, /* the first communicator */
    BEGIN_NS = 200000000, /* the first step */
    FIRST_PID = 20000,
    NTP_NS = 1000000, /* the error of synchronized clocks: one sigma, or a bound */
};

double rs_gen_link_factor(const struct rs_gen_job *j, int a, int b)
{
    const struct rs_gen_config *c = j->cfg;
    for (int i = 0; i < c->nslow_link; i++) {
        const struct rs_gen_link *l = &c->slow_link[i];
        if ((l->a == a && l->b == b) || (l->a == b && l->b == a)) return l->factor;
    }
    return 1;
}

void rs_gen_job_noise(struct rs_gen_job *j)
{
    uint64_t step = rs_gen_hash(j->cfg->seed, KEY_NOISE, (uint64_t)j->step);
    for (int r = 0; r < j->cfg->ranks; r++) {
        struct rs_gen_rank *k = &j->ranks[r];
        k->noise = rs_gen_hash(step, (uint64_t)r, 0);
        memset(k->drawn, 0, sizeof k->drawn);
    }
}

/* A factor about 1, drawn by keys; not far from 1, whatever the spread. */
static double factor(uint64_t seed, uint64_t a, uint64_t b, double sigma)
{
    struct rs_gen_rng rng = {rs_gen_hash(seed, a, b)};
    double f = 1 + sigma * rs_gen_normal(&rng);
    return f > 0.5 ? f : 0.5;
}

/* ---- layout ---- */

static void layout(struct rs_gen_job *j)
{
    const struct rs_gen_config *c = j->cfg;
    int per_host = c->ranks / c->hosts;
    size_t n = (size_t)c->ranks;
    j->nprocs = c->ranks / c->devices_per_process;
    j->hosts = rs_zalloc((size_t)c->hosts, sizeof *j->hosts);
    j->host_cost = rs_zalloc((size_t)c->hosts, sizeof *j->host_cost);
    j->procs = rs_zalloc((size_t)j->nprocs, sizeof *j->procs);
    j->ranks = rs_zalloc(n, sizeof *j->ranks);
    j->start = rs_zalloc(n, sizeof *j->start);
    j->end = rs_zalloc(n, sizeof *j->end);
    j->kl = rs_zalloc(n, sizeof *j->kl);
    j->post = rs_zalloc(n, sizeof *j->post);
    j->handle = rs_zalloc(n, sizeof *j->handle);
    j->fate = rs_zalloc(n, sizeof *j->fate);
    double run_pace = factor(c->seed, KEY_RUN, 0, c->run_noise);
    j->net_pace = factor(c->seed, KEY_RUN, 1, c->run_noise);
    for (int h = 0; h < c->hosts; h++)
        rs_gen_host_init(&j->hosts[h], h, c->seed, c->clock_offset_ms * 1e6, c->drift_ppm, c->wander_ppm);
    for (int r = 0; r < c->ranks; r++) {
        struct rs_gen_rank *k = &j->ranks[r];
        k->host = r / per_host;
        k->local = r % per_host;
        k->process = r / c->devices_per_process;
        k->pace = run_pace * factor(c->seed, KEY_PACE, (uint64_t)r, c->rank_noise);
        k->bias = c->bias_us * 1e3 * rs_gen_hash_around(c->seed, KEY_BIAS, (uint64_t)r);
        rs_gen_gpu_init(&k->gpu, &j->hosts[k->host], r, k->local, c->seed, c->drift_ppm, c->wander_ppm);
        rs_gen_proxy_init(&k->proxy, &k->gpu, r, c->net_steps);
        k->gpu_free = BEGIN_NS;
    }
    for (int i = 0; i < c->nslow; i++) j->ranks[c->slow[i].who].slow_ns += c->slow[i].value * 1e3;
    for (int i = 0; i < c->nslow_cpu; i++) j->ranks[c->slow_cpu[i].who].slow_cpu_ns += c->slow_cpu[i].value * 1e3;
    for (int i = 0; i < c->nslow_factor; i++) j->ranks[c->slow_factor[i].who].pace *= c->slow_factor[i].value;
    for (int i = 0; i < c->nlate_credit; i++)
        j->ranks[c->late_credit[i].who].credit_ns += c->late_credit[i].value * 1e3;
    for (int i = 0; i < c->nslow_host; i++)
        for (int r = 0; r < c->ranks; r++)
            if (j->ranks[r].host == c->slow_host[i].who) j->ranks[r].slow_ns += c->slow_host[i].value * 1e3;
}

/* ---- recordings ---- */

/* Whether the host's wall clock is in a window. Its error is that of a synchronized clock, not the offset that the
 * clocks of tests have. */
static bool in_window(const struct rs_gen_job *j, const struct rs_gen_process *p, int64_t t)
{
    const struct rs_gen_config *c = j->cfg;
    if (!c->detail.period_ns) return true;
    uint64_t from, to,
        now = (uint64_t)(RS_GEN_EPOCH_NS + t +
                         (int64_t)(NTP_NS * rs_gen_hash_around(c->seed, KEY_NTP, (uint64_t)p->host_index)));
    rs_detail_window(&c->detail, now, &from, &to);
    return now >= from && now < to;
}

static uint64_t mask_of(const struct rs_gen_config *c, const struct rs_gen_process *p)
{
    int mask = 0;
    rs_setting_mask(c->net ? "net" : "ops", &mask);
    if (c->replays_unreported) mask &= ~(RS_KERNEL_CH | RS_KERNEL_PHASE | RS_PROXY_OP | RS_PROXY_STEP | RS_NET_PLUGIN);
    if (!p->detail) mask &= ~RS_MASK_DETAIL;
    return (uint64_t)mask;
}

static void fact_mask(struct rs_gen_process *p, int64_t t, uint64_t mask)
{
    rs_gen_fact(&p->file, RS_FACT_MASK, rs_gen_host_tick(p->host, t), &mask, sizeof mask, NULL, 0);
}

static void describe(struct rs_gen_job *j, struct rs_gen_process *p, int64_t t)
{
    static const char *const versions[] = {[4] = "2.27.7", [5] = "2.28.9", [6] = "2.30.7"};
    const struct rs_gen_config *c = j->cfg;
    char text[64];
    rs_gen_fact_info(&p->file, t, "ringscope.version", RS_VERSION);
    rs_gen_fact_info(&p->file, t, "exe", "/usr/bin/python3");
    rs_gen_fact_info(&p->file, t, "cwd", "/data/train");
    rs_gen_fact_info(&p->file, t, "test.host", p->host->name);
    rs_gen_fact_info(&p->file, t, "nccl.version", versions[c->api]);
    snprintf(text, sizeof text, "%d", p->first_rank / c->devices_per_process);
    rs_gen_fact_info(&p->file, t, "env.RANK", text);
    snprintf(text, sizeof text, "%d", j->ranks[p->first_rank].local / c->devices_per_process);
    rs_gen_fact_info(&p->file, t, "env.LOCAL_RANK", text);
    snprintf(text, sizeof text, "%d", j->nprocs);
    rs_gen_fact_info(&p->file, t, "env.WORLD_SIZE", text);
    p->detail = p->call_detail = in_window(j, p, t);
    fact_mask(p, t, p->late_step ? 0 : mask_of(c, p));
    rs_gen_strings(&p->file, t);
}

static void add_slots(struct rs_gen_job *j, struct rs_gen_process *p)
{
    const struct rs_gen_config *c = j->cfg;
    uint32_t n = 0;
    struct rs_gen_slot **slots = p->file.slots;
    p->a = slots[n] = rs_gen_slot_new(&p->file, n, p->tid, "python3");
    for (int d = 0; d < c->devices_per_process; d++) {
        n++;
        slots[n] = rs_gen_slot_new(&p->file, n, p->tid + 20 + n, "NCCL Progress");
        j->ranks[p->first_rank + d].proxy.slot = slots[n];
    }
    n++;
    if (n < p->file.nslots) p->h = slots[n] = rs_gen_slot_new(&p->file, n, p->tid + 20 + n, "cuda-EvtHandlr");
    for (uint32_t i = 0; i < p->file.nslots; i++) slots[i]->off = !p->recorded || p->late_step > 0;
}

static enum rs_status open_process(struct rs_gen_job *j, int i, struct rs_err *err)
{
    const struct rs_gen_config *c = j->cfg;
    struct rs_gen_process *p = &j->procs[i];
    p->first_rank = i * c->devices_per_process;
    const struct rs_gen_rank *first = &j->ranks[p->first_rank];
    p->host_index = first->host;
    p->host = &j->hosts[first->host];
    /* The same pids on every host, as in containers. */
    p->pid = p->tid = (uint32_t)(FIRST_PID + first->local * 10);
    p->cpu = BEGIN_NS + rs_gen_hash_below(c->seed, KEY_BEGIN, (uint64_t)i, 2000000);
    p->recorded = true;
    p->died = -1;
    uint64_t ring = 0;
    for (int k = 0; k < c->nno_recording; k++)
        if (j->ranks[c->no_recording[k]].process == i) p->recorded = false;
    for (int k = 0; k < c->nlate; k++)
        if (j->ranks[c->late[k].rank].process == i) p->late_step = c->late[k].step;
    for (int k = 0; k < c->nring; k++)
        if (j->ranks[c->ring[k].who].process == i) ring = (uint64_t)c->ring[k].value;
    bool graph = c->workload == RS_GEN_GRAPH || c->workload == RS_GEN_MIX;
    uint32_t nonce = (uint32_t)(((uint64_t)i * 40503 + rs_gen_hash(c->seed, KEY_NONCE, 0) % 65535) % 65535 + 1);
    int64_t t = OPEN_NS + rs_gen_hash_below(c->seed, KEY_OPEN, (uint64_t)i, 20000000);
    if (p->recorded && !c->dumps) {
        if (rs_gen_file_open(&p->file, &j->disk, p->host, p->pid, nonce, t, ring,
                             1 + (uint32_t)c->devices_per_process + graph,
                             rs_gen_hash(c->seed, KEY_SAMPLE, (uint64_t)i)) != RS_OK)
            return *err = j->disk.err, err->code;
    } else { /* no recording is written, but handles and times are needed */
        p->file = (struct rs_gen_file){
            .disk = &j->disk, .host = p->host, .nslots = 1u + (uint32_t)c->devices_per_process + graph};
        p->file.slots = rs_zalloc(p->file.nslots, sizeof *p->file.slots);
        /* Processes begin at different times: their clocks are seconds apart. */
        int64_t shown = (int64_t)(rs_gen_hash(c->seed, KEY_ZERO, (uint64_t)i) % (8 * (uint64_t)RS_GEN_SECOND));
        if (p->recorded) p->file.dump = rs_gen_dump_new(p->host, p->pid, COMM_NS, shown);
    }
    add_slots(j, p);
    if (p->recorded) describe(j, p, t + 200000);
    bool lossy = c->drop > 0 && (rs_gen_hash(c->seed, KEY_LOSSY, (uint64_t)i / 2) + (uint64_t)i) % 2 == 0;
    for (uint32_t s = 0; lossy && s < p->file.nslots; s++)
        rs_gen_slot_lossy(p->file.slots[s], c->drop, rs_gen_hash(c->seed, KEY_LOSS, (uint64_t)i * 64 + s));
    return RS_OK;
}

/* ---- communicators ---- */

/* A communicator of the ranks first, first + stride, ...; its init calls at `t`. */
static void add_comm(struct rs_gen_job *j, const char *name, int first, int stride, int n, int parent, int child_count,
                     int color)
{
    const struct rs_gen_config *cfg = j->cfg;
    struct rs_gen_comm *c = &j->comms[j->ncomms];
    int64_t t = COMM_NS + (int64_t)(parent < 0 ? 0 : child_count) * 20000000;
    *c = (struct rs_gen_comm){.n = n, .parent = parent, .child_count = child_count, .color = color, .slow = 1};
    snprintf(c->name, sizeof c->name, "%s", name);
    c->hash = parent < 0 ? rs_gen_hash(cfg->seed, KEY_COMM, (uint64_t)j->ncomms)
                         : rs_nccl_split_hash(j->comms[parent].hash, child_count, color);
    j->ncomms++;
    c->ranks = rs_zalloc((size_t)n, sizeof *c->ranks);
    c->ctx = rs_zalloc((size_t)n, sizeof *c->ctx);
    int last_host = -1;
    for (int m = 0; m < n; m++) { /* members are in the order of hosts */
        c->ranks[m] = first + m * stride;
        c->nnodes += j->ranks[c->ranks[m]].host != last_host;
        last_host = j->ranks[c->ranks[m]].host;
    }
    for (int m = 0; m < n; m++) {
        double f = rs_gen_link_factor(j, c->ranks[m], c->ranks[(m + 1) % n]);
        if (f > c->slow) c->slow = f;
        const struct rs_gen_rank *r = &j->ranks[c->ranks[m]];
        bool remote = rs_gen_remote(j, c->ranks[m], c->ranks[(m + n - 1) % n]);
        if (remote && r->credit_ns > c->credit) c->credit = r->credit_ns;
        struct rs_gen_process *p = &j->procs[r->process];
        c->ctx[m] = ++p->contexts;
        if (!p->recorded) continue;
        if (p->file.dump) rs_gen_dump_comm(p->file.dump, c->ctx[m], c->hash, m);
        uint64_t key = (uint64_t)j->ncomms << 32 | (uint64_t)m;
        int64_t called =
            t + rs_gen_hash_below(cfg->seed, KEY_INIT, key, 3000000) + 3000000 * (c->ranks[m] - p->first_rank);
        struct rs_fact_comm fact = {.context = rs_handle(p->file.header.nonce, RS_SLOT_CONTEXT, c->ctx[m]),
                                    .comm_id = c->hash,
                                    .return_tick = rs_gen_host_tick(p->host, called + 150000),
                                    .tid = p->tid,
                                    .rank = m,
                                    .nranks = n,
                                    .nnodes = c->nnodes,
                                    .api = (uint8_t)cfg->api,
                                    .has_name = 1,
                                    .device = r->gpu.device};
        memcpy(fact.bus_id, r->gpu.bus_id, sizeof fact.bus_id);
        memcpy(fact.uuid, r->gpu.uuid, sizeof fact.uuid);
        rs_gen_fact(&p->file, RS_FACT_COMM, rs_gen_host_tick(p->host, called), &fact, sizeof fact, c->name,
                    strlen(c->name) + 1);
    }
}

/* Groups of tensor, data and pipeline parallelism: tensors within neighbouring ranks, stages farthest apart. A group of
 * one rank has no communicator. Returns the number of splits of the world. */
static int make_groups(struct rs_gen_job *j)
{
    const struct rs_gen_config *c = j->cfg;
    int lanes = c->ranks / j->stages, copies = lanes / j->tensor, splits = 0;
    if (j->tensor > 1) {
        j->tp = j->ncomms;
        splits++;
        for (int g = 0; g < c->ranks / j->tensor; g++)
            add_comm(j, "tp_group:1", g * j->tensor, 1, j->tensor, j->world, splits, g);
    }
    if (copies > 1) {
        j->dp = j->ncomms;
        splits++;
        for (int s = 0; s < j->stages; s++)
            for (int t = 0; t < j->tensor; t++)
                add_comm(j, "dp_group:2", s * lanes + t, j->tensor, copies, j->world, splits, s * j->tensor + t);
    }
    if (j->stages > 1 && c->schedule != RS_GEN_INTERLEAVED) {
        j->pp = j->ncomms;
        splits++;
        for (int l = 0; l < lanes; l++) add_comm(j, "pp_group:3", l, lanes, j->stages, j->world, splits, l);
    }
    return splits;
}

/* From every rank to its lane's rank of the next stage, and to that of the previous one. NCCL runs the operations of a
 * communicator one after the other, so sends that run beside receives need their own. */
static void make_links(struct rs_gen_job *j, int splits)
{
    int ranks = j->cfg->ranks, lanes = ranks / j->stages;
    for (int back = 0; back < 2; back++) {
        *(back ? &j->backward : &j->forward) = j->ncomms;
        for (int r = 0; r < ranks; r++) {
            int other = (r + (back ? ranks - lanes : lanes)) % ranks, first = r < other ? r : other;
            add_comm(j, back ? "pp_backward:5" : "pp_forward:4", first, r + other - 2 * first, 2, j->world,
                     splits + 1 + back, r);
        }
    }
}

static void make_comms(struct rs_gen_job *j)
{
    const struct rs_gen_config *c = j->cfg;
    int per_host = c->ranks / c->hosts, splits = 0;
    bool split = c->workload == RS_GEN_TPDP || c->workload == RS_GEN_MIX;
    size_t most = (size_t)c->ranks * 5; /* a rank is the first one of at most so many */
    j->comms = rs_zalloc(most + 2, sizeof *j->comms);
    if (!c->no_world) {
        j->world = j->ncomms;
        add_comm(j, "default_pg:0", 0, 1, c->ranks, -1, 0, 0);
    }
    if (split) {
        j->tp = j->ncomms;
        for (int h = 0; h < c->hosts; h++) add_comm(j, "tp_group:1", h * per_host, 1, per_host, j->world, 1, h);
        j->dp = j->ncomms;
        for (int l = 0; l < per_host; l++) add_comm(j, "dp_group:2", l, per_host, c->hosts, j->world, 2, l);
        splits = 2;
    }
    if (c->workload == RS_GEN_TPPPDP) splits = make_groups(j);
    if (c->schedule == RS_GEN_INTERLEAVED) {
        make_links(j, splits);
        splits += 2;
    }
    if (c->hang == RS_GEN_DEADLOCK || c->hang == RS_GEN_DEADLOCK_SYNC) {
        j->second = j->ncomms;
        add_comm(j, "second_pg:3", 0, 1, c->ranks, j->world, splits + 1, 0);
    }
}

/* ---- the module ---- */

enum rs_status rs_gen_job_init(struct rs_gen_job *j, const struct rs_gen_config *cfg, struct rs_err *err)
{
    *j = (struct rs_gen_job){
        .cfg = cfg, .world = -1, .tp = -1, .dp = -1, .pp = -1, .second = -1, .forward = -1, .backward = -1};
    j->stages = cfg->stages;
    j->tensor = cfg->workload == RS_GEN_TPPPDP ? cfg->tensor : 1;
    j->disk = (struct rs_gen_disk){.dir = cfg->dir, .codec = rs_codec_new()};
    rs_gen_random_init();
    if (!j->disk.codec) rs_memory_out();
    layout(j);
    for (int i = 0; i < j->nprocs; i++) RS_TRY(open_process(j, i, err));
    make_comms(j);
    return RS_OK;
}

void rs_gen_job_free(struct rs_gen_job *j)
{
    const struct rs_gen_config *c = j->cfg;
    for (int i = 0; j->procs && i < j->nprocs; i++) rs_gen_file_free(&j->procs[i].file);
    for (int r = 0; j->ranks && r < c->ranks; r++) {
        rs_gen_clock_free(&j->ranks[r].gpu.clock);
        rs_gen_proxy_free(&j->ranks[r].proxy);
    }
    for (int h = 0; j->hosts && h < c->hosts; h++) rs_gen_clock_free(&j->hosts[h].clock);
    for (int i = 0; i < j->ncomms; i++) {
        free(j->comms[i].ranks);
        free(j->comms[i].ctx);
        free(j->comms[i].pairs);
    }
    void *lists[] = {j->hosts, j->host_cost, j->procs, j->ranks,  j->comms, j->start,
                     j->end,   j->kl,        j->post,  j->handle, j->fate};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) free(lists[i]);
    rs_codec_free(j->disk.codec);
    *j = (struct rs_gen_job){0};
}

void rs_gen_job_ask(struct rs_gen_job *j, struct rs_gen_process *p, int64_t t)
{
    fact_mask(p, t, mask_of(j->cfg, p));
    for (uint32_t i = 0; i < p->file.nslots; i++) p->file.slots[i]->off = false;
}

void rs_gen_job_detail(struct rs_gen_job *j, struct rs_gen_process *p, int64_t t)
{
    bool detail = in_window(j, p, t);
    if (detail == p->detail) return;
    p->detail = detail;
    if (p->recorded && !p->file.slots[0]->off) fact_mask(p, t, mask_of(j->cfg, p));
}

void rs_gen_job_close(struct rs_gen_job *j, int64_t end)
{
    const struct rs_gen_config *c = j->cfg;
    bool hung = c->hang != RS_GEN_NO_HANG;
    for (int r = 0; r < c->ranks; r++) rs_gen_proxy_until(&j->ranks[r].proxy, RS_GEN_NEVER);
    for (int i = 0; i < j->nprocs; i++) {
        struct rs_gen_process *p = &j->procs[i];
        if (!p->recorded) continue;
        int64_t t = end + 20000000 + rs_gen_hash_below(c->seed, KEY_CLOSE, (uint64_t)i, 5000000);
        for (int k = 0; !hung && k < j->ncomms; k++)
            for (int m = 0; m < j->comms[k].n; m++) {
                if (j->ranks[j->comms[k].ranks[m]].process != i) continue;
                t += 500000;
                if (p->file.dump) rs_gen_dump_comm_end(p->file.dump, j->comms[k].ctx[m], t);
                struct rs_fact_comm_end fact = {
                    .context = rs_handle(p->file.header.nonce, RS_SLOT_CONTEXT, j->comms[k].ctx[m]), .tid = p->tid};
                rs_gen_fact(&p->file, RS_FACT_COMM_END, rs_gen_host_tick(p->host, t), &fact, sizeof fact, NULL, 0);
            }
        t = p->died >= 0 ? p->died
            : hung
                ? end + INT64_C(10) * RS_GEN_SECOND + rs_gen_hash_below(c->seed, KEY_HEARTBEAT, (uint64_t)i, 100000000)
                : t + 3000000;
        rs_gen_file_close(&p->file, t, !hung);
    }
}

uint64_t rs_gen_job_callbacks(const struct rs_gen_job *j, uint64_t *lost)
{
    uint64_t kept = 0;
    *lost = 0;
    for (int i = 0; i < j->nprocs; i++) {
        const struct rs_gen_file *f = &j->procs[i].file;
        kept += f->lives;
        for (uint32_t s = 0; s < f->nslots; s++) {
            kept += f->slots[s]->callbacks;
            if (f->slots[s]->loss) *lost += f->slots[s]->loss->total;
        }
    }
    return kept;
}

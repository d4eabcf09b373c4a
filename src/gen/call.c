#include "gen/call.h"

#include "gen/strings.h"
#include "gen/truth.h"

enum { SMALL_BYTES = 64 * 1024 };

static uint64_t stream_of(int rank, enum rs_gen_stream stream)
{
    return 0x5500000000u + (uint64_t)rank % 64 * 0x100 + (uint64_t)stream * 0x10000;
}

/* A thread in a call: time advances by about what each action takes. */
struct thread {
    struct rs_gen_slot *slot;
    int64_t t;
    struct rs_gen_rng rng;
    uint64_t bits;
};

static inline int64_t after(struct thread *a, int64_t ns)
{
    a->t += ns + (int64_t)(a->bits & 63);
    a->bits = a->bits >> 6 | a->bits << 58;
    return a->t;
}

/* When the process of this rank can make its next call. */
static int64_t call_time(struct rs_gen_job *j, int rank)
{
    struct rs_gen_rank *r = &j->ranks[rank];
    struct rs_gen_process *p = &j->procs[r->process];
    int64_t t = p->cpu;
    if (p->nends >= RS_GEN_AHEAD && t < p->ends[p->nends % RS_GEN_AHEAD]) t = p->ends[p->nends % RS_GEN_AHEAD];
    if (r->late_call) { /* a slow program: the GPU runs out of work before the call */
        if (t < r->gpu_free + r->compute) t = r->gpu_free + r->compute;
        t += r->late_call;
        r->late_call = 0;
    }
    return t;
}

static void begin(struct rs_gen_job *j, struct thread *a, int rank)
{
    struct rs_gen_process *p = rs_gen_process_of(j, rank);
    *a = (struct thread){.slot = p->a, .t = call_time(j, rank), .rng = rs_gen_noise(j, rank, RS_GEN_FOR_CALL)};
    a->bits = rs_gen_next(&a->rng);
    if (p->recorded) rs_gen_file_until(&p->file, a->t);
    p->call_detail = p->detail;
}

static void end(struct rs_gen_job *j, struct thread *a, int rank)
{
    struct rs_gen_process *p = rs_gen_process_of(j, rank);
    p->cpu = a->t + 4000 + rs_gen_below(&a->rng, 8000);
    if (j->cfg->detail.period_ns) rs_gen_job_detail(j, p, a->t);
}

/* ---- collectives ---- */

static uint64_t dtype_of(const struct rs_gen_coll *c)
{
    return c->func == RS_GEN_ALLREDUCE ? RS_GEN_S_FLOAT : RS_GEN_S_BF16;
}

static uint64_t coll_api(struct rs_gen_job *j, struct thread *a, const struct rs_gen_coll *c, int m, uint64_t group,
                         bool captured)
{
    const uint64_t args[3] = {c->count,
                              (uint32_t)c->root | (uint64_t)(RS_GEN_S_FUNC + c->func) << 32 | dtype_of(c) << 48,
                              stream_of(c->comm->ranks[m], c->stream)};
    uint64_t h = rs_gen_start(a->slot, after(a, 80), RS_K_COLL_API, group, c->comm->ctx[m], 0, captured, args, 3);
    struct rs_gen_slot *s = a->slot;
    if (captured && s->file->header.ring_end && !s->off && !s->loss) { /* replays name it long after */
        const uint64_t head[2] = {h, s->tick_now};
        rs_gen_fact(s->file, RS_FACT_CAPTURED, s->last_tick, head, sizeof head, s->words + s->n - 5,
                    5 * sizeof *s->words);
    }
    rs_gen_stop(a->slot, after(a, 300), h);
    rs_gen_truth_note(j->truth, a->slot, c->op, c->comm->ranks[m], RS_GEN_LOST_API);
    return h;
}

static void kernel_launch(struct rs_gen_job *j, struct thread *a, const struct rs_gen_comm *c, int m, uint64_t group,
                          enum rs_gen_stream on)
{
    int rank = c->ranks[m];
    const uint64_t stream = stream_of(rank, on);
    j->kl[m] = after(a, 2500);
    if (j->cfg->api < 5) {
        after(a, 2600);
        return;
    }
    uint64_t h = rs_gen_start(a->slot, j->kl[m], RS_K_KERNEL_LAUNCH, group, c->ctx[m], 0, 0, &stream, 1);
    rs_gen_stop(a->slot, after(a, 2600), h);
}

/* Group and Coll: the proxy gets the plan between their starts and stops. */
static void plan(struct rs_gen_job *j, struct thread *a, const struct rs_gen_coll *c, int m, uint64_t api)
{
    const struct rs_gen_comm *comm = c->comm;
    int rank = comm->ranks[m];
    bool small = c->bytes < SMALL_BYTES, bytewise = c->func == RS_GEN_ALLGATHER || c->func == RS_GEN_BROADCAST;
    uint64_t dtype = bytewise ? (uint64_t)RS_GEN_S_INT8 : dtype_of(c);
    uint64_t buffer = UINT64_C(0x7f4000000000) + ((uint64_t)c->buffer << 30);
    uint64_t group = rs_gen_start(a->slot, after(a, 300), RS_K_GROUP, 0, comm->ctx[m], 0, 0, NULL, 0);
    rs_gen_truth_note(j->truth, a->slot, c->op, rank, RS_GEN_LOST_API);
    const uint64_t args[7] = {c->seq,
                              (uint64_t)(RS_GEN_S_FUNC + c->func) | dtype << 16 | (uint64_t)RS_GEN_S_RING << 32 |
                                  (uint64_t)(small ? RS_GEN_S_LL : RS_GEN_S_SIMPLE) << 48,
                              bytewise ? c->count * 2 : c->count,
                              buffer,
                              c->func == RS_GEN_ALLREDUCE ? buffer : buffer + (UINT64_C(1) << 38),
                              (uint32_t)c->root,
                              group};
    uint64_t channels = (uint64_t)j->cfg->channels | (small ? 8u : 16u) << 8;
    uint64_t h = j->cfg->api >= 5
                     ? rs_gen_start(a->slot, after(a, 60), RS_K_COLL, api, comm->ctx[m], m, channels, args, 7)
                     : rs_gen_start(a->slot, after(a, 60), RS_K_COLL_V4, group, comm->ctx[m], m, channels, args, 6);
    rs_gen_truth_note(j->truth, a->slot, c->op, rank, RS_GEN_LOST_OP);
    j->handle[m] = h;
    j->post[m] = after(a, 700);
    rs_gen_stop(a->slot, after(a, 40), h);
    rs_gen_stop(a->slot, after(a, 30), group);
    rs_gen_truth_note(j->truth, a->slot, c->op, rank, RS_GEN_LOST_API);
}

static uint64_t group_begin(struct rs_gen_job *j, struct thread *a, uint32_t ctx, int depth, bool captured)
{
    if (j->cfg->api < 5) return 0;
    uint64_t g =
        rs_gen_start(a->slot, a->t, RS_K_GROUP_API, 0, ctx, 0, (uint64_t)captured | (uint64_t)depth << 1, NULL, 0);
    rs_gen_state(a->slot, after(a, 30), g, RS_ST_GROUP_START_API_STOP);
    return g;
}

void rs_gen_call_coll(struct rs_gen_job *j, const struct rs_gen_coll *c, int first, int n)
{
    struct thread a;
    uint64_t api[64] = {0};
    int rank = c->comm->ranks[first];
    begin(j, &a, rank);
    uint64_t g = group_begin(j, &a, c->comm->ctx[first], n > 1 ? 2 : 1, false);
    for (int i = 0; i < n && j->cfg->api >= 5; i++) api[i] = coll_api(j, &a, c, first + i, g, false);
    if (j->cfg->api >= 5) rs_gen_state(a.slot, after(&a, 120), g, RS_ST_GROUP_END_API_START);
    for (int i = n - 1; i >= 0; i--) {
        kernel_launch(j, &a, c->comm, first + i, g, c->stream);
        plan(j, &a, c, first + i, api[i]);
    }
    if (j->cfg->api >= 5) rs_gen_stop(a.slot, after(&a, 100), g);
    rs_gen_truth_note(j->truth, a.slot, c->op, rank, RS_GEN_LOST_API);
    end(j, &a, rank);
}

void rs_gen_call_capture(struct rs_gen_job *j, const struct rs_gen_coll *c, int first, int n, uint64_t *api,
                         bool report)
{
    struct thread a;
    int rank = c->comm->ranks[first];
    begin(j, &a, rank);
    uint64_t g = group_begin(j, &a, c->comm->ctx[first], n > 1 ? 2 : 1, true);
    for (int i = 0; i < n; i++) api[first + i] = coll_api(j, &a, c, first + i, g, true);
    rs_gen_state(a.slot, after(&a, 120), g, RS_ST_GROUP_END_API_START);
    for (int i = n - 1; i >= 0; i--) {
        kernel_launch(j, &a, c->comm, first + i, g, c->stream);
        if (report) plan(j, &a, c, first + i, api[first + i]);
    }
    rs_gen_stop(a.slot, after(&a, 100), g);
    rs_gen_truth_note(j->truth, a.slot, c->op, rank, RS_GEN_LOST_API);
    end(j, &a, rank);
}

void rs_gen_call_replay(struct rs_gen_job *j, const struct rs_gen_coll *c, int member, uint64_t api)
{
    struct thread a;
    int rank = c->comm->ranks[member];
    struct rs_gen_process *p = rs_gen_process_of(j, rank);
    const struct rs_gen_rank *r = &j->ranks[rank];
    begin(j, &a, rank);
    end(j, &a, rank); /* launching the graph is not a call into NCCL */
    a.slot = p->h;
    int64_t reached = r->gpu_free + r->compute;
    if (a.t < reached) a.t = reached;
    if (a.t < p->h_free) a.t = p->h_free;
    j->kl[member] = after(&a, 3000);
    plan(j, &a, c, member, api);
    p->h_free = a.t;
}

/* ---- point to point ---- */

void rs_gen_call_p2p(struct rs_gen_job *j, struct rs_gen_comm *comm, int m, const struct rs_gen_task *tasks, int n,
                     const int *order, int depth, enum rs_gen_stream stream, uint64_t *handles)
{
    struct thread a;
    int rank = comm->ranks[m], channels = j->cfg->channels >= 4 ? 2 : 1;
    uint64_t *api = handles; /* a task's P2pApi is not needed once its P2p has begun */
    begin(j, &a, rank);
    uint64_t g = group_begin(j, &a, comm->ctx[m], depth, false);
    for (int i = 0; i < n && j->cfg->api >= 5; i++) {
        const struct rs_gen_task *k = &tasks[i];
        const uint64_t args[3] = {
            k->count, (uint64_t)(RS_GEN_S_FUNC + (k->send ? RS_GEN_SEND : RS_GEN_RECV)) | (uint64_t)RS_GEN_S_BF16 << 16,
            stream_of(rank, stream)};
        api[i] = rs_gen_start(a.slot, after(&a, 50), RS_K_P2P_API, g, comm->ctx[m], 0, 0, args, 3);
        rs_gen_stop(a.slot, after(&a, 120), api[i]);
        rs_gen_truth_note(j->truth, a.slot, k->op, rank, RS_GEN_LOST_API);
    }
    if (j->cfg->api >= 5) rs_gen_state(a.slot, after(&a, 120), g, RS_ST_GROUP_END_API_START);
    kernel_launch(j, &a, comm, m, g, stream);
    uint64_t group = rs_gen_start(a.slot, after(&a, 300), RS_K_GROUP, 0, comm->ctx[m], 0, 0, NULL, 0);
    rs_gen_truth_note(j->truth, a.slot, n ? tasks[0].op : 0, rank, RS_GEN_LOST_API);
    for (int i = 0; i < n; i++) {
        const struct rs_gen_task *k = &tasks[order[i]];
        const uint64_t args[5] = {
            k->count, (uint32_t)k->peer,
            UINT64_C(0x7f5000000000) + ((uint64_t)k->send << 36) + ((uint64_t)k->peer << 20),
            (uint64_t)(RS_GEN_S_FUNC + (k->send ? RS_GEN_SEND : RS_GEN_RECV)) | (uint64_t)RS_GEN_S_BF16 << 16, group};
        handles[order[i]] = j->cfg->api >= 5 ? rs_gen_start(a.slot, after(&a, 40), RS_K_P2P, api[order[i]],
                                                            comm->ctx[m], m, (uint64_t)channels, args, 5)
                                             : rs_gen_start(a.slot, after(&a, 40), RS_K_P2P_V4, group, comm->ctx[m], m,
                                                            (uint64_t)channels, args, 4);
        rs_gen_truth_note(j->truth, a.slot, k->op, rank, RS_GEN_LOST_OP);
    }
    j->post[m] = after(&a, 700);
    for (int i = 0; i < n; i++) {
        rs_gen_stop(a.slot, after(&a, 30), handles[order[i]]);
        rs_gen_truth_note(j->truth, a.slot, tasks[order[i]].op, rank, RS_GEN_LOST_OP);
    }
    rs_gen_stop(a.slot, after(&a, 30), group);
    if (j->cfg->api >= 5) rs_gen_stop(a.slot, after(&a, 100), g);
    rs_gen_truth_note(j->truth, a.slot, n ? tasks[0].op : 0, rank, RS_GEN_LOST_API);
    end(j, &a, rank);
}

#include "gen/op.h"

#include <math.h>
#include <stdlib.h>

#include "base/memory.h"
#include "gen/hang.h"

enum { ELEMENT = 2, FLOAT = 4, AHEAD_IN_HANG = 2 };

double rs_gen_move_ns(const struct rs_gen_job *j, uint64_t bytes, bool net)
{
    return j->net_pace * ((net ? 34e3 : 30e3) + (double)bytes / (net ? 50 : 200));
}

/* ---- parts ---- */

enum rs_gen_fate rs_gen_op_fate(struct rs_gen_job *j, int rank)
{
    struct rs_gen_process *p = rs_gen_process_of(j, rank);
    if (p->gone) return RS_GEN_ABSENT;
    if (!p->stuck) return RS_GEN_STARTS;
    if (p->ahead <= 0) return RS_GEN_ABSENT;
    return j->ranks[rank].stuck ? RS_GEN_QUEUED : RS_GEN_STARTS;
}

int64_t rs_gen_op_start(struct rs_gen_job *j, int rank, int64_t kl, enum rs_gen_stream stream)
{
    struct rs_gen_rank *r = &j->ranks[rank];
    struct rs_gen_rng rng = rs_gen_noise(j, rank, RS_GEN_FOR_LAUNCH);
    int64_t launched = kl + 6000 + rs_gen_below(&rng, 4000), ready = r->gpu_free + r->compute;
    r->compute = 0;
    if (stream != RS_GEN_MAIN) { /* the main stream computes on */
        r->gpu_free = ready;
        if (ready < r->side_free[stream]) ready = r->side_free[stream];
    }
    return launched > ready ? launched : ready;
}

int64_t rs_gen_op_spread(struct rs_gen_job *j, int rank, double behind)
{
    const struct rs_gen_config *c = j->cfg;
    struct rs_gen_rng rng = rs_gen_noise(j, rank, RS_GEN_FOR_END);
    double late = fabs(rs_gen_normal(&rng)) * c->jitter_us * 1e3 + j->ranks[rank].bias + behind * c->bias_us * 1e3;
    if (c->tails > 0 && rs_gen_unit(&rng) < c->tails) late += 50e3 * rs_gen_exponential(&rng);
    return (int64_t)late;
}

void rs_gen_op_stuck(struct rs_gen_job *j, int rank)
{
    struct rs_gen_process *p = rs_gen_process_of(j, rank);
    j->ranks[rank].stuck = true;
    if (!p->stuck) p->ahead = j->cfg->hang == RS_GEN_DEADLOCK_SYNC ? 0 : AHEAD_IN_HANG;
    p->stuck = true;
}

void rs_gen_op_done(struct rs_gen_job *j, int rank, int64_t end, enum rs_gen_stream stream)
{
    struct rs_gen_process *p = rs_gen_process_of(j, rank);
    *(stream == RS_GEN_MAIN ? &j->ranks[rank].gpu_free : &j->ranks[rank].side_free[stream]) = end;
    if (rank == p->first_rank) p->ends[p->nends++ % RS_GEN_AHEAD] = end;
}

void rs_gen_op_cost(struct rs_gen_job *j, const int *ranks, const int64_t *start, int n)
{
    int last = 0;
    for (int i = 1; i < n; i++)
        if (start[i] > start[last]) last = i;
    int host = j->ranks[ranks[last]].host;
    int64_t others = INT64_MIN, elsewhere = INT64_MIN;
    for (int i = 0; i < n; i++) {
        if (i != last && start[i] > others) others = start[i];
        if (j->ranks[ranks[i]].host != host && start[i] > elsewhere) elsewhere = start[i];
    }
    if (others != INT64_MIN) j->ranks[ranks[last]].cost += (double)(start[last] - others);
    if (elsewhere != INT64_MIN) j->host_cost[host] += (double)(start[last] - elsewhere);
}

/* ---- collectives ---- */

/* Bytes over each hop of the ring. */
static uint64_t ring_bytes(const struct rs_gen_coll *c)
{
    uint64_t n = (uint64_t)c->comm->n;
    if (c->func == RS_GEN_BROADCAST) return c->bytes;
    return c->bytes / n * (n - 1) * (c->func == RS_GEN_ALLREDUCE ? 2 : 1);
}

/* How long the ring takes if no link is slow. */
static double ring_ns(const struct rs_gen_job *j, const struct rs_gen_coll *c)
{
    return rs_gen_move_ns(j, ring_bytes(c), c->comm->nnodes > 1);
}

/* Posts the work of member m to its proxy. */
static void hand_over(struct rs_gen_job *j, const struct rs_gen_coll *c, int m, int64_t transfer, int64_t net_end,
                      bool here)
{
    const struct rs_gen_comm *comm = c->comm;
    int rank = comm->ranks[m], next = (m + 1) % comm->n, prev = (m + comm->n - 1) % comm->n;
    struct rs_gen_rank *r = &j->ranks[rank];
    struct rs_gen_rng rng = rs_gen_noise(j, rank, RS_GEN_FOR_PROXY);
    if (r->proxy.slot->off || j->cfg->replays_unreported || !j->procs[r->process].call_detail) return;
    bool in = j->cfg->net && rs_gen_remote(j, comm->ranks[prev], rank) && (c->func != RS_GEN_BROADCAST || m != c->root);
    bool out =
        j->cfg->net && rs_gen_remote(j, rank, comm->ranks[next]) && (c->func != RS_GEN_BROADCAST || next != c->root);
    int channels = j->cfg->channels;
    struct rs_gen_launch *l = rs_gen_proxy_push(&r->proxy, c->stream, 1, channels * (in + out));
    enum rs_gen_fate fate = j->fate[m];
    l->ctx = comm->ctx[m];
    l->rank = m;
    l->pid = j->procs[r->process].pid;
    l->post = j->post[m];
    l->start = fate == RS_GEN_STARTS ? j->start[m] : RS_GEN_NEVER;
    l->transfer = transfer;
    l->net_end = net_end;
    l->end = j->end[m];
    double fast = ring_ns(j, c);
    bool waits = l->end != RS_GEN_NEVER && comm->credit > 0;
    l->fed_part = 1 - 0.875 * fast / (fast * comm->slow + comm->credit);
    l->progress = fate == RS_GEN_BLOCKED;
    l->rng = rng;
    l->nevents = 1;
    l->events[0] =
        (struct rs_gen_event){.handle = j->handle[m], .op = c->op, .first_channel = 0, .nchannels = (uint8_t)channels};
    uint64_t bytes = ring_bytes(c) / (uint64_t)channels / (uint64_t)j->cfg->net_steps;
    for (int ch = 0; ch < channels; ch++)
        for (int send = !in; send <= out; send++) {
            struct rs_gen_net *n = &l->nets[l->nnets++];
            *n = (struct rs_gen_net){.parent = j->handle[m],
                                     .op = c->op,
                                     .bytes = bytes,
                                     .peer = send ? next : prev,
                                     .channel = (uint8_t)ch,
                                     .send = send};
            bool slow = comm->slow > 1 && rs_gen_link_factor(j, rank, comm->ranks[n->peer]) >= comm->slow;
            n->late_credit = waits && j->ranks[send ? comm->ranks[next] : rank].credit_ns > 0;
            n->fed_late = (comm->slow > 1 || waits) && !slow && !n->late_credit;
            if (l->end == RS_GEN_NEVER) rs_gen_hang_net(j, comm, m, here, n);
        }
}

/* The calls of all members, process by process; fates are set. */
static void make_calls(struct rs_gen_job *j, const struct rs_gen_coll *c, const struct rs_gen_coll *odd, int odd_rank,
                       struct rs_gen_capture *capture)
{
    const struct rs_gen_comm *comm = c->comm;
    for (int m = 0, k; m < comm->n; m = k) {
        for (k = m + 1; k < comm->n && j->ranks[comm->ranks[k]].process == j->ranks[comm->ranks[m]].process;) k++;
        if (j->fate[m] == RS_GEN_ABSENT) continue;
        struct rs_gen_process *p = rs_gen_process_of(j, comm->ranks[m]);
        const struct rs_gen_coll *mine = odd_rank >= comm->ranks[m] && odd_rank <= comm->ranks[k - 1] ? odd : c;
        p->ahead -= p->stuck;
        if (!capture)
            rs_gen_call_coll(j, mine, m, k - m);
        else
            for (int i = m; i < k; i++) rs_gen_call_replay(j, mine, i, capture->api[i]);
    }
}

static bool has_member(const struct rs_gen_comm *c, int rank)
{
    for (int m = 0; m < c->n; m++)
        if (c->ranks[m] == rank) return true;
    return false;
}

/* Whether a rank is left to call an operation of this communicator: in a hang all calls end. */
static bool anybody(struct rs_gen_job *j, const struct rs_gen_comm *c)
{
    if (!j->hung) return true;
    for (int m = 0; m < c->n; m++)
        if (rs_gen_op_fate(j, c->ranks[m]) != RS_GEN_ABSENT) return true;
    return false;
}

static void run(struct rs_gen_job *j, struct rs_gen_coll *c, struct rs_gen_capture *capture)
{
    struct rs_gen_comm *comm = c->comm;
    const struct rs_gen_config *cfg = j->cfg;
    int n = comm->n, odd_rank = -1, last = -1;
    struct rs_gen_coll odd = *c;
    for (int i = 0; i < cfg->nmismatch; i++) {
        if (cfg->mismatch[i].step != j->step || c->buffer || capture) continue; /* in the first of the step */
        if (!has_member(comm, cfg->mismatch[i].rank)) continue;
        odd_rank = cfg->mismatch[i].rank;
        odd.count = c->count / 2;
        rs_gen_truth_mismatch(j->truth, c->op, odd_rank, odd.count);
    }
    for (int m = 0; m < n; m++) {
        enum rs_gen_fate fate = rs_gen_op_fate(j, comm->ranks[m]);
        /* NCCL learns of a replay when the GPU reaches it. */
        j->fate[m] = (uint8_t)(capture && fate == RS_GEN_QUEUED ? RS_GEN_ABSENT : fate);
    }
    bool here = rs_gen_hang_enter(j, c, &odd);
    if (here && odd.count != c->count) odd_rank = cfg->hang_at.rank;
    if (here && odd.func != c->func) odd_rank = cfg->hang_at.rank;
    make_calls(j, c, &odd, odd_rank, capture);

    bool complete = !here;
    int64_t latest = INT64_MIN, root_start = 0;
    for (int m = 0; m < n; m++) {
        j->start[m] = j->end[m] = RS_GEN_NEVER;
        if (j->fate[m] != RS_GEN_STARTS) {
            complete = false;
            continue;
        }
        j->start[m] = rs_gen_op_start(j, comm->ranks[m], j->kl[m], c->stream);
        if (j->start[m] > latest) latest = j->start[last = m];
    }
    if (c->func == RS_GEN_BROADCAST) root_start = j->start[c->root];
    double move = ring_ns(j, c) * comm->slow + comm->credit;
    for (int m = 0; m < n; m++) {
        int rank = comm->ranks[m];
        int64_t from = latest;
        if (complete) {
            if (c->func == RS_GEN_BROADCAST) from = j->start[m] > root_start ? j->start[m] : root_start;
            double behind = n > 1 ? (double)((m - last + n) % n) / (n - 1) : 0;
            int64_t end = from + (int64_t)move + rs_gen_op_spread(j, rank, behind);
            j->end[m] = end > from + 1000 ? end : from + 1000;
        }
        if (j->fate[m] != RS_GEN_ABSENT) hand_over(j, c, m, from, from + (int64_t)move - 1000, here);
        if (complete)
            rs_gen_op_done(j, rank, j->end[m], c->stream);
        else if (j->fate[m] != RS_GEN_ABSENT)
            rs_gen_op_stuck(j, rank);
    }
    if (here && cfg->hang == RS_GEN_DEAD) rs_gen_process_of(j, cfg->hang_at.rank)->gone = true;
    for (int m = 0; m < n; m++) {
        struct rs_gen_rank *r = &j->ranks[comm->ranks[m]];
        rs_gen_proxy_until(&r->proxy, j->procs[r->process].cpu);
    }
    if (complete) rs_gen_op_cost(j, comm->ranks, j->start, n);
    struct rs_gen_op op = {.number = c->op,
                           .comm = (int)(comm - j->comms),
                           .func = c->func,
                           .seq = c->seq,
                           .replay = capture ? capture->replays : RS_GEN_NO_REPLAY,
                           .step = j->step,
                           .bytes = c->bytes,
                           .src = -1,
                           .dst = -1,
                           .complete = complete};
    rs_gen_truth_op(j->truth, &op, j->start, j->end, n);
}

static struct rs_gen_coll describe(struct rs_gen_job *j, int comm, int func, uint64_t bytes, enum rs_gen_stream stream,
                                   uint32_t buffer)
{
    struct rs_gen_comm *c = &j->comms[comm];
    uint64_t n = (uint64_t)c->n, count = bytes / ELEMENT;
    if (func == RS_GEN_ALLREDUCE) count = bytes / FLOAT;
    if (func == RS_GEN_ALLGATHER || func == RS_GEN_REDUCESCATTER) count = bytes / n / ELEMENT;
    if (!count) count = 1;
    uint64_t whole = func == RS_GEN_ALLREDUCE   ? count * FLOAT
                     : func == RS_GEN_BROADCAST ? count * ELEMENT
                                                : count * n * ELEMENT;
    return (struct rs_gen_coll){
        .comm = c, .func = func, .count = count, .bytes = whole, .buffer = buffer, .stream = stream};
}

void rs_gen_op_coll(struct rs_gen_job *j, int comm, int func, uint64_t bytes, enum rs_gen_stream stream,
                    uint32_t buffer)
{
    /* NCCL does not report collectives of one rank. */
    if (j->comms[comm].n < 2 || !anybody(j, &j->comms[comm])) return;
    struct rs_gen_coll c = describe(j, comm, func, bytes, stream, buffer);
    c.seq = c.comm->seq[func]++;
    c.op = j->ops++;
    run(j, &c, NULL);
}

void rs_gen_op_capture(struct rs_gen_job *j, int comm, uint64_t bytes, uint32_t buffer, struct rs_gen_capture *cap)
{
    struct rs_gen_comm *c = &j->comms[comm];
    *cap = (struct rs_gen_capture){.coll = describe(j, comm, RS_GEN_ALLREDUCE, bytes, RS_GEN_MAIN, buffer)};
    cap->api = rs_zalloc((size_t)c->n, sizeof *cap->api);
    bool report = j->cfg->replays_unreported;
    cap->coll.seq = c->seq[RS_GEN_ALLREDUCE]; /* frozen without KernelCh */
    cap->coll.op = report ? j->ops++ : UINT64_MAX;
    for (int m = 0, k; m < c->n; m = k) {
        for (k = m + 1; k < c->n && j->ranks[c->ranks[k]].process == j->ranks[c->ranks[m]].process;) k++;
        rs_gen_call_capture(j, &cap->coll, m, k - m, cap->api, report);
    }
    if (report) {
        for (int m = 0; m < c->n; m++) j->start[m] = j->end[m] = RS_GEN_NEVER;
        struct rs_gen_op op = {.number = cap->coll.op,
                               .comm = comm,
                               .func = RS_GEN_ALLREDUCE,
                               .seq = cap->coll.seq,
                               .step = j->step,
                               .bytes = cap->coll.bytes,
                               .src = -1,
                               .dst = -1,
                               .complete = true};
        rs_gen_truth_op(j->truth, &op, j->start, j->end, c->n);
    }
}

void rs_gen_op_late(struct rs_gen_job *j, const struct rs_gen_coll *c, int m)
{
    j->fate[m] = RS_GEN_QUEUED;
    j->end[m] = RS_GEN_NEVER;
    rs_gen_call_coll(j, c, m, 1);
    hand_over(j, c, m, 0, 0, false);
}

void rs_gen_op_replay(struct rs_gen_job *j, struct rs_gen_capture *cap)
{
    struct rs_gen_coll c = cap->coll;
    if (j->cfg->replays_unreported) { /* the GPU works without a report */
        for (int m = 0; m < c.comm->n; m++) {
            struct rs_gen_rank *r = &j->ranks[c.comm->ranks[m]];
            r->gpu_free += r->compute + (int64_t)rs_gen_move_ns(j, c.bytes, c.comm->nnodes > 1);
            r->compute = 0;
        }
    } else if (anybody(j, c.comm)) {
        c.seq = c.comm->seq[RS_GEN_ALLREDUCE]++;
        c.op = j->ops++;
        run(j, &c, cap);
    }
    cap->replays++;
}

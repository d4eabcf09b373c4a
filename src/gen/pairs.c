/* Sends and receives of the timeline: see op.h. */
#include <stdlib.h>

#include "base/memory.h"
#include "gen/op.h"

enum { ELEMENT = 2 };

/* Work space for one group of pairs, by member and by pair. */
struct work {
    struct rs_gen_job *j;
    struct rs_gen_comm *comm;
    const struct rs_gen_pair *pairs;
    int npairs;
    uint64_t first_op;
    int *begin; /* n + 1: where a member's tasks begin */
    struct rs_gen_task *tasks; /* by member, in the order of the calls */
    int *pair_of; /* task -> pair */
    uint64_t *handles; /* of tasks */
    int *order; /* of one member's tasks, as planned */
    int *send_to, *recv_from; /* peer -> task of one member, or -1 */
};

static void allocate(struct work *w)
{
    size_t n = (size_t)w->comm->n, tasks = (size_t)w->npairs * 2;
    w->begin = rs_zalloc(n + 1, sizeof *w->begin);
    w->tasks = rs_zalloc(tasks, sizeof *w->tasks);
    w->pair_of = rs_zalloc(tasks, sizeof *w->pair_of);
    w->handles = rs_zalloc(tasks, sizeof *w->handles);
    w->order = rs_zalloc(tasks, sizeof *w->order);
    w->send_to = rs_alloc(n * sizeof *w->send_to);
    w->recv_from = rs_alloc(n * sizeof *w->recv_from);
    if (!w->comm->pairs) w->comm->pairs = rs_zalloc(n * n, sizeof *w->comm->pairs);
}

static void release(struct work *w)
{
    free(w->begin);
    free(w->tasks);
    free(w->pair_of);
    free(w->handles);
    free(w->order);
    free(w->send_to);
    free(w->recv_from);
}

/* Sorts the pairs into tasks of members, in the order of the pairs. */
static void share_out(struct work *w)
{
    int n = w->comm->n;
    for (int i = 0; i < w->npairs; i++) {
        w->begin[w->pairs[i].src + 1]++;
        w->begin[w->pairs[i].dst + 1]++;
    }
    for (int m = 0; m < n; m++) w->begin[m + 1] += w->begin[m];
    for (int m = 0; m < n; m++) w->send_to[m] = w->begin[m]; /* next free place */
    for (int i = 0; i < w->npairs; i++) {
        const struct rs_gen_pair *p = &w->pairs[i];
        for (int send = 1; send >= 0; send--) {
            int at = w->send_to[send ? p->src : p->dst]++;
            w->tasks[at] = (struct rs_gen_task){.op = w->first_op + (uint64_t)i,
                                                .count = p->bytes / ELEMENT,
                                                .peer = send ? p->dst : p->src,
                                                .send = send};
            w->pair_of[at] = i;
        }
    }
}

/* NCCL's order: round by round, the send of a round before its receive. */
static void plan(struct work *w, int m)
{
    int n = w->comm->n, first = w->begin[m], count = w->begin[m + 1] - first, at = 0;
    for (int i = 0; i < n; i++) w->send_to[i] = w->recv_from[i] = -1;
    for (int i = 0; i < count; i++) {
        const struct rs_gen_task *k = &w->tasks[first + i];
        *(k->send ? &w->send_to[k->peer] : &w->recv_from[k->peer]) = i;
    }
    for (int round = 0; round < n; round++) {
        int s = w->send_to[(m + round) % n], r = w->recv_from[(m - round + n) % n];
        if (s >= 0) w->order[first + at++] = s;
        if (r >= 0) w->order[first + at++] = r;
    }
}

static bool runs(const struct work *w, const struct rs_gen_pair *p)
{
    return w->j->fate[p->src] == RS_GEN_STARTS && w->j->fate[p->dst] == RS_GEN_STARTS;
}

/* When the last peer of member m has started, and how long its data take; false: some peer never starts. */
static bool meet(const struct work *w, int m, int64_t *from, double *move, double *credit)
{
    struct rs_gen_job *j = w->j;
    const int *ranks = w->comm->ranks;
    double out = 0, in = 0, out_slow = 1;
    *credit = 0;
    bool net = false;
    *from = j->start[m];
    for (int i = w->begin[m]; i < w->begin[m + 1]; i++) {
        const struct rs_gen_pair *p = &w->pairs[w->pair_of[i]];
        if (!runs(w, p)) return false;
        if (j->start[p->src] > *from) *from = j->start[p->src];
        if (j->start[p->dst] > *from) *from = j->start[p->dst];
        double factor = rs_gen_link_factor(j, ranks[p->src], ranks[p->dst]);
        if (factor > out_slow) out_slow = factor;
        bool remote = rs_gen_remote(j, ranks[p->src], ranks[p->dst]);
        if (remote && j->ranks[ranks[p->dst]].credit_ns > *credit) *credit = j->ranks[ranks[p->dst]].credit_ns;
        net |= remote;
        if (p->src != p->dst) *(p->src == m ? &out : &in) += (double)p->bytes;
    }
    *move = rs_gen_move_ns(j, (uint64_t)(out > in ? out : in), net) * out_slow + *credit;
    return true;
}

static void hand_over(struct work *w, int m, int64_t from, double move, double credit)
{
    struct rs_gen_job *j = w->j;
    struct rs_gen_comm *comm = w->comm;
    int rank = comm->ranks[m], n = comm->n, count = w->begin[m + 1] - w->begin[m];
    int channels = j->cfg->channels >= 4 ? 2 : 1;
    struct rs_gen_rank *r = &j->ranks[rank];
    struct rs_gen_rng rng = rs_gen_noise(j, rank, RS_GEN_FOR_PROXY);
    if (r->proxy.slot->off || j->cfg->replays_unreported) return;
    struct rs_gen_launch *l = rs_gen_proxy_push(&r->proxy, RS_GEN_MAIN, count, count * channels);
    l->ctx = comm->ctx[m];
    l->rank = m;
    l->pid = j->procs[r->process].pid;
    l->post = j->post[m];
    l->start = j->fate[m] == RS_GEN_STARTS ? j->start[m] : RS_GEN_NEVER;
    l->transfer = from;
    l->net_end = from + (int64_t)move - 1000;
    l->end = j->end[m];
    l->fed_part = 1 - 0.875 * (move - credit) / (move > 0 ? move : 1);
    l->p2p = true;
    l->rng = rng;
    for (int i = 0; i < count; i++) {
        int at = w->begin[m] + w->order[w->begin[m] + i];
        const struct rs_gen_task *k = &w->tasks[at];
        int src = k->send ? m : k->peer, dst = k->send ? k->peer : m;
        int channel = (dst - src + n) % n * channels % j->cfg->channels;
        bool self = src == dst;
        l->events[l->nevents++] = (struct rs_gen_event){.handle = w->handles[at],
                                                        .op = k->op,
                                                        .first_channel = (uint8_t)channel,
                                                        .nchannels = self ? 0 : (uint8_t)channels};
        if (!j->cfg->net || !rs_gen_remote(j, rank, comm->ranks[k->peer])) continue;
        bool peer_there = j->fate[k->peer] == RS_GEN_STARTS, waits = credit > 0 && l->end != RS_GEN_NEVER;
        bool late = waits && j->ranks[comm->ranks[dst]].credit_ns > 0;
        for (int ch = 0; ch < channels; ch++)
            l->nets[l->nnets++] =
                (struct rs_gen_net){.parent = w->handles[at],
                                    .op = k->op,
                                    .bytes = k->count * ELEMENT / (uint64_t)channels / (uint64_t)j->cfg->net_steps,
                                    .peer = k->peer,
                                    .channel = (uint8_t)((channel + ch) % j->cfg->channels),
                                    .send = k->send,
                                    .late_credit = late,
                                    .fed_late = waits && !late,
                                    .done = peer_there ? j->cfg->net_steps : 0,
                                    .state = k->send ? RS_ST_STEP_SEND_PEER_WAIT : RS_ST_STEP_RECV_WAIT};
    }
}

/* Writes the truth of each pair, and the cost of being last: of one pair, or of the fan-out as a whole. */
static void write_down(struct work *w, int comm, int depth, bool fanout)
{
    struct rs_gen_job *j = w->j;
    int n = w->comm->n, there = 0;
    for (int i = 0; i < w->npairs; i++) {
        const struct rs_gen_pair *p = &w->pairs[i];
        if (j->fate[p->src] == RS_GEN_ABSENT && j->fate[p->dst] == RS_GEN_ABSENT) continue; /* not called */
        struct rs_gen_op op = {.number = w->first_op + (uint64_t)i,
                               .comm = comm,
                               .func = RS_GEN_SEND,
                               .index = w->comm->pairs[(size_t)p->src * (size_t)n + (size_t)p->dst]++,
                               .replay = RS_GEN_NO_REPLAY,
                               .step = j->step,
                               .bytes = p->bytes,
                               .src = p->src,
                               .dst = p->dst,
                               .complete =
                                   runs(w, p) && j->end[p->src] != RS_GEN_NEVER && j->end[p->dst] != RS_GEN_NEVER};
        const int64_t start[2] = {j->start[p->src], j->start[p->dst]}, end[2] = {j->end[p->src], j->end[p->dst]};
        const int members[2] = {w->comm->ranks[p->src], w->comm->ranks[p->dst]};
        rs_gen_truth_op(j->truth, &op, start, end, 2);
        if (!fanout && op.complete) rs_gen_op_cost(j, members, start, 2);
    }
    if (!fanout) return;
    rs_gen_truth_fanout(j->truth, comm, j->step, depth, w->first_op, (uint64_t)w->npairs);
    int *ranks = rs_alloc((size_t)n * sizeof *ranks);
    bool all = true;
    for (int m = 0; m < n; m++) {
        if (w->begin[m] == w->begin[m + 1]) continue;
        all &= j->end[m] != RS_GEN_NEVER;
        ranks[there] = w->comm->ranks[m];
        j->kl[there++] = j->start[m]; /* not needed any more */
    }
    if (all) rs_gen_op_cost(j, ranks, j->kl, there);
    free(ranks);
}

static void run(struct work *w, int comm, int depth, bool fanout)
{
    struct rs_gen_job *j = w->j;
    int n = w->comm->n;
    for (int m = 0; m < n; m++) {
        int rank = w->comm->ranks[m], count = w->begin[m + 1] - w->begin[m];
        struct rs_gen_process *p = rs_gen_process_of(j, rank);
        j->start[m] = j->end[m] = RS_GEN_NEVER;
        j->fate[m] = (uint8_t)(count ? rs_gen_op_fate(j, rank) : RS_GEN_ABSENT);
        if (j->fate[m] == RS_GEN_ABSENT) continue;
        p->ahead -= p->stuck;
        plan(w, m);
        rs_gen_call_p2p(j, w->comm, m, w->tasks + w->begin[m], count, w->order + w->begin[m], depth, RS_GEN_MAIN,
                        w->handles + w->begin[m]);
        if (j->fate[m] == RS_GEN_STARTS) j->start[m] = rs_gen_op_start(j, rank, j->kl[m], RS_GEN_MAIN);
    }
    for (int m = 0; m < n; m++) {
        int rank = w->comm->ranks[m];
        int64_t from = j->start[m];
        double move = 0, credit = 0;
        if (j->fate[m] == RS_GEN_ABSENT) continue;
        bool ends = j->fate[m] == RS_GEN_STARTS && meet(w, m, &from, &move, &credit);
        if (ends) j->end[m] = from + (int64_t)move + rs_gen_op_spread(j, rank, 0);
        if (ends && j->end[m] < from + 1000) j->end[m] = from + 1000;
        hand_over(w, m, from, move, credit);
        if (ends)
            rs_gen_op_done(j, rank, j->end[m], RS_GEN_MAIN);
        else
            rs_gen_op_stuck(j, rank);
        rs_gen_proxy_until(&j->ranks[rank].proxy, rs_gen_process_of(j, rank)->cpu);
    }
    write_down(w, comm, depth, fanout);
}

void rs_gen_op_pairs(struct rs_gen_job *j, int comm, const struct rs_gen_pair *pairs, int n, int depth, bool fanout)
{
    struct work w = {.j = j, .comm = &j->comms[comm], .pairs = pairs, .npairs = n, .first_op = j->ops};
    if (n < 1) return;
    j->ops += (uint64_t)n;
    allocate(&w);
    share_out(&w);
    run(&w, comm, depth, fanout);
    release(&w);
}

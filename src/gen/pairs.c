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

/* What one member calls. */
struct part {
    struct rs_gen_comm *comm;
    int m, n; /* n: tasks */
    const struct rs_gen_task *tasks;
    const int *order;
    uint64_t *handles;
    enum rs_gen_stream stream;
};

/* What is moved to and from a member at a time. */
struct transfer {
    int64_t from; /* the last one that it needs has started */
    double move, credit; /* ns; move includes credit */
    double slow; /* factor of its slowest link */
    bool net;
};

static void need_counts(struct rs_gen_comm *c)
{
    size_t n = (size_t)c->n;
    if (!c->pairs) c->pairs = rs_zalloc(n * n, sizeof *c->pairs);
}

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
    need_counts(w->comm);
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

/* Whether a send is done without its receiver. */
static bool is_eager(const struct rs_gen_job *j, const struct rs_gen_pair *p, int m)
{
    return p->src == m && p->dst != m && (int64_t)p->bytes <= j->cfg->eager;
}

/* Adds a pair of members to what a transfer takes: between hosts or not, the slowest link, the latest credit. */
static void add_link(const struct rs_gen_job *j, const struct rs_gen_comm *comm, const struct rs_gen_pair *p,
                     struct transfer *t)
{
    int src = comm->ranks[p->src], dst = comm->ranks[p->dst];
    double factor = rs_gen_link_factor(j, src, dst);
    bool remote = rs_gen_remote(j, src, dst);
    if (factor > t->slow) t->slow = factor;
    if (remote && j->ranks[dst].credit_ns > t->credit) t->credit = j->ranks[dst].credit_ns;
    t->net |= remote;
}

static double transfer_ns(const struct rs_gen_job *j, const struct transfer *t, double bytes)
{
    return rs_gen_move_ns(j, (uint64_t)bytes, t->net) * t->slow + t->credit;
}

/* When the last peer of member m has started, and how long its data take; false: some peer never starts. */
static bool meet(const struct work *w, int m, struct transfer *t)
{
    struct rs_gen_job *j = w->j;
    double out = 0, in = 0;
    t->from = j->start[m];
    for (int i = w->begin[m]; i < w->begin[m + 1]; i++) {
        const struct rs_gen_pair *p = &w->pairs[w->pair_of[i]];
        if (!runs(w, p)) return false;
        if (j->start[p->src] > t->from) t->from = j->start[p->src];
        if (j->start[p->dst] > t->from && !is_eager(j, p, m)) t->from = j->start[p->dst];
        add_link(j, w->comm, p, t);
        if (p->src != p->dst) *(p->src == m ? &out : &in) += (double)p->bytes;
    }
    t->move = transfer_ns(j, t, out > in ? out : in);
    return true;
}

static struct part part_of(struct work *w, int m)
{
    int first = w->begin[m];
    return (struct part){.comm = w->comm,
                         .m = m,
                         .n = w->begin[m + 1] - first,
                         .tasks = w->tasks + first,
                         .order = w->order + first,
                         .handles = w->handles + first};
}

/* The call of a member, and when its kernel starts. */
static void call(struct rs_gen_job *j, const struct part *a, int depth)
{
    int rank = a->comm->ranks[a->m];
    struct rs_gen_process *p = rs_gen_process_of(j, rank);
    p->ahead -= p->stuck;
    rs_gen_call_p2p(j, a->comm, a->m, a->tasks, a->n, a->order, depth, a->stream, a->handles);
    if (j->fate[a->m] == RS_GEN_STARTS) j->start[a->m] = rs_gen_op_start(j, rank, j->kl[a->m], a->stream);
}

/* What is known once both sides of a transfer are. */
static void complete(struct rs_gen_launch *l, const struct transfer *t, int64_t end)
{
    l->transfer = t->from;
    l->net_end = t->from + (int64_t)t->move - 1000;
    l->end = end;
    l->fed_part = t->move > 0 ? 1 - 0.875 * (t->move - t->credit) / t->slow / t->move : 0;
}

/* Posts the work of a member to its proxy; NULL: nothing is recorded there. */
static struct rs_gen_launch *hand_over(struct rs_gen_job *j, const struct part *a, const struct transfer *t)
{
    struct rs_gen_comm *comm = a->comm;
    int m = a->m, rank = comm->ranks[m], n = comm->n, channels = j->cfg->channels >= 4 ? 2 : 1;
    struct rs_gen_rank *r = &j->ranks[rank];
    struct rs_gen_rng rng = rs_gen_noise(j, rank, RS_GEN_FOR_PROXY);
    if (r->proxy.slot->off || j->cfg->replays_unreported || !j->procs[r->process].call_detail) return NULL;
    struct rs_gen_launch *l = rs_gen_proxy_push(&r->proxy, a->stream, a->n, a->n * channels);
    l->ctx = comm->ctx[m];
    l->rank = m;
    l->pid = j->procs[r->process].pid;
    l->post = j->post[m];
    l->start = j->fate[m] == RS_GEN_STARTS ? j->start[m] : RS_GEN_NEVER;
    l->p2p = true;
    l->rng = rng;
    complete(l, t, j->end[m]);
    bool waits = t->credit > 0 && l->end != RS_GEN_NEVER;
    for (int i = 0; i < a->n; i++) {
        const struct rs_gen_task *k = &a->tasks[a->order[i]];
        uint64_t handle = a->handles[a->order[i]];
        int src = k->send ? m : k->peer, dst = k->send ? k->peer : m;
        int channel = (dst - src + n) % n * channels % j->cfg->channels;
        bool self = src == dst;
        l->events[l->nevents++] = (struct rs_gen_event){.handle = handle,
                                                        .op = k->op,
                                                        .first_channel = (uint8_t)channel,
                                                        .nchannels = self ? 0 : (uint8_t)channels};
        if (!j->cfg->net || !rs_gen_remote(j, rank, comm->ranks[k->peer])) continue;
        bool peer_there = j->fate[k->peer] == RS_GEN_STARTS, late = waits && j->ranks[comm->ranks[dst]].credit_ns > 0;
        bool slow = t->slow > 1 && rs_gen_link_factor(j, rank, comm->ranks[k->peer]) >= t->slow;
        for (int ch = 0; ch < channels; ch++)
            l->nets[l->nnets++] =
                (struct rs_gen_net){.parent = handle,
                                    .op = k->op,
                                    .bytes = k->count * ELEMENT / (uint64_t)channels / (uint64_t)j->cfg->net_steps,
                                    .peer = k->peer,
                                    .channel = (uint8_t)((channel + ch) % j->cfg->channels),
                                    .send = k->send,
                                    .late_credit = late,
                                    .fed_late = (t->slow > 1 || waits) && !slow && !late,
                                    .done = peer_there ? j->cfg->net_steps : 0,
                                    .state = k->send ? RS_ST_STEP_SEND_PEER_WAIT : RS_ST_STEP_RECV_WAIT};
    }
    return l;
}

/* The end of a member's part, if it has one. */
static void finish(struct rs_gen_job *j, const struct part *a, const struct transfer *t, bool ends)
{
    int m = a->m, rank = a->comm->ranks[m];
    if (!ends) {
        rs_gen_op_stuck(j, rank);
        return;
    }
    j->end[m] = t->from + (int64_t)t->move + rs_gen_op_spread(j, rank, 0);
    if (j->end[m] < t->from + 1000) j->end[m] = t->from + 1000;
    rs_gen_op_done(j, rank, j->end[m], a->stream);
}

/* Writes the truth of a pair. Returns whether it is complete. */
static bool write_pair(struct rs_gen_job *j, struct rs_gen_comm *comm, const struct rs_gen_pair *p, uint64_t number)
{
    bool whole = j->end[p->src] != RS_GEN_NEVER && j->end[p->dst] != RS_GEN_NEVER;
    struct rs_gen_op op = {.number = number,
                           .comm = (int)(comm - j->comms),
                           .func = RS_GEN_SEND,
                           .index = comm->pairs[(size_t)p->src * (size_t)comm->n + (size_t)p->dst]++,
                           .replay = RS_GEN_NO_REPLAY,
                           .step = j->step,
                           .bytes = p->bytes,
                           .src = p->src,
                           .dst = p->dst,
                           .complete = whole};
    const int64_t start[2] = {j->start[p->src], j->start[p->dst]}, end[2] = {j->end[p->src], j->end[p->dst]};
    rs_gen_truth_op(j->truth, &op, start, end, 2);
    return whole;
}

static void pair_cost(struct rs_gen_job *j, const struct rs_gen_comm *comm, const struct rs_gen_pair *p)
{
    const int members[2] = {comm->ranks[p->src], comm->ranks[p->dst]};
    const int64_t start[2] = {j->start[p->src], j->start[p->dst]};
    rs_gen_op_cost(j, members, start, 2);
}

/* Writes the truth of each pair, and the cost of being last: of one pair, or of the fan-out as a whole. */
static void write_down(struct work *w, int comm, int depth, bool fanout)
{
    struct rs_gen_job *j = w->j;
    int n = w->comm->n, there = 0;
    for (int i = 0; i < w->npairs; i++) {
        const struct rs_gen_pair *p = &w->pairs[i];
        if (j->fate[p->src] == RS_GEN_ABSENT && j->fate[p->dst] == RS_GEN_ABSENT) continue; /* not called */
        if (write_pair(j, w->comm, p, w->first_op + (uint64_t)i) && !fanout) pair_cost(j, w->comm, p);
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
        int rank = w->comm->ranks[m];
        j->start[m] = j->end[m] = RS_GEN_NEVER;
        j->fate[m] = (uint8_t)(w->begin[m] < w->begin[m + 1] ? rs_gen_op_fate(j, rank) : RS_GEN_ABSENT);
        if (j->fate[m] == RS_GEN_ABSENT) continue;
        plan(w, m);
        struct part a = part_of(w, m);
        call(j, &a, depth);
    }
    for (int m = 0; m < n; m++) {
        int rank = w->comm->ranks[m];
        struct transfer t = {.from = j->start[m], .slow = 1};
        if (j->fate[m] == RS_GEN_ABSENT) continue;
        struct part a = part_of(w, m);
        bool ends = j->fate[m] == RS_GEN_STARTS && meet(w, m, &t);
        finish(j, &a, &t, ends);
        hand_over(j, &a, &t);
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

/* ---- sends that run beside what follows ---- */

static const int first_of_one = 0;

void rs_gen_op_post(struct rs_gen_job *j, int comm, struct rs_gen_pair pair, enum rs_gen_stream stream,
                    struct rs_gen_posted *posted)
{
    struct rs_gen_comm *c = &j->comms[comm];
    int rank = c->ranks[pair.src];
    struct rs_gen_task task = {.op = j->ops++, .count = pair.bytes / ELEMENT, .peer = pair.dst, .send = true};
    uint64_t handle = 0;
    struct part a = {
        .comm = c, .m = pair.src, .n = 1, .tasks = &task, .order = &first_of_one, .handles = &handle, .stream = stream};
    j->start[pair.src] = j->end[pair.src] = RS_GEN_NEVER;
    enum rs_gen_fate fate = rs_gen_op_fate(j, rank);
    j->fate[pair.src] = (uint8_t)fate;
    j->fate[pair.dst] = RS_GEN_STARTS; /* as far as is known */
    need_counts(c);
    *posted = (struct rs_gen_posted){.comm = comm, .pair = pair, .op = task.op, .stream = stream, .fate = fate};
    if (fate == RS_GEN_ABSENT) return;
    call(j, &a, 1);
    posted->start = j->start[pair.src];
    struct transfer t = {.slow = 1};
    add_link(j, c, &pair, &t);
    j->end[pair.src] = 0; /* it will have one */
    struct rs_gen_launch *l = hand_over(j, &a, &t);
    if (l) l->pending = posted->recorded = true;
    rs_gen_proxy_until(&j->ranks[rank].proxy, rs_gen_process_of(j, rank)->cpu);
}

void rs_gen_op_take(struct rs_gen_job *j, const struct rs_gen_posted *s)
{
    struct rs_gen_comm *c = &j->comms[s->comm];
    int src = s->pair.src, dst = s->pair.dst, rank = c->ranks[dst];
    struct rs_gen_task task = {.op = s->op, .count = s->pair.bytes / ELEMENT, .peer = src};
    uint64_t handle = 0;
    struct part sender = {.comm = c, .m = src, .stream = s->stream};
    struct part receiver = {
        .comm = c, .m = dst, .n = 1, .tasks = &task, .order = &first_of_one, .handles = &handle, .stream = RS_GEN_MAIN};
    j->start[dst] = j->end[dst] = j->end[src] = RS_GEN_NEVER;
    /* Sends of a stream are one after the other. */
    int64_t before = j->ranks[c->ranks[src]].side_free[s->stream];
    j->start[src] = s->start < before ? before : s->start;
    j->fate[src] = (uint8_t)s->fate;
    j->fate[dst] = (uint8_t)rs_gen_op_fate(j, rank);
    if (j->fate[src] == RS_GEN_ABSENT && j->fate[dst] == RS_GEN_ABSENT) return; /* not called */
    if (j->fate[dst] != RS_GEN_ABSENT) call(j, &receiver, 1);
    bool ends = j->fate[src] == RS_GEN_STARTS && j->fate[dst] == RS_GEN_STARTS;
    struct transfer t = {.from = j->start[dst], .slow = 1}, sent;
    if (ends) {
        add_link(j, c, &s->pair, &t);
        t.move = transfer_ns(j, &t, (double)s->pair.bytes);
        if (t.from < j->start[src]) t.from = j->start[src];
    }
    sent = t;
    if (is_eager(j, &s->pair, src)) sent.from = j->start[src];
    if (s->fate != RS_GEN_ABSENT) finish(j, &sender, &sent, ends);
    struct rs_gen_launch *l = s->recorded ? rs_gen_proxy_pending(&j->ranks[c->ranks[src]].proxy, s->stream) : NULL;
    if (l) {
        l->pending = false;
        l->start = s->fate == RS_GEN_STARTS ? j->start[src] : RS_GEN_NEVER;
        complete(l, &sent, j->end[src]);
    }
    if (j->fate[dst] != RS_GEN_ABSENT) {
        finish(j, &receiver, &t, ends);
        hand_over(j, &receiver, &t);
    }
    rs_gen_proxy_until(&j->ranks[rank].proxy, rs_gen_process_of(j, rank)->cpu);
    if (write_pair(j, c, &s->pair, s->op)) pair_cost(j, c, &s->pair);
}

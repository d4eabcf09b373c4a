#include "gen/hang.h"

#include "nccl/names.h"

enum { DIES_AFTER_NS = 6000000 }; /* from the start of its kernel: includes late callbacks of the proxy */

const char *const rs_gen_hang_names[RS_GEN_HANGS] = {
    NULL,          "dead",           "not-joined",  "outside",  "mismatch",      "mismatch-func", "stream-blocked",
    "stalled-net", "stalled-credit", "stalled-gpu", "deadlock", "deadlock-sync",
};

static const char *const verdicts[RS_GEN_HANGS] = {
    NULL,           "RANK_DEAD",    "NOT_JOINED",   "OUTSIDE_NCCL", "MISMATCH", "MISMATCH", "STREAM_BLOCKED",
    "STALLED_STEP", "STALLED_STEP", "STALLED_STEP", "DEADLOCK",     "DEADLOCK",
};

static bool is_stall(enum rs_gen_hang h)
{
    return h == RS_GEN_STALLED_NET || h == RS_GEN_STALLED_CREDIT || h == RS_GEN_STALLED_GPU;
}

static int stall_state(enum rs_gen_hang h)
{
    return h == RS_GEN_STALLED_NET      ? RS_ST_STEP_SEND_WAIT
           : h == RS_GEN_STALLED_CREDIT ? RS_ST_STEP_SEND_PEER_WAIT
                                        : RS_ST_STEP_SEND_GPU_WAIT;
}

static void tell(struct rs_gen_job *j, const struct rs_gen_coll *c, int other_comm)
{
    const struct rs_gen_config *cfg = j->cfg;
    bool stall = is_stall(cfg->hang);
    struct rs_gen_verdict v = {.verdict = verdicts[cfg->hang],
                               .comm = c ? (int)(c->comm - j->comms) : -1,
                               .func = c ? c->func : -1,
                               .seq = c ? c->seq : 0,
                               .op = c ? c->op : 0,
                               .rank = cfg->hang == RS_GEN_OUTSIDE ? -1 : cfg->hang_at.rank,
                               .peer = stall ? c->comm->ranks[(j->hung_member + 1) % c->comm->n] : -1,
                               .step = stall ? cfg->net_steps / 2 : -1,
                               .state = stall ? rs_nccl_state_name(stall_state(cfg->hang)) : NULL,
                               .other_comm = other_comm};
    rs_gen_truth_hang(j->truth, &v);
}

bool rs_gen_hang_enter(struct rs_gen_job *j, const struct rs_gen_coll *c, struct rs_gen_coll *odd)
{
    const struct rs_gen_config *cfg = j->cfg;
    const struct rs_gen_comm *comm = c->comm;
    enum rs_gen_hang h = cfg->hang;
    if (h == RS_GEN_NO_HANG || h == RS_GEN_OUTSIDE || j->hung || j->step < cfg->hang_at.step) return false;
    int m = 0, r = cfg->hang_at.rank;
    while (m < comm->n && comm->ranks[m] != r) m++;
    if (m == comm->n) return false;
    if (is_stall(h) && (!rs_gen_remote(j, r, comm->ranks[(m + 1) % comm->n]) || c->func == RS_GEN_BROADCAST))
        return false;
    bool deadlock = h == RS_GEN_DEADLOCK || h == RS_GEN_DEADLOCK_SYNC;
    if (deadlock && j->hung_step != j->step) return false; /* done in rs_gen_hang_step() */
    struct rs_gen_process *p = rs_gen_process_of(j, r);
    j->hung = true;
    j->hung_step = j->step;
    j->hung_member = m;
    switch (h) {
    case RS_GEN_DEAD: /* this is its last call */
        p->died = p->cpu + DIES_AFTER_NS;
        if (p->died < j->ranks[r].gpu_free + j->ranks[r].compute + DIES_AFTER_NS)
            p->died = j->ranks[r].gpu_free + j->ranks[r].compute + DIES_AFTER_NS;
        break;
    case RS_GEN_NOT_JOINED: p->gone = true; break;
    case RS_GEN_MISMATCH_COUNT: odd->count = c->count / 2 ? c->count / 2 : 2; break;
    case RS_GEN_MISMATCH_FUNC:
        odd->func = c->func == RS_GEN_ALLREDUCE ? RS_GEN_REDUCESCATTER : RS_GEN_ALLREDUCE;
        odd->seq = comm->seq[odd->func];
        break;
    case RS_GEN_STREAM_BLOCKED: j->fate[m] = RS_GEN_BLOCKED; break;
    default: break;
    }
    if (p->gone || deadlock)
        for (int i = 0; i < comm->n; i++) /* all ranks of its process */
            if (j->ranks[comm->ranks[i]].process == j->ranks[r].process) j->fate[i] = RS_GEN_ABSENT;
    if (!deadlock) tell(j, c, -1);
    return true;
}

/* Whether this member blocks data. */
static bool blocks(const struct rs_gen_job *j, int m, bool here)
{
    return j->fate[m] != RS_GEN_STARTS || (here && j->cfg->hang == RS_GEN_DEAD && m == j->hung_member);
}

void rs_gen_hang_net(struct rs_gen_job *j, const struct rs_gen_comm *comm, int m, bool here, struct rs_gen_net *net)
{
    enum rs_gen_hang h = j->cfg->hang;
    int n = comm->n, steps = j->cfg->net_steps, sender = net->send ? m : (m + n - 1) % n, next = (sender + 1) % n;
    int done, state = net->send ? RS_ST_STEP_SEND_GPU_WAIT : RS_ST_STEP_RECV_WAIT;
    if (here && is_stall(h)) {
        /* Each hop further down the ring has one step more that does not depend on the stalled one. */
        int behind = (sender - j->hung_member + n) % n;
        done = steps / 2 + behind;
        if (!behind && net->send) state = stall_state(h);
    } else if (here && (h == RS_GEN_MISMATCH_COUNT || h == RS_GEN_MISMATCH_FUNC)) {
        done = 1;
    } else {
        int away = 1; /* hops since the member that blocks data */
        while (away < n && !blocks(j, (sender - away + n) % n, here)) away++;
        done = away;
        if (blocks(j, sender, here)) {
            done = 0;
        } else if (blocks(j, next, here) && j->fate[next] == RS_GEN_BLOCKED) {
            if (!net->send) { /* its proxy receives data, its GPU does not consume it */
                done = 0;
                state = RS_ST_STEP_RECV_GPU_WAIT;
            }
        } else if (blocks(j, next, here)) { /* no receiver: no credit; or it died after giving credit */
            done = 0;
            if (net->send) state = j->fate[next] == RS_GEN_STARTS ? RS_ST_STEP_SEND_WAIT : RS_ST_STEP_SEND_PEER_WAIT;
        }
    }
    net->done = done < steps ? done : steps;
    net->state = (uint8_t)state;
}

/* Rank R enters the second communicator first, all others the world. */
static void play_deadlock(struct rs_gen_job *j)
{
    struct rs_gen_comm *world = &j->comms[j->world];
    const uint64_t bytes = (uint64_t)j->cfg->bytes / 4;
    j->hung_step = j->step;
    struct rs_gen_coll c = {.comm = world,
                            .func = RS_GEN_ALLREDUCE,
                            .count = bytes / 4,
                            .bytes = bytes / 4 * 4,
                            .seq = world->seq[RS_GEN_ALLREDUCE],
                            .op = j->ops,
                            .buffer = 1};
    rs_gen_op_coll(j, j->world, RS_GEN_ALLREDUCE, bytes, RS_GEN_MAIN, 1);
    rs_gen_op_coll(j, j->second, RS_GEN_ALLREDUCE, bytes, RS_GEN_MAIN, 2);
    if (j->cfg->hang == RS_GEN_DEADLOCK) rs_gen_op_late(j, &c, j->hung_member);
    tell(j, &c, j->second);
}

bool rs_gen_hang_step(struct rs_gen_job *j)
{
    const struct rs_gen_config *c = j->cfg;
    if (c->hang == RS_GEN_NO_HANG || j->step < c->hang_at.step) return false;
    if (c->hang == RS_GEN_OUTSIDE) {
        tell(j, NULL, -1);
        return true;
    }
    if (c->hang == RS_GEN_DEADLOCK || c->hang == RS_GEN_DEADLOCK_SYNC) {
        play_deadlock(j);
        return true;
    }
    /* One more step, so that every rank reaches it. */
    return j->hung && j->step > j->hung_step;
}

#include "analyse/hang_steps.h"

#include <stdlib.h>

#include "base/memory.h"
#include "join/presence.h"
#include "nccl/abi.h"

/* One end of a hop: what a rank's network thread has open towards a peer on a channel. */
struct side {
    int32_t rank, peer, channel;
    bool is_send;
    bool stale; /* something was lost after its latest change */
    int32_t step, state; /* the oldest open step; -1: none is open */
    int32_t done, steps;
    int64_t since;
};

struct sides {
    struct side *rows; /* by rank, peer, channel, direction */
    size_t n;
};

static int by_end(const void *a, const void *b)
{
    const struct side *x = a, *y = b;
    if (x->rank != y->rank) return x->rank < y->rank ? -1 : 1;
    if (x->peer != y->peer) return x->peer < y->peer ? -1 : 1;
    if (x->channel != y->channel) return x->channel < y->channel ? -1 : 1;
    if (x->is_send != y->is_send) return x->is_send ? -1 : 1;
    if (x->stale != y->stale) return y->stale ? -1 : 1;
    uint32_t s = (uint32_t)x->step, t = (uint32_t)y->step; /* none (-1) comes last */
    return s < t ? -1 : s > t;
}

static bool same_end(const struct side *x, const struct side *y)
{
    return x->rank == y->rank && x->peer == y->peer && x->channel == y->channel && x->is_send == y->is_send;
}

static bool is_stale(const struct rs_model *m, const struct rs_open *o)
{
    const struct rs_proc *p = &m->procs[o->proc];
    return !p->complete && p->ngaps && rs_recorded_until(p, o->since, RS_PROXY_STEP) != INT64_MAX;
}

/* Of each end the oldest open step is kept: the newer ones wait for it. One that is stale only where there is no other. */
static void gather(const struct rs_model *m, uint32_t op, struct sides *s)
{
    size_t n = 0;
    for (int pass = 0; pass < 2; pass++) {
        n = 0;
        for (uint32_t i = 0; i < m->nopens; i++) {
            const struct rs_open *o = &m->opens[i];
            if (o->part >= m->parts.n || m->parts.op[o->part] != op || o->type == RS_KERNEL_CH) continue;
            if (pass)
                s->rows[n] = (struct side){.rank = m->members[m->parts.member[o->part]].rank,
                                           .peer = o->peer,
                                           .channel = o->channel,
                                           .is_send = o->is_send,
                                           .stale = is_stale(m, o),
                                           .step = o->type == RS_PROXY_STEP ? o->step : -1,
                                           .state = o->type == RS_PROXY_STEP ? o->state : -1,
                                           .done = o->done,
                                           .steps = o->steps,
                                           .since = o->since};
            n++;
        }
        if (!pass && n) s->rows = rs_alloc(n * sizeof *s->rows);
    }
    if (!n) return;
    qsort(s->rows, n, sizeof *s->rows, by_end);
    for (size_t i = 0; i < n; i++)
        if (!s->n || !same_end(&s->rows[s->n - 1], &s->rows[i])) s->rows[s->n++] = s->rows[i];
}

static const struct side *find(const struct sides *s, int32_t rank, int32_t peer, int32_t channel, bool is_send)
{
    struct side key = {.rank = rank, .peer = peer, .channel = channel, .is_send = is_send};
    size_t low = 0, high = s->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        key.step = s->rows[mid].step;
        key.stale = s->rows[mid].stale;
        if (by_end(&s->rows[mid], &key) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low < s->n && same_end(&s->rows[low], &key) && !s->rows[low].stale ? &s->rows[low] : NULL;
}

/* How far an end came: the step it is at. */
static int32_t at(const struct side *x)
{
    return x->step >= 0 ? x->step : x->done;
}

/* The end with the fewest steps done, as a part of its channel's, among those that wait for something. */
static const struct side *slowest(const struct sides *s, bool stale)
{
    const struct side *best = NULL;
    for (size_t i = 0; i < s->n; i++) {
        const struct side *x = &s->rows[i];
        if (x->step < 0 || x->stale != stale) continue;
        if (!best) best = x;
        int64_t steps = x->steps > 0 ? x->steps : 1, other = best->steps > 0 ? best->steps : 1;
        int64_t here = at(x) * other, there = at(best) * steps;
        /* Of one hop the sender's end says more. */
        if (here < there || (here == there && x->is_send && !best->is_send)) best = x;
    }
    return best;
}

/* What a rank with this end waits for: data that another should have sent it. NULL: it has none to wait for. */
static const struct side *starved(const struct sides *s, const struct side *send)
{
    const struct side *worst = NULL;
    for (size_t i = 0; i < s->n; i++) {
        const struct side *x = &s->rows[i];
        if (x->rank != send->rank || x->is_send || x->channel != send->channel) continue;
        if (x->stale || x->state != RS_ST_STEP_RECV_WAIT || at(x) > at(send)) continue;
        if (!worst || at(x) < at(worst)) worst = x;
    }
    return worst;
}

/* Whether data of the step that a rank should send has come to it over the network. What comes from ranks of its host is
 * not recorded. */
static bool is_fed(const struct sides *s, const struct side *send)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct side *x = &s->rows[i];
        if (x->rank != send->rank || x->is_send || x->channel != send->channel) continue;
        bool arrived = x->state == RS_ST_STEP_RECV_FLUSH_WAIT || x->state == RS_ST_STEP_RECV_GPU_WAIT;
        if (at(x) > at(send) || (arrived && at(x) == at(send))) return true;
    }
    return false;
}

static void blame(struct rs_stalled *out, enum rs_stall kind, const struct side *side, bool other)
{
    *out = (struct rs_stalled){.kind = kind,
                               .rank = other ? side->peer : side->rank,
                               .peer = other ? side->rank : side->peer,
                               .step = side->step,
                               .state = side->state,
                               .channel = side->channel,
                               .is_send = side->is_send != other,
                               .since = side->since};
}

/* Whether the network operations of a rank in an operation were recorded. */
static bool network_recorded(const struct rs_model *m, uint32_t op, int32_t rank)
{
    for (uint32_t i = 0; i < m->ops.nparts[op]; i++) {
        uint32_t part = m->order[m->ops.part[op] + i];
        if (m->members[m->parts.member[part]].rank == rank && (m->parts.flags[part] & RS_PART_NET)) return true;
    }
    return false;
}

/* Whether a rank's recording lost something: what it does not contain may have happened. */
static bool is_lossy(const struct rs_model *m, uint32_t op, int32_t rank)
{
    uint32_t x = rs_comm_member(m, m->ops.comm[op], rank);
    return x != RS_NONE && !m->procs[m->members[x].proc].complete;
}

/* Whether all hops of a channel, several of them, are at the same step: then none is behind the others. */
static bool all_alike(const struct sides *s, const struct side *of)
{
    size_t others = 0;
    for (size_t i = 0; i < s->n; i++) {
        const struct side *x = &s->rows[i];
        if (x->channel != of->channel || x->step < 0 || x->stale || x == of) continue;
        bool same_hop = x->rank == of->peer && x->peer == of->rank && x->is_send != of->is_send;
        if (same_hop) continue;
        if (at(x) != at(of)) return false;
        others++;
    }
    return others > 0;
}

/* Whether what a rank recorded of a channel is out of date. */
static bool is_hidden(const struct sides *s, int32_t rank, int32_t channel)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->rows[i].rank == rank && s->rows[i].channel == channel && s->rows[i].stale) return true;
    return false;
}

/* A hop seen from its sender. Returns the end to go on with, or NULL when `out` says who is to blame. */
static const struct side *at_sender(const struct rs_model *m, uint32_t op, const struct sides *s,
                                    const struct side *send, struct rs_stalled *out)
{
    const struct side *recv = find(s, send->peer, send->rank, send->channel, false);
    switch (send->state) {
    case RS_ST_STEP_SEND_GPU_WAIT: {
        const struct side *up = starved(s, send);
        if (up) return up;
        blame(out, all_alike(s, send) ? RS_STALL_SOMEWHERE : RS_STALL_GPU, send, false);
        out->fed = is_fed(s, send);
        return NULL;
    }
    case RS_ST_STEP_SEND_PEER_WAIT:
        if (recv && (recv->state == RS_ST_STEP_RECV_GPU_WAIT || recv->state == RS_ST_STEP_RECV_FLUSH_WAIT))
            blame(out, RS_STALL_GPU, recv, false);
        else if ((recv && recv->state == RS_ST_STEP_RECV_WAIT) || is_lossy(m, op, send->peer))
            blame(out, RS_STALL_LINK, send, false); /* one waits for data, the other for leave to send it */
        else
            blame(out, RS_STALL_RANK, send, true);
        return NULL;
    default: blame(out, RS_STALL_LINK, send, false); return NULL; /* on its way */
    }
}

static const struct side *at_receiver(const struct rs_model *m, uint32_t op, const struct sides *s,
                                      const struct side *recv, struct rs_stalled *out)
{
    if (recv->state != RS_ST_STEP_RECV_WAIT) {
        blame(out, RS_STALL_GPU, recv, false);
        return NULL;
    }
    const struct side *send = find(s, recv->peer, recv->rank, recv->channel, true);
    if (send && send->step >= 0 && send->step <= recv->step) return send;
    /* Sent, and not received: the link. A sender that has begun nothing has an operation with nothing done. */
    bool sent = send ? send->step > recv->step || send->done > recv->step : network_recorded(m, op, recv->peer);
    blame(out, sent ? RS_STALL_LINK : RS_STALL_RANK, recv, true);
    return NULL;
}

void rs_hang_steps(const struct rs_model *m, uint32_t op, struct rs_stalled *out)
{
    struct sides s = {0};
    *out = (struct rs_stalled){.rank = -1, .peer = -1, .step = -1, .state = -1, .channel = -1, .since = RS_TIME_NONE};
    gather(m, op, &s);
    const struct side *x = slowest(&s, false);
    if (!x) x = slowest(&s, true);
    for (size_t hops = 0; x && hops <= s.n; hops++) {
        const struct side *next = x->is_send ? at_sender(m, op, &s, x, out) : at_receiver(m, op, &s, x, out);
        if (next && hops == s.n) blame(out, RS_STALL_SOMEWHERE, x, false); /* round in circles */
        x = next;
    }
    if (out->kind == RS_STALL_GPU || out->kind == RS_STALL_RANK) out->unsure = is_hidden(&s, out->rank, out->channel);
    free(s.rows);
}

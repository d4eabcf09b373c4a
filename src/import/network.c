#include "import/network.h"

#include <stdlib.h>

#include "base/room.h"

/* ---- sums ---- */

enum { SECOND = 1000000000, FEW_ROWS = 256, SPANS_EACH = 4 };

/* Rows are identified by this hash: 64 bits, for at most some ten thousand rows. */
static uint64_t key_of(uint32_t member, int32_t peer, int64_t span)
{
    uint64_t x = (uint64_t)member << 32 | (uint32_t)peer;
    x = (x ^ (uint64_t)span * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 29)) * 0x94d049bb133111ebu;
    return x ^ (x >> 32) ^ ((uint64_t)member << 40);
}

static int64_t span_of(const struct rs_network *net, int64_t now)
{
    return now < net->base ? 0 : rs_time_minus(now, net->base) / net->width;
}

static void sum(struct rs_net *to, const struct rs_net *r)
{
    to->gpu_ns = rs_time_plus(to->gpu_ns, r->gpu_ns);
    to->credit_ns = rs_time_plus(to->credit_ns, r->credit_ns);
    to->send_ns = rs_time_plus(to->send_ns, r->send_ns);
    to->recv_ns = rs_time_plus(to->recv_ns, r->recv_ns);
    to->flush_ns = rs_time_plus(to->flush_ns, r->flush_ns);
    to->consume_ns = rs_time_plus(to->consume_ns, r->consume_ns);
    to->sent += r->sent;
    to->sent_bytes += r->sent_bytes;
    to->received += r->received;
    to->received_bytes += r->received_bytes;
    if (r->to > to->to) to->to = r->to;
    if (r->from < to->from) to->from = r->from;
}

/* Doubles the spans: rows of one span are added. */
static void merge(struct rs_network *net)
{
    struct rs_map index = {0};
    net->width *= 2;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < net->n; i++) {
        const struct rs_net row = net->rows[i];
        uint64_t *at;
        rs_map_at(&index, key_of(row.member, row.peer, span_of(net, row.from)), kept, &at);
        if (*at == kept)
            net->rows[kept++] = row;
        else
            sum(&net->rows[*at], &row);
    }
    net->n = kept;
    net->age++;
    rs_map_free(&net->index);
    net->index = index;
}

static void add(struct rs_network *net, uint32_t member, int32_t peer, int64_t now)
{
    RS_ROOM(net->rows, net->n, net->cap);
    net->rows[net->n++] = (struct rs_net){.member = member, .peer = peer, .from = now, .to = now};
}

/* Whether the rows are many spans of few flows, and not many flows. */
static bool too_many(const struct rs_network *net, int64_t span)
{
    return net->n >= FEW_ROWS && net->width < INT64_MAX / 4 && span > SPANS_EACH;
}

void rs_network_find(struct rs_network *net, struct rs_cell *cell, uint32_t member, int32_t peer, int64_t now)
{
    if (!net->width) {
        net->width = SECOND;
        net->base = now;
        net->age++; /* 0 is a cell that was never used */
    }
    int64_t span = span_of(net, now);
    uint64_t *at;
    rs_map_at(&net->index, key_of(member, peer, span), net->n, &at);
    if (*at == net->n) {
        add(net, member, peer, now);
        if (too_many(net, span)) merge(net);
        span = span_of(net, now);
        at = rs_map_find(&net->index, key_of(member, peer, span));
    }
    cell->size = 0;
    cell->row = (uint32_t)*at;
    cell->age = net->age;
    cell->until = (int64_t)((uint64_t)net->base + ((uint64_t)span + 1) * (uint64_t)net->width);
}

/* ---- samples of messages ---- */

enum { FIRST_BLOCK = 4, FEW_FLOWS = 64, MANY_FLOWS = 512 };

/* Fewer blocks for each of many flows: memory is bounded by the number of flows. */
static uint32_t most_blocks(const struct rs_network *net)
{
    return net->nflows <= FEW_FLOWS ? 32 : net->nflows <= MANY_FLOWS ? 16 : 8;
}

/* Of a few, parts of which are in order. */
static void sort(uint32_t *list, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        uint32_t x = list[i], k = i;
        for (; k && list[k - 1] > x; k--) list[k] = list[k - 1];
        list[k] = x;
    }
}

/* `from`: 0 or 1, the first sample that is kept if every second one is; in turns, or the median would move. */
static void join_blocks(struct rs_net_sample *to, const struct rs_net_sample *more, bool thin, uint32_t from)
{
    uint32_t all[2 * RS_NET_SAMPLE], n = 0;
    for (uint32_t i = 0; i < to->n; i++) all[n++] = to->ns[i];
    for (uint32_t i = 0; i < more->n; i++) all[n++] = more->ns[i];
    if (thin) sort(all, n);
    to->n = 0;
    for (uint32_t i = thin ? from : 0; i < n; i += thin ? 2 : 1) to->ns[to->n++] = all[i];
    to->messages += more->messages;
    if (more->from < to->from) to->from = more->from;
    if (more->to > to->to) to->to = more->to;
}

static void double_blocks(struct rs_flow *f)
{
    bool thin = f->each == RS_NET_SAMPLE;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->n; i += 2) {
        f->blocks[kept] = f->blocks[i];
        if (i + 1 < f->n) join_blocks(&f->blocks[kept], &f->blocks[i + 1], thin, (i / 2 + f->level) & 1);
        kept++;
    }
    f->n = kept;
    f->level++;
    *(thin ? &f->every : &f->each) *= 2;
}

/* One of each `every` messages at a random place among them, because messages have patterns (channels, steps of an
 * operation). */
static void skip_some(struct rs_flow *f)
{
    if (f->every == 1) return;
    uint64_t mix = UINT64_C(0x9e3779b97f4a7c15), sample = (uint64_t)f->n << 32 | f->blocks[f->n - 1].n;
    uint32_t at = (uint32_t)(sample * mix >> 32) % f->every, next = (uint32_t)((sample + 1) * mix >> 32) % f->every;
    f->skip = f->skipped = f->every - 1 - at + next;
}

static struct rs_flow *flow_of(struct rs_network *net, struct rs_cell *cell, const struct rs_message *x)
{
    uint32_t size = 64 - (unsigned)__builtin_clzll(x->bytes);
    if (cell->size != size) {
        uint64_t *at;
        rs_map_at(&net->flow_index, key_of(x->member, x->peer, (int64_t)size << 1 | x->sent), net->nflows, &at);
        cell->flow = (uint32_t)*at;
        cell->size = size;
    }
    if (cell->flow == net->nflows) {
        RS_ROOM(net->flows, net->nflows, net->cap_flows);
        net->flows[net->nflows++] = (struct rs_flow){.member = x->member,
                                                     .peer = x->peer,
                                                     .size = (uint8_t)(size - 1),
                                                     .sent = x->sent,
                                                     .every = 1,
                                                     .each = FIRST_BLOCK};
    }
    return &net->flows[cell->flow];
}

static bool is_full(const struct rs_flow *f)
{
    return !f->n || f->blocks[f->n - 1].n >= f->each;
}

void rs_network_sample(struct rs_network *net, struct rs_cell *cell, const struct rs_message *x)
{
    struct rs_flow *f = flow_of(net, cell, x);
    if (f->skip) { /* another operation was the latest */
        f->skip--;
        return;
    }
    if (f->n >= most_blocks(net) && is_full(f)) double_blocks(f);
    if (is_full(f)) {
        RS_ROOM(f->blocks, f->n, f->cap);
        f->blocks[f->n++] = (struct rs_net_sample){
            .member = f->member, .peer = f->peer, .from = x->end, .to = x->end, .size = f->size, .sent = f->sent};
    }
    struct rs_net_sample *b = &f->blocks[f->n - 1];
    b->ns[b->n++] = x->ns < UINT32_MAX ? (uint32_t)x->ns : UINT32_MAX;
    b->messages += f->skipped + 1;
    if (x->end > b->to) b->to = x->end;
    skip_some(f);
}

/* ---- the model ---- */

static void drop_flows(struct rs_network *net)
{
    for (uint32_t i = 0; i < net->nflows; i++) free(net->flows[i].blocks);
    net->nflows = 0;
    rs_map_free(&net->flow_index);
}

void rs_network_finish(struct rs_network *net, struct rs_model *m)
{
    for (uint32_t i = 0; i < net->n; i++) rs_model_net(m, &net->rows[i]);
    for (uint32_t i = 0; i < net->nflows; i++) {
        struct rs_flow *f = &net->flows[i];
        f->blocks[f->n - 1].messages += f->skipped - f->skip;
        for (uint32_t k = 0; k < f->n; k++) rs_model_net_sample(m, &f->blocks[k]);
    }
    net->n = 0;
    rs_map_free(&net->index);
    drop_flows(net);
    net->width = 0;
}

void rs_network_free(struct rs_network *net)
{
    drop_flows(net);
    free(net->flows);
    free(net->rows);
    rs_map_free(&net->index);
    *net = (struct rs_network){0};
}

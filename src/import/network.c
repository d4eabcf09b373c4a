#include "import/network.h"

#include <stdlib.h>

#include "base/room.h"

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
    cell->row = (uint32_t)*at;
    cell->age = net->age;
    cell->until = (int64_t)((uint64_t)net->base + ((uint64_t)span + 1) * (uint64_t)net->width);
}

void rs_network_finish(struct rs_network *net, struct rs_model *m)
{
    for (uint32_t i = 0; i < net->n; i++) rs_model_net(m, &net->rows[i]);
    net->n = 0;
    rs_map_free(&net->index);
    net->width = 0;
}

void rs_network_free(struct rs_network *net)
{
    free(net->rows);
    rs_map_free(&net->index);
    *net = (struct rs_network){0};
}

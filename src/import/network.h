/* Network steps of one process, summed up by (member, peer, span of time), and samples of the times of messages.
 *
 * Spans are one second at first and double whenever there are too many rows, so that filters by time work and memory is
 * bounded. A cell caches the row of one flow: valid until its span ends or rows are merged.
 *
 * Sums hide what most messages take: a few that stall decide. So the times of messages are sampled, in blocks of
 * consecutive messages of one size and direction. Blocks have 4 messages at first. When a flow has too many of them, two
 * become one: up to 16 samples all of them, beyond that every second one in order of time taken, which keeps the median. */
#ifndef RS_IMPORT_NETWORK_H
#define RS_IMPORT_NETWORK_H

#include "model/model.h"

/* A send whose peer's credit took longer was not sent to a peer that was ready. */
#define RS_NET_READY_NS INT64_C(5000)

struct rs_flow {
    uint32_t member;
    int32_t peer;
    uint8_t size; /* as in struct rs_net_sample */
    bool sent;
    uint32_t every; /* one message of so many is sampled */
    uint32_t skip, skipped; /* messages until the next sample; at the latest one */
    uint32_t each; /* samples of a block */
    uint32_t level; /* how often blocks were doubled */
    struct rs_net_sample *blocks;
    uint32_t n, cap;
};

struct rs_network {
    struct rs_net *rows;
    uint32_t n, cap;
    struct rs_map index; /* hash of (member, peer, span) -> row */
    int64_t base, width; /* host ns */
    uint32_t age; /* how often rows were merged: older cells are invalid */
    struct rs_flow *flows;
    uint32_t nflows, cap_flows;
    struct rs_map flow_index; /* hash of (member, peer, size, direction) -> flow */
};

struct rs_cell {
    uint32_t row, age;
    int64_t until; /* host ns */
    uint32_t flow; /* of its latest message */
    uint32_t size; /* of that one, plus 1; 0: there was none */
};

/* Makes a cell valid. */
void rs_network_find(struct rs_network *net, struct rs_cell *cell, uint32_t member, int32_t peer, int64_t now);
/* The row of a flow at a time. The pointer is valid until the next call. */
static inline void rs_network_row(struct rs_network *net, struct rs_cell *cell, uint32_t member, int32_t peer,
                                  int64_t now, struct rs_net **row)
{
    if (cell->age != net->age || now >= cell->until || cell->row >= net->n)
        rs_network_find(net, cell, member, peer, now);
    *row = &net->rows[cell->row];
    if (now > (*row)->to) (*row)->to = now;
}
/* Sends: only where the peer's credit took at most RS_NET_READY_NS. */
struct rs_message {
    uint32_t member;
    int32_t peer;
    bool sent; /* else received */
    uint64_t bytes;
    int64_t ns, end; /* how long it took; host ns */
};
void rs_network_sample(struct rs_network *net, struct rs_cell *cell, const struct rs_message *x);
/* Adds a message of the flow whose row is in the cell. */
static inline void rs_network_message(struct rs_network *net, struct rs_cell *cell, const struct rs_message *x)
{
    if (!x->bytes || x->ns < 0) return;
    if (cell->size == 64u - (unsigned)__builtin_clzll(x->bytes) && net->flows[cell->flow].skip)
        net->flows[cell->flow].skip--;
    else
        rs_network_sample(net, cell, x);
}
/* Moves all rows to the model. */
void rs_network_finish(struct rs_network *net, struct rs_model *m);
void rs_network_free(struct rs_network *net);

#endif

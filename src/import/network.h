/* Network steps of one process, summed up by (member, peer, span of time).
 *
 * Spans are one second at first and double whenever there are too many rows, so that filters by time work and memory is
 * bounded. A cell caches the row of one flow: valid until its span ends or rows are merged. */
#ifndef RS_IMPORT_NETWORK_H
#define RS_IMPORT_NETWORK_H

#include "model/model.h"

struct rs_network {
    struct rs_net *rows;
    uint32_t n, cap;
    struct rs_map index; /* hash of (member, peer, span) -> row */
    int64_t base, width; /* host ns */
    uint32_t age; /* how often rows were merged: older cells are invalid */
};

struct rs_cell {
    uint32_t row, age;
    int64_t until; /* host ns */
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
/* Moves all rows to the model. */
void rs_network_finish(struct rs_network *net, struct rs_model *m);
void rs_network_free(struct rs_network *net);

#endif

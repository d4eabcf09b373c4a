/* The recorded run as a graph, for replaying it (conclude/replay.h) and for comparing ranks with their equals.
 *
 * A node is a rank's part in an operation; a fan-out is one operation, and a rank's sends and receives in it are one
 * node. A node starts `gap` after the end of its predecessor: of the operations of its rank that had ended, the one that
 * ended last; or the last of its own communicator, if nodes of this kind follow that more evenly. An operation that overlaps
 * it (another stream or communicator) is not its predecessor. Where a rank computes while its operations run, a node
 * starts `gap` after the start of an earlier one (`head`), and not before the end of its predecessor. All are times of one rank: a gap
 * depends on no clock alignment. A node ends `tail` after it is ready: when it has started itself, and
 * the nodes that it waits for have.
 *
 * Where launches are known, a node starts no sooner than its program has launched it. Programs launch in their order, and take
 * their time from one launch to the next. A program that took longer than it does when nothing ends between two launches
 * has waited for what ended there, as far as is known.
 *
 *   collective, send with its receive   all of them, if it ended after the last start; otherwise only its own start, and
 *                                       the root's (a broadcast) or the sender's (a receive): an eager send leaves early
 *   fan-out                             the peers of its sends and receives that started before it ended
 *
 * Unknown ends: the end of the other ranks, within the bounds that are known (join/ends.h). A rank that was in an operation
 * but is not recorded there (lost, or recorded later) has a node, too: it ended with the others, and was the last to start
 * if the operation took longer than usual. The graph of the operations that pass the view's filter: a view without --rank, --comm and --func, or else the
 * operations between are gaps. Borrows nothing; owns its arrays until rs_graph_free(). Linear in the number of parts, and
 * n log n on a rank with n operations at the same time. One thread at a time. */
#ifndef RS_CONCLUDE_GRAPH_H
#define RS_CONCLUDE_GRAPH_H

#include "analyse/steps.h"
#include "analyse/view.h"
#include "conclude/roles.h"

struct rs_node {
    int64_t start, end; /* recorded */
    int64_t
        gap; /* start - end of `pred`; without one: since the first start of the run. Negative within the resolution */
    int64_t after; /* with a `head`: start - end of `pred`, at least */
    int64_t tail; /* end - when it was ready */
    int64_t launch; /* by its program; RS_TIME_NONE: unknown. With it: */
    int64_t latency; /* it starts no sooner after its launch */
    int64_t host; /* it is launched no sooner after the launch of `called_after` */
    int64_t resumed; /* launch - end of `awaited` */
    int64_t host_late; /* so much of its gap is before its launch, beyond that of equals */
    uint32_t rank_id; /* row of model.ranks */
    uint32_t member; /* of the model: its rank in the communicator */
    uint32_t op; /* index into graph.ops */
    uint32_t pred; /* node of the same rank; RS_NONE */
    uint32_t
        head; /* its rank computes while operations run: `gap` is since the start of this node (where it is not seen, as
                      long as on other ranks); RS_NONE: after the end of `pred` */
    uint32_t called_after; /* its program launched this node before; RS_NONE */
    uint32_t awaited; /* its program waited until this node of its rank had ended; RS_NONE: for none */
    uint32_t class; /* what it is: function, shape of the communicator, size, direction. Numbered from 0 */
    uint32_t signature; /* what the predecessor and this node are: numbered from 0. Equals have the same ones */
    uint32_t ordinal; /* how many nodes of its signature its rank had before */
    uint32_t step; /* row of steps.rows; RS_NONE. On each rank, a step begins with its usual first operation */
    uint32_t position; /* how many nodes of its signature its rank had before, in its step */
    uint32_t needs, nneeds; /* besides itself it waits for the nodes graph.needs[needs .. needs + nneeds) */
    bool whole; /* it waits for all nodes of its operation (needs is empty) */
    bool synchronous; /* it waits for others */
    bool recorded; /* else: its rank was in the operation, but its times are estimated from those of other ranks */
    bool end_known;
};

struct rs_graph_op {
    int64_t last; /* latest start */
    uint32_t op; /* the model's */
    uint32_t first, n; /* its nodes are nodes[first .. first + n), by rank */
    uint32_t absent; /* how many of them are not recorded */
    bool waited; /* for one of these */
};

struct rs_graph {
    struct rs_node *nodes; /* operation by operation */
    uint32_t nnodes, cap_nodes;
    struct rs_graph_op *ops; /* by time */
    uint32_t nops, cap_ops;
    uint32_t *needs;
    uint32_t nneeds, cap_needs;
    uint32_t *by_rank, *first; /* nodes of rank r: by_rank[first[r] .. first[r + 1]), by start */
    uint32_t nranks; /* of the model */
    uint32_t nclasses, nsignatures;
    int64_t begin, end; /* first start, last end; RS_TIME_NONE: no node */
    uint32_t unknown_ends; /* nodes without a known end */
    uint32_t absent; /* nodes that are not recorded */
    uint32_t not_measured; /* operations outside of windows of detail: not in the graph */
    uint64_t lost; /* parts whose records were lost, as far as known. What was not requested is not lost */
    char *refused; /* why the run cannot be replayed; NULL: it can */
};

/* `steps` and `roles` may be NULL: unknown. Without roles, compute that is hidden is compared between all ranks. */
void rs_graph_init(struct rs_graph *g, const struct rs_view *view, const struct rs_steps *steps,
                   const struct rs_roles *roles);
void rs_graph_free(struct rs_graph *g);

/* The chain of each rank: which node follows upon which, and where in a step (graph_chains.c). A part of rs_graph_init(). */
void rs_graph_chain(struct rs_graph *g, const struct rs_model *m, const struct rs_steps *steps,
                    const struct rs_roles *roles);

/* The programs: launches, and what they waited for (graph_hosts.c). A part of rs_graph_init(), after the chains. */
void rs_graph_launch(struct rs_graph *g, const struct rs_roles *roles);
/* How far values of like nodes are apart on the same rank: what a rank always takes longer is no spread. `ranks` of the
 * values, in runs; `scratch` has room for all. */
int64_t rs_graph_spread(const int64_t *v, const uint32_t *ranks, uint32_t n, int64_t *scratch);
/* Nodes of equals at the same place of a step have the same one. */
uint64_t rs_graph_place(const struct rs_node *node, const struct rs_roles *roles);

/* Rows 0 .. n by their number, of[row] < count (RS_NONE: left out): those of number k are result[(*first)[k] ..
 * (*first)[k + 1]), in the order of `order` (NULL: by row). Both to be freed. */
uint32_t *rs_rows_by_number(const uint32_t *of, const uint32_t *order, uint32_t n, uint32_t count, uint32_t **first);

/* From the first start to the last end, as recorded. */
static inline int64_t rs_graph_makespan(const struct rs_graph *g)
{
    return g->nnodes ? rs_time_minus(g->end, g->begin) : 0;
}

#endif

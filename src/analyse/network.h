/* The communication matrix: who sent how much to whom, and what the transfers waited for.
 *
 * A row is a rank and a peer, over all their communicators. Times are sums over network steps (several are in flight at
 * once, so they may exceed the run). A link is slow if the network takes at least twice as long per byte as the median
 * of the other links of its kind (inside a host or between hosts, similar message size). If all slow links have one
 * sender, or one receiver, that rank is named instead. Owns its tables until rs_matrix_free(). */
#ifndef RS_ANALYSE_NETWORK_H
#define RS_ANALYSE_NETWORK_H

#include "analyse/view.h"

struct rs_link_row {
    uint32_t rank_id;
    uint32_t peer_id; /* RS_NONE: not recorded */
    int32_t rank, peer; /* of the job; -1: unknown */
    int64_t gpu_ns, credit_ns, net_ns; /* sends: own GPU not ready; peer gave no credit; on the network */
    int64_t recv_ns, flush_ns, consume_ns; /* receives: sender or network; flush; own GPU did not consume */
    uint64_t bytes, messages, received_bytes, received_messages;
    double slower; /* network time per byte, over the median of the others of its kind; 0: nothing to compare with */
};

enum rs_slow_scope { RS_SLOW_LINK, RS_SLOW_SENDER, RS_SLOW_RECEIVER };

struct rs_slow_link {
    enum rs_slow_scope scope;
    uint32_t row; /* the link, or the slowest of the sender or receiver */
    uint32_t links; /* how many */
    double slower;
};

struct rs_matrix {
    struct rs_link_row *rows; /* by network time */
    uint32_t nrows;
    struct rs_slow_link *slow; /* the slowest first */
    uint32_t nslow;
};

void rs_matrix_find(struct rs_matrix *n, const struct rs_view *view, const struct rs_filter *filter,
                    int64_t from); /* from: what ended before is ignored (warm-up) */
void rs_matrix_free(struct rs_matrix *n);

#endif

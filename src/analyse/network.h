/* The communication matrix: who sent how much to whom, what the transfers waited for, and which links are slow.
 *
 * A row is a rank and a peer, over all their communicators. Times are sums over network steps (several are in flight at
 * once, so they may exceed the run).
 *
 * Links are compared by the median time of their messages, where the peer was ready: its credit was there, and the
 * receiver, if recorded, waited at least as long for the data. The rest is the peer's lateness, not the network's.
 * Compared are links of one kind: inside a host, between equal or different devices of two hosts; in communicators of
 * one shape; with messages of similar size. The messages of a link are divided into blocks in order of time. Under chance
 * every rank among the links of the kind is as likely as any other, in each block: the sum of the ranks has a known
 * distribution. A link is slow if that sum is beyond chance over all links, and the median is surely at least
 * RS_SLOW_RATIO times that of the others, in most blocks. Links that are slow together are named by what they share.
 * Owns its tables until rs_matrix_free(). */
#ifndef RS_ANALYSE_NETWORK_H
#define RS_ANALYSE_NETWORK_H

#include "analyse/view.h"

#define RS_SLOW_RATIO 1.3 /* between hosts, by the lower end of the interval */
#define RS_SLOW_RATIO_IN_HOST                                                                                          \
    3.0 /* in a host, or it is unknown: links share its CPUs, and differ by when processes run */
#define RS_SLOW_CHANCE 0.005 /* over all links of a run */

enum rs_link_place { RS_LINK_UNKNOWN, RS_LINK_IN_HOST, RS_LINK_BETWEEN_HOSTS };

struct rs_link_row {
    uint32_t rank_id;
    uint32_t peer_id; /* RS_NONE: not recorded */
    int32_t rank, peer; /* of the job; -1: unknown */
    int64_t gpu_ns, credit_ns, net_ns; /* sends: own GPU not ready; peer gave no credit; on the network */
    int64_t recv_ns, flush_ns, consume_ns; /* receives: sender or network; flush; own GPU did not consume */
    uint64_t bytes, messages, received_bytes, received_messages;
    /* Compared with links of its kind, by messages of the size that takes most of its time: */
    double
        slower; /* median time of a message, over that of the others; 0: too few messages, or nothing to compare with */
    double low, high; /* 95 % interval */
    double p_value; /* that one of all links appears as slow by chance */
    double steady; /* share of blocks in which it is slower by at least half of RS_SLOW_RATIO's excess */
    int64_t median_ns, usual_ns; /* of a message; of the others of its kind */
    uint64_t compared; /* messages */
    uint32_t blocks, links; /* of its kind, with this one */
    enum rs_link_place place;
};

enum rs_slow_scope { RS_SLOW_LINK, RS_SLOW_SENDER, RS_SLOW_RECEIVER, RS_SLOW_SENDING_HOST, RS_SLOW_RECEIVING_HOST };

struct rs_slow_link {
    enum rs_slow_scope scope;
    uint32_t row; /* the link, or the slowest of those that share the scope */
    uint32_t links; /* how many */
    uint32_t rank_id, peer_id, host, peer_host; /* that all its links share; RS_NONE: they differ, or unknown */
    double slower; /* mean over its links */
    double low, high; /* the widest of its links */
    double p_value; /* the smallest of its links */
    enum rs_link_place place; /* RS_LINK_UNKNOWN: they differ, too */
};

/* A communicator sends over a link. */
struct rs_link_use {
    uint32_t comm, row;
};

struct rs_matrix {
    struct rs_link_row *rows; /* by network time */
    uint32_t nrows;
    struct rs_link_use *uses; /* by communicator, each once */
    uint32_t nuses;
    uint32_t judged; /* rows that were compared */
    struct rs_slow_link *slow; /* the slowest first */
    uint32_t nslow;
};

void rs_matrix_find(struct rs_matrix *n, const struct rs_view *view, const struct rs_filter *filter,
                    int64_t from); /* from: what ended before is ignored (warm-up) */
void rs_matrix_free(struct rs_matrix *n);

/* The row of the link between two ranks of the job; RS_NONE: nothing was sent over it. */
uint32_t rs_matrix_link(const struct rs_matrix *n, int32_t rank, int32_t peer);

/* What remains of a transfer, with a 95 % interval. */
struct rs_link_cure {
    double remains, low, high; /* shares: 1 is all of it */
};
/* If the link of `row` were like the median of its kind, of transfers in a communicator: `pair`: a send over this link;
 * else a collective, which goes at the pace of its slowest link. All of it remains if the communicator does not use the
 * link. False, and all of it: the link was not compared, nothing is known. The interval has the link's own uncertainty; that
 * a collective is limited by its links, and not by latency or its GPUs, is assumed. */
bool rs_matrix_cure(const struct rs_matrix *n, uint32_t row, uint32_t comm, bool pair, struct rs_link_cure *cure);

#endif

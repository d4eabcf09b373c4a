/* How much of a rank's lateness was handed to it: what it was held by since it last met the others.
 *
 * Between two operations of the same ranks, a rank q spends its time inside other operations (busy) and outside of them
 * (its own). Both ranks of a pair (q, r) leave the earlier operation together, so for their starts in the later one
 *
 *     s_q - s_r = (own_q - own_r) + (busy_q - busy_r)
 *
 * What q was held by is busy_q - busy_r: waits for others, or transfers that took long. Of its own part, what was
 * charged to it in an operation in between is not charged again. Only operations that had ended on the rank by its start
 * can have held it; time that several of them cover counts once.
 *
 * Asked in the order of rs_view.ops. Owns its tables until rs_holds_free(). */
#ifndef RS_ANALYSE_HOLDS_H
#define RS_ANALYSE_HOLDS_H

#include "analyse/view.h"

enum { RS_HOLDS_PENDING = 8, RS_HOLDS_CAUSES = 32 };

/* A rank among those it meets again and again: a member of a communicator, or one end of a pair of ranks. */
struct rs_meeting {
    int64_t busy, own_busy, charged, host_charged; /* of the rank when they last met; own_busy: in these meetings */
    int64_t since; /* its start then */
    uint32_t op; /* RS_NONE: not met yet */
    uint32_t holes; /* of the rank then */
};

struct rs_hold {
    int64_t busy; /* ns in operations that have ended */
    int64_t covered; /* up to here */
    int64_t charged;
    struct rs_pending {
        int64_t start, end, wait;
        uint32_t meeting, culprit;
    } pending[RS_HOLDS_PENDING]; /* operations that may not have ended yet */
    struct rs_cause {
        int64_t end, wait;
        uint32_t culprit; /* rank */
    } causes[RS_HOLDS_CAUSES]; /* waits, the latest */
    uint32_t npending, ncauses; /* ncauses: in all */
    uint32_t holes; /* operations that it was in, with no record of how long */
};

struct rs_holds {
    const struct rs_view *view;
    struct rs_hold *ranks;
    int64_t *host_charged; /* by host */
    struct rs_meeting *meetings; /* members, then pairs */
    uint32_t nmeetings, cap_meetings;
    struct rs_map pairs; /* member, peer -> meeting */
};

void rs_holds_init(struct rs_holds *h, const struct rs_view *view);
void rs_holds_free(struct rs_holds *h);

/* The meeting that an arrival belongs to. */
void rs_holds_meeting(struct rs_holds *h, uint32_t op, const struct rs_arrival *a, uint32_t *meeting);
/* Takes note of what has ended on a rank by `now`. */
void rs_holds_reach(struct rs_holds *h, uint32_t rank_id, int64_t now);

/* What explains that q came later than r, since they met; both have been reached. */
struct rs_held {
    bool known; /* both left the same operation, and all that they were in since is recorded */
    int64_t busy; /* longer in other operations */
    int64_t charged, host_charged; /* charged more in between */
};
struct rs_held rs_holds_compare(const struct rs_holds *h, uint32_t q_rank, uint32_t q, uint32_t r_rank, uint32_t r);

/* Hands out `ns` among those that the rank waited for since it met the others: calls `give` for each. Returns the one
 * with the most, or RS_NONE. */
uint32_t rs_holds_blame(const struct rs_holds *h, uint32_t rank_id, uint32_t meeting, int64_t ns,
                        void (*give)(void *to, uint32_t culprit, int64_t ns), void *to);

/* The rank has met the others in `op`: it waited for `culprit` (RS_NONE: nobody) until `last`. Comes after charging. */
void rs_holds_met(struct rs_holds *h, uint32_t meeting, uint32_t op, const struct rs_arrival *a, int64_t last,
                  uint32_t culprit);

/* The rank has met the others in `op` at about `now`; when it came and went is not recorded. */
void rs_holds_missed(struct rs_holds *h, uint32_t meeting, uint32_t op, uint32_t rank_id, int64_t now);

#endif

/* How much of a rank's lateness it inherited: how long other communicators held it since it last met the others.
 *
 * Between two operations of the same ranks, a rank q spends its time inside other operations (busy) and outside of them
 * (own). Both ranks of a pair (q, r) leave the earlier operation together, so for their starts in the later one
 *
 * s_q - s_r = (own_q - own_r) + (busy_q - busy_r)
 *
 * The time for which q was held is busy_q - busy_r: waits for others, or long transfers. What was charged to q in an
 * operation in between is not charged again. Only operations that had ended on the rank before its start can have held
 * it; time that several of them cover counts once.
 *
 * Queried in the order of rs_view.ops. Owns its tables until rs_holds_free(). */
#ifndef RS_ANALYSE_HOLDS_H
#define RS_ANALYSE_HOLDS_H

#include "analyse/view.h"

enum { RS_HOLDS_PENDING = 8, RS_HOLDS_CAUSES = 32 };

/* A rank among those it meets repeatedly: a member of a communicator, or one end of a pair of ranks. */
struct rs_meeting {
    int64_t busy, own_busy, charged, host_charged; /* of the rank at the last meeting; own_busy: in these meetings */
    int64_t since; /* its start at the last meeting */
    uint32_t op; /* RS_NONE: no meeting yet */
    uint32_t holes; /* of the rank at the last meeting */
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
        uint32_t culprit; /* the rank it waited for */
    } causes[RS_HOLDS_CAUSES]; /* the latest waits */
    uint32_t npending, ncauses; /* ncauses: in total */
    uint32_t holes; /* operations of the rank with an unknown duration */
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
/* Accounts for what has ended on a rank by `now`. */
void rs_holds_reach(struct rs_holds *h, uint32_t rank_id, int64_t now);

/* Why q was later than r since they met; both have been accounted for. */
struct rs_held {
    bool known; /* both left the same operation, and all their operations since are recorded */
    int64_t busy; /* longer in other operations */
    int64_t charged, host_charged; /* charged more in between */
};
struct rs_held rs_holds_compare(const struct rs_holds *h, uint32_t q_rank, uint32_t q, uint32_t r_rank, uint32_t r);

/* Distributes `ns` over the ranks that this rank waited for since it met the others: calls `give` for each. Returns the
 * one with the most, or RS_NONE. */
uint32_t rs_holds_blame(const struct rs_holds *h, uint32_t rank_id, uint32_t meeting, int64_t ns,
                        void (*give)(void *to, uint32_t culprit, int64_t ns), void *to);

/* The rank has met the others in `op`: it waited for `culprit` (RS_NONE: none) until `last`. Called after charging. */
void rs_holds_met(struct rs_holds *h, uint32_t meeting, uint32_t op, const struct rs_arrival *a, int64_t last,
                  uint32_t culprit);

/* The rank has met the others in `op` at about `now`; its start and end are not recorded. */
void rs_holds_missed(struct rs_holds *h, uint32_t meeting, uint32_t op, uint32_t rank_id, int64_t now);

#endif

/* Laying over rank by rank: a rank's own operations of a communicator, in its own order, against those of the same rank
 * of the tool that leads.
 *
 * A tool that numbers nothing (Kineto) joins ranks by order and time, and may join the wrong ones where windows differ.
 * Which of the leader's operations a rank's own one is does not depend on that: so its parts are regrouped as the leader
 * joined them, and each group is laid over its operation. Which one it is the calls tell (overlay_calls.h), else, of
 * collectives, order and the pattern of times (shifts.h). What has no certain place stays as it is. */
#ifndef RS_JOIN_OVERLAY_RANKS_H
#define RS_JOIN_OVERLAY_RANKS_H

#include "model/model.h"

/* Parts of operations by member, in the order of time; zeroed, it is empty. */
struct rs_by_member {
    uint32_t *parts, *first; /* those of member i: parts[first[i] .. first[i + 1]) */
};
enum rs_status rs_by_member_init(struct rs_by_member *x, const struct rs_model *m, struct rs_err *err);
void rs_by_member_free(struct rs_by_member *x);

/* How well the first rank of b that has a counterpart fits to it: how many of its collectives have a place, of how many,
 * and how far their times scatter. For communicators whose joined operations do not fit. */
enum rs_status rs_overlay_rank_fits(struct rs_model *m, const struct rs_by_member *index, uint32_t b, uint32_t a,
                                    uint32_t *placed, uint32_t *all, double *spread, struct rs_err *err);

/* Communicator b is a (rs_overlay_join()): regroups and lays over. `match`: rs_calls_match(). */
enum rs_status rs_overlay_ranks(struct rs_model *m, const struct rs_by_member *index, const uint32_t *match, uint32_t b,
                                uint32_t a, struct rs_err *err);

#endif

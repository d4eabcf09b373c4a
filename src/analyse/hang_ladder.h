/* The steps of the ladder: what is asked of an operation that does not go on, one question each.
 *
 * Each looks at the operation whose ranks rs_hang_rows_find() has put into work->state, and where it finds the reason
 * fills in verdict and blame and sets *found. Inner part of hang.c. */
#ifndef RS_ANALYSE_HANG_LADDER_H
#define RS_ANALYSE_HANG_LADDER_H

#include "analyse/hang.h"

#define RS_HANG_HEARTBEAT_NS INT64_C(300000000) /* a process writes one every 100 ms */
#define RS_HANG_SILENCE_NS INT64_C(5000000000) /* of a process, or before a death that is a consequence */
#define RS_HANG_MOST_USUAL_NS INT64_C(600000000000) /* longer than that is never usual */

/* An operation that is the first pending one of some rank, or was launched with it. */
struct rs_hang_front {
    uint32_t op;
    int64_t since; /* of the ranks that run in it, the first; else of all */
    bool running; /* in one of them at least: those come first, a launch may be far ahead of its turn */
    bool visited;
    bool stalled; /* everybody is in it, for too long */
    bool doubtful; /* ranks that are not in it may be in another, where their records are lost */
};

struct rs_hang_work {
    const struct rs_model *m;
    struct rs_hang *out;
    const struct rs_filter *filter;
    struct rs_hang_state state;
    struct rs_hang_front *fronts; /* by time */
    uint32_t nfronts;
    struct rs_map index; /* op -> front */
    uint32_t *path; /* fronts, in the order they led to each other */
    uint32_t npath;
    uint32_t in_flight; /* operations that were pending for no longer than usual */
};

struct rs_hang_who rs_hang_who_of(const struct rs_model *m, uint32_t op, const struct rs_hang_rank *row);
void rs_hang_add_who(struct rs_hang_who **list, uint32_t *n, struct rs_hang_who who);
void rs_hang_accuse(struct rs_hang_work *w, uint32_t op, const struct rs_hang_rank *row);

/* When anything last moved in the operation; how long ago that was when its ranks were last seen; what it may take. */
int64_t rs_hang_last_move(const struct rs_hang_work *w);
int64_t rs_hang_waited(const struct rs_hang_work *w); /* RS_TIME_NONE: not known */
int64_t rs_hang_usual(const struct rs_hang_work *w, uint32_t op);
/* Whether nothing is known of the operation but that ranks called it: no kernel, no network step. */
bool rs_hang_only_called(const struct rs_hang_work *w);
/* Whether a rank at this stage keeps the others waiting. */
bool rs_hang_not_started(enum rs_stage stage);
/* What keeps a rank that has not started the operation: a part of another one; RS_NONE: nothing in NCCL. */
uint32_t rs_hang_kept_by(const struct rs_hang_work *w, uint32_t op, const struct rs_hang_rank *r);
/* Whether a rank that lost records may be in another operation, which others run: nothing excludes it. */
bool rs_hang_may_be_elsewhere(const struct rs_hang_work *w, uint32_t op, const struct rs_hang_rank *r);

void rs_hang_look_dead(struct rs_hang_work *w, uint32_t op, bool *found);
void rs_hang_look_mismatch(struct rs_hang_work *w, uint32_t op, bool *found);
void rs_hang_look_not_started(struct rs_hang_work *w, uint32_t op, bool *found);
/* When all else is excluded. */
void rs_hang_look_stalled(struct rs_hang_work *w, uint32_t op);

#endif

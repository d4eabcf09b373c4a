/* The questions about a pending operation: the causes that it shows by itself, and what holds its ranks elsewhere.
 *
 * Each question is about the operation whose ranks rs_hang_rows_find() has put into work->state. Where it finds a cause
 * it fills in work->now and returns true. Inner part of hang.c. */
#ifndef RS_ANALYSE_HANG_CAUSES_H
#define RS_ANALYSE_HANG_CAUSES_H

#include "analyse/hang.h"

#define RS_HANG_HEARTBEAT_NS INT64_C(300000000) /* a process writes one every 100 ms */
#define RS_HANG_SILENCE_NS INT64_C(5000000000) /* of a process, or before a death that is a consequence */
#define RS_HANG_MOST_USUAL_NS INT64_C(600000000000) /* longer than that is never usual */

/* An operation that is the first pending one of some rank, or was launched with it. */
struct rs_hang_front {
    uint32_t op;
    int64_t since; /* of the ranks that run in it, the first; else of all */
    bool running; /* in one of them at least: those come first, a launch may be far ahead of its turn */
    bool loose; /* a send or receive of a dump, which may be left to itself while its rank goes on: those come last */
    bool visited;
    bool wanted; /* another led to it: ranks that are in this one are missing there */
    bool stalled; /* every rank is in it, for too long */
    bool doubtful; /* ranks that are not in it may be in another, where their records are lost */
};

enum rs_hang_death { RS_DEATH_NONE, RS_DEATH_NOTED, RS_DEATH_CAUSE };

struct rs_hang_work {
    const struct rs_model *m;
    struct rs_hang *out;
    const struct rs_filter *filter;
    struct rs_hang_state state;
    struct rs_hang_front *fronts; /* by time */
    uint32_t nfronts, cap_fronts;
    struct rs_map index; /* op -> front */
    uint32_t *path; /* fronts, in the order they led to each other */
    uint32_t npath;
    struct cycle { /* fronts that led to each other and back */
        uint32_t first, n; /* in `cycled` */
    } * cycles;
    uint32_t ncycles, cap_cycles;
    uint32_t *cycled; /* operations */
    uint32_t ncycled, cap_cycled;
    uint32_t in_flight; /* operations that were pending for no longer than usual */
    struct rs_map accused; /* ranks that are guilty already */
    uint8_t *dead; /* by process: enum rs_hang_death */
    int64_t died; /* when the first process died; RS_TIME_NONE: none did */
    struct rs_hang_finding now; /* that is being made */
};

struct rs_hang_who rs_hang_who_of(const struct rs_model *m, uint32_t op, const struct rs_hang_rank *row);
void rs_hang_add_who(struct rs_hang_who **list, uint32_t *n, struct rs_hang_who who);
void rs_hang_accuse(struct rs_hang_work *w, uint32_t op, const struct rs_hang_rank *row);
/* The finding work->now is complete, and a new one begins. Ranks that are guilty of something else already are left out;
 * where none is left, it follows from that. */
void rs_hang_commit(struct rs_hang_work *w);
/* Whether a rank is guilty in a finding that was made before. */
bool rs_hang_is_accused(const struct rs_hang_work *w, uint32_t member);

/* When anything last moved in the operation; how long ago that was when its ranks were last seen; what it may take. */
int64_t rs_hang_last_move(const struct rs_hang_work *w);
int64_t rs_hang_waited(const struct rs_hang_work *w); /* RS_TIME_NONE: not known */
int64_t rs_hang_usual(const struct rs_hang_work *w, uint32_t op);
/* Whether nothing is known of the operation but that ranks called it: no kernel, no network step. */
bool rs_hang_only_called(const struct rs_hang_work *w);
/* Whether a rank at this stage keeps the others waiting. */
bool rs_hang_not_started(enum rs_stage stage);
/* What holds a rank of the operation elsewhere: a part of another one; RS_NONE: nothing in NCCL. */
uint32_t rs_hang_kept_by(const struct rs_hang_work *w, uint32_t op, const struct rs_hang_rank *r);
/* Whether a rank that lost records may be in another operation, which others run: nothing excludes it. */
bool rs_hang_may_be_elsewhere(const struct rs_hang_work *w, uint32_t op, const struct rs_hang_rank *r);

/* Notes in work->dead whose process was gone while others waited; when all are noted, decides which deaths are causes;
 * then those are found. */
void rs_hang_note_dead(struct rs_hang_work *w, uint32_t op);
void rs_hang_judge_dead(struct rs_hang_work *w);
bool rs_hang_look_dead(struct rs_hang_work *w, uint32_t op);
bool rs_hang_look_mismatch(struct rs_hang_work *w, uint32_t op);
/* The same where ranks have not called it: only where it is certain who differs. */
bool rs_hang_look_marked(struct rs_hang_work *w, uint32_t op);
/* Of recordings: ranks that called another collective of the communicator, and the others did not. *op becomes the one
 * that most called. */
bool rs_hang_look_instead(struct rs_hang_work *w, uint32_t *op);
/* `least`: only ranks that were seen for so long (ns) after anything last moved in it. */
bool rs_hang_look_not_started(struct rs_hang_work *w, uint32_t op, int64_t least);
/* Every rank is in it. */
void rs_hang_look_stalled(struct rs_hang_work *w, uint32_t op);

#endif

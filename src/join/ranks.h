/* Which rank of the job a member of a communicator is, and where it runs.
 *
 * A place is a device of a process: what the communicators of one rank of the job have in common. The rank of the job
 * is the rank in a communicator that contains every recorded place (the first created); else the launcher's rank, where
 * each process holds one place and the values are unique; else it is not known. Several ranks on one device of one
 * process share a place: they are told apart by their order, where that says it. Each tool numbers its own processes;
 * those that are known to be the same (join/overlay.h) share their places. */
#ifndef RS_JOIN_RANKS_H
#define RS_JOIN_RANKS_H

#include "model/model.h"

struct rs_places {
    uint32_t *of; /* by member; owned */
    uint32_t n;
    bool merged; /* there are processes that several tools saw: their members share a place */
};

/* Numbers the places in the order of their first members, those of laid-over processes last. */
enum rs_status rs_places_find(struct rs_places *p, const struct rs_model *m, struct rs_err *err);
void rs_places_free(struct rs_places *p);

/* Sets global_rank of all members, and the model's world: how many ranks the largest communicator has. */
enum rs_status rs_ranks_assign(struct rs_model *m, struct rs_err *err);

/* The rank of the job that a rank of a communicator is; -1: not known. Of one without a recording it is known where the
 * communicator is a regular part of the job. */
int32_t rs_job_rank(const struct rs_model *m, uint32_t comm, int32_t rank);

#endif

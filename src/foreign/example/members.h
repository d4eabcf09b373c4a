/* The communicators and members that the dumps of one process speak of, their GPUs, and their lives.
 *
 * A dump does not say how many ranks a communicator has (the highest rank that anybody speaks of tells), nor on which
 * device a rank is. Ranks whose calls share a stream are on one device; a process with one rank in each communicator
 * has one. The model owns the rows; the index here is the caller's to free. One thread at a time. */
#ifndef RS_FOREIGN_EXAMPLE_MEMBERS_H
#define RS_FOREIGN_EXAMPLE_MEMBERS_H

#include "foreign/example/procs.h"
#include "model/model.h"

struct rs_example_members {
    uint32_t first, n; /* rows of the model */
    uint32_t *own; /* by member: the dump that is its own; RS_NONE: there is none */
    struct rs_map index; /* (communicator, rank) -> member */
};

/* Adds the members of a process that is in the model as `proc`. */
enum rs_status rs_example_members_add(struct rs_example_members *x, struct rs_model *m,
                                      const struct rs_example_procs *p, const struct rs_example_proc *row,
                                      uint32_t proc, struct rs_err *err);
void rs_example_members_free(struct rs_example_members *x);

/* Whose an event is; RS_NONE: that is not known. */
uint32_t rs_example_member_of(const struct rs_example_members *x, const struct rs_model *m,
                              const struct rs_example_event *e);

#endif

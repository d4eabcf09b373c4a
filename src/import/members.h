/* Communicators and their members, from the facts of the processes.
 *
 * From v4 on NCCL passes communicator and rank at init; before, only with each operation. A communicator that is
 * created again with the same hash in the same process is another incarnation. */
#ifndef RS_IMPORT_MEMBERS_H
#define RS_IMPORT_MEMBERS_H

#include "model/model.h"
#include "trace/inputs.h"

/* Adds a member for each communicator fact of the source. If its communicator is not known yet, it has rank -1 and its
 * own communicator without a hash. */
void rs_members_add(struct rs_model *m, struct rs_source *source, uint32_t proc);

/* With the communicator from an operation of v1 to v3: moves the member into it. Does nothing if it is known already,
 * or `hash` is 0. */
void rs_members_learn(struct rs_model *m, uint32_t *member, uint32_t proc, uint64_t context, uint64_t hash,
                      const char *name, int32_t rank);

#endif

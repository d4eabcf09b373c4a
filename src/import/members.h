/* Communicators and who is in them, from the facts of the processes.
 *
 * From v4 on NCCL says at init which communicator and rank it is; before, only with each operation. A communicator that is
 * made again with the same number (hash) in the same process is another incarnation of it. */
#ifndef RS_IMPORT_MEMBERS_H
#define RS_IMPORT_MEMBERS_H

#include "model/model.h"
#include "trace/inputs.h"

/* One member for each communicator fact of the source. One whose communicator is not known yet has rank -1 and a
 * communicator of its own without a number. */
void rs_members_add(struct rs_model *m, struct rs_source *source, uint32_t proc);

/* What an operation of v1 to v3 says of its communicator: puts the member into the right one. Does nothing when that is
 * known already, or `hash` is 0. */
void rs_members_learn(struct rs_model *m, uint32_t *member, uint32_t proc, uint64_t context, uint64_t hash,
                      const char *name, int32_t rank);

#endif

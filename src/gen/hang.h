/* How a generated job hangs, and the correct verdict.
 *
 * The hang is in the first suitable collective of its step (or of a later one); from there on ranks get stuck because
 * members of their operations never start. One hang per job. */
#ifndef RS_GEN_HANG_H
#define RS_GEN_HANG_H

#include "gen/op.h"

/* Called for each collective before its members: whether the hang is in this one. Sets fates by member, and changes
 * *odd, R's version of the call, for a mismatch. */
bool rs_gen_hang_enter(struct rs_gen_job *job, const struct rs_gen_coll *coll, struct rs_gen_coll *odd);

/* Of a collective that never ends: how far the network operation `net` of member `m` gets. `here`: the hang is in
 * it. */
void rs_gen_hang_net(struct rs_gen_job *job, const struct rs_gen_comm *comm, int m, bool here, struct rs_gen_net *net);

/* At the end of a step: generates a deadlock if it is due. Returns whether this was the last step. */
bool rs_gen_hang_step(struct rs_gen_job *job);

#endif

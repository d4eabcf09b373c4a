/* How a generated job hangs, and what a good verdict on it says.
 *
 * The hang is played in the first collective of its step (or of a later one) that fits; from there on ranks get stuck by
 * themselves, as operations meet members that never start. One hang a job. */
#ifndef RS_GEN_HANG_H
#define RS_GEN_HANG_H

#include "gen/op.h"

/* Called for each collective before its members: whether the hang is in this one. Sets fates by member, and changes
 * *odd, R's version of the call, for a mismatch. */
bool rs_gen_hang_enter(struct rs_gen_job *job, const struct rs_gen_coll *coll, struct rs_gen_coll *odd);

/* Of a collective that never ends: how far the network operation `net` of member `m` comes. `here`: the hang is in it. */
void rs_gen_hang_net(struct rs_gen_job *job, const struct rs_gen_comm *comm, int m, bool here, struct rs_gen_net *net);

/* At the end of a step: plays a deadlock if it is due. Whether no more steps are to come. */
bool rs_gen_hang_step(struct rs_gen_job *job);

#endif

/* What a clock's fit cannot see of itself: how far its ends may be from the others' all the time.
 *
 * Ends of one collective on two ranks differ by about a step of the ring or tree: a part of the transfer, and no more than a
 * chunk takes. That is allowed for. And where a clock's ends differ between communicators, functions or sizes by more than
 * that, then by as much as they do. */
#ifndef RS_JOIN_BIAS_H
#define RS_JOIN_BIAS_H

#include "join/consensus.h"

#define RS_BIAS_LEAST 2e3 /* ns */
#define RS_BIAS_MOST 8e3 /* ns: a chunk of 512 KiB at 64 GB/s */

/* Sets the bias of every track. `ends` are those of the moments, on the tracks' axes. */
enum rs_status rs_bias_allow(struct rs_track *tracks, const struct rs_model *m, const struct rs_samples *s,
                             const double *ends, struct rs_err *err);

#endif

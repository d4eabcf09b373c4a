/* The same call, as two tools saw it in one process: on the wall clock that both read, a framework's call comes before
 * NCCL's that it makes, and the framework's next one of the kind after that.
 *
 * That holds whatever the tools joined, however many windows they saw, and where timers of the GPU are wrong; it needs
 * calls with wall times on both sides. */
#ifndef RS_JOIN_OVERLAY_CALLS_H
#define RS_JOIN_OVERLAY_CALLS_H

#include "model/model.h"

/* match[part of a tool] = the part of the tool that leads, in the same process, that is the same call; RS_NONE: none is
 * certain. Of an all-to-all that NCCL makes of sends and receives: the first of them. Room for parts.n + 1. */
void rs_calls_match(const struct rs_model *m, uint32_t *match);

/* Lays each operation over the one that most of its parts are of. */
void rs_calls_lay(struct rs_model *m, const uint32_t *match);

#endif

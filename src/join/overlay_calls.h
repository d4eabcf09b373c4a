/* The same call, recorded by two tools in one process: on their common wall clock, a framework's call precedes the NCCL
 * call that it makes, and the framework's next call of the kind follows that.
 *
 * This is independent of what the tools joined, of the number of windows and of wrong GPU timers; it needs calls with
 * wall times on both sides. */
#ifndef RS_JOIN_OVERLAY_CALLS_H
#define RS_JOIN_OVERLAY_CALLS_H

#include "model/model.h"

/* match[part of a tool] = the part of the primary source, in the same process, that is the same call; RS_NONE: none is
 * certain. For an all-to-all, which NCCL turns into sends and receives: the first of them. Room for parts.n + 1. */
void rs_calls_match(const struct rs_model *m, uint32_t *match);

/* Merges each operation into the one that most of its parts match. */
void rs_calls_merge(struct rs_model *m, const uint32_t *match);

#endif

/* Merging of sources: one job recorded by several tools, each with its own processes, communicators and operations.
 *
 * The primary source is the tool with the smaller enum rs_tool; the others are secondary, and are merged into it:
 * ops.over and ops.view name the operation (over: always a primary one), comms[].over and .view the communicator,
 * procs[].same the process. Merged secondary operations are excluded from lists and analyses, and contribute what only
 * they know: names, steps, annotations (overlay_facts.h), times (overlay_by_time.c).
 *
 * Communicators are the same if their ranks of the job are, their processes can be, their names do not differ, and
 * their calls are the same (overlay_calls.h) or else their operations agree in order and size (sequences.h, shifts.h);
 * of several, the one that agrees best. An equal NCCL hash is proof. A tool may have recorded only a window: the calls
 * show which one, else the pattern of times, independent of the clocks, and only as a last resort wall time. Each rank
 * is matched separately. What cannot be matched with certainty stays an operation of its own. Works on the model; one
 * thread. */
#ifndef RS_JOIN_OVERLAY_H
#define RS_JOIN_OVERLAY_H

#include "model/model.h"

/* Before clocks are aligned: by order, and by the pattern of times on each clock. Needs collectives and pairs. */
enum rs_status rs_overlay_find(struct rs_model *m, struct rs_err *err);

/* After alignment and fan-outs: matches the rest by time, fills in times, and notes what does not match. */
enum rs_status rs_overlay_by_time(struct rs_model *m, struct rs_err *err);

/* Whether a has no operation of b's tool merged into it yet, or only pieces of the same one. */
bool rs_overlay_takes(const struct rs_model *m, uint32_t a, uint32_t b);
/* Whether two operations of one tool may be pieces of one that it did not join: the send and the receive of a pair,
 * different ranks of a collective. */
bool rs_overlay_may_be_one(const struct rs_model *m, uint32_t x, uint32_t y);
/* Merges operation b into a, or into the primary operation of a. False: not possible. */
bool rs_overlay_merge(struct rs_model *m, uint32_t b, uint32_t a);

/* The part of a communicator's rank in an operation; RS_NONE: none. In a fan-out: one of them. */
uint32_t rs_op_part_of(const struct rs_model *m, uint32_t op, int32_t rank);

/* The rank of communicator a that is rank `rank` of b, by rank of the job, else by the same number; -1: none. */
int32_t rs_overlay_rank(const struct rs_model *m, uint32_t b, int32_t rank, uint32_t a);

/* Whether two processes can be one: equal pids, if both report the pid as the process sees it. */
bool rs_overlay_same_process(const struct rs_model *m, uint32_t p, uint32_t q);

/* Whether NCCL turns a function into sends and receives, so that it is not a collective there. */
bool rs_overlay_is_fan(const char *func);

/* Whether a communicator of a tool can be one of the primary source. */
bool rs_overlay_possible(const struct rs_model *m, uint32_t b, uint32_t a);

/* Records that communicator b is a, and that their processes are the same. */
void rs_overlay_join(struct rs_model *m, uint32_t b, uint32_t a);

#endif

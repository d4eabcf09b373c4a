/* Laying over: one job that several tools saw, each with processes, communicators and operations of its own, becomes
 * one.
 *
 * The tool with the smaller enum rs_tool leads. What another saw is laid over it: ops.over and ops.view tell the
 * operation (over: always one that leads), comms[].over and .view the communicator, procs[].same the process. Laid-over
 * operations are kept out of lists and analyses, and lend what only they know: names, steps, annotations
 * (overlay_facts.h), times (overlay_by_time.c).
 *
 * Communicators are the same if their ranks of the job are, their processes can be, their names do not differ, and
 * their calls are the same (overlay_calls.h), else their operations agree in order and size (sequences.h, shifts.h); of
 * several, the one that agrees best. An equal hash of NCCL's is proof. A tool may have seen only a window: which one is
 * told by the calls, else by the pattern of the times, whatever the clocks, and only where that says nothing by wall
 * time. Each rank is placed by itself. What no certain place was found for stays an operation of its
 * own. Works on the model; one thread. */
#ifndef RS_JOIN_OVERLAY_H
#define RS_JOIN_OVERLAY_H

#include "model/model.h"

/* Before clocks are aligned: by order, and by the pattern of times on each clock. Needs collectives and pairs. */
enum rs_status rs_overlay_find(struct rs_model *m, struct rs_err *err);

/* When all is on one axis and fan-outs are there: what is left, by time; lends times; says what does not fit. */
enum rs_status rs_overlay_by_time(struct rs_model *m, struct rs_err *err);

/* Whether a has no operation of b's tool over it yet, or only pieces of the same one. */
bool rs_overlay_takes(const struct rs_model *m, uint32_t a, uint32_t b);
/* Whether two operations of one tool may be pieces of one that it did not join: the send and the receive of a pair,
 * different ranks of a collective. */
bool rs_overlay_may_be_one(const struct rs_model *m, uint32_t x, uint32_t y);
/* Lays operation b over a, or over what a is laid over itself. False: that does not take it. */
bool rs_overlay_lay(struct rs_model *m, uint32_t b, uint32_t a);

/* The part of a rank of the communicator in an operation; RS_NONE: it has none. Of a fan-out: one of them. */
uint32_t rs_op_part_of(const struct rs_model *m, uint32_t op, int32_t rank);

/* The rank of communicator a that rank `rank` of b is, by their ranks of the job, else the same number; -1: none. */
int32_t rs_overlay_rank(const struct rs_model *m, uint32_t b, int32_t rank, uint32_t a);

/* Whether two processes can be one: their ids are the same, where both tell it as the process sees it. */
bool rs_overlay_same_process(const struct rs_model *m, uint32_t p, uint32_t q);

/* Whether NCCL makes sends and receives of a function, so that it is no collective there. */
bool rs_overlay_is_fan(const char *func);

/* Whether a communicator of a tool can be one of another that leads. */
bool rs_overlay_possible(const struct rs_model *m, uint32_t b, uint32_t a);

/* Notes that communicator b is a, and that their processes are the same ones. */
void rs_overlay_join(struct rs_model *m, uint32_t b, uint32_t a);

#endif

/* Operations of the dumps of one process -> parts of the model, in time order, with their calls and launches.
 *
 * COLL, P2P and CE_COLL each become a part. A call without an operation is all that NCCL reports of some functions;
 * then it is a part too. Where NCCL did report others of the same function on the communicator, the profiler's pool
 * was full: that is a loss, kept as a gap of the process, as are sends and receives without their operation and group
 * calls that launched something and hold nothing.
 *
 * 2.27 to 2.30 do not write down when a call or a launch began. The group call around it began when its first call
 * did, so that is used instead; a launch is known by its end alone (RS_PART_LAUNCH_END). One thread at a time; the
 * struct is the caller's to free. */
#ifndef RS_FOREIGN_EXAMPLE_PARTS_H
#define RS_FOREIGN_EXAMPLE_PARTS_H

#include "foreign/example/procs.h"
#include "model/model.h"

/* ---- members ----
 * The communicators and members that the dumps of one process name, their GPUs, and their lives.
 *
 * A dump does not say how many ranks a communicator has (it is derived from the highest rank named), nor on
 * which device a rank is. Ranks whose calls share a stream are on one device; a process with one rank in each
 * communicator has one. The model owns the rows; the index here is the caller's to free. */

struct rs_example_members {
    uint32_t first, n; /* rows of the model */
    uint32_t *own; /* by member: the dump that is its own; RS_NONE: there is none */
    struct rs_map index; /* (communicator, rank) -> member */
};

/* Adds the members of a process that is in the model as `proc`. */
void rs_example_members_add(struct rs_example_members *x, struct rs_model *m, const struct rs_example_procs *p,
                            const struct rs_example_proc *row, uint32_t proc);
void rs_example_members_free(struct rs_example_members *x);

/* ---- parts ---- */

struct rs_example_parts {
    uint32_t first, n; /* rows of the model */
    uint32_t **of; /* by dump of the process, by event: the part of an operation; RS_NONE: it is none */
    int64_t *low; /* by part: its launch had not begun before this; RS_TIME_NONE: not known */
    uint64_t *plan; /* by part: equal for those of one kernel, as far as known; never falls */
    uint32_t ndumps;
    struct rs_map plans; /* launch or group -> plan; the module's own */
};

void rs_example_parts_add(struct rs_example_parts *x, struct rs_model *m, const struct rs_example_procs *p,
                          const struct rs_example_proc *row, const struct rs_example_members *members, uint32_t proc);
void rs_example_parts_free(struct rs_example_parts *x);

/* When all processes are in: calls that are parts have a number where every member of the communicator made equally
 * many of the function, and none where some may have been lost. */
void rs_example_number_calls(struct rs_model *m, uint32_t first_part);

#endif

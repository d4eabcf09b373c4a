/* The arguments of a line of an example-profiler dump, of any category and version, by their keys.
 *
 * example/events.c reads a line's arguments into one rs_example_args and keeps those that its category has. Plain data;
 * texts are the rs_texts's. One thread at a time. */
#ifndef RS_FOREIGN_EXAMPLE_ARGS_H
#define RS_FOREIGN_EXAMPLE_ARGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/scan.h"
#include "base/texts.h"
#include "foreign/example/events.h"

/* All arguments that any category has, before they are put where its kind keeps them. */
struct rs_example_args {
    uint64_t comm, seq, count, stream, bytes, start_clock, stop_clock, wr_id, event_id, gpu_us;
    int64_t cpu_begin, cpu_end, cpu_ns, at[RS_EX_STATES];
    int32_t done[RS_EX_STATES];
    int32_t group, depth, root, captured, rank, peer, nchannels, channel, steps, chunk, appended, step;
    int32_t device, qp, opcode, sock, op, nranks, nops;
    uint16_t dtype, algo, proto, strategy, type;
    bool has_comm;
};

extern const struct rs_example_args rs_example_no_args;

/* Reads the object of arguments whose '{' the scanner gave last. *fine: it is whole. *again: it is not, and the scanner
 * stands behind the '{' of the next line already. Keys that are not known are left out. */
enum rs_status rs_example_args_read(struct rs_scan *s, struct rs_texts *texts, struct rs_example_args *args, bool *fine,
                                    bool *again, struct rs_err *err);

/* Microseconds with a point into ns, exact; 0, or no number: RS_TIME_NONE, for what is 0 was not stamped. */
int64_t rs_example_time(const struct rs_scan *s);

#endif

/* The latency file of Google's CoMMA (NCCL_PROFILER_LATENCY_FILE): JSON objects one after the other, on a line each or
 * not.
 *
 * Times are µs of the host. CoMMA sees no kernels: `dur` is mostly the time of enqueueing, `child_*` is from the first
 * to the last proxy operation, the nearest thing to the time of execution. Small operations and many receives are left
 * out by its defaults. Everything belongs to the struct until rs_comma_free(); texts end with a 0. One thread at a
 * time. */
#ifndef RS_FOREIGN_COMMA_COMMA_H
#define RS_FOREIGN_COMMA_COMMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define RS_COMMA_NONE UINT32_MAX

/* -1 = unknown, in all numbers that are signed; times in ns, from the file's µs. */
struct rs_comma_op {
    char name[24], algo[16], proto[16]; /* "all_reduce", "send", ...; "" = unknown */
    bool p2p, reclaimed; /* reclaimed: given up by CoMMA before its end was seen */
    uint64_t comm, bytes;
    int64_t rank, seq, peer, pid, channels;
    int64_t start_ns, dur_ns, child_start_ns, child_dur_ns;
    uint64_t offset; /* of the object */
};

struct rs_comma_proxy {
    uint32_t op; /* RS_COMMA_NONE: of no operation in the file; `parent` is CoMMA's own number then */
    bool send;
    uint64_t comm, parent;
    int64_t rank, peer, pid, channel, n_steps, chunk_bytes;
    int64_t start_ns, dur_ns;
    uint32_t first_step, steps; /* kept ones: CoMMA may have joined or dropped some */
};

struct rs_comma_step {
    int64_t step, bytes, start_ns, fifo_ready_ns, end_ns;
};

struct rs_comma {
    struct rs_comma_op *ops; /* in the order of the file */
    struct rs_comma_proxy *proxies;
    struct rs_comma_step *steps;
    uint32_t n_ops, n_proxies, n_steps;
    struct rs_err damage; /* code RS_OK: none; else path, byte and reason */
    uint32_t ops_cap, proxies_cap, steps_cap;
};

/* RS_BAD_INPUT when there is no whole operation in it. Free in any case. */
enum rs_status rs_comma_read(struct rs_comma *p, const char *path, struct rs_err *err);
enum rs_status rs_comma_read_memory(struct rs_comma *p, const char *path, const char *text, size_t n,
                                    struct rs_err *err);
void rs_comma_free(struct rs_comma *p); /* a zeroed struct is fine */

#endif

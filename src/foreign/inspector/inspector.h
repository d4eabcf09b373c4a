/* The logs of NCCL's Inspector: one JSON object per line and finished operation (<host>-pid<pid>.log, .jsonl, packed
 * or not).
 *
 * Without its verbose mode a line has a duration and the time at which it was written out, but no start: statistics, no
 * time axis. With it there are times of the host (Unix, µs). Bandwidths may be infinite or NaN: as written. Operations
 * are missing without a trace (small ones, overwritten ones, the last ones): gaps in `sn` show it.
 *
 * Everything belongs to the struct until rs_inspector_free(); texts end with a 0 and are never NULL. One thread at a
 * time. Lines are independent: a broken one is counted, and the others are kept. */
#ifndef RS_FOREIGN_INSPECTOR_INSPECTOR_H
#define RS_FOREIGN_INSPECTOR_INSPECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"

/* A rank of a communicator in a process: what header and metadata say on each line. */
struct rs_inspector_member {
    uint64_t comm; /* hash */
    const char *comm_name; /* mostly "unknown" */
    int64_t rank, n_ranks, n_nodes; /* -1 = unknown */
    const char *host;
    int64_t pid;
    const char *version, *git_rev;
    uint32_t ops;
};

enum rs_inspector_timing {
    RS_INSPECTOR_UNKNOWN,
    RS_INSPECTOR_KERNEL_GPU,
    RS_INSPECTOR_KERNEL_CPU,
    RS_INSPECTOR_COLLECTIVE_CPU
};

struct rs_inspector_op {
    uint32_t member;
    bool p2p;
    const char *func; /* as written: "AllReduce", "Send", ... */
    uint64_t sn; /* counts per communicator; p2p has its own count */
    int64_t peer; /* p2p; -1 = none */
    uint64_t bytes; /* as written: of all-gather and reduce-scatter that of one rank */
    int64_t exec_ns; /* -1 = unknown */
    enum rs_inspector_timing timing;
    double algbw_gbs, busbw_gbs; /* NaN = unknown, or written so */
    int64_t dump_us; /* when the line was made; -1 = unknown */
    int64_t start_us, stop_us; /* verbose: of the enqueueing on the host, Unix; -1 = unknown */
    int64_t start_sn, stop_sn; /* verbose: order of the callbacks; -1 = unknown */
    uint32_t first_kernel, n_kernels; /* verbose */
    uint64_t offset; /* of the line */
};

/* A channel of an operation, as the host saw it. -1 = unknown. */
struct rs_inspector_kernel {
    int64_t channel;
    int64_t start_us, stop_us, record_us;
    int64_t start_sn, stop_sn, record_sn;
};

struct rs_inspector {
    struct rs_inspector_member *members;
    struct rs_inspector_op *ops; /* in the order of the file */
    struct rs_inspector_kernel *kernels;
    uint32_t n_members, n_ops, n_kernels;
    bool verbose; /* some operation has times */
    uint64_t lines, other_lines, bad_lines; /* other: whole, but of no operation (v4.3). lines = n_ops + other + bad */
    struct rs_err damage; /* code RS_OK: none; else path, byte and reason of the first */
    /* the reader's own: */
    uint32_t members_cap, ops_cap, kernels_cap;
    struct rs_arena texts;
    struct rs_map by_key; /* hash of what makes a member -> index + 1 */
    struct rs_map funcs; /* hash of a name -> its place */
};

/* RS_BAD_INPUT when no line is whole. Free in any case. */
enum rs_status rs_inspector_read(struct rs_inspector *p, const char *path, struct rs_err *err);
enum rs_status rs_inspector_read_memory(struct rs_inspector *p, const char *path, const char *text, size_t n,
                                        struct rs_err *err);
void rs_inspector_free(struct rs_inspector *p); /* a zeroed struct is fine */

#endif

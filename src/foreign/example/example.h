/* Dumps of NCCL's example profiler (2.23 to 2.31), one file at a time, into plain rows: no model yet.
 *
 * A file is what one rank of one communicator wrote at its end. From 2.27 on its name ends in _<commHash>_<rank>.json;
 * before, it says host and thread, and the rank of the file is known by its operations only. NCCL gives a group call to
 * the group's first communicator: one file may hold the operations of all ranks and communicators of a process, and the
 * others nothing but what their proxy threads did. So every event has its own communicator and rank, and `who` says how
 * they are known.
 *
 * Events are in the order of their begin lines; parents before children. Times are ns since the first init of the
 * process (`pid`): files of one pid share that axis, others do not. GPU clocks are each device's own. What is damaged
 * or cut off is reported in `broken`, and everything whole before and after it is there. The struct owns all; one
 * thread at a time. Memory: about 150 bytes for each pair of lines. */
#ifndef RS_FOREIGN_EXAMPLE_EXAMPLE_H
#define RS_FOREIGN_EXAMPLE_EXAMPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/map.h"
#include "foreign/example/events.h"

/* A rank of a communicator that operations or the file's name contain. */
struct rs_example_rank {
    uint64_t comm;
    int32_t rank;
    uint32_t colls, p2ps;
    uint64_t stream; /* of its calls; 0: none seen, or several */
    bool of_file; /* the file is this rank's own */
};

struct rs_example {
    char *path;
    uint64_t comm; /* whose file it is */
    int32_t rank; /* -1: not known */
    bool named; /* by the file's name; else by its operations, when all are of one rank */
    uint32_t pid; /* of its first event; 0: none */
    struct rs_example_event *events;
    uint32_t n, cap;
    struct rs_example_rank *ranks; /* in the order in which they appear; the file's own first */
    uint32_t nranks, cap_ranks;
    uint32_t *sleeps; /* events: the proxy thread's Sleeps, by begin */
    uint32_t nsleeps;
    struct rs_texts texts;
    uint32_t counts[RS_EX_KINDS]; /* events of each kind */
    uint64_t strays; /* end lines without a begin */
    uint64_t unclosed; /* begin lines without an end */
    uint64_t strange; /* objects that are no such lines */
    uint64_t damaged; /* lines that break off */
    bool closed; /* ends in "]" */
    struct rs_err broken; /* the first damage: file, byte offset, reason; code RS_OK: none */
    struct rs_map rank_index; /* the reader's own */
};

/* Communicator and rank from a name like dump_<commHash>_<rank>.json[.gz|.zst]; the hash decimal, or hex with
 * letters. */
bool rs_example_name(const char *path, uint64_t *comm, int32_t *rank);

/* Reads a file, plain or packed. Fails when it cannot be opened or has no line of such a dump;
 * damage alone is no failure. */
enum rs_status rs_example_open(struct rs_example *dump, const char *path, struct rs_err *err);
/* The same from memory; `path` is for its name and for messages. */
enum rs_status rs_example_parse(struct rs_example *dump, const char *path, const char *text, size_t n,
                                struct rs_err *err);
void rs_example_close(struct rs_example *dump); /* a zeroed one is fine */

/* When the proxy thread of this file's rank first went to sleep at or after `ns`: its work for operations that were
 * under way then was done, which bounds their end where nothing else does. RS_TIME_NONE: it did not. */
int64_t rs_example_sleep_after(const struct rs_example *dump, int64_t ns);
/* When destruction of the file's communicator began: the proxy thread is woken from its last Sleep to append nothing.
 * RS_TIME_NONE: the dump does not show it. */
int64_t rs_example_destroyed(const struct rs_example *dump);

#endif

/* Example-profiler dumps, sorted into processes.
 *
 * Files of one pid in one folder are one process and share its host axis, unless they contradict that: two files of
 * the same rank; two ranks on one stream; a collective that one rank's proxy saw end before the other's program had
 * called it; or events that are numbered alike, for the thread that writes files counts on from one to the next.
 * (Containers number their processes alike; and an axis that is wrongly shared is worse than two that the collectives
 * tie together.) Then several processes have that pid, and only files that show it belong together: their host's clock
 * has the same offset to the GPU's, one holds operations of the other's rank, or collectives of both agree. The
 * struct owns the dumps; one thread at a time. */
#ifndef RS_FOREIGN_EXAMPLE_PROCS_H
#define RS_FOREIGN_EXAMPLE_PROCS_H

#include "foreign/example/example.h"

struct rs_example_proc {
    uint32_t *dumps; /* rows of rs_example_procs.dumps */
    uint32_t n, cap;
    /* the module's own: */
    struct rs_example_trait *traits; /* of each dump */
    uint32_t cap_traits;
    struct rs_map ranks; /* (communicator, rank) that has a file here -> 1, or only operations -> 0 */
    struct rs_map streams; /* (communicator, stream) -> rank that uses it */
    struct rs_map colls; /* (communicator, function, number) -> row of spans + 1 */
    struct rs_example_span *spans;
    uint32_t nspans, cap_spans;
};

struct rs_example_procs {
    struct rs_example *dumps; /* in the order in which they were added */
    uint32_t ndumps, cap_dumps;
    struct rs_example_proc *rows;
    uint32_t n, cap;
};

/* Takes the dump (it is the struct's then, and zeroed where it was, also on failure). */
void rs_example_procs_add(struct rs_example_procs *p, struct rs_example *dump);
/* When all are in: makes the processes. Dumps without events say no pid: each goes to the only process there is, if
 * that is of its folder, or becomes one of its own. */
void rs_example_procs_finish(struct rs_example_procs *p);
void rs_example_procs_free(struct rs_example_procs *p);

#endif

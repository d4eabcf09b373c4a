/* Counts over one recording: callbacks by kind, first and last time, losses.
 *
 * Made in one pass over the callbacks. Owned by the struct until rs_summary_free(). */
#ifndef RS_TRACE_SUMMARY_H
#define RS_TRACE_SUMMARY_H

#include "base/map.h"
#include "nccl/abi.h"
#include "trace/callbacks.h"
#include "trace/inputs.h"

/* A span in which a thread lost callbacks. */
struct rs_lost_span {
    int64_t from_ns, to_ns;
    uint64_t lost;
    uint32_t tid;
};

struct rs_summary {
    uint64_t calls[RS_CALL_LOST]; /* kept, by call */
    uint64_t events[RS_NCCL_TYPE_BITS + 1]; /* starts by type bit; the last: of unknown type */
    uint64_t callbacks; /* sum of calls */
    int64_t from_ns, to_ns; /* first and last callback; both 0: none */
    int64_t events_from_ns; /* first start, stop or state: in a ring, earlier ones were overwritten */
    struct rs_lost_span *gaps;
    size_t ngaps;
    struct rs_map comm_hashes; /* hashes of communicators, also those that v1 to v3 name only in their operations */
    uint64_t threads; /* that made callbacks */
};

void rs_summary_init(struct rs_summary *summary, struct rs_source *source);
void rs_summary_free(struct rs_summary *summary);

#endif

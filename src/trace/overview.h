/* An overview of a set of processes: sums, hosts, communicators, and settings that differ between them.
 *
 * Made from the sources in the inputs (one run, or all); owns its lists until rs_overview_free() and borrows texts from
 * the inputs, which must stay valid. */
#ifndef RS_TRACE_OVERVIEW_H
#define RS_TRACE_OVERVIEW_H

#include "trace/differences.h"
#include "trace/summary.h"

struct rs_overview {
    struct rs_summary *summaries; /* of each source */
    struct rs_summary sum; /* its lists stay empty */
    int64_t longest_ns; /* from first to last callback, of the longest process: clocks of hosts differ */
    uint64_t lost, overwritten, damaged;
    uint64_t cut; /* callbacks left out of cuts */
    size_t cuts; /* sources that are cuts */
    bool accounted; /* nothing else can have been emitted */
    bool same_mask; /* the same events were requested in all processes all the time */
    uint64_t mask; /* if same_mask */
    int64_t requested_ns, detail_ns; /* sums over processes: of the time with known masks, and with KernelCh in it */
    uint64_t triggers; /* windows of detail that unusual intervals opened */
    size_t hosts, communicators;
    struct rs_differences differences; /* of settings */
    const char *nccl_version; /* of all; NULL: unknown, or it differs */
};

void rs_overview_init(struct rs_overview *overview, struct rs_inputs *inputs,
                      void (*progress)(size_t done, size_t all));
void rs_overview_free(struct rs_overview *overview, size_t nsources);

/* What the recorder took of the process's time: callbacks at their measured cost, and the background thread. *span_ns is
 * how long the process recorded. In ns; -1: unknown. */
double rs_recorder_ns(struct rs_source *source, const struct rs_summary *summary, int64_t *span_ns);
/* The same as part of that time. */
double rs_recorder_share(struct rs_source *source, const struct rs_summary *summary);

#endif

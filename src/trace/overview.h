/* What a set of processes is, taken together: sums, hosts, communicators, and settings that differ between them.
 *
 * Made from the sources that are left in the inputs (one run, or all); owns its lists until rs_overview_free() and borrows
 * texts from the inputs, which must live on. */
#ifndef RS_TRACE_OVERVIEW_H
#define RS_TRACE_OVERVIEW_H

#include "trace/differences.h"
#include "trace/summary.h"

struct rs_overview {
    struct rs_summary *summaries; /* of each source */
    struct rs_summary sum; /* its lists stay empty */
    int64_t longest_ns; /* from first to last callback of the process that lived longest: clocks of hosts differ */
    uint64_t lost, overwritten, damaged;
    uint64_t cut; /* callbacks that were cut off */
    size_t cuts; /* sources that were cut out of larger recordings */
    bool accounted; /* nothing else can have been emitted */
    bool same_mask; /* all processes were asked for the same events all the time */
    uint64_t mask; /* that is it */
    size_t hosts, communicators;
    struct rs_differences differences; /* of settings */
    const char *nccl_version; /* of all; NULL: not known, or it differs */
};

void rs_overview_init(struct rs_overview *overview, struct rs_inputs *inputs,
                      void (*progress)(size_t done, size_t all));
void rs_overview_free(struct rs_overview *overview, size_t nsources);

/* The part of the process's time that the recorder took: callbacks at their measured cost, and the background thread.
 * -1: not known. */
double rs_recorder_share(struct rs_source *source, const struct rs_summary *summary);

#endif

/* Names that exports of ringscope have and its JSON does not: columns of the database and of CSV, arguments of slices,
 * attributes and properties of OTF2. docs/export.md and docs/sql.md say more. */
#include "explain/terms.h"

static const struct rs_term terms[] = {
    /* what is not known, in slices and regions */
    {"start_unknown", "field", "When it began is not told: it is drawn from its launch, else from its call."},
    {"end_bounded", "field",
     "When it ended is not told: it is drawn to the latest that is possible, and where that is not known either to the "
     "earliest. The bounds are end_after and end_before; of slices shortest_ns and longest_ns behind the start."},
    {"end_after", "field", "Where the end is only bounded: ns on the common axis after which it was."},
    {"end_before", "field", "Where the end is only bounded: ns on the common axis before which it was."},
    {"shortest_ns", "field",
     "Of a slice whose end is only bounded: from its start to the earliest possible end, in ns."},
    {"longest_ns", "field",
     "Of a slice whose end is only bounded: from its start to the latest possible end, in ns; null: there is no such "
     "bound."},
    {"helped", "field", "Another process did network work for it (PXN)."},
    /* the database: numbers of rows */
    {"communicator", "column", "Of the views: the name of the communicator; comm is its hash."},
    {"last_global_rank", "column", "Who came last, as a rank of the job; null: a tie, or not known."},
    {"last_host", "column", "The host of the rank that came last."},
    {"at_s", "column", "When it started, in seconds from the first callback: as `ringscope ops` prints it."},
    {"told_ns", "column", "Of a kernel's channel: when the host heard of its start, in ns on the common axis."},
    {"told_end_ns", "column", "Of a kernel's channel: when the host heard of its end."},
    {"received_steps", "column", "Network steps that a rank received from its peer."},
    /* tables and views */
    {"operation_ranks", "column", "Table: what each rank did in each operation."},
    {"network_steps", "column", "Table: one row a chunk of data through the network."},
    {"lanes", "column", "Table: the rows of the timeline."},
    {"clocks", "column", "Table: the clocks of each process and device, with their errors."},
    {"strings", "column", "Table: names of kernels, annotations and calls."},
    {"meta", "column", "Table: facts of the whole, as its version, title and first moment."},
    {"v_operations", "column", "View: operations with names, seconds from the first callback, and the wait."},
    {"v_stragglers", "column", "View: who was late and what that cost, the costliest first."},
    {"v_bandwidth", "column", "View: what was reached, by communicator, function and size."},
    {"v_waits", "column", "View: who waited for whom, how long, in which function."},
    {"v_network", "column", "View: who sent what to whom, and what the steps waited for."},
    {"v_timeline", "column", "View: events and network steps in one, with names."},
    {"v_activities", "column", "View: kernels, copies, annotations and host calls of other tools."},
    /* counters */
    {"bytes in flight", "word",
     "Counter of a rank: the bytes of operations that all ranks have come to and that have not ended."},
    {"operations waiting", "word", "Counter of a rank: operations that wait for the last rank."},
    /* a Kineto trace that was written back */
    {"ringscope op", "field", "In a Kineto trace that ringscope wrote back: the id of the joined operation."},
    {"ringscope wait_ns", "field", "In such a trace: how long this rank waited for the last one; null: not known."},
    {"ringscope transfer_ns", "field", "In such a trace: from the last rank's start to the last end; null: not known."},
    {"ringscope last_rank", "field", "In such a trace: the rank in the communicator that came last; null: not known."},
    {"ringscope ops", "field", "In such a trace: the ids of all operations, where a kernel ran several."},
    {"ringscope tie", "field",
     "In such a trace: the last rank's lead is below twice the clock error: another may be it."},
    {"ringscope error_ns", "field",
     "In such a trace: the clock error between ranks of the operation; null: no clocks."},
    /* properties of an OTF2 archive; others: export/otf2/properties.inc */
    {"RINGSCOPE::ROWS_LEFT_OUT", "field", "Rows of the timeline that are never written to OTF2, as --rows calls them."},
    {"RINGSCOPE::CLOCK_ERROR_NS", "field", "The largest clock error of a location, in ns."},
};

const struct rs_term_table rs_terms_export = {"export", "names in exports of ringscope", NULL, terms,
                                              sizeof terms / sizeof *terms};

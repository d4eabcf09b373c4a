/* Names that exports of ringscope have and its JSON does not: columns of the database and of CSV, arguments of slices,
 * attributes and properties of OTF2. Details are in docs/export.md and docs/sql.md. */
#include "explain/terms.h"

static const struct rs_term terms[] = {
    /* what is unknown, in slices and regions */
    {"start_unknown", "field", "When it began is unknown: it is drawn from its launch, else from its call."},
    {"end_bounded", "field",
     "When it ended is unknown: it is drawn to its latest possible end, and if that is unknown too to the "
     "earliest. The bounds are end_after and end_before; of slices, shortest_ns and longest_ns after the start."},
    {"end_after", "field", "If the end is only bounded: its lower bound, in ns on the common axis."},
    {"end_before", "field", "If the end is only bounded: its upper bound, in ns on the common axis."},
    {"shortest_ns", "field",
     "Of a slice whose end is only bounded: from its start to the earliest possible end, in ns."},
    {"longest_ns", "field",
     "Of a slice whose end is only bounded: from its start to the latest possible end, in ns; null: there is no such "
     "bound."},
    {"helped", "field", "Another process did network work for it (PXN)."},
    /* the database: numbers of rows */
    {"communicator", "column", "Of the views: the name of the communicator; comm is its hash."},
    {"last_global_rank", "column", "The last rank to start, as a rank of the job; null: a tie, or unknown."},
    {"last_host", "column", "The host of the last rank to start."},
    {"at_s", "column", "Start, in seconds from the first callback, as `ringscope ops` prints it."},
    {"told_ns", "column", "Of a kernel's channel: when the host was notified of its start, in ns on the common axis."},
    {"told_end_ns", "column", "Of a kernel's channel: when the host was notified of its end."},
    {"received_steps", "column", "Network steps that a rank received from its peer."},
    /* tables and views */
    {"operation_ranks", "column", "Table: what each rank did in each operation."},
    {"network_steps", "column", "Table: one row per chunk of data through the network."},
    {"lanes", "column", "Table: the rows of the timeline."},
    {"clocks", "column", "Table: the clocks of each process and device, with their errors."},
    {"strings", "column", "Table: names of kernels, annotations and calls."},
    {"meta", "column", "Table: facts about the whole run, such as version, title and time zero."},
    {"v_operations", "column", "View: operations with names, seconds from the first callback, and the wait."},
    {"v_stragglers", "column", "View: late ranks and their cost, the costliest first."},
    {"v_bandwidth", "column", "View: bandwidth reached, by communicator, function and size."},
    {"v_waits", "column", "View: which rank waited for which, how long, in which function."},
    {"v_network", "column", "View: traffic between ranks, and what the steps waited for."},
    {"v_timeline", "column", "View: events and network steps in one, with names."},
    {"v_activities", "column", "View: kernels, copies, annotations and host calls of other tools."},
    /* counters */
    {"bytes in flight", "word",
     "Counter of a rank: the bytes of operations that all ranks have started and that have not ended."},
    {"operations waiting", "word", "Counter of a rank: operations that wait for the last rank."},
    /* an annotated Kineto trace */
    {"ringscope op", "field", "In a Kineto trace annotated by ringscope: the id of the joined operation."},
    {"ringscope wait_ns", "field", "In such a trace: how long this rank waited for the last one; null: unknown."},
    {"ringscope transfer_ns", "field", "In such a trace: from the last rank's start to the last end; null: unknown."},
    {"ringscope last_rank", "field", "In such a trace: the last rank to start, in the communicator; null: unknown."},
    {"ringscope ops", "field", "In such a trace: the ids of all operations, if a kernel ran several."},
    {"ringscope tie", "field",
     "In such a trace: the last rank's lead is below twice the clock error: another may be the last."},
    {"ringscope error_ns", "field",
     "In such a trace: the clock error between ranks of the operation; null: no clocks."},
    /* properties of an OTF2 archive; others: export/otf2/properties.inc */
    {"RINGSCOPE::ROWS_LEFT_OUT", "field", "Rows of the timeline (as in --rows) that are never written to OTF2."},
    {"RINGSCOPE::CLOCK_ERROR_NS", "field", "The largest clock error of a location, in ns."},
};

const struct rs_term_table rs_terms_export = {"export", "names in exports of ringscope", NULL, terms,
                                              sizeof terms / sizeof *terms};

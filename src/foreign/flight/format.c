/* The format: dumps of PyTorch's Flight Recorder; its names, and what a file contains and does not. */
#include "foreign/contents.h"
#include "foreign/formats.h"

static const struct rs_term terms[] = {
    {"version", "field", "Version of the dump's layout."},
    {"comm_lib_version", "field", "Version of NCCL."},
    {"entries", "field", "The latest operations of the process, oldest first: a ring that drops what is older."},
    {"pg_config", "field", "Process groups: name, description, ranks."},
    {"pg_status", "field", "Per group, the last operation that was enqueued, started, completed."},
    {"last_enqueued_collective", "field",
     "Number of the last operation that the program enqueued in the group; -1: none."},
    {"last_started_collective", "field",
     "Number of the last one seen to have started; -1: none, or starts are not watched."},
    {"last_completed_collective", "field", "Number of the last one seen to have completed; -1: none."},
    {"nccl_comm_state", "field", "NCCL's own view of its communicators, where it was built to give one."},
    {"rank", "field", "Rank of the process in the job."},
    {"world_size", "field", "Ranks of the job."},
    {"host_name", "field", "Name of the host, in newer versions."},
    {"name", "field", "Of a group: its number as text. Of a frame: the function."},
    {"desc", "field", "Description of a group."},
    {"ranks", "field", "Ranks of the job in the group, as text."},
    {"frames", "field", "The program's stack at the call, innermost first."},
    {"filename", "field", "Source file of a frame."},
    {"line", "field", "Source line of a frame."},
    {"record_id", "field", "Number of the entry in its process, from 0: a gap at the front is what the ring dropped."},
    {"pg_id", "field", "Number of the process group in its process; may differ between ranks."},
    {"process_group", "field", "Name and description of the group."},
    {"collective_seq_id", "field",
     "Number of the collective in its group, equal on all ranks. Operations of one coalesced group share it."},
    {"p2p_seq_id", "field", "Number of the send or receive in its group, counted apart from collectives."},
    {"op_id", "field", "Number of the operation within its group, coalesced ones each with its own."},
    {"profiling_name", "field", "What is called, as \"nccl:all_reduce\"; of a send \"nccl:send 0->1\"."},
    {"time_created_ns", "field",
     "When the program enqueued it, ns since 1970: the only time of an entry that is an event's."},
    {"time_discovered_started_ns", "field",
     "When the watchdog noticed that it had started: up to a poll later than it did, so never used as a start."},
    {"time_discovered_completed_ns", "field", "When the watchdog noticed that it had completed; never used as an end."},
    {"duration_ms", "field", "How long its kernel took by CUDA events, where timing was switched on."},
    {"input_sizes", "field", "Shape of each input."},
    {"output_sizes", "field", "Shape of each output."},
    {"input_dtypes", "field", "Element types of the inputs."},
    {"output_dtypes", "field", "Element types of the outputs."},
    {"state", "field",
     "scheduled: enqueued, no more is known; started; completed. By events that are only looked at now and then."},
    {"scheduled", "value", "State: enqueued; it may have started since."},
    {"started", "value", "State: its kernel was seen to have started."},
    {"completed", "value", "State: its kernel was seen to have ended."},
    {"timeout_ms", "field", "After how long the watchdog gives up on it."},
    {"is_p2p", "field", "It is a send or receive."},
    {"retired", "field", "The watchdog is done with it: its state does not change any more."},
    {"thread_id", "field", "Thread that enqueued it."},
    {"thread_name", "field", "Name of that thread."},
    {"traceback", "field", "The program's stack as text, in some versions."},
};

static enum rs_status missing(struct rs_contents *f, struct rs_err *err)
{
    RS_MISSING(f, "Starts and ends: it holds when operations were enqueued. The times at which its watchdog discovered "
                  "starts and ends are late by its polling, and not used.");
    RS_MISSING(f, "Operations before its first entry: the ring keeps the latest.");
    return RS_OK;
}

const struct rs_format rs_flight_format = {
    .what = "PyTorch Flight Recorder dump",
    .tool = RS_TOOL_FLIGHT,
    .holds = "The last operations of each process in order, with sizes, states, stacks and when they were enqueued. "
             "Not: starts, ends and durations (unless timing was on), and what the ring dropped.",
    .terms = terms,
    .nterms = sizeof terms / sizeof *terms,
    .is = rs_flight_is,
    .fill = rs_flight_fill,
    .missing = missing,
};

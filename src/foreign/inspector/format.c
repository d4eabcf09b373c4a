/* The format: logs of NCCL Inspector; its names, and what a file contains and does not. */
#include "base/units.h"
#include "foreign/contents.h"
#include "foreign/formats.h"

static const struct rs_term terms[] = {
    {"header", "field", "Which communicator and rank the line is of."},
    {"id", "field", "The communicator's hash, in hex."},
    {"comm_name", "field", "Name of the communicator; \"unknown\" where the program gave none."},
    {"rank", "field", "Rank in the communicator."},
    {"n_ranks", "field", "Ranks of the communicator."},
    {"nnodes", "field", "Nodes that the communicator spans."},
    {"metadata", "field", "When, where and by what the line was written."},
    {"inspector_output_format_version", "field", "Version of the layout (v4.0)."},
    {"git_rev", "field", "Revision that Inspector was built from."},
    {"rec_mechanism", "field", "How it learns of operations: NCCL's profiler interface."},
    {"dump_timestamp_us", "field",
     "When the line was written, us since 1970: up to a dump interval after the operation."},
    {"hostname", "field", "Host of the process."},
    {"pid", "field", "Process."},
    {"coll_perf", "field", "One collective that was timed. Small and quick ones are dropped without a count."},
    {"coll", "field", "Function: AllReduce, ..."},
    {"coll_sn", "field", "NCCL's number in communicator and function; gaps are operations that were dropped."},
    {"coll_msg_size_bytes", "field", "Bytes as NCCL counts them: of all-gather and reduce-scatter one rank's share."},
    {"coll_exec_time_us", "field", "How long it took on this rank, waiting included."},
    {"coll_timing_source", "field",
     "What the time is by: kernel_gpu (GPU timers), kernel_cpu (when the host heard of kernels), collective_cpu (the "
     "call: not its work)."},
    {"kernel_gpu", "value", "Timed by the GPU's timers: the time that the kernel ran, its wait for others included."},
    {"kernel_cpu", "value", "Timed by when the host heard of kernels: late by polling."},
    {"collective_cpu", "value", "Timed by the call on the host: says nothing of the work."},
    {"coll_algobw_gbs", "field", "Bytes over time, GB/s; a bare inf where the time is 0."},
    {"coll_busbw_gbs", "field", "Bytes over time times the factor of the function, GB/s; waits make it low."},
    {"event_trace_sn", "field", "Order of callbacks of the operation (verbose only)."},
    {"event_trace_ts", "field", "Times of callbacks of the operation, us since 1970 (verbose only)."},
    {"coll_start_sn", "field", "Place of the start among callbacks."},
    {"coll_stop_sn", "field", "Place of the stop among callbacks."},
    {"coll_start_ts", "field", "When NCCL reported the collective: enqueueing, not its start."},
    {"coll_stop_ts", "field", "When it was enqueued: not its end."},
    {"kernel_events", "field", "The channels of its kernel."},
    {"channel_id", "field", "Channel of the kernel."},
    {"kernel_start_sn", "field", "Place of a channel's start among callbacks."},
    {"kernel_stop_sn", "field", "Place of a channel's stop among callbacks."},
    {"kernel_record_sn", "field", "Place of a channel's timer among callbacks."},
    {"kernel_start_ts", "field", "When the host heard that the channel started, us: late by polling."},
    {"kernel_stop_ts", "field", "When the host heard that the channel stopped, us: late by polling."},
    {"kernel_record_ts", "field", "When the timer was read."},
    {"p2p_perf", "field", "One send or receive that was timed."},
    {"p2p", "field", "Send or Recv."},
    {"p2p_sn", "field", "Inspector's own number in the communicator: NCCL has none."},
    {"p2p_peer", "field", "The other rank."},
    {"p2p_msg_size_bytes", "field", "Bytes of the message."},
    {"p2p_exec_time_us", "field", "How long it took, waiting included."},
    {"p2p_timing_source", "field", "As coll_timing_source."},
    {"p2p_algobw_gbs", "field", "Bytes over time, GB/s."},
    {"p2p_busbw_gbs", "field", "Bytes over time, GB/s, as p2p_algobw_gbs: the factor is 1."},
};

static enum rs_status missing(struct rs_contents *f, struct rs_err *err)
{
    if (f->counts.timed)
        RS_MISSING(f,
                   "Starts (of %s of its operations): only the verbose mode (NCCL_INSPECTOR_DUMP_VERBOSE=1) writes "
                   "them, so these have no place in time.",
                   rs_text_count(f->counts.timed).s);
    RS_MISSING(
        f,
        "Operations that Inspector dropped: small and quick ones, without a count. Gaps in their numbers show some.");
    return RS_OK;
}

const struct rs_format rs_inspector_format = {
    .what = "NCCL Inspector log",
    .tool = RS_TOOL_INSPECTOR,
    .holds = "How long operations took on each rank. Not: when they started (but with verbose, by callbacks), and "
             "small operations, which it drops.",
    .terms = terms,
    .nterms = sizeof terms / sizeof *terms,
    .is = rs_inspector_is,
    .fill = rs_inspector_fill,
    .missing = missing,
};

/* The format: latency files of CoMMA; its names, and what a file contains and does not. */
#include "foreign/contents.h"
#include "foreign/formats.h"

static const struct rs_term terms[] = {
    {"args", "field", "Holds size: bytes of the operation."},
    {"size", "field", "Bytes of the operation, or of a step."},
    {"cat", "field", "COLL, P2P or PROXY."},
    {"COLL", "category", "A collective of one rank."},
    {"P2P", "category", "A send or receive of one rank."},
    {"PROXY", "category", "A proxy operation of a COLL or P2P."},
    {"ProxyOp", "event", "A proxy operation: one channel to or from one peer."},
    {"child_dur", "field", "Time from its first to its last proxy operation, us."},
    {"comm_hash", "field", "The communicator, in hex."},
    {"dur", "field", "Duration in us."},
    {"name", "field", "Function, as all_reduce; or ProxyOp."},
    {"ph", "field", "X: an event with a duration."},
    {"rank", "field", "Rank in the communicator."},
    {"seq_num", "field", "NCCL's number in communicator and function."},
    {"ts", "field", "Start in us, on a clock of the process."},
    {"algo", "field", "RING, TREE, ..."},
    {"proto", "field", "LL, LL128, SIMPLE."},
    {"n_max_channel", "field", "Channels, at most."},
    {"child_start_ts", "field", "Start of its first proxy operation, us."},
    {"timeout_dur", "field", "How long CoMMA waited before it gave it up, us."},
    {"channel_id", "field", "Channel of a proxy operation."},
    {"fifo_ready_time", "field", "When the receiver had room for a chunk, us."},
    {"parent", "field", "Number of the operation that a proxy operation belongs to."},
    {"reclaimed", "field", "CoMMA gave it up before its end was seen: its duration is that of the waiting."},
    {"proxyops", "field", "Proxy operations of the operation."},
    {"chunk_size", "field", "Bytes of a chunk, at most."},
    {"is_send", "field", "Sends, or receives."},
    {"n_steps", "field", "Chunks."},
    {"peer", "field", "The other rank."},
    {"pid", "field", "Process that did the proxy work."},
    {"steps", "field", "Chunks of a proxy operation."},
    {"start_time", "field", "Start of a chunk, us."},
    {"end_time", "field", "End of a chunk, us."},
    {"step", "field", "Which chunk."},
};

static enum rs_status missing(struct rs_contents *f, struct rs_err *err)
{
    RS_MISSING(f, "Kernels: times are the host's, as callbacks came. A clock shared with other processes.");
    return RS_OK;
}

const struct rs_format rs_comma_format = {
    .what = "CoMMA latency file",
    .tool = RS_TOOL_COMMA,
    .holds = "Operations with durations, and proxy operations with chunks. Not: kernels, a clock shared by processes.",
    .terms = terms,
    .nterms = sizeof terms / sizeof *terms,
    .is = rs_comma_is,
    .fill = rs_comma_fill,
    .missing = missing,
};

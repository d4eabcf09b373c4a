/* The format: answers of NCCL's RAS; its names, and what a file contains and does not. */
#include "foreign/contents.h"
#include "foreign/formats.h"

static const struct rs_term terms[] = {
    {"nccl_version", "field", "Version of NCCL."},
    {"cuda_runtime_version", "field", "Version of the CUDA runtime."},
    {"cuda_driver_version", "field", "Version of CUDA that the driver supports."},
    {"timestamp", "field", "When the query was answered, in the time zone of that host."},
    {"communicators_count", "field", "Communicators of the job that RAS knows."},
    {"communicators", "field", "One object per communicator."},
    {"hash", "field", "NCCL's hash of the communicator: the one that recordings have."},
    {"secondary_hash", "field", "Hashes of the host and the process that made the communicator."},
    {"size", "field", "Ranks of the communicator."},
    {"ranks_count", "field", "Ranks that answered."},
    {"missing_ranks_count", "field", "Ranks without an answer about this communicator."},
    {"ranks", "field", "The ranks that answered."},
    {"missing_ranks", "field", "The ranks without an answer about this communicator."},
    {"rank", "field", "Rank in the communicator."},
    {"host", "field", "IP address of the host."},
    {"pid", "field", "Process."},
    {"cuda_dev", "field", "CUDA device number."},
    {"nvml_dev", "field", "Device number on the host; differs from cuda_dev under CUDA_VISIBLE_DEVICES."},
    {"status", "field", "State of a rank."},
    {"init_state", "field", "Result of the initialisation: 0 done, 7 in progress, else an error."},
    {"async_error", "field", "What ncclCommGetAsyncError() would return: 0 none, 7 in progress."},
    {"finalize_called", "field", "ncclCommFinalize() was called."},
    {"destroy_flag", "field", "The communicator is being destroyed."},
    {"abort_flag", "field", "The communicator is being aborted."},
    {"collective_counts", "field",
     "Per function, the collectives that the rank has launched: not whether they have ended. Sends and receives are "
     "not counted."},
    {"unresponsive", "field", "The process did not answer this query."},
    {"considered_dead", "field", "The process has been unreachable for a minute: RAS has given it up."},
    {"ras", "field", "How the query itself went."},
    {"collection_time_sec", "field", "How long collecting the answers took."},
    {"timeouts_count", "field", "Processes that did not answer in time."},
    {"INCOMPLETE", "value", "Ranks or processes did not answer."},
    {"MISMATCH", "value", "Ranks of a communicator differ in state, or in the number of collectives launched."},
    {"NOCOMM", "value", "The process answers and is in no such communicator (UNKNOWN in NCCL 2.24 and 2.25)."},
    {"FINALIZE", "value", "The communicator is being finalised or destroyed."},
    {"ABORT", "value", "The communicator is being aborted."},
};

static enum rs_status missing(struct rs_contents *f, struct rs_err *err)
{
    RS_MISSING(f, "Operations and times: it counts the collectives that each rank has launched, at one moment. Whether "
                  "they have ended, and sends and receives, are not in it.");
    RS_MISSING(f, "In text: communicators whose ranks agree, and single ranks where many differ. Use ncclras -f json "
                  "(NCCL 2.28.7 on), else ncclras -v.");
    return RS_OK;
}

const struct rs_format rs_ras_format = {
    .what = "NCCL RAS output",
    .tool = RS_TOOL_RAS,
    .holds = "Which processes answer, and how many collectives each rank of each communicator has launched, at one "
             "moment: evidence for `ringscope hang`. Not: operations, whether they ended, sends and receives.",
    .terms = terms,
    .nterms = sizeof terms / sizeof *terms,
    .is = rs_ras_is,
    .fill = rs_ras_fill,
    .missing = missing,
};

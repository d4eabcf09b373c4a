/* The format: dumps of the example profiler that comes with NCCL, 2.23 to 2.31;
 * its names, and what a file contains and does not. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/units.h"
#include "foreign/contents.h"
#include "foreign/example/example.h"
#include "foreign/formats.h"

static const struct rs_term terms[] = {
    {"GROUP_API", "category",
     "A group call of the program. NCCL gives it to its first communicator, so in a process with several ranks the "
     "files of the others contain neither it nor anything below it."},
    {"Group API", "event", "The line of a GROUP_API: what is nested in it by file order was called in that group."},
    {"COLL_API", "category", "The program's call of a collective, in host time; not its start on the GPU."},
    {"P2P_API", "category",
     "The program's call of a send or receive, in host time. The peer is in the P2P line below it."},
    {"KERNEL_LAUNCH", "category", "Launch of the group's kernel, in host time."},
    {"KernelLaunch", "event", "The line of a KERNEL_LAUNCH."},
    {"GROUP", "category", "Group of operations in dumps before NCCL 2.28."},
    {"COLL", "category", "A collective of one rank, as scheduled; its end line is not the end of its work."},
    {"P2P", "category", "A send or receive of one rank, as scheduled."},
    {"PROXY", "category",
     "Work of the proxy thread: ScheduleSend and ProgressSend (and the same for Recv) of an operation, Idle, Sleep and "
     "Append of the thread itself."},
    {"NET", "category",
     "A state of one network step, as a span: SendGpuWait, SendPeerWait, SendWait, RecvWait, RecvFlushWait, "
     "RecvGpuWait."},
    {"NET_IB", "category", "A work request of the InfiniBand plugin below a network step."},
    {"NET_SOCK", "category", "A transfer of the socket plugin below a network step."},
    {"GPU", "category", "KernelCh lines: one channel of a kernel."},
    {"CE_COLL", "category", "A collective by copy engines (NCCL 2.29 and later)."},
    {"CE_SYNC", "category", "Synchronisation in a collective by copy engines."},
    {"CE_BATCH", "category", "Batch of copies in a collective by copy engines."},
    {"AllReduce", "event",
     "A COLL or COLL_API line of this function; likewise AllGather, Broadcast, Reduce, ReduceScatter, ..."},
    {"Send", "event", "A P2P or P2P_API line; in dumps before 2.27 also a proxy send."},
    {"Recv", "event", "A P2P or P2P_API line; in dumps before 2.27 also a proxy receive."},
    {"ScheduleSend", "event", "A proxy send was posted, and has not begun to move."},
    {"ScheduleRecv", "event", "A proxy receive was posted, and has not begun to move."},
    {"ProgressSend", "event", "A proxy send moves data, from its first step to its last."},
    {"ProgressRecv", "event", "A proxy receive moves data, from its first step to its last."},
    {"SendGpuWait", "event", "A send step waits for its own GPU's data."},
    {"SendPeerWait", "event", "A send step waits for the receiver's credit."},
    {"SendWait", "event", "A send step is on the network."},
    {"RecvWait", "event", "A receive step waits for data of the sender."},
    {"RecvFlushWait", "event", "Received data is flushed, so that the GPU sees it."},
    {"RecvGpuWait", "event", "Received data waits for the own GPU to take it."},
    {"Idle", "event", "The proxy thread has nothing to do."},
    {"Active", "event", "The proxy thread moves operations forward."},
    {"Sleep", "event",
     "The proxy thread sleeps. The end of the last one is where the communicator's destruction begins."},
    {"Wakeup", "event", "The proxy thread was woken."},
    {"Append", "event", "The proxy thread takes over posted operations."},
    {"KernelCh", "event",
     "One channel of a kernel. Its ts is when the host learned of it; StartGpuClk and StopGpuClk are the GPU's. Its id "
     "is always 0."},
    {"Qp", "event", "A work request on a queue pair (NET_IB)."},
    {"Sock", "event", "A transfer on a socket (NET_SOCK)."},
    {"name", "field", "Function, or kind of line."},
    {"cat", "field", "Kind of line; nesting is by file order, not by it."},
    {"ph", "field", "b begins, e ends (asynchronous pairs)."},
    {"id", "field", "Number of the event. Numbers are used again, so begin and end are paired by file order."},
    {"pid", "field", "Process. Files of one pid share one host clock; those of others do not."},
    {"tid", "field", "Always 1."},
    {"ts", "field",
     "Microseconds since the process's first communicator was made; 0.000000 is \"not known\". Private to its "
     "process."},
    {"args", "field", "What the begin line says of the event."},
    {"SeqNum", "field", "NCCL's number of the collective in its communicator and function."},
    {"CommHash", "field", "The communicator, in decimal; above 2^53, so it is to be read as an integer."},
    {"Rank", "field", "Rank in the communicator. In a file of one rank there may be lines of others of its process."},
    {"Count", "field", "Elements of the operation, as scheduled."},
    {"Datatype", "field", "NCCL's name of the element type; without quotes in old dumps."},
    {"Algorithm", "field", "RING, TREE, NVLS, ..."},
    {"Protocol", "field", "LL, LL128, SIMPLE."},
    {"nChannels", "field", "Channels of the operation: as many KernelCh lines belong to it."},
    {"Peer", "field", "Other rank of a send, receive or proxy operation, in the communicator."},
    {"Channel", "field", "Channel of a kernel or proxy operation."},
    {"Steps", "field", "Chunks that the proxy operation moves."},
    {"Step", "field", "Which chunk of the proxy operation."},
    {"ChunkSize", "field", "Bytes of a chunk, at most."},
    {"transSize", "field", "Bytes that were moved."},
    {"SendBufferWait", "event", "Before 2.27: a send step waits for a free buffer."},
    {"RecvBufferWait", "event", "Before 2.27: a receive step waits for a free buffer."},
    {"POSTED", "value", "Proxy state of old dumps (2.23 to 2.26): a buffer is posted. It has a time and a step."},
    {"REM_FIFO_WAIT", "value", "Proxy state of old dumps: the sender waits for room at the receiver."},
    {"TRANSMITTED", "value", "Proxy state of old dumps: a chunk was handed on, to the network or to the GPU."},
    {"RECEIVED", "value", "Proxy state of old dumps: a chunk came in."},
    {"DONE", "value", "Proxy state of old dumps: a chunk is finished."},
    {"nMaxChannels", "field", "Old dumps: channels of the operation, at most."},
    {"eventId", "field", "Copy-engine lines: number of the event."},
    {"nRanks", "field", "Copy-engine lines: ranks of the communicator."},
    {"strategy", "field", "Copy-engine lines: how ranks are synchronised."},
    {"numOps", "field", "Copy-engine lines: copies of the batch."},
    {"totalBytes", "field", "Copy-engine lines: bytes of the batch."},
    {"start_ts_cpu", "field", "Copy-engine lines: host time of the start, us."},
    {"stop_ts_cpu", "field", "Copy-engine lines: host time of the stop, us."},
    {"duration_cpu_us", "field", "Copy-engine lines: time between these, on the host."},
    {"duration_gpu_us", "field", "Copy-engine lines: time on the GPU by CUDA events, where they were used."},
    {"type", "field", "Network lines: kind of the transfer."},
    {"appended", "field", "Operations that the proxy thread took over."},
    {"count", "field", "Elements, as the program gave them."},
    {"datatype", "field", "Element type, as the program gave it."},
    {"root", "field", "Root rank; 0 where the function has none."},
    {"GraphCaptured", "field", "1: the call was captured into a CUDA graph, and runs when that is replayed."},
    {"Stream", "field", "Address of the CUDA stream; a bare 0x number in old dumps, which is not JSON."},
    {"groupApiId", "field", "Number of the group call in its process."},
    {"groupDepth", "field", "How deep group calls are nested."},
    {"groupId", "field", "Number of the group that a launch belongs to."},
    {"StartGpuClk", "field", "The GPU's timer at the kernel's start, ns. Timers of different GPUs are not one clock."},
    {"StopGpuClk", "field",
     "The GPU's timer at the kernel's end, ns. 0: it was not reported, and the operation's end is only bounded."},
    {"device", "field", "Network device of a work request."},
    {"qp_num", "field", "Queue pair of a work request."},
    {"opcode", "field", "Kind of the work request."},
    {"wr_id", "field", "Number of the work request."},
    {"size", "field", "Bytes of a network transfer."},
    {"sock", "field", "File descriptor of the socket."},
    {"op", "field", "Kind of the socket transfer: send or receive."},
};

/* ---- what the files of one process contain: its lines are spread over them ---- */

/* What one of these files has itself. */
struct dump {
    struct rs_contents *file;
    uint32_t pid;
    uint64_t comm;
    int32_t rank;
    uint64_t ops, kernels, proxy, net; /* operations and calls; KernelCh; work of the proxy thread; network steps */
    uint32_t ranks; /* whose operations it has */
};

static bool read_dump(struct dump *d, struct rs_contents *file)
{
    struct rs_example x;
    struct rs_err err;
    if (rs_example_open(&x, file->path, &err) != RS_OK) return false;
    const uint32_t *n = x.counts;
    *d = (struct dump){.file = file, .pid = x.pid, .comm = x.comm, .rank = x.rank};
    d->ops = (uint64_t)n[RS_EX_COLL] + n[RS_EX_P2P] + n[RS_EX_COLL_API] + n[RS_EX_P2P_API] + n[RS_EX_GROUP_API] +
             n[RS_EX_CE_COLL];
    d->kernels = n[RS_EX_KERNEL];
    d->proxy = (uint64_t)n[RS_EX_PROXY_OP] + n[RS_EX_PROXY_CTRL];
    d->net = n[RS_EX_NET];
    for (uint32_t i = 0; i < x.nranks; i++) d->ranks += x.ranks[i].colls + x.ranks[i].p2ps > 0;
    rs_example_close(&x);
    return true;
}

static enum rs_status say_dump(const struct dump *d, const char *other, struct rs_err *err)
{
    (void)err;
    struct rs_contents *f = d->file;
    char whose[96] = "Lines of a rank that is not in its name";
    if (d->rank >= 0)
        snprintf(whose, sizeof whose, "Lines of rank %" PRId32 " of communicator %" PRIu64, d->rank, d->comm);
    RS_CONTAINS(f,
                "%s: %" PRIu64 " calls and operations, %" PRIu64 " kernel channels, %" PRIu64
                " of the proxy thread, %" PRIu64 " of network steps.",
                whose, d->ops, d->kernels, d->proxy, d->net);
    if (d->ops && d->ranks > 1)
        RS_CONTAINS(f,
                    "Operations of %" PRIu32 " ranks of its process: NCCL gives a group call to its first "
                    "communicator, and all that is below it. Each was assigned to its rank.",
                    d->ranks);
    else if (!d->ops && !other)
        RS_MISSING(f, "Operations: only lines of the proxy thread. NCCL gives a group call to its first "
                      "communicator; the file of that rank is not among those named.");
    else if (!d->ops)
        RS_MISSING(f,
                   "Operations: only lines of the proxy thread, because NCCL gives a group call to its first "
                   "communicator. Its operations are in %s, and were assigned to it.",
                   other);
    return RS_OK;
}

/* The file of the same process that has most operations. */
static const char *richest(const struct dump *dumps, uint32_t n, uint32_t pid)
{
    const struct dump *best = NULL;
    for (uint32_t i = 0; i < n; i++)
        if (dumps[i].pid == pid && dumps[i].ops && (!best || dumps[i].ops > best->ops)) best = &dumps[i];
    return best ? best->file->path : NULL;
}

static enum rs_status contents(struct rs_contents *const *files, uint32_t nfiles, struct rs_err *err)
{
    struct dump *dumps = rs_zalloc(nfiles + 1, sizeof *dumps);
    uint32_t n = 0;
    for (uint32_t i = 0; i < nfiles; i++) n += read_dump(&dumps[n], files[i]);
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < n && status == RS_OK; i++)
        status = say_dump(&dumps[i], dumps[i].ops ? NULL : richest(dumps, n, dumps[i].pid), err);
    free(dumps);
    return status;
}

static enum rs_status missing(struct rs_contents *f, struct rs_err *err)
{
    (void)err;
    uint64_t bounded = f->counts.bounded;
    if (bounded)
        RS_MISSING(f,
                   "The ends of %s operations of the process: the GPU's timer at the end of their kernels is 0 "
                   "(StopGpuClk), so they are only bounded.",
                   rs_text_count(bounded).s);
    RS_MISSING(f, "A clock shared with other processes: ts counts from the process's first communicator. GPU timers of "
                  "two devices are not one clock either.");
    RS_MISSING(f, "Lines that the profiler had no room for: its pools have a fixed size, and it does not count.");
    return RS_OK;
}

const struct rs_format rs_example_format = {
    .what = "dump of NCCL's example profiler",
    .tool = RS_TOOL_EXAMPLE,
    .holds =
        "Calls, operations, kernels by channel, proxy steps. Not: lines that its fixed pools had no room for (dropped "
        "without a count), a clock shared by processes, and in many versions the ends of kernels (StopGpuClk 0).",
    .terms = terms,
    .nterms = sizeof terms / sizeof *terms,
    .is = rs_example_is,
    .fill = rs_example_fill,
    .contents = contents,
    .missing = missing,
};

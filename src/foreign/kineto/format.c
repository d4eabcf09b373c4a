/* The format: traces of PyTorch's profiler (Kineto); its names, and what a file contains and does not. */
#include "foreign/contents.h"
#include "foreign/formats.h"

static const struct rs_term terms[] = {
    {"schemaVersion", "field", "Version of Kineto's layout."},
    {"deviceProperties", "field", "The GPUs of the process: name, memory, processors, limits."},
    {"trace_id", "field", "Id that Kineto gave the trace."},
    {"distributedInfo", "field",
     "The rank, the world, and the process groups that this process had. Absent in traces of jobs that are not "
     "distributed."},
    {"backend", "field", "Communication library: nccl, gloo, ..."},
    {"rank", "field", "Rank of the process in the job."},
    {"world_size", "field", "Ranks of the job."},
    {"pg_count", "field", "Process groups of the process. pg_config may list fewer."},
    {"pg_config", "field", "The process groups: name, description, size, ranks."},
    {"pg_name", "field",
     "Number of a process group in PyTorch, as text. Groups of the same number on other ranks are the same only if "
     "their ranks are."},
    {"pg_desc", "field", "Description that the program gave the group; default_pg or undefined where none."},
    {"backend_config", "field", "Which library serves which device."},
    {"pg_size", "field", "Ranks of a process group."},
    {"ranks", "field", "Ranks of the job in a process group."},
    {"nccl_version", "field", "Version of NCCL."},
    {"cuda_driver_version", "field", "CUDA version of the driver, as a number (13000 is 13.0)."},
    {"cuda_runtime_version", "field", "CUDA version of the runtime, as a number."},
    {"cupti_version", "field", "Version of CUPTI, which timed kernels and calls."},
    {"displayTimeUnit", "field", "For viewers only: times are microseconds whatever it says."},
    {"baseTimeNanoseconds", "field",
     "To be added to every ts: ns since 1970 at which ts is 0. Absent in old traces, whose ts are absolute."},
    {"traceEvents", "field", "The events, in no particular order."},
    {"traceName", "field", "Where the trace was first written."},
    {"ph", "field",
     "X: an event with a duration; i: a moment; s and f: the two ends of an arrow; M: a name of a process or thread."},
    {"cat", "field", "Category of an event."},
    {"name", "field", "Name of the event, or in an M line what is being named."},
    {"pid", "field", "Process of a host event; of a GPU event the number of the GPU."},
    {"tid", "field", "Thread of a host event; of a GPU event the stream."},
    {"ts", "field",
     "Start in microseconds, with up to 3 decimals, after baseTimeNanoseconds. A double cannot hold it exactly."},
    {"dur", "field", "Duration in microseconds."},
    {"id", "field", "Number of an arrow: its s and f have the same."},
    {"bp", "field", "Where an arrow ends, for viewers (e: at the enclosing event)."},
    {"s", "field", "Reach of a moment, for viewers (g: all)."},
    {"args", "field", "What else is known of an event."},
    {"kernel", "category",
     "A kernel on a GPU stream. NCCL's are recognised by name, of which there were three generations."},
    {"gpu_memcpy", "category", "A memory copy on a GPU stream."},
    {"gpu_memset", "category", "A memory set on a GPU stream."},
    {"gpu_user_annotation", "category",
     "What an annotation covers on a stream, from its first kernel to its last: as Kineto worked it out."},
    {"user_annotation", "category",
     "A range of the program on a host thread: record_function, ProfilerStep#, DDP's own."},
    {"cpu_op", "category",
     "An operator of PyTorch on a host thread; record_param_comms among them describes collectives."},
    {"cuda_runtime", "category", "A call of the CUDA runtime on a host thread."},
    {"cuda_driver", "category", "A call of the CUDA driver on a host thread."},
    {"ac2g", "category", "Arrows from the call that launched something to what ran on the GPU."},
    {"fwdbwd", "category", "Arrows from an operator of the forward pass to its backward one."},
    {"overhead", "category", "Time that the profiler itself took. Events that overlap it were slowed down."},
    {"python_function", "category", "A Python call, where the profiler was asked for stacks."},
    {"cuda_sync", "category", "A wait of a stream or the host for an event, where CUPTI was asked for it."},
    {"Trace", "category", "The span of the whole trace: nothing is known before and after."},
    {"record_param_comms", "event",
     "What PyTorch says of a collective when it is called, on the host: group, sizes, sequence."},
    {"nccl:coalesced", "event",
     "Where PyTorch launches the sends and receives of one group (batch_isend_irecv), after their calls. Its kernel "
     "has no arguments of its own: the calls have them."},
    {"ProfilerStep", "event", "One step, as the program's profiler schedule counts them (ProfilerStep#12)."},
    {"Collective name", "field",
     "PyTorch's name of the collective: allreduce, _allgather_base, send, ... A coalesced group says so instead of its "
     "parts."},
    {"In msg nelems", "field", "Elements of the input, on this rank."},
    {"Out msg nelems", "field", "Elements of the output, on this rank."},
    {"In split size", "field", "How an uneven all-to-all splits its input; cut off when it is long."},
    {"Out split size", "field", "How an uneven all-to-all splits its output; cut off when it is long."},
    {"Group size", "field", "Ranks of the process group."},
    {"Process Group Name", "field", "Number of the process group, as text."},
    {"Process Group Description", "field", "Description of the process group."},
    {"Process Group Ranks", "field", "Ranks of the job in it; cut off with an ellipsis when there are many."},
    {"Global rank start", "field", "Lowest rank of the job in the group."},
    {"Global rank stride", "field", "Distance of neighbouring ranks of the group; 0 or 1 where it is not regular."},
    {"Rank", "field",
     "Rank in the process group: of a send or receive the peer's, of a broadcast, reduce, gather or scatter the "
     "root's, else its own."},
    {"Src Rank", "field", "Of a receive: who sends, as a rank of the job."},
    {"Dst Rank", "field", "Of a send: who receives, as a rank of the job."},
    {"Root rank", "field", "Of a broadcast, reduce, gather or scatter."},
    {"Seq", "field",
     "PyTorch's number of the operation in its group: collectives and point to point count apart. Newer versions "
     "only."},
    {"Comms Id", "field",
     "PyTorch's id of an operation, the same on all ranks: a hash of group, Seq, kind and rank pattern. Different "
     "operations may share it; without Seq there is none."},
    {"Is asynchronized op", "field", "The program does not wait for it at once."},
    {"dtype", "field", "PyTorch's name of the element type."},
    {"External id", "field", "Number that ties an operator to the calls and kernels below it."},
    {"Record function id", "field", "PyTorch's own number of the operator; 0 mostly."},
    {"Ev Idx", "field", "Place of the event in the profiler's list."},
    {"Sequence number", "field",
     "Autograd's number of an operator, to find the backward of a forward. Not the number of a collective."},
    {"Fwd thread id", "field", "Thread of the forward operator that a backward one belongs to."},
    {"Op count", "field", "Operations of a memory copy record."},
    {"correlation", "field", "Number that ties a kernel to the call that launched it. It belongs to one process."},
    {"cbid", "field", "CUPTI's number of the CUDA function."},
    {"device", "field", "Number of the GPU, as the process sees it."},
    {"context", "field", "Number of the CUDA context."},
    {"stream", "field", "Number of the CUDA stream, in its context."},
    {"queued", "field", "When the kernel was queued, if CUPTI was asked for it; else 0."},
    {"grid", "field", "Blocks of the kernel in x, y, z."},
    {"block", "field", "Threads of a block in x, y, z."},
    {"registers per thread", "field", "Registers that a thread of the kernel takes."},
    {"shared memory", "field", "Bytes of shared memory of a block."},
    {"blocks per SM", "field", "Blocks of the kernel over processors of the GPU: below 1, some have nothing to do."},
    {"warps per SM", "field", "Warps of the kernel over processors of the GPU."},
    {"est. achieved occupancy %", "field",
     "Kineto's estimate of how full processors were; NCCL's kernels use few by intent."},
    {"bytes", "field", "Bytes of a copy or set."},
    {"memory bandwidth (GB/s)", "field", "Bytes over duration of a copy."},
    {"labels", "field", "Of an M line: a label for viewers."},
    {"sort_index", "field", "Of an M line: order for viewers."},
    {"Input Dims", "field",
     "Shapes of an operator's inputs, with record_shapes. Of an nccl: annotation, the elements that it sends."},
    {"Input type", "field", "Types of an operator's inputs, with record_shapes."},
    {"pid_raw", "field", "Of a file that TraceLens merged: the pid in the trace of its rank; args have the rank, too."},
    {"correlation_raw", "field", "Of a file that TraceLens merged: the correlation in the trace of its rank."},
    {"roctracer_version", "field", "Version of roctracer, which timed kernels and calls of an AMD GPU."},
    {"mtia_ccp_events", "category",
     "Work of an MTIA device, which ringscope does not understand: counted, and left out."},
    {"mtia_runtime", "category", "A call of MTIA's runtime: counted, and left out."},
    {"xpu_runtime", "category", "A call of the runtime of an Intel GPU: counted, and left out."},
#define WORD(word, library, func, text) {word, "kernel", text},
#include "foreign/comm_kernels.inc"
#undef WORD
};

static enum rs_status missing(struct rs_contents *f, struct rs_err *err)
{
    const struct rs_counts *x = &f->counts;
    uint64_t all = x->parts[RS_PART_COLL] + x->parts[RS_PART_SEND] + x->parts[RS_PART_RECV];
    RS_MISSING(f, "Operations outside the profiled window: they are not missing, they were not recorded.");
    RS_MISSING(f, "The network: the profiler sees kernels, not what the proxy thread or the links do.");
    if (x->made_up) RS_MISSING(f, "NCCL's hash of communicators: process groups are identified by name and ranks.");
    if (all && !x->ids)
        RS_MISSING(
            f, "Sequence numbers (Seq), so there is no Comms Id: operations are joined by their order in the group.");
    return RS_OK;
}

const struct rs_format rs_kineto_format = {
    .what = "PyTorch profiler trace (Kineto)",
    .tool = RS_TOOL_KINETO,
    .holds = "Kernels, copies, host calls, annotations, collectives with their process groups, for a window of steps. "
             "Not: the network, operations outside the window, NCCL's communicator hash.",
    .terms = terms,
    .nterms = sizeof terms / sizeof *terms,
    .is = rs_kineto_is,
    .fill = rs_kineto_fill,
    .missing = missing,
};

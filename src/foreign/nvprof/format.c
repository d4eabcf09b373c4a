/* The format: nvprof's logs; its names, and what a file contains and does not. */
#include "foreign/contents.h"
#include "foreign/formats.h"

static const struct rs_term terms[] = {
    {"Type", "column", "GPU activities, API calls, or a range of NVTX."},
    {"GPU activities", "value",
     "Kernels, copies and sets: time on the GPU. A NCCL kernel that waits counts as running."},
    {"API calls", "value", "Calls of CUDA on the host, waits for the GPU included."},
    {"Range", "value", "A range of NVTX on a thread: its time on the host, and what ran on the GPU inside."},
    {"Time(%)", "column", "Share of its section's time."},
    {"Time", "column", "Time of all calls together."},
    {"Calls", "column", "How often."},
    {"Avg", "column",
     "Mean time. Of a NCCL kernel: transfer and wait for the slowest process, so the process with the lowest waited "
     "least."},
    {"Min", "column", "Shortest."},
    {"Max", "column", "Longest."},
    {"Name", "column", "Kernel, copy, call or range."},
    {"Start", "column", "Start since the process's own beginning: clocks of two processes cannot be compared by it."},
    {"Duration", "column", "How long it ran."},
    {"Grid Size", "column", "Blocks of the kernel in x, y, z."},
    {"Block Size", "column", "Threads of a block in x, y, z."},
    {"Grid X", "column", "Blocks in x (CSV)."},
    {"Grid Y", "column", "Blocks in y (CSV)."},
    {"Grid Z", "column", "Blocks in z (CSV)."},
    {"Block X", "column", "Threads in x (CSV)."},
    {"Block Y", "column", "Threads in y (CSV)."},
    {"Block Z", "column", "Threads in z (CSV)."},
    {"Regs", "column", "Registers of a thread."},
    {"Registers Per Thread", "column", "Registers of a thread (CSV)."},
    {"SSMem", "column", "Static shared memory of a block."},
    {"Static SMem", "column", "Static shared memory of a block (CSV)."},
    {"DSMem", "column", "Dynamic shared memory of a block."},
    {"Dynamic SMem", "column", "Dynamic shared memory of a block (CSV)."},
    {"Size", "column", "Bytes of a copy, in the unit of the second line or after the number."},
    {"Throughput", "column", "Bytes over time of a copy."},
    {"SrcMemType", "column", "Kind of memory that a copy reads."},
    {"DstMemType", "column", "Kind of memory that a copy writes."},
    {"Device", "column", "GPU: its name, and its number in parentheses where there is room."},
    {"Context", "column", "CUDA context."},
    {"Stream", "column", "CUDA stream."},
    {"Src Dev", "column", "GPU that a copy between GPUs reads."},
    {"Src Ctx", "column", "Context of that."},
    {"Dst Dev", "column", "GPU that a copy between GPUs writes."},
    {"Dst Ctx", "column", "Context of that."},
    {"Correlation_ID", "column",
     "Number that ties a kernel to the call that launched it; in text it is in brackets after the name."},
};

static enum rs_status missing(struct rs_contents *f, struct rs_err *err)
{
    const uint64_t *n = f->counts.activities;
    if (f->counts.stats)
        RS_MISSING(f, "A time axis: a summary says how often and how long. Who waited is what a process's NCCL "
                      "kernels take above those of the fastest one.");
    if (n[RS_ACT_COMPUTE] + n[RS_ACT_COMM] + n[RS_ACT_COPY])
        RS_MISSING(f, "A clock shared by processes: starts count from each process's own beginning.");
    RS_MISSING(f, "Communicators, ranks and sizes of NCCL's operations: nvprof sees kernels by name alone.");
    return RS_OK;
}

const struct rs_format rs_nvprof_format = {
    .what = "nvprof log",
    .tool = RS_TOOL_NVPROF,
    .holds = "Summary: calls and times by kernel and call, no time axis. GPU and API trace: starts since each "
             "process's own beginning. Not: communicators, sequence numbers, message sizes of NCCL.",
    .terms = terms,
    .nterms = sizeof terms / sizeof *terms,
    .is = rs_nvprof_is,
    .fill = rs_nvprof_fill,
    .missing = missing,
};

/* The format: profiles of JAX and XLA on GPUs; its names, and what a file contains and does not. */
#include "foreign/contents.h"
#include "foreign/formats.h"

static const struct rs_term terms[] = {
    {"displayTimeUnit", "field", "For viewers only: times are microseconds whatever it says."},
    {"metadata", "field", "Settings for viewers."},
    {"highres-ticks", "field", "For viewers: times have decimals."},
    {"traceEvents", "field", "The events; names of processes and threads first."},
    {"ph", "field", "X: an event with a duration; M: a name of a process or thread."},
    {"pid", "field", "A device or the host, as numbered in the profile: not a process id."},
    {"tid", "field", "A stream, a thread, or a line that XLA derives."},
    {"ts", "field", "Start in microseconds after the beginning of the profile."},
    {"dur", "field", "Duration in microseconds."},
    {"name", "field", "Of a stream's event the kernel; of an M line what is being named."},
    {"sort_index", "field", "Order of rows, for viewers."},
    {"args", "field", "What else is known of an event."},
    {"hlo_op", "field", "The operation of XLA's program that launched the kernel: all-reduce-start.1."},
    {"hlo_module", "field", "The compiled program that it belongs to: jit_train_step."},
    {"correlation_id", "field", "Links a kernel with the host call that launched it."},
    {"kernel_details", "field", "Registers, shared memory, grid and block of a kernel."},
    {"memcpy_details", "field", "Kind, size and stream of a copy."},
};

static enum rs_status missing(struct rs_contents *f, struct rs_err *err)
{
    RS_MISSING(f, "Communicators, ranks, sizes and sequence numbers of collectives: their kernels are counted, and no "
                  "operation is joined.");
    RS_MISSING(f, "A clock: times count from the beginning of the profile.");
    return RS_OK;
}

const struct rs_format rs_jax_format = {
    .what = "JAX/XLA profile (trace.json)",
    .tool = RS_TOOL_JAX,
    .holds = "What ran on the streams of each GPU: kernels of NCCL, compute, copies. Not: which operation a kernel "
             "belongs to, ranks, and wall time.",
    .terms = terms,
    .nterms = sizeof terms / sizeof *terms,
    .is = rs_jax_is,
    .fill = rs_jax_fill,
    .missing = missing,
};

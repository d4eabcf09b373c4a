/* The tools whose traces are read, and what their traces contain.
 *
 * RS_EACH_TOOL is the list: ringscope's recordings, then each input format of src/foreign, by detail: if two tools saw
 * the same operation, the first is the primary source (join/overlay.h). Differences between tools are capabilities
 * here: outside of src/foreign no code tests for a tool. Constant; any thread. */
#ifndef RS_MODEL_TOOLS_H
#define RS_MODEL_TOOLS_H

#include <stdbool.h>
#include <stdint.h>

/* What the traces of a tool contain. */
enum {
    RS_CAP_OWN = 1 << 0, /* a recording of ringscope: "other tools" are all without it */
    RS_CAP_CALLBACKS = 1 << 1, /* single callbacks of NCCL with their handles; those lost or not enabled are known */
    RS_CAP_PROCESS_END = 1 << 2, /* when recording began and ended, and whether the process closed it */
    RS_CAP_COMM_END = 1 << 3, /* when communicators were destroyed */
    RS_CAP_NONCE = 1 << 4, /* processes have a random number of their own */
    RS_CAP_STALE_TIMERS = 1 << 5, /* GPU timers of other operations are detected by the order of launches */
    RS_CAP_EVENTS = 1 << 6, /* the events below an operation (events/events.h) */
    RS_CAP_OPEN = 1 << 7, /* operations that had not ended */
    RS_CAP_DUMP = 1 << 8, /* a snapshot: whether each operation had ended; not when it was taken */
    RS_CAP_SIZES = 1 << 9, /* bytes of operations: 0 is a size */
    RS_CAP_PID = 1 << 10, /* process ids are those that other tools see */
    RS_CAP_FILE_PROCESS = 1 << 11, /* a file names its process: two equal files are one */
    RS_CAP_EVENT_PROCESS = 1 << 12, /* the process of a file is derived from its events */
    RS_CAP_JOB_RANK = 1 << 13, /* a process's rank is PyTorch's own number, not a launcher's variable */
    RS_CAP_WINDOW = 1 << 14, /* a profiler was on for a window: before and after it nothing is recorded */
    RS_CAP_MICROSECONDS = 1 << 15, /* GPU work is timed to the microsecond */
    RS_CAP_PAIR_NUMBERS = 1 << 16, /* its reader numbers sends and receives that belong together */
    RS_CAP_REWRITE = 1 << 17, /* numbered events, for writing an annotated copy of the trace (export --format kineto) */
    RS_CAP_HEALTH = 1 << 18, /* which processes answer and how far each rank came: no operation, and no recording */
};

#define RS_CAPS_RECORDING                                                                                              \
    (RS_CAP_OWN | RS_CAP_CALLBACKS | RS_CAP_PROCESS_END | RS_CAP_COMM_END | RS_CAP_NONCE | RS_CAP_STALE_TIMERS |       \
     RS_CAP_EVENTS | RS_CAP_OPEN | RS_CAP_SIZES | RS_CAP_PID)
#define RS_CAPS_EXAMPLE (RS_CAP_EVENTS | RS_CAP_OPEN | RS_CAP_SIZES | RS_CAP_PID | RS_CAP_EVENT_PROCESS)
#define RS_CAPS_KINETO                                                                                                 \
    (RS_CAP_SIZES | RS_CAP_PID | RS_CAP_FILE_PROCESS | RS_CAP_JOB_RANK | RS_CAP_WINDOW | RS_CAP_MICROSECONDS |         \
     RS_CAP_PAIR_NUMBERS | RS_CAP_REWRITE)
#define RS_CAPS_NSYS (RS_CAP_SIZES | RS_CAP_FILE_PROCESS | RS_CAP_WINDOW)
#define RS_CAPS_INSPECTOR (RS_CAP_SIZES | RS_CAP_PID | RS_CAP_FILE_PROCESS)
#define RS_CAPS_FLIGHT (RS_CAP_OPEN | RS_CAP_DUMP | RS_CAP_SIZES | RS_CAP_PID | RS_CAP_JOB_RANK)

/* X(id, folder of src/foreign, name in JSON and tables, order of reading, capabilities): files are recognised and read
 * in that order, so a format comes before those that would also accept its files. */
/* clang-format off */
#define RS_EACH_FORMAT(X)                                                            \
    X(EXAMPLE,    example,    "example-profiler", 3, RS_CAPS_EXAMPLE)                \
    X(KINETO,     kineto,     "kineto",           2, RS_CAPS_KINETO)                 \
    X(NSYS,       nsys,       "nsys-sqlite",      0, RS_CAPS_NSYS)                   \
    X(INSPECTOR,  inspector,  "inspector",        4, RS_CAPS_INSPECTOR)              \
    X(COMMA,      comma,      "comma",            5, RS_CAP_SIZES | RS_CAP_PID)      \
    X(FLIGHT,     flight,     "flight-recorder",  1, RS_CAPS_FLIGHT)                 \
    X(NVPROF,     nvprof,     "nvprof",           7, RS_CAP_PID | RS_CAP_WINDOW)     \
    X(JAX,        jax,        "jax-trace",       10, RS_CAP_WINDOW)                  \
    X(NCCLSEE,    ncclsee,    "ncclsee",          6, RS_CAP_SIZES | RS_CAP_PID)      \
    X(NCCL_TESTS, nccl_tests, "nccl-tests",       8, RS_CAP_SIZES | RS_CAP_PID)      \
    X(RAS,        ras,        "nccl-ras",         9, RS_CAP_HEALTH | RS_CAP_PID)
#define RS_EACH_TOOL(X)                                                              \
    X(RINGSCOPE,  none,       "ringscope",       -1, RS_CAPS_RECORDING)              \
    RS_EACH_FORMAT(X)
/* clang-format on */

enum rs_tool {
#define X(id, folder, name, reading, caps) RS_TOOL_##id,
    RS_EACH_TOOL(X)
#undef X
        RS_TOOLS
};

const char *rs_tool_name(uint8_t tool); /* "kineto" */
bool rs_tool_has(uint8_t tool, uint32_t cap); /* all of the bits */

#endif

/* What nvprof wrote: summaries (text or --csv, with the NVTX part), --print-gpu-trace and --print-api-trace.
 *
 * A log may hold several processes (--profile-child-processes), and what the programs printed is between the
 * tables. A summary has no time axis: it is kept as statistics. The times of a trace begin with its process, so the
 * axes of two processes have nothing to do with each other. Columns are found by the names in the header, never by
 * position.
 *
 * Everything belongs to the struct until rs_nvprof_free(). Texts end with a 0 and are never NULL, unless said. One
 * thread at a time. A damaged file gives what could be read, and `damage` says where it is broken. */
#ifndef RS_FOREIGN_NVPROF_NVPROF_H
#define RS_FOREIGN_NVPROF_NVPROF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/err.h"
#include "base/map.h"

#define RS_NVPROF_NONE UINT32_MAX /* no process, no range */

enum rs_nvprof_kind { RS_NVPROF_GPU, RS_NVPROF_API, RS_NVPROF_OTHER /* OpenACC and such: `type` says */ };

struct rs_nvprof_process {
    uint64_t pid; /* 0: the log does not say (========) */
    const char *command; /* "" = unknown */
    bool has_result; /* a table or a "nothing was profiled" was seen */
    bool no_kernels; /* nvprof says so */
    uint32_t gpu_rows, api_rows, ranges, traced;
};

/* A line of a summary. Those of a range count only what happened inside it, and are in the whole too. */
struct rs_nvprof_row {
    uint32_t process;
    uint32_t range; /* index, or RS_NVPROF_NONE: of the whole process */
    enum rs_nvprof_kind kind;
    const char *type; /* "GPU activities", "API calls", ... */
    const char *name;
    double percent;
    int64_t time_ns, avg_ns, min_ns, max_ns;
    uint64_t calls;
    uint64_t offset; /* of the line */
};

struct rs_nvprof_range {
    uint32_t process;
    uint64_t thread;
    const char *thread_name, *domain, *name;
    int64_t time_ns, avg_ns, min_ns, max_ns;
    uint64_t calls; /* 0: the line with the numbers is missing */
    int64_t gpu_ns, api_ns; /* inside the range */
    uint64_t gpu_calls;
};

struct rs_nvprof_trace {
    uint32_t process;
    bool gpu; /* else a host call */
    int64_t start_ns, duration_ns; /* since the start of the process */
    int32_t device; /* -1 = unknown (text mostly has the name only) */
    const char *device_name; /* "" = none */
    int64_t context, stream; /* -1 = none */
    const char *stream_name; /* where the stream has a name in place of a number; else "" */
    int64_t bytes; /* -1 = no size */
    bool has_correlation;
    uint64_t correlation; /* the host call that launched it has the same */
    const char *name;
    uint64_t offset;
};

/* A row of a table of metrics: nvprof's own (--metrics, --events), or one that a program printed. */
struct rs_nvprof_metric {
    uint32_t process; /* RS_NVPROF_NONE: printed by a program; which is unknown */
    const char *of; /* the kernel, or the line above the table */
    const char *name, *unit; /* unit: "" = none */
    double min, max, mean; /* NAN: no number */
    uint64_t calls; /* 0 = unknown */
};

enum rs_nvprof_note_kind {
    RS_NVPROF_OUTPUT, /* a line that a program printed, or one that fits no table */
    RS_NVPROF_WARNING, /* of nvprof, errors included */
    RS_NVPROF_TOOL, /* other words of nvprof, and parts that are not read */
    RS_NVPROF_NOTHING, /* "No kernels were profiled." */
};

struct rs_nvprof_note {
    enum rs_nvprof_note_kind kind;
    uint32_t process; /* RS_NVPROF_NONE: any of them */
    const char *text;
    uint64_t offset;
};

struct rs_nvprof {
    struct rs_nvprof_process *processes;
    struct rs_nvprof_row *rows;
    struct rs_nvprof_range *ranges;
    struct rs_nvprof_trace *traces; /* in the order of the file */
    struct rs_nvprof_note *notes;
    struct rs_nvprof_metric *metrics;
    uint32_t n_processes, n_rows, n_ranges, n_traces, n_notes, n_metrics;
    uint64_t notes_left_out; /* beyond the first thousands */
    uint64_t lines_not_read; /* of parts that are not known (unified memory); a note names each part */
    struct rs_err damage; /* code RS_OK: none; else path, byte and reason of the first */
    /* the reader's own: */
    uint32_t processes_cap, rows_cap, ranges_cap, traces_cap, notes_cap, metrics_cap;
    struct rs_arena texts;
    struct rs_map known; /* hash of a text -> its place: names repeat */
};

/* RS_BAD_INPUT when there is nothing of nvprof in it. Free in any case. */
enum rs_status rs_nvprof_read(struct rs_nvprof *p, const char *path, struct rs_err *err);
enum rs_status rs_nvprof_read_memory(struct rs_nvprof *p, const char *path, const char *text, size_t n,
                                     struct rs_err *err);
void rs_nvprof_free(struct rs_nvprof *p); /* a zeroed struct is fine */

#endif

/* The inputs of a command: files and folders -> recordings, sorted into runs.
 *
 * A folder means the files in it. One that has no recording and no trace in it, but folders, means those in these, down to
 * RS_INPUTS_DEPTH of them (nodeA/, nodeB/): only rs_inputs_open_deep() looks there. Files that are not recordings are kept by name in `others`. A
 * run is a set of processes that share communicators (a process whose communicators are unknown belongs to those that
 * ran on its host at the same time); a folder may contain several (restarts). Runs are numbered from 0 by the time of
 * their first process. An input that cannot be read is kept with the reason; the others are still used. Owns everything
 * until rs_inputs_close(); one thread at a time. */
#ifndef RS_TRACE_INPUTS_H
#define RS_TRACE_INPUTS_H

#include "trace/clock.h"

/* One process. */
struct rs_source {
    struct rs_recording *recording;
    struct rs_process process;
    struct rs_clock clock;
    size_t run;
};

/* A file that is not a recording: perhaps the trace of another tool. foreign/formats.h finds out, and fills in the
 * rest. */
struct rs_other {
    char *path;
    bool named; /* by the user; else it was found in a folder */
    int format; /* index of foreign/formats.h; -1: not checked yet */
    bool complete; /* all of it could be read */
    uint32_t proc; /* in the model: its process; RS_NONE of model.h: none, or several */
    uint32_t first_event; /* of one of several Kineto traces of a process: the number of its first event */
    uint32_t place; /* of a dump of the example profiler: its number in its process, from 0; part of handles */
    char why[sizeof((struct rs_err *)0)->msg]; /* where and why it is not complete; begins with the path. "": it is */
};

struct rs_unreadable {
    char *path;
    char why[512]; /* begins with the path */
};

struct rs_inputs {
    struct rs_source *sources; /* by run, then host, then pid */
    size_t n;
    struct rs_unreadable *unreadable;
    size_t nunreadable;
    struct rs_other *others; /* in the order of the command line; those of a folder by name */
    size_t nothers;
    size_t nleft_out; /* files in folders of unknown format */
    size_t nfolders; /* folders in folders that were not searched */
    char *deep; /* the first folder whose folders were read instead, and how many of them had files; NULL: none */
    size_t ndeep;
    size_t nruns;
};

enum { RS_RUN_NEWEST = -1, RS_RUN_ALL = -2 };

/* Fails if there is neither a recording nor another file. `progress` (may be NULL) is called with the number of files
 * done and in all. */
enum rs_status rs_inputs_open(struct rs_inputs *inputs, char *const *paths, size_t npaths,
                              void (*progress)(size_t done, size_t all), struct rs_err *err);
/* Searches folders in folders, too, where a folder has no recording and no file for which `is_trace` is true. */
enum { RS_INPUTS_DEPTH = 3 };
typedef bool rs_is_trace_fn(const char *path);
enum rs_status rs_inputs_open_deep(struct rs_inputs *inputs, char *const *paths, size_t npaths,
                                   rs_is_trace_fn *is_trace, void (*progress)(size_t done, size_t all),
                                   struct rs_err *err);
void rs_inputs_close(struct rs_inputs *inputs);

/* Notes a file that cannot be read; `why` begins with its path. */
void rs_inputs_unreadable(struct rs_inputs *inputs, const char *path, const char *why);

/* Notes that a file in `others` could not be read completely: why->msg begins with its path. */
void rs_other_incomplete(struct rs_other *file, const struct rs_err *why);

/* Keeps the sources of one run: RS_RUN_NEWEST, RS_RUN_ALL or its number. Fails if there is no such run. */
enum rs_status rs_inputs_choose(struct rs_inputs *inputs, long run, struct rs_err *err);

/* Whether everything that the process recorded can be read: no loss, no damage, and its live file if it needs one. */
bool rs_source_complete(const struct rs_source *source);
/* Whether the number of emitted callbacks is known: not if a live file is missing, or buffers were lost with their
 * process. */
bool rs_source_accounted(const struct rs_source *source);
/* Wall ns when the recording began, and of its last sign of life. */
int64_t rs_source_begin_ns(struct rs_source *source);
int64_t rs_source_end_ns(struct rs_source *source);

#endif

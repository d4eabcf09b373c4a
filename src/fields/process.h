/* The fields of a process, of a recording or of another tool's file. */
#ifndef RS_FIELDS_PROCESS_H
#define RS_FIELDS_PROCESS_H

#include "fields/field.h"

enum rs_process_part { RS_PROCESS_CALLS, RS_PROCESS_EVENTS, RS_PROCESS_UNKNOWN, RS_PROCESS_COMMUNICATORS };

/* Times are RS_TIME_NONE, numbers below 0 and texts NULL where they are not known. */
struct rs_process_row {
    bool recording; /* else of another tool: JSON has other fields of it */
    uint32_t id, same_as; /* SQL only */
    const char *host, *tool, *path, *state, *nccl_version;
    uint32_t pid;
    bool complete, ended_well;
    int32_t rank, launcher_rank;
    int64_t callbacks, lost, overwritten, damaged, cut, emitted;
    int64_t from, to, clock_error_ns;
    uint64_t run, threads, bytes, clock_samples;
    double recorder_share;
    /* JSON only: writes what is no single value. */
    void (*write)(struct rs_json *j, const struct rs_process_row *row, enum rs_process_part part);
    const void *of; /* the writer's */
};

#endif

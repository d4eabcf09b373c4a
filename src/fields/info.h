/* The fields of what `info` lists besides processes: runs, coverage, settings, inputs, damage, notes, communicators.
 *
 * Rows are plain values, since recordings are not part of the model. Texts are NULL and times RS_TIME_NONE where they are
 * not known. */
#ifndef RS_FIELDS_INFO_H
#define RS_FIELDS_INFO_H

#include "fields/field.h"

struct rs_run_row {
    uint64_t run, processes;
    int64_t from_ns, to_ns;
    int64_t longest_ns; /* of a process: the clocks of hosts differ */
};

struct rs_gap_row {
    int64_t from_ns, to_ns;
    uint64_t tid, lost;
};

struct rs_coverage_row {
    const char *host;
    uint32_t pid;
    int64_t from_ns, to_ns, overwritten_before_ns;
    bool has_mask;
    uint64_t mask;
    const struct rs_gap_row *gaps;
    size_t ngaps;
};

struct rs_setting_value_row {
    const char *value, *host;
    uint64_t processes;
    uint32_t pid;
};

struct rs_setting_row {
    const char *name;
    const struct rs_setting_value_row *values;
    size_t nvalues;
};

struct rs_input_row {
    bool recording; /* that could be read */
    const char *path, *format, *why;
    const char *cut_by; /* NULL: not cut */
    bool complete, crash_safe, live_missing;
};

struct rs_damage_row {
    const char *path, *why;
    uint64_t offset, bytes;
};

struct rs_note_row {
    const char *host; /* NULL: of another tool's file */
    uint32_t pid;
    const char *text;
};

/* An `init` of a process. */
struct rs_init_row {
    uint64_t comm;
    const char *name, *bus_id, *uuid;
    int32_t rank, nranks, nnodes, device;
    uint32_t api;
    int64_t created_ns, destroyed_ns;
};

#endif

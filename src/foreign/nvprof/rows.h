/* The state of a reading of nvprof's log, and what is put into the result: texts, notes, processes, rows. For nvprof.c
 * only.
 *
 * The reader borrows the result and the path, and owns its lines and its map. One thread at a time. */
#ifndef RS_FOREIGN_NVPROF_ROWS_H
#define RS_FOREIGN_NVPROF_ROWS_H

#include "foreign/nvprof/nvprof.h"
#include "foreign/nvprof/table.h"

enum { RS_NVPROF_MOST_NOTES = 4096 };

enum rs_nvprof_part {
    RS_NVPROF_PART_NONE,
    RS_NVPROF_PART_RESULT,
    RS_NVPROF_PART_NVTX,
    RS_NVPROF_PART_UNKNOWN, /* metrics, unified memory, ...: not read */
};

struct rs_nvprof_reader {
    struct rs_nvprof *p;
    const char *path;
    struct rs_lines lines;
    struct rs_nvprof_table table;
    struct rs_map by_pid; /* pid -> index + 1 */
    enum rs_nvprof_part part;
    uint32_t process; /* whose part it is */
    uint32_t range;
    const char *type; /* of the rows that follow */
    enum rs_nvprof_kind kind;
    bool in_range_row; /* the row that describes the range itself */
    const char *thread_name, *domain;
    uint64_t thread;
    uint32_t warning; /* index of the note that the next line may belong to, or RS_NVPROF_NONE */
    bool seen; /* anything of nvprof at all */
};
/* The text ended with a 0, once for all that are equal. Doubled quotes become single where `csv`. */
enum rs_status rs_nvprof_keep(struct rs_nvprof_reader *r, struct rs_slice f, bool csv, const char **text,
                              struct rs_err *err);
enum rs_status rs_nvprof_note(struct rs_nvprof_reader *r, enum rs_nvprof_note_kind kind, uint32_t process,
                              struct rs_slice f, struct rs_err *err);
/* The process with this pid, made where there is none, or where one that has its result begins anew. */
enum rs_status rs_nvprof_process_of(struct rs_nvprof_reader *r, uint64_t pid, bool begins_anew, uint32_t *index,
                                    struct rs_err *err);
/* "GPU activities:" and so on: what the rows from here on are. */
enum rs_status rs_nvprof_set_type(struct rs_nvprof_reader *r, struct rs_slice type, struct rs_err *err);
/* Keep a row; *fits: whether it is one. */
enum rs_status rs_nvprof_summary_row(struct rs_nvprof_reader *r, const struct rs_nvprof_cells *c, bool *fits,
                                     struct rs_err *err);
enum rs_status rs_nvprof_trace_row(struct rs_nvprof_reader *r, const struct rs_nvprof_cells *c, bool *fits,
                                   struct rs_err *err);

#endif

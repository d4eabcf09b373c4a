/* An exporter: a joined run in the format of another tool, behind one set of calls.
 *
 * rs_export_run() makes the timeline with the rows that the exporter wants and calls begin, then piece for each piece
 * of each process (its bars sorted into lanes, on the common axis; see rs_timeline_pieces()), then end; an exporter that
 * needs more than bars reads the model and the events (events/events.h) itself, in begin, and needs no other calls. So a
 * few pieces are in memory at a time, or one process where that cannot be cut.
 * The output is under a temporary name until rs_export_run() succeeds; it is the driver that renames it, or removes it.
 * Each exporter is one small module, and a row of the list below. One thread at a time. */
#ifndef RS_EXPORT_EXPORTER_H
#define RS_EXPORT_EXPORTER_H

#include <stdio.h>

#include "timeline/timeline.h"

enum rs_export_output {
    RS_EXPORT_STREAM, /* written front to back: `file`; may be a pipe */
    RS_EXPORT_PATH, /* a library writes it: `path` is an empty file */
    RS_EXPORT_FOLDER, /* `path` is a folder that is there and empty */
};

/* What an exporter works on. */
struct rs_export {
    struct rs_timeline *timeline; /* with model, inputs and filter */
    const char *title;
    FILE *file; /* of a stream */
    const char *path; /* of a path or folder: the temporary name */
    const char *name; /* of the output as the user called it, for messages */
    const char *table; /* csv: which (operations, ranks, events); NULL: the first */
    const char *only; /* kineto: the one trace that is written back; NULL: all of the inputs */
    void *state; /* the exporter's own, from begin to free */
    void (*progress)(size_t done, size_t all); /* NULL: none */
};

struct rs_exporter {
    const char *name; /* --format NAME */
    const char *what; /* one line of --help */
    const char *suffixes; /* that suggest it, blanks between: ".sqlite .db"; NULL: none */
    enum rs_export_output output;
    const char *lacks; /* what this was built without, and needs; NULL: nothing */
    bool binary; /* of a stream: nothing for a terminal */
    bool recordings; /* it is made of recordings: what other tools' traces tell is only joined with them */
    const char *const *tables; /* --table takes these, the first by default, NULL behind the last; NULL: it has none */
    bool (*many)(const struct rs_inputs *in, const char *only); /* then it writes a folder, not a stream; NULL: never */
    bool (*may_replace)(const char *folder); /* with force, a folder that is there; NULL: an empty one */
    bool to_bound; /* its readers draw no fade: what ended at an unknown time is drawn to the latest that it can be */
    uint64_t rows; /* bits 1 << enum rs_row that it can show; narrowed by --level */
    const char *rows_table; /* the one of its tables that has rows; NULL: all that it writes */
    bool titled; /* the title is written */
    /* Where no filter is given: writes what the inputs hold without a join, in memory that does not grow with them; NULL:
     * it needs one. The timeline is NULL then. */
    enum rs_status (*unjoined)(struct rs_export *x, struct rs_inputs *in, struct rs_err *err);
    enum rs_status (*begin)(struct rs_export *x, struct rs_err *err);
    enum rs_status (*piece)(struct rs_export *x, uint32_t proc, const struct rs_bars *bars,
                            struct rs_err *err); /* NULL: no bars are made */
    bool whole; /* it wants a process as one piece */
    enum rs_status (*end)(struct rs_export *x, struct rs_err *err); /* NULL: nothing is left to do */
    void (*free)(struct rs_export *x); /* also after a failure; state may be NULL. NULL: nothing */
};

/* The list of all, in the order of --help: each is a struct rs_exporter_NAME in its folder. */
/* clang-format off */
#define RS_EXPORTERS(X) \
    X(chrome) \
    X(perfetto) \
    X(otf2) \
    X(sqlite) \
    X(csv) \
    X(jsonl) \
    X(rsc) \
    X(kineto)
/* clang-format on */
#define RS_EXPORTER(name) extern const struct rs_exporter rs_exporter_##name;
RS_EXPORTERS(RS_EXPORTER)
#undef RS_EXPORTER

/* By name; NULL: none. And all of them, in order; NULL behind the last. */
const struct rs_exporter *rs_exporter_find(const char *name);
const struct rs_exporter *rs_exporter_at(size_t index);

/* Drives one over all processes of the timeline. begin and free are called in any case. */
enum rs_status rs_export_run(const struct rs_exporter *e, struct rs_export *x, struct rs_err *err);

#endif

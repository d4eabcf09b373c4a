/* An exporter: writes a joined run in the format of another tool.
 *
 * rs_export_run() calls begin, then piece for each piece of each process (its bars sorted into lanes, on the common axis;
 * see rs_timeline_pieces()), then end. An exporter that needs more than bars reads the model and the events
 * (events/events.h) itself, in begin, and needs no other calls. So a few pieces are in memory at a time, or one process if
 * it cannot be cut. The output has a temporary name until rs_export_run() succeeds; the caller renames or removes it.
 * Each exporter is a folder, and a row of the list below. One thread at a time. */
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
    const char *name; /* of the output as the user gave it, for messages */
    const char *table; /* csv: which (operations, ranks, events); NULL: the first */
    const char *only; /* kineto: the one trace that is written back; NULL: all of the inputs */
    void *state; /* the exporter's own, from begin to free */
    void (*progress)(size_t done, size_t all); /* NULL: none */
};

struct rs_exporter {
    const char *name; /* --format NAME */
    const char *what; /* one line of --help */
    const char *suffixes; /* of outputs that select it, separated by blanks: ".sqlite .db"; NULL: none */
    enum rs_export_output output;
    const char *lacks; /* what it needs and this build does not have; NULL: nothing */
    bool binary; /* of a stream: not written to a terminal */
    bool recordings; /* it is made of recordings; traces of other tools are only joined with them */
    const char *const
        *tables; /* arguments of --table, the first is the default, NULL after the last; NULL: it has none */
    bool (*many)(const struct rs_inputs *in,
                 const char *only); /* if true, it writes a folder, not a stream; NULL: never */
    bool (*may_replace)(const char *folder); /* with --force, an existing folder; NULL: only an empty one */
    bool to_bound; /* its readers draw no fade: an unknown end is drawn at its upper bound */
    uint64_t rows; /* bits 1 << enum rs_row that it can show; narrowed by --level */
    const char *rows_table; /* the one of its tables that depends on `rows`; NULL: all output does */
    bool titled; /* it writes the title */
    /* Without filters: writes the inputs without a join, in constant memory; NULL: it needs the join. The timeline is NULL
     * then. */
    enum rs_status (*unjoined)(struct rs_export *x, struct rs_inputs *in, struct rs_err *err);
    enum rs_status (*begin)(struct rs_export *x, struct rs_err *err);
    enum rs_status (*piece)(struct rs_export *x, uint32_t proc, const struct rs_bars *bars,
                            struct rs_err *err); /* NULL: it needs no bars */
    bool whole; /* it needs a process as one piece */
    enum rs_status (*end)(struct rs_export *x, struct rs_err *err); /* NULL: nothing to do */
    void (*free)(struct rs_export *x); /* also after a failure; state may be NULL. NULL: nothing */
};

/* All exporters, in the order of --help: each is a struct rs_exporter_NAME in its folder. */
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

/* By name; NULL: none. By index, in order; NULL after the last. */
const struct rs_exporter *rs_exporter_find(const char *name);
const struct rs_exporter *rs_exporter_at(size_t index);

/* Runs an exporter over all processes of the timeline. begin and free are called in any case. */
enum rs_status rs_export_run(const struct rs_exporter *e, struct rs_export *x, struct rs_err *err);

#endif

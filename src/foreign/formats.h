/* Traces of other tools: recognised by their first bytes, and read into the model, each kind by its own module.
 *
 * The table in formats.c is the list of all formats; a new one is a line there. A fill function gets all files of its
 * format at once (ranks of a job can only be numbered together), adds its processes, communicators, members, parts,
 * lanes, activities, statistics and tags, and notes in each rs_other whether it was complete. A file that cannot be
 * used at all is said in `why` (with complete = false) and is no failure of the rest: fill functions fail only out of
 * memory. */
#ifndef RS_FOREIGN_FORMATS_H
#define RS_FOREIGN_FORMATS_H

#include "model/model.h"
#include "trace/inputs.h"

/* What a fill function works on. */
struct rs_fill {
    struct rs_model *model;
    struct rs_other **files; /* of one format, by path */
    size_t n;
    void (*progress)(size_t done, size_t all); /* NULL: none */
};

struct rs_format {
    const char *what; /* "PyTorch profiler trace (Kineto)": in messages */
    enum rs_tool tool; /* each has one format: JSON calls both by rs_tool_name() */
    bool (*is)(const char *path, const char *head, size_t n); /* of its first bytes, unpacked: RS_FORMAT_HEAD at most */
    enum rs_status (*fill)(struct rs_fill *fill, struct rs_err *err);
};

enum { RS_FORMAT_HEAD = 65536 };

/* The format of an index; NULL: there is none. */
const struct rs_format *rs_format_at(int index);

/* Finds the format of each of the others. A named file of no known format becomes unreadable, with the reason; one that
 * was only found in a folder is counted and left out. Fails when then nothing at all is left to read. */
enum rs_status rs_formats_recognise(struct rs_inputs *in, struct rs_err *err);

/* Reads all others into the model, format by format. */
enum rs_status rs_formats_fill(struct rs_model *m, struct rs_inputs *in, void (*progress)(size_t done, size_t all),
                               struct rs_err *err);

#endif

/* Traces of other tools: recognised by their first bytes, and read into the model, each kind by its own module.
 *
 * A format is a folder F of src/foreign that defines rs_F_is(), rs_F_fill() and rs_F_format, and a row of RS_EACH_FORMAT
 * (model/tools.h). In a larger folder F.c reads one file into plain structs, model.c puts these into the model, and
 * format.c has what `ringscope explain` says. A fill function gets all files of its format at once (ranks of a job can
 * only be numbered together), adds its processes, communicators, members, parts, lanes, activities, statistics and tags,
 * and notes in each rs_other whether it was complete. A file that cannot be used at all is reported in `why` (with
 * complete = false) and does not keep the others from being read. */
#ifndef RS_FOREIGN_FORMATS_H
#define RS_FOREIGN_FORMATS_H

#include "explain/terms.h"
#include "model/model.h"
#include "trace/inputs.h"

/* What a fill function works on. */
struct rs_fill {
    struct rs_model *model;
    struct rs_other **files; /* of one format, by path */
    size_t n;
    void (*progress)(size_t done, size_t all); /* NULL: none */
    void *state; /* of the fill function */
};

struct rs_contents;

struct rs_format {
    const char *what; /* "PyTorch profiler trace (Kineto)": in messages */
    const char *holds; /* what such a file contains, and what it does not */
    const struct rs_term *terms; /* the names that occur in one, for `ringscope explain NAME` */
    size_t nterms;
    uint8_t tool; /* enum rs_tool; each has one format: JSON calls both by rs_tool_name() */
    bool (*is)(const char *path, const char *head, size_t n); /* of its first bytes, unpacked: RS_FORMAT_HEAD at most */
    enum rs_status (*fill)(struct rs_fill *fill, struct rs_err *err);
    /* What all files of the format contain, in sentences (foreign/contents.h); NULL: the model's counts say it. */
    enum rs_status (*contents)(struct rs_contents *const *files, uint32_t n, struct rs_err *err);
    enum rs_status (*missing)(struct rs_contents *file, struct rs_err *err); /* what one does not contain, and why */
};

#define X(id, folder, name, reading, caps)                                                                             \
    bool rs_##folder##_is(const char *path, const char *head, size_t n);                                               \
    enum rs_status rs_##folder##_fill(struct rs_fill *fill, struct rs_err *err);                                       \
    extern const struct rs_format rs_##folder##_format;
RS_EACH_FORMAT(X)
#undef X

/* For fill functions: gives each file to `add`. A file for which it fails is incomplete, and the others follow, unless
 * memory ran out. */
typedef enum rs_status (*rs_fill_add)(struct rs_fill *fill, struct rs_other *file, struct rs_err *err);
void rs_fill_each(struct rs_fill *fill, rs_fill_add add);

enum { RS_FORMAT_HEAD = 65536 };

/* The format of an index, which is its place in the order of reading; NULL: there is none. */
const struct rs_format *rs_format_at(int index);
const struct rs_format *rs_format_of(uint8_t tool);

/* A kind of file that is recognised and not read. One of the suffixes, all of the texts in its first bytes, or `is`. */
enum { RS_REFUSED_TEXTS = 4 };
struct rs_refused {
    const char *what; /* "an Nsight Systems report" */
    const char *instead; /* what to do or give instead */
    const char *suffixes[RS_REFUSED_TEXTS], *has[RS_REFUSED_TEXTS];
    bool (*is)(const char *head, size_t n);
};
const struct rs_refused *rs_refused_at(size_t index); /* NULL: there is none */

enum { RS_SQLITE_ID = 0x52534350 }; /* "RSCP": application_id of the databases that ringscope writes */

/* Finds the format of each of the others. A named file of no known format becomes unreadable, with the reason; one that
 * was only found in a folder is counted and left out. Fails when then nothing at all is left to read. */
enum rs_status rs_formats_recognise(struct rs_inputs *in, struct rs_err *err);

/* Whether a file is of a format that is read, by its first bytes. */
bool rs_formats_is_trace(const char *path);

/* Reads all others into the model, format by format. */
enum rs_status rs_formats_fill(struct rs_model *m, struct rs_inputs *in, void (*progress)(size_t done, size_t all),
                               struct rs_err *err);

#endif

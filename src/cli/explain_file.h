/* What one file holds, what it lacks and why: for `ringscope explain FILE`.
 *
 * Made from the inputs and the joined model; of the example profiler's dumps each file is read once more, since the
 * model has given their lines to the ranks that they belong to. Owns its texts until rs_explained_free(). */
#ifndef RS_CLI_EXPLAIN_FILE_H
#define RS_CLI_EXPLAIN_FILE_H

#include "base/json.h"
#include "model/model.h"
#include "trace/inputs.h"

struct rs_explained_file {
    const char *path; /* the inputs' */
    const char *format, *what; /* "kineto"; "PyTorch profiler trace (Kineto)" */
    const char *damage; /* the inputs': where and why it could not be read; NULL or "": it could */
    bool complete;
    uint32_t processes; /* that it is of */
    uint32_t proc; /* the only one; RS_NONE */
    int64_t from, to; /* first and last time in it; RS_TIME_NONE */
    uint64_t operations; /* parts of them that the model has of these processes */
    char **holds, **lacks; /* sentences */
    uint32_t nholds, nlacks;
};

struct rs_explained {
    struct rs_explained_file *files;
    uint32_t n;
};

enum rs_status rs_explain_files(struct rs_explained *e, const struct rs_inputs *in, const struct rs_model *m,
                                struct rs_err *err);
void rs_explained_free(struct rs_explained *e);

/* Prints a text in lines of 100 columns, each behind `indent` spaces; the first line's stand there already. */
void rs_explain_wrap(const char *text, size_t indent);
void rs_explained_print(const struct rs_explained *e, const struct rs_model *m);
void rs_explained_json(struct rs_json *j, const struct rs_explained *e, const struct rs_model *m);

#endif

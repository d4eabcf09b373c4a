/* What each input file contains, what it does not and why, in sentences: for `ringscope explain FILE`.
 *
 * Made from the inputs and the joined model: counts of what the model has of the file's processes, and what its format
 * adds (rs_format.contents, rs_format.missing). Owns its sentences until rs_contents_free(). */
#ifndef RS_FOREIGN_CONTENTS_H
#define RS_FOREIGN_CONTENTS_H

#include "model/model.h"
#include "trace/inputs.h"

/* What the model has of some processes. */
struct rs_counts {
    uint64_t parts[5]; /* by enum rs_part_kind */
    uint64_t started, ended, bounded; /* with a known start; a known end; an end between two times */
    uint64_t timed; /* how long it took is known, and not when */
    uint64_t ids, ids_read; /* with PyTorch's id; as read from the trace */
    uint64_t net; /* with network work */
    uint64_t activities[RS_ACTIVITY_KINDS];
    uint64_t stats;
    uint32_t members, made_up; /* communicators, as a member; of which NCCL's hash is not known */
};

struct rs_sentences {
    char **rows;
    uint32_t n;
};

struct rs_contents {
    const char *path; /* the inputs' */
    const char *format, *what; /* "kineto"; "PyTorch profiler trace (Kineto)" */
    const char *damage; /* the inputs': where and why it could not be read; NULL or "": it could */
    bool complete;
    uint32_t processes; /* that it is of */
    uint32_t proc; /* the only one; RS_NONE */
    int64_t from, to; /* first and last time in it; RS_TIME_NONE */
    uint64_t operations; /* parts of them that the model has of these processes */
    struct rs_counts counts; /* of these processes */
    struct rs_sentences contains, missing;
};

/* One row per file, recordings first: *n of them, for rs_contents_free(). */
enum rs_status rs_contents_find(struct rs_contents **files, uint32_t *n, const struct rs_inputs *in,
                                const struct rs_model *m, struct rs_err *err);
void rs_contents_free(struct rs_contents *files, uint32_t n);

/* Add a sentence to a file, in a function that has an `err` and returns a status. */
#define RS_CONTAINS(file, ...) RS_TRY(rs_sentences_add(&(file)->contains, err, __VA_ARGS__))
#define RS_MISSING(file, ...) RS_TRY(rs_sentences_add(&(file)->missing, err, __VA_ARGS__))
enum rs_status rs_sentences_add(struct rs_sentences *s, struct rs_err *err, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif

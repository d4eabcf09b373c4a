/* Sentences on what a file holds and lacks, by format. */
#ifndef RS_CLI_EXPLAIN_LACKS_H
#define RS_CLI_EXPLAIN_LACKS_H

#include "cli/explain_facts.h"
#include "cli/explain_file.h"

/* Adds a sentence to a list of `n`; rs_explained_free() frees them. */
enum rs_status rs_explain_say(char ***list, uint32_t *n, struct rs_err *err, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

/* What the model has of it: operations, times, GPU work, host events, statistics. */
enum rs_status rs_explain_holds(struct rs_explained_file *f, const struct rs_file_facts *x, struct rs_err *err);
/* What follows from its format and from what was found; `tool` is enum rs_tool. */
enum rs_status rs_explain_lacks(struct rs_explained_file *f, const struct rs_file_facts *x, const struct rs_model *m,
                                int tool, struct rs_err *err);

#endif

/* From the inputs to what is drawn, for `view`, `serve`, `export` and `sql`.
 *
 * Inputs are opened by the caller (cli/reading.h) and must live on while the view does; errors are printed on
 * stderr. One thread at a time. */
#ifndef RS_CLI_VIEW_BUNDLE_H
#define RS_CLI_VIEW_BUNDLE_H

#include "bundle/bundle.h"
#include "cli/options/common.h"
#include "cli/reading.h"
#include "model/model.h"
#include "timeline/timeline.h"
#include "trace/inputs.h"

/* What is to be drawn: the common options, and what commands add to them. */
struct rs_view_options {
    struct rs_common common;
    uint64_t row_bits; /* of --rows, else of --level; set by rs_view_options_check() */
    bool to_bound; /* as rs_timeline_options has it */
    bool begins; /* of a span of time: operations that begin in it, not all that reach into it */
    uint64_t most; /* bytes of a page: a bundle that is sure to make a larger one is refused; 0: any size */
};

/* The rows of a level: bits 1 << enum rs_row. */
uint64_t rs_view_rows(enum rs_level level);

/* "rec: 64 ranks on 8 hosts", as far as that is known; to be freed. */
char *rs_view_title(const struct rs_model *m, const struct rs_inputs *in);

/* Texts of a page: the JSON of `comms`, `clocks` and `report`. */
struct rs_view_texts {
    char *comms; /* an array of all communicators but those merged into another, in the order of the model */
    char *clocks; /* an array */
    char *report; /* an object */
};
/* Of a joined model. `filters`: of the report; resolved. NULL: communicators only. */
enum rs_status rs_view_texts_init(struct rs_view_texts *t, struct rs_model *m, const struct rs_inputs *in,
                                  const struct rs_filters *filters, struct rs_err *err);
void rs_view_texts_free(struct rs_view_texts *t);

/* The sentences of `report`, as the page has them. */
struct rs_view_conclusion {
    char **sentences;
    uint32_t n;
};
enum rs_status rs_view_conclude(struct rs_view_conclusion *c, struct rs_model *m, const struct rs_filters *filters,
                                struct rs_err *err);
void rs_view_conclusion_free(struct rs_view_conclusion *c);

/* After parsing: -1 to go on, else the exit status after the usage error was printed. */
int rs_view_options_check(const struct rs_command *cmd, struct rs_view_options *o);

/* A joined model with its timeline, ready for rs_timeline_process(). */
struct rs_drawing {
    struct rs_model model;
    struct rs_timeline timeline;
    char *title;
    uint32_t said; /* notes of the model that were printed */
};
/* Returns 0, or the exit status after the reason was printed (nothing to free then). */
int rs_drawing_make(const struct rs_command *cmd, struct rs_drawing *v, struct rs_inputs *in,
                    struct rs_view_options *o);
/* The same where there would be nothing to look at: nothing has a time, or no operation passes the filters. */
int rs_drawing_refuse_empty(const struct rs_command *cmd, struct rs_drawing *v, const struct rs_view_options *o);
/* When it was drawn (`status` 0) or could not be: prints the notes that came up meanwhile, or that there was nothing to
 * draw; frees it. Returns the exit status. */
int rs_drawing_end(const struct rs_command *cmd, struct rs_drawing *v, const struct rs_view_options *o, int status,
                   uint64_t bars);

/* All of it: from open inputs to a whole bundle at `fd` (empty, can be sought in; rs_view_temporary() makes one).
 * Returns 0, or the exit status after the reason was printed. */
int rs_view_bundle(const struct rs_command *cmd, struct rs_inputs *in, struct rs_view_options *o, int fd,
                   struct rs_bundle_sizes *sizes);

/* The page that is inside the program; NULL after it was printed that there is none. */
const char *rs_view_page(const struct rs_command *cmd, size_t *bytes);

/* Says that a page of `bytes` (or `more` than that) is too large, and what to do. Returns the exit status. */
int rs_view_too_large(const struct rs_command *cmd, uint64_t bytes, bool more);

/* $TMPDIR, or /tmp. */
const char *rs_view_temporary_folder(void);

/* A file without a name in it, to be closed by the caller; -1 after the reason was printed. */
int rs_view_temporary(const struct rs_command *cmd);

#endif

/* What the page of the timeline is told besides: the JSON of `comms`, `clocks` and `report`, by the same writers.
 *
 * Owned by the caller until rs_view_texts_free(), which a zeroed struct survives. */
#ifndef RS_CLI_VIEW_TEXTS_H
#define RS_CLI_VIEW_TEXTS_H

#include "cli/filters.h"
#include "model/model.h"
#include "trace/inputs.h"

struct rs_view_texts {
    char *comms; /* an array of all communicators but those laid over another, in the order of the model */
    char *clocks; /* an array */
    char *report; /* an object */
};

/* Of a joined model; the filters are resolved, and are those of the report alone. */
enum rs_status rs_view_texts_init(struct rs_view_texts *t, struct rs_model *m, const struct rs_inputs *in,
                                  const struct rs_filters *filters, struct rs_err *err);
void rs_view_texts_free(struct rs_view_texts *t);

#endif

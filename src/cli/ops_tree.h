/* One operation down to its steps: `ringscope ops --op ID --tree`.
 *
 * Events are not held in the model, so the recordings of the operation's ranks (and of helpers under PXN) are read
 * again, and only what belongs to it is kept. Times are on the model's axis. */
#ifndef RS_CLI_OP_TREE_H
#define RS_CLI_OP_TREE_H

#include "base/json.h"
#include "cli/options/filters.h"
#include "model/model.h"
#include "trace/inputs.h"

/* Prints to stdout. `json` is NULL for text. */
enum rs_status rs_op_tree(struct rs_model *m, struct rs_inputs *in, uint32_t op, enum rs_level level,
                          struct rs_json *json, struct rs_err *err);

#endif

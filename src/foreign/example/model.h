/* Dumps that were read -> model: processes, then each one's members, parts, and what is inside them. */
#ifndef RS_FOREIGN_EXAMPLE_MODEL_H
#define RS_FOREIGN_EXAMPLE_MODEL_H

#include "foreign/example/procs.h"
#include "model/model.h"

/* All dumps are in `procs`, and not sorted into processes yet. proc_of[dump] becomes the model's process. */
enum rs_status rs_example_to_model(struct rs_model *m, struct rs_example_procs *procs, uint32_t *proc_of,
                                   struct rs_err *err);

#endif

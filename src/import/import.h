/* Recordings -> the model: processes, communicators, members, and the part of every rank in every operation.
 *
 * Each process is on its own clocks; src/join connects them. */
#ifndef RS_IMPORT_IMPORT_H
#define RS_IMPORT_IMPORT_H

#include "model/model.h"
#include "trace/inputs.h"

/* Fills an empty model. `progress` may be NULL. Call rs_model_link() after all inputs were added. */
enum rs_status rs_import(struct rs_model *m, struct rs_inputs *in, void (*progress)(size_t done, size_t all),
                         struct rs_err *err);

/* Processes, communicators and members only, without reading callbacks. Members of a plugin interface before v4 then
 * have no rank. */
void rs_import_facts(struct rs_model *m, struct rs_inputs *in);

#endif

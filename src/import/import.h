/* Recordings -> the model: processes, communicators, members, and the part of every rank in every operation.
 *
 * What comes out is one process beside the other, each on its own clocks; src/join connects them. */
#ifndef RS_IMPORT_IMPORT_H
#define RS_IMPORT_IMPORT_H

#include "model/model.h"
#include "trace/inputs.h"

/* Fills an empty model. `progress` may be NULL. rs_model_link() is to follow, when all other inputs are in too. */
enum rs_status rs_import(struct rs_model *m, struct rs_inputs *in, void (*progress)(size_t done, size_t all),
                         struct rs_err *err);

/* Processes, communicators and members alone, without a look at callbacks: who there is. A member of a plugin interface
 * before v4 has no rank then. */
void rs_import_facts(struct rs_model *m, struct rs_inputs *in);

#endif

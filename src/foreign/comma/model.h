/* A latency file of Google's CoMMA -> a process of the model, its members, parts and network rows.
 *
 * CoMMA sees no kernels. `start` and `end` of a part are those of its proxy operations (RS_FROM_PROXY), the nearest
 * thing to when it ran; where it had none, the call is all that is known. It leaves out small operations and many
 * receives silently: what is absent was not recorded. The rows stay the caller's; no pointers into them are kept. */
#ifndef RS_FOREIGN_COMMA_MODEL_H
#define RS_FOREIGN_COMMA_MODEL_H

#include "foreign/comma/comma.h"
#include "model/model.h"

enum rs_status rs_comma_to_model(struct rs_model *m, const struct rs_comma *file, const char *path, uint32_t *proc,
                                 struct rs_err *err);

#endif

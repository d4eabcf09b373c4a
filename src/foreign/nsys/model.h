/* An export of Nsight Systems that is open, into the model. */
#ifndef RS_FOREIGN_NSYS_MODEL_H
#define RS_FOREIGN_NSYS_MODEL_H

#include "foreign/nsys/nsys.h"

/* Reads all of n->db; n->m and n->path are set. Fails only out of memory: n->db.damage says what could not be read. */
enum rs_status rs_nsys_to_model(struct rs_nsys *n, struct rs_err *err);

#endif

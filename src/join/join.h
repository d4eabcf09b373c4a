/* Everything that connects the ranks of a model, in order: global ranks, families of communicators, collectives, pairs
 * of sends and receives, laying over, clocks, fan-outs, ends, waits. Called once, on a model that an importer has
 * filled. */
#ifndef RS_JOIN_JOIN_H
#define RS_JOIN_JOIN_H

#include "model/model.h"

/* `align`: bring all times onto one axis. Without it they stay as they came, and nothing across clocks is told. */
enum rs_status rs_join(struct rs_model *m, bool align, struct rs_err *err);

#endif

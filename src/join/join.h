/* Everything that connects the ranks of a model, in order: ranks of the job, families of communicators, collectives,
 * pairs of sends and receives, merging of sources, clocks, fan-outs, ends, waits. Called once, on a model that an
 * importer has filled. */
#ifndef RS_JOIN_JOIN_H
#define RS_JOIN_JOIN_H

#include "model/model.h"

/* `align`: convert all times to one axis. Without it they are unchanged, and nothing across clocks is reported. */
enum rs_status rs_join(struct rs_model *m, bool align, struct rs_err *err);

#endif

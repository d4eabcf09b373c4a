/* The arguments of a start, or of a state that has fields, each under its NCCL name. */
#ifndef RS_EXPORT_CALLBACK_ARGS_H
#define RS_EXPORT_CALLBACK_ARGS_H

#include "base/json.h"
#include "base/strbuf.h"
#include "trace/callbacks.h"

/* As keys of the object that is open. */
void rs_callback_args_json(struct rs_json *j, const struct rs_process *process, const struct rs_callback *cb);
/* As "name value, name value", without addresses and handles. */
void rs_callback_args_text(struct rs_strbuf *to, const struct rs_process *process, const struct rs_callback *cb);

#endif

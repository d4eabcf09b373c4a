/* The full log: one JSON object a callback, in time order per process.
 *
 * Every argument stands under its NCCL name in `args`. Times are wall ns of the process's host (trace/clock.h); they are
 * not aligned between hosts here. Memory does not grow with the recording. */
#ifndef RS_EXPORT_JSONL_H
#define RS_EXPORT_JSONL_H

#include "base/json.h"
#include "trace/inputs.h"

enum rs_status rs_export_jsonl(struct rs_inputs *inputs, struct rs_json *json, struct rs_err *err);

#endif

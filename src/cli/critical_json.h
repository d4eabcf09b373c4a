/* A critical path as JSON: one object; see docs/json.md. */
#ifndef RS_CLI_CRITICAL_JSON_H
#define RS_CLI_CRITICAL_JSON_H

#include "analyse/critical.h"
#include "base/json.h"

void rs_critical_json(struct rs_json *j, const struct rs_critical *c, const struct rs_view *view);

#endif

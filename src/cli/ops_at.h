/* What each GPU did at one moment: `ringscope ops --at TIME`. */
#ifndef RS_CLI_OPS_AT_H
#define RS_CLI_OPS_AT_H

#include "base/json.h"
#include "model/filter.h"

/* A line a rank (JSON Lines where `json` is not NULL, else a table on stdout). */
enum rs_status rs_ops_at(const struct rs_model *m, const struct rs_filter *filter, int64_t at, struct rs_json *json,
                         struct rs_err *err);

#endif

/* The lines of `ringscope clocks --json`: docs/json.md in C. */
#ifndef RS_CLI_CLOCKS_JSON_H
#define RS_CLI_CLOCKS_JSON_H

#include "base/json.h"
#include "join/clock_rows.h"
#include "join/clocks.h"

/* How late the timers of a row's GPU were read; RS_TIME_NONE where it has none. */
enum rs_status rs_clocks_late_of(struct rs_model *m, const struct rs_clock_row *row, struct rs_late *late,
                                 struct rs_err *err);
/* A line a row. */
enum rs_status rs_clocks_json(struct rs_json *j, struct rs_model *m, const struct rs_clock_rows *rows,
                              struct rs_err *err);

#endif

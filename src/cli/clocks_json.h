/* The lines of `ringscope clocks --json`: docs/json.md in C. */
#ifndef RS_CLI_CLOCKS_JSON_H
#define RS_CLI_CLOCKS_JSON_H

#include "fields/clock.h"

/* A line a row. */
void rs_clocks_json(struct rs_json *j, struct rs_model *m, const struct rs_clock_rows *rows);

#endif

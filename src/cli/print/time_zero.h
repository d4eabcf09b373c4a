/* Time zero: tables print times since the run's first event (rs_model_begin()), and name it once below. */
#ifndef RS_CLI_ZERO_H
#define RS_CLI_ZERO_H

#include "base/units.h"
#include "model/model.h"

/* A moment of the common axis as tables print it and --from, --to and --at take it: "5.503212s"; "?": not known. */
struct rs_text rs_zero_moment(const struct rs_model *m, int64_t ns);
/* "Times count from the run's first event, 2026-11-15 01:07:04.120345 UTC.", a line; nothing where no time is known. */
void rs_zero_print(const struct rs_model *m);

#endif

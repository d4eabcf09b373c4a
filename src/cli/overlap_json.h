/* The JSON of `ringscope overlap`: a line a rank. */
#ifndef RS_CLI_OVERLAP_JSON_H
#define RS_CLI_OVERLAP_JSON_H

#include "analyse/profile.h"
#include "base/json.h"

void rs_overlap_json(struct rs_json *j, const struct rs_profile *p, const struct rs_profile_row *row);

#endif

/* The text of `ringscope overlap`: tables by rank, and the conclusion. */
#ifndef RS_CLI_OVERLAP_TEXT_H
#define RS_CLI_OVERLAP_TEXT_H

#include "analyse/profile.h"

enum rs_status rs_overlap_print(const struct rs_profile *p, struct rs_err *err);

#endif

/* The option --stage NAME=PATTERN, of commands that look at pipelines. */
#ifndef RS_CLI_STAGES_H
#define RS_CLI_STAGES_H

#include "analyse/stages.h"

/* Contains pointers into itself: not to be copied. */
struct rs_stage_options {
    struct rs_stage_pattern patterns[RS_STAGES_MAX];
    char names[RS_STAGES_MAX][64];
    uint32_t n;
};

/* For RS_EACH(rs_stage_take, &options). */
const char *rs_stage_take(void *to, const char *value);

#endif

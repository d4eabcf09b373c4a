#include "cli/options/stages.h"

#include <stdio.h>
#include <string.h>

const char *rs_stage_take(void *to, const char *value)
{
    struct rs_stage_options *o = to;
    const char *equals = strchr(value, '=');
    if (!equals || equals == value || !equals[1]) return "takes NAME=PATTERN, as in load='*memcpy*'";
    if ((size_t)(equals - value) >= sizeof o->names[0]) return "has a name that is too long";
    if (o->n == RS_STAGES_MAX) return "comes too often";
    snprintf(o->names[o->n], sizeof o->names[0], "%.*s", (int)(equals - value), value);
    o->patterns[o->n] = (struct rs_stage_pattern){o->names[o->n], equals + 1};
    o->n++;
    return NULL;
}

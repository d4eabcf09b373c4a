/* Settings that differ between processes, as `info` and `report` show them. */
#ifndef RS_CLI_SETTINGS_TEXT_H
#define RS_CLI_SETTINGS_TEXT_H

#include "base/json.h"
#include "trace/differences.h"

/* A paragraph on stdout; nothing when none differ. */
void rs_settings_print(const struct rs_differences *d);
/* The field settings_that_differ of the object at hand. */
void rs_settings_json(struct rs_json *j, const struct rs_differences *d);

#endif

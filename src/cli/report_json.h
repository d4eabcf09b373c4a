/* `ringscope report --json`: the JSON contract of report. Fields may be added, not renamed. */
#ifndef RS_CLI_REPORT_JSON_H
#define RS_CLI_REPORT_JSON_H

#include "analyse/report.h"
#include "base/json.h"
#include "cli/report_reference.h"
#include "trace/differences.h"

/* `reference`: what the report was held against; NULL: nothing. */
void rs_report_json(struct rs_json *json, const struct rs_report *report, const struct rs_differences *settings,
                    const struct rs_reference_files *reference);

#endif

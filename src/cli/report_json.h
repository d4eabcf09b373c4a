/* `ringscope report --json`: the JSON contract of report. Fields may be added, not renamed. */
#ifndef RS_CLI_REPORT_JSON_H
#define RS_CLI_REPORT_JSON_H

#include "analyse/report.h"
#include "base/json.h"
#include "trace/differences.h"

void rs_report_json(struct rs_json *json, const struct rs_report *report, const struct rs_differences *settings);

#endif

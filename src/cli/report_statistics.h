/* What `ringscope report` shows of summaries without a time axis: text and JSON. Borrows everything. */
#ifndef RS_CLI_REPORT_STATISTICS_H
#define RS_CLI_REPORT_STATISTICS_H

#include "analyse/statistics.h"
#include "base/json.h"

/* Tables on stdout; nothing where there are no statistics. */
void rs_statistics_print(const struct rs_statistics *s);
/* "statistics": an object, or null. */
void rs_statistics_json(struct rs_json *j, const struct rs_statistics *s);

#endif

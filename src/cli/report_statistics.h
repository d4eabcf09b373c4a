/* What `ringscope report` shows of summaries without a time axis. Borrows everything. */
#ifndef RS_CLI_REPORT_STATISTICS_H
#define RS_CLI_REPORT_STATISTICS_H

#include "analyse/statistics.h"

/* Tables on stdout; nothing where there are no statistics. */
void rs_statistics_print(const struct rs_statistics *s);

#endif

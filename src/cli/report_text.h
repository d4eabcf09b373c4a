/* The text of `ringscope report`: tables, and the conclusion. Prints to stdout and borrows everything. */
#ifndef RS_CLI_REPORT_TEXT_H
#define RS_CLI_REPORT_TEXT_H

#include "analyse/report.h"
#include "cli/report_reference.h"
#include "trace/differences.h"

/* `by_comm`: a row for each communicator, not for each class of them. */
void rs_report_print(const struct rs_report *r, const struct rs_differences *settings,
                     const struct rs_reference_files *reference, bool by_comm);

#endif

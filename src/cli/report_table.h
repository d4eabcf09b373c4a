/* `ringscope report --table nccl-tests`: what a run reached, laid out as nccl-tests print it. */
#ifndef RS_CLI_REPORT_TABLE_H
#define RS_CLI_REPORT_TABLE_H

#include "analyse/report.h"

/* On stdout. `by_comm`: rows are of single communicators, not of classes. */
void rs_report_table(const struct rs_report *r, bool by_comm);

#endif

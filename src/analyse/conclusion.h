/* The last lines of a report: plain sentences that an operator can act on. Nothing below the clock error is claimed. */
#ifndef RS_ANALYSE_CONCLUSION_H
#define RS_ANALYSE_CONCLUSION_H

#include "analyse/report.h"

/* Fills r->conclusion from the rest of it. */
enum rs_status rs_conclusion_make(struct rs_report *r, struct rs_err *err);

#endif

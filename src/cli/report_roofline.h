/* `ringscope report --link`, `-o`: achieved bus bandwidth against the nominal rate of a link, as a table, and against that and
 * the reference as a picture. */
#ifndef RS_CLI_REPORT_ROOFLINE_H
#define RS_CLI_REPORT_ROOFLINE_H

#include <stdbool.h>

#include "cli/report_reference.h"
#include "conclude/report.h"

/* Of a report with a rate (link_gbs). */
void rs_link_print(const struct rs_report *r);
/* Writes the picture; `reference` may be NULL. */
enum rs_status rs_roofline_write(const struct rs_report *r, const struct rs_reference_files *reference,
                                 const char *path, bool force, struct rs_err *err);

#endif

/* The fields of the rows of a report: stragglers, lateness, findings, the network, slow links, functions, roles, compute. */
#ifndef RS_FIELDS_REPORT_H
#define RS_FIELDS_REPORT_H

#include "conclude/report.h"
#include "fields/field.h"

struct rs_straggler_fields {
    const struct rs_report *report;
    const struct rs_straggler *row;
    const char *uuid; /* NULL: unknown */
    char uuid_text[37];
};
void rs_straggler_fields_make(struct rs_straggler_fields *r, const struct rs_report *report,
                              const struct rs_straggler *row);

struct rs_late_fields {
    const struct rs_report *report;
    const struct rs_late_row *row;
};

struct rs_finding_fields {
    const struct rs_report *report;
    const struct rs_finding *row;
};

struct rs_link_fields {
    const struct rs_report *report;
    const struct rs_link_row *row;
};

struct rs_slow_fields {
    const struct rs_report *report;
    const struct rs_slow_link *row;
};

struct rs_role_fields {
    const struct rs_report *report;
    uint32_t role;
    const uint32_t *ranks; /* rank ids; one or more */
    uint32_t n;
};

struct rs_compute_fields {
    const struct rs_report *report;
};

struct rs_func_fields {
    const struct rs_report *report;
    const struct rs_func_row *row;
    const struct rs_reached_row *reached; /* NULL: no reference */
};

#endif

/* The fields of statistics: sums that tools write without a time axis. */
#ifndef RS_FIELDS_STATISTICS_H
#define RS_FIELDS_STATISTICS_H

#include "analyse/statistics.h"
#include "fields/field.h"

struct rs_statistics_fields {
    const struct rs_statistics *s;
};

/* The mean time of a call; RS_TIME_NONE: not known. */
int64_t rs_cell_average(const struct rs_cell *c);

#endif

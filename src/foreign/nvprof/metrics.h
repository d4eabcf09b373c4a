/* Tables of metrics in a log of nvprof: those of nvprof itself (--metrics, --events; text or CSV), and tables that the
 * profiled program printed, drawn with + and |, with the columns name, min, max and mean.
 *
 * A reader is zeroed at first, and takes lines in their order. What it returns points into the line, or into its own
 * texts, until the next call. One thread at a time. */
#ifndef RS_FOREIGN_NVPROF_METRICS_H
#define RS_FOREIGN_NVPROF_METRICS_H

#include <stdbool.h>

#include "foreign/lines.h"

enum rs_metric_column {
    RS_MC_OTHER,
    RS_MC_DEVICE,
    RS_MC_OF,
    RS_MC_CALLS,
    RS_MC_NAME,
    RS_MC_MIN,
    RS_MC_MAX,
    RS_MC_MEAN,
    RS_MC_COLUMNS
};

struct rs_metric_reader {
    enum rs_metric_column columns[16];
    unsigned n; /* 0: no table */
    bool csv, drawn; /* drawn: with + and | */
    char of[400]; /* kernel, or the line above a drawn table: what its metrics are of */
};

struct rs_metric_line {
    struct rs_slice cells[RS_MC_COLUMNS]; /* empty: not there */
};

enum rs_metric_taken { RS_METRIC_NOT, /* not of a table */ RS_METRIC_TABLE, /* a heading, a rule */ RS_METRIC_ROW };

/* A line below "Metric result:" or "Event result:". */
enum rs_metric_taken rs_metric_nvprof(struct rs_metric_reader *r, struct rs_slice line, struct rs_metric_line *row);
/* A line of the program. */
enum rs_metric_taken rs_metric_drawn(struct rs_metric_reader *r, struct rs_slice line, struct rs_metric_line *row);

/* "99.88%", "12.3GB/s", "High (7)": the number and the unit (a part of the text; a level has none). False: no number. */
bool rs_metric_value(struct rs_slice f, double *value, struct rs_slice *unit);

#endif

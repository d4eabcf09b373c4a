/* The tables that nvprof prints: header, row of units (CSV) and the cells of a row, for text and CSV alike.
 *
 * Nothing is allocated: cells point into the line. Any thread, each with its own structs. */
#ifndef RS_FOREIGN_NVPROF_TABLE_H
#define RS_FOREIGN_NVPROF_TABLE_H

#include "foreign/lines.h"

enum rs_nvprof_column {
    RS_NC_TYPE,
    RS_NC_PERCENT,
    RS_NC_TIME,
    RS_NC_CALLS,
    RS_NC_AVG,
    RS_NC_MIN,
    RS_NC_MAX,
    RS_NC_NAME,
    RS_NC_START,
    RS_NC_DURATION,
    RS_NC_SIZE,
    RS_NC_DEVICE,
    RS_NC_CONTEXT,
    RS_NC_STREAM,
    RS_NC_CORRELATION,
    RS_NC_OTHER, /* grid, registers, throughput, ... */
};

enum { RS_NVPROF_COLUMNS = 48 };

struct rs_nvprof_table {
    unsigned n; /* columns; 0 = no table */
    bool csv, trace; /* trace: start and duration; else a summary */
    bool wants_units; /* CSV: the line after the header says them */
    enum rs_nvprof_column column[RS_NVPROF_COLUMNS];
    char unit[RS_NVPROF_COLUMNS][8]; /* CSV */
};

/* The cells of a row. Empty: not there, or "-". */
struct rs_nvprof_cells {
    struct rs_slice cell[RS_NC_OTHER + 1];
    const char *unit[RS_NC_OTHER + 1]; /* CSV; NULL = glued to the number */
};

/* Whether the line is the header of a table; fills `t` then, and leaves it alone otherwise. */
bool rs_nvprof_header(struct rs_nvprof_table *t, const char *text, size_t n);
/* Whether the line is the row of units that `t` waits for. */
bool rs_nvprof_units(struct rs_nvprof_table *t, const char *text, size_t n);
/* Splits a row; false when it has not the shape of one. */
bool rs_nvprof_split(const struct rs_nvprof_table *t, const char *text, size_t n, struct rs_nvprof_cells *c);

/* Exact, in ns. False: no time. */
bool rs_nvprof_time(const struct rs_nvprof_cells *c, enum rs_nvprof_column column, int64_t *ns);
int64_t rs_nvprof_bytes(const struct rs_nvprof_cells *c); /* of RS_NC_SIZE; -1 = none. nvprof's MB are 2^20 */

#endif

/* The rows of `ringscope clocks`: each a process and one of its devices, with the values of their clocks.
 *
 * Made from an aligned model (without alignment the values are unknown) and freed by the caller. */
#ifndef RS_JOIN_CLOCK_ROWS_H
#define RS_JOIN_CLOCK_ROWS_H

#include "model/filter.h"

/* A process and one of its devices. */
struct rs_clock_row {
    uint32_t proc, gpu; /* gpu: domain, or RS_NONE */
    int32_t device;
    int32_t *ranks; /* of the job */
    uint32_t nranks;
};

struct rs_clock_rows {
    struct rs_clock_row *all;
    uint32_t n;
    uint32_t *islands; /* by domain: numbered from 0, the main one first */
    uint32_t nislands;
    int64_t at; /* rs_clock_middle() */
    int64_t compare_error_ns; /* of comparing starts of operations that pass the filter; -1: none was compared */
};

/* The middle of the run, on the common axis, where offsets are given. RS_TIME_NONE: no times. */
int64_t rs_clock_middle(struct rs_model *m);

/* For the members that pass the filter's ranks and communicators. */
void rs_clock_rows_init(struct rs_clock_rows *r, struct rs_model *m, const struct rs_filter *filter);
void rs_clock_rows_free(struct rs_clock_rows *r);

/* The offset added to a clock in the middle of the run; RS_TIME_NONE: unknown. */
int64_t rs_clock_offset(struct rs_model *m, const struct rs_clock_rows *r, uint32_t domain);
/* Its error relative to the common axis; RS_TIME_NONE: not aligned. */
int64_t rs_clock_error(const struct rs_model *m, const struct rs_clock_rows *r, uint32_t domain);
/* The host's clock, as the process reads it. */
int64_t rs_clock_host_error(const struct rs_model *m, const struct rs_clock_rows *r, const struct rs_clock_row *row);
uint32_t rs_clock_of_host(const struct rs_model *m, const struct rs_clock_row *row);
/* The GPU's clock; if it was never seen, the host's. */
const struct rs_domain *rs_clock_own(const struct rs_model *m, const struct rs_clock_row *row);
const char *rs_clock_method_name(uint8_t method);

#endif

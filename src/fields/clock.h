/* The fields of the clocks of a process and one of its devices. */
#ifndef RS_FIELDS_CLOCK_H
#define RS_FIELDS_CLOCK_H

#include "fields/field.h"
#include "join/clock_rows.h"
#include "join/clocks.h"

struct rs_clock_fields {
    struct rs_model *m;
    const struct rs_clock_rows *rows;
    const struct rs_clock_row *row;
    struct rs_late late;
    uint32_t host; /* the domain of the host's clock */
    const struct rs_domain *own, *gpu; /* gpu NULL: none */
    const char *uuid; /* NULL: not known */
    char uuid_text[37];
};

/* How late the timers of a row's GPU were read; RS_TIME_NONE where it has none. */
void rs_clocks_late_of(struct rs_model *m, const struct rs_clock_row *row, struct rs_late *late);
void rs_clock_fields_make(struct rs_clock_fields *r, struct rs_model *m, const struct rs_clock_rows *rows,
                          const struct rs_clock_row *row);

#endif

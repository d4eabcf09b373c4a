/* The CSV of ncclsee (ncclsee_<time>/<pid>.csv): calls, bytes and time per collective and size. Statistics, no time
 * axis.
 *
 * Its time adds the enqueueing to the kernels' durations. Rows belong to the struct until rs_ncclsee_free(). One thread
 * at a time. Columns are found by name. */
#ifndef RS_FOREIGN_NCCLSEE_NCCLSEE_H
#define RS_FOREIGN_NCCLSEE_NCCLSEE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct rs_ncclsee_row {
    char func[32]; /* "AllReduce", ..., or "Group" */
    char label[32]; /* of the sizes; "N/A" for groups */
    int64_t min_bytes, max_bytes, bytes, time_ns; /* -1 = unknown */
    uint64_t calls;
};

struct rs_ncclsee {
    struct rs_ncclsee_row *rows;
    uint32_t n, cap;
    uint64_t bad_lines;
    struct rs_err damage; /* code RS_OK: none; else path, byte and reason of the first */
};

/* RS_BAD_INPUT when the header is missing. Free in any case. */
enum rs_status rs_ncclsee_read(struct rs_ncclsee *p, const char *path, struct rs_err *err);
void rs_ncclsee_free(struct rs_ncclsee *p); /* a zeroed struct is fine */

#endif

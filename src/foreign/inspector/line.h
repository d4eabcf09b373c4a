/* A line of Inspector's log, taken apart. For inspector.c only.
 *
 * The struct holds its texts itself, so it is large: allocate it, once for all lines. One thread at a time. */
#ifndef RS_FOREIGN_INSPECTOR_LINE_H
#define RS_FOREIGN_INSPECTOR_LINE_H

#include "base/scan.h"
#include "foreign/inspector/inspector.h"

enum { RS_INSPECTOR_KERNELS = 256 }; /* of an operation: NCCL has at most 64 channels */

struct rs_inspector_line {
    struct rs_scan s;
    struct rs_inspector_member member;
    struct rs_inspector_op op;
    char comm_name[256], host[256], version[32], git_rev[64], func[64];
    bool has_header, has_op;
    struct rs_inspector_kernel kernels[RS_INSPECTOR_KERNELS];
    unsigned n_kernels;
};

/* NULL: the line is whole; else why it is not. */
const char *rs_inspector_parse(struct rs_inspector_line *l, const char *text, size_t n);

#endif

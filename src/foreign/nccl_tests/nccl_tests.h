/* What nccl-tests print (all_reduce_perf and its like), as text or as JSON (-J): which bus bandwidth a machine
 * reached, by function, type and size. Not a trace: a table to compare runs with.
 *
 * The text is taken out of whatever log it is in: several tests one after the other, ranks in front of lines
 * (mpirun --tag-output, srun --label), NCCL's own lines between them. Columns are found by the names in the heading,
 * which differ between versions: redop and root, cputime, error or #wrong, per-iteration columns, a time stamp. What
 * `ringscope report --table nccl-tests` prints is read likewise. Which test it is, versions before 2.16.7 do not say:
 * then a name of a test in the lines before (the command), the name of the file, or, where only one test can look
 * like it, the row itself decides. Rows belong to the struct until rs_nccl_tests_free(). One thread at a time. */
#ifndef RS_FOREIGN_NCCL_TESTS_NCCL_TESTS_H
#define RS_FOREIGN_NCCL_TESTS_NCCL_TESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* One half of a row: NAN where it has none. */
struct rs_nccl_tests_half {
    double time_us, algbw, busbw; /* the mean of a call; GB/s */
};

struct rs_nccl_tests_row {
    const char *func; /* NCCL's name: "AllReduce"; NULL: not known */
    const char *dtype; /* likewise: "ncclFloat32"; NULL: not known */
    char redop[16]; /* "sum"; "": unknown, or none */
    int32_t root; /* -1: none, or unknown */
    int32_t nranks; /* -1: unknown */
    uint64_t bytes;
    uint32_t table; /* of a test that is not named: which of the file's, from 1 on; else 0 */
    struct rs_nccl_tests_half out_of_place, in_place;
};

struct rs_nccl_tests {
    struct rs_nccl_tests_row *rows;
    uint32_t n, cap;
    uint32_t unnamed; /* rows whose test is unknown */
    uint64_t bad_lines;
    struct rs_err damage; /* code RS_OK: none; else path, byte and reason of the first */
};

/* RS_BAD_INPUT when there is no heading of such a table. Free in any case. */
enum rs_status rs_nccl_tests_read(struct rs_nccl_tests *t, const char *path, struct rs_err *err);
void rs_nccl_tests_free(struct rs_nccl_tests *t); /* a zeroed struct is fine */

/* The larger bus bandwidth of both halves, GB/s; 0 when there is none. */
double rs_nccl_tests_best(const struct rs_nccl_tests_row *row);

/* Names of one in those of the other; NULL: there is none. */
const char *rs_nccl_tests_type(const char *dtype); /* "ncclFloat32" -> "float" */
const char *rs_nccl_tests_program(const char *func); /* "AllReduce" -> "all_reduce_perf" */

#endif

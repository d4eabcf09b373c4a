/* Names in nccl-tests and in NCCL, and which test a row can be of: shared by the readers of both of its formats. Pure
 * functions; texts are static. */
#ifndef RS_FOREIGN_NCCL_TESTS_NAMES_H
#define RS_FOREIGN_NCCL_TESTS_NAMES_H

#include "foreign/lines.h"
#include "foreign/nccl_tests/nccl_tests.h"

/* The test whose program is named somewhere in a text (".../all_reduce_perf -b 8"), as NCCL's function; NULL: none is.
 * "" for a test that nothing else counts like (hypercube, alltoallv). */
const char *rs_nccl_tests_named(struct rs_slice text);
/* NCCL's type of one of nccl-tests'; NULL: not known. */
const char *rs_nccl_tests_dtype(struct rs_slice name);
/* Settles the function of a row, of which `said` was said (NULL: nothing): NULL where the ratio of its bandwidths
 * cannot be that of the function, and what alone has such a row where nothing was said. */
const char *rs_nccl_tests_func(const struct rs_nccl_tests_row *row, const char *said);

#endif

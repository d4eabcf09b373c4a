/* The file that nccl-tests write with -J (from version 2.17.3 on): config, devices and results of one test. */
#ifndef RS_FOREIGN_NCCL_TESTS_JSON_H
#define RS_FOREIGN_NCCL_TESTS_JSON_H

#include "base/bytes.h"
#include "foreign/nccl_tests/nccl_tests.h"

bool rs_nccl_tests_json_is(const char *head, size_t n);
/* Fills a zeroed struct. RS_BAD_INPUT when it has no list of results. */
enum rs_status rs_nccl_tests_json(struct rs_nccl_tests *t, struct rs_bytes *bytes, const char *path,
                                  struct rs_err *err);

/* Adds a row once its function is settled: `said` as in rs_nccl_tests_func(). Of both readers; in nccl_tests.c. */
enum rs_status rs_nccl_tests_keep(struct rs_nccl_tests *t, struct rs_nccl_tests_row *row, const char *said,
                                  struct rs_err *err);

#endif

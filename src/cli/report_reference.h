/* `ringscope report --reference`: tables of nccl-tests, and the achieved bandwidth compared with them: text and JSON. */
#ifndef RS_CLI_REPORT_REFERENCE_H
#define RS_CLI_REPORT_REFERENCE_H

#include "base/json.h"
#include "conclude/report.h"
#include "foreign/nccl_tests/nccl_tests.h"

enum { RS_REFERENCES_MAX = 64 };

struct rs_reference_files {
    const char *paths[RS_REFERENCES_MAX]; /* borrowed */
    struct rs_nccl_tests tables[RS_REFERENCES_MAX];
    unsigned n;
    struct rs_reference reference; /* of all of them */
};

/* For rs_opt_each: notes a file. */
const char *rs_reference_file(void *to, const char *path);

/* Reads all that were noted. Lines that are not rows and tests without a name are reported on stderr. Fails when one
 * cannot be read, or when no row is of any use. */
enum rs_status rs_reference_read(struct rs_reference_files *f, struct rs_err *err);
void rs_reference_files_free(struct rs_reference_files *f);

void rs_reached_print(const struct rs_report *r, const struct rs_reference_files *f);
void rs_reference_json(struct rs_json *j, const struct rs_reference_files *f); /* NULL: null */

#endif

/* A hang as `hang` prints it: in JSON and in one line; the page and pictures of `view` have the same. */
#ifndef RS_CLI_HANG_OUTPUT_H
#define RS_CLI_HANG_OUTPUT_H

#include "analyse/hang.h"
#include "base/json.h"
#include "base/strbuf.h"

/* "not joined by rank 3: AllReduce 84 of default_pg:0". */
void rs_hang_headline(struct rs_strbuf *s, const struct rs_model *m, const struct rs_hang_finding *f);
/* What is written at the row of a rank that is to blame, before the operation: "did not join". */
const char *rs_hang_mark(const struct rs_hang_finding *f);
/* The object of `hang --json`, and a newline. */
void rs_hang_json(struct rs_json *j, const struct rs_model *m, const struct rs_hang *h);

#endif

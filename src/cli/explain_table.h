/* What a table of nccl-tests holds, in sentences: which functions, on how many ranks, of which sizes. */
#ifndef RS_CLI_EXPLAIN_TABLE_H
#define RS_CLI_EXPLAIN_TABLE_H

#include "cli/explain_file.h"

/* Reads the file again; what cannot be read is said elsewhere. */
enum rs_status rs_explain_table(struct rs_explained_file *f, struct rs_err *err);

#endif

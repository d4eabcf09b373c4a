/* `ringscope explain FILE`: what foreign/contents.h found of each file, as text and as JSON. */
#ifndef RS_CLI_EXPLAIN_FILE_H
#define RS_CLI_EXPLAIN_FILE_H

#include "base/json.h"
#include "foreign/contents.h"

/* Prints a text in lines of 100 columns, each behind `indent` spaces; the first line's stand there already. */
void rs_explain_wrap(const char *text, size_t indent);
void rs_contents_print(const struct rs_contents *files, uint32_t n, const struct rs_model *m);
void rs_contents_json(struct rs_json *j, const struct rs_contents *files, uint32_t n, const struct rs_model *m);

#endif

/* Amounts, times, ranks and operations in sentences of reports, appended to a text. */
#ifndef RS_ANALYSE_WORDS_H
#define RS_ANALYSE_WORDS_H

#include "analyse/bandwidth.h"
#include "analyse/view.h"
#include "base/strbuf.h"

void rs_words_ns(struct rs_strbuf *s, int64_t ns); /* "6 us", "2.1 ms", "0.82 s", "95 s" */
void rs_words_moment(struct rs_strbuf *s, const struct rs_model *m, int64_t ns); /* "5.503212s" from its first event */
void rs_words_func(struct rs_strbuf *s, const struct rs_model *m,
                   const struct rs_func_row *row); /* "AllReduce of 64 MiB" */
/* Ends a sentence: appends it to a list, with a capital, and frees `s`. The caller frees list and texts. */
void rs_words_sentence(char ***list, uint32_t *n, struct rs_strbuf *s);

#endif

/* Amounts, times, ranks and operations in sentences of reports, appended to a text. */
#ifndef RS_ANALYSE_WORDS_H
#define RS_ANALYSE_WORDS_H

#include "analyse/bandwidth.h"
#include "analyse/view.h"
#include "base/strbuf.h"

void rs_words_ns(struct rs_strbuf *s, int64_t ns); /* "6 us", "2.1 ms", "0.82 s", "95 s" */
/* "4.1 ms [3.9 ms, 4.3 ms]"; without bounds (RS_TIME_NONE) just the time. */
void rs_words_interval(struct rs_strbuf *s, int64_t ns, int64_t low, int64_t high);
void rs_words_share(struct rs_strbuf *s, double percent); /* " (38 %)", " (1.7 %)" */
void rs_words_moment(struct rs_strbuf *s, const struct rs_model *m, int64_t ns); /* "5.503212s" from its first event */
void rs_words_func(struct rs_strbuf *s, const struct rs_model *m,
                   const struct rs_func_row *row); /* "AllReduce of 64 MiB" */
/* Ends a sentence: appends it to a list, with a capital, and frees `s`. The caller frees list and texts. */
void rs_words_sentence(char ***list, uint32_t *n, struct rs_strbuf *s);

#endif

/* What the sentences of a hang are made of: operations, ranks, spans of time.
 *
 * Ranks are those of the job where these are known, and else said to be the communicator's. Any thread. */
#ifndef RS_ANALYSE_HANG_PHRASES_H
#define RS_ANALYSE_HANG_PHRASES_H

#include "analyse/hang.h"
#include "base/strbuf.h"

/* "AllReduce 20 of default_pg:0" (pairs: "send 3 of ... from rank 1 to rank 2"). */
void rs_hang_op_text(const struct rs_model *m, uint32_t op, char *text, size_t size);
/* The same of a finding's operation, or of what a health service counted; false: it has neither. */
bool rs_hang_finding_text(const struct rs_model *m, const struct rs_hang_finding *f, char *text, size_t size);
/* Two ranks of a communicator become ranks of the job; false: these are not known, and nothing is changed. */
bool rs_phrase_job_ranks(const struct rs_model *m, uint32_t comm, int32_t *a, int32_t *b);
/* "rank 3 (host, pid, GPU)", "ranks 3, 4 and 9", "17 ranks (0, 1, 2, ...)". */
void rs_phrase_ranks(struct rs_strbuf *s, const struct rs_model *m, const struct rs_hang_who *who, uint32_t n);
/* "3, 4, 9 and 2 more": the ranks of the evidence that are at a stage. */
void rs_phrase_stage(struct rs_strbuf *s, const struct rs_model *m, const struct rs_hang_finding *h,
                     enum rs_stage stage);
void rs_phrase_span(struct rs_strbuf *s, int64_t ns); /* "10.1 s", "12 min" */

#endif

/* All tables of names that `ringscope explain` knows: ringscope's words, NCCL's, one per input format, and those of its own
 * output. One thread. */
#ifndef RS_CLI_EXPLAIN_TERMS_H
#define RS_CLI_EXPLAIN_TERMS_H

#include "explain/terms.h"

/* In the order in which they are listed; NULL behind the last. */
const struct rs_term_table *rs_explain_table(size_t index);

#endif

/* What the names in traces mean: every category, event, state, field and column of the formats that ringscope reads, of
 * its own JSON and exports, and its own terms; in one or two sentences each.
 *
 * Those of an input format are with its reader (foreign/FORMAT/format.c), and the list of all tables is
 * cli/explain_terms.h. A name of several formats has a row in each, since its meaning rarely is the same. Constant
 * data; any thread. */
#ifndef RS_EXPLAIN_TERMS_H
#define RS_EXPLAIN_TERMS_H

#include <stdbool.h>
#include <stddef.h>

struct rs_term {
    const char *name; /* as in the format */
    const char *
        kind; /* "event", "state", "category", "field", "column", "value", "word", "kernel", "heading", "verdict", "reason" */
    const char *text; /* what it is, its unit, and pitfalls */
};

struct rs_term_table {
    const char *format; /* "kineto": as in `inputs[].format` of info */
    const char *what; /* "PyTorch profiler trace (Kineto)" */
    const char *holds; /* what such a file contains, and what not; NULL: not an input */
    const struct rs_term *terms;
    size_t n;
};

/* Whether a typed word means this term: case, quotes, spaces, dashes and underscores do not matter, and the prefix of
 * NCCL's states may be omitted ("SendGpuWait" for "ProxyStepSendGPUWait"). */
bool rs_term_is(const struct rs_term *term, const char *typed);

extern const struct rs_term_table rs_terms_nccl, rs_terms_json, rs_terms_export, rs_terms_words, rs_terms_headings;

#endif

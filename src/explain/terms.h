/* What the names in traces mean: every category, event, state, field and column of the formats that ringscope reads,
 * of its own JSON and exports, and its own words; in one or two plain sentences each.
 *
 * Those of an input format are with its reader (foreign/FORMAT/format.c), and the list of all tables is
 * cli/explain_terms.h. A name that several formats have has a row in each, since it rarely means
 * quite the same. Constant data; any thread. */
#ifndef RS_EXPLAIN_TERMS_H
#define RS_EXPLAIN_TERMS_H

#include <stdbool.h>
#include <stddef.h>

struct rs_term {
    const char *name; /* as it stands in the format */
    const char *kind; /* "event", "state", "category", "field", "column", "value", "word", "kernel" */
    const char *text; /* what it is, in which unit, and what to beware of */
};

struct rs_term_table {
    const char *format; /* "kineto": as in `inputs[].format` of info */
    const char *what; /* "PyTorch profiler trace (Kineto)" */
    const char *holds; /* what such a file tells, and what it cannot; NULL: it is no input */
    const struct rs_term *terms;
    size_t n;
};

/* Whether a typed word means this term: case, quotes, spaces, dashes and underscores do not matter, and the beginning
 * of NCCL's states may be left out ("SendGpuWait" for "ProxyStepSendGPUWait"). */
bool rs_term_is(const struct rs_term *term, const char *typed);

extern const struct rs_term_table rs_terms_nccl, rs_terms_json, rs_terms_export, rs_terms_words;

#endif

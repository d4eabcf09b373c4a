/* Headings of ringscope's tables. */
#include "explain/headings.h"

static const struct rs_term terms[] = {
#define X(id, heading, meaning) {heading, "heading", meaning},
    RS_HEADINGS(X)
#undef X
};

const char *rs_heading_text(enum rs_heading heading)
{
    return heading == RS_H_NONE ? "" : terms[heading - 1].name;
}

const struct rs_term_table rs_terms_headings = {"tables", "headings of ringscope's tables", NULL, terms,
                                                sizeof terms / sizeof *terms};

/* The fields of `diff --json`: fields/field.h says how to read them. */
#ifndef RS_FIELDS_DIFF_H
#define RS_FIELDS_DIFF_H

#include "compare/comparison.h"
#include "fields/field.h"

struct rs_diff_fields {
    const struct rs_comparison *c;
    double bound; /* of --fail-over, 0.05 is 5 %; NAN: none */
};

#endif

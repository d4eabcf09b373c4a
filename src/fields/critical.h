/* The fields of a critical path: the whole, its rows by rank, kind and name, its segments. */
#ifndef RS_FIELDS_CRITICAL_H
#define RS_FIELDS_CRITICAL_H

#include "analyse/critical.h"
#include "analyse/steps.h"
#include "fields/field.h"

struct rs_critical_fields {
    const struct rs_critical *path;
    const struct rs_view *view;
    const struct rs_steps *steps;
};

#endif

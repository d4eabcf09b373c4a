/* The fields of a replayed run: the whole, and its cases. */
#ifndef RS_FIELDS_WHATIF_H
#define RS_FIELDS_WHATIF_H

#include "conclude/whatif.h"
#include "fields/field.h"

struct rs_whatif_fields {
    const struct rs_whatif *whatif;
};

#endif

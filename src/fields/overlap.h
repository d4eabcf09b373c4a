/* The fields of a rank in `overlap`: how compute and communication overlap, launches, annotations, the pipeline. */
#ifndef RS_FIELDS_OVERLAP_H
#define RS_FIELDS_OVERLAP_H

#include "analyse/profile.h"
#include "conclude/roles.h"
#include "fields/field.h"

struct rs_overlap_fields {
    const struct rs_profile *profile;
    const struct rs_profile_row *row;
    const struct rs_overlap_times *times; /* row->overlap.cut; for `exact` the others */
    const struct rs_roles *roles;
    uint32_t top; /* kernels at most */
};

#endif

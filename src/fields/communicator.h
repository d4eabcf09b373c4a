/* The fields of a communicator, of one of its ranks, and of the layout of the job. */
#ifndef RS_FIELDS_COMMUNICATOR_H
#define RS_FIELDS_COMMUNICATOR_H

#include "conclude/layout.h"
#include "fields/field.h"
#include "join/lifetimes.h"
#include "join/overlay_facts.h"

struct rs_comm_fields {
    const struct rs_model *m;
    uint32_t comm;
    struct rs_life life;
    struct rs_facts facts;
    const struct rs_job_layout *layout; /* JSON only */
};
void rs_comm_fields_make(struct rs_comm_fields *r, const struct rs_model *m, uint32_t comm, const struct rs_life *life);

struct rs_layout_fields {
    const struct rs_job_layout *layout;
};

struct rs_member_fields {
    const struct rs_model *m;
    uint32_t comm, member;
    struct rs_life life;
    const char *uuid; /* NULL: unknown */
    char uuid_text[37];
};
void rs_member_fields_make(struct rs_member_fields *r, const struct rs_model *m, uint32_t comm, uint32_t member);

#endif

/* The fields of an operation, and of a rank in an operation. */
#ifndef RS_FIELDS_OPERATION_H
#define RS_FIELDS_OPERATION_H

#include "analyse/steps.h"
#include "fields/field.h"
#include "join/op_facts.h"
#include "join/overlay_facts.h"
#include "join/presence.h"

/* What the fields of an operation are taken from. The caller sets the first four once; the rest is of one operation. */
struct rs_op_row {
    const struct rs_model *m;
    const struct rs_presence_index *presence; /* for the lists of ranks that are not in it */
    const struct rs_steps *steps; /* of found_step: JSON only */
    const uint32_t *numbers; /* rows of the database, by operation: SQL only */
    uint32_t op, first; /* `first`: its first part */
    int64_t shortest; /* rs_op_shortest() */
    struct rs_facts facts;
    struct rs_op_rate rate;
    struct rs_op_waits waits;
};

/* What identifies it, and what its ranks need; and all the rest. */
void rs_op_row_begin(struct rs_op_row *r, uint32_t op);
void rs_op_row_make(struct rs_op_row *r, uint32_t op);

/* A rank in an operation. */
struct rs_op_rank_row {
    const struct rs_op_row *op;
    const struct rs_member *member;
    struct rs_op_rank rank;
};

/* Takes the next rank: *at from 0, `r->op` is set. False: that was all. */
bool rs_op_rank_row_next(struct rs_op_rank_row *r, uint32_t *at);

enum rs_op_field {
#define FIELD_AS(id, ...) RS_OP_##id,
#include "fields/operation.inc"
#undef FIELD_AS
    RS_OP_FIELDS
};

/* One field of an operation: RS_OP_FIELD(seq).name. */
extern const struct rs_out_field rs_op_fields[RS_OP_FIELDS];
#define RS_OP_FIELD(id) rs_op_fields[RS_OP_##id]

enum rs_op_rank_field {
#define FIELD_AS(id, ...) RS_OP_RANK_##id,
#include "fields/op_rank.inc"
#undef FIELD_AS
    RS_OP_RANK_FIELDS
};

extern const struct rs_out_field rs_op_rank_fields[RS_OP_RANK_FIELDS];
#define RS_OP_RANK_FIELD(id) rs_op_rank_fields[RS_OP_RANK_##id]

#endif

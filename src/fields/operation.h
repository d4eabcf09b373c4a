/* The fields of an operation, and of a rank in an operation. */
#ifndef RS_FIELDS_OPERATION_H
#define RS_FIELDS_OPERATION_H

#include "analyse/steps.h"
#include "fields/field.h"
#include "join/op_facts.h"
#include "join/overlay_facts.h"
#include "join/presence.h"

/* What the values of fields are computed from. Each struct begins with the one before, and fields see no more than their
 * outputs can provide (fields/table.inc): attributes of OTF2 are written once per rank, where only constant work is
 * acceptable; slices and Kineto traces have what exporters keep per operation; tables have everything. */
#define RS_OP_KEY                                                                                                      \
    const struct rs_model *m;                                                                                          \
    uint32_t op, first; /* `first`: its first part */

struct rs_op_key {
    RS_OP_KEY
};
static inline struct rs_op_key rs_op_key(const struct rs_model *m, uint32_t op)
{
    return (struct rs_op_key){m, op, m->order[m->ops.part[op]]};
}

#define RS_OP_SLICE                                                                                                    \
    union {                                                                                                            \
        struct rs_op_key key;                                                                                          \
        struct {                                                                                                       \
            RS_OP_KEY                                                                                                  \
        };                                                                                                             \
    };                                                                                                                 \
    int64_t transfer_ns; /* rs_op_rate() */                                                                            \
    struct rs_facts facts;

struct rs_op_slice {
    RS_OP_SLICE
};

/* For tables and JSON. The caller sets m, presence, steps and numbers once; the rest is of one operation. */
struct rs_op_row {
    union {
        struct rs_op_slice slice;
        struct {
            RS_OP_SLICE
        };
    };
    const struct rs_presence_index *presence; /* for the lists of ranks that are not in it */
    const struct rs_steps *steps; /* of found_step: JSON only */
    const uint32_t *numbers; /* rows of the database, by operation: SQL only */
    int64_t shortest; /* rs_op_shortest() */
    struct rs_op_rate rate;
    struct rs_op_waits waits;
};

/* Sets what identifies an operation and what its ranks need; sets everything. */
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

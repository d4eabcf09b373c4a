#include "fields/operation.h"

#include "join/durations.h"
#include "join/totals.h"

/* ---- rows ---- */

void rs_op_row_begin(struct rs_op_row *r, uint32_t op)
{
    r->key = rs_op_key(r->m, op);
    r->shortest = rs_op_shortest(r->m, op);
}

void rs_op_row_make(struct rs_op_row *r, uint32_t op)
{
    rs_op_row_begin(r, op);
    rs_facts_of_op(r->m, op, &r->facts);
    r->rate = rs_op_rate(r->m, op);
    r->transfer_ns = r->rate.transfer_ns;
    r->waits = rs_op_waits(r->m, op);
}

bool rs_op_rank_row_next(struct rs_op_rank_row *r, uint32_t *at)
{
    const struct rs_model *m = r->op->m;
    if (!rs_op_next_rank(m, r->op->op, at, &r->rank)) return false;
    r->member = &m->members[m->parts.member[r->rank.part]];
    return true;
}

/* ---- the operation ---- */

/* Of any of the structs of operation.h. */
static bool is_pair(const void *row)
{
    const struct rs_op_key *r = row;
    return r->m->ops.kind[r->op] == RS_OP_PAIR;
}

static uint32_t fanout_of(const void *row)
{
    const struct rs_op_key *r = row;
    return is_pair(r) ? r->m->ops.fanout[r->op] : RS_NONE;
}

/* The member that started last; RS_NONE: not known. */
static uint32_t last_of(const void *row)
{
    const struct rs_op_key *r = row;
    uint32_t last = r->m->ops.last_part[r->op];
    return last == RS_NONE ? RS_NONE : r->m->parts.member[last];
}

static bool next_tool(const void *row, uint32_t *at, struct rs_value *item)
{
    const struct rs_op_row *r = row;
    return rs_v_next_tool(r->facts.tools, at, item);
}

static bool next_absent(const struct rs_op_row *r, bool missing, uint32_t *at, struct rs_value *item)
{
    int32_t from = (int32_t)*at, rank = rs_op_next_absent(r->m, r->op, r->presence, missing, &from);
    *at = (uint32_t)from;
    *item = rs_v_int(rank);
    return rank >= 0;
}

static bool next_missing(const void *row, uint32_t *at, struct rs_value *item)
{
    return next_absent(row, true, at, item);
}

static bool next_not_recorded(const void *row, uint32_t *at, struct rs_value *item)
{
    return next_absent(row, false, at, item);
}

static void write_ranks(struct rs_json *j, const void *row)
{
    struct rs_op_rank_row rank = {.op = row};
    rs_json_array(j);
    for (uint32_t at = 0; rs_op_rank_row_next(&rank, &at);) rs_out_json(j, &rs_out_op_rank, &rank);
    rs_json_end(j);
}

#define OF(column) r->m->ops.column[r->op]
#define COMM r->m->comms[OF(comm)]
#define RS_ROWS_FILE "fields/operation.inc"
#define RS_ROW struct rs_op_row
#define RS_SLICE_ROW struct rs_op_slice
#define RS_OTF2_ROW struct rs_op_key
#define RS_GET(id) op_##id
#define RS_FIELDS const struct rs_out_field rs_op_fields[RS_OP_FIELDS]
#include "fields/table.inc"

/* Its sections: what it is, what frameworks say, of a pair, when it was, waits, doubts, absent ranks. */
const struct rs_out_table rs_out_operation = {"operation",  "ops --json",           rs_op_fields,
                                              RS_OP_FIELDS, .csv_order = "ifptdwa", .sql_order = "ipftdwa"};

/* ---- a rank in it ---- */

static int64_t clock_error_of(const struct rs_op_rank_row *r)
{
    uint32_t domain = rs_part_start_domain(r->op->m, r->rank.part);
    return domain == RS_NONE ? RS_TIME_NONE : r->op->m->domains[domain].error_ns;
}

static bool has_parts(const void *row)
{
    const struct rs_op_rank_row *r = row;
    return r->rank.parts > 1;
}

static bool is_mismatch(const void *row)
{
    const struct rs_op_rank_row *r = row;
    return r->op->m->parts.flags[r->rank.part] & RS_PART_MISMATCH;
}

#define M r->op->m
#define PART(column) M->parts.column[r->rank.part]
#define RS_ROWS_FILE "fields/op_rank.inc"
#define RS_ROW struct rs_op_rank_row
#define RS_GET(id) rank_##id
#define RS_FIELDS const struct rs_out_field rs_op_rank_fields[RS_OP_RANK_FIELDS]
#include "fields/table.inc"

const struct rs_out_table rs_out_op_rank = {
    "rank in an operation", "ops --json: ranks[]", rs_op_rank_fields, RS_OP_RANK_FIELDS, NULL, NULL};

#include "fields/communicator.h"

#include "join/op_facts.h"

enum { MOST_RANKS = 1 << 20 }; /* a number beyond that is damaged */

void rs_comm_fields_make(struct rs_comm_fields *r, const struct rs_model *m, uint32_t comm, const struct rs_life *life)
{
    *r = (struct rs_comm_fields){.m = m, .comm = comm, .life = *life};
    rs_facts_of_comm(m, comm, &r->facts);
}

void rs_member_fields_make(struct rs_member_fields *r, const struct rs_model *m, uint32_t comm, uint32_t member)
{
    const struct rs_member *x = &m->members[member];
    *r = (struct rs_member_fields){.m = m, .comm = comm, .member = member};
    r->life = (struct rs_life){x->created, x->destroyed, x->created_from, x->destroyed_from};
    r->uuid = rs_uuid_text(x->uuid, r->uuid_text);
}

static struct rs_value source_of(const struct rs_life *life, bool created)
{
    int64_t at = created ? life->created : life->destroyed;
    uint8_t from = created ? life->created_from : life->destroyed_from;
    return at == RS_TIME_NONE ? rs_v_null() : rs_v_text(rs_life_source_text(from, created));
}

/* ---- the communicator ---- */

#define ROW (&r->m->comms[r->comm])

static bool is_child(const struct rs_comm_fields *r)
{
    return ROW->parent.comm != RS_NONE;
}

/* Of merged communicators, the primary one. */
static uint32_t leading(const struct rs_model *m, uint32_t comm)
{
    return comm == RS_NONE || m->comms[comm].over == RS_NONE ? comm : m->comms[comm].over;
}

static bool next_tool(const void *row, uint32_t *at, struct rs_value *item)
{
    const struct rs_comm_fields *r = row;
    return rs_v_next_tool(r->facts.tools, at, item);
}

/* Ranks that are listed. */
static uint32_t ranks_of(const struct rs_comm_fields *r)
{
    return ROW->nranks < 0 || ROW->nranks > MOST_RANKS ? 0 : (uint32_t)ROW->nranks;
}

static bool knows_ranks(const struct rs_comm_fields *r)
{
    for (uint32_t i = 0; i < ranks_of(r); i++)
        if (rs_comm_job_rank(r->m, r->comm, (int32_t)i) >= 0) return true;
    return false;
}

static bool next_rank(const void *row, uint32_t *at, struct rs_value *item)
{
    const struct rs_comm_fields *r = row;
    if (*at >= ranks_of(r)) return false;
    *item = rs_v_known(rs_comm_job_rank(r->m, r->comm, (int32_t)(*at)++));
    return true;
}

/* Members are by rank. */
static void write_unrecorded(struct rs_json *j, const void *row)
{
    const struct rs_comm_fields *r = row;
    uint32_t i = ROW->first_member;
    rs_json_array(j);
    for (int32_t rank = 0; rank < (int32_t)ranks_of(r); rank++) {
        while (i != RS_NONE && r->m->members[i].rank < rank) i = r->m->members[i].next;
        if (i == RS_NONE || r->m->members[i].rank != rank) rs_json_i64(j, rank);
    }
    rs_json_end(j);
}

static void write_members(struct rs_json *j, const void *row)
{
    const struct rs_comm_fields *r = row;
    rs_json_array(j);
    for (uint32_t i = ROW->first_member; i != RS_NONE; i = r->m->members[i].next) {
        struct rs_member_fields member;
        rs_member_fields_make(&member, r->m, r->comm, i);
        rs_out_json(j, &rs_out_member, &member);
    }
    rs_json_end(j);
}

#define RS_ROWS_FILE "fields/communicator.inc"
#define RS_ROW struct rs_comm_fields
#define RS_GET(id) comm_##id
#define RS_FIELDS static const struct rs_out_field communicator[]
#include "fields/table.inc"

const struct rs_out_table rs_out_communicator = {
    "communicator", "comms --json", communicator, sizeof communicator / sizeof *communicator, NULL, NULL};

/* ---- the layout ---- */

static struct rs_value size_of(const struct rs_layout_fields *r, enum rs_dimension d)
{
    return r->layout->size[d] ? rs_v_uint(r->layout->size[d]) : rs_v_null();
}

#define RS_ROWS_FILE "fields/layout.inc"
#define RS_ROW struct rs_layout_fields
#define RS_GET(id) layout_##id
#define RS_FIELDS static const struct rs_out_field layout[]
#include "fields/table.inc"

const struct rs_out_table rs_out_layout = {
    "layout", "report --json: layout", layout, sizeof layout / sizeof *layout, NULL, NULL};

/* ---- one of its ranks ---- */

#define MEMBER (&r->m->members[r->member])
#define RS_ROWS_FILE "fields/member.inc"
#define RS_ROW struct rs_member_fields
#define RS_GET(id) member_##id
#define RS_FIELDS static const struct rs_out_field member[]
#include "fields/table.inc"

const struct rs_out_table rs_out_member = {
    "rank of a communicator", "comms --json: members[]", member, sizeof member / sizeof *member, NULL, NULL};

#include "cli/comms_json.h"

#include <stdio.h>

#include "cli/model_json.h"
#include "join/op_facts.h"
#include "join/overlay_facts.h"

enum { MOST_RANKS = 1 << 20 }; /* a number beyond that is damaged */

static void hash_json(struct rs_json *j, const char *key, uint64_t hash)
{
    if (hash)
        rs_json_key_hex(j, key, hash);
    else
        rs_json_key_null(j, key);
}

static void parent_json(struct rs_json *j, const struct rs_model *m, const struct rs_parent *p)
{
    rs_json_key(j, "parent");
    if (p->comm == RS_NONE) {
        rs_json_null(j);
        return;
    }
    rs_json_object(j);
    rs_json_key_hex(j, "comm", m->comms[p->comm].hash);
    rs_json_key_number_or_null(j, "count", p->count);
    rs_json_key_i64(j, "color", p->color);
    rs_json_key_bool(j, "color_from_ranks", p->from_ranks);
    rs_json_end(j);
}

static void life_json(struct rs_json *j, const struct rs_life *life)
{
    bool born = life->created != RS_TIME_NONE, gone = life->destroyed != RS_TIME_NONE;
    rs_time_json(j, "created_ns", life->created);
    rs_json_key_str(j, "created_source", born ? rs_life_source_text(life->created_from, true) : NULL);
    rs_time_json(j, "destroyed_ns", life->destroyed);
    rs_json_key_str(j, "destroyed_source", gone ? rs_life_source_text(life->destroyed_from, false) : NULL);
}

static void members_json(struct rs_json *j, const struct rs_model *m, const struct rs_comm_row *row)
{
    rs_json_key(j, "members");
    rs_json_array(j);
    for (uint32_t i = row->first_member; i != RS_NONE; i = m->members[i].next) {
        rs_json_object(j);
        rs_json_key_number_or_null(j, "rank", m->members[i].rank);
        rs_member_json(j, m, i);
        rs_uuid_json(j, m->members[i].uuid);
        const struct rs_member *x = &m->members[i];
        life_json(j, &(struct rs_life){x->created, x->destroyed, x->created_from, x->destroyed_from});
        rs_json_end(j);
    }
    rs_json_end(j);
}

/* Ranks of the job, by rank: recorded or not, where they are known; null where none is. */
static void ranks_json(struct rs_json *j, const struct rs_model *m, uint32_t comm)
{
    int32_t n = m->comms[comm].nranks, known = 0;
    if (n > MOST_RANKS) n = 0;
    for (int32_t r = 0; r < n && !known; r++) known = rs_comm_job_rank(m, comm, r) >= 0;
    rs_json_key(j, "ranks");
    if (!known) {
        rs_json_null(j);
        return;
    }
    rs_json_array(j);
    for (int32_t r = 0; r < n; r++) {
        int32_t rank = rs_comm_job_rank(m, comm, r);
        if (rank < 0)
            rs_json_null(j);
        else
            rs_json_i64(j, rank);
    }
    rs_json_end(j);
}

/* Ranks of the communicator without a recording. Members come by rank. */
static void missing_json(struct rs_json *j, const struct rs_model *m, const struct rs_comm_row *row)
{
    rs_json_key(j, "missing_ranks");
    rs_json_array(j);
    uint32_t i = row->first_member;
    for (int32_t r = 0; r < row->nranks && row->nranks <= MOST_RANKS; r++) {
        while (i != RS_NONE && m->members[i].rank < r) i = m->members[i].next;
        if (i == RS_NONE || m->members[i].rank != r) rs_json_i64(j, r);
    }
    rs_json_end(j);
}

void rs_comms_json(struct rs_json *j, const struct rs_model *m, uint32_t comm, const struct rs_life *life)
{
    const struct rs_comm_row *row = &m->comms[comm];
    rs_json_object(j);
    hash_json(j, "comm", row->hash);
    rs_json_key_str(j, "name", rs_comm_name(m, comm));
    rs_json_key_number_or_null(j, "nranks", row->nranks);
    rs_json_key_number_or_null(j, "nnodes", row->nnodes);
    parent_json(j, m, &row->parent);
    life_json(j, life);
    rs_json_key_str(j, "class", row->class < m->nclasses ? m->classes[row->class].text : NULL);
    rs_json_key_u64(j, "incarnation", row->incarnation);
    struct rs_facts f;
    rs_facts_of_comm(m, comm, &f);
    rs_group_json(j, &f);
    rs_tools_json(j, f.tools);
    rs_json_key_str(j, "comm_source", rs_comm_source(row));
    ranks_json(j, m, comm);
    rs_json_key_u64(j, "recorded", row->nmembers);
    missing_json(j, m, row);
    members_json(j, m, row);
    rs_json_end(j);
    rs_json_newline(j);
}

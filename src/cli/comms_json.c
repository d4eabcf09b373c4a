#include "cli/comms_json.h"

#include <stdio.h>

#include "cli/model_json.h"
#include "join/classes.h"

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
    rs_json_key_i64(j, "count", p->count);
    rs_json_key_i64(j, "color", p->color);
    rs_json_key_bool(j, "color_from_ranks", p->from_ranks);
    rs_json_end(j);
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
        rs_json_end(j);
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

void rs_comms_json(struct rs_json *j, const struct rs_model *m, uint32_t comm, int64_t created, int64_t destroyed)
{
    const struct rs_comm_row *row = &m->comms[comm];
    rs_json_object(j);
    hash_json(j, "comm", row->hash);
    rs_json_key_str(j, "name", row->name);
    rs_json_key_number_or_null(j, "nranks", row->nranks);
    rs_json_key_number_or_null(j, "nnodes", row->nnodes);
    parent_json(j, m, &row->parent);
    rs_time_json(j, "created_ns", created);
    rs_time_json(j, "destroyed_ns", destroyed);
    rs_json_key_str(j, "class", row->class < m->nclasses ? m->classes[row->class].text : NULL);
    rs_json_key_u64(j, "incarnation", row->incarnation);
    size_t length;
    const char *group;
    bool named = rs_group_name(row->name, &length, &group);
    rs_json_key_str(j, "pg_name", named ? group : NULL);
    rs_json_key(j, "pg_desc");
    if (named)
        rs_json_strn(j, row->name, length);
    else
        rs_json_null(j);
    rs_json_key_u64(j, "recorded", row->nmembers);
    missing_json(j, m, row);
    members_json(j, m, row);
    rs_json_end(j);
    rs_json_newline(j);
}

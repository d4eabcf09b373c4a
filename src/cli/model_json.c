#include "cli/model_json.h"

#include "join/overlay.h"

void rs_time_json(struct rs_json *j, const char *key, int64_t ns)
{
    if (ns == RS_TIME_NONE)
        rs_json_key_null(j, key);
    else
        rs_json_key_i64(j, key, ns);
}

void rs_quantiles_json(struct rs_json *j, const char *key, const struct rs_quantiles *q)
{
    rs_json_key(j, key);
    rs_json_object(j);
    rs_time_json(j, "p50", q->p50);
    rs_time_json(j, "p90", q->p90);
    rs_time_json(j, "p99", q->p99);
    rs_json_end(j);
}

void rs_uuid_json(struct rs_json *j, const uint8_t *uuid)
{
    static const char hex[] = "0123456789abcdef";
    char text[37] = "";
    bool known = false;
    for (int b = 0, at = 0; uuid && b < 16; b++) {
        known |= uuid[b] != 0;
        if (b == 4 || b == 6 || b == 8 || b == 10) text[at++] = '-';
        text[at++] = hex[uuid[b] >> 4];
        text[at++] = hex[uuid[b] & 15];
    }
    rs_json_key_str(j, "uuid", known ? text : NULL);
}

void rs_pid_json(struct rs_json *j, uint32_t pid)
{
    if (pid)
        rs_json_key_u64(j, "pid", pid);
    else
        rs_json_key_null(j, "pid");
}

void rs_member_json(struct rs_json *j, const struct rs_model *m, uint32_t member)
{
    const struct rs_member *x = &m->members[member];
    rs_json_key_number_or_null(j, "global_rank", x->global_rank);
    rs_json_key_str(j, "host", rs_host_name(m, m->procs[x->proc].host));
    rs_pid_json(j, m->procs[x->proc].pid);
    rs_json_key_number_or_null(j, "device", x->device);
}

void rs_rank_json(struct rs_json *j, const struct rs_model *m, uint32_t rank_id)
{
    const struct rs_rank *r = &m->ranks[rank_id];
    rs_json_key_number_or_null(j, "global_rank", r->number);
    rs_json_key_str(j, "host", rs_host_name(m, r->host));
    rs_pid_json(j, m->procs[r->proc].pid);
    rs_json_key_number_or_null(j, "device", r->device);
}

void rs_group_json(struct rs_json *j, const struct rs_facts *f)
{
    rs_json_key_str(j, "pg_name", f->group);
    rs_json_key(j, "pg_desc");
    if (f->desc)
        rs_json_strn(j, f->desc, f->desc_len);
    else
        rs_json_null(j);
}

void rs_tools_json(struct rs_json *j, uint32_t tools)
{
    rs_json_key(j, "seen_by");
    rs_json_array(j);
    for (uint8_t t = 0; t < RS_TOOLS; t++)
        if (tools >> t & 1) rs_json_str(j, rs_tool_name(t));
    rs_json_end(j);
}

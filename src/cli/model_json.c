#include "cli/model_json.h"

void rs_time_json(struct rs_json *j, const char *key, int64_t ns)
{
    if (ns == RS_TIME_NONE)
        rs_json_key_null(j, key);
    else
        rs_json_key_i64(j, key, ns);
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

#include "cli/ops_json.h"

#include "cli/model_json.h"
#include "join/durations.h"
#include "join/op_facts.h"
#include "join/totals.h"

static void text(struct rs_json *j, const struct rs_model *m, const char *key, uint16_t id)
{
    rs_json_key_str(j, key, id ? rs_model_text(m, id) : NULL);
}

/* `shortest`: what the quickest rank took, where waits are told by durations alone. */
static void rank_json(struct rs_json *j, const struct rs_model *m, const struct rs_op_rank *r, int64_t shortest)
{
    const struct rs_parts *p = &m->parts;
    uint32_t i = r->part, domain = rs_part_start_domain(m, i);
    rs_json_object(j);
    rs_json_key_number_or_null(j, "rank", m->members[p->member[i]].rank);
    rs_member_json(j, m, p->member[i]);
    rs_json_key(j, "launch");
    if (p->launch[i])
        rs_json_hex(j, p->launch[i]);
    else
        rs_json_null(j);
    rs_time_json(j, "enqueued_ns", p->enqueued[i]);
    rs_time_json(j, "launched_ns", p->launched[i]);
    rs_time_json(j, "start_ns", r->start);
    rs_json_key_str(j, "start_source", rs_time_source_name(p->start_source[i]));
    rs_time_json(j, "end_ns", r->end);
    rs_json_key_str(j, "end_source", rs_time_source_name(r->end_source));
    rs_time_json(j, "end_after_ns", r->after);
    rs_time_json(j, "end_before_ns", r->before);
    rs_time_json(j, "duration_ns", rs_op_rank_duration(m, r));
    rs_time_json(j, "wait_ns", rs_op_rank_wait(m, r, shortest));
    rs_time_json(j, "clock_error_ns", domain == RS_NONE ? RS_TIME_NONE : m->domains[domain].error_ns);
    rs_json_key_u64(j, "channels", p->channels_seen[i]);
    if (r->parts > 1) rs_json_key_u64(j, "parts", r->parts);
    if (p->flags[i] & RS_PART_HELPED) rs_json_key_u64(j, "helper_pid", m->procs[p->helper[i]].pid);
    if (p->flags[i] & RS_PART_END_EARLY && p->end_source[i] == RS_FROM_KERNEL) rs_json_key_bool(j, "end_early", true);
    if (p->flags[i] & RS_PART_STALE) rs_json_key_bool(j, "stale_timer", true);
    const char *lender = rs_part_lender(m, i);
    if (lender) rs_json_key_str(j, "times_from", lender);
    if (r->open) rs_json_key_bool(j, "open", true);
    if (p->flags[i] & RS_PART_MISMATCH) {
        rs_json_key_bool(j, "mismatch", true);
        rs_json_key_u64(j, "count", p->count[i]);
        text(j, m, "dtype", p->dtype[i]);
    }
    rs_json_end(j);
}

/* Ranks that should be in it and are not, of one kind. */
static void absent(struct rs_json *j, const char *key, const struct rs_model *m, uint32_t op,
                   const struct rs_presence_index *presence, bool missing)
{
    rs_json_key(j, key);
    rs_json_array(j);
    int32_t rank;
    for (int32_t at = 0; (rank = rs_op_next_absent(m, op, presence, missing, &at)) >= 0;) rs_json_i64(j, rank);
    rs_json_end(j);
}

static void rate_json(struct rs_json *j, const char *key, double rate)
{
    rs_json_key(j, key);
    if (rate >= 0)
        rs_json_double(j, rate);
    else
        rs_json_null(j);
}

static void bandwidth(struct rs_json *j, const struct rs_model *m, uint32_t op)
{
    struct rs_op_rate rate = rs_op_rate(m, op);
    rs_time_json(j, "transfer_ns", rate.transfer_ns);
    rate_json(j, "algbw_gbs", rate.algbw);
    rate_json(j, "busbw_gbs", rate.busbw);
}

/* What frameworks and other tools say of it. */
static void facts(struct rs_json *j, const struct rs_model *m, uint32_t op, const struct rs_steps *steps)
{
    struct rs_facts f;
    rs_facts_of_op(m, op, &f);
    rs_group_json(j, &f);
    rs_json_key(j, "comms_id");
    if (f.has_comms_id)
        rs_json_hex(j, f.comms_id);
    else
        rs_json_null(j);
    rs_json_key_number_or_null(j, "pg_seq", f.pg_seq);
    rs_json_key_number_or_null(j, "step", f.step == RS_NONE ? -1 : (int64_t)f.step);
    uint32_t found = rs_steps_of_op(steps, m, op);
    rs_json_key_number_or_null(j, "found_step", found == RS_NONE ? -1 : (int64_t)found);
    rs_json_key_str(j, "scope", f.scope ? rs_model_name_text(m, f.scope) : NULL);
    rs_tools_json(j, f.tools);
    rs_json_key_str(j, "comm_source", rs_comm_source(&m->comms[m->ops.comm[op]]));
}

void rs_ops_json(struct rs_json *j, const struct rs_model *m, uint32_t op, const struct rs_presence_index *presence,
                 const struct rs_steps *steps)
{
    const struct rs_ops *o = &m->ops;
    uint32_t first = m->order[o->part[op]];
    bool pair = o->kind[op] == RS_OP_PAIR;
    rs_json_object(j);
    rs_json_key_hex(j, "op", o->id[op]);
    rs_json_key(j, "comm");
    if (m->comms[o->comm[op]].hash)
        rs_json_hex(j, m->comms[o->comm[op]].hash);
    else
        rs_json_null(j);
    text(j, m, "func", o->func[op]);
    rs_json_key_str(j, "kind", rs_op_kind_name(o->kind[op]));
    rs_json_key(j, "seq");
    if (o->seq[op] == UINT64_MAX)
        rs_json_null(j);
    else
        rs_json_u64(j, o->seq[op]);
    rs_json_key(j, "replay");
    if (o->captured[op])
        rs_json_u64(j, o->replay[op]);
    else
        rs_json_null(j);
    rs_json_key_number_or_null(j, "root", pair ? -1 : o->root[op]);
    rs_json_key_u64(j, "count", o->count[op]);
    if (rs_size_known(m, op))
        rs_json_key_u64(j, "bytes", o->bytes[op]);
    else
        rs_json_key_null(j, "bytes");
    text(j, m, "dtype", o->dtype[op]);
    text(j, m, "algo", m->parts.algo[first]);
    text(j, m, "proto", m->parts.proto[first]);
    rs_json_key_number_or_null(j, "nranks", m->comms[o->comm[op]].nranks);
    facts(j, m, op, steps);
    if (pair) {
        rs_json_key_number_or_null(j, "src", o->root[op]);
        rs_json_key_number_or_null(j, "dst", o->dst[op]);
        rs_json_key_u64(j, "index", o->index[op]);
        rs_json_key(j, "fanout");
        if (o->fanout[op] == RS_NONE)
            rs_json_null(j);
        else
            rs_json_hex(j, o->id[o->fanout[op]]);
    }
    rs_json_key_double(j, "confidence", o->confidence[op] / 100.0);
    rs_time_json(j, "start_ns", o->first[op]);
    rs_time_json(j, "end_ns", o->end[op]);
    bandwidth(j, m, op);
    int64_t shortest = rs_op_shortest(m, op);
    rs_json_key_str(j, "wait_source", rs_op_wait_source(m, op, shortest));
    rs_json_key_number_or_null(j, "last_rank",
                               o->last_part[op] == RS_NONE ? -1 : m->members[m->parts.member[o->last_part[op]]].rank);
    rs_json_key_bool(j, "tie", o->flags[op] & RS_OP_TIE);
    rs_json_key_bool(j, "compared", rs_op_is_compared(m, op));
    struct rs_op_waits waits = rs_op_waits(m, op);
    rs_time_json(j, "longest_wait_ns", waits.longest_ns);
    rs_time_json(j, "mean_wait_ns", waits.mean_ns);
    rs_json_key_bool(j, "complete", o->flags[op] & RS_OP_COMPLETE);
    rs_time_json(j, "error_ns", rs_op_error(m, op));
    rs_json_key_bool(j, "mismatch", o->flags[op] & RS_OP_MISMATCH);
    rs_json_key_bool(j, "violation", o->flags[op] & RS_OP_VIOLATION);
    rs_json_key_bool(j, "unreported", rs_op_unreported(m, op));
    rs_json_key_bool(j, "double", o->flags[op] & RS_OP_DOUBLE);
    rs_json_key_str(j, "unknown", rs_op_unknown(m, op));
    absent(j, "missing", m, op, presence, true);
    absent(j, "not_recorded", m, op, presence, false);
    rs_json_key(j, "ranks");
    rs_json_array(j);
    struct rs_op_rank rank;
    for (uint32_t at = 0; rs_op_next_rank(m, op, &at, &rank);) rank_json(j, m, &rank, shortest);
    rs_json_end(j);
    rs_json_end(j);
    rs_json_newline(j);
}

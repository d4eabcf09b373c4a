#include "cli/ops_json.h"

#include "cli/model_json.h"
#include "join/durations.h"
#include "join/overlay.h"
#include "join/waits.h"

bool rs_op_next_rank(const struct rs_model *m, uint32_t op, uint32_t *at, struct rs_op_rank *r)
{
    if (*at >= m->ops.nparts[op]) return false;
    const uint32_t *order = m->order + m->ops.part[op];
    uint32_t part = order[(*at)++];
    *r = (struct rs_op_rank){part, 1, m->parts.start[part], m->parts.end[part]};
    if (m->ops.kind[op] != RS_OP_FANOUT) return true;
    for (; *at < m->ops.nparts[op] && m->parts.member[order[*at]] == m->parts.member[part]; ++*at, r->parts++) {
        uint32_t other = order[*at];
        if (m->parts.flags[other] & RS_PART_SELF) continue; /* has no times, and needs none */
        if (m->parts.start[other] != RS_TIME_NONE && (r->start == RS_TIME_NONE || m->parts.start[other] < r->start))
            r->start = m->parts.start[r->part = other];
        if (m->parts.end[other] > r->end) r->end = m->parts.end[other];
    }
    return true;
}

static const char *kind_name(uint8_t kind)
{
    static const char *const names[] = {[RS_OP_COLL] = "coll",
                                        [RS_OP_PAIR] = "pair",
                                        [RS_OP_FANOUT] = "fanout",
                                        [RS_OP_CE] = "ce",
                                        [RS_OP_API] = "api"};
    return names[kind];
}

static const char *source_name(uint8_t source)
{
    static const char *const names[] = {[RS_FROM_NOTHING] = NULL,
                                        [RS_FROM_KERNEL] = "kernel",
                                        [RS_FROM_CALLBACK] = "callback",
                                        [RS_FROM_PROXY] = "proxy"};
    return names[source];
}

static void text(struct rs_json *j, const struct rs_model *m, const char *key, uint16_t id)
{
    rs_json_key_str(j, key, id ? rs_model_text(m, id) : NULL);
}

/* The tool that the times of a rank came from, where that is not the one that leads. */
static void lender(struct rs_json *j, const struct rs_model *m, uint32_t part)
{
    if (!(m->parts.flags[part] & RS_PART_LENT)) return;
    uint32_t clock = rs_part_start_domain(m, part), op = m->parts.op[part];
    if (m->ops.view[op] == RS_NONE && m->ops.fanout[op] != RS_NONE) op = m->ops.fanout[op];
    uint32_t view = m->ops.view[op];
    for (; view != RS_NONE; view = m->ops.view[view])
        for (uint32_t i = 0; i < m->ops.nparts[view]; i++)
            if (m->members[m->parts.member[m->order[m->ops.part[view] + i]]].gpu == clock) {
                rs_json_key_str(j, "times_from", rs_tool_name(m->comms[m->ops.comm[view]].tool));
                return;
            }
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
    rs_json_key_str(j, "start_source", source_name(p->start_source[i]));
    rs_time_json(j, "end_ns", r->end);
    rs_json_key_str(j, "end_source", r->end == RS_TIME_NONE ? NULL : source_name(p->end_source[i]));
    rs_time_json(j, "end_after_ns", r->end == RS_TIME_NONE ? p->after[i] : RS_TIME_NONE);
    rs_time_json(j, "end_before_ns", r->end == RS_TIME_NONE ? p->before[i] : RS_TIME_NONE);
    int64_t duration = rs_part_duration(m, i);
    if (duration == RS_TIME_NONE && r->start != RS_TIME_NONE && r->end >= r->start)
        duration = rs_time_minus(r->end, r->start);
    rs_time_json(j, "duration_ns", duration);
    rs_time_json(j, "wait_ns", shortest == RS_TIME_NONE ? rs_part_wait(m, i) : rs_time_minus(duration, shortest));
    rs_time_json(j, "clock_error_ns", domain == RS_NONE ? RS_TIME_NONE : m->domains[domain].error_ns);
    rs_json_key_u64(j, "channels", p->channels_seen[i]);
    if (r->parts > 1) rs_json_key_u64(j, "parts", r->parts);
    if (p->flags[i] & RS_PART_HELPED) rs_json_key_u64(j, "helper_pid", m->procs[p->helper[i]].pid);
    if (p->flags[i] & RS_PART_END_EARLY && p->end_source[i] == RS_FROM_KERNEL) rs_json_key_bool(j, "end_early", true);
    if (p->flags[i] & RS_PART_STALE) rs_json_key_bool(j, "stale_timer", true);
    lender(j, m, i);
    if (p->flags[i] & RS_PART_OPEN) rs_json_key_bool(j, "open", true);
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
    const struct rs_ops *o = &m->ops;
    int32_t nranks = m->comms[o->comm[op]].nranks;
    rs_json_key(j, key);
    rs_json_array(j);
    int32_t ends[2] = {o->root[op], o->dst[op]};
    enum { MOST = 1 << 17 }; /* no job is larger: a trace that claims 10^9 ranks is damaged, and its line ends, too */
    int32_t n = o->kind[op] == RS_OP_PAIR ? 2 : o->kind[op] == RS_OP_FANOUT ? 0 : nranks < MOST ? nranks : MOST;
    for (int32_t i = 0; i < n && !(o->flags[op] & RS_OP_WHOLE); i++) {
        int32_t rank = o->kind[op] == RS_OP_PAIR ? ends[i] : i;
        enum rs_presence is = rank < 0 ? RS_PRESENT : rs_presence(presence, m, op, rank);
        if (missing ? is == RS_MISSING : is == RS_NOT_RECORDED || is == RS_NO_RECORDING) rs_json_i64(j, rank);
    }
    rs_json_end(j);
}

static void bandwidth(struct rs_json *j, const struct rs_model *m, uint32_t op)
{
    int64_t transfer = rs_op_transfer(m, op);
    if (transfer == RS_TIME_NONE) transfer = rs_op_shortest(m, op);
    rs_time_json(j, "transfer_ns", transfer);
    double algbw =
        transfer > 0 && rs_size_known(m, op) ? (double)m->ops.bytes[op] / (double)transfer : -1; /* bytes a ns = GB/s */
    double factor = rs_op_busbw_factor(rs_model_text(m, m->ops.func[op]), m->comms[m->ops.comm[op]].nranks);
    rs_json_key(j, "algbw_gbs");
    if (algbw >= 0)
        rs_json_double(j, algbw);
    else
        rs_json_null(j);
    rs_json_key(j, "busbw_gbs");
    if (algbw >= 0 && factor > 0)
        rs_json_double(j, algbw * factor);
    else
        rs_json_null(j);
}

/* What waits and transfer are told by; NULL: neither is known. */
static const char *wait_source(const struct rs_model *m, uint32_t op, int64_t shortest)
{
    if (shortest != RS_TIME_NONE) return "durations";
    return m->ops.flags[op] & RS_OP_CLOCKED ? "clocks" : NULL;
}

/* What frameworks and other tools say of it. */
static void facts(struct rs_json *j, const struct rs_model *m, uint32_t op)
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
    rs_json_key_str(j, "scope", f.scope ? rs_model_name_text(m, f.scope) : NULL);
    rs_tools_json(j, f.tools);
    rs_json_key_str(j, "comm_source", rs_comm_source(&m->comms[m->ops.comm[op]]));
}

/* What NCCL does not tell of such an operation; NULL: nothing is lacking by its kind. */
static const char *unknown(const struct rs_model *m, uint32_t op)
{
    if (m->parts.flags[m->order[m->ops.part[op]]] & RS_PART_LENT) return NULL; /* another tool told it */
    if (m->ops.kind[op] == RS_OP_API) return "NCCL reports the call and nothing more";
    if (m->ops.kind[op] == RS_OP_CE) return "copy engine: NCCL reports when it was enqueued, not when it ran";
    bool self = m->ops.kind[op] == RS_OP_PAIR && m->ops.root[op] == m->ops.dst[op];
    return self ? "sent to itself: NCCL reports no times" : NULL;
}

void rs_ops_json(struct rs_json *j, const struct rs_model *m, uint32_t op, const struct rs_presence_index *presence)
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
    rs_json_key_str(j, "kind", kind_name(o->kind[op]));
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
    facts(j, m, op);
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
    rs_json_key_str(j, "wait_source", wait_source(m, op, shortest));
    rs_json_key_number_or_null(j, "last_rank",
                               o->last_part[op] == RS_NONE ? -1 : m->members[m->parts.member[o->last_part[op]]].rank);
    rs_json_key_bool(j, "tie", o->flags[op] & RS_OP_TIE);
    rs_json_key_bool(j, "complete", o->flags[op] & RS_OP_COMPLETE);
    rs_time_json(j, "error_ns", o->flags[op] & RS_OP_CLOCKED ? o->error[op] : RS_TIME_NONE);
    rs_json_key_bool(j, "mismatch", o->flags[op] & RS_OP_MISMATCH);
    rs_json_key_bool(j, "violation", o->flags[op] & RS_OP_VIOLATION);
    rs_json_key_bool(j, "unreported", m->parts.flags[first] & RS_PART_UNREPORTED);
    rs_json_key_bool(j, "double", o->flags[op] & RS_OP_DOUBLE);
    rs_json_key_str(j, "unknown", unknown(m, op));
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

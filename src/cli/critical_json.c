#include "cli/critical_json.h"

#include "cli/model_json.h"

static void who(struct rs_json *j, const struct rs_view *v, uint32_t rank_id)
{
    const struct rs_rank *s = &v->model->ranks[rank_id];
    rs_json_key_number_or_null(j, "rank", s->number);
    rs_json_key_str(j, "host", rs_host_name(v->model, s->host));
    rs_pid_json(j, v->model->procs[s->proc].pid);
    rs_json_key_number_or_null(j, "device", s->device);
}

static void rows(struct rs_json *j, const struct rs_critical *c, const struct rs_view *v, double window)
{
    rs_json_key(j, "by");
    rs_json_array(j);
    for (uint32_t i = 0; i < c->nrows; i++) {
        const struct rs_critical_row *r = &c->rows[i];
        rs_json_object(j);
        who(j, v, r->rank_id);
        rs_json_key_str(j, "kind", rs_critical_kind_name(r->kind));
        rs_json_key_str(j, "name", c->names[r->name]);
        rs_json_key_i64(j, "ns", r->ns);
        rs_json_key_double(j, "pct", 100 * (double)r->ns / window);
        rs_json_key_i64(j, "tie_ns", r->tie_ns);
        rs_json_key_i64(j, "alone_ns", r->alone_ns);
        rs_json_key_u64(j, "segments", r->segments);
        rs_json_end(j);
    }
    rs_json_end(j);
}

static void segments(struct rs_json *j, const struct rs_critical *c, const struct rs_view *v)
{
    const struct rs_model *m = v->model;
    rs_json_key(j, "segments");
    rs_json_array(j);
    for (uint32_t i = 0; i < c->nsegments && !rs_json_failed(j); i++) {
        const struct rs_critical_segment *s = &c->segments[i];
        rs_json_object(j);
        who(j, v, s->rank_id);
        rs_json_key_str(j, "kind", rs_critical_kind_name(s->kind));
        rs_json_key_str(j, "name", c->names[s->name]);
        rs_json_key_i64(j, "from_ns", s->from);
        rs_json_key_i64(j, "to_ns", s->to);
        rs_json_key_i64(j, "ns", rs_time_minus(s->to, s->from));
        if (s->op != RS_NONE)
            rs_json_key_hex(j, "op", m->ops.id[s->op]);
        else
            rs_json_key_null(j, "op");
        rs_json_key_bool(j, "tie", s->tie);
        rs_json_end(j);
    }
    rs_json_end(j);
}

void rs_critical_json(struct rs_json *j, const struct rs_critical *c, const struct rs_view *v)
{
    bool any = c->from != RS_TIME_NONE;
    int64_t window = any ? rs_time_minus(c->to, c->from) : 0;
    rs_json_object(j);
    rs_time_json(j, "t0_ns", rs_model_begin(v->model));
    rs_time_json(j, "from_ns", c->from);
    rs_time_json(j, "to_ns", c->to);
    rs_json_key_i64(j, "window_ns", window);
    rs_time_json(j, "error_ns", any ? c->error_ns : RS_TIME_NONE);
    rs_json_key_u64(j, "ranks", c->ranks);
    rs_json_key_u64(j, "ranks_left_out", c->left_out);
    rs_json_key_u64(j, "jumps", c->jumps);
    rs_json_key_u64(j, "ties", c->ties);
    rs_json_key_bool(j, "activities", c->has_activities);
    rows(j, c, v, window > 0 ? (double)window : 1);
    segments(j, c, v);
    rs_json_key(j, "conclusion");
    rs_json_array(j);
    for (uint32_t i = 0; i < c->nconclusion; i++) rs_json_str(j, c->conclusion[i]);
    rs_json_end(j);
    rs_json_end(j);
    rs_json_newline(j);
}

/* Operations, what each rank did in them, and who was late: as `ops --json` and `report --json` tell them. */
#include "export/sqlite/fill.h"

#ifndef RS_NO_SQLITE

#include "analyse/report.h"
#include "join/durations.h"
#include "join/op_facts.h"
#include "join/overlay_facts.h"
#include "join/totals.h"

struct work {
    struct rs_sql_fill *f;
    struct rs_presence_index presence;
    struct rs_sql_insert *ops, *ranks;
};

static void string(struct rs_sql_insert *in, const struct rs_model *m, uint16_t id)
{
    rs_sql_text(in, id ? rs_model_text(m, id) : NULL);
}

static void rate(struct rs_sql_insert *in, double gbs)
{
    if (gbs >= 0)
        rs_sql_double(in, gbs);
    else
        rs_sql_null(in);
}

/* ---- operations ---- */

/* What it is. */
static void identity(struct work *w, uint32_t op)
{
    const struct rs_model *m = w->f->t->model;
    const struct rs_ops *o = &m->ops;
    struct rs_sql_insert *in = w->ops;
    uint32_t first = m->order[o->part[op]];
    bool pair = o->kind[op] == RS_OP_PAIR;
    rs_sql_i64(in, w->f->t->op_number[op]);
    rs_sql_hex(in, o->id[op]);
    rs_sql_i64(in, o->comm[op]);
    string(in, m, o->func[op]);
    rs_sql_text(in, rs_op_kind_name(o->kind[op]));
    rs_sql_known(in, o->seq[op] == UINT64_MAX ? -1 : (int64_t)o->seq[op]);
    rs_sql_known(in, o->captured[op] ? (int64_t)o->replay[op] : -1);
    rs_sql_known(in, pair ? -1 : o->root[op]);
    rs_sql_known(in, (int64_t)o->count[op]);
    rs_sql_known(in, rs_size_known(m, op) ? (int64_t)o->bytes[op] : -1);
    string(in, m, o->dtype[op]);
    string(in, m, m->parts.algo[first]);
    string(in, m, m->parts.proto[first]);
    rs_sql_known(in, m->comms[o->comm[op]].nranks);
    rs_sql_known(in, pair ? o->root[op] : -1);
    rs_sql_known(in, pair ? o->dst[op] : -1);
    rs_sql_known(in, pair ? (int64_t)o->index[op] : -1);
    rs_sql_id(in, pair && o->fanout[op] != RS_NONE ? w->f->t->op_number[o->fanout[op]] : RS_NONE);
}

/* What frameworks and other tools say of it. */
static void framework(struct work *w, uint32_t op)
{
    const struct rs_model *m = w->f->t->model;
    struct rs_sql_insert *in = w->ops;
    struct rs_facts facts;
    rs_facts_of_op(m, op, &facts);
    if (facts.has_comms_id)
        rs_sql_hex(in, facts.comms_id);
    else
        rs_sql_null(in);
    rs_sql_known(in, facts.pg_seq);
    rs_sql_id(in, facts.step);
    rs_sql_text(in, facts.scope ? rs_model_name_text(m, facts.scope) : NULL);
    rs_sql_tools(w->f, in, facts.tools);
}

static void absent(struct work *w, uint32_t op, bool missing)
{
    struct rs_json *j = w->f->json;
    if (w->f->t->model->ops.flags[op] & RS_OP_WHOLE) {
        rs_sql_literal(w->ops, "[]");
        return;
    }
    int32_t rank, at = 0;
    rs_sql_json_begin(w->f);
    rs_json_array(j);
    while ((rank = rs_op_next_absent(w->f->t->model, op, &w->presence, missing, &at)) >= 0) rs_json_i64(j, rank);
    rs_json_end(j);
    rs_sql_json_bind(w->f, w->ops);
}

/* When it was, and what of it is in doubt. */
static void times(struct work *w, uint32_t op, int64_t shortest)
{
    const struct rs_model *m = w->f->t->model;
    const struct rs_ops *o = &m->ops;
    struct rs_sql_insert *in = w->ops;
    uint8_t flags = o->flags[op];
    struct rs_op_rate r = rs_op_rate(m, op);
    uint32_t last = o->last_part[op] == RS_NONE ? RS_NONE : m->parts.member[o->last_part[op]];
    rs_sql_double(in, o->confidence[op] / 100.0);
    rs_sql_time(in, o->first[op]);
    rs_sql_time(in, o->last[op]);
    rs_sql_time(in, o->end[op]);
    rs_sql_time(in, r.transfer_ns);
    rate(in, r.algbw);
    rate(in, r.busbw);
    rs_sql_text(in, rs_op_wait_source(m, op, shortest));
    rs_sql_known(in, last == RS_NONE ? -1 : m->members[last].rank);
    rs_sql_id(in, last == RS_NONE ? RS_NONE : w->f->view.model->members[last].rank_id);
    rs_sql_i64(in, (flags & RS_OP_TIE) != 0);
    rs_sql_i64(in, (flags & RS_OP_COMPLETE) != 0);
    rs_sql_time(in, rs_op_error(m, op));
    rs_sql_i64(in, (flags & RS_OP_MISMATCH) != 0);
    rs_sql_i64(in, (flags & RS_OP_VIOLATION) != 0);
    rs_sql_i64(in, rs_op_unreported(m, op));
    rs_sql_i64(in, (flags & RS_OP_DOUBLE) != 0);
    rs_sql_text(in, rs_op_unknown(m, op));
    struct rs_op_waits waits = rs_op_waits(m, op);
    rs_sql_i64(in, rs_op_is_compared(m, op));
    rs_sql_time(in, waits.longest_ns);
    rs_sql_time(in, waits.mean_ns);
}

/* ---- ranks ---- */

static void rank_times(struct work *w, const struct rs_op_rank *r, int64_t shortest)
{
    const struct rs_model *m = w->f->t->model;
    const struct rs_parts *p = &m->parts;
    struct rs_sql_insert *in = w->ranks;
    uint32_t i = r->part, domain = rs_part_start_domain(m, i);
    rs_sql_time(in, p->enqueued[i]);
    rs_sql_time(in, p->launched[i]);
    rs_sql_time(in, r->start);
    rs_sql_text(in, rs_time_source_name(p->start_source[i]));
    rs_sql_time(in, r->end);
    rs_sql_text(in, rs_time_source_name(r->end_source));
    rs_sql_time(in, r->after);
    rs_sql_time(in, r->before);
    rs_sql_time(in, rs_op_rank_duration(m, r));
    rs_sql_time(in, rs_op_rank_wait(m, r, shortest));
    rs_sql_time(in, domain == RS_NONE ? RS_TIME_NONE : m->domains[domain].error_ns);
}

static enum rs_status rank_row(struct work *w, uint32_t op, const struct rs_op_rank *r, int64_t shortest,
                               struct rs_err *err)
{
    const struct rs_model *m = w->f->t->model;
    const struct rs_parts *p = &m->parts;
    struct rs_sql_insert *in = w->ranks;
    uint32_t i = r->part, member = p->member[i], flags = p->flags[i];
    rs_sql_i64(in, w->f->t->op_number[op]);
    rs_sql_known(in, m->members[member].rank);
    rs_sql_id(in, w->f->view.model->members[member].rank_id);
    rs_sql_known(in, m->members[member].global_rank);
    rs_sql_i64(in, member);
    rs_sql_i64(in, m->members[member].proc);
    if (p->launch[i])
        rs_sql_hex(in, p->launch[i]);
    else
        rs_sql_null(in);
    rank_times(w, r, shortest);
    rs_sql_i64(in, p->channels_seen[i]);
    rs_sql_i64(in, r->parts);
    rs_sql_known(in, flags & RS_PART_HELPED ? (int64_t)m->procs[p->helper[i]].pid : -1);
    rs_sql_i64(in, (flags & RS_PART_END_EARLY) && p->end_source[i] == RS_FROM_KERNEL);
    rs_sql_i64(in, (flags & RS_PART_STALE) != 0);
    rs_sql_text(in, rs_part_lender(m, i));
    rs_sql_i64(in, r->open);
    rs_sql_i64(in, (flags & RS_PART_MISMATCH) != 0);
    rs_sql_known(in, (int64_t)p->count[i]);
    string(in, m, p->dtype[i]);
    return rs_sql_row(w->f->db, RS_SQL_OPERATION_RANKS, err);
}

static enum rs_status fill(struct work *w, struct rs_err *err)
{
    const struct rs_timeline *t = w->f->t;
    for (uint32_t k = 0; k < t->nops; k++) {
        uint32_t op = t->ops[k];
        int64_t shortest = rs_op_shortest(t->model, op);
        if (rs_sql_wants(w->f, RS_SQL_OPERATIONS)) {
            identity(w, op);
            framework(w, op);
            times(w, op, shortest);
            absent(w, op, true);
            absent(w, op, false);
            RS_TRY(rs_sql_row(w->f->db, RS_SQL_OPERATIONS, err));
        }
        if (!rs_sql_wants(w->f, RS_SQL_OPERATION_RANKS)) continue;
        struct rs_op_rank rank;
        for (uint32_t at = 0; rs_op_next_rank(t->model, op, &at, &rank);) RS_TRY(rank_row(w, op, &rank, shortest, err));
    }
    return RS_OK;
}

enum rs_status rs_sql_fill_operations(struct rs_sql_fill *f, struct rs_err *err)
{
    struct work w = {.f = f};
    w.ops = rs_sql_into(f->db, RS_SQL_OPERATIONS, err);
    w.ranks = w.ops ? rs_sql_into(f->db, RS_SQL_OPERATION_RANKS, err) : NULL;
    if (!w.ranks) return err->code;
    RS_TRY(rs_presence_make(&w.presence, f->t->model, err));
    enum rs_status status = fill(&w, err);
    rs_presence_free(&w.presence);
    return status;
}

/* ---- who was late ---- */

static enum rs_status straggler_row(struct rs_sql_fill *f, struct rs_sql_insert *in, const struct rs_report *r,
                                    const struct rs_straggler *x, struct rs_err *err)
{
    rs_sql_text(in, x->rank_id != RS_NONE ? "rank" : "host");
    rs_sql_id(in, x->rank_id); /* ranks of all views of a model are the same */
    rs_sql_text(in, x->host != RS_NONE ? rs_host_name(f->t->model, x->host) : NULL);
    rs_sql_i64(in, (int64_t)x->times_last);
    rs_sql_i64(in, (int64_t)x->compared);
    rs_sql_double(in, x->share);
    rs_sql_i64(in, x->cost_ns);
    rs_sql_time(in, x->once_ns);
    rs_sql_i64(in, x->inherited_ns);
    rs_sql_i64(in, x->repeated_ns);
    rs_sql_i64(in, x->unclear_ns);
    rs_sql_i64(in, x->passed_on_ns);
    rs_sql_i64(in, x->gpu_time_lost_ns);
    rs_sql_text(in, rs_why_text(x->why));
    for (int k = 0; k < RS_WHYS; k++) rs_sql_i64(in, x->why_ns[k]);
    rs_sql_i64(in, rs_report_matters(r, x));
    return rs_sql_row(f->db, RS_SQL_STRAGGLERS, err);
}

enum rs_status rs_sql_fill_stragglers(struct rs_sql_fill *f, struct rs_err *err)
{
    struct rs_sql_insert *in = rs_sql_into(f->db, RS_SQL_STRAGGLERS, err);
    if (!in) return err->code;
    struct rs_report report;
    RS_TRY(rs_report_make(&report, f->t->model, &(struct rs_report_options){.filter = &f->filter}, err));
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < report.stragglers.nrows && status == RS_OK; i++) {
        const struct rs_straggler *x = &report.stragglers.rows[i];
        if (x->cost_ns > 0 || x->inherited_ns > 0) status = straggler_row(f, in, &report, x, err);
    }
    rs_report_free(&report);
    return status;
}

#endif

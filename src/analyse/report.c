#include "analyse/report.h"

#include <stdlib.h>

#include "analyse/conclusion.h"
#include "analyse/per_step_cost.h"

/* ---- the basis ---- */

/* Why an operation could not be compared. */
static void count_uncompared(struct rs_report *r, uint32_t op)
{
    const struct rs_model *m = r->view.model;
    struct rs_report_basis *b = &r->basis;
    uint32_t n = m->ops.nparts[op], island = RS_NONE;
    if (m->ops.flags[op] & RS_OP_VIOLATION) return; /* counted as that */
    bool untimed = false, unaligned = false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t part = m->order[m->ops.part[op] + i], domain = rs_part_start_domain(m, part);
        if (m->parts.start[part] == RS_TIME_NONE || domain == RS_NONE) {
            untimed = true;
            continue;
        }
        if (island != RS_NONE && m->domains[domain].island != island) unaligned = true;
        island = m->domains[domain].island;
    }
    if (n < 2)
        b->alone++;
    else if (unaligned && !untimed)
        b->unaligned++;
    else
        b->untimed++;
}

static void count_ops(struct rs_report *r)
{
    const struct rs_model *m = r->view.model;
    struct rs_report_basis *b = &r->basis;
    b->from_ns = b->to_ns = RS_TIME_NONE;
    rs_totals_begin(&b->totals);
    for (uint32_t i = 0; i < r->view.nops; i++) {
        uint32_t op = r->view.ops[i];
        if (!r->view.passes[op]) continue;
        rs_totals_add(&b->totals, m, op);
        if (!rs_op_is_compared(m, op)) count_uncompared(r, op);
        int64_t from = m->ops.first[op] != RS_TIME_NONE ? m->ops.first[op] : rs_op_moment(m, op);
        int64_t to = rs_op_over(m, op);
        if (from != RS_TIME_NONE && (b->from_ns == RS_TIME_NONE || from < b->from_ns)) b->from_ns = from;
        if (to != RS_TIME_NONE && (b->to_ns == RS_TIME_NONE || to > b->to_ns)) b->to_ns = to;
    }
}

static enum rs_status count_ranks(struct rs_report *r, struct rs_err *err)
{
    struct rs_report_basis *b = &r->basis;
    struct rs_map hosts = {0};
    enum rs_status status = RS_OK;
    b->ranks = r->view.model->nranks;
    bool known = true; /* else some are clocks of their own, and how many hosts there are is not known */
    for (uint32_t i = 0; i < r->view.model->nranks && status == RS_OK; i++) {
        known &= rs_host_name(r->view.model, r->view.model->ranks[i].host) != NULL;
        status = rs_map_put(&hosts, r->view.model->ranks[i].host, 1, err);
    }
    b->hosts = known ? (uint32_t)rs_map_count(&hosts) : 0; /* other tools may know the same ones by other names */
    rs_map_free(&hosts);
    b->unseen = r->view.model->world >= 0 ? (int64_t)r->view.model->world - r->view.model->nranks : -1;
    if (r->view.model->world >= 0 && b->unseen < 0)
        b->unseen = 0; /* more than one job here, or no communicator of all */
    return status;
}

/* ---- the whole ---- */

/* Leaves out what was before step `warmup`. */
static int64_t leave_out(struct rs_report *r, uint32_t warmup)
{
    if (!warmup || !r->steps.n) return RS_TIME_NONE;
    r->warmup = warmup < r->steps.n ? warmup : r->steps.n;
    int64_t from = r->warmup < r->steps.n ? r->steps.rows[r->warmup].from : r->steps.rows[r->steps.n - 1].to;
    for (uint32_t i = 0; i < r->view.nops; i++) {
        uint32_t op = r->view.ops[i];
        if (rs_op_moment(r->view.model, op) < from) r->view.passes[op] = false;
    }
    return from;
}

static bool has_starts(const struct rs_view *v)
{
    for (uint32_t i = 0; i < v->nops; i++)
        if (v->passes[v->ops[i]] && v->model->ops.first[v->ops[i]] != RS_TIME_NONE) return true;
    return false;
}

static enum rs_status make(struct rs_report *r, const struct rs_report_options *o, struct rs_err *err)
{
    RS_TRY(rs_steps_find(&r->steps, &r->view, err));
    if (o->filter) RS_TRY(rs_steps_within(&r->steps, o->filter, err));
    int64_t from = leave_out(r, o->warmup);
    RS_TRY(rs_stragglers_find(&r->stragglers, &r->view, err));
    RS_TRY(rs_per_step_cost_find(&r->stragglers, &r->view, &r->steps, err));
    RS_TRY(rs_bandwidth_find(&r->bandwidth, &r->view, o->by_comm, err));
    if (o->reference) RS_TRY(rs_reached_find(&r->reached, o->reference, r->view.model, &r->bandwidth, err));
    if (has_starts(&r->view)) /* else steps are of calls, and what was longer in them cannot be told */
        RS_TRY(rs_outliers_find(&r->outliers, &r->view, &r->steps, r->warmup, &r->stragglers, &r->bandwidth, err));
    if (o->network) RS_TRY(rs_matrix_find(&r->network, &r->view, o->filter, from, err));
    if (o->every_ns > 0 || o->every_steps)
        RS_TRY(rs_course_find(&r->course, &r->view, &r->steps, &r->stragglers, &r->bandwidth, o->every_ns,
                              o->every_steps, err));
    RS_TRY(rs_statistics_init(&r->statistics, r->view.model, err));
    count_ops(r);
    RS_TRY(count_ranks(r, err));
    return rs_conclusion_make(r, err);
}

enum rs_status rs_report_init(struct rs_report *r, struct rs_model *m, const struct rs_report_options *options,
                              struct rs_err *err)
{
    *r = (struct rs_report){0};
    RS_TRY(rs_view_init(&r->view, m, options->filter, err));
    enum rs_status status = make(r, options, err);
    if (status != RS_OK) rs_report_free(r);
    return status;
}

void rs_report_free(struct rs_report *r)
{
    for (size_t i = 0; i < r->nconclusion; i++) free(r->conclusion[i]);
    free(r->conclusion);
    rs_statistics_free(&r->statistics);
    rs_course_free(&r->course);
    rs_outliers_free(&r->outliers);
    rs_matrix_free(&r->network);
    rs_stragglers_free(&r->stragglers);
    rs_reached_free(&r->reached);
    rs_bandwidth_free(&r->bandwidth);
    rs_steps_free(&r->steps);
    rs_view_free(&r->view);
    *r = (struct rs_report){0};
}

bool rs_report_matters(const struct rs_report *r, const struct rs_straggler *s)
{
    int64_t span = rs_time_minus(r->basis.to_ns, r->basis.from_ns);
    return s->cost_ns > span / 1000 && s->cost_ns / 10 > r->basis.totals.error_ns;
}

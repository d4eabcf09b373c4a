#include "cli/report_json.h"

#include <string.h>

#include "cli/model_json.h"
#include "cli/report_statistics.h"
#include "cli/report_table.h"
#include "cli/settings_text.h"
#include "fields/report.h"

enum { MOST_STRAGGLERS = 1000 };

/* ---- who ---- */

/* host, pid, device of a rank; of a whole host: its name, and nulls. */
static void where(struct rs_json *j, const struct rs_report *r, uint32_t rank_id, uint32_t host)
{
    const struct rs_model *m = r->view.model;
    rs_json_key_str(j, "host", host != RS_NONE ? rs_host_name(m, host) : NULL);
    if (rank_id != RS_NONE)
        rs_pid_json(j, m->procs[r->view.model->ranks[rank_id].proc].pid);
    else
        rs_json_key_null(j, "pid");
    rs_json_key_number_or_null(j, "device", rank_id != RS_NONE ? r->view.model->ranks[rank_id].device : -1);
}

static int32_t rank_of(const struct rs_report *r, uint32_t rank_id)
{
    return rank_id != RS_NONE ? r->view.model->ranks[rank_id].number : -1;
}

/* ---- functions ---- */

static void by_func(struct rs_json *j, const struct rs_report *r)
{
    rs_json_key(j, "by_func");
    rs_json_array(j);
    for (uint32_t i = 0; i < r->bandwidth.nrows; i++) {
        struct rs_func_fields row = {r, &r->bandwidth.rows[i], r->reached.rows ? &r->reached.rows[i] : NULL};
        rs_out_json(j, &rs_out_function, &row);
    }
    rs_json_end(j);
}

/* ---- who was late ---- */

static void stragglers(struct rs_json *j, const struct rs_report *r)
{
    rs_json_key(j, "stragglers");
    rs_json_array(j);
    for (uint32_t i = 0; i < r->stragglers.nrows && i < MOST_STRAGGLERS; i++) {
        const struct rs_straggler *x = &r->stragglers.rows[i];
        struct rs_straggler_fields row;
        if (x->cost_ns <= 0 && x->inherited_ns <= 0) continue;
        rs_straggler_fields_make(&row, r, x);
        rs_out_json(j, &rs_out_straggler, &row);
    }
    rs_json_end(j);
}

static void lateness(struct rs_json *j, const struct rs_report *r)
{
    const struct rs_lateness *l = &r->stragglers.lateness;
    rs_json_key(j, "lateness");
    rs_json_array(j);
    for (uint32_t i = 0; i < l->nranks + l->nhosts; i++)
        if (l->rows[i].compared) rs_out_json(j, &rs_out_lateness, &(struct rs_late_fields){r, &l->rows[i]});
    rs_json_end(j);
}

/* ---- network ---- */

static void network(struct rs_json *j, const struct rs_report *r)
{
    rs_json_key(j, "network");
    rs_json_array(j);
    for (uint32_t i = 0; i < r->network.nrows; i++)
        rs_out_json(j, &rs_out_network, &(struct rs_link_fields){r, &r->network.rows[i]});
    rs_json_end(j);
    rs_json_key(j, "slow_links");
    rs_json_array(j);
    for (uint32_t i = 0; i < r->network.nslow; i++)
        rs_out_json(j, &rs_out_slow_link, &(struct rs_slow_fields){r, &r->network.slow[i]});
    rs_json_end(j);
}

/* ---- steps ---- */

static void steps(struct rs_json *j, const struct rs_report *r)
{
    rs_json_key(j, "steps");
    rs_json_object(j);
    rs_json_key_u64(j, "count", r->steps.counted);
    rs_json_key_u64(j, "warmup", r->warmup);
    rs_json_key_number_or_null(j, "operations", r->steps.counted && r->steps.ops ? (int64_t)r->steps.ops : -1);
    rs_time_json(j, "usual_ns", r->steps.usual_ns);
    rs_time_json(j, "spread_ns", r->steps.spread_ns);
    rs_quantiles_json(j, "time_ns", &r->steps.time_ns);
    rs_json_key_str(j, "found_by", rs_steps_how(r->steps.counted, r->steps.counted_marked));
    rs_json_key_u64(j, "marked", r->steps.counted_marked);
    rs_json_end(j);
    rs_json_key(j, "outlier_steps");
    rs_json_array(j);
    for (uint32_t i = 0; i < r->outliers.n; i++) {
        const struct rs_outlier *x = &r->outliers.rows[i];
        rs_json_object(j);
        rs_json_key_u64(j, "step", x->step);
        rs_json_key_number_or_null(j, "mark", x->mark != RS_NONE ? (int64_t)x->mark : -1);
        rs_json_key_i64(j, "from_ns", x->from_ns);
        rs_json_key_i64(j, "to_ns", x->to_ns);
        rs_json_key_i64(j, "duration_ns", x->duration_ns);
        rs_json_key_i64(j, "usual_ns", x->usual_ns);
        rs_json_key_str(j, "what", x->what);
        rs_json_key_number_or_null(j, "rank", rank_of(r, x->rank_id));
        where(j, r, x->rank_id, x->rank_id != RS_NONE ? r->view.model->ranks[x->rank_id].host : RS_NONE);
        rs_json_key_number_or_null(j, "late_ns", x->rank_id != RS_NONE ? x->late_ns : -1);
        rs_json_key_str(j, "func",
                        x->row != RS_NONE ? rs_model_text(r->view.model, r->bandwidth.rows[x->row].func) : NULL);
        rs_json_key_number_or_null(j, "slow_ns", x->row != RS_NONE ? x->slow_ns : -1);
        rs_json_end(j);
    }
    rs_json_end(j);
}

static void course(struct rs_json *j, const struct rs_report *r)
{
    const struct rs_course *c = &r->course;
    const struct rs_func_row *lead = c->nrows && c->leading != RS_NONE ? &r->bandwidth.rows[c->leading] : NULL;
    rs_json_key(j, "course");
    rs_json_array(j);
    for (uint32_t i = 0; i < c->nrows; i++) {
        const struct rs_course_row *x = &c->rows[i];
        rs_json_object(j);
        rs_json_key_i64(j, "from_ns", x->from_ns);
        rs_json_key_i64(j, "to_ns", x->to_ns);
        rs_json_key_number_or_null(j, "first_step", x->steps ? (int64_t)x->first_step : -1);
        rs_json_key_u64(j, "steps", x->steps);
        rs_json_key_u64(j, "calls", x->calls);
        rs_json_key_str(j, "func", lead ? rs_model_text(r->view.model, lead->func) : NULL);
        rs_json_key_number_or_null(j, "bytes", lead ? (int64_t)lead->bytes : -1);
        rs_json_key(j, "time_ns");
        rs_json_object(j);
        rs_time_json(j, "p50", x->timed ? x->p50_ns : RS_TIME_NONE);
        rs_json_end(j);
        rs_json_key_double(j, "wait_share", x->wait_share);
        rs_json_key_double(j, "busbw_gbs", x->busbw);
        rs_json_key_number_or_null(j, "worst_rank", rank_of(r, x->worst));
        where(j, r, x->worst, x->worst != RS_NONE ? r->view.model->ranks[x->worst].host : RS_NONE);
        rs_json_key_number_or_null(j, "worst_cost_ns", x->worst != RS_NONE ? x->worst_ns : -1);
        rs_json_end(j);
    }
    rs_json_end(j);
    rs_json_key(j, "changes");
    rs_json_array(j);
    for (uint32_t i = 0; i < c->nchanges; i++) {
        const struct rs_change *x = &c->changes[i];
        rs_json_object(j);
        rs_json_key_i64(j, "at_ns", x->at_ns);
        rs_json_key_i64(j, "before_ns", x->before_ns);
        rs_json_key_i64(j, "after_ns", x->after_ns);
        rs_json_key_number_or_null(j, "rank", rank_of(r, x->rank_id));
        where(j, r, x->rank_id, x->rank_id != RS_NONE ? r->view.model->ranks[x->rank_id].host : RS_NONE);
        rs_json_key_str(j, "what", x->text);
        rs_json_end(j);
    }
    rs_json_end(j);
}

/* ---- the whole ---- */

static void basis(struct rs_json *j, const struct rs_report *r)
{
    const struct rs_report_basis *b = &r->basis;
    rs_json_key_u64(j, "ranks", b->ranks);
    rs_json_key_number_or_null(j, "hosts", b->hosts ? (int64_t)b->hosts : -1);
    rs_json_key_number_or_null(j, "world_size", r->view.model->world);
    rs_time_json(j, "t0_ns", rs_model_begin(r->view.model));
    rs_time_json(j, "from_ns", b->from_ns);
    rs_time_json(j, "to_ns", b->to_ns);
    rs_json_key_number_or_null(j, "clock_error_ns", b->totals.error_ns);
    rs_json_key_bool(j, "aligned", r->view.model->aligned);
    rs_json_key(j, "operations");
    rs_json_object(j);
    rs_json_key_u64(j, "count", b->totals.ops);
    rs_json_key_u64(j, "whole", b->totals.whole);
    rs_json_key_u64(j, "complete", b->totals.complete);
    rs_json_key_u64(j, "compared", b->totals.compared);
    rs_json_key_u64(j, "ties", b->totals.ties);
    rs_json_key_u64(j, "alone", b->alone);
    rs_json_key_u64(j, "untimed", b->untimed);
    rs_json_key_u64(j, "unaligned", b->unaligned);
    rs_json_key_u64(j, "mismatches", b->totals.mismatches);
    rs_json_key_u64(j, "violations", b->totals.violations);
    rs_json_key_u64(j, "doubles", b->totals.doubles);
    rs_json_end(j);
    rs_json_key_number_or_null(j, "ranks_without_recording", b->unseen);
    rs_json_key_i64(j, "cost_ns", r->stragglers.cost_ns);
}

void rs_report_json(struct rs_json *j, const struct rs_report *r, const struct rs_differences *settings,
                    const struct rs_reference_files *reference)
{
    rs_json_object(j);
    basis(j, r);
    rs_reference_json(j, reference);
    by_func(j, r);
    stragglers(j, r);
    lateness(j, r);
    network(j, r);
    steps(j, r);
    course(j, r);
    rs_statistics_json(j, &r->statistics);
    rs_settings_json(j, settings);
    rs_json_key(j, "conclusion");
    rs_json_array(j);
    for (size_t i = 0; i < r->nconclusion; i++) rs_json_str(j, r->conclusion[i]);
    rs_json_end(j);
    rs_json_end(j);
    rs_json_newline(j);
}

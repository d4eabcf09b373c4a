#include "cli/json.h"

#include <stdlib.h>

#include "base/memory.h"
#include "cli/settings.h"
#include "fields/communicator.h"
#include "fields/course.h"
#include "fields/report.h"
#include "fields/statistics.h"
#include "fields/whatif.h"

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

/* ---- clocks, communicators ---- */

void rs_clocks_json(struct rs_json *j, struct rs_model *m, const struct rs_clock_rows *r)
{
    for (uint32_t i = 0; i < r->n && !rs_json_failed(j); i++) {
        struct rs_clock_fields row;
        rs_clock_fields_make(&row, m, r, &r->all[i]);
        rs_out_json(j, &rs_out_clock, &row);
        rs_json_newline(j);
    }
}

void rs_comms_json(struct rs_json *j, const struct rs_model *m, const struct rs_job_layout *layout, uint32_t comm,
                   const struct rs_life *life)
{
    struct rs_comm_fields row;
    rs_comm_fields_make(&row, m, comm, life);
    row.layout = layout;
    rs_out_json(j, &rs_out_communicator, &row);
    rs_json_newline(j);
}

/* ---- report ---- */

enum { MOST_STRAGGLERS = 1000 };

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

static void findings(struct rs_json *j, const struct rs_report *r)
{
    rs_json_key(j, "findings");
    rs_json_array(j);
    for (uint32_t i = 0; i < r->findings.n; i++)
        rs_out_json(j, &rs_out_finding, &(struct rs_finding_fields){r, &r->findings.rows[i]});
    rs_json_end(j);
    rs_json_key(j, "whatif");
    rs_out_json(j, &rs_out_whatif, &(struct rs_whatif_fields){&r->whatif});
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

/* ---- who does the same ---- */

static void roles(struct rs_json *j, const struct rs_report *r)
{
    const struct rs_roles *x = &r->roles;
    uint32_t nranks = r->view.model->nranks, *first = rs_zalloc((size_t)x->n + 2, sizeof *first);
    uint32_t *ranks = rs_alloc(((size_t)nranks + 1) * sizeof *ranks);
    for (uint32_t i = 0; i < x->n; i++) first[i + 2] = first[i + 1] + x->size[i];
    for (uint32_t i = 0; i < nranks; i++)
        if (x->of[i] != RS_NONE) ranks[first[x->of[i] + 1]++] = i;
    rs_json_key(j, "roles");
    rs_json_array(j);
    for (uint32_t i = 0; i < x->n; i++)
        rs_out_json(j, &rs_out_role, &(struct rs_role_fields){r, i, ranks + first[i], x->size[i]});
    rs_json_end(j);
    free(first);
    free(ranks);
}

static void layout(struct rs_json *j, const struct rs_report *r)
{
    rs_json_key(j, "layout");
    rs_out_json(j, &rs_out_layout, &(struct rs_layout_fields){&r->layout});
    roles(j, r);
    rs_json_key(j, "compute");
    rs_out_json(j, &rs_out_compute, &(struct rs_compute_fields){r});
}

/* ---- steps ---- */

static void steps(struct rs_json *j, const struct rs_report *r)
{
    rs_json_key(j, "steps");
    rs_out_json(j, &rs_out_steps, &(struct rs_steps_fields){r});
    rs_json_key(j, "outlier_steps");
    rs_json_array(j);
    for (uint32_t i = 0; i < r->one_offs.n; i++)
        rs_out_json(j, &rs_out_outlier_step, &(struct rs_one_off_fields){r, &r->one_offs.rows[i]});
    rs_json_end(j);
    rs_json_key(j, "course");
    rs_json_array(j);
    for (uint32_t i = 0; i < r->course.nrows; i++)
        rs_out_json(j, &rs_out_course, &(struct rs_course_fields){r, &r->course.rows[i]});
    rs_json_end(j);
    rs_json_key(j, "changes");
    rs_json_array(j);
    for (uint32_t i = 0; i < r->course.nchanges; i++)
        rs_out_json(j, &rs_out_change, &(struct rs_change_fields){r, &r->course.changes[i]});
    rs_json_end(j);
}

static void statistics(struct rs_json *j, const struct rs_report *r)
{
    rs_json_key(j, "statistics");
    if (r->statistics.cells || r->view.model->nmetrics)
        rs_out_json(j, &rs_out_statistics, &(struct rs_statistics_fields){&r->statistics});
    else
        rs_json_null(j);
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
    rs_json_key_u64(j, "not_measured", b->not_measured);
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
    findings(j, r);
    network(j, r);
    layout(j, r);
    steps(j, r);
    statistics(j, r);
    rs_settings_json(j, settings);
    rs_json_key(j, "conclusion");
    rs_json_array(j);
    for (size_t i = 0; i < r->nconclusion; i++) rs_json_str(j, r->conclusion[i]);
    rs_json_end(j);
    rs_json_end(j);
    rs_json_newline(j);
}

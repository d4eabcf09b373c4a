#include "cli/overlap_json.h"

#include "cli/model_json.h"

static void who_json(struct rs_json *j, const struct rs_model *m, const struct rs_profile_row *row)
{
    rs_json_key_number_or_null(j, "rank", row->rank);
    if (!row->track) {
        static const char *const keys[] = {"host", "pid", "device"};
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) rs_json_key_null(j, keys[i]);
        return;
    }
    const struct rs_proc *proc = &m->procs[row->track->proc];
    const char *host = m->hosts[proc->host].name;
    rs_json_key_str(j, "host", host && host[0] ? host : NULL);
    if (proc->pid)
        rs_json_key_u64(j, "pid", proc->pid);
    else
        rs_json_key_null(j, "pid");
    rs_json_key_number_or_null(j, "device", row->track->device);
}

static void times_json(struct rs_json *j, const struct rs_overlap_times *x)
{
    rs_time_json(j, "compute_ns", x->compute);
    rs_time_json(j, "comm_ns", x->comm);
    rs_time_json(j, "overlap_ns", x->overlap);
    rs_json_key_double(j, "overlap_pct", rs_overlap_pct(x));
    rs_time_json(j, "exposed_comm_ns", x->exposed);
    rs_time_json(j, "exposed_wait_ns", x->wait);
    rs_time_json(j, "exposed_transfer_ns", x->transfer);
    rs_time_json(j, "exposed_unknown_ns", x->unclear);
    rs_time_json(j, "comm_wait_ns", x->comm_wait);
    rs_time_json(j, "comm_transfer_ns", x->comm_transfer);
    rs_time_json(j, "comm_unknown_ns", x->comm_unclear);
    rs_time_json(j, "copy_ns", x->copy);
    rs_time_json(j, "idle_ns", x->idle);
    rs_json_key_double(j, "idle_pct", rs_idle_pct(x));
    rs_time_json(j, "span_ns", x->span);
}

static void overlap_json(struct rs_json *j, const struct rs_overlap *o)
{
    times_json(j, &o->cut);
    rs_time_json(j, "from_ns", o->from);
    rs_time_json(j, "to_ns", o->to);
    if (o->exact.comm_wait == RS_TIME_NONE)
        rs_json_key_null(j, "wait_error_ns");
    else
        rs_json_key_i64(j, "wait_error_ns", o->wait_error_ns);
    rs_json_key_i64(j, "grain_ns", o->grain_ns);
    rs_json_key(j, "exact");
    rs_json_object(j);
    times_json(j, &o->exact);
    rs_json_end(j);
    rs_json_key_u64(j, "kernels", o->kernels);
    rs_json_key_u64(j, "comm_kernels", o->comm_kernels);
    rs_json_key_u64(j, "copies", o->copies);
    rs_json_key_u64(j, "untimed", o->untimed);
}

static void steps_json(struct rs_json *j, const struct rs_profile_row *row)
{
    rs_json_key(j, "steps");
    if (!row->steps.n) {
        rs_json_null(j);
        return;
    }
    rs_json_object(j);
    rs_json_key_u64(j, "count", row->steps.n);
    rs_json_key_str(j, "source", rs_steps_how(row->steps.n, row->steps.marked));
    rs_json_key_u64(j, "marked", row->steps.marked);
    rs_quantiles_json(j, "time_ns", &row->step_ns);
    rs_json_end(j);
}

static void gap_json(struct rs_json *j, const char *key, uint64_t count, int64_t ns)
{
    rs_json_key(j, key);
    rs_json_object(j);
    rs_json_key_u64(j, "count", count);
    rs_json_key_i64(j, "ns", ns);
    rs_json_end(j);
}

static void launches_json(struct rs_json *j, const struct rs_model *m, const struct rs_profile_row *row)
{
    const struct rs_launches *l = &row->launches;
    static const char *const synchronised[] = {NULL, "no", "annotations", "kernels"};
    rs_json_key(j, "launches");
    if (!row->track || !row->track->has_work) {
        rs_json_null(j);
    } else {
        rs_json_object(j);
        rs_json_key_double(j, "kernels_per_step", l->kernels_a_step);
        rs_time_json(j, "median_kernel_ns", l->median_kernel_ns);
        rs_json_key_u64(j, "known", l->launched);
        gap_json(j, "launch_gaps", l->launch_gaps, l->launch_gap_ns);
        gap_json(j, "host_gaps", l->host_gaps, l->host_gap_ns);
        gap_json(j, "other_gaps", l->other_gaps, l->other_gap_ns);
        rs_json_key_str(j, "synchronised", synchronised[l->synchronised]);
        rs_json_end(j);
    }
    rs_json_key(j, "host_calls");
    rs_json_array(j);
    for (uint32_t i = 0; i < l->ncalls; i++) {
        const struct rs_host_call *c = &l->calls[i];
        rs_json_object(j);
        rs_json_key_str(j, "name", rs_model_name_text(m, c->name));
        rs_json_key_str(j, "kind", rs_activity_kind_name(c->kind));
        rs_json_key_u64(j, "calls", c->calls);
        rs_json_key_i64(j, "total_ns", c->total_ns);
        rs_json_key_i64(j, "longest_ns", c->longest_ns);
        rs_json_end(j);
    }
    rs_json_end(j);
}

static void ranges_json(struct rs_json *j, const struct rs_model *m, const struct rs_ranges *r)
{
    rs_json_key(j, "annotations");
    rs_json_array(j);
    for (uint32_t i = 0; i < r->n; i++) {
        const struct rs_range_row *x = &r->rows[i];
        rs_json_object(j);
        rs_json_key_str(j, "name", rs_model_name_text(m, x->name));
        rs_json_key_u64(j, "calls", x->calls);
        rs_json_key_i64(j, "wall_ns", x->wall_ns);
        rs_quantiles_json(j, "wall", &x->wall);
        rs_time_json(j, "gpu_ns", x->gpu_ns);
        rs_quantiles_json(j, "gpu", &x->gpu);
        rs_json_key_double(j, "step_share", x->share);
        rs_json_end(j);
    }
    rs_json_end(j);
}

static void pipeline_json(struct rs_json *j, const struct rs_profile *p, const struct rs_profile_row *row)
{
    static const char *const sources[] = {NULL, "file", "names", "send_recv"};
    const struct rs_pipeline *x = &row->pipeline;
    rs_json_key(j, "pipeline");
    if (!row->source) {
        rs_json_null(j);
        rs_json_key_str(j, "no_stages", row->no_stages);
        return;
    }
    rs_json_object(j);
    rs_json_key_str(j, "source", sources[row->source]);
    rs_json_key_u64(j, "chunks", x->chunks);
    rs_json_key_u64(j, "warmup", x->warmup);
    rs_json_key_u64(j, "periods", x->periods);
    rs_quantiles_json(j, "period_ns", &x->period);
    rs_json_key(j, "stages");
    rs_json_array(j);
    for (uint32_t i = 0; i < x->nstages; i++) {
        rs_json_object(j);
        rs_json_key_str(j, "name", p->stage_names[i]);
        rs_quantiles_json(j, "time_ns", &x->stages[i]);
        rs_json_end(j);
    }
    rs_json_end(j);
    rs_time_json(j, "hidden_ns", x->hidden_ns);
    rs_quantiles_json(j, "hidden", &x->hidden);
    rs_time_json(j, "bubble_ns", x->bubble_ns);
    rs_json_key_double(j, "overlap_score", x->score);
    rs_json_key(j, "score");
    rs_json_object(j);
    rs_json_key_double(j, "p50", x->score_p50);
    rs_json_key_double(j, "p90", x->score_p90);
    rs_json_key_double(j, "p99", x->score_p99);
    rs_json_end(j);
    rs_json_key_str(j, "verdict", rs_pipeline_verdict_name(x->verdict));
    rs_json_end(j);
    rs_json_key_null(j, "no_stages");
}

void rs_overlap_json(struct rs_json *j, const struct rs_profile *p, const struct rs_profile_row *row)
{
    const struct rs_model *m = p->view.model;
    rs_json_object(j);
    who_json(j, m, row);
    overlap_json(j, &row->overlap);
    steps_json(j, row);
    launches_json(j, m, row);
    ranges_json(j, m, &row->ranges);
    pipeline_json(j, p, row);
    rs_json_key(j, "conclusion"); /* of the job: the same in every line */
    rs_json_array(j);
    for (size_t i = 0; i < p->nconclusion; i++) rs_json_str(j, p->conclusion[i]);
    rs_json_end(j);
    rs_json_end(j);
    rs_json_newline(j);
}

#include "fields/overlap.h"

#include "fields/rank.h"

#define MODEL r->profile->view.model
#define PIPELINE r->row->pipeline->pipeline /* where there is one */

/* ---- kernels ---- */

struct kernel_row {
    const struct rs_model *m;
    const struct rs_kernels *all;
    const struct rs_kernel_row *row;
};

static void write_kernel_times(struct rs_json *j, const void *row)
{
    rs_out_quantiles_json(j, &((const struct kernel_row *)row)->row->ns);
}

#define RS_ROWS_FILE "fields/kernel.inc"
#define RS_ROW struct kernel_row
#define RS_GET(id) kernel_##id
#define RS_FIELDS static const struct rs_out_field kernel[]
#include "fields/table.inc"

const struct rs_out_table rs_out_kernel = {
    "kernel", "overlap --json: top_kernels[]", kernel, sizeof kernel / sizeof *kernel, NULL, NULL};

/* ---- stretches ---- */

struct stretch_row {
    const struct rs_model *m;
    const struct rs_stretch *row;
};

#define RS_ROWS_FILE "fields/stretch.inc"
#define RS_ROW struct stretch_row
#define RS_GET(id) stretch_##id
#define RS_FIELDS static const struct rs_out_field stretch[]
#include "fields/table.inc"

const struct rs_out_table rs_out_stretch = {
    "stretch", "overlap --json: stretches[]", stretch, sizeof stretch / sizeof *stretch, NULL, NULL};

/* ---- host calls, annotations ---- */

struct call_row {
    const struct rs_model *m;
    const struct rs_host_call *row;
};

#define RS_ROWS_FILE "fields/host_call.inc"
#define RS_ROW struct call_row
#define RS_GET(id) call_##id
#define RS_FIELDS static const struct rs_out_field host_call[]
#include "fields/table.inc"

const struct rs_out_table rs_out_host_call = {
    "host call", "overlap --json: host_calls[]", host_call, sizeof host_call / sizeof *host_call, NULL, NULL};

struct range_row {
    const struct rs_model *m;
    const struct rs_range_row *row;
};

static void write_wall(struct rs_json *j, const void *row)
{
    rs_out_quantiles_json(j, &((const struct range_row *)row)->row->wall);
}

static void write_gpu(struct rs_json *j, const void *row)
{
    rs_out_quantiles_json(j, &((const struct range_row *)row)->row->gpu);
}

#define RS_ROWS_FILE "fields/annotation.inc"
#define RS_ROW struct range_row
#define RS_GET(id) range_##id
#define RS_FIELDS static const struct rs_out_field annotation[]
#include "fields/table.inc"

const struct rs_out_table rs_out_annotation = {
    "annotation", "overlap --json: annotations[]", annotation, sizeof annotation / sizeof *annotation, NULL, NULL};

/* ---- stages of a pipeline ---- */

struct stage_row {
    const struct rs_profile *profile;
    const struct rs_job_pipeline *of;
    uint32_t stage;
};

/* Its rank; -1: unknown, it does not occur, or lies on several. */
static int32_t rank_of_stage(const struct rs_profile *p, const struct rs_job_pipeline *x, uint32_t stage)
{
    return x->of_stage[stage] == RS_NONE ? -1 : p->rows[x->of_stage[stage]].rank;
}

static void write_stage_times(struct rs_json *j, const void *row)
{
    const struct stage_row *r = row;
    rs_out_quantiles_json(j, &r->of->pipeline.stages[r->stage]);
}

#define RS_ROWS_FILE "fields/stage.inc"
#define RS_ROW struct stage_row
#define RS_GET(id) stage_##id
#define RS_FIELDS static const struct rs_out_field stage[]
#include "fields/table.inc"

const struct rs_out_table rs_out_stage = {
    "stage", "overlap --json: pipeline.stages[]", stage, sizeof stage / sizeof *stage, NULL, NULL};

struct bubble_row {
    const struct rs_profile *profile;
    const struct rs_job_pipeline *of;
    const struct rs_station *row;
};

static void write_idle(struct rs_json *j, const void *row)
{
    rs_out_quantiles_json(j, &((const struct bubble_row *)row)->row->idle);
}

static bool next_stage(const void *row, uint32_t *at, struct rs_value *item)
{
    const struct bubble_row *r = row;
    uint32_t s = r->row->first + *at;
    while (s <= r->row->last && !(r->of->pipeline.present >> s & 1)) s++;
    if (s > r->row->last) return false;
    *at = s - r->row->first + 1;
    *item = rs_v_text(r->profile->pipelines.names[s]);
    return true;
}

static void write_causes(struct rs_json *j, const void *row)
{
    const struct bubble_row *r = row;
    const struct rs_pipeline *x = &r->of->pipeline;
    rs_json_array(j);
    for (uint32_t i = 0; i < x->nstations; i++) {
        if (!r->row->caused[i]) continue;
        rs_json_object(j);
        rs_json_key_number_or_null(j, "rank", rank_of_stage(r->profile, r->of, x->stations[i].first));
        rs_json_key_str(j, "stage", r->profile->pipelines.names[x->stations[i].first]);
        rs_json_key_i64(j, "ns", r->row->caused[i]);
        rs_json_end(j);
    }
    rs_json_end(j);
}

#define RS_ROWS_FILE "fields/bubble.inc"
#define RS_ROW struct bubble_row
#define RS_GET(id) bubble_##id
#define RS_FIELDS static const struct rs_out_field bubble[]
#include "fields/table.inc"

const struct rs_out_table rs_out_bubble = {
    "bubble", "overlap --json: pipeline.bubbles[]", bubble, sizeof bubble / sizeof *bubble, NULL, NULL};

/* ---- the rank ---- */

static const struct rs_proc *proc_of(const struct rs_overlap_fields *r)
{
    return r->row->track ? &MODEL->procs[r->row->track->proc] : NULL;
}

static bool has_compute(const struct rs_overlap_fields *r)
{
    return r->row->track && r->row->track->has_work;
}

static uint32_t role_of(const struct rs_overlap_fields *r)
{
    uint32_t rank = r->row->track ? r->row->track->rank_id : RS_NONE;
    return r->roles && rank != RS_NONE ? r->roles->of[rank] : RS_NONE;
}

static void write_kernels(struct rs_json *j, const void *row)
{
    const struct rs_overlap_fields *r = row;
    const struct rs_kernels *k = &r->row->kernels;
    rs_json_array(j);
    for (uint32_t i = 0; i < k->n && i < r->top; i++)
        rs_out_json(j, &rs_out_kernel, &(struct kernel_row){MODEL, k, &k->rows[i]});
    rs_json_end(j);
}

static void write_stretches(struct rs_json *j, const void *row)
{
    const struct rs_overlap_fields *r = row;
    const struct rs_stretches *s = &r->row->stretches;
    rs_json_array(j);
    for (uint32_t i = 0; i < s->n; i++) rs_out_json(j, &rs_out_stretch, &(struct stretch_row){MODEL, &s->rows[i]});
    rs_json_end(j);
}

static void write_exact(struct rs_json *j, const void *row);

static const char *steps_how(const struct rs_profile_row *row)
{
    const struct rs_markers *s = &row->steps;
    return rs_steps_how(s->n + s->warmup, s->marked + s->warmup_marked);
}

static void write_step_times(struct rs_json *j, const void *row)
{
    rs_out_quantiles_json(j, &((const struct rs_overlap_fields *)row)->row->step_ns);
}

static void gaps_json(struct rs_json *j, uint64_t count, int64_t ns)
{
    rs_json_object(j);
    rs_json_key_u64(j, "count", count);
    rs_json_key_i64(j, "ns", ns);
    rs_json_end(j);
}

static void write_launch_gaps(struct rs_json *j, const void *row)
{
    const struct rs_launches *l = &((const struct rs_overlap_fields *)row)->row->launches;
    gaps_json(j, l->launch_gaps, l->launch_gap_ns);
}

static void write_host_gaps(struct rs_json *j, const void *row)
{
    const struct rs_launches *l = &((const struct rs_overlap_fields *)row)->row->launches;
    gaps_json(j, l->host_gaps, l->host_gap_ns);
}

static void write_other_gaps(struct rs_json *j, const void *row)
{
    const struct rs_launches *l = &((const struct rs_overlap_fields *)row)->row->launches;
    gaps_json(j, l->other_gaps, l->other_gap_ns);
}

static const char *const synchronised[] = {NULL, "no", "annotations", "kernels"};

static void write_calls(struct rs_json *j, const void *row)
{
    const struct rs_overlap_fields *r = row;
    const struct rs_launches *l = &r->row->launches;
    rs_json_array(j);
    for (uint32_t i = 0; i < l->ncalls; i++) rs_out_json(j, &rs_out_host_call, &(struct call_row){MODEL, &l->calls[i]});
    rs_json_end(j);
}

static void write_annotations(struct rs_json *j, const void *row)
{
    const struct rs_overlap_fields *r = row;
    const struct rs_ranges *x = &r->row->ranges;
    rs_json_array(j);
    for (uint32_t i = 0; i < x->n; i++) rs_out_json(j, &rs_out_annotation, &(struct range_row){MODEL, &x->rows[i]});
    rs_json_end(j);
}

static const char *const pipeline_sources[] = {NULL, "file", "names", "send_recv"};

static void write_period(struct rs_json *j, const void *row)
{
    rs_out_quantiles_json(j, &((const struct rs_overlap_fields *)row)->row->pipeline->pipeline.period);
}

static void write_stages(struct rs_json *j, const void *row)
{
    const struct rs_overlap_fields *r = row;
    struct stage_row x = {r->profile, r->row->pipeline, 0};
    rs_json_array(j);
    for (; x.stage < x.of->pipeline.nstages; x.stage++) rs_out_json(j, &rs_out_stage, &x);
    rs_json_end(j);
}

static void write_bubbles(struct rs_json *j, const void *row)
{
    const struct rs_overlap_fields *r = row;
    const struct rs_pipeline *x = &PIPELINE;
    rs_json_array(j);
    for (uint32_t i = 0; i < x->nstations && r->row->pipeline->source != RS_PIPELINE_PAIRS; i++)
        rs_out_json(j, &rs_out_bubble, &(struct bubble_row){r->profile, r->row->pipeline, &x->stations[i]});
    rs_json_end(j);
}

static void write_hidden(struct rs_json *j, const void *row)
{
    rs_out_quantiles_json(j, &((const struct rs_overlap_fields *)row)->row->pipeline->pipeline.hidden);
}

static void write_score(struct rs_json *j, const void *row)
{
    const struct rs_pipeline *x = &((const struct rs_overlap_fields *)row)->row->pipeline->pipeline;
    rs_json_object(j);
    rs_json_key_double(j, "p50", x->score_p50);
    rs_json_key_double(j, "p90", x->score_p90);
    rs_json_key_double(j, "p99", x->score_p99);
    rs_json_end(j);
}

static bool next_rank(const void *row, uint32_t *at, struct rs_value *item)
{
    const struct rs_overlap_fields *r = row;
    const struct rs_job_pipeline *x = r->row->pipeline;
    if (*at >= x->nplaces) return false;
    *item = rs_v_known(r->profile->rows[x->places[(*at)++]].rank);
    return true;
}

static bool next_sentence(const void *row, uint32_t *at, struct rs_value *item)
{
    const struct rs_overlap_fields *r = row;
    if (*at >= r->profile->nconclusion) return false;
    *item = rs_v_text(r->profile->conclusion[(*at)++]);
    return true;
}

enum {
#define FIELD_AS(id, ...) AT_##id,
#include "fields/overlap.inc"
#undef FIELD_AS
};

#define RS_ROWS_FILE "fields/overlap.inc"
#define RS_ROW struct rs_overlap_fields
#define RS_GET(id) overlap_##id
#define RS_FIELDS static const struct rs_out_field overlap[]
#include "fields/table.inc"

const struct rs_out_table rs_out_overlap = {
    "rank in overlap", "overlap --json", overlap, sizeof overlap / sizeof *overlap, NULL, NULL};

static void write_exact(struct rs_json *j, const void *row)
{
    struct rs_overlap_fields exact = *(const struct rs_overlap_fields *)row;
    exact.times = &exact.row->overlap.exact;
    rs_json_object(j);
    rs_out_some_json(j, &rs_out_overlap, AT_compute_ns, AT_span_ns + 1, &exact);
    rs_json_end(j);
}

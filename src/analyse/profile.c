#include "analyse/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/profile_words.h"
#include "analyse/quantile.h"
#include "base/bisect.h"

/* ---- stages ---- */

static int by_rank(const void *a, const void *b)
{
    const struct rs_stage_time *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* The rows of one rank in the file's times. */
static struct rs_stage_time *times_of(const struct rs_profile_options *o, int32_t rank, uint32_t *n)
{
    uint32_t low = 0, high = o->ntimes;
    RS_BISECT(low, high, mid, o->times[mid].rank < rank);
    for (*n = 0; low + *n < o->ntimes && o->times[low + *n].rank == rank;) ++*n;
    return o->times + low;
}

enum { LEAST_PERIODS = 3 }; /* of a pipeline that nobody asked for */

static enum rs_status find_pipeline(struct rs_profile *p, struct rs_profile_row *row,
                                    const struct rs_profile_options *o, struct rs_err *err)
{
    if (o->ntimes) {
        uint32_t n;
        struct rs_stage_time *rows = times_of(o, row->rank, &n);
        if (n) row->source = RS_PIPELINE_FILE;
        return n ? rs_pipeline_find(&row->pipeline, rows, n, o->nnames, o->warmup, err) : RS_OK;
    }
    struct rs_stage_times s = {0};
    bool named = o->npatterns > 0;
    enum rs_status status =
        named ? rs_stages_by_name(&s, &p->tracks, row->track, o->patterns, o->npatterns, o->filter, err)
              : rs_stages_by_pairs(&s, &p->tracks, row->track, o->filter, err);
    if (status == RS_OK && !s.why[0]) {
        status = rs_pipeline_find(&row->pipeline, s.rows, s.n, named ? o->npatterns : 2, o->warmup, err);
        if (named || row->pipeline.periods >= LEAST_PERIODS)
            row->source = named ? RS_PIPELINE_NAMES : RS_PIPELINE_PAIRS;
    } else if (status == RS_OK && named) {
        row->no_stages = strdup(s.why);
        if (!row->no_stages) status = rs_fail(err, RS_NO_MEMORY, "out of memory");
    }
    rs_stage_times_free(&s);
    return status;
}

static void name_stages(struct rs_profile *p, const struct rs_profile_options *o)
{
    static const char *const pairs[] = {"compute", "comm"};
    uint32_t n = o->ntimes ? o->nnames : o->npatterns ? o->npatterns : 2;
    for (uint32_t i = 0; i < n && i < RS_STAGES_MAX; i++)
        p->stage_names[i] = o->ntimes ? o->names[i] : o->npatterns ? o->patterns[i].name : pairs[i];
}

/* ---- rows ---- */

static enum rs_status measure_steps(struct rs_profile_row *row, struct rs_err *err)
{
    const struct rs_markers *s = &row->steps;
    row->step_ns = rs_quantiles_of(NULL, 0);
    if (!s->n) return RS_OK;
    int64_t *ns = malloc(s->n * sizeof *ns);
    if (!ns) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < s->n; i++) ns[i] = s->windows[i].length;
    row->step_ns = rs_quantiles_of(ns, s->n);
    free(ns);
    return RS_OK;
}

static enum rs_status fill_row(struct rs_profile *p, struct rs_profile_row *row, const struct rs_profile_options *o,
                               struct rs_sweep *sweep, struct rs_err *err)
{
    const struct rs_rank_track *track = row->track;
    row->rank = track->rank;
    RS_TRY(rs_overlap_find(&row->overlap, &p->tracks, track, o->filter, sweep, err));
    RS_TRY(rs_markers_find(&row->steps, p->view.model, track, &p->steps, o->filter, err));
    RS_TRY(measure_steps(row, err));
    RS_TRY(rs_launches_find(&row->launches, &p->tracks, track, &row->steps, o->filter, err));
    RS_TRY(rs_ranges_find(&row->ranges, &p->tracks, track, &row->steps, o->filter, err));
    return find_pipeline(p, row, o, err);
}

/* Tracks are by rank, -1 behind all others. */
static bool has_rank(const struct rs_profile *p, int32_t rank)
{
    uint32_t low = 0, high = p->tracks.n;
    RS_BISECT(low, high, mid, (uint32_t)p->tracks.rows[mid].rank < (uint32_t)rank);
    return low < p->tracks.n && p->tracks.rows[low].rank == rank;
}

/* Ranks that only the file of stages has. */
static uint32_t count_strangers(const struct rs_profile *p, const struct rs_profile_options *o)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < o->ntimes; i++)
        n += (!i || o->times[i].rank != o->times[i - 1].rank) && !has_rank(p, o->times[i].rank);
    return n;
}

static int rows_by_rank(const void *a, const void *b)
{
    const struct rs_profile_row *x = a, *y = b;
    uint32_t i = (uint32_t)x->rank, k = (uint32_t)y->rank; /* not known is -1: the last */
    if (i != k) return i < k ? -1 : 1;
    return x->track < y->track ? -1 : x->track > y->track;
}

static bool rank_passes(const struct rs_filter *f, int32_t rank)
{
    bool in = !f->nranks;
    for (size_t i = 0; i < f->nranks; i++) in |= rank >= f->ranks[i].from && rank <= f->ranks[i].to;
    return in;
}

static enum rs_status add_strangers(struct rs_profile *p, const struct rs_profile_options *o, struct rs_err *err)
{
    for (uint32_t i = 0; i < o->ntimes; i++) {
        int32_t rank = o->times[i].rank;
        if ((i && rank == o->times[i - 1].rank) || has_rank(p, rank) || !rank_passes(o->filter, rank)) continue;
        struct rs_profile_row *row = &p->rows[p->nrows++];
        row->rank = rank;
        rs_overlap_none(&row->overlap);
        row->step_ns = rs_quantiles_of(NULL, 0);
        uint32_t n;
        struct rs_stage_time *rows = times_of(o, rank, &n);
        row->source = RS_PIPELINE_FILE;
        RS_TRY(rs_pipeline_find(&row->pipeline, rows, n, o->nnames, o->warmup, err));
    }
    return RS_OK;
}

static void find_worst(struct rs_profile *p)
{
    p->score = NAN;
    p->worst = RS_NONE;
    for (uint32_t i = 0; i < p->nrows; i++) {
        double score = p->rows[i].source ? p->rows[i].pipeline.score : NAN;
        if (isnan(score) || (!isnan(p->score) && p->score <= score)) continue;
        p->score = score;
        p->worst = i;
    }
}

static enum rs_status make(struct rs_profile *p, const struct rs_model *m, const struct rs_profile_options *o,
                           struct rs_sweep *sweep, struct rs_err *err)
{
    RS_TRY(rs_view_init(&p->view, m, o->filter, err));
    RS_TRY(rs_rank_tracks_init(&p->tracks, &p->view, o->filter, err));
    RS_TRY(rs_steps_find(&p->steps, &p->view, err));
    if (o->ntimes) qsort(o->times, o->ntimes, sizeof *o->times, by_rank);
    p->rows = calloc((size_t)p->tracks.n + count_strangers(p, o) + 1, sizeof *p->rows);
    if (!p->rows) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < p->tracks.n; i++) {
        struct rs_profile_row *row = &p->rows[p->nrows++];
        row->track = &p->tracks.rows[i];
        RS_TRY(fill_row(p, row, o, sweep, err));
    }
    RS_TRY(add_strangers(p, o, err));
    if (p->nrows) qsort(p->rows, p->nrows, sizeof *p->rows, rows_by_rank);
    name_stages(p, o);
    find_worst(p);
    return rs_profile_conclude(p, err);
}

enum rs_status rs_profile_init(struct rs_profile *p, const struct rs_model *m, const struct rs_profile_options *o,
                               struct rs_err *err)
{
    struct rs_sweep sweep = {0};
    *p = (struct rs_profile){.score = NAN, .worst = RS_NONE};
    enum rs_status status = make(p, m, o, &sweep, err);
    rs_sweep_free(&sweep);
    if (status != RS_OK) rs_profile_free(p);
    return status;
}

void rs_profile_free(struct rs_profile *p)
{
    for (uint32_t i = 0; i < p->nrows; i++) {
        rs_markers_free(&p->rows[i].steps);
        rs_launches_free(&p->rows[i].launches);
        rs_ranges_free(&p->rows[i].ranges);
        free(p->rows[i].no_stages);
    }
    free(p->rows);
    for (size_t i = 0; i < p->nconclusion; i++) free(p->conclusion[i]);
    rs_steps_free(&p->steps);
    rs_rank_tracks_free(&p->tracks);
    rs_view_free(&p->view);
    *p = (struct rs_profile){0};
}

#include "analyse/pipelines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/memory.h"
#include "base/strbuf.h"

struct finding {
    struct rs_pipelines *p;
    const struct rs_rank_tracks *t;
    struct rs_pipeline_place *places;
    uint32_t n;
    const struct rs_pipelines_options *o;
    uint32_t *masks; /* by place: stages that occur there */
    struct rs_stage_hits *hits; /* by place; NULL: not by name */
    uint8_t *of_names;
};

/* ---- rows ---- */

static int by_rank(const void *a, const void *b)
{
    const struct rs_stage_time *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

/* The rows of one rank in the file's times. */
static struct rs_stage_time *times_of(const struct rs_pipelines_options *o, int32_t rank, uint32_t *n)
{
    uint32_t low = 0, high = o->ntimes;
    RS_BISECT(low, high, mid, o->times[mid].rank < rank);
    for (*n = 0; low + *n < o->ntimes && o->times[low + *n].rank == rank;) ++*n;
    return o->times + low;
}

static void rows_from_file(const struct finding *f, const struct rs_job_pipeline *x, struct rs_stage_times *s)
{
    size_t all = 0;
    for (uint32_t i = 0; i < x->nplaces; i++) {
        uint32_t n;
        times_of(f->o, f->places[x->places[i]].rank, &n);
        all += n;
    }
    s->rows = rs_alloc((all + 1) * sizeof *s->rows);
    for (uint32_t i = 0; i < x->nplaces; i++) {
        uint32_t n;
        const struct rs_stage_time *rows = times_of(f->o, f->places[x->places[i]].rank, &n);
        memcpy(s->rows + s->n, rows, n * sizeof *rows);
        s->n += n;
    }
}

static void rows_by_name(const struct finding *f, const struct rs_job_pipeline *x, struct rs_stage_times *s)
{
    struct rs_stage_source *sources = rs_alloc(x->nplaces * sizeof *sources);
    for (uint32_t i = 0; i < x->nplaces; i++)
        sources[i] = (struct rs_stage_source){f->places[x->places[i]].track, &f->hits[x->places[i]], (int32_t)i};
    rs_stages_by_name(s, f->t, sources, x->nplaces, f->of_names, f->o->patterns,
                      x->nplaces > 1 ? f->o->filter : f->o->after_warmup);
    free(sources);
}

/* ---- clocks ---- */

/* A GPU whose times are on its host's clock already has that clock. */
static uint32_t clock_of(const struct rs_model *m, uint32_t domain)
{
    const struct rs_domain *d = &m->domains[domain];
    return d->kind == RS_DOMAIN_GPU && d->rigid ? d->host_domain : domain;
}

static void take_clocks(const struct finding *f, const struct rs_job_pipeline *x, struct rs_stage_clock *clocks)
{
    const struct rs_model *m = f->t->view->model;
    for (uint32_t s = 0; s < RS_STAGES_MAX; s++) {
        uint32_t place = x->of_stage[s], domain = f->hits && place != RS_NONE ? f->hits[place].clock[s] : RS_NONE;
        clocks[s] = (struct rs_stage_clock){.id = place, .island = 0, .error_ns = RS_TIME_NONE};
        if (f->o->ntimes && f->o->one_clock) clocks[s].id = 0;
        if (domain < m->ndomains)
            clocks[s] = (struct rs_stage_clock){clock_of(m, domain), m->domains[domain].island,
                                                m->aligned ? m->domains[domain].error_ns : RS_TIME_NONE};
    }
}

/* ---- pipelines ---- */

static void add_place(struct finding *f, struct rs_job_pipeline *x, uint32_t place)
{
    x->places[x->nplaces++] = place;
    f->places[place].pipeline = (uint32_t)(x - f->p->rows);
    for (uint32_t s = 0; s < f->p->nstages; s++)
        if (f->masks[place] >> s & 1) x->of_stage[s] = place;
}

/* Of at most `most` places. */
static struct rs_job_pipeline *new_pipeline(struct finding *f, enum rs_pipeline_source source, uint32_t most)
{
    struct rs_job_pipeline *x = &f->p->rows[f->p->n++];
    *x = (struct rs_job_pipeline){.source = source, .places = rs_alloc(most * sizeof *x->places)};
    for (uint32_t s = 0; s < RS_STAGES_MAX; s++) x->of_stage[s] = RS_NONE;
    return x;
}

/* Rows of names whose stages do not repeat regularly: the places have a reason instead. */
static void drop(struct finding *f, struct rs_job_pipeline *x, const char *why)
{
    for (uint32_t i = 0; i < x->nplaces; i++) {
        f->places[x->places[i]].pipeline = RS_NONE;
        f->places[x->places[i]].why = rs_strdup(why);
    }
    free(x->places);
    f->p->n--;
}

static void fill(struct finding *f, struct rs_job_pipeline *x)
{
    struct rs_stage_times s = {0};
    struct rs_stage_clock clocks[RS_STAGES_MAX];
    const struct rs_filter *filter = f->o->filter;
    if (x->source == RS_PIPELINE_FILE)
        rows_from_file(f, x, &s);
    else
        rows_by_name(f, x, &s);
    take_clocks(f, x, clocks);
    struct rs_pipeline_options options = {.nstages = f->p->nstages,
                                          .warmup = f->o->warmup,
                                          .clocks = clocks,
                                          .places = x->nplaces > 1 ? x->of_stage : NULL,
                                          .unmatched = x->source == RS_PIPELINE_NAMES &&
                                                       (s.cut || filter->has_from || filter->has_to)};
    if (s.why[0])
        drop(f, x, s.why);
    else
        rs_pipeline_find(&x->pipeline, s.rows, s.n, &options);
    rs_stage_times_free(&s);
}

/* ---- which ranks make one ---- */

enum grouping { EACH_ITS_OWN, IN_PARALLEL, ALL_TOGETHER };

/* How many places have the mask of place i. */
static uint32_t count_equal(const struct finding *f, uint32_t i)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < f->n; k++) n += f->masks[k] == f->masks[i];
    return n;
}

static enum grouping how_grouped(const struct finding *f)
{
    uint32_t seen = 0, sets = 0, first = 0;
    bool parallel = true;
    for (uint32_t i = 0; i < f->n; i++) {
        bool again = !f->masks[i];
        for (uint32_t k = 0; k < i && !again && (seen & f->masks[i]); k++) again = f->masks[k] == f->masks[i];
        if (again) continue;
        if (seen & f->masks[i]) return EACH_ITS_OWN; /* shares a stage with a different set */
        seen |= f->masks[i];
        uint32_t n = count_equal(f, i);
        if (!sets++) first = n;
        parallel &= n == first;
    }
    return sets < 2 ? EACH_ITS_OWN : parallel ? IN_PARALLEL : ALL_TOGETHER;
}

/* The i-th place of each set. */
static void group_parallel(struct finding *f, enum rs_pipeline_source source)
{
    for (uint32_t lead = 0; lead < f->n; lead++) {
        if (!f->masks[lead] || f->places[lead].pipeline != RS_NONE || f->places[lead].why) continue;
        struct rs_job_pipeline *x = new_pipeline(f, source, RS_STAGES_MAX);
        uint32_t taken = 0;
        for (uint32_t i = lead; i < f->n; i++) {
            if (!f->masks[i] || f->places[i].pipeline != RS_NONE || f->places[i].why || taken & f->masks[i]) continue;
            taken |= f->masks[i];
            add_place(f, x, i);
        }
        fill(f, x);
    }
}

static void group_all(struct finding *f, enum rs_pipeline_source source)
{
    uint32_t once = 0, twice = 0;
    struct rs_job_pipeline *x = new_pipeline(f, source, f->n);
    for (uint32_t i = 0; i < f->n; i++) {
        if (!f->masks[i]) continue;
        twice |= once & f->masks[i];
        once |= f->masks[i];
        add_place(f, x, i);
    }
    for (uint32_t s = 0; s < f->p->nstages; s++)
        if (twice >> s & 1) x->of_stage[s] = RS_NONE;
    fill(f, x);
}

static void group(struct finding *f, enum rs_pipeline_source source)
{
    switch (how_grouped(f)) {
    case IN_PARALLEL: group_parallel(f, source); return;
    case ALL_TOGETHER: group_all(f, source); return;
    case EACH_ITS_OWN: break;
    }
    for (uint32_t i = 0; i < f->n; i++) {
        if (!f->masks[i]) continue;
        struct rs_job_pipeline *x = new_pipeline(f, source, 1);
        add_place(f, x, i);
        fill(f, x);
    }
}

/* ---- from a file ---- */

static void say_stage(struct finding *f, uint32_t stage)
{
    char text[300];
    int32_t rank = -1;
    for (uint32_t i = 0; i < f->o->ntimes && rank < 0; i++)
        if (f->o->times[i].stage == stage) rank = f->o->times[i].rank;
    snprintf(text, sizeof text, "stage %.80s is on rank %" PRId32 ", which --rank leaves out", f->p->names[stage],
             rank);
    f->p->why = rs_strdup(text);
}

static void find_in_file(struct finding *f)
{
    uint32_t all = 0, in = 0;
    for (uint32_t i = 0; i < f->o->ntimes; i++)
        if (f->o->times[i].stage < RS_STAGES_MAX) all |= 1u << f->o->times[i].stage;
    for (uint32_t i = 0; i < f->n; i++) {
        uint32_t n;
        const struct rs_stage_time *rows = times_of(f->o, f->places[i].rank, &n);
        for (uint32_t k = 0; k < n; k++)
            if (rows[k].stage < RS_STAGES_MAX) f->masks[i] |= 1u << rows[k].stage;
        in |= f->masks[i];
    }
    for (uint32_t s = 0; s < f->p->nstages && !f->p->why; s++)
        if (all >> s & ~in >> s & 1) say_stage(f, s);
    group(f, RS_PIPELINE_FILE);
}

/* ---- by name ---- */

static void say_no_match(struct finding *f, uint32_t stage)
{
    char text[200];
    snprintf(text, sizeof text, "nothing matches stage %.40s (%.60s)%s", f->o->patterns[stage].name,
             f->o->patterns[stage].pattern, f->n > 1 ? " on any rank" : "");
    f->p->why = rs_strdup(text);
    for (uint32_t i = 0; i < f->n; i++)
        if (f->places[i].track) f->places[i].why = rs_strdup(text);
}

static void find_by_name(struct finding *f)
{
    uint32_t all = 0;
    f->hits = rs_zalloc((size_t)f->n + 1, sizeof *f->hits);
    f->of_names = rs_stages_of_names(f->t->view->model, f->o->patterns, f->o->npatterns);
    for (uint32_t i = 0; i < f->n; i++) {
        if (!f->places[i].track) continue;
        rs_stages_count(&f->hits[i], f->t, f->places[i].track, f->of_names, f->o->filter);
        f->masks[i] = f->hits[i].mask;
        all |= f->masks[i];
    }
    for (uint32_t s = 0; s < f->o->npatterns; s++) {
        if (all >> s & 1) continue;
        say_no_match(f, s);
        return;
    }
    bool across = how_grouped(f) != EACH_ITS_OWN;
    for (uint32_t i = 0; i < f->n; i++) {
        if (!f->places[i].track || across) continue; /* counted again: after the warm-up steps */
        rs_stages_count(&f->hits[i], f->t, f->places[i].track, f->of_names, f->o->after_warmup);
        f->masks[i] = f->hits[i].mask;
        if (!f->masks[i]) f->places[i].why = rs_strdup("no stage occurs here");
    }
    group(f, RS_PIPELINE_NAMES);
    for (uint32_t i = 0; i < f->n && !f->p->n && !f->p->why; i++)
        if (f->places[i].why) f->p->why = rs_strdup(f->places[i].why);
}

/* ---- between sends and receives ---- */

enum { LEAST_PERIODS = 3 }; /* of a pipeline that was not requested */

/* Whether a rank takes part in collectives. */
static bool has_collectives(const struct rs_model *m, const struct rs_rank_track *track)
{
    for (uint32_t i = 0; i < track->nparts; i++)
        if (m->parts.kind[track->parts[i]] != RS_PART_SEND && m->parts.kind[track->parts[i]] != RS_PART_RECV)
            return true;
    return false;
}

/* Whether sends and receives divide steps into chunks, the micro-batches: one exchange per step, such as a ring of all
 * ranks, is no pipeline. Where steps are unknown, collectives may be what a step consists of. */
static bool has_chunks(const struct finding *f, const struct rs_pipeline *x, const struct rs_rank_track *track)
{
    if (x->periods < LEAST_PERIODS) return false;
    if (f->o->step_ns == RS_TIME_NONE) return !has_collectives(f->t->view->model, track);
    return x->period.p50 < f->o->step_ns / 3 * 2;
}

static void find_pairs(struct finding *f)
{
    for (uint32_t i = 0; i < f->n; i++) {
        struct rs_stage_times s = {0};
        struct rs_job_pipeline x = {.source = RS_PIPELINE_PAIRS};
        if (!f->places[i].track) continue;
        rs_stages_by_pairs(&s, f->t, f->places[i].track, f->o->after_warmup);
        if (!s.why[0]) {
            rs_pipeline_find(&x.pipeline, s.rows, s.n,
                             &(struct rs_pipeline_options){.nstages = f->p->nstages, .warmup = f->o->warmup});
            if (has_chunks(f, &x.pipeline, f->places[i].track)) {
                struct rs_job_pipeline *to = new_pipeline(f, x.source, 1);
                to->pipeline = x.pipeline;
                f->masks[i] = 3;
                add_place(f, to, i);
            } else {
                rs_pipeline_free(&x.pipeline);
            }
        }
        rs_stage_times_free(&s);
    }
}

/* ---- words ---- */

static void say_why(const struct rs_pipelines *p, const struct rs_job_pipeline *x, struct rs_strbuf *text)
{
    const struct rs_pipeline *y = &x->pipeline;
    uint32_t only = 0;
    while (only + 1 < y->nstages && !(y->present >> only & 1)) only++;
    switch (y->no_score) {
    case RS_NO_SCORE_STAGES:
        rs_strbuf_printf(text, "there is only one stage (%s), and a pipeline has two or more", p->names[only]);
        if (p->why) rs_strbuf_printf(text, "; %s", p->why);
        break;
    case RS_NO_SCORE_CHUNKS: rs_strbuf_printf(text, "there is only one chunk: its stages do not repeat"); break;
    case RS_NO_SCORE_WARMUP:
        rs_strbuf_printf(text,
                         "of %" PRIu32 " chunks %" PRIu32 " %s warm-up (--warmup), and two consecutive ones after that "
                         "are required",
                         y->chunks, y->warmup, y->warmup == 1 ? "is" : "are");
        break;
    case RS_NO_SCORE_GAPS:
        rs_strbuf_printf(text, "no two chunks after the warm-up have consecutive numbers, or their starts do not "
                               "increase: the period is unknown");
        break;
    case RS_NO_SCORE_MISSING:
        rs_strbuf_printf(text, "stage %s does not occur after the warm-up", p->names[y->missing]);
        break;
    case RS_NO_SCORE_EMPTY:
        rs_strbuf_printf(text, "all stages but one take no time: there is nothing to overlap");
        break;
    case RS_SCORED: break;
    }
}

/* ---- all of it ---- */

static void name_stages(struct rs_pipelines *p, const struct rs_pipelines_options *o)
{
    static const char *const pairs[] = {"compute", "comm"};
    uint32_t n = o->ntimes ? o->nnames : o->npatterns ? o->npatterns : 2;
    p->nstages = n < RS_STAGES_MAX ? n : RS_STAGES_MAX;
    for (uint32_t i = 0; i < p->nstages; i++)
        p->names[i] = o->ntimes ? o->names[i] : o->npatterns ? o->patterns[i].name : pairs[i];
}

void rs_pipelines_find(struct rs_pipelines *p, const struct rs_rank_tracks *t, struct rs_pipeline_place *places,
                       uint32_t n, const struct rs_pipelines_options *o)
{
    struct finding f = {.p = p, .t = t, .places = places, .n = n, .o = o};
    *p = (struct rs_pipelines){.rows = rs_alloc(((size_t)n + 1) * sizeof *p->rows)};
    name_stages(p, o);
    f.masks = rs_zalloc((size_t)n + 1, sizeof *f.masks);
    for (uint32_t i = 0; i < n; i++) {
        places[i].pipeline = RS_NONE;
        places[i].why = NULL;
    }
    if (o->ntimes) qsort(o->times, o->ntimes, sizeof *o->times, by_rank);
    if (o->ntimes)
        find_in_file(&f);
    else if (o->npatterns)
        find_by_name(&f);
    else
        find_pairs(&f);
    for (uint32_t i = 0; i < p->n; i++) {
        struct rs_strbuf text = {0};
        say_why(p, &p->rows[i], &text);
        if (p->rows[i].pipeline.no_score) rs_strbuf_take(&text, &p->rows[i].no_score);
        rs_strbuf_free(&text);
    }
    free(f.masks);
    free(f.hits);
    free(f.of_names);
}

void rs_pipelines_free(struct rs_pipelines *p)
{
    for (uint32_t i = 0; i < p->n; i++) {
        rs_pipeline_free(&p->rows[i].pipeline);
        free(p->rows[i].places);
        free(p->rows[i].no_score);
    }
    free(p->rows);
    free(p->why);
    *p = (struct rs_pipelines){0};
}

const char *rs_pipeline_no_causes(const struct rs_job_pipeline *x)
{
    if (x->source == RS_PIPELINE_PAIRS || !(x->pipeline.present & (x->pipeline.present - 1))) return NULL;
    switch (x->pipeline.no_causes) {
    case RS_NO_CAUSES_CLOCKS:
        return x->source == RS_PIPELINE_FILE
                   ? "the stages lie on ranks whose clocks are not known to be one (--same-host: "
                     "they are)"
                   : "the clocks of the ranks cannot be compared";
    case RS_NO_CAUSES_CHUNKS: return "chunks are not matched across ranks: the traces do not cover the same ones";
    case RS_NO_CAUSES_STAGES: return "a stage lies on several ranks";
    case RS_NO_CAUSES_ORDER:
        return "some chunks are at a stage before the previous one has begun: clocks or chunks differ";
    case RS_CAUSES_KNOWN: break;
    }
    return NULL;
}

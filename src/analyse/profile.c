#include "analyse/profile.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/quantile.h"
#include "analyse/words.h"
#include "base/map.h"
#include "base/memory.h"

/* ---- the conclusion ----
 * The last lines of `ringscope overlap`: sentences that an operator can act on. Nothing below the clock error. */

/* Totals of all ranks whose compute is recorded. */
struct totals {
    uint32_t ranks, blind; /* with compute; with NCCL operations only */
    uint32_t split; /* ranks whose waits are known */
    double span, wait, transfer, unclear, idle, launch_gaps, host_gaps;
    double wait_error;
    int64_t most_unclear; /* of any rank: of exposed time */
    uint32_t least, most; /* rows with the least and the most waiting; RS_NONE */
    uint32_t idlest; /* by the host's gaps */
    uint32_t synchronised; /* ranks with a synchronisation after each block */
};

static double ns_of(int64_t ns)
{
    return ns == RS_TIME_NONE ? 0 : (double)ns;
}

/* Gaps of the host without its longest one, if that is most of them: it happened once. */
static double steady_gaps(const struct rs_launches *l)
{
    int64_t ns = l->host_gap_ns;
    return ns_of(l->longest_host_gap_ns > ns / 2 ? rs_time_minus(ns, l->longest_host_gap_ns) : ns);
}

static void look_at(struct totals *t, const struct rs_profile *p, uint32_t i)
{
    const struct rs_profile_row *row = &p->rows[i];
    const struct rs_overlap_times *x = &row->overlap.exact;
    if (row->track && !row->track->has_work) t->blind++;
    if (!row->track || !row->track->has_work || x->span == RS_TIME_NONE) return;
    t->ranks++;
    t->span += ns_of(x->span);
    t->wait += ns_of(x->wait);
    t->transfer += ns_of(x->transfer);
    t->unclear += ns_of(x->unclear);
    if (x->unclear > t->most_unclear) t->most_unclear = x->unclear;
    t->idle += ns_of(x->idle);
    t->launch_gaps += ns_of(row->launches.launch_gap_ns);
    t->host_gaps += steady_gaps(&row->launches);
    t->wait_error += ns_of(row->overlap.wait_error_ns);
    t->synchronised += row->launches.synchronised >= RS_SYNC_RANGES;
    if (x->wait != RS_TIME_NONE) {
        t->split++;
        if (t->least == RS_NONE || x->wait < p->rows[t->least].overlap.exact.wait) t->least = i;
        if (t->most == RS_NONE || x->wait > p->rows[t->most].overlap.exact.wait) t->most = i;
    }
    if (t->idlest == RS_NONE || steady_gaps(&row->launches) > steady_gaps(&p->rows[t->idlest].launches)) t->idlest = i;
}

static void words_rank(struct rs_strbuf *s, const struct rs_profile *p, uint32_t i)
{
    const struct rs_profile_row *row = &p->rows[i];
    if (row->rank >= 0)
        rs_strbuf_printf(s, "rank %" PRId32, row->rank);
    else if (row->track)
        rs_strbuf_printf(s, "process %" PRIu32, p->view.model->procs[row->track->proc].pid);
    else
        rs_strbuf_puts(s, "the rank");
}

static void say(struct rs_profile *p, struct rs_strbuf *s)
{
    if (p->nconclusion == sizeof p->conclusion / sizeof *p->conclusion) {
        rs_strbuf_clear(s);
        return;
    }
    rs_strbuf_take(s, &p->conclusion[p->nconclusion]);
    p->nconclusion++;
}

/* ---- sentences ---- */

enum { UNCLEAR_SHARE = 10 }; /* unknown time is small up to this share of the difference that a sentence relies on */

/* Waiting in NCCL without concurrent compute: imbalance. The others wait for the rank that waits least, if the report
 * names it (it is late beyond chance), if it waits less than half as long as the rank that waits most, beyond the error,
 * and if unknown time of any rank could not change that. */
static void say_wait(struct rs_profile *p, const struct totals *t, const bool *named, struct rs_strbuf *s)
{
    const struct rs_profile_row *late = &p->rows[t->least];
    const struct rs_overlap *least = &late->overlap, *most = &p->rows[t->most].overlap;
    rs_strbuf_printf(s, "%.0f %% of the GPUs' time is waiting for other ranks in NCCL without concurrent compute",
                     100 * t->wait / t->span);
    int64_t lead = rs_time_minus(most->exact.wait, least->exact.wait);
    bool one = t->split > 1 && least->exact.wait < most->exact.wait / 2 && lead / 2 > most->wait_error_ns;
    if (one && t->most_unclear > lead / UNCLEAR_SHARE) {
        rs_strbuf_puts(s, "; for which rank is unknown, because for some ranks too much time may be either waiting or "
                          "transfer: `ringscope report` shows which rank was late in which operation.");
    } else if (one && named && late->track->rank_id != RS_NONE && named[late->track->rank_id]) {
        rs_strbuf_puts(s, ". The others wait for ");
        words_rank(s, p, t->least);
        rs_strbuf_puts(s, ", which `ringscope report` names, and which itself waits for only ");
        rs_words_ns(s, least->exact.wait);
        rs_strbuf_puts(s, " (");
        words_rank(s, p, t->most);
        rs_strbuf_puts(s, ": ");
        rs_words_ns(s, most->exact.wait);
        rs_strbuf_printf(s, "); its GPU is idle for %.0f %% of the time", rs_idle_pct(&least->exact));
        if (steady_gaps(&late->launches) > ns_of(least->exact.idle) / 2)
            rs_strbuf_puts(s, ", mostly because its host launches nothing: check what the program does there");
        rs_strbuf_putc(s, '.');
    } else {
        rs_strbuf_puts(
            s, ", and no single rank stands out: `ringscope report` shows which rank was late in which operation.");
    }
    say(p, s);
}

static void say_transfer(struct rs_profile *p, const struct totals *t, struct rs_strbuf *s)
{
    rs_strbuf_printf(s,
                     "%.0f %% of the GPUs' time is transfers without concurrent compute: hide communication "
                     "behind compute (start it earlier, on a separate stream), or make it faster.",
                     100 * t->transfer / t->span);
    say(p, s);
}

static void say_launches(struct rs_profile *p, const struct totals *t, struct rs_strbuf *s)
{
    const struct rs_launches *l = &p->rows[t->idlest].launches;
    rs_strbuf_printf(s, "Launch-bound: for %.0f %% of the time GPUs are idle because the next launch is late",
                     100 * t->launch_gaps / t->span);
    if (l->median_kernel_ns != RS_TIME_NONE) {
        rs_strbuf_puts(s, " (kernels of ");
        rs_words_ns(s, l->median_kernel_ns);
        rs_strbuf_puts(s, " typically");
        if (!isnan(l->kernels_a_step)) rs_strbuf_printf(s, ", %.0f a step", l->kernels_a_step);
        rs_strbuf_putc(s, ')');
    }
    rs_strbuf_puts(s, ": CUDA graphs, fused kernels or larger batches help.");
    say(p, s);
}

static void say_host(struct rs_profile *p, struct rs_strbuf *s, uint32_t row)
{
    const struct rs_profile_row *r = &p->rows[row];
    rs_strbuf_puts(s, "The GPU of ");
    words_rank(s, p, row);
    rs_strbuf_printf(s, " is idle for %.0f %% of the time because its host launches nothing (",
                     100 * ns_of(r->launches.host_gap_ns) / ns_of(r->overlap.exact.span));
    rs_words_ns(s, r->launches.host_gap_ns);
    rs_strbuf_printf(s, " in %" PRIu64 " gaps): check what the program does there (input, synchronisation, CPU work).",
                     r->launches.host_gaps);
    say(p, s);
}

/* "rank 1", "ranks 0 and 1", "4 ranks" */
static void words_ranks(struct rs_strbuf *s, const struct rs_profile *p, const struct rs_job_pipeline *x)
{
    if (x->nplaces == 1) {
        words_rank(s, p, x->places[0]);
        return;
    }
    int32_t first = p->rows[x->places[0]].rank, second = p->rows[x->places[1]].rank;
    if (x->nplaces == 2 && first >= 0 && second >= 0)
        rs_strbuf_printf(s, "ranks %" PRId32 " and %" PRId32, first, second);
    else
        rs_strbuf_printf(s, "%" PRIu32 " ranks", x->nplaces);
}

/* "rank 1 (decode, B, emit)", "stage B" */
static void words_station(struct rs_strbuf *s, const struct rs_profile *p, const struct rs_job_pipeline *x, uint32_t k)
{
    const struct rs_station *y = &x->pipeline.stations[k];
    if (x->nplaces == 1) {
        rs_strbuf_printf(s, "stage %s", p->pipelines.names[y->first]);
        return;
    }
    words_rank(s, p, x->of_stage[y->first]);
    for (uint32_t i = y->first; i <= y->last; i++)
        if (x->pipeline.present >> i & 1)
            rs_strbuf_printf(s, "%s%s", i == y->first ? " (" : ", ", p->pipelines.names[i]);
    rs_strbuf_putc(s, ')');
}

enum { WORTH_SAYING = 10 }; /* idle time below this share of the period is not mentioned */

/* The station that waits most for another, per chunk. */
static void say_bubble(struct rs_profile *p, struct rs_strbuf *s)
{
    const struct rs_pipeline *y = &p->worst->pipeline;
    uint32_t station = RS_NONE, cause = RS_NONE;
    int64_t most = 0;
    for (uint32_t i = 0; i < y->nstations; i++)
        for (uint32_t k = 0; k < y->nstations; k++) {
            if (i == k || y->stations[i].caused[k] <= most) continue;
            most = y->stations[i].caused[k];
            station = i;
            cause = k;
        }
    if (station == RS_NONE || most / y->periods < y->period.p50 / WORTH_SAYING) return;
    rs_strbuf_puts(s, "In each period ");
    words_station(s, p, p->worst, station);
    rs_strbuf_puts(s, " is idle for ");
    rs_words_ns(s, y->stations[station].idle.p50);
    rs_strbuf_puts(s, ", mostly waiting for ");
    words_station(s, p, p->worst, cause);
    rs_strbuf_puts(s, ".");
    say(p, s);
}

static void say_pipeline(struct rs_profile *p, struct rs_strbuf *s)
{
    const struct rs_pipeline *x = &p->worst->pipeline;
    rs_strbuf_printf(s, "Pipeline of ");
    words_ranks(s, p, p->worst);
    rs_strbuf_printf(s, "%s: ", p->pipelines.n > 1 ? ", the lowest" : "");
    if (x->verdict == RS_PIPELINED)
        rs_strbuf_puts(s, "its stages overlap fully");
    else if (x->verdict == RS_SERIALISED)
        rs_strbuf_puts(s, "its stages run one after the other");
    else
        rs_strbuf_puts(s, "its stages overlap partly");
    rs_strbuf_printf(s, " (score %.2f, ", x->score);
    rs_words_ns(s, x->hidden_ns);
    rs_strbuf_puts(s, " hidden in a period of ");
    rs_words_ns(s, x->period.p50);
    rs_strbuf_putc(s, ')');
    if (x->bubble_ns > 0) {
        rs_strbuf_puts(s, ", with a bubble of ");
        rs_words_ns(s, x->bubble_ns);
        rs_strbuf_puts(s, " in which none of them runs");
    }
    rs_strbuf_putc(s, '.');
    if (p->pipelines.why) rs_strbuf_printf(s, " It is not all of it: %s.", p->pipelines.why);
    say(p, s);
    say_bubble(p, s);
}

/* Stages were asked for, and there is no score. */
static void say_no_score(struct rs_profile *p, struct rs_strbuf *s)
{
    if (p->pipelines.n ? p->pipelines.rows[0].source == RS_PIPELINE_PAIRS : !p->pipelines.why) return;
    rs_strbuf_puts(s, "No score: ");
    rs_strbuf_puts(s, p->pipelines.n ? p->pipelines.rows[0].no_score : p->pipelines.why);
    rs_strbuf_putc(s, '.');
    say(p, s);
}

static void say_blind(struct rs_profile *p, const struct totals *t, struct rs_strbuf *s)
{
    rs_strbuf_printf(
        s, "%s: NCCL does not report compute. Add a PyTorch profiler (Kineto) or Nsight Systems trace of the job.",
        t->ranks ? "Overlap is unknown for some ranks" : "Overlap is unknown");
    say(p, s);
}

/* The largest loss first, and a second one if it is not much smaller. Nothing below 5 % of the time. */
static void say_losses(struct rs_profile *p, const struct totals *t, const bool *named, struct rs_strbuf *s)
{
    enum { WAIT, TRANSFER, LAUNCHES, HOST, LOSSES, FEWEST_GAPS = 5 };
    double loss[LOSSES] = {t->wait > t->wait_error ? t->wait : 0, t->transfer, t->launch_gaps, t->host_gaps};
    if (p->rows[t->idlest].launches.host_gaps < FEWEST_GAPS) loss[HOST] = 0; /* too few to tell */
    double first = 0;
    for (int said = 0; said < 2; said++) {
        int worst = 0;
        for (int i = 1; i < LOSSES; i++)
            if (loss[i] > loss[worst]) worst = i;
        if (loss[worst] < 0.05 * t->span || loss[worst] < first / 4) break;
        first = loss[worst] > first ? loss[worst] : first;
        loss[worst] = 0;
        switch (worst) {
        case WAIT: say_wait(p, t, named, s); break;
        case TRANSFER: say_transfer(p, t, s); break;
        case LAUNCHES: say_launches(p, t, s); break;
        default: say_host(p, s, t->idlest); break;
        }
    }
    if (first > 0) return;
    if (t->unclear > 0.05 * t->span)
        rs_strbuf_printf(s,
                         "%.0f %% of the GPUs' time is communication without concurrent compute; how much of it is "
                         "waiting is unknown: that needs traces of all ranks, and clock errors below the waits.",
                         100 * t->unclear / t->span);
    else
        rs_strbuf_puts(s, "Communication costs little: neither exposed communication nor gaps in GPU work reach 5 % "
                          "of the time.");
    say(p, s);
}

/* The rank that compiled for the longest time, and the graph breaks of the one with the most. */
static void say_compiled(struct rs_profile *p, struct rs_strbuf *s)
{
    uint32_t compiles = RS_NONE, breaks = RS_NONE;
    for (uint32_t i = 0; i < p->nrows; i++) {
        const struct rs_compiled *c = &p->rows[i].compiled;
        if (c->recompilations && (compiles == RS_NONE || c->compile_ns > p->rows[compiles].compiled.compile_ns))
            compiles = i;
        if (c->breaks && (breaks == RS_NONE || c->breaks > p->rows[breaks].compiled.breaks)) breaks = i;
    }
    if (compiles != RS_NONE) {
        const struct rs_compiled *c = &p->rows[compiles].compiled;
        rs_strbuf_puts(s, "torch.compile: ");
        words_rank(s, p, compiles);
        rs_strbuf_printf(s, " recompiled %" PRIu64 " time%s, ", c->recompilations, c->recompilations == 1 ? "" : "s");
        rs_words_ns(s, c->compile_ns);
        rs_strbuf_puts(s, " on its host: shapes or other guards change (TORCH_LOGS=recompiles names them).");
        say(p, s);
    }
    if (breaks != RS_NONE) {
        const struct rs_compiled *c = &p->rows[breaks].compiled;
        rs_strbuf_puts(s, "torch.compile: on ");
        words_rank(s, p, breaks);
        rs_strbuf_printf(s,
                         " compiled code breaks into more graphs %.3g times per call (%" PRIu64
                         " graph breaks in %" PRIu64 " calls; TORCH_LOGS=graph_breaks names them).",
                         (double)c->breaks / (double)c->regions, c->breaks, c->regions);
        say(p, s);
    }
}

static void conclude(struct rs_profile *p, const bool *named, struct rs_strbuf *s)
{
    struct totals t = {.least = RS_NONE, .most = RS_NONE, .idlest = RS_NONE};
    for (uint32_t i = 0; i < p->nrows; i++) look_at(&t, p, i);
    if (t.synchronised) {
        rs_strbuf_printf(
            s,
            "This profile was taken with a synchronisation after each %s: it shows where time is spent, not "
            "what overlaps, nor how fast the program is otherwise.",
            p->rows[t.idlest].launches.synchronised == RS_SYNC_KERNELS ? "kernel" : "block");
        say(p, s);
    }
    if (t.ranks && t.span > 0) say_losses(p, &t, named, s);
    say_compiled(p, s);
    if (p->worst && p->worst->source != RS_PIPELINE_PAIRS) say_pipeline(p, s);
    if (!p->worst) say_no_score(p, s);
    if (t.blind) say_blind(p, &t, s);
    if (p->nconclusion) return;
    if (!p->nrows)
        rs_strbuf_puts(s, "No rank has a time axis: overlap is unknown.");
    else
        rs_strbuf_puts(s, "No kernel times: overlap is unknown.");
    say(p, s);
}

/* Fills p->conclusion from the rest. */
static void profile_conclude(struct rs_profile *p, const bool *named)
{
    struct rs_strbuf s = {0};
    conclude(p, named, &s);
    rs_strbuf_free(&s);
}

/* ---- rows ---- */

static void measure_steps(struct rs_profile_row *row)
{
    const struct rs_markers *s = &row->steps;
    row->step_ns = rs_quantiles_of(NULL, 0);
    if (!s->n) return;
    int64_t *ns = rs_alloc(s->n * sizeof *ns);
    for (uint32_t i = 0; i < s->n; i++) ns[i] = s->windows[i].length;
    row->step_ns = rs_quantiles_of(ns, s->n);
    free(ns);
}

static void fill_row(struct rs_profile *p, struct rs_profile_row *row, const struct rs_profile_options *o,
                     struct rs_sweep *sweep)
{
    const struct rs_rank_track *track = row->track;
    row->rank = track->rank;
    rs_overlap_find(&row->overlap, &p->tracks, track, &p->filter, sweep);
    rs_markers_find(&row->steps, p->view.model, track, &p->steps, o->filter);
    measure_steps(row);
    rs_kernels_find(&row->kernels, &p->tracks, track, &p->filter);
    rs_launches_find(&row->launches, &p->tracks, track, &row->steps, &p->filter);
    rs_stretches_find(&row->stretches, &p->tracks, track, &p->filter);
    rs_compiled_find(&row->compiled, &p->tracks, track, &p->filter);
    rs_ranges_find(&row->ranges, &p->tracks, track, &row->steps, &p->filter);
}

/* Ranks of the file of stages, by rank. */
static int by_rank(const void *a, const void *b)
{
    const struct rs_stage_time *x = a, *y = b;
    return x->rank < y->rank ? -1 : x->rank > y->rank;
}

static uint32_t count_file_ranks(const struct rs_profile_options *o)
{
    uint32_t n = 0;
    if (o->ntimes) qsort(o->times, o->ntimes, sizeof *o->times, by_rank);
    for (uint32_t i = 0; i < o->ntimes; i++) n += !i || o->times[i].rank != o->times[i - 1].rank;
    return n;
}

static int rows_by_rank(const void *a, const void *b)
{
    const struct rs_profile_row *x = a, *y = b;
    uint32_t i = (uint32_t)x->rank, k = (uint32_t)y->rank; /* unknown is -1: the last */
    if (i != k) return i < k ? -1 : 1;
    return x->track < y->track ? -1 : x->track > y->track;
}

static bool rank_passes(const struct rs_filter *f, int32_t rank)
{
    bool in = !f->nranks;
    for (size_t i = 0; i < f->nranks; i++) in |= rank >= f->ranks[i].from && rank <= f->ranks[i].to;
    return in;
}

/* Those that occur only there. */
static void add_file_ranks(struct rs_profile *p, const struct rs_profile_options *o)
{
    struct rs_map known = {0};
    for (uint32_t i = 0; i < p->nrows; i++) rs_map_put(&known, (uint32_t)p->rows[i].rank, 1);
    for (uint32_t i = 0; i < o->ntimes; i++) {
        int32_t rank = o->times[i].rank;
        if (rs_map_find(&known, (uint32_t)rank) || !rank_passes(o->filter, rank)) continue;
        struct rs_profile_row *row = &p->rows[p->nrows++];
        row->rank = rank;
        rs_overlap_none(&row->overlap);
        row->step_ns = rs_quantiles_of(NULL, 0);
        rs_map_put(&known, (uint32_t)rank, 1);
    }
    rs_map_free(&known);
}

/* ---- pipelines ---- */

static void find_pipelines(struct rs_profile *p, const struct rs_profile_options *o)
{
    struct rs_pipeline_place *places = rs_zalloc((size_t)p->nrows + 1, sizeof *places);
    struct rs_pipelines_options options = {.patterns = o->patterns,
                                           .npatterns = o->npatterns,
                                           .times = o->times,
                                           .names = o->names,
                                           .ntimes = o->ntimes,
                                           .nnames = o->nnames,
                                           .one_clock = o->one_clock,
                                           .warmup = o->warmup,
                                           .filter = o->filter,
                                           .after_warmup = &p->filter,
                                           .step_ns = p->steps.usual_ns};
    for (uint32_t i = 0; i < p->nrows; i++)
        places[i] = (struct rs_pipeline_place){.track = p->rows[i].track, .rank = p->rows[i].rank};
    rs_pipelines_find(&p->pipelines, &p->tracks, places, p->nrows, &options);
    for (uint32_t i = 0; i < p->nrows; i++) {
        p->rows[i].no_stages = places[i].why;
        if (places[i].pipeline != RS_NONE) p->rows[i].pipeline = &p->pipelines.rows[places[i].pipeline];
    }
    free(places);
    for (uint32_t i = 0; i < p->pipelines.n; i++) {
        const struct rs_job_pipeline *x = &p->pipelines.rows[i];
        if (isnan(x->pipeline.score) || (p->worst && p->score <= x->pipeline.score)) continue;
        p->score = x->pipeline.score;
        p->worst = x;
    }
}

static enum rs_status make(struct rs_profile *p, const struct rs_model *m, const struct rs_profile_options *o,
                           struct rs_sweep *sweep, struct rs_err *err)
{
    rs_view_init(&p->view, m, o->filter);
    rs_rank_tracks_init(&p->tracks, &p->view, o->filter, o->npatterns > 0);
    RS_TRY(rs_steps_find(&p->steps, &p->view, err));
    rs_steps_within(&p->steps, o->filter, o->warmup_steps);
    p->filter = rs_steps_filter(&p->steps, o->filter);
    p->rows = rs_zalloc((size_t)p->tracks.n + count_file_ranks(o) + 1, sizeof *p->rows);
    for (uint32_t i = 0; i < p->tracks.n; i++) {
        struct rs_profile_row *row = &p->rows[p->nrows++];
        row->track = &p->tracks.rows[i];
        fill_row(p, row, o, sweep);
    }
    add_file_ranks(p, o);
    if (p->nrows) qsort(p->rows, p->nrows, sizeof *p->rows, rows_by_rank);
    find_pipelines(p, o);
    profile_conclude(p, o->named);
    return RS_OK;
}

enum rs_status rs_profile_init(struct rs_profile *p, const struct rs_model *m, const struct rs_profile_options *o,
                               struct rs_err *err)
{
    struct rs_sweep sweep = {0};
    *p = (struct rs_profile){.score = NAN};
    enum rs_status status = make(p, m, o, &sweep, err);
    rs_sweep_free(&sweep);
    if (status != RS_OK) rs_profile_free(p);
    return status;
}

void rs_profile_free(struct rs_profile *p)
{
    for (uint32_t i = 0; i < p->nrows; i++) {
        rs_markers_free(&p->rows[i].steps);
        rs_kernels_free(&p->rows[i].kernels);
        rs_launches_free(&p->rows[i].launches);
        rs_stretches_free(&p->rows[i].stretches);
        rs_ranges_free(&p->rows[i].ranges);
        free(p->rows[i].no_stages);
    }
    free(p->rows);
    for (size_t i = 0; i < p->nconclusion; i++) free(p->conclusion[i]);
    rs_pipelines_free(&p->pipelines);
    rs_steps_free(&p->steps);
    rs_rank_tracks_free(&p->tracks);
    rs_view_free(&p->view);
    *p = (struct rs_profile){0};
}

#include "compare/figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/quantile.h"
#include "base/memory.h"
#include "base/room.h"
#include "base/units.h"
#include "join/durations.h"
#include "join/op_facts.h"

enum {
    MOST_KERNELS = 40, /* that a run keeps, by their time */
    MOST_VALUES = 8, /* of a setting */
    BATCHES = 8,
};

const struct rs_measure_row rs_measures[RS_MEASURE_COUNT] = {
#define RS_MEASURE(id, name, unit, better, scale, words)                                                               \
    {name, words, RS_UNIT_##unit, RS_BETTER_##better, RS_SCALE_##scale},
    RS_MEASURES(RS_MEASURE)
#undef RS_MEASURE
};

/* ---- lists ---- */

void rs_run_figure(struct rs_run_figures *f, const struct rs_figure *figure)
{
    if (!isfinite(figure->value)) return;
    if (rs_measures[figure->measure].scale == RS_SCALE_RATIO && !(figure->value > 0)) return;
    RS_ROOM(f->figures, f->nfigures, f->cap_figures);
    struct rs_figure *x = &f->figures[f->nfigures++];
    *x = *figure;
    x->of = rs_strdup(figure->of ? figure->of : "");
}

void rs_run_finding(struct rs_run_figures *f, const struct rs_run_finding *x)
{
    RS_ROOM(f->findings, f->nfindings, f->cap_findings);
    f->findings[f->nfindings++] = (struct rs_run_finding){.kind = rs_strdup(x->kind),
                                                          .scope = rs_strdup(x->scope),
                                                          .name = rs_strdup(x->name),
                                                          .why = x->why ? rs_strdup(x->why) : NULL,
                                                          .rank = x->rank,
                                                          .late = x->late,
                                                          .cost = x->cost,
                                                          .cost_low = x->cost_low,
                                                          .text = rs_strdup(x->text ? x->text : "")};
}

/* Values in alphabetical order, each once: the same whatever the order of processes. */
static char *with_value(const char *values, const char *value)
{
    struct rs_strbuf s = {0};
    bool added = false;
    unsigned n = 0;
    for (const char *at = values; *at;) {
        size_t k = strcspn(at, ",");
        int order = strncmp(value, at, k);
        if (!order && strlen(value) > k) order = 1;
        if (!order) added = true;
        if (!added && order < 0) {
            rs_strbuf_printf(&s, "%s%s", s.len ? "," : "", value);
            added = true;
        }
        rs_strbuf_printf(&s, "%s%.*s", s.len ? "," : "", (int)k, at);
        at += k + (at[k] == ',');
        n++;
    }
    if (!added && n < MOST_VALUES) rs_strbuf_printf(&s, "%s%s", s.len ? "," : "", value);
    char *text;
    rs_strbuf_take(&s, &text);
    return text;
}

void rs_run_setting(struct rs_run_figures *f, const char *name, const char *value)
{
    for (uint32_t i = 0; i < f->nsettings; i++) {
        struct rs_run_setting *s = &f->settings[i];
        if (strcmp(s->name, name) != 0) continue;
        char *joined = strcmp(s->value, value) ? with_value(s->value, value) : rs_strdup(value);
        free(s->value);
        s->value = joined;
        return;
    }
    RS_ROOM(f->settings, f->nsettings, f->cap_settings);
    f->settings[f->nsettings++] = (struct rs_run_setting){rs_strdup(name), rs_strdup(value)};
}

double rs_run_value(const struct rs_run_figures *f, enum rs_measure measure)
{
    for (uint32_t i = 0; i < f->nfigures; i++)
        if (f->figures[i].measure == measure && f->figures[i].rank < 0 && !*f->figures[i].of)
            return f->figures[i].value;
    return NAN;
}

void rs_run_figures_free(struct rs_run_figures *f)
{
    for (uint32_t i = 0; i < f->nfigures; i++) free(f->figures[i].of);
    for (uint32_t i = 0; i < f->nsettings; i++) {
        free(f->settings[i].name);
        free(f->settings[i].value);
    }
    for (uint32_t i = 0; i < f->nfindings; i++) {
        struct rs_run_finding *x = &f->findings[i];
        char *const texts[] = {x->kind, x->scope, x->name, x->why, x->text};
        for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) free(texts[k]);
    }
    free(f->figures);
    free(f->settings);
    free(f->findings);
    free(f->path);
    free(f->no_stages);
    *f = (struct rs_run_figures){0};
}

/* ---- errors inside a run ---- */

static double middle(double *x, size_t n)
{
    int64_t *values = rs_alloc((n + 1) * sizeof *values);
    for (size_t i = 0; i < n; i++) values[i] = (int64_t)x[i];
    double median = (double)rs_median(values, n);
    free(values);
    return median;
}

static double mean(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++) sum += x[i];
    return n ? sum / (double)n : NAN;
}

/* The standard error of the mean, or the median, of values in order of time: from consecutive batches of them. NAN: too
 * few. */
static double batch_error(double *x, size_t n, bool median)
{
    double of[BATCHES], all, sum = 0;
    size_t batches = n / 2 < BATCHES ? n / 2 : BATCHES;
    if (batches < 2) return NAN;
    for (size_t b = 0; b < batches; b++) {
        size_t from = b * n / batches, to = (b + 1) * n / batches;
        of[b] = median ? middle(x + from, to - from) : mean(x + from, to - from);
    }
    all = mean(of, batches);
    for (size_t b = 0; b < batches; b++) sum += (of[b] - all) * (of[b] - all);
    return sqrt(sum / (double)(batches - 1) / (double)batches);
}

/* Both are errors of the same value, and independent. */
static double together(double a, double b)
{
    return isnan(a) ? NAN : sqrt(a * a + b * b);
}

/* ---- steps ---- */

static bool step_counts(const struct rs_steps *s, uint32_t step)
{
    return step != RS_NONE && step >= s->warmup && s->rows[step].counted;
}

static uint32_t find_steps(struct rs_run_figures *f, const struct rs_report *r)
{
    const struct rs_steps *s = &r->steps;
    double *lengths = rs_alloc(((size_t)s->n + 1) * sizeof *lengths);
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->n; i++)
        if (step_counts(s, i) && s->rows[i].length > 0) lengths[n++] = (double)s->rows[i].length;
    if (n && s->time_ns.p50 != RS_TIME_NONE) {
        double error = batch_error(lengths, n, true);
        const struct {
            enum rs_measure measure;
            int64_t ns;
            double wider; /* of its error, than that of the median */
        } rows[] = {{RS_M_STEP_P50, s->time_ns.p50, 1},
                    {RS_M_STEP_P90, s->time_ns.p90, 1.4},
                    {RS_M_STEP_P99, s->time_ns.p99, 3}};
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
            rs_run_figure(f, &(struct rs_figure){.measure = rows[k].measure,
                                                 .rank = -1,
                                                 .value = (double)rows[k].ns,
                                                 .error = error * rows[k].wider,
                                                 .share = 1});
    }
    free(lengths);
    return n;
}

/* ---- operations ---- */

/* "AllReduce, 8.0 MiB, 8 consecutive ranks (dp), 2 times" */
static char *name_of(const struct rs_model *m, const struct rs_func_row *row)
{
    struct rs_strbuf s = {0};
    const char *func = rs_model_text(m, row->func);
    rs_strbuf_puts(&s, *func ? func : "?");
    if (row->bytes_min != row->bytes_max) { /* sizes of a power of two are one row */
        uint64_t power = 1;
        while (power <= row->bytes / 2) power *= 2;
        rs_strbuf_printf(&s, ", from %s", rs_text_size(power).s);
    } else if (!row->unsized) {
        rs_strbuf_printf(&s, ", %s", rs_text_size(row->bytes).s);
    }
    if (row->class != RS_NONE) rs_strbuf_printf(&s, ", %s", m->classes[row->class].text);
    char *text;
    rs_strbuf_take(&s, &text);
    return text;
}

/* The operations of each row, in order of time. */
struct op_values {
    uint32_t *from; /* of row i: values [from[i], from[i + 1]), of which n[i][k] are known */
    uint32_t (*n)[3];
    double *values[3]; /* time, wait, transfer */
};

static void take_operation(struct op_values *v, const struct rs_model *m, uint32_t row, uint32_t op)
{
    struct rs_op_rank rank;
    int64_t shortest = rs_op_shortest(m, op);
    double time = 0, wait = 0;
    uint32_t timed = 0, waited = 0;
    for (uint32_t at = 0; rs_op_next_rank(m, op, &at, &rank);) {
        int64_t ns = rs_op_rank_duration(m, &rank), waits = rs_op_rank_wait(m, &rank, shortest);
        if (ns != RS_TIME_NONE) time += (double)ns, timed++;
        if (waits != RS_TIME_NONE) wait += (double)waits, waited++;
    }
    int64_t transfer = rs_op_transfer(m, op);
    if (transfer == RS_TIME_NONE) transfer = shortest;
    const struct {
        bool known;
        double value;
    } of[3] = {{timed > 0, time / timed}, {waited > 0, wait / waited}, {transfer > 0, (double)transfer}};
    for (int k = 0; k < 3; k++)
        if (of[k].known) v->values[k][v->from[row] + v->n[row][k]++] = of[k].value;
}

static void op_values_init(struct op_values *v, const struct rs_report *r)
{
    const struct rs_bandwidth *b = &r->bandwidth;
    *v = (struct op_values){.from = rs_zalloc((size_t)b->nrows + 1, sizeof *v->from),
                            .n = rs_zalloc((size_t)b->nrows + 1, sizeof *v->n)};
    for (uint32_t i = 0; i < b->nrows; i++) v->from[i + 1] = v->from[i] + (uint32_t)b->rows[i].calls;
    for (int k = 0; k < 3; k++) v->values[k] = rs_alloc(((size_t)v->from[b->nrows] + 1) * sizeof(double));
    for (uint32_t i = 0; i < r->view.nops; i++) {
        uint32_t op = r->view.ops[i], row = b->row_of[op];
        if (row != RS_NONE && r->view.passes[op]) take_operation(v, r->view.model, row, op);
    }
}

static void op_values_free(struct op_values *v)
{
    for (int k = 0; k < 3; k++) free(v->values[k]);
    free(v->from);
    free(v->n);
}

static void add_operation(struct rs_run_figures *f, const struct rs_report *r, const struct op_values *v, uint32_t i,
                          double all)
{
    const struct rs_func_row *row = &r->bandwidth.rows[i];
    double errors[3], clock = (double)r->basis.totals.error_ns;
    char *name = name_of(r->view.model, row);
    for (int k = 0; k < 3; k++) errors[k] = batch_error(v->values[k] + v->from[i], v->n[i][k], k != 1);
    if (!(clock > 0)) clock = 0;
    double transfer = row->transferred ? (double)row->transfer_p50_ns : NAN;
    struct rs_figure x = {
        .of = name, .rank = -1, .whole = (double)row->p50_ns, .share = all > 0 ? (double)row->total_ns / all : NAN};
    const struct {
        enum rs_measure measure;
        double value, error;
    } of[] = {{RS_M_TIME, row->timed ? (double)row->p50_ns : NAN, errors[0]},
              {RS_M_WAIT, row->waited ? (double)row->wait_sum_ns / (double)row->waited : NAN,
               together(errors[1], row->clock_free ? 0 : clock)},
              {RS_M_TRANSFER, transfer, together(errors[2], row->clock_free ? 0 : clock)},
              {RS_M_BUSBW, row->busbw, together(errors[2], row->clock_free ? 0 : clock) * row->busbw / transfer}};
    for (size_t k = 0; k < sizeof of / sizeof *of; k++) {
        x.measure = of[k].measure;
        x.value = of[k].value;
        x.error = of[k].error;
        rs_run_figure(f, &x);
    }
    free(name);
}

static void find_operations(struct rs_run_figures *f, const struct rs_report *r)
{
    const struct rs_bandwidth *b = &r->bandwidth;
    struct op_values v;
    double all = 0, timed = 0, error = 0;
    op_values_init(&v, r);
    for (uint32_t i = 0; i < b->nrows; i++) {
        double e = batch_error(v.values[0] + v.from[i], v.n[i][0], false) * (double)b->rows[i].timed;
        all += (double)b->rows[i].total_ns;
        timed += (double)b->rows[i].timed;
        if (!isnan(e)) error += e * e;
    }
    for (uint32_t i = 0; i < b->nrows; i++) add_operation(f, r, &v, i, all);
    if (timed > 0)
        rs_run_figure(f, &(struct rs_figure){.measure = RS_M_OPS_TIME,
                                             .rank = -1,
                                             .value = all / timed,
                                             .error = error > 0 ? sqrt(error) / timed : NAN,
                                             .share = 1});
    op_values_free(&v);
}

/* Algorithm, protocol and channels of each row of functions, as far as NCCL reports them. */
static void find_choices(struct rs_run_figures *f, const struct rs_report *r)
{
    static const char *const what[] = {"algorithm", "protocol", "channels"};
    const struct rs_model *m = r->view.model;
    const struct rs_bandwidth *b = &r->bandwidth;
    uint64_t *seen = rs_zalloc((size_t)b->nrows + 1, sizeof *seen); /* the latest, to look only at changes */
    for (uint32_t i = 0; i < r->view.nops; i++) {
        uint32_t op = r->view.ops[i], row = b->row_of[op];
        if (row == RS_NONE || !r->view.passes[op] || !m->ops.nparts[op]) continue;
        uint32_t part = m->order[m->ops.part[op]];
        uint64_t now =
            (uint64_t)m->parts.algo[part] << 32 | (uint64_t)m->parts.proto[part] << 16 | m->parts.channels[part];
        if (now == seen[row]) continue;
        seen[row] = now;
        char channels[16] = "", *name = name_of(m, &b->rows[row]);
        if (m->parts.channels[part]) snprintf(channels, sizeof channels, "%u", m->parts.channels[part]);
        const char *const values[] = {rs_model_text(m, m->parts.algo[part]), rs_model_text(m, m->parts.proto[part]),
                                      channels};
        for (size_t k = 0; k < sizeof what / sizeof *what; k++) {
            struct rs_strbuf s = {0};
            rs_strbuf_printf(&s, "%s of %s", what[k], name);
            if (*values[k]) rs_run_setting(f, rs_strbuf_borrow(&s), values[k]);
            rs_strbuf_free(&s);
        }
        free(name);
    }
    free(seen);
}

/* ---- ranks: what each step of a rank is made of ---- */

enum { OF_GPU, OF_LAUNCH, OF_WAIT, OF_TRANSFER, PARTS };
static const enum rs_measure part_measures[PARTS] = {RS_M_RANK_GPU, RS_M_RANK_LAUNCH, RS_M_RANK_WAIT,
                                                     RS_M_RANK_TRANSFER};

#define MOST_UNENDED 0.05 /* of a run's operations; with more, its steps are not divided */

struct rank_steps {
    const struct rs_report *r;
    float *ns; /* [(part * ranks + rank) * steps + step]; NAN: the rank has no operation in the step */
    uint32_t ranks, steps;
    uint32_t nodes, unended; /* operations of ranks, and those whose end is unknown or reported early */
    bool launches; /* when operations were launched is known */
};

static float *at(const struct rank_steps *s, int part, uint32_t rank, uint32_t step)
{
    return &s->ns[((size_t)part * s->ranks + rank) * s->steps + step];
}

static void add_to(float *to, int64_t ns)
{
    *to = (isnan(*to) ? 0 : *to) + (ns > 0 ? (float)ns : 0);
}

/* When a rank launched its part; RS_TIME_NONE: unknown. */
static int64_t launched_at(const struct rs_model *m, const struct rs_arrival *a)
{
    return a && rs_part_has_launch(m, a->part) ? m->parts.launched[a->part] : RS_TIME_NONE;
}

static void take_node(struct rank_steps *s, const struct rs_node *x, int64_t launched)
{
    const struct rs_graph *g = &s->r->whatif.graph;
    int64_t wait = rs_time_minus(rs_time_minus(x->end, x->tail), x->start), launch = 0, gap = x->gap > 0 ? x->gap : 0;
    if (!step_counts(&s->r->steps, x->step) || (x->pred == RS_NONE && x->head == RS_NONE)) return;
    if (launched != RS_TIME_NONE) {
        int64_t from = x->head != RS_NONE ? g->nodes[x->head].start : g->nodes[x->pred].end;
        launch = rs_time_minus(launched, from);
        launch = launch < 0 ? 0 : launch > gap ? gap : launch;
        s->launches = true;
    }
    add_to(at(s, OF_GPU, x->rank_id, x->step), gap - launch);
    add_to(at(s, OF_LAUNCH, x->rank_id, x->step), launch);
    add_to(at(s, OF_WAIT, x->rank_id, x->step), wait);
    add_to(at(s, OF_TRANSFER, x->rank_id, x->step), x->tail);
}

static void take_nodes(struct rank_steps *s, struct rs_view *all)
{
    const struct rs_graph *g = &s->r->whatif.graph;
    uint32_t *arrival = rs_alloc(((size_t)s->ranks + 1) * sizeof *arrival); /* by rank: 1 + its index */
    memset(arrival, 0, ((size_t)s->ranks + 1) * sizeof *arrival);
    for (uint32_t i = 0; i < g->nops; i++) {
        const struct rs_graph_op *op = &g->ops[i];
        rs_view_arrivals(all, op->op);
        for (uint32_t k = 0; k < all->narrivals; k++) arrival[all->arrivals[k].rank_id] = k + 1;
        for (uint32_t k = 0; k < op->n; k++) {
            const struct rs_node *x = &g->nodes[op->first + k];
            const struct rs_arrival *a = arrival[x->rank_id] ? &all->arrivals[arrival[x->rank_id] - 1] : NULL;
            if (!x->recorded) continue;
            s->nodes++;
            s->unended += a && !rs_part_has_ended(all->model, a->part);
            take_node(s, x, launched_at(all->model, a));
        }
        for (uint32_t k = 0; k < all->narrivals; k++) arrival[all->arrivals[k].rank_id] = 0;
    }
    free(arrival);
}

static void find_ranks(struct rs_run_figures *f, struct rs_report *r)
{
    const struct rs_model *m = r->view.model;
    struct rank_steps s = {.r = r, .ranks = m->nranks, .steps = r->steps.n};
    size_t all = (size_t)PARTS * s.ranks * s.steps;
    if (!all || !r->whatif.graph.nnodes) return;
    s.ns = rs_alloc(all * sizeof *s.ns);
    for (size_t i = 0; i < all; i++) s.ns[i] = NAN;
    take_nodes(&s, &r->all);
    /* Without ends, what is transfer and what comes after it cannot be told apart: a tree all-reduce reports its end early. */
    bool ends = s.unended <= MOST_UNENDED * s.nodes;
    double *values = rs_alloc((size_t)s.steps * sizeof *values);
    for (uint32_t rank = 0; rank < s.ranks; rank++)
        for (int part = 0; part < PARTS && m->ranks[rank].number >= 0; part++) {
            uint32_t n = 0;
            for (uint32_t i = 0; i < s.steps; i++)
                if (!isnan(*at(&s, part, rank, i))) values[n++] = *at(&s, part, rank, i);
            if (!n || (part == OF_LAUNCH && !s.launches) || (part != OF_WAIT && !ends)) continue;
            rs_run_figure(f, &(struct rs_figure){.measure = part_measures[part],
                                                 .rank = m->ranks[rank].number,
                                                 .value = middle(values, n),
                                                 .error = batch_error(values, n, true),
                                                 .whole = (double)r->steps.usual_ns,
                                                 .share = 1});
        }
    free(values);
    free(s.ns);
}

/* ---- kernels, overlap, pipelines ---- */

static void find_kernels(struct rs_run_figures *f, const struct rs_profile *p, uint32_t steps)
{
    const struct rs_kernels **ranks = rs_alloc(((size_t)p->nrows + 1) * sizeof *ranks);
    struct rs_kernels all;
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->nrows; i++)
        if (p->rows[i].kernels.n) ranks[n++] = &p->rows[i].kernels;
    rs_kernels_merge(&all, ranks, n);
    double per = (double)(steps ? steps : 1) * (n ? n : 1), compute = (double)rs_time_minus(all.gpu_ns, all.comm_ns);
    for (uint32_t i = 0, kept = 0; i < all.n && kept < MOST_KERNELS; i++) {
        const struct rs_kernel_row *row = &all.rows[i];
        if (row->kind == RS_ACT_COMM) continue; /* operations are compared */
        kept++;
        rs_run_figure(f, &(struct rs_figure){.measure = RS_M_KERNEL,
                                             .of = (char *)(uintptr_t)rs_model_name_text(p->view.model, row->name),
                                             .rank = -1,
                                             .value = (double)row->total_ns / per,
                                             .share = (double)row->total_ns / compute});
    }
    rs_kernels_free(&all);
    free(ranks);
}

static void find_overlap(struct rs_run_figures *f, const struct rs_profile *p, uint32_t steps, double step_ns)
{
    static const enum rs_measure measures[] = {RS_M_COMPUTE, RS_M_OVERLAP, RS_M_EXPOSED_WAIT, RS_M_EXPOSED_TRANSFER,
                                               RS_M_IDLE};
    enum { N = sizeof measures / sizeof *measures };
    double sums[N] = {0};
    uint32_t n[N] = {0};
    double per = steps ? steps : 1;
    for (uint32_t i = 0; i < p->nrows; i++) {
        const struct rs_profile_row *row = &p->rows[i];
        const struct rs_overlap_times *x = &row->overlap.cut;
        if (!row->track || !row->track->has_work) continue;
        const double values[N] = {x->compute == RS_TIME_NONE ? NAN : (double)x->compute / per, rs_overlap_pct(x),
                                  x->wait == RS_TIME_NONE ? NAN : (double)x->wait / per,
                                  x->transfer == RS_TIME_NONE ? NAN : (double)x->transfer / per, rs_idle_pct(x)};
        for (int k = 0; k < N; k++)
            if (!isnan(values[k])) sums[k] += values[k], n[k]++;
    }
    for (int k = 0; k < N; k++)
        if (n[k])
            rs_run_figure(f, &(struct rs_figure){.measure = measures[k],
                                                 .rank = -1,
                                                 .value = sums[k] / n[k],
                                                 .whole = rs_measures[measures[k]].unit == RS_UNIT_PCT ? 100 : step_ns,
                                                 .share = 1});
}

/* Over the pipelines of the job; stage -1: the period. */
static double median_stage(const struct rs_pipelines *p, int stage)
{
    double *values = rs_alloc(((size_t)p->n + 1) * sizeof *values);
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct rs_pipeline *x = &p->rows[i].pipeline;
        int64_t ns = stage < 0 ? x->period.p50 : x->stages[stage].p50;
        if (ns != RS_TIME_NONE) values[n++] = (double)ns;
    }
    double median = n ? middle(values, n) : NAN;
    free(values);
    return median;
}

static void find_pipeline(struct rs_run_figures *f, const struct rs_profile *p)
{
    const struct rs_pipelines *x = &p->pipelines;
    if (x->why) f->no_stages = rs_strdup(x->why);
    if (!x->n) return;
    rs_run_figure(f, &(struct rs_figure){.measure = RS_M_PERIOD, .rank = -1, .value = median_stage(x, -1), .share = 1});
    for (uint32_t s = 0; s < x->nstages; s++)
        rs_run_figure(f, &(struct rs_figure){.measure = RS_M_STAGE,
                                             .of = (char *)(uintptr_t)x->names[s],
                                             .rank = -1,
                                             .value = median_stage(x, (int)s),
                                             .share = 1});
    rs_run_figure(f, &(struct rs_figure){.measure = RS_M_SCORE, .rank = -1, .value = p->score, .whole = 1, .share = 1});
}

/* ---- tools that only summarise (nvprof) ---- */

static void add_total(struct rs_run_figures *f, enum rs_measure measure, const char *of, double value, double share)
{
    rs_run_figure(f, &(struct rs_figure){
                         .measure = measure, .of = (char *)(uintptr_t)of, .rank = -1, .value = value, .share = share});
}

/* The mean call of each operation, and all of them together. */
static void find_calls(struct rs_run_figures *f, const struct rs_statistics *s)
{
    double all = 0, calls = 0;
    for (uint32_t i = 0; i < s->nrows[RS_TABLE_OPERATIONS]; i++)
        all += (double)s->rows[RS_TABLE_OPERATIONS][i].total_ns;
    for (uint32_t i = 0; i < s->nrows[RS_TABLE_OPERATIONS]; i++) {
        const struct rs_stat_row *row = &s->rows[RS_TABLE_OPERATIONS][i];
        const char *func = rs_model_text(s->model, row->func);
        double n = 0;
        for (uint32_t k = 0; k < row->n; k++) n += (double)s->cells[row->first + k].calls;
        calls += n;
        add_total(f, RS_M_TIME, *func ? func : rs_model_name_text(s->model, row->name), (double)row->total_ns / n,
                  (double)row->total_ns / all);
    }
    if (isnan(rs_run_value(f, RS_M_OPS_TIME))) add_total(f, RS_M_OPS_TIME, "", all / calls, 1);
}

/* Totals of kernels, per process. */
static void find_totals(struct rs_run_figures *f, const struct rs_statistics *s)
{
    double all = 0;
    find_calls(f, s);
    for (uint32_t i = 0; i < s->nrows[RS_TABLE_KERNELS]; i++) all += (double)s->rows[RS_TABLE_KERNELS][i].total_ns;
    for (uint32_t i = 0; i < s->nrows[RS_TABLE_KERNELS] && i < MOST_KERNELS; i++) {
        const struct rs_stat_row *row = &s->rows[RS_TABLE_KERNELS][i];
        add_total(f, RS_M_KERNEL, rs_model_name_text(s->model, row->name),
                  (double)row->total_ns / (row->n ? row->n : 1), (double)row->total_ns / all);
    }
}

/* ---- a run ---- */

/* 0.1: the run takes 10 % longer than it would without. */
static double cost_of(int64_t saving, int64_t run)
{
    return saving == RS_TIME_NONE || saving >= run ? NAN : (double)saving / (double)rs_time_minus(run, saving);
}

static void find_findings(struct rs_run_figures *f, const struct rs_report *r)
{
    for (uint32_t i = 0; i < r->findings.n; i++) {
        const struct rs_finding *x = &r->findings.rows[i];
        struct rs_strbuf s = {0};
        if (x->kind == RS_ONE_OFF || (x->kind == RS_PERSISTENT && !x->named && !x->compute)) continue;
        rs_finding_say(&s, &r->findings, x, r->view.model);
        rs_run_finding(f, &(struct rs_run_finding){
                              .kind = (char *)(uintptr_t)rs_finding_kind_name(x->kind),
                              .scope = (char *)(uintptr_t)rs_finding_scope_name(x->scope),
                              .name = x->name,
                              .why = (char *)(uintptr_t)x->why,
                              .rank = x->scope == RS_SCOPE_RANK ? r->view.model->ranks[x->rank_id].number : -1,
                              .late = x->late_ns == RS_TIME_NONE ? NAN : (double)x->late_ns,
                              .cost = cost_of(x->saving_ns, r->findings.run_ns),
                              .cost_low = cost_of(x->saving_low_ns, r->findings.run_ns),
                              .text = (char *)(uintptr_t)rs_strbuf_borrow(&s)});
        rs_strbuf_free(&s);
    }
}

static void find_all(struct rs_run_figures *f, struct rs_report *r, const struct rs_profile *p)
{
    const struct rs_model *m = r->view.model;
    f->ranks = r->basis.ranks;
    f->hosts = r->basis.hosts;
    f->operations = r->basis.totals.ops;
    f->steps = find_steps(f, r);
    find_operations(f, r);
    find_choices(f, r);
    find_ranks(f, r);
    find_overlap(f, p, f->steps, f->steps ? (double)r->steps.usual_ns : 0);
    find_kernels(f, p, f->steps);
    find_pipeline(f, p);
    find_totals(f, &r->statistics);
    find_findings(f, r);
    for (uint32_t i = 0; i < m->nprocs; i++)
        if (m->procs[i].nccl_version) rs_run_setting(f, "nccl.version", m->procs[i].nccl_version);
}

enum rs_status rs_run_figures_init(struct rs_run_figures *f, const char *path, struct rs_model *m,
                                   const struct rs_profile_options *options, struct rs_err *err)
{
    struct rs_report_options asked = {.filter = options->filter, .network = true, .warmup = options->warmup_steps};
    struct rs_profile_options profiled = *options;
    struct rs_report report;
    struct rs_profile profile;
    *f = (struct rs_run_figures){0};
    RS_TRY(rs_report_init(&report, m, &asked, err));
    profiled.named = report.named;
    enum rs_status status = rs_profile_init(&profile, m, &profiled, err);
    if (status == RS_OK) {
        f->path = rs_strdup(path);
        find_all(f, &report, &profile);
        rs_profile_free(&profile);
    }
    rs_report_free(&report);
    return status;
}

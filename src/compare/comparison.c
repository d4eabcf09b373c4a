#include "compare/comparison.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/words.h"
#include "base/map.h"
#include "base/memory.h"
#include "base/mix.h"
#include "base/room.h"
#include "base/units.h"
#include "compare/student.h"

const char *rs_compared_verdict_name(enum rs_compared_verdict v)
{
    static const char *const names[RS_VERDICTS] = {"not judged", "no difference", "faster",
                                                   "slower",     "better",        "worse"};
    return names[v];
}

const char *rs_finding_change_name(enum rs_finding_change c)
{
    static const char *const names[RS_FINDING_CHANGES] = {"came", "went", "stayed", "varies"};
    return names[c];
}

/* ---- words ---- */

void rs_compared_say(struct rs_strbuf *s, enum rs_measure m, double value)
{
    if (isnan(value)) {
        rs_strbuf_puts(s, "?");
        return;
    }
    switch (rs_measures[m].unit) {
    case RS_UNIT_NS: rs_strbuf_puts(s, rs_text_ns((int64_t)llround(value)).s); return;
    case RS_UNIT_GBS: rs_strbuf_printf(s, "%s GB/s", rs_text_rate(value).s); return;
    case RS_UNIT_PCT: rs_strbuf_printf(s, "%.1f %%", value); return;
    default: rs_strbuf_printf(s, "%.2f", value); return;
    }
}

void rs_compared_say_change(struct rs_strbuf *s, double change)
{
    double pct = 100 * change;
    if (isnan(pct))
        rs_strbuf_puts(s, "?");
    else if (fabs(pct) >= 1000)
        rs_strbuf_printf(s, "%+.1fx", change + (change > 0 ? 1 : -1));
    else
        rs_strbuf_printf(s, "%+.*f %%", fabs(pct) < 100 ? 1 : 0, pct);
}

void rs_compared_name(struct rs_strbuf *s, const struct rs_compared *row)
{
    if (*row->of) rs_strbuf_printf(s, "%s: ", row->of);
    if (row->rank >= 0) rs_strbuf_printf(s, "rank %" PRId32 ": ", row->rank);
    rs_strbuf_puts(s, rs_measures[row->measure].words);
}

/* ---- rows ---- */

static uint64_t key_of(const struct rs_figure *f)
{
    uint64_t key = rs_mix(rs_mix(1, f->measure), (uint64_t)(uint32_t)f->rank);
    for (const char *at = f->of; *at; at++) key = rs_mix(key, (unsigned char)*at);
    return key | 1; /* keys are not 0 */
}

/* What belongs to a row: one value per run. */
struct sample {
    double mean, squares, error, whole; /* squares: the sum of the squared distances from the mean */
    uint32_t n;
    bool errors_known;
};

static double scaled(enum rs_measure m, double value)
{
    return rs_measures[m].scale == RS_SCALE_RATIO ? log(value) : value;
}

static void add(struct sample *s, const struct rs_figure *f)
{
    bool ratio = rs_measures[f->measure].scale == RS_SCALE_RATIO;
    double x = scaled(f->measure, f->value), before = s->mean, error = ratio ? f->error / f->value : f->error;
    s->n++;
    s->mean += (x - s->mean) / s->n;
    s->squares += (x - before) * (x - s->mean);
    s->errors_known |= !isnan(error);
    if (!isnan(error)) s->error += error * error;
    s->whole += f->whole;
}

/* A difference, its standard error, and the degrees of freedom of that (0: it is not measured). */
struct estimate {
    double difference, error, df, whole;
    bool known;
};

static struct estimate estimate(enum rs_measure m, const struct sample *a, const struct sample *b)
{
    bool ratio = rs_measures[m].scale == RS_SCALE_RATIO;
    uint32_t n = a->n + b->n;
    struct estimate e = {.difference = b->mean - a->mean, .whole = ratio ? 1 : (a->whole + b->whole) / n};
    double inside = (a->error + b->error) / n, between = n > 2 ? (a->squares + b->squares) / (n - 2) : 0, noise;
    e.known = a->errors_known || b->errors_known;
    if (a->n >= RS_COMPARISON_RUNS && b->n >= RS_COMPARISON_RUNS) {
        noise = between > inside ? between : inside;
        e.df = n - 2;
        e.known = true;
    } else {
        double least = RS_COMPARISON_NOISE * e.whole;
        noise = inside + least * least;
        if (between > noise) noise = between;
    }
    e.error = sqrt(noise * (1.0 / a->n + 1.0 / b->n));
    return e;
}

struct work {
    struct rs_comparison *c;
    struct sample *a, *b; /* by row */
    uint32_t cap;
};

static struct rs_compared *row_of(struct work *w, struct rs_map *index, const struct rs_figure *f)
{
    struct rs_comparison *c = w->c;
    uint64_t *at;
    rs_map_at(index, key_of(f), c->nrows, &at);
    if (*at == c->nrows) {
        RS_ROOM(c->rows, c->nrows, c->cap);
        if (c->nrows == w->cap) {
            uint32_t cap = w->cap;
            RS_ROOM(w->a, c->nrows, cap);
            RS_ROOM(w->b, c->nrows, w->cap);
        }
        w->a[c->nrows] = w->b[c->nrows] = (struct sample){0};
        c->rows[c->nrows++] = (struct rs_compared){.measure = f->measure,
                                                   .of = f->of,
                                                   .rank = f->rank,
                                                   .a = NAN,
                                                   .b = NAN,
                                                   .change = NAN,
                                                   .low = NAN,
                                                   .high = NAN,
                                                   .p = NAN};
    }
    return &c->rows[*at];
}

static void collect(struct work *w, struct rs_map *index, const struct rs_side *side, bool is_b)
{
    for (uint32_t r = 0; r < side->n; r++)
        for (uint32_t i = 0; i < side->runs[r].nfigures; i++) {
            const struct rs_figure *f = &side->runs[r].figures[i];
            struct rs_compared *row = row_of(w, index, f);
            struct sample *s = &(is_b ? w->b : w->a)[row - w->c->rows];
            uint32_t *in = is_b ? &row->in_b : &row->in_a;
            if (*in > r) continue; /* twice in one run: of a damaged baseline */
            *in = r + 1;
            if (f->share > row->share) row->share = f->share;
            add(s, f);
        }
}

static bool is_judged(const struct rs_compared *row, const struct estimate *e)
{
    return row->in_a && row->in_b && e->known && e->whole > 0 && !rs_measure_of_rank(row->measure) &&
           !(row->share < RS_COMPARISON_SHARE);
}

static enum rs_compared_verdict verdict_of(const struct rs_compared *row)
{
    const struct rs_measure_row *m = &rs_measures[row->measure];
    bool timed = m->unit == RS_UNIT_NS || m->unit == RS_UNIT_GBS;
    if (isnan(row->low) || (row->low <= 0 && row->high >= 0)) return RS_NO_DIFFERENCE;
    bool good = (row->change < 0) == (m->better == RS_BETTER_LESS);
    return good ? timed ? RS_FASTER : RS_BETTER : timed ? RS_SLOWER : RS_WORSE;
}

static void judge(struct rs_compared *row, const struct estimate *e, double level)
{
    bool ratio = rs_measures[row->measure].scale == RS_SCALE_RATIO;
    double reach = rs_student_quantile(level, e->df) * e->error;
    row->low = ratio ? expm1(e->difference - reach) : e->whole > 0 ? (e->difference - reach) / e->whole : NAN;
    row->high = ratio ? expm1(e->difference + reach) : e->whole > 0 ? (e->difference + reach) / e->whole : NAN;
    row->p = e->error > 0 ? rs_student_p(e->difference / e->error, e->df) : e->difference != 0 ? 0 : 1;
    row->verdict = verdict_of(row);
}

static int by_measure(const void *a, const void *b)
{
    const struct rs_compared *x = a, *y = b;
    if (x->measure != y->measure) return x->measure < y->measure ? -1 : 1;
    if (x->share != y->share) return x->share > y->share ? -1 : 1;
    int order = strcmp(x->of, y->of);
    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

static void find_rows(struct rs_comparison *c)
{
    struct work w = {.c = c};
    struct rs_map index = {0};
    collect(&w, &index, &c->a, false);
    collect(&w, &index, &c->b, true);
    rs_map_free(&index);
    struct estimate *estimates = rs_zalloc((size_t)c->nrows + 1, sizeof *estimates);
    enum rs_measure first = RS_MEASURE_COUNT;
    for (uint32_t i = 0; i < c->nrows; i++) {
        struct rs_compared *row = &c->rows[i];
        bool ratio = rs_measures[row->measure].scale == RS_SCALE_RATIO;
        row->in_a = w.a[i].n;
        row->in_b = w.b[i].n;
        if (row->in_a) row->a = ratio ? exp(w.a[i].mean) : w.a[i].mean;
        if (row->in_b) row->b = ratio ? exp(w.b[i].mean) : w.b[i].mean;
        if (!row->in_a || !row->in_b) continue;
        estimates[i] = estimate(row->measure, &w.a[i], &w.b[i]);
        row->change = ratio                    ? expm1(estimates[i].difference)
                      : estimates[i].whole > 0 ? estimates[i].difference / estimates[i].whole
                                               : NAN;
        if (!is_judged(row, &estimates[i])) continue;
        c->judged++;
        if (row->measure == RS_M_STEP_P50 || (row->measure == RS_M_OPS_TIME && first == RS_MEASURE_COUNT))
            first = row->measure;
    }
    c->judged -= first != RS_MEASURE_COUNT;
    for (uint32_t i = 0; i < c->nrows; i++) {
        if (!c->rows[i].in_a || !c->rows[i].in_b || !is_judged(&c->rows[i], &estimates[i])) continue;
        bool is_first = c->rows[i].measure == first;
        judge(&c->rows[i], &estimates[i], is_first ? RS_COMPARISON_FIRST_LEVEL : RS_COMPARISON_LEVEL / c->judged);
        if (is_first) c->seen = (c->rows[i].high - c->rows[i].low) / 2;
    }
    free(estimates);
    free(w.a);
    free(w.b);
    if (c->nrows) qsort(c->rows, c->nrows, sizeof *c->rows, by_measure);
    for (uint32_t i = 0; i < c->nrows && first != RS_MEASURE_COUNT; i++)
        if (c->rows[i].measure == first) c->first = i;
}

const struct rs_compared *rs_comparison_row(const struct rs_comparison *c, enum rs_measure measure, const char *of,
                                            int32_t rank)
{
    for (uint32_t i = 0; i < c->nrows; i++) {
        const struct rs_compared *row = &c->rows[i];
        if (row->measure == measure && row->rank == rank && !strcmp(row->of, of ? of : "")) return row;
    }
    return NULL;
}

struct rs_regression rs_comparison_regression(const struct rs_comparison *c, double bound)
{
    struct rs_regression none = {0};
    if (c->first != RS_NONE && c->rows[c->first].verdict == RS_SLOWER && c->rows[c->first].change > bound)
        return (struct rs_regression){.row = &c->rows[c->first]};
    for (uint32_t i = 0; i < c->nfindings; i++) {
        const struct rs_compared_finding *x = &c->findings[i];
        bool longer = c->first != RS_NONE && c->rows[c->first].change > bound;
        if (x->change == RS_FINDING_CAME && x->certain && (x->cost > bound || longer))
            return (struct rs_regression){.finding = x};
    }
    return none;
}

/* ---- settings ---- */

static const char *value_of(const struct rs_run_figures *run, const char *name)
{
    for (uint32_t i = 0; i < run->nsettings; i++)
        if (!strcmp(run->settings[i].name, name)) return run->settings[i].value;
    return NULL;
}

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

/* Whether it is what NCCL chose for a function. */
static bool is_choice(const char *setting)
{
    return begins(setting, "algorithm of ") || begins(setting, "protocol of ") || begins(setting, "channels of ");
}

/* The values of the runs of a side, each once; *several: runs of the side differ. NULL: not set. */
static char *side_value(const struct rs_side *side, const char *name, bool *several)
{
    struct rs_strbuf s = {0};
    uint32_t kinds = 0;
    for (uint32_t r = 0; r < side->n; r++) {
        const char *value = value_of(&side->runs[r], name);
        bool seen = !value && is_choice(name); /* the run does not call the function */
        for (uint32_t k = 0; k < r && !seen; k++) {
            const char *other = value_of(&side->runs[k], name);
            seen = value == other || (value && other && !strcmp(value, other));
        }
        if (seen) continue;
        if (kinds++) rs_strbuf_puts(&s, " or ");
        rs_strbuf_puts(&s, value ? value : "(not set)");
    }
    *several = kinds > 1;
    char *text = NULL;
    if (s.len && strcmp(rs_strbuf_borrow(&s), "(not set)") != 0) rs_strbuf_take(&s, &text);
    rs_strbuf_free(&s);
    return text;
}

/* Whether it is known, on both sides, what the steps of ranks are made of. */
static bool steps_are_divided(const struct rs_comparison *c)
{
    for (uint32_t i = 0; i < c->nrows; i++)
        if (c->rows[i].measure == RS_M_RANK_GPU && !isnan(c->rows[i].a) && !isnan(c->rows[i].b)) return true;
    return false;
}

static bool is_nccl(const char *setting)
{
    return begins(setting, "NCCL_") || begins(setting, "nccl.");
}

/* Whether a setting may change what a row measures. */
static bool may_explain(const char *setting, const struct rs_compared *row)
{
    const char *of = strstr(setting, " of ");
    bool transfer = row->measure == RS_M_TRANSFER, gpu = row->measure == RS_M_COMPUTE || row->measure == RS_M_KERNEL;
    if (is_choice(setting)) return transfer && of && !strcmp(of + 4, row->of);
    if (is_nccl(setting)) return transfer;
    if (begins(setting, "TORCH_NCCL_")) return row->measure == RS_M_WAIT;
    return (begins(setting, "CUDA_") || begins(setting, "TORCH_")) && gpu;
}

static void explain_row(struct rs_strbuf *s, const struct rs_compared *row)
{
    rs_compared_name(s, row);
    rs_strbuf_putc(s, ' ');
    rs_compared_say_change(s, row->change);
}

static char *explained_by(const struct rs_comparison *c, const char *setting)
{
    enum { MOST = 2 };
    struct rs_strbuf s = {0};
    uint32_t n = 0;
    bool transfers = false;
    for (uint32_t i = 0; i < c->nrows; i++) {
        const struct rs_compared *row = &c->rows[i];
        transfers |= row->verdict > RS_NO_DIFFERENCE && row->measure == RS_M_TRANSFER;
        if (row->verdict <= RS_NO_DIFFERENCE || !may_explain(setting, row)) continue;
        if (n++ >= MOST) continue;
        if (n > 1) rs_strbuf_puts(&s, "; ");
        explain_row(&s, row);
    }
    const struct rs_compared *step = c->first == RS_NONE ? NULL : &c->rows[c->first];
    if (!transfers && is_nccl(setting) && step && step->verdict > RS_NO_DIFFERENCE && !steps_are_divided(c)) {
        n++;
        explain_row(&s, step);
    }
    if (n > MOST) rs_strbuf_printf(&s, "; and %" PRIu32 " more", n - MOST);
    char *text = NULL;
    if (n) rs_strbuf_take(&s, &text);
    rs_strbuf_free(&s);
    return text;
}

static void add_setting(struct rs_comparison *c, const char *name)
{
    for (uint32_t i = 0; i < c->nsettings; i++)
        if (!strcmp(c->settings[i].name, name)) return;
    bool several_a, several_b;
    struct rs_compared_setting x = {
        .name = name, .a = side_value(&c->a, name, &several_a), .b = side_value(&c->b, name, &several_b)};
    bool same = x.a && x.b && !strcmp(x.a, x.b);
    bool absent = (!x.a && !x.b) || (is_choice(name) && (!x.a || !x.b));
    if (same || absent || (several_a && several_b)) { /* that differs from run to run says nothing of the sides */
        free(x.a);
        free(x.b);
        return;
    }
    x.explains = explained_by(c, name);
    RS_ROOM(c->settings, c->nsettings, c->cap_settings);
    c->settings[c->nsettings++] = x;
}

/* What explains something first, then what the user set, then what NCCL chose. */
static int by_use(const void *a, const void *b)
{
    const struct rs_compared_setting *x = a, *y = b;
    int order = (x->explains == NULL) - (y->explains == NULL);
    if (!order) order = is_choice(x->name) - is_choice(y->name);
    return order ? order : strcmp(x->name, y->name);
}

static void find_settings(struct rs_comparison *c)
{
    const struct rs_side *sides[] = {&c->a, &c->b};
    for (int k = 0; k < 2; k++)
        for (uint32_t r = 0; r < sides[k]->n; r++)
            for (uint32_t i = 0; i < sides[k]->runs[r].nsettings; i++)
                add_setting(c, sides[k]->runs[r].settings[i].name);
    if (c->nsettings) qsort(c->settings, c->nsettings, sizeof *c->settings, by_use);
}

/* ---- findings ---- */

static bool same_finding(const struct rs_run_finding *x, const struct rs_run_finding *y)
{
    return !strcmp(x->kind, y->kind) && !strcmp(x->scope, y->scope) && !strcmp(x->name, y->name);
}

static const struct rs_run_finding *in_run(const struct rs_run_figures *run, const struct rs_run_finding *x)
{
    for (uint32_t i = 0; i < run->nfindings; i++)
        if (same_finding(x, &run->findings[i])) return &run->findings[i];
    return NULL;
}

static uint32_t runs_with(const struct rs_side *side, const struct rs_run_finding *x)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < side->n; r++) n += in_run(&side->runs[r], x) != NULL;
    return n;
}

/* What a persistent finding costs that is in every run of one side, and in none of the other. */
static void find_cost(const struct rs_comparison *c, struct rs_compared_finding *x)
{
    const struct rs_side *side = x->in_a == c->a.n && !x->in_b ? &c->a : x->in_b == c->b.n && !x->in_a ? &c->b : NULL;
    x->cost = x->cost_low = NAN;
    x->certain = side && side->n && !strcmp(x->finding->kind, "persistent");
    if (!x->certain) return;
    double sum = 0, low = HUGE_VAL;
    for (uint32_t r = 0; r < side->n; r++) {
        const struct rs_run_finding *f = in_run(&side->runs[r], x->finding);
        sum += f->cost;
        if (!(f->cost_low >= low)) low = f->cost_low;
    }
    x->cost = sum / side->n;
    x->cost_low = low;
}

/* In most runs of one side, and in few of the other. */
static enum rs_finding_change change_of(const struct rs_comparison *c, uint32_t in_a, uint32_t in_b)
{
    bool most_a = 2 * in_a > c->a.n, most_b = 2 * in_b > c->b.n, few_a = 3 * in_a <= c->a.n, few_b = 3 * in_b <= c->b.n;
    return most_b && few_a    ? RS_FINDING_CAME
           : most_a && few_b  ? RS_FINDING_WENT
           : most_a && most_b ? RS_FINDING_STAYED
                              : RS_FINDING_VARIES;
}

static void find_findings(struct rs_comparison *c)
{
    const struct rs_side *sides[] = {&c->b, &c->a};
    for (int k = 0; k < 2; k++)
        for (uint32_t r = 0; r < sides[k]->n; r++)
            for (uint32_t i = 0; i < sides[k]->runs[r].nfindings; i++) {
                const struct rs_run_finding *x = &sides[k]->runs[r].findings[i];
                bool known = false;
                for (uint32_t n = 0; n < c->nfindings && !known; n++) known = same_finding(x, c->findings[n].finding);
                if (known) continue;
                uint32_t in_a = runs_with(&c->a, x), in_b = runs_with(&c->b, x);
                RS_ROOM(c->findings, c->nfindings, c->cap_findings);
                struct rs_compared_finding row = {
                    .finding = x, .in_a = in_a, .in_b = in_b, .change = change_of(c, in_a, in_b)};
                find_cost(c, &row);
                c->findings[c->nfindings++] = row;
            }
}

/* ---- the conclusion ---- */

static void say_first(struct rs_comparison *c)
{
    struct rs_strbuf s = {0};
    if (c->first == RS_NONE) {
        rs_strbuf_puts(&s,
                       "neither a step time nor times of operations are known on both sides: no verdict on the whole.");
        rs_words_sentence(&c->conclusion, &c->nconclusion, &s);
        return;
    }
    const struct rs_compared *x = &c->rows[c->first];
    const char *words = rs_measures[x->measure].words;
    const struct rs_compared_finding *came = rs_comparison_regression(c, 0).finding;
    if (x->verdict > RS_NO_DIFFERENCE)
        rs_strbuf_printf(&s, "B is %s: %s ", rs_compared_verdict_name(x->verdict), words);
    else if (came)
        rs_strbuf_printf(&s, "B is slower by what is late only there (%s); alone, the %s is within noise: ",
                         came->finding->name, words);
    else
        rs_strbuf_printf(&s, "no difference beyond noise: %s ", words);
    rs_compared_say(&s, x->measure, x->a);
    rs_strbuf_puts(&s, " in A, ");
    rs_compared_say(&s, x->measure, x->b);
    rs_strbuf_puts(&s, " in B, ");
    rs_compared_say_change(&s, x->change);
    rs_strbuf_printf(&s, " (%.0f %% interval ", 100 * (1 - RS_COMPARISON_FIRST_LEVEL));
    rs_compared_say_change(&s, x->low);
    rs_strbuf_puts(&s, " to ");
    rs_compared_say_change(&s, x->high);
    rs_strbuf_puts(&s, ").");
    rs_words_sentence(&c->conclusion, &c->nconclusion, &s);
}

static void say_few(struct rs_comparison *c)
{
    struct rs_strbuf s = {0};
    if (!c->few || !c->judged) return;
    rs_strbuf_printf(&s,
                     "%s: the noise from launch to launch is not known, and taken to be %.0f %%; %d runs on each side "
                     "measure it.",
                     c->a.n == 1 && c->b.n == 1 ? "one run per side" : "fewer than three runs on a side",
                     100 * RS_COMPARISON_NOISE, RS_COMPARISON_RUNS);
    rs_words_sentence(&c->conclusion, &c->nconclusion, &s);
}

static void say_findings(struct rs_comparison *c, enum rs_finding_change change)
{
    const char *with = change == RS_FINDING_CAME ? "B" : "A", *without = change == RS_FINDING_CAME ? "A" : "B";
    for (uint32_t i = 0; i < c->nfindings; i++) {
        const struct rs_compared_finding *x = &c->findings[i];
        struct rs_strbuf s = {0};
        if (x->change != change || strcmp(x->finding->kind, "persistent") != 0) continue;
        uint32_t in = change == RS_FINDING_CAME ? x->in_b : x->in_a,
                 out = change == RS_FINDING_CAME ? x->in_a : x->in_b;
        const struct rs_side *a = change == RS_FINDING_CAME ? &c->b : &c->a, *b = a == &c->a ? &c->b : &c->a;
        rs_strbuf_printf(&s, "%s is %s in %" PRIu32 " of %" PRIu32 " runs of %s and %" PRIu32 " of %" PRIu32 " of %s",
                         x->finding->name, strcmp(x->finding->scope, "link") ? "late" : "slow", in, a->n, with, out,
                         b->n, without);
        if (x->cost > 0) {
            rs_strbuf_printf(&s, ": that makes the runs of %s longer by ", with);
            rs_strbuf_printf(&s, "%.1f %%", 100 * x->cost);
            if (x->cost_low > 0) rs_strbuf_printf(&s, " (at least %.1f %%)", 100 * x->cost_low);
        }
        rs_strbuf_putc(&s, '.');
        rs_words_sentence(&c->conclusion, &c->nconclusion, &s);
    }
}

/* Sides that are not of the same job. */
static void say_unlike(struct rs_comparison *c)
{
    struct rs_strbuf s = {0};
    if (!c->a.n || !c->b.n || c->a.runs[0].ranks == c->b.runs[0].ranks) return;
    rs_strbuf_printf(&s, "A has %" PRIu32 " ranks and B %" PRIu32 ": these are not runs of the same job.",
                     c->a.runs[0].ranks, c->b.runs[0].ranks);
    rs_words_sentence(&c->conclusion, &c->nconclusion, &s);
}

static void say_undivided(struct rs_comparison *c)
{
    struct rs_strbuf s = {0};
    if (c->ncauses || c->first == RS_NONE || c->rows[c->first].verdict <= RS_NO_DIFFERENCE || steps_are_divided(c))
        return;
    rs_strbuf_puts(&s,
                   "which part of a step differs is unknown: for many operations no end is recorded (tree all-reduces "
                   "report theirs early).");
    rs_words_sentence(&c->conclusion, &c->nconclusion, &s);
}

void rs_comparison_init(struct rs_comparison *c, struct rs_side a, struct rs_side b)
{
    *c = (struct rs_comparison){
        .a = a, .b = b, .first = RS_NONE, .few = a.n < RS_COMPARISON_RUNS || b.n < RS_COMPARISON_RUNS, .seen = NAN};
    find_rows(c);
    find_settings(c);
    find_findings(c);
    rs_causes_find(c);
    say_unlike(c);
    say_first(c);
    for (uint32_t i = 0; i < c->ncauses; i++) {
        struct rs_strbuf s = {0};
        rs_strbuf_puts(&s, c->causes[i].text);
        rs_words_sentence(&c->conclusion, &c->nconclusion, &s);
    }
    say_undivided(c);
    say_findings(c, RS_FINDING_CAME);
    say_findings(c, RS_FINDING_WENT);
    say_few(c);
}

void rs_comparison_free(struct rs_comparison *c)
{
    for (uint32_t i = 0; i < c->nsettings; i++) {
        free(c->settings[i].a);
        free(c->settings[i].b);
        free(c->settings[i].explains);
    }
    for (uint32_t i = 0; i < c->ncauses; i++) {
        free(c->causes[i].ranks);
        free(c->causes[i].text);
    }
    for (uint32_t i = 0; i < c->nconclusion; i++) free(c->conclusion[i]);
    free(c->rows);
    free(c->settings);
    free(c->findings);
    free(c->conclusion);
    *c = (struct rs_comparison){0};
}

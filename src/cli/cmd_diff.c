/* ringscope diff: two sides of runs compared, beyond the noise from launch to launch; and the gate of a test. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/room.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/options/stages.h"
#include "cli/print/output.h"
#include "cli/print/screen.h"
#include "cli/print/table.h"
#include "cli/reading.h"
#include "cli/view_pair.h"
#include "compare/baseline.h"
#include "compare/comparison.h"
#include "export/output.h"
#include "fields/diff.h"
#include "trace/differences.h"

/* ---- options ---- */

struct options {
    struct rs_common common;
    bool against; /* for --help and completion: see split() */
    double bound; /* of --fail-over: 0.05 is 5 %; NAN: none */
    const char *baseline, *save;
    const char *out; /* the page; NULL: none */
    bool force;
    int warmup; /* -1: the start-up */
    struct rs_stage_options stages;
};

/* "5%", "5" or "5 %" */
static const char *take_bound(void *to, const char *value)
{
    struct options *o = to;
    char *end;
    double pct = strtod(value, &end);
    while (*end == ' ') end++;
    if (end == value || (*end && strcmp(end, "%") != 0) || !(pct >= 0 && pct <= 1000)) return "takes percent, as in 5%";
    o->bound = pct / 100;
    return NULL;
}

/* ---- runs ---- */

/* Where a run is. All in the arena of its side. */
struct source {
    char **paths;
    int n;
    const char *name;
    const char *run; /* which of several in a folder; NULL: the newest */
    bool baseline; /* a file of figures */
};

struct runs {
    struct rs_run_figures *rows;
    uint32_t *from; /* by row: its source */
    struct source *sources;
    uint32_t n, cap, cap_from, nsources, cap_sources;
    struct rs_arena arena;
};

static void runs_free(struct runs *r)
{
    for (uint32_t i = 0; i < r->n; i++) rs_run_figures_free(&r->rows[i]);
    free(r->rows);
    free(r->from);
    free(r->sources);
    rs_arena_free(&r->arena);
}

static char *keep(struct runs *r, const char *text)
{
    return rs_arena_text(&r->arena, text, strlen(text));
}

static void add_source(struct runs *r, char **paths, int n, const char *name, const char *run)
{
    RS_ROOM(r->sources, r->nsources, r->cap_sources);
    r->sources[r->nsources++] = (struct source){.paths = paths, .n = n, .name = name, .run = run};
}

static void add_path(struct runs *r, char *path, const char *name, const char *run)
{
    char **paths = rs_arena_alloc(&r->arena, sizeof *paths);
    paths[0] = path;
    add_source(r, paths, 1, name, run);
}

static bool is_folder(const char *path)
{
    struct stat info;
    return !stat(path, &info) && S_ISDIR(info.st_mode);
}

/* The recordings in a folder may be of several runs: each counts. */
static size_t count_runs(char *path)
{
    struct rs_inputs in = {0};
    struct rs_err err;
    if (rs_inputs_open(&in, &path, 1, NULL, &err) != RS_OK) return 1; /* what is wrong is said when it is read */
    size_t n = in.nothers ? 1 : in.nruns;
    rs_inputs_close(&in);
    return n;
}

static void add_folder(struct runs *r, const struct options *o, char *path)
{
    size_t n = o->common.run ? 1 : count_runs(path);
    if (n <= 1) add_path(r, path, path, o->common.run);
    for (size_t i = 0; n > 1 && i < n; i++) {
        char number[24], name[4096];
        snprintf(number, sizeof number, "%zu", i);
        snprintf(name, sizeof name, "%s, run %zu", path, i);
        add_path(r, path, keep(r, name), keep(r, number));
    }
}

/* Each folder in a folder without files is a run. False: it is not such a folder. */
static bool add_folders(struct runs *r, const struct options *o, const char *path)
{
    struct rs_dir dir = {0};
    struct rs_err err;
    char **below;
    if (!is_folder(path) || rs_dir_list(&dir, path, NULL, &err) != RS_OK) return false;
    bool only = dir.count > 0;
    below = rs_arena_alloc(&r->arena, (dir.count + 1) * sizeof *below);
    for (size_t i = 0; i < dir.count && only; i++) {
        char name[4096];
        snprintf(name, sizeof name, "%s/%s", path, dir.names[i]);
        below[i] = keep(r, name);
        only = is_folder(name);
    }
    for (size_t i = 0; i < dir.count && only; i++) add_folder(r, o, below[i]);
    rs_dir_free(&dir);
    return only;
}

/* "a0.json,a1.json": the files of one run. */
static void add_list(struct runs *r, const struct options *o, const char *list)
{
    char *copy = keep(r, list), *rest = NULL;
    char **paths = rs_arena_alloc(&r->arena, (strlen(list) + 1) * sizeof *paths);
    int n = 0;
    for (char *path = strtok_r(copy, ",", &rest); path; path = strtok_r(NULL, ",", &rest)) paths[n++] = path;
    add_source(r, paths, n, keep(r, list), o->common.run);
}

static bool is_baseline(const char *path)
{
    struct rs_bytes *bytes;
    struct stat info;
    struct rs_err err;
    char head[64] = "";
    if (stat(path, &info) || !S_ISREG(info.st_mode) || rs_bytes_open(&bytes, path, &err) != RS_OK) return false;
    size_t n = rs_bytes_peek(bytes, head, sizeof head - 1);
    rs_bytes_close(bytes);
    return rs_baseline_is(head, n);
}

static void add_baseline(struct runs *r, char *path)
{
    add_path(r, path, path, NULL);
    r->sources[r->nsources - 1].baseline = true;
}

static void add_operand(struct runs *r, const struct options *o, char *path)
{
    struct stat info;
    if (is_baseline(path))
        add_baseline(r, path);
    else if (strchr(path, ',') && stat(path, &info))
        add_list(r, o, path);
    else if (!add_folders(r, o, path))
        add_folder(r, o, path);
}

/* ---- reading them ---- */

static void take_setting(void *to, const char *name, const char *value)
{
    rs_run_setting(to, name, value);
}

/* Takes the figures over. */
static void add_run(struct runs *r, struct rs_run_figures *f, uint32_t source)
{
    RS_ROOM(r->rows, r->n, r->cap);
    RS_ROOM(r->from, r->n, r->cap_from);
    r->from[r->n] = source;
    r->rows[r->n++] = *f;
    *f = (struct rs_run_figures){0};
}

/* A run while it is read. */
struct reading {
    struct options *o;
    uint32_t source;
    struct runs *to;
};

static int take_run(const struct rs_command *cmd, struct rs_inputs *in, void *to)
{
    struct reading *x = to;
    struct rs_model m;
    struct rs_err err;
    int bad = rs_reading_join(cmd, in, &m, &x->o->common);
    if (bad) return bad;
    rs_filter_resolve(&x->o->common.filters.filter, &m);
    struct rs_profile_options options = {.filter = &x->o->common.filters.filter,
                                         .patterns = x->o->stages.patterns,
                                         .npatterns = x->o->stages.n,
                                         .warmup = x->o->warmup < 0 ? 1 : (uint32_t)x->o->warmup,
                                         .warmup_steps = x->o->warmup < 0 ? RS_NONE : (uint32_t)x->o->warmup};
    struct rs_run_figures f;
    enum rs_status status = rs_run_figures_init(&f, x->to->sources[x->source].name, &m, &options, &err);
    rs_model_free(&m);
    if (status != RS_OK) return rs_print_err(cmd->name, &err);
    if (f.no_stages) rs_warn(cmd->name, "%s: %s", f.path, f.no_stages);
    rs_settings_each(in, take_setting, &f);
    add_run(x->to, &f, x->source);
    return RS_EXIT_FINE;
}

static int read_baseline(const struct rs_command *cmd, const char *path, uint32_t source, struct runs *to)
{
    struct rs_bytes *bytes;
    struct rs_baseline b;
    struct rs_err err;
    if (rs_bytes_stream(&bytes, path, &err) != RS_OK) return rs_print_err(cmd->name, &err);
    enum rs_status status = rs_baseline_read(&b, bytes, &err);
    rs_bytes_close(bytes);
    if (status != RS_OK) return rs_print_err(cmd->name, &err);
    for (uint32_t i = 0; i < b.n; i++) add_run(to, &b.runs[i], source);
    rs_baseline_free(&b);
    return RS_EXIT_FINE;
}

static int read_side(const struct rs_command *cmd, struct options *o, char **operands, int n, struct runs *to)
{
    int bad = RS_EXIT_FINE;
    for (int i = 0; i < n; i++) add_operand(to, o, operands[i]);
    for (uint32_t i = 0; i < to->nsources && !bad; i++) {
        const struct source *s = &to->sources[i];
        struct reading x = {o, i, to};
        bad = s->baseline ? read_baseline(cmd, s->paths[0], i, to)
                          : rs_reading_inputs(cmd, s->paths, s->n, s->run, take_run, &x);
    }
    return bad;
}

/* ---- the page: a run of each side above each other ---- */

struct drawn {
    struct rs_inputs in;
    struct rs_model model;
    struct rs_steps steps;
    struct rs_bundle_step *list;
    uint32_t n;
    struct rs_strbuf title;
    bool open, joined, found;
};

/* The run whose step time is in the middle of those of its side. */
static uint32_t usual_run(const struct runs *r)
{
    uint32_t best = 0;
    double least = HUGE_VAL;
    for (uint32_t i = 0; i < r->n; i++) {
        double away = 0;
        for (uint32_t k = 0; k < r->n; k++) {
            double x = rs_run_value(&r->rows[i], RS_M_STEP_P50), y = rs_run_value(&r->rows[k], RS_M_STEP_P50);
            away += isnan(x - y) ? 0 : fabs(x - y);
        }
        if (away >= least) continue;
        least = away;
        best = i;
    }
    return best;
}

static int draw(const struct rs_command *cmd, struct options *o, const char *side, const struct source *s,
                struct drawn *d)
{
    const struct rs_filter everything = {0};
    struct rs_view all;
    struct rs_err err;
    if (s->baseline) {
        rs_warn(cmd->name, "%s: a baseline has no timeline to draw: name the run", s->name);
        return RS_EXIT_FAILURE;
    }
    int bad = rs_reading_open(cmd, &d->in, s->paths, (size_t)s->n, s->run);
    if (bad) return bad;
    d->open = true;
    bad = rs_reading_join(cmd, &d->in, &d->model, &o->common);
    if (bad) return bad;
    d->joined = true;
    rs_filter_resolve(&o->common.filters.filter, &d->model);
    rs_view_init(&all, &d->model, &everything);
    d->found = rs_steps_find(&d->steps, &all, &err) == RS_OK;
    rs_view_free(&all);
    if (!d->found) return rs_print_err(cmd->name, &err);
    d->list = rs_view_steps(&d->steps, &d->n);
    rs_strbuf_printf(&d->title, "%s: %s", side, s->name);
    return RS_EXIT_FINE;
}

static void drawn_free(struct drawn *d)
{
    rs_strbuf_free(&d->title);
    free(d->list);
    if (d->found) rs_steps_free(&d->steps);
    if (d->joined) rs_model_free(&d->model);
    if (d->open) rs_inputs_close(&d->in);
}

static int write_page(const struct rs_command *cmd, struct options *o, const struct runs *a, const struct runs *b,
                      const struct rs_comparison *c)
{
    const struct runs *sides[] = {a, b};
    struct drawn *drawn = rs_zalloc(2, sizeof *drawn);
    struct rs_view_pair pair = {
        .title = "A and B", .sentences = (const char *const *)c->conclusion, .nsentences = c->nconclusion};
    struct rs_err err;
    int bad = RS_EXIT_FINE;
    for (int i = 0; i < 2 && !bad; i++) {
        bad = draw(cmd, o, i ? "B" : "A", &sides[i]->sources[sides[i]->from[usual_run(sides[i])]], &drawn[i]);
        pair.runs[i] = (struct rs_view_run){.model = &drawn[i].model,
                                            .inputs = &drawn[i].in,
                                            .filters = &o->common.filters,
                                            .title = rs_strbuf_borrow(&drawn[i].title),
                                            .rows = rs_view_rows(RS_LEVEL_OPS),
                                            .steps = drawn[i].list,
                                            .nsteps = drawn[i].n,
                                            .zero = RS_TIME_NONE};
    }
    if (!bad && rs_view_pair_write(&pair, o->out, o->force, &err) != RS_OK) bad = rs_print_err(cmd->name, &err);
    for (int i = 0; i < 2; i++) drawn_free(&drawn[i]);
    free(drawn);
    return bad;
}

/* ---- baselines ---- */

static enum rs_status save_baseline(const struct options *o, const struct runs *r, struct rs_err *err)
{
    struct rs_output out = {0};
    RS_TRY(rs_output_open(&out, RS_EXPORT_STREAM, o->save, o->force, NULL, err));
    struct rs_json *j = rs_alloc(sizeof *j);
    rs_json_to_file(j, out.file, o->save);
    rs_baseline_write(j, r->rows, r->n);
    enum rs_status status = rs_json_finish(j, err);
    if (status == RS_OK) status = rs_output_commit(&out, err);
    rs_output_abort(&out);
    free(j);
    return status;
}

/* ---- text ---- */

enum { MOST_OPERATIONS = 8, MOST_KERNELS = 10, MOST_SETTINGS = 12 }; /* --json has all */

static void print_side(const char *name, const struct rs_side *s)
{
    rs_screen_print("%s: %" PRIu32 " run%s", name, s->n, s->n == 1 ? "" : "s");
    rs_screen_print(" of %" PRIu32 " ranks, %" PRIu32 " steps: ", s->runs[0].ranks, s->runs[0].steps);
    for (uint32_t i = 0; i < s->n && i < 4; i++) {
        if (i) rs_screen_print(", ");
        rs_screen_print("%s", s->runs[i].path);
    }
    if (s->n > 4) rs_screen_print(" and %" PRIu32 " more", s->n - 4);
    rs_screen_print("\n");
}

static void cell_amount(struct rs_table *t, enum rs_measure m, double value)
{
    struct rs_strbuf s = {0};
    rs_compared_say(&s, m, value);
    rs_table_cell(t, "%s", rs_strbuf_borrow(&s));
    rs_strbuf_free(&s);
}

static void cell_change(struct rs_table *t, double change)
{
    struct rs_strbuf s = {0};
    rs_compared_say_change(&s, change);
    rs_table_cell(t, "%s", isnan(change) ? "" : rs_strbuf_borrow(&s));
    rs_strbuf_free(&s);
}

static void columns(struct rs_table *t)
{
    static const enum rs_heading heads[] = {RS_H_SIDE_A, RS_H_SIDE_B, RS_H_CHANGE, RS_H_AT_LEAST, RS_H_AT_MOST};
    rs_table_column(t, RS_LEFT, RS_H_NONE);
    rs_table_numbers(t, heads, sizeof heads / sizeof *heads);
    rs_table_column(t, RS_LEFT, RS_H_VERDICT);
}

static void cell_row(struct rs_table *t, const struct rs_compared *row)
{
    cell_amount(t, row->measure, row->a);
    cell_amount(t, row->measure, row->b);
    cell_change(t, row->change);
    cell_change(t, row->low);
    cell_change(t, row->high);
    rs_table_cell(t, "%s", row->verdict == RS_NOT_JUDGED ? "-" : rs_compared_verdict_name(row->verdict));
}

static void finish(struct rs_table *t, const char *title, uint32_t more, const char *what)
{
    if (t->cells) {
        rs_screen_print("\n%s\n", title);
        rs_table_print(t, "  ", stdout);
        if (more) rs_screen_print("  and %" PRIu32 " more %s (--json has all)\n", more, what);
    }
    rs_table_free(t);
}

/* Rows of the measures from..to. */
static void print_rows(const struct rs_comparison *c, const char *title, enum rs_measure from, enum rs_measure to)
{
    struct rs_table t = {0};
    columns(&t);
    for (uint32_t i = 0; i < c->nrows; i++) {
        const struct rs_compared *row = &c->rows[i];
        struct rs_strbuf s = {0};
        if (row->measure < from || row->measure > to) continue;
        rs_compared_name(&s, row);
        rs_table_name(&t, rs_strbuf_borrow(&s));
        rs_strbuf_free(&s);
        cell_row(&t, row);
    }
    finish(&t, title, 0, "");
}

/* Time, wait, transfer and bandwidth of an operation below each other. */
static void print_operations(const struct rs_comparison *c)
{
    struct rs_table t = {0};
    uint32_t shown = 0, more = 0;
    columns(&t);
    for (uint32_t i = 0; i < c->nrows; i++) {
        const struct rs_compared *time = &c->rows[i];
        if (time->measure != RS_M_TIME) continue;
        if (time->share < RS_COMPARISON_SHARE || shown >= MOST_OPERATIONS) {
            more++;
            continue;
        }
        shown++;
        for (int m = RS_M_TIME; m <= RS_M_BUSBW; m++) {
            const struct rs_compared *row = rs_comparison_row(c, (enum rs_measure)m, time->of, time->rank);
            struct rs_strbuf s = {0};
            if (!row) continue;
            rs_strbuf_printf(&s, "%s%s", m == RS_M_TIME ? time->of : "  ",
                             m == RS_M_TIME ? ": time" : rs_measures[m].words);
            rs_table_name(&t, rs_strbuf_borrow(&s));
            rs_strbuf_free(&s);
            cell_row(&t, row);
        }
    }
    finish(&t, "operations: time p50 on a rank, mean wait, transfer p50", more, "operations");
}

/* Those that differ; of the others the number. */
static void print_kernels(const struct rs_comparison *c)
{
    struct rs_table t = {0};
    uint32_t n = 0, all = 0;
    columns(&t);
    for (uint32_t i = 0; i < c->nrows; i++) {
        const struct rs_compared *row = &c->rows[i];
        if (row->measure != RS_M_KERNEL) continue;
        all++;
        if (row->verdict <= RS_NO_DIFFERENCE || n++ >= MOST_KERNELS) continue;
        rs_table_name(&t, row->of);
        cell_row(&t, row);
    }
    finish(&t, "kernels that differ, per step and GPU", n > MOST_KERNELS ? n - MOST_KERNELS : 0, "kernels");
    if (all && !n) rs_screen_print("\nkernels: none of the %" PRIu32 " largest differs beyond noise\n", all);
}

static void print_settings(const struct rs_comparison *c)
{
    if (!c->nsettings) return;
    rs_screen_print("\nsettings that differ\n");
    struct rs_table t = {0};
    static const enum rs_heading heads[] = {RS_H_SETTING, RS_H_SIDE_A, RS_H_SIDE_B, RS_H_MAY_EXPLAIN};
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) rs_table_column(&t, RS_LEFT, heads[i]);
    for (uint32_t i = 0; i < c->nsettings && i < MOST_SETTINGS; i++) {
        const struct rs_compared_setting *x = &c->settings[i];
        rs_table_name(&t, x->name);
        rs_table_name(&t, x->a ? x->a : "(not set)");
        rs_table_name(&t, x->b ? x->b : "(not set)");
        rs_table_cell(&t, "%s", x->explains ? x->explains : "-");
    }
    rs_table_print(&t, "  ", stdout);
    rs_table_free(&t);
    if (c->nsettings > MOST_SETTINGS)
        rs_screen_print("  and %" PRIu32 " more (--json has all)\n", c->nsettings - MOST_SETTINGS);
}

static void print_findings(const struct rs_comparison *c)
{
    bool headed = false;
    for (uint32_t i = 0; i < c->nfindings; i++) {
        const struct rs_compared_finding *x = &c->findings[i];
        if (x->change == RS_FINDING_VARIES) continue;
        if (!headed) rs_screen_print("\nfindings\n");
        headed = true;
        rs_screen_print("  %s (%" PRIu32 " of %" PRIu32 " runs of A, %" PRIu32 " of %" PRIu32 " of B): ",
                        rs_finding_change_name(x->change), x->in_a, c->a.n, x->in_b, c->b.n);
        rs_screen_print("%s\n", x->finding->text);
    }
}

/* The ranks that the causes name, in the colour of culprits. */
static void print_conclusion(const struct rs_comparison *c)
{
    uint32_t most = 0, n = 0;
    for (uint32_t i = 0; i < c->ncauses; i++) most += c->causes[i].nranks;
    int32_t *ranks = rs_alloc(((size_t)most + 1) * sizeof *ranks);
    for (uint32_t i = 0; i < c->ncauses; i++)
        for (uint32_t k = 0; k < c->causes[i].nranks && !c->causes[i].all; k++) ranks[n++] = c->causes[i].ranks[k];
    rs_screen_conclude((const char *const *)c->conclusion, c->nconclusion, ranks, n);
    free(ranks);
}

static void print_text(const struct rs_comparison *c)
{
    print_conclusion(c);
    rs_screen_print("\n");
    print_side("A", &c->a);
    print_side("B", &c->b);
    if (c->judged)
        rs_screen_print("intervals: %.0f %% for the %s; %.0f %% for the other %" PRIu32 " judged rows together\n",
                        100 * (1 - RS_COMPARISON_FIRST_LEVEL),
                        c->first == RS_NONE ? "step time" : rs_measures[c->rows[c->first].measure].words,
                        100 * (1 - RS_COMPARISON_LEVEL), c->judged);
    print_rows(c, "steps", RS_M_STEP_P50, RS_M_OPS_TIME);
    print_operations(c);
    print_rows(c, "compute and communication of a GPU", RS_M_COMPUTE, RS_M_IDLE);
    print_rows(c, "pipeline", RS_M_PERIOD, RS_M_SCORE);
    print_kernels(c);
    print_settings(c);
    print_findings(c);
}

/* ---- the gate ---- */

/* Says on standard error what the gate decided: it is what a test's log shows. */
static int judge(const struct rs_command *self, const struct options *o, const struct rs_comparison *c)
{
    if (isnan(o->bound)) return RS_EXIT_FINE;
    if (c->first == RS_NONE) {
        rs_warn(self->name, "--fail-over: neither a step time nor times of operations are known on both sides");
        return RS_EXIT_FAILURE;
    }
    struct rs_regression x = rs_comparison_regression(c, o->bound);
    struct rs_strbuf s = {0};
    rs_strbuf_printf(&s, "regression over %g %%: ", 100 * o->bound);
    if (x.row) {
        rs_strbuf_printf(&s, "%s ", rs_measures[x.row->measure].words);
        rs_compared_say_change(&s, x.row->change);
        rs_strbuf_puts(&s, " (");
        rs_compared_say_change(&s, x.row->low);
        rs_strbuf_puts(&s, " to ");
        rs_compared_say_change(&s, x.row->high);
        rs_strbuf_puts(&s, ")");
    } else if (x.finding) {
        rs_strbuf_printf(&s, "%s, in every run of B and in none of A", x.finding->finding->name);
        if (x.finding->cost > o->bound) {
            rs_strbuf_printf(&s, ", makes them longer by %.1f %% (at least %.1f %%)", 100 * x.finding->cost,
                             100 * x.finding->cost_low);
        } else {
            rs_strbuf_printf(&s, "; %s ", rs_measures[c->rows[c->first].measure].words);
            rs_compared_say_change(&s, c->rows[c->first].change);
        }
    } else {
        rs_strbuf_free(&s);
        return RS_EXIT_FINE;
    }
    if (c->ncauses) rs_strbuf_printf(&s, ": %s", c->causes[0].text);
    rs_warn(self->name, "%s", rs_strbuf_borrow(&s));
    rs_strbuf_free(&s);
    return RS_EXIT_FOUND;
}

static int compare(const struct rs_command *self, struct options *o, const struct runs *runs_a,
                   const struct runs *runs_b)
{
    struct rs_side a = {runs_a->rows, runs_a->n}, b = {runs_b->rows, runs_b->n};
    struct rs_comparison c;
    struct rs_err err;
    if (!isnan(o->bound) && (a.n < RS_COMPARISON_RUNS || b.n < RS_COMPARISON_RUNS)) {
        rs_warn(
            self->name,
            "--fail-over needs %d runs or more on each side, to tell a regression from the noise between launches: A "
            "has %" PRIu32 ", B %" PRIu32,
            RS_COMPARISON_RUNS, a.n, b.n);
        return RS_EXIT_FAILURE;
    }
    rs_comparison_init(&c, a, b);
    enum rs_status status = RS_OK;
    int drawn = o->out ? write_page(self, o, runs_a, runs_b, &c) : RS_EXIT_FINE;
    if (o->common.json) {
        struct rs_json *j = rs_output_json();
        rs_out_json(j, &rs_out_diff, &(struct rs_diff_fields){&c, o->bound});
        rs_json_newline(j);
        status = rs_json_finish(j, &err);
    } else {
        print_text(&c);
        fflush(stdout);
    }
    int done = status == RS_OK ? judge(self, o, &c) : rs_print_err(self->name, &err);
    if (!done && c.first == RS_NONE) done = RS_EXIT_FAILURE; /* these inputs cannot answer */
    if (!done || done == RS_EXIT_FOUND) done = drawn ? drawn : done;
    rs_comparison_free(&c);
    return done;
}

/* ---- the command ---- */

/* An operand of this form takes the place of --against, so that the parser leaves it between the operands of the sides. */
static char between[] = "\001against";

static void split(int argc, char **argv)
{
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (!strcmp(argv[i], "--against")) argv[i] = between;
}

/* How many of the n operands are side A; -1: wrong usage, which was said. The operand between the sides is removed. */
static int sides(const struct rs_command *self, const struct options *o, char **operands, int *n)
{
    int at = 0;
    while (at < *n && operands[at] != between) at++;
    bool separated = at < *n;
    for (int i = at; separated && i + 1 < *n; i++) operands[i] = operands[i + 1];
    *n -= separated;
    if (o->baseline || o->save) {
        if (separated && (o->baseline || o->save))
            return rs_opt_usage(self, "--against is for two sides: with --baseline all inputs are side B, with "
                                      "--save-baseline they are the baseline"),
                   -1;
        return 0;
    }
    if (!separated && *n == 2) return 1;
    if (separated && at && at < *n) return at;
    rs_opt_usage(self, *n < 2 ? "two sides are needed: ringscope diff A B"
                              : "which of these are side A? ringscope diff A1 A2 A3 --against B1 B2 B3");
    return -1;
}

static int work(const struct rs_command *self, struct options *o, char **operands, int n, int of_a)
{
    struct rs_err err;
    struct runs a = {0}, b = {0};
    if (o->baseline) add_baseline(&a, (char *)(uintptr_t)o->baseline);
    int done = read_side(self, o, operands, of_a, &a);
    if (!done) done = read_side(self, o, operands + of_a, n - of_a, &b);
    if (!done && o->save) {
        done = save_baseline(o, &b, &err) == RS_OK ? RS_EXIT_FINE : rs_print_err(self->name, &err);
        if (!done && b.n < RS_COMPARISON_RUNS)
            rs_warn(self->name, "%s: a baseline of %" PRIu32 " run%s: --fail-over needs %d or more", o->save, b.n,
                    b.n == 1 ? "" : "s", RS_COMPARISON_RUNS);
    } else if (!done) {
        done = compare(self, o, &a, &b);
    }
    runs_free(&a);
    runs_free(&b);
    return done;
}

static int run(const struct rs_command *self, int argc, char **argv)
{
    struct options o = {.bound = NAN, .warmup = -1};
    const struct rs_opt opts[] = {
        {RS_OPT_FLAG, 0, "against", &o.against, NULL, "what follows is side B: for several runs per side"},
        {RS_OPT_EACH, 0, "fail-over", RS_EACH(take_bound, &o), "PCT",
         "exit with 3 if B is slower beyond noise and by more than this: 5%"},
        {RS_OPT_STRING, 0, "baseline", &o.baseline, "FILE", "side A is this baseline; all inputs are side B"},
        {RS_OPT_STRING, 0, "save-baseline", &o.save, "FILE", "write the inputs as a baseline, and compare nothing"},
        {RS_OPT_STRING, 'o', "output", &o.out, "OUT.html",
         "also write a page: the usual run of each side above each other, aligned by step"},
        {RS_OPT_FLAG, 'f', "force", &o.force, NULL, "replace an existing FILE or OUT"},
        {RS_OPT_EACH, 0, "stage", RS_EACH(rs_stage_take, &o.stages), "NAME=PATTERN",
         "a stage of a pipeline, by names of annotations or kernels; may be repeated"},
        {RS_OPT_COUNT, 0, "warmup", &o.warmup, "N", "leave out the first N steps (those recognised as start-up)"},
        {.kind = RS_OPT_END},
    };
    int n;
    split(argc, argv);
    int done = rs_common_parse(self, &o.common, opts, argc, argv, &n);
    if (done >= 0) return done;
    if (o.save && (o.baseline || !isnan(o.bound) || o.common.json))
        return rs_opt_usage(self, "--save-baseline compares nothing: not with --baseline, --fail-over or --json");
    if (o.out && (o.save || o.baseline))
        return rs_opt_usage(self, "-o draws a run of each side: not with --save-baseline, and a baseline has none to "
                                  "draw");
    if (o.force && !o.save && !o.out) return rs_opt_usage(self, "--force is for --save-baseline and -o");
    if ((o.save || o.baseline) && !n)
        return rs_opt_usage(self, "nothing to read: name recordings, traces of other tools, or folders of them");
    int of_a = sides(self, &o, argv + 1, &n);
    return of_a < 0 ? RS_EXIT_USAGE : work(self, &o, argv + 1, n, of_a);
}

const struct rs_command rs_cmd_diff = {
    .name = "diff",
    .summary = "two runs, or two sets of runs: what is faster or slower beyond noise, and why",
    .usage = "[options] A B | A... --against B... | --baseline FILE B...",
    .text = "Compares step times, operations, overlap, pipelines, kernels, settings and findings of two sides. Runs of "
            "the same\n"
            "job differ from launch to launch: three runs or more on each side measure by how much, and intervals and "
            "verdicts\n"
            "are beyond that. A run is a folder, a file, or files with commas between; a folder that holds several "
            "runs, and a\n"
            "baseline, are several.",
    .examples = "ringscope diff before after                        # one run each, or folders of runs\n"
                "ringscope diff old1 old2 old3 --against new1 new2 new3 --fail-over 5%\n"
                "ringscope diff before after -o diff.html           # both above each other, in a browser\n"
                "ringscope diff --save-baseline base.json old*      # then, in each test:\n"
                "ringscope diff --baseline base.json --fail-over 5% new*",
    .json = "one JSON object",
    .takes = "filter reading",
    .run = run,
};

/* ringscope whatif: the run replayed without a rank's, host's or link's lateness, and what that saves. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/room.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/print/output.h"
#include "cli/print/screen.h"
#include "cli/print/table.h"
#include "cli/reading.h"
#include "cli/view_pair.h"
#include "conclude/layout.h"
#include "conclude/replayed.h"
#include "export/output.h"
#include "fields/whatif.h"
#include "join/overlay_facts.h"
#include "join/ranks.h"

/* ---- what to take out ---- */

enum { MOST_LATE = 5 }; /* late ranks that are taken out by default */

struct wish {
    enum rs_cure cure;
    const char *who; /* numbers or name, points into argv; NULL: none */
};

struct options {
    struct rs_common common;
    struct wish *wishes;
    uint32_t n, cap;
    int warmup; /* -1: the start-up */
    const char *out; /* the trace or page; NULL: none */
    bool force;
};

static const struct {
    const char *word;
    enum rs_cure cure;
    bool named; /* the word is followed by numbers or a name */
} words[] = {{"rank", RS_CURE_RANK, true},
             {"ranks", RS_CURE_RANKS, true},
             {"host", RS_CURE_HOST, true},
             {"link", RS_CURE_LINK, true},
             {"persistent", RS_CURE_PERSISTENT, false},
             {"sporadic rank", RS_CURE_SPORADIC, true},
             {"sporadic", RS_CURE_SPORADIC, false},
             {"waits", RS_CURE_WAITS, false}};

static const char *take_wish(void *to, const char *value)
{
    struct options *o = to;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        size_t n = strlen(words[i].word);
        if (strncmp(value, words[i].word, n) != 0) continue;
        if (words[i].named ? value[n] != ' ' || !value[n + 1] : value[n] != 0) continue;
        RS_ROOM(o->wishes, o->n, o->cap);
        o->wishes[o->n++] = (struct wish){words[i].cure, words[i].named ? value + n + 1 : NULL};
        return NULL;
    }
    return "is none of 'rank N', 'ranks N,N,...', 'host NAME', 'link N-N', persistent, sporadic, 'sporadic rank N', "
           "waits";
}

/* The rank at the beginning of a text, which is followed by `end`; *text is then behind that. */
static enum rs_status find_rank(const char **text, char end, const struct rs_model *m, uint32_t *rank_id,
                                struct rs_err *err)
{
    char number[16] = "";
    size_t n = strcspn(*text, ",-");
    int64_t value;
    if (n < sizeof number) memcpy(number, *text, n);
    if (!*number || !rs_opt_int(number, &value) || ((*text)[n] && (*text)[n] != end))
        return rs_fail(err, RS_BAD_INPUT, "--take-out: '%s' is not the number of a rank", *text);
    *text += n + ((*text)[n] != 0);
    for (*rank_id = 0; *rank_id < m->nranks; ++*rank_id)
        if (m->ranks[*rank_id].number == value) return RS_OK;
    return rs_fail(err, RS_BAD_INPUT, "--take-out: rank %s is not in these inputs", number);
}

static enum rs_status add_host(struct rs_whatif *w, const char *name, struct rs_err *err)
{
    const struct rs_model *m = w->view->model;
    for (uint32_t i = 0; i < m->nhosts; i++) {
        if (strcmp(rs_host_label(m, i), name) != 0) continue;
        rs_whatif_add(w, RS_CURE_HOST, i);
        return RS_OK;
    }
    return rs_fail(err, RS_BAD_INPUT, "--take-out: host %s is not in these inputs", name);
}

static enum rs_status add_link(struct rs_whatif *w, const char *text, struct rs_err *err)
{
    uint32_t a, b;
    RS_TRY(find_rank(&text, '-', w->view->model, &a, err));
    RS_TRY(find_rank(&text, 0, w->view->model, &b, err));
    if (a == b) return rs_fail(err, RS_BAD_INPUT, "--take-out: a link is between two ranks");
    rs_whatif_add_link(w, a, b);
    return RS_OK;
}

static enum rs_status add_ranks(struct rs_whatif *w, const struct wish *x, struct rs_err *err)
{
    const char *text = x->who;
    uint32_t *rows = NULL, n = 0, cap = 0;
    enum rs_status status = RS_OK;
    do {
        RS_ROOM(rows, n, cap);
        status = find_rank(&text, x->cure == RS_CURE_RANKS ? ',' : 0, w->view->model, &rows[n++], err);
    } while (*text && status == RS_OK);
    if (status == RS_OK && n == 1)
        rs_whatif_add(w, x->cure == RS_CURE_SPORADIC ? x->cure : RS_CURE_RANK, rows[0]);
    else if (status == RS_OK)
        rs_whatif_add_ranks(w, rows, n);
    free(rows);
    return status;
}

static enum rs_status add_case(struct rs_whatif *w, const struct wish *x, struct rs_err *err)
{
    switch (x->cure) {
    case RS_CURE_RANK:
    case RS_CURE_RANKS: return add_ranks(w, x, err);
    case RS_CURE_HOST: return add_host(w, x->who, err);
    case RS_CURE_LINK: return add_link(w, x->who, err);
    case RS_CURE_SPORADIC:
        if (x->who) return add_ranks(w, x, err);
        /* fall through */
    default: rs_whatif_add(w, x->cure, RS_NONE); return RS_OK;
    }
}

static enum rs_status add_cases(struct rs_whatif *w, const struct options *o, struct rs_err *err)
{
    for (uint32_t i = 0; i < o->n; i++) RS_TRY(add_case(w, &o->wishes[i], err));
    if (o->n) return RS_OK;
    rs_whatif_add_late(w, MOST_LATE);
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!words[i].named) rs_whatif_add(w, words[i].cure, RS_NONE);
    return RS_OK;
}

/* ---- text ---- */

static void cell_ns(struct rs_table *t, int64_t ns)
{
    rs_table_cell(t, "%s", ns == RS_TIME_NONE ? "?" : rs_text_ns(ns).s);
}

static double share_pct(const struct rs_whatif *w, const struct rs_whatif_case *x)
{
    return 100 * (double)x->saving_ns / (double)(w->steps_ns > 0 ? w->steps_ns : 1);
}

/* The case that saves most beyond its error, what can be named (a rank, a host, a link) before what cannot; NULL: none. */
static const struct rs_whatif_case *best(const struct rs_whatif *w)
{
    const struct rs_whatif_case *found = NULL;
    for (uint32_t i = 0; i < w->ncases; i++) {
        const struct rs_whatif_case *x = &w->cases[i];
        bool named = x->cure < RS_CURE_PERSISTENT, before = found && found->cure < RS_CURE_PERSISTENT;
        if (x->saving_ns == RS_TIME_NONE || x->saving_low_ns <= 0 || (before && !named)) continue;
        if (!found || named != before || x->saving_ns > found->saving_ns) found = x;
    }
    return found;
}

static void print_conclusion(const struct rs_whatif *w)
{
    static const char *const without[] = {[RS_CURE_RANK] = "Without the lateness of %s",
                                          [RS_CURE_RANKS] = "Without the lateness of %s",
                                          [RS_CURE_HOST] = "Without the lateness of %s",
                                          [RS_CURE_LINK] = "Without what %s takes longer",
                                          [RS_CURE_PERSISTENT] = "Without what ranks take longer in every step",
                                          [RS_CURE_SPORADIC] = "Without what ranks take longer in single steps",
                                          [RS_CURE_WAITS] = "If all ranks arrived together,"};
    const struct rs_whatif_case *x = best(w);
    struct rs_strbuf s = {0};
    int32_t rank = -1;
    if (w->refused) {
        rs_strbuf_printf(&s, "The run cannot be replayed: %s.", w->refused);
    } else if (x) {
        const char *who = strstr(without[x->cure], "%s");
        if (who) {
            rs_strbuf_add(&s, without[x->cure], (size_t)(who - without[x->cure]));
            rs_strbuf_printf(&s, "%s%s", x->take_out, who + 2);
        } else {
            rs_strbuf_puts(&s, without[x->cure]);
        }
        rs_strbuf_printf(&s, " the run takes %s [%s, %s] less (%.1f %%).", rs_text_ns(x->saving_ns).s,
                         rs_text_ns(x->saving_low_ns).s, rs_text_ns(x->saving_high_ns).s, share_pct(w, x));
        if (x->cure == RS_CURE_RANK) rank = w->view->model->ranks[x->rank_id].number;
    } else {
        rs_strbuf_puts(&s, "Nothing here saves more time than the error of the replay.");
    }
    rs_screen_conclude((const char *const[]){rs_strbuf_borrow(&s)}, 1, &rank, 1);
    rs_strbuf_free(&s);
}

static void print_text(const struct rs_whatif *w)
{
    print_conclusion(w);
    if (w->refused) return;
    rs_screen_print("\nrecorded run: %s", rs_text_ns(w->makespan_ns).s);
    if (w->step_ns != RS_TIME_NONE)
        rs_screen_print(", of that %s in steps of %s", rs_text_ns(w->steps_ns).s, rs_text_ns(w->step_ns).s);
    rs_screen_print("; replayed unchanged: %.2g %% off\n", w->error_pct);
    if (w->all > w->measured)
        rs_screen_print("extrapolated from %s of %s operations, those in windows of detail\n",
                        rs_text_count(w->measured).s, rs_text_count(w->all).s);
    if (w->steps->left_out) rs_screen_print("%s\n", w->steps->left_out);
    rs_screen_print("\n");
    static const enum rs_heading heads[] = {RS_H_SAVES, RS_H_AT_LEAST, RS_H_AT_MOST, RS_H_SHARE, RS_H_RUN, RS_H_STEP};
    struct rs_table t = {0};
    rs_table_column(&t, RS_LEFT, RS_H_TAKEN_OUT);
    rs_table_numbers(&t, heads, sizeof heads / sizeof *heads);
    rs_table_column(&t, RS_LEFT, RS_H_NONE);
    for (uint32_t i = 0; i < w->ncases; i++) {
        const struct rs_whatif_case *x = &w->cases[i];
        rs_table_cell(&t, "%s", x->take_out);
        cell_ns(&t, x->saving_ns);
        cell_ns(&t, x->saving_low_ns);
        cell_ns(&t, x->saving_high_ns);
        if (x->saving_ns == RS_TIME_NONE)
            rs_table_cell(&t, "?");
        else
            rs_table_cell(&t, "%.1f %%", share_pct(w, x));
        cell_ns(&t, x->makespan_ns);
        cell_ns(&t, x->step_ns);
        rs_table_cell(&t, "%s",
                      x->unknown  ? x->unknown
                      : x->equals ? ""
                                  : "compared with ranks that do other work, too");
    }
    rs_table_print(&t, "", stdout);
    rs_table_free(&t);
}

/* ---- both runs ---- */

static void replay_title(struct rs_strbuf *s, const struct rs_whatif *w)
{
    rs_strbuf_puts(s, "replayed without ");
    rs_whatif_say_what(s, &w->cases[w->ncases - 1]);
}

/* ---- the page ----
 * The recorded run above the replayed one. */

static void list_steps(const struct rs_replayed *r, struct rs_bundle_step *recorded, struct rs_bundle_step *replayed)
{
    for (uint32_t i = 0; i < r->nsteps; i++) {
        recorded[i] = (struct rs_bundle_step){r->steps[i].number, r->steps[i].recorded};
        replayed[i] = (struct rs_bundle_step){r->steps[i].number, r->steps[i].replayed};
    }
}

static enum rs_status write_page(const struct rs_whatif *w, struct rs_model *m, struct rs_inputs *in,
                                 const struct options *o, struct rs_err *err)
{
    struct rs_replayed replayed;
    struct rs_strbuf title = {0}, sentence = {0};
    rs_replayed_init(&replayed, w);
    struct rs_bundle_step *steps = rs_alloc((2 * (size_t)replayed.nsteps + 1) * sizeof *steps);
    list_steps(&replayed, steps, steps + replayed.nsteps);
    replay_title(&title, w);
    rs_whatif_say(&sentence, w, &w->cases[w->ncases - 1]);
    char *name = rs_view_title(m, in);
    const char *said = rs_strbuf_borrow(&sentence);
    const struct rs_view_pair pair = {.title = name,
                                      .sentences = &said,
                                      .nsentences = 1,
                                      .runs = {{.model = m,
                                                .inputs = in,
                                                .filters = &o->common.filters,
                                                .title = "recorded",
                                                .rows = rs_view_rows(RS_LEVEL_OPS),
                                                .steps = steps,
                                                .nsteps = replayed.nsteps,
                                                .zero = rs_model_begin(m)},
                                               {.model = &replayed.model,
                                                .inputs = in,
                                                .title = rs_strbuf_borrow(&title),
                                                .rows = 1u << RS_ROW_OPERATIONS,
                                                .steps = steps + replayed.nsteps,
                                                .nsteps = replayed.nsteps,
                                                .zero = rs_model_begin(m)}}};
    enum rs_status status = rs_view_pair_write(&pair, o->out, o->force, err);
    free(name);
    free(steps);
    rs_strbuf_free(&title);
    rs_strbuf_free(&sentence);
    rs_replayed_free(&replayed);
    return status;
}

/* ---- the trace ----
 * The recorded and the replayed operations side by side: two processes with a thread for each rank of a communicator, as
 * JSON for chrome://tracing and Perfetto. */

enum { RECORDED = 1, REPLAYED = 2 };

static void write_name(struct rs_json *j, int pid, uint32_t member, const char *kind, const char *name)
{
    rs_json_object(j);
    rs_json_key_str(j, "ph", "M");
    rs_json_key_str(j, "name", kind);
    rs_json_key_i64(j, "pid", pid);
    rs_json_key_u64(j, "tid", member);
    rs_json_key(j, "args");
    rs_json_object(j);
    rs_json_key_str(j, "name", name);
    rs_json_end(j);
    rs_json_end(j);
    rs_json_newline(j);
}

static void write_names(struct rs_json *j, const struct rs_whatif *w, const bool *seen)
{
    const struct rs_model *m = w->view->model;
    struct rs_strbuf s = {0};
    replay_title(&s, w);
    write_name(j, RECORDED, 0, "process_name", "recorded");
    write_name(j, REPLAYED, 0, "process_name", rs_strbuf_borrow(&s));
    for (uint32_t i = 0; i < m->nmembers; i++) {
        if (!seen[i]) continue;
        const char *name = rs_comm_name(m, m->members[i].comm);
        rs_strbuf_clear(&s);
        rs_rank_label(&s, m, m->members[i].rank_id);
        if (name) rs_strbuf_printf(&s, " %s", name);
        for (int pid = RECORDED; pid <= REPLAYED; pid++) write_name(j, pid, i, "thread_name", rs_strbuf_borrow(&s));
    }
    rs_strbuf_free(&s);
}

static void write_node(struct rs_json *j, const struct rs_whatif *w, uint32_t i, int pid)
{
    const struct rs_graph *g = &w->graph;
    const struct rs_node *x = &g->nodes[i];
    const struct rs_ops *o = &w->view->model->ops;
    int64_t start = pid == RECORDED ? x->start : w->replay.starts[i],
            end = pid == RECORDED ? x->end : w->replay.ends[i];
    rs_json_object(j);
    rs_json_key_str(j, "ph", "X");
    rs_json_key_str(j, "name", rs_model_text(w->view->model, o->func[g->ops[x->op].op]));
    rs_json_key_i64(j, "pid", pid);
    rs_json_key_u64(j, "tid", x->member);
    rs_json_key(j, "ts");
    rs_json_thousandths(j, rs_time_minus(start, g->begin));
    rs_json_key(j, "dur");
    rs_json_thousandths(j, rs_time_minus(end, start));
    rs_json_key(j, "args");
    rs_json_object(j);
    rs_json_key_hex(j, "op", o->id[g->ops[x->op].op]);
    rs_json_key_bool(j, "recorded", x->recorded); /* else its times are estimated */
    rs_json_key_i64(j, "earlier_ns", rs_time_minus(x->start, start));
    rs_json_end(j);
    rs_json_end(j);
    rs_json_newline(j);
}

static enum rs_status write_trace(const struct rs_whatif *w, const struct options *o, struct rs_err *err)
{
    struct rs_output out = {0};
    struct rs_json *j = rs_alloc(sizeof *j);
    bool *seen = rs_zalloc((size_t)w->view->model->nmembers + 1, sizeof *seen);
    enum rs_status done = rs_output_open(&out, RS_EXPORT_STREAM, o->out, o->force, NULL, err);
    if (done == RS_OK) {
        rs_json_to_file(j, out.file, o->out);
        rs_json_object(j);
        rs_json_key(j, "traceEvents");
        rs_json_array(j);
        for (uint32_t i = 0; i < w->graph.nnodes; i++) seen[w->graph.nodes[i].member] = true;
        write_names(j, w, seen);
        for (uint32_t i = 0; i < 2 * w->graph.nnodes && !rs_json_failed(j); i++)
            write_node(j, w, i / 2, i % 2 ? REPLAYED : RECORDED);
        rs_json_end(j);
        rs_json_end(j);
        done = rs_json_finish(j, err);
        if (done == RS_OK) done = rs_output_commit(&out, err);
        rs_output_abort(&out);
    }
    free(seen);
    free(j);
    return done;
}

/* ---- the command ---- */

static bool is_page(const struct options *o)
{
    size_t n = o->out ? strlen(o->out) : 0;
    return n && (rs_name_ending(o->out, n, ".html") || rs_name_ending(o->out, n, ".htm"));
}

static enum rs_status work(struct rs_whatif *w, struct rs_model *m, struct rs_inputs *in, const struct options *o,
                           struct rs_err *err)
{
    RS_TRY(add_cases(w, o, err));
    if (o->out && w->cases[w->ncases - 1].saving_ns == RS_TIME_NONE)
        return rs_fail(err, RS_BAD_INPUT, "%s: nothing was written: %s", o->out, w->cases[w->ncases - 1].unknown);
    if (is_page(o))
        RS_TRY(write_page(w, m, in, o, err));
    else if (o->out)
        RS_TRY(write_trace(w, o, err));
    if (!o->common.json) {
        print_text(w);
        return RS_OK;
    }
    struct rs_json *j = rs_output_json();
    rs_out_json(j, &rs_out_whatif, &(struct rs_whatif_fields){w});
    rs_json_newline(j);
    return rs_json_finish(j, err);
}

static enum rs_status show(const struct rs_command *self, struct rs_model *m, struct rs_inputs *in, void *options,
                           int *status, struct rs_err *err)
{
    (void)self;
    struct options *o = options;
    const struct rs_filter *filter = &o->common.filters.filter, everything = {0};
    struct rs_view all, view; /* steps and roles are those of the whole run */
    struct rs_steps steps;
    rs_view_init(&all, m, &everything);
    enum rs_status done = rs_steps_find(&steps, &all, err);
    if (done == RS_OK) {
        struct rs_job_layout layout;
        struct rs_roles roles;
        struct rs_whatif w;
        rs_steps_within(&steps, filter, o->warmup < 0 ? RS_NONE : (uint32_t)o->warmup);
        rs_job_layout_find(&layout, &all, &steps);
        rs_roles_find(&roles, &all, &steps, &layout);
        rs_view_init(&view, m, filter);
        rs_whatif_init(&w, &view, &steps, &roles);
        done = work(&w, m, in, o, err);
        if (w.refused) *status = RS_EXIT_FAILURE; /* these inputs cannot answer */
        rs_whatif_free(&w);
        rs_view_free(&view);
        rs_roles_free(&roles);
        rs_job_layout_free(&layout);
        rs_steps_free(&steps);
    }
    rs_view_free(&all);
    return done;
}

static int run(const struct rs_command *self, int argc, char **argv)
{
    struct options o = {.warmup = -1};
    int n;
    const struct rs_opt opts[] = {
        {RS_OPT_EACH, 0, "take-out", RS_EACH(take_wish, &o), "WHAT",
         "'rank 5', 'ranks 1,5', 'host NAME', 'link 2-3', persistent, sporadic or waits; may be repeated"},
        {RS_OPT_STRING, 'o', "output", &o.out, "OUT",
         "also write the recorded and the replayed run, with one --take-out: .html is a page, else a trace (Chrome "
         "JSON)"},
        {RS_OPT_FLAG, 'f', "force", &o.force, NULL, "replace an existing OUT"},
        {RS_OPT_COUNT, 0, "warmup", &o.warmup, "N",
         "leave the first N steps as they are (those recognised as start-up)"},
        {0},
    };
    int done = rs_common_parse(self, &o.common, opts, argc, argv, &n);
    if (done < 0 && o.out && o.n != 1) done = rs_opt_usage(self, "-o writes one replay: it needs one --take-out");
    if (done < 0 && o.force && !o.out) done = rs_opt_usage(self, "--force is for -o");
    if (done < 0 && is_page(&o))
        done = rs_reading_model_and_inputs(self, argv + 1, n, &o.common, show, &o);
    else if (done < 0)
        done = rs_reading_model(self, argv + 1, n, &o.common, show, &o);
    free(o.wishes);
    return done;
}

const struct rs_command rs_cmd_whatif = {
    .name = "whatif",
    .summary = "what a cure would save: the run replayed without a rank's or host's lateness",
    .usage = "[options] IN...",
    .text =
        "Replays the recorded operations, and the time that each rank took between them, without what a rank takes\n"
        "longer than the ranks that do the same work. Prints the time that this saves, with its interval: waits that\n"
        "others cause, and time that is hidden, do not count.",
    .examples = "ringscope whatif rec                                 # all that is late\n"
                "ringscope whatif --take-out 'rank 5' rec             # one rank\n"
                "ringscope whatif --take-out 'host node1' --json rec\n"
                "ringscope whatif --take-out 'rank 5' -o replay.html rec   # both runs above each other, in a browser\n"
                "ringscope whatif --take-out 'rank 5' -o replay.json rec   # the same as a trace for Perfetto",
    .json = "one JSON object, with every case",
    .takes = "from to run same-host",
    .run = run,
};

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
#include "cli/print/plain.h"
#include "cli/print/table.h"
#include "cli/reading.h"
#include "conclude/layout.h"
#include "fields/whatif.h"

/* ---- what to take out ---- */

struct wish {
    enum rs_cure cure;
    const char *who; /* of a rank or host: its number or name, points into argv; else NULL */
};

struct options {
    struct rs_common common;
    struct wish *wishes;
    uint32_t n, cap;
    int warmup; /* -1: the start-up */
};

static const struct {
    const char *word;
    enum rs_cure cure;
    bool named; /* the word is followed by a number or name */
} words[] = {{"rank", RS_CURE_RANK, true},
             {"host", RS_CURE_HOST, true},
             {"persistent", RS_CURE_PERSISTENT, false},
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
    return "is none of 'rank N', 'host NAME', persistent, sporadic, waits";
}

static enum rs_status find_who(const struct wish *x, const struct rs_model *m, uint32_t *who, struct rs_err *err)
{
    int64_t number;
    *who = RS_NONE;
    if (x->cure == RS_CURE_RANK) {
        if (!rs_opt_int(x->who, &number)) return rs_fail(err, RS_BAD_INPUT, "'%s' is not the number of a rank", x->who);
        for (uint32_t i = 0; i < m->nranks && *who == RS_NONE; i++)
            if (m->ranks[i].number == number) *who = i;
        if (*who == RS_NONE) return rs_fail(err, RS_BAD_INPUT, "rank %s is not in these inputs", x->who);
    }
    if (x->cure == RS_CURE_HOST) {
        for (uint32_t i = 0; i < m->nhosts && *who == RS_NONE; i++)
            if (!strcmp(rs_host_label(m, i), x->who)) *who = i;
        if (*who == RS_NONE) return rs_fail(err, RS_BAD_INPUT, "host %s is not in these inputs", x->who);
    }
    return RS_OK;
}

static enum rs_status add_cases(struct rs_whatif *w, const struct options *o, struct rs_err *err)
{
    for (uint32_t i = 0; i < o->n; i++) {
        uint32_t who;
        RS_TRY(find_who(&o->wishes[i], w->view->model, &who, err));
        rs_whatif_add(w, o->wishes[i].cure, who);
    }
    if (o->n) return RS_OK;
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!words[i].named) rs_whatif_add(w, words[i].cure, RS_NONE);
    return RS_OK;
}

/* ---- text ---- */

static void cell_ns(struct rs_table *t, int64_t ns)
{
    rs_table_cell(t, "%s", ns == RS_TIME_NONE ? "?" : rs_text_ns(ns).s);
}

static void print_text(const struct rs_whatif *w)
{
    if (w->refused) {
        printf("The run cannot be replayed: %s.\n", w->refused);
        return;
    }
    printf("recorded run: %s", rs_text_ns(w->makespan_ns).s);
    if (w->step_ns != RS_TIME_NONE) printf(", %s per step", rs_text_ns(w->step_ns).s);
    printf("; replayed unchanged: %.2g %% off\n", w->error_pct);
    if (w->steps->left_out) rs_plain_line(w->steps->left_out, stdout);
    printf("\n");
    static const char *const heads[] = {"saves", "at least", "at most", "share", "run", "step"};
    struct rs_table t = {0};
    rs_table_column(&t, RS_LEFT, "taken out");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) rs_table_column(&t, RS_RIGHT, heads[i]);
    rs_table_column(&t, RS_LEFT, "");
    for (uint32_t i = 0; i < w->ncases; i++) {
        const struct rs_whatif_case *x = &w->cases[i];
        rs_table_cell(&t, "%s", x->take_out);
        cell_ns(&t, x->saving_ns);
        cell_ns(&t, x->saving_low_ns);
        cell_ns(&t, x->saving_high_ns);
        if (x->saving_ns == RS_TIME_NONE)
            rs_table_cell(&t, "?");
        else
            rs_table_cell(&t, "%.1f %%", 100 * (double)x->saving_ns / (double)(w->makespan_ns ? w->makespan_ns : 1));
        cell_ns(&t, x->makespan_ns);
        cell_ns(&t, x->step_ns);
        rs_table_cell(&t, "%s", x->unknown ? x->unknown : "");
    }
    rs_table_print(&t, "", stdout);
    rs_table_free(&t);
}

/* ---- the command ---- */

static enum rs_status work(struct rs_whatif *w, const struct options *o, struct rs_err *err)
{
    RS_TRY(add_cases(w, o, err));
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
    (void)self, (void)in;
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
        done = work(&w, o, err);
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
         "'rank 5', 'host NAME', persistent, sporadic or waits; may be repeated"},
        {RS_OPT_COUNT, 0, "warmup", &o.warmup, "N",
         "leave the first N steps as they are (those recognised as start-up)"},
        {0},
    };
    int done = rs_common_parse(self, &o.common, opts, argc, argv, &n);
    if (done < 0) done = rs_reading_model(self, argv + 1, n, &o.common, show, &o);
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
                "ringscope whatif --take-out 'host node1' --json rec",
    .json = "one JSON object, with every case",
    .takes = "from to run same-host",
    .run = run,
};

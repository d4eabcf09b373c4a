/* ringscope hang: why a job hangs, from what it left. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyse/hang.h"
#include "analyse/hang_phrases.h"
#include "base/moment.h"
#include "base/room.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/hang_output.h"
#include "cli/print/output.h"
#include "cli/print/plain.h"
#include "cli/print/screen.h"
#include "cli/print/table.h"
#include "cli/print/time_zero.h"
#include "cli/reading.h"
#include "join/ranks.h"

enum { MOST_ROWS = 24, MOST_TABLES = 4, MOST_FINDINGS = 16 }; /* of the evidence, in the text */

/* ---- text ---- */

/* The first lines: each verdict in plain words. */
static void print_headline(const struct rs_model *m, const struct rs_hang_finding *h)
{
    bool found = h->verdict != RS_VERDICT_NONE && h->verdict != RS_VERDICT_UNKNOWN;
    struct rs_strbuf line = {0};
    rs_hang_headline(&line, m, h);
    rs_screen_word(found ? RS_STYLE_CULPRIT : RS_STYLE_BOLD, rs_verdict_name(h->verdict));
    rs_screen_print(": %s\n", rs_strbuf_borrow(&line));
    rs_strbuf_free(&line);
}

/* The end of the last recording of those in it. */
static int64_t last_end(const struct rs_model *m, const struct rs_hang_finding *h)
{
    int64_t end = RS_TIME_NONE;
    for (uint32_t i = 0; i < h->nrows; i++)
        if (h->rows[i].member != RS_NONE && rs_hang_member_end(m, h->rows[i].member) > end)
            end = rs_hang_member_end(m, h->rows[i].member);
    return end;
}

static void row_cells(struct rs_table *t, const struct rs_model *m, const struct rs_hang_finding *h, uint32_t i)
{
    const struct rs_hang_rank *r = &h->rows[i];
    const struct rs_member *x = r->member == RS_NONE ? NULL : &m->members[r->member];
    int32_t rank = rs_job_rank(m, h->comm, r->rank);
    if (rs_hang_is_guilty(h, r->rank)) rs_table_mark(t);
    if (rank >= 0)
        rs_table_cell(t, "%d", rank);
    else
        rs_table_cell(t, "?");
    rs_table_cell(t, "%d", r->rank);
    rs_table_cell(t, "%s", x ? rs_host_label(m, m->procs[x->proc].host) : "?");
    if (x && m->procs[x->proc].pid)
        rs_table_cell(t, "%" PRIu32, m->procs[x->proc].pid);
    else
        rs_table_cell(t, "?");
    bool guilty = rs_hang_is_guilty(h, r->rank), dead = guilty && h->verdict == RS_VERDICT_RANK_DEAD;
    rs_table_cell(t, "%s%s", dead ? "dead" : rs_stage_text(r->stage), guilty ? " <--" : "");
    int64_t since = x && dead ? m->procs[x->proc].end : r->since;
    int64_t end = !x ? RS_TIME_NONE : dead ? last_end(m, h) : rs_hang_member_end(m, r->member);
    bool dump = x && rs_tool_has(m->procs[x->proc].tool, RS_CAP_DUMP); /* when it was made is not known */
    if (!x || dump || since == RS_TIME_NONE || end <= since || r->stage == RS_STAGE_ENDED)
        rs_table_cell(t, "-"); /* signs of life are rarer than callbacks: the last of them may come before */
    else
        rs_table_cell(t, "%s", rs_text_ns(rs_time_minus(end, since)).s);
    uint32_t last = h->busy[i] != RS_NONE ? h->busy[i] : h->last[i];
    char op[160] = "-";
    if (last != RS_NONE && m->parts.op[last] != RS_NONE) rs_hang_op_text(m, m->parts.op[last], op, sizeof op);
    rs_table_cell(t, "%s", op);
}

/* The guilty first, then the others, as far as there is room. */
static void print_evidence(const struct rs_model *m, const struct rs_hang_finding *h)
{
    struct rs_table t = {0};
    rs_table_column(&t, RS_RIGHT, RS_H_RANK);
    rs_table_column(&t, RS_RIGHT, RS_H_HERE);
    rs_table_column(&t, RS_LEFT, RS_H_HOST);
    rs_table_column(&t, RS_RIGHT, RS_H_PID);
    rs_table_column(&t, RS_LEFT, RS_H_STATE);
    rs_table_column(&t, RS_RIGHT, RS_H_FOR);
    rs_table_column(&t, RS_LEFT, RS_H_CALLED_LAST);
    uint32_t shown = 0;
    for (int others = 0; others < 2; others++)
        for (uint32_t i = 0; i < h->nrows && shown < MOST_ROWS; i++) {
            if (rs_hang_is_guilty(h, h->rows[i].rank) == others) continue;
            row_cells(&t, m, h, i);
            shown++;
        }
    char op[160];
    rs_hang_finding_text(m, h, op, sizeof op);
    rs_screen_print("\n");
    rs_screen_print("ranks in %s", op);
    char utc[RS_MOMENT_ROOM];
    if (h->since != RS_TIME_NONE) {
        bool dated = rs_moment_utc(h->since, utc, sizeof utc);
        rs_screen_print(", no progress since %s%s%s", rs_zero_moment(m, h->since).s, dated ? ", " : "",
                        dated ? utc : "");
    }
    rs_screen_print("\n");
    rs_table_print(&t, "", stdout);
    rs_table_free(&t);
    if (h->nrows > shown) rs_screen_print("and %" PRIu32 " more\n", h->nrows - shown);
}

static void conclude(const struct rs_hang *h)
{
    int32_t *ranks = NULL;
    uint32_t n = 0, cap = 0;
    for (uint32_t i = 0; i < h->nfindings; i++)
        for (uint32_t k = 0; k < h->findings[i].nguilty; k++) {
            RS_ROOM(ranks, n, cap);
            ranks[n++] = h->findings[i].guilty[k].rank;
        }
    rs_screen_conclude(h->conclusion, h->nconclusion, ranks, n);
    free(ranks);
}

static void print_text(const struct rs_model *m, const struct rs_hang *h)
{
    for (uint32_t i = 0; i < h->nfindings && i < MOST_FINDINGS; i++) {
        if (i) rs_screen_print("and ");
        print_headline(m, &h->findings[i]);
        if (h->findings[i].detail) rs_screen_print("%s\n", h->findings[i].detail);
    }
    if (h->nfindings > MOST_FINDINGS) rs_screen_print("and %" PRIu32 " more causes\n", h->nfindings - MOST_FINDINGS);
    rs_screen_print("\n");
    conclude(h);
    for (uint32_t i = 0; i < h->nfindings && i < MOST_TABLES; i++)
        if (h->findings[i].nrows) print_evidence(m, &h->findings[i]);
    if (h->also_blocked)
        rs_screen_print("%" PRIu32 " other operation%s pending.\n", h->also_blocked,
                        h->also_blocked == 1 ? " is" : "s are");
}

/* A script must be able to distinguish "nothing hangs" from "these files cannot answer". */
static int exit_status(enum rs_verdict v)
{
    if (v == RS_VERDICT_NONE) return RS_EXIT_FINE;
    return v == RS_VERDICT_UNKNOWN ? RS_EXIT_FAILURE : RS_EXIT_FOUND;
}

static enum rs_status show(const struct rs_command *self, struct rs_model *m, struct rs_inputs *in, void *options,
                           int *status, struct rs_err *err)
{
    (void)self, (void)in;
    const struct rs_common *o = options;
    struct rs_hang h;
    enum rs_status done = RS_OK;
    rs_hang_find(m, &o->filters.filter, &h);
    if (o->json) {
        struct rs_json *j = rs_output_json();
        rs_hang_json(j, m, &h);
        done = rs_json_finish(j, err);
    } else {
        print_text(m, &h);
    }
    *status = exit_status(h.findings[0].verdict);
    rs_hang_free(&h);
    return done;
}

static int run(const struct rs_command *self, int argc, char **argv)
{
    return rs_reading_command(self, argc, argv, show);
}

const struct rs_command rs_cmd_hang = {
    .name = "hang",
    .summary = "why a job hangs: who is missing, dead, or waits for whom",
    .usage = "[options] IN...",
    .text =
        "Looks at what was pending when the recordings end, also those of a job that was killed or still runs, or in\n"
        "dumps of PyTorch's Flight Recorder, and follows who waits for whom to the ranks that nothing in NCCL holds.\n"
        "Every independent cause is named.\n"
        "Exit status 0: nothing hangs (NONE); 3: a hang was found; 1: these files cannot answer (UNKNOWN).",
    .examples = "ringscope hang rec                   # the verdict, the evidence, and what to do\n"
                "ringscope hang nccl_trace_rank_*     # dumps of Flight Recorder\n"
                "ringscope hang --json rec            # for programs",
    .json = "one JSON object",
    .takes = "filter run same-host",
    .run = run,
};

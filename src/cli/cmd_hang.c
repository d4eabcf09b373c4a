/* ringscope hang: why a job hangs, from what it left. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/hang.h"
#include "analyse/hang_phrases.h"
#include "base/json.h"
#include "base/moment.h"
#include "base/room.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/print/output.h"
#include "cli/print/plain.h"
#include "cli/print/screen.h"
#include "cli/print/table.h"
#include "cli/print/time_zero.h"
#include "cli/reading.h"
#include "join/ranks.h"
#include "nccl/names.h"

enum { MOST_ROWS = 24, MOST_TABLES = 4, MOST_FINDINGS = 16 }; /* of the evidence, in the text */

/* ---- JSON ---- */

static void rank_json(struct rs_json *j, const char *key, int32_t rank)
{
    rs_json_key_number_or_null(j, key, rank);
}

static void who_json(struct rs_json *j, const struct rs_model *m, const struct rs_hang_who *who)
{
    rs_json_object(j);
    rank_json(j, "rank", who->rank);
    rank_json(j, "comm_rank", who->comm_rank);
    if (who->member != RS_NONE) {
        const struct rs_member *x = &m->members[who->member];
        rs_json_key_str(j, "host", rs_host_name(m, m->procs[x->proc].host));
        rs_pid_json(j, m->procs[x->proc].pid);
        rs_json_key_number_or_null(j, "device", x->device);
    } else {
        rs_json_key_null(j, "host");
        rs_json_key_null(j, "pid");
        rs_json_key_null(j, "device");
    }
    rs_json_end(j);
}

static void ranks_json(struct rs_json *j, const char *key, const struct rs_hang_who *who, uint32_t n)
{
    rs_json_key(j, key);
    rs_json_array(j);
    for (uint32_t i = 0; i < n; i++) {
        if (who[i].rank >= 0)
            rs_json_i64(j, who[i].rank);
        else
            rs_json_null(j);
    }
    rs_json_end(j);
}

static void op_json(struct rs_json *j, const struct rs_model *m, const struct rs_hang_finding *h, bool id)
{
    if (h->op == RS_NONE && h->seq != UINT64_MAX && h->comm != RS_NONE) { /* counted by a health service */
        rs_json_key_hex(j, "comm", m->comms[h->comm].hash);
        rs_json_key_str(j, "func", h->func ? rs_model_text(m, h->func) : NULL);
        rs_json_key_u64(j, "seq", h->seq);
        if (id) rs_json_key_null(j, "op");
        return;
    }
    if (h->op == RS_NONE) {
        static const char *const keys[] = {"comm", "func", "seq", "op"};
        for (size_t i = 0; i < sizeof keys / sizeof *keys - !id; i++) rs_json_key_null(j, keys[i]);
        return;
    }
    rs_json_key_hex(j, "comm", m->comms[h->comm].hash);
    rs_json_key_str(j, "func", rs_model_text(m, m->ops.func[h->op]));
    if (m->ops.seq[h->op] == UINT64_MAX)
        rs_json_key_null(j, "seq");
    else
        rs_json_key_u64(j, "seq", m->ops.seq[h->op]);
    if (id) rs_json_key_hex(j, "op", m->ops.id[h->op]);
}

/* The lines of a text. */
static void lines_json(struct rs_json *j, const char *key, const char *text)
{
    rs_json_key(j, key);
    rs_json_array(j);
    for (size_t n; text && *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        rs_json_strn(j, text, n);
    }
    rs_json_end(j);
}

static void culprit_json(struct rs_json *j, const struct rs_model *m, const struct rs_hang_finding *f)
{
    bool suspected = !f->nguilty;
    const struct rs_hang_who *who = suspected ? f->suspects : f->guilty;
    uint32_t n = suspected ? f->nsuspects : f->nguilty;
    rs_json_object(j);
    ranks_json(j, "ranks", who, n);
    rs_json_key(j, "hosts");
    rs_json_array(j);
    for (uint32_t i = 0; i < n; i++)
        rs_json_str(j,
                    who[i].member == RS_NONE ? NULL : rs_host_name(m, m->procs[m->members[who[i].member].proc].host));
    rs_json_end(j);
    rs_json_key(j, "pids");
    rs_json_array(j);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t pid = who[i].member == RS_NONE ? 0 : m->procs[m->members[who[i].member].proc].pid;
        if (pid)
            rs_json_u64(j, pid);
        else
            rs_json_null(j);
    }
    rs_json_end(j);
    rs_json_key_str(j, "verdict", rs_verdict_name(f->verdict));
    rs_json_key_bool(j, "suspected", suspected || f->undecided);
    op_json(j, m, f, false);
    rs_json_key_str(j, "evidence", f->evidence);
    rs_json_key_str(j, "advice", f->advice);
    lines_json(j, "frames", f->frames);
    rs_json_end(j);
}

static void hang_json(struct rs_json *j, const struct rs_model *m, const struct rs_hang *h)
{
    const struct rs_hang_finding *f = &h->findings[0];
    rs_json_object(j);
    rs_json_key_str(j, "verdict", rs_verdict_name(f->verdict));
    op_json(j, m, f, true);
    ranks_json(j, "ranks", f->guilty, f->nguilty);
    rank_json(j, "peer", f->peer.rank);
    rank_json(j, "step", f->step);
    rs_json_key_str(j, "state", f->state < 0 ? NULL : rs_nccl_state_name(f->state));
    rank_json(j, "channel", f->channel);
    rs_json_key_str(j, "detail", f->detail);
    rs_json_key(j, "unseen_ranks");
    rs_json_array(j);
    for (uint32_t i = 0; i < h->nunseen; i++) rs_json_i64(j, h->unseen[i]);
    rs_json_end(j);
    ranks_json(j, "waiting_ranks", f->waiting, f->nwaiting);
    rs_time_json(j, "since_ns", f->since);
    rs_json_key(j, "who");
    rs_json_array(j);
    for (uint32_t i = 0; i < f->nguilty; i++) who_json(j, m, &f->guilty[i]);
    rs_json_end(j);
    rs_json_key(j, "peer_who");
    if (f->peer.comm_rank < 0)
        rs_json_null(j);
    else
        who_json(j, m, &f->peer);
    rs_json_key(j, "culprits");
    rs_json_array(j);
    for (uint32_t i = 0; i < h->nfindings; i++)
        if (h->findings[i].nguilty || h->findings[i].nsuspects) culprit_json(j, m, &h->findings[i]);
    rs_json_end(j);
    rs_json_key_u64(j, "also_blocked", h->also_blocked);
    rs_json_key(j, "conclusion");
    rs_json_array(j);
    for (uint32_t i = 0; i < h->nconclusion; i++) rs_json_str(j, h->conclusion[i]);
    rs_json_end(j);
    rs_json_end(j);
    rs_json_newline(j);
}

/* ---- text ---- */

static void print_ranks(const struct rs_hang_who *who, uint32_t n)
{
    for (uint32_t i = 0; i < n && i < 8; i++)
        rs_screen_print("%s%d",
                        i        ? ", "
                        : n == 1 ? " rank "
                                 : " ranks ",
                        who[i].rank >= 0 ? who[i].rank : who[i].comm_rank);
    if (n > 8) rs_screen_print(" and %" PRIu32 " more", n - 8);
    if (n && who[0].rank < 0) rs_screen_print(" of the communicator");
}

/* The first lines: each verdict in plain words. */
static void print_headline(const struct rs_model *m, const struct rs_hang_finding *h)
{
    static const char *const words[] = {
        [RS_VERDICT_NONE] = "no hang",
        [RS_VERDICT_UNKNOWN] = "these files cannot answer",
        [RS_VERDICT_RANK_DEAD] = "a process died",
        [RS_VERDICT_NOT_JOINED] = "not joined by",
        [RS_VERDICT_MISMATCH] = "calls that do not match",
        [RS_VERDICT_STREAM_BLOCKED] = "launched and never started by",
        [RS_VERDICT_STALLED_STEP] = "stalled in the transfer",
        [RS_VERDICT_DEADLOCK] = "deadlock of two communicators",
        [RS_VERDICT_OUTSIDE_NCCL] = "complete in NCCL, stuck outside",
    };
    bool found = h->verdict != RS_VERDICT_NONE && h->verdict != RS_VERDICT_UNKNOWN;
    rs_screen_word(found ? RS_STYLE_CULPRIT : RS_STYLE_BOLD, rs_verdict_name(h->verdict));
    rs_screen_print(": %s", words[h->verdict]);
    if (h->nguilty && h->verdict != RS_VERDICT_NOT_JOINED && h->verdict != RS_VERDICT_STREAM_BLOCKED)
        rs_screen_print(",");
    print_ranks(h->guilty, h->nguilty);
    if (h->nsuspects) rs_screen_print(", suspected:");
    print_ranks(h->suspects, h->nsuspects);
    char op[160];
    if (rs_hang_finding_text(m, h, op, sizeof op)) {
        rs_plain(op);
        rs_screen_print(": %s", op);
    }
    rs_screen_print("\n");
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
        hang_json(j, m, &h);
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

/* ringscope ops: every operation, joined across ranks; one operation down to its steps; what each GPU did at a
 * moment. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyse/moment.h"
#include "analyse/steps.h"
#include "base/json.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/ops_tree.h"
#include "cli/print/output.h"
#include "cli/print/screen.h"
#include "cli/print/table.h"
#include "cli/print/time_zero.h"
#include "cli/reading.h"
#include "fields/operation.h"
#include "join/durations.h"
#include "join/op_facts.h"
#include "join/overlay_facts.h"
#include "join/presence.h"
#include "join/totals.h"
#include "join/waits.h"
#include "model/filter.h"
#include "model/model.h"

/* ---- one moment ----
 * What each GPU did at one moment: `ringscope ops --at TIME`. */

static const char *const words[] = {[RS_DOING_UNKNOWN] = "unknown",
                                    [RS_DOING_WAIT] = "waiting",
                                    [RS_DOING_TRANSFER] = "transferring",
                                    [RS_DOING_RUN] = "running",
                                    [RS_DOING_NOTHING] = "nothing in NCCL"};

static int64_t time_or_none(int64_t ns)
{
    return ns == INT64_MAX ? RS_TIME_NONE : ns;
}

static void row_json(struct rs_json *j, const struct rs_model *m, const struct rs_moment *r, bool filtered)
{
    uint32_t part = r->part, op = part == RS_NONE ? RS_NONE : m->parts.op[part];
    bool nothing = r->doing == RS_DOING_NOTHING;
    rs_json_object(j);
    rs_rank_json(j, m, r->rank_id);
    rs_json_key_str(j, "doing", nothing && filtered ? "nothing that passes the filters" : words[r->doing]);
    rs_json_key_str(j, "why", r->why);
    rs_json_key(j, "op");
    if (op == RS_NONE)
        rs_json_null(j);
    else
        rs_json_hex(j, m->ops.id[op]);
    rs_json_key_str(j, "func", part == RS_NONE ? NULL : rs_model_text(m, m->parts.func[part]));
    rs_time_json(j, "called_ns", part == RS_NONE ? RS_TIME_NONE : m->parts.enqueued[part]);
    rs_time_json(j, "since_ns", part == RS_NONE ? RS_TIME_NONE : m->parts.start[part]);
    rs_time_json(j, "until_ns", part == RS_NONE ? RS_TIME_NONE : m->parts.end[part]);
    rs_time_json(j, "until_before_ns", part == RS_NONE ? RS_TIME_NONE : time_or_none(rs_moment_latest_end(m, part)));
    rs_time_json(j, "previous_end_ns", r->before == RS_NONE ? RS_TIME_NONE : rs_moment_latest_end(m, r->before));
    rs_time_json(j, "next_start_ns", r->after == RS_NONE ? RS_TIME_NONE : m->parts.start[r->after]);
    rs_time_json(j, "clock_error_ns", r->error_ns);
    rs_json_end(j);
    rs_json_newline(j);
}

/* "for 3.1 ms", or how much of that is known. */
static void in_it(struct rs_strbuf *s, const struct rs_model *m, const struct rs_moment *r, int64_t at)
{
    bool known;
    int64_t begin = rs_moment_begin(m, r->part, &known), latest = rs_moment_latest_end(m, r->part);
    const char *ago = rs_text_ns(rs_time_minus(at, begin)).s;
    if (r->doing != RS_DOING_UNKNOWN) {
        rs_strbuf_printf(s, "for %s", ago);
        return;
    }
    rs_strbuf_printf(s, "perhaps in %s, %s %s ago: %s", rs_model_text(m, m->parts.func[r->part]),
                     known ? "begun" : "called", ago, r->why);
    if (latest != INT64_MAX) rs_strbuf_printf(s, ", %s later at most", rs_text_ns(rs_time_minus(latest, at)).s);
}

/* What came before, and what comes next. */
static void around(struct rs_strbuf *s, const struct rs_model *m, const struct rs_moment *r, int64_t at)
{
    if (r->why) rs_strbuf_puts(s, r->why);
    if (r->before != RS_NONE) {
        bool known = rs_part_has_ended(m, r->before);
        rs_strbuf_printf(s, "%s%s ended %s%s ago", s->len ? "; " : "", rs_model_text(m, m->parts.func[r->before]),
                         known ? "" : "at least ", rs_text_ns(rs_time_minus(at, rs_moment_latest_end(m, r->before))).s);
    }
    if (r->after == RS_NONE) return;
    bool known;
    int64_t next = rs_time_minus(rs_moment_begin(m, r->after, &known), at);
    rs_strbuf_printf(s, "%s%s%s in %s%s", s->len ? "; " : "", known ? "next " : "calls ",
                     rs_model_text(m, m->parts.func[r->after]), rs_text_ns(next).s, known ? "" : " (start unknown)");
}

static void row_text(struct rs_table *t, const struct rs_model *m, const struct rs_moment *r, int64_t at, bool filtered)
{
    const struct rs_rank *x = &m->ranks[r->rank_id];
    uint32_t op = r->part == RS_NONE ? RS_NONE : m->parts.op[r->part], pid = m->procs[x->proc].pid;
    struct rs_strbuf s = {0};
    rs_table_cell(t, x->number < 0 ? "?" : "%" PRId32, x->number);
    rs_table_cell(t, "%s", rs_host_label(m, x->host));
    rs_table_cell(t, pid ? "%" PRIu32 : "?", pid);
    rs_table_cell(t, x->device < 0 ? "?" : "%" PRId32, x->device);
    if (r->doing == RS_DOING_NOTHING || r->doing == RS_DOING_UNKNOWN)
        rs_table_cell(t, "%s", r->doing == RS_DOING_NOTHING && filtered ? "nothing that passes" : words[r->doing]);
    else
        rs_table_cell(t, "%s in %s", words[r->doing], rs_model_text(m, m->parts.func[r->part]));
    rs_table_cell(t, op == RS_NONE ? "-" : "0x%016" PRIx64, op == RS_NONE ? 0 : m->ops.id[op]);
    rs_table_cell(t, "%s", r->error_ns == RS_TIME_NONE ? "?" : rs_text_ns(r->error_ns).s);
    if (r->part != RS_NONE)
        in_it(&s, m, r, at);
    else
        around(&s, m, r, at);
    rs_table_cell(t, "%s", rs_strbuf_borrow(&s));
    rs_strbuf_free(&s);
}

static void print_moment(const struct rs_moment *rows, uint32_t n, const struct rs_model *m, int64_t at, bool filtered)
{
    struct rs_table t = {0};
    rs_table_column(&t, RS_RIGHT, RS_H_RANK);
    rs_table_column(&t, RS_LEFT, RS_H_HOST);
    rs_table_column(&t, RS_RIGHT, RS_H_PID);
    rs_table_column(&t, RS_RIGHT, RS_H_DEVICE);
    rs_table_column(&t, RS_LEFT, RS_H_ACTIVITY);
    rs_table_column(&t, RS_LEFT, RS_H_OPERATION);
    rs_table_column(&t, RS_RIGHT, RS_H_CLOCK_ERROR);
    rs_table_column(&t, RS_LEFT, RS_H_NONE);
    for (uint32_t i = 0; i < n; i++) row_text(&t, m, &rows[i], at, filtered);
    rs_table_print(&t, "", stdout);
    rs_table_free(&t);
}

/* A line a rank (JSON Lines where `json` is not NULL, else a table on stdout). */
static void ops_at(const struct rs_model *m, const struct rs_filter *filter, int64_t at, struct rs_json *json)
{
    struct rs_moment *rows;
    uint32_t n;
    bool filtered = filter->ncomms || filter->nfuncs || filter->has_from || filter->has_to;
    rs_moment_find(&rows, &n, m, filter, at);
    for (uint32_t i = 0; json && i < n; i++) row_json(json, m, &rows[i], filtered);
    if (!json) {
        print_moment(rows, n, m, at, filtered);
        if ((at < rs_model_begin(m) || at > rs_model_end(m)))
            rs_screen_print("\nThat is %s event of the run.\n",
                            at < rs_model_begin(m) ? "before the first" : "after the last");
    }
    free(rows);
}

/* ---- JSON ----
 * One operation as a line of `ringscope ops --json`: docs/json.md in C. */

static void ops_json(struct rs_json *j, const struct rs_model *m, uint32_t op, const struct rs_presence_index *presence,
                     const struct rs_steps *steps)
{
    struct rs_op_row row = {.m = m, .presence = presence, .steps = steps};
    rs_op_row_make(&row, op);
    rs_out_json(j, &rs_out_operation, &row);
    rs_json_newline(j);
}

/* ---- the command ---- */

enum { OP_DIGITS = 12 }; /* of an id in the table: --op takes the first ones */
enum { MOST_DESC = 24 };

struct options {
    struct rs_common common;
    bool tree;
    const char *at, *op;
};

/* ---- which, in which order ---- */

struct moment {
    int64_t at;
    uint32_t op;
};

static int by_time(const void *a, const void *b)
{
    const struct moment *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static void choose(const struct rs_model *m, const struct rs_filter *filter, struct moment **out, uint32_t *n)
{
    struct moment *rows = rs_alloc((m->ops.n + 1) * sizeof *rows);
    *n = 0;
    for (uint32_t i = 0; i < m->ops.n; i++)
        if (m->ops.over[i] == RS_NONE && rs_filter_op(filter, m, i))
            rows[(*n)++] = (struct moment){rs_op_begin(m, i), i};
    qsort(rows, *n, sizeof *rows, by_time);
    *out = rows;
}

/* ---- the table ---- */

static void number_cell(struct rs_table *t, const struct rs_model *m, uint32_t op)
{
    const struct rs_ops *o = &m->ops;
    if (o->kind[op] == RS_OP_PAIR)
        rs_table_cell(t, "%" PRId32 ">%" PRId32 " #%" PRIu32, o->root[op], o->dst[op], o->index[op]);
    else if (o->captured[op])
        rs_table_cell(t, "graph %" PRIu32 ".%" PRIu32, o->captured[op], o->replay[op]);
    else if (o->seq[op] != UINT64_MAX)
        rs_table_cell(t, "%" PRIu64, o->seq[op]);
    else
        rs_table_cell(t, "-");
}

static void time_cell(struct rs_table *t, int64_t ns)
{
    rs_table_cell(t, "%s", ns == RS_TIME_NONE ? "?" : rs_text_ns(ns).s);
}

/* The longest wait of its ranks; below the clock error it is not shown. */
static void wait_cell(struct rs_table *t, const struct rs_model *m, uint32_t op)
{
    int64_t wait = rs_op_waits(m, op).longest_ns, least = rs_op_least(m, op);
    if (wait != RS_TIME_NONE && wait < least)
        rs_table_cell(t, "<%s", rs_text_ns(least).s);
    else
        time_cell(t, wait);
}

/* "5/8": of eight ranks five are here. */
static void ranks_cell(struct rs_table *t, const struct rs_model *m, uint32_t op)
{
    struct rs_op_rank rank;
    uint32_t here = 0;
    for (uint32_t at = 0; rs_op_next_rank(m, op, &at, &rank);) here++;
    int32_t all = m->ops.kind[op] == RS_OP_PAIR ? 2 : m->comms[m->ops.comm[op]].nranks;
    if (all < 0 || m->ops.kind[op] == RS_OP_FANOUT)
        rs_table_cell(t, "%" PRIu32, here);
    else
        rs_table_cell(t, "%" PRIu32 "/%" PRId32, here, all);
}

/* As --rank takes it: of the job, where that is known. */
static int32_t job_rank(const struct rs_member *x)
{
    return x->global_rank >= 0 ? x->global_rank : x->rank;
}

/* What the framework calls its group, and its step. */
static void framework_cell(struct rs_table *t, const struct rs_model *m, uint32_t op)
{
    struct rs_facts f;
    rs_facts_of_op(m, op, &f);
    if (f.step != RS_NONE)
        rs_table_cell(t, "%.*s step %" PRIu32, (int)(f.desc_len < MOST_DESC ? f.desc_len : MOST_DESC),
                      f.desc ? f.desc : "", f.step);
    else
        rs_table_cell(t, "%.*s", (int)(f.desc_len < MOST_DESC ? f.desc_len : MOST_DESC), f.desc ? f.desc : "");
}

static const char *remark(const struct rs_model *m, uint32_t op)
{
    uint8_t flags = m->ops.flags[op];
    if (flags & RS_OP_MISMATCH) return "sizes or types differ";
    if (m->ops.kind[op] == RS_OP_API) return "only the call is reported";
    if (m->ops.kind[op] == RS_OP_CE) return "copy engine: only enqueueing is reported";
    if (!(flags & RS_OP_WHOLE) && m->ops.kind[op] != RS_OP_FANOUT) return "ranks missing or not recorded";
    if (m->parts.flags[m->order[m->ops.part[op]]] & RS_PART_UNREPORTED)
        return "reported at capture only: replays are not reported";
    if (flags & RS_OP_VIOLATION) return "an end is before a start";
    if (m->ops.kind[op] == RS_OP_PAIR && m->ops.root[op] == m->ops.dst[op]) return "to itself: has no times";
    if (m->ops.confidence[op] < 100) return "join uncertain";
    if (!rs_op_counts(m, op)) return "inside a fan-out";
    return "";
}

static void add_row(struct rs_table *t, const struct rs_model *m, uint32_t op)
{
    const struct rs_ops *o = &m->ops;
    int64_t longest = RS_TIME_NONE;
    struct rs_op_rank rank;
    for (uint32_t i = 0; rs_op_next_rank(m, op, &i, &rank);) {
        int64_t took = rs_op_rank_duration(m, &rank);
        if (took > longest) longest = took;
    }
    rs_table_cell(t, "%s%s", o->first[op] == RS_TIME_NONE && rs_op_begin(m, op) != RS_TIME_NONE ? "called " : "",
                  rs_zero_moment(m, rs_op_begin(m, op)).s);
    rs_table_cell(t, "0x%0*" PRIx64, OP_DIGITS, o->id[op] >> (64 - 4 * OP_DIGITS));
    rs_table_cell(t, "%08" PRIx64, m->comms[o->comm[op]].hash >> 32);
    rs_table_cell(t, "%s", rs_model_text(m, o->func[op]));
    number_cell(t, m, op);
    rs_table_cell(t, "%s", rs_size_known(m, op) ? rs_text_size(o->bytes[op]).s : "?");
    ranks_cell(t, m, op);
    time_cell(t, longest);
    wait_cell(t, m, op);
    struct rs_op_rate rate = rs_op_rate(m, op);
    if (rate.below_ns != RS_TIME_NONE)
        rs_table_cell(t, "<%s", rs_text_ns(rate.below_ns).s);
    else
        time_cell(t, rate.transfer_ns);
    rs_table_cell(t, "%s", rs_text_rate(rate.busbw < 0 ? NAN : rate.busbw).s);
    if (o->last_part[op] == RS_NONE)
        rs_table_cell(t, "?");
    else if (o->flags[op] & RS_OP_TIE)
        rs_table_cell(t, "tie");
    else
        rs_table_cell(t, "%" PRId32, job_rank(&m->members[m->parts.member[o->last_part[op]]]));
    if (m->ntags) framework_cell(t, m, op);
    rs_table_cell(t, "%s", remark(m, op));
}

static void print_table(struct rs_model *m, const struct moment *rows, uint32_t n)
{
    static const enum rs_heading right[] = {RS_H_SIZE,     RS_H_RANKS, RS_H_MAX_TIME, RS_H_MAX_WAIT,
                                            RS_H_TRANSFER, RS_H_BUSBW, RS_H_LAST};
    struct rs_table t = {0};
    rs_table_column(&t, RS_RIGHT, RS_H_AT);
    rs_table_column(&t, RS_LEFT, RS_H_OP);
    rs_table_column(&t, RS_LEFT, RS_H_COMM);
    rs_table_column(&t, RS_LEFT, RS_H_FUNC);
    rs_table_column(&t, RS_LEFT, RS_H_SEQ);
    rs_table_numbers(&t, right, sizeof right / sizeof *right);
    if (m->ntags) rs_table_column(&t, RS_LEFT, RS_H_FRAMEWORK); /* some input has its words */
    rs_table_column(&t, RS_LEFT, RS_H_NONE);
    uint32_t inside = 0;
    for (uint32_t i = 0; i < n; i++) {
        add_row(&t, m, rows[i].op);
        inside += !rs_op_counts(m, rows[i].op);
    }
    rs_table_print(&t, "", stdout);
    rs_table_free(&t);
    rs_screen_print("\n%s operation%s", rs_text_count(n - inside).s, n - inside == 1 ? "" : "s");
    if (inside)
        rs_screen_print("; %s more line%s: sends and receives inside fan-outs", rs_text_count(inside).s,
                        inside == 1 ? "" : "s");
    rs_screen_print(". ");
    rs_zero_print(m);
}

/* Those of the whole run, whatever the filters. */
static enum rs_status find_steps(struct rs_steps *steps, const struct rs_model *m, struct rs_err *err)
{
    static const struct rs_filter everything;
    struct rs_view view;
    *steps = (struct rs_steps){0};
    rs_view_init(&view, m, &everything);
    enum rs_status status = rs_steps_find(steps, &view, err);
    rs_view_free(&view);
    return status;
}

static enum rs_status print_ops(const struct options *o, struct rs_model *m, struct rs_json *json, struct rs_err *err)
{
    struct moment *rows = NULL;
    uint32_t n = 0;
    struct rs_presence_index presence;
    choose(m, &o->common.filters.filter, &rows, &n);
    struct rs_steps steps = {0};
    rs_presence_init(&presence, m);
    enum rs_status status = RS_OK;
    if (json) status = find_steps(&steps, m, err);
    if (status == RS_OK && json)
        for (uint32_t i = 0; i < n && !rs_json_failed(json); i++) ops_json(json, m, rows[i].op, &presence, &steps);
    else if (status == RS_OK && n)
        print_table(m, rows, n);
    if (status == RS_OK && !n) rs_warn("ops", "no operation %s", m->ops.n ? "passes the filters" : "is in these files");
    rs_presence_free(&presence);
    rs_steps_free(&steps);
    free(rows);
    return status;
}

/* ---- one operation ---- */

/* By its id, or the first digits of it if no other has them. */
static enum rs_status find_op(const struct rs_model *m, const char *text, uint32_t *op, struct rs_err *err)
{
    size_t digits = strlen(text);
    bool prefixed = !strncmp(text, "0x", 2);
    *op = RS_NONE;
    for (uint32_t i = 0; i < m->ops.n; i++) {
        char hex[19];
        snprintf(hex, sizeof hex, "0x%016" PRIx64, m->ops.id[i]);
        if (digits < 4 || m->ops.over[i] != RS_NONE || strncmp(prefixed ? hex : hex + 2, text, digits)) continue;
        if (*op != RS_NONE)
            return rs_fail(err, RS_BAD_INPUT, "more than one operation begins with %s: give more digits", text);
        *op = i;
    }
    if (*op == RS_NONE && digits < 4)
        return rs_fail(err, RS_BAD_INPUT, "--op %s: give four digits of the id or more", text);
    if (*op == RS_NONE)
        return rs_fail(err, RS_NOT_FOUND, "there is no operation %s here; `ringscope ops` lists them", text);
    return RS_OK;
}

static enum rs_status print_one(const struct options *o, struct rs_model *m, struct rs_inputs *in, struct rs_json *json,
                                struct rs_err *err)
{
    uint32_t op;
    RS_TRY(find_op(m, o->op, &op, err));
    const struct moment row = {0, op};
    struct rs_presence_index presence;
    if (json) {
        rs_presence_init(&presence, m);
        struct rs_steps steps;
        enum rs_status status = find_steps(&steps, m, err);
        if (status == RS_OK) ops_json(json, m, op, &presence, &steps);
        rs_presence_free(&presence);
        rs_steps_free(&steps);
        RS_TRY(status);
    } else {
        print_table(m, &row, 1);
        rs_screen_print("\n");
    }
    return o->tree ? rs_op_tree(m, in, op, o->common.filters.level, json, err) : RS_OK;
}

/* ---- the command ---- */

static enum rs_status print_all(const struct options *o, struct rs_model *m, struct rs_inputs *in, struct rs_json *json,
                                struct rs_err *err)
{
    if (o->op) return print_one(o, m, in, json, err);
    if (!o->at) return print_ops(o, m, json, err);
    int64_t at;
    bool relative;
    rs_filters_time(o->at, &at, &relative); /* was checked */
    ops_at(m, &o->common.filters.filter, relative ? at + rs_model_begin(m) : at, json);
    return RS_OK;
}

static enum rs_status show(const struct rs_command *self, struct rs_model *m, struct rs_inputs *in, void *options,
                           int *exit_status, struct rs_err *err)
{
    (void)self, (void)exit_status;
    const struct options *o = options;
    struct rs_json *json = o->common.json ? rs_output_json() : NULL;
    RS_TRY(print_all(o, m, in, json, err));
    return json ? rs_json_finish(json, err) : RS_OK;
}

static int run(const struct rs_command *self, int argc, char **argv)
{
    struct options o = {0};
    const struct rs_opt opts[] = {
        {RS_OPT_STRING, 0, "at", &o.at, "TIME", "what each GPU did at this moment"},
        {RS_OPT_STRING, 0, "op", &o.op, "ID", "this operation only"},
        {RS_OPT_FLAG, 0, "tree", &o.tree, NULL, "with --op: all its events, down to network steps"},
        {.kind = RS_OPT_END},
    };
    int n, done = rs_common_parse(self, &o.common, opts, argc, argv, &n);
    if (done >= 0) return done;
    int64_t at;
    bool relative;
    if (o.at && !rs_filters_time(o.at, &at, &relative))
        return rs_opt_usage(self, "--at takes " RS_FILTERS_TIMES ", not '%s'", o.at);
    if (o.tree && !o.op) return rs_opt_usage(self, "--tree goes with --op ID");
    if (o.common.filters.has_level && !o.tree) return rs_opt_usage(self, "--level goes with --op ID --tree");
    if (o.op && (o.at || !rs_filter_is_empty(&o.common.filters.filter)))
        return rs_opt_usage(self, "--op names the operation: it goes with no filter, nor with --at");
    return rs_reading_model_and_inputs(self, argv + 1, n, &o.common, show, &o);
}

const struct rs_command rs_cmd_ops = {
    .name = "ops",
    .summary = "every operation, joined across ranks: who took part, when, who was last",
    .usage = "[options] IN...",
    .text =
        "One line per operation: collectives on all their ranks, sends with their receives, and fan-outs (all-to-all,\n"
        "gather, scatter) as one. Times are on one axis, with the error of each clock in --json.",
    .examples = "ringscope ops rec                                  # a table\n"
                "ringscope ops rec --json --func AllReduce | jq .transfer_ns\n"
                "ringscope ops rec --op 0x3f2a --tree               # one operation down to its network steps\n"
                "ringscope ops rec --at 12.5s                       # what each GPU did then",
    .json = "JSON Lines: one object per operation",
    .takes = "filter level reading",
    .run = run,
};

#include "cli/ops_at.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "analyse/moment.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "cli/model_json.h"
#include "cli/table.h"

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
    bool told;
    int64_t begin = rs_moment_begin(m, r->part, &told), latest = rs_moment_latest_end(m, r->part);
    const char *ago = rs_text_ns(rs_time_minus(at, begin)).s;
    if (r->doing != RS_DOING_UNKNOWN) {
        rs_strbuf_printf(s, "for %s", ago);
        return;
    }
    rs_strbuf_printf(s, "perhaps in %s, %s %s ago: %s", rs_model_text(m, m->parts.func[r->part]),
                     told ? "begun" : "called", ago, r->why);
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
    bool told;
    int64_t next = rs_time_minus(rs_moment_begin(m, r->after, &told), at);
    rs_strbuf_printf(s, "%s%s%s in %s%s", s->len ? "; " : "", told ? "next " : "calls ",
                     rs_model_text(m, m->parts.func[r->after]), rs_text_ns(next).s,
                     told ? "" : " (its start is not told)");
}

static enum rs_status row_text(struct rs_table *t, const struct rs_model *m, const struct rs_moment *r, int64_t at,
                               bool filtered, struct rs_err *err)
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
    enum rs_status status = rs_strbuf_check(&s, err);
    rs_strbuf_free(&s);
    return status;
}

static enum rs_status print_table(const struct rs_moment *rows, uint32_t n, const struct rs_model *m, int64_t at,
                                  bool filtered, struct rs_err *err)
{
    struct rs_table t = {0};
    enum rs_status status = RS_OK;
    rs_table_column(&t, RS_RIGHT, "rank");
    rs_table_column(&t, RS_LEFT, "host");
    rs_table_column(&t, RS_RIGHT, "pid");
    rs_table_column(&t, RS_RIGHT, "device");
    rs_table_column(&t, RS_LEFT, "does");
    rs_table_column(&t, RS_LEFT, "operation");
    rs_table_column(&t, RS_RIGHT, "clock error");
    rs_table_column(&t, RS_LEFT, "");
    for (uint32_t i = 0; i < n && status == RS_OK; i++) status = row_text(&t, m, &rows[i], at, filtered, err);
    if (status == RS_OK) status = rs_table_print(&t, "", stdout, err);
    rs_table_free(&t);
    return status;
}

enum rs_status rs_ops_at(const struct rs_model *m, const struct rs_filter *filter, int64_t at, struct rs_json *json,
                         struct rs_err *err)
{
    struct rs_moment *rows;
    uint32_t n;
    bool filtered = filter->ncomms || filter->nfuncs || filter->has_from || filter->has_to;
    enum rs_status status = rs_moment_find(&rows, &n, m, filter, at, err);
    for (uint32_t i = 0; json && i < n; i++) row_json(json, m, &rows[i], filtered);
    if (status == RS_OK && !json) {
        status = print_table(rows, n, m, at, filtered, err);
        if (status == RS_OK && (at < rs_model_begin(m) || at > rs_model_end(m)))
            printf("\nThat is %s event of the run.\n", at < rs_model_begin(m) ? "before the first" : "behind the last");
    }
    free(rows);
    return status;
}

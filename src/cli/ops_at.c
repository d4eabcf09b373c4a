#include "cli/ops_at.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/model_json.h"
#include "cli/table.h"
#include "cli/units.h"
#include "join/ranks.h"

/* What was done at one place: the operation that ran, or else those around the moment. */
struct seat {
    uint32_t member; /* one of its members */
    uint32_t now, before, after; /* parts; RS_NONE */
};

/* The end of a part, or the latest moment that it may have had. */
static int64_t end_of(const struct rs_parts *p, uint32_t part)
{
    if (p->end[part] != RS_TIME_NONE) return p->end[part];
    return p->before[part] != RS_TIME_NONE ? p->before[part] : INT64_MAX;
}

static void look(struct seat *s, const struct rs_model *m, uint32_t part, int64_t at)
{
    const struct rs_parts *p = &m->parts;
    if (p->start[part] == RS_TIME_NONE) return;
    int64_t end = end_of(p, part);
    if (p->start[part] <= at && at < end) {
        if (s->now == RS_NONE || p->start[part] > p->start[s->now]) s->now = part;
    } else if (end <= at) {
        if (s->before == RS_NONE || end > end_of(p, s->before)) s->before = part;
    } else if (s->after == RS_NONE || p->start[part] < p->start[s->after]) {
        s->after = part;
    }
}

/* "waiting" until the last rank is there, then "transferring"; "running" where that cannot be told. */
static const char *doing(const struct rs_model *m, uint32_t part, int64_t at)
{
    uint32_t op = m->parts.op[part];
    if (op == RS_NONE || !(m->ops.flags[op] & RS_OP_CLOCKED)) return "running";
    return at < m->ops.last[op] ? "waiting" : "transferring";
}

static void row_json(struct rs_json *j, const struct rs_model *m, const struct seat *s, int64_t at)
{
    uint32_t part = s->now;
    rs_json_object(j);
    rs_member_json(j, m, s->member);
    rs_json_key_str(j, "doing", part == RS_NONE ? "nothing in NCCL" : doing(m, part, at));
    uint32_t op = part == RS_NONE ? RS_NONE : m->parts.op[part];
    rs_json_key(j, "op");
    if (op == RS_NONE)
        rs_json_null(j);
    else
        rs_json_hex(j, m->ops.id[op]);
    rs_json_key_str(j, "func", part == RS_NONE ? NULL : rs_model_text(m, m->parts.func[part]));
    rs_time_json(j, "since_ns", part == RS_NONE ? RS_TIME_NONE : m->parts.start[part]);
    rs_time_json(j, "until_ns", part == RS_NONE ? RS_TIME_NONE : m->parts.end[part]);
    rs_time_json(j, "previous_end_ns", s->before == RS_NONE ? RS_TIME_NONE : end_of(&m->parts, s->before));
    rs_time_json(j, "next_start_ns", s->after == RS_NONE ? RS_TIME_NONE : m->parts.start[s->after]);
    rs_json_end(j);
    rs_json_newline(j);
}

static void row_text(struct rs_table *t, const struct rs_model *m, const struct seat *s, int64_t at)
{
    const struct rs_member *x = &m->members[s->member];
    if (x->global_rank >= 0)
        rs_table_cell(t, "%" PRId32, x->global_rank);
    else
        rs_table_cell(t, "?");
    rs_table_cell(t, "%s", rs_host_label(m, m->procs[x->proc].host));
    rs_table_cell(t, "%" PRIu32, m->procs[x->proc].pid);
    rs_table_cell(t, x->device < 0 ? "?" : "%" PRId32, x->device);
    if (s->now != RS_NONE) {
        uint32_t op = m->parts.op[s->now];
        rs_table_cell(t, "%s in %s", doing(m, s->now, at), rs_model_text(m, m->parts.func[s->now]));
        if (op == RS_NONE)
            rs_table_cell(t, "?");
        else
            rs_table_cell(t, "0x%016" PRIx64, m->ops.id[op]);
        rs_table_cell(t, "for %s", rs_text_ns(at - m->parts.start[s->now]).s);
        return;
    }
    rs_table_cell(t, "nothing in NCCL");
    rs_table_cell(t, "-");
    char text[128] = "";
    int n = 0;
    if (s->before != RS_NONE)
        n = snprintf(text, sizeof text, "%s ended %s ago", rs_model_text(m, m->parts.func[s->before]),
                     rs_text_ns(at - end_of(&m->parts, s->before)).s);
    if (s->after != RS_NONE && n < (int)sizeof text)
        snprintf(text + n, sizeof text - (size_t)n, "%snext %s in %s", n ? ", " : "",
                 rs_model_text(m, m->parts.func[s->after]), rs_text_ns(m->parts.start[s->after] - at).s);
    rs_table_cell(t, "%s", text);
}

static int by_rank(const void *a, const void *b, void *of)
{
    const struct rs_model *m = of;
    const struct rs_member *x = &m->members[((const struct seat *)a)->member];
    const struct rs_member *y = &m->members[((const struct seat *)b)->member];
    if (x->global_rank != y->global_rank) return x->global_rank < y->global_rank ? -1 : 1;
    return x->proc != y->proc ? (x->proc < y->proc ? -1 : 1) : x->device - y->device;
}

/* Whether a place is to be shown by this member: the first, of a process that leads if there is one. */
static bool leads(const struct rs_model *m, uint32_t member, uint32_t before)
{
    if (before == RS_NONE) return true;
    return m->procs[m->members[before].proc].same != RS_NONE && m->procs[m->members[member].proc].same == RS_NONE;
}

/* Fills a seat for every place with a rank that passes; returns how many. */
static uint32_t collect(struct seat *seats, const struct rs_places *places, const struct rs_model *m,
                        const struct rs_filter *filter, int64_t at)
{
    for (uint32_t i = 0; i < places->n; i++) seats[i] = (struct seat){RS_NONE, RS_NONE, RS_NONE, RS_NONE};
    for (uint32_t i = 0; i < m->nmembers; i++)
        if (rs_filter_rank(filter, m, i) && leads(m, i, seats[places->of[i]].member)) seats[places->of[i]].member = i;
    for (uint32_t i = 0; i < m->parts.n; i++) {
        uint32_t member = m->parts.member[i], op = m->parts.op[i];
        if (!rs_filter_rank(filter, m, member) || (op != RS_NONE && !rs_filter_op(filter, m, op)) ||
            rs_part_is_laid_over(m, i))
            continue;
        look(&seats[places->of[member]], m, i, at);
    }
    uint32_t n = 0;
    for (uint32_t i = 0; i < places->n; i++)
        if (seats[i].member != RS_NONE) seats[n++] = seats[i];
    return n;
}

static enum rs_status show(struct seat *seats, uint32_t n, const struct rs_model *m, int64_t at, struct rs_json *json,
                           struct rs_err *err)
{
    qsort_r(seats, n, sizeof *seats, by_rank, (void *)(uintptr_t)m);
    for (uint32_t i = 0; json && i < n; i++) row_json(json, m, &seats[i], at);
    if (json) return RS_OK;
    struct rs_table t = {0};
    rs_table_column(&t, RS_RIGHT, "rank");
    rs_table_column(&t, RS_LEFT, "host");
    rs_table_column(&t, RS_RIGHT, "pid");
    rs_table_column(&t, RS_RIGHT, "device");
    rs_table_column(&t, RS_LEFT, "does");
    rs_table_column(&t, RS_LEFT, "operation");
    rs_table_column(&t, RS_LEFT, "");
    for (uint32_t i = 0; i < n; i++) row_text(&t, m, &seats[i], at);
    enum rs_status status = rs_table_print(&t, "", stdout, err);
    rs_table_free(&t);
    return status;
}

enum rs_status rs_ops_at(const struct rs_model *m, const struct rs_filter *filter, int64_t at, struct rs_json *json,
                         struct rs_err *err)
{
    struct rs_places places;
    RS_TRY(rs_places_find(&places, m, err));
    struct seat *seats = calloc((size_t)places.n + 1, sizeof *seats);
    enum rs_status status = seats ? RS_OK : rs_fail(err, RS_NO_MEMORY, "out of memory");
    if (status == RS_OK) status = show(seats, collect(seats, &places, m, filter, at), m, at, json, err);
    if (status == RS_OK && !json && (at < rs_model_begin(m) || at > rs_model_end(m)))
        printf("\nThat is %s event of the run.\n", at < rs_model_begin(m) ? "before the first" : "behind the last");
    free(seats);
    rs_places_free(&places);
    return status;
}

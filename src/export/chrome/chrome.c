/* Chrome's JSON trace format, for Perfetto and chrome://tracing.
 *
 * A rank is a process, a lane is a thread, a bar is a complete event ("X"): those of a thread follow each other or nest
 * (nests.h). Times are us from the begin of the run with ns as decimals, so that readers that use doubles lose nothing;
 * the begin itself is in otherData. Arrows are flow events, each at the begin of its slice: from a parent to its child and
 * from a launch to what it launched when a process is written, across ranks at the end. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
#include "base/memory.h"
#include "base/mix.h"
#include "export/exporter.h"
#include "export/fanout_ranks.h"
#include "export/lane_numbers.h"
#include "export/nests.h"
#include "export/rank_counters.h"
#include "export/rank_rows.h"
#include "export/slice_args.h"
#include "model/model.h"
#include "timeline/span.h"
#include "timeline/stretch.h"
#include "timeline/timeline.h"

/* ---- arrows ----
 * Arrows of a Chrome trace: from a parent to its child, from a launch to what it launched, from a send to its
 * receive, and along the ranks of an operation in the order of their starts.
 *
 * An arrow is a start "s", steps "t" and an end "f" with a unique id. Their times increase, and each is inside the slice
 * that it is bound to ("bp":"e"): readers take the innermost slice there. Of two slices that touch, chrome://tracing takes
 * the first, so an arrow to the second is 1 ns after its begin. If a child began before its parent, the arrow ends
 * later in the child; if the child was over by then (clock errors), or contains others, the arrow is reversed. Arrows
 * within a piece of a process are written after its slices. The thread of each part of an operation is kept until the
 * end, one word per part: its times are in the model. */

struct chrome_place {
    int64_t at, end; /* where an arrow is bound to it and to no other, at its begin or 1 ns later; its end */
    uint32_t pid, tid;
    bool holds; /* it contains other slices: arrows are bound to it at `at` only */
};

struct chrome_flows {
    const struct rs_timeline *t;
    const struct rs_rank_rows *rows;
    struct rs_fanout_ranks fanouts;
    uint32_t
        *parts; /* by part of the model: thread id * 2, and 1 if its arrows are 1 ns after its begin; 0: not drawn */
    uint64_t id; /* the last one used */
};

static void chrome_flows_init(struct chrome_flows *f, const struct rs_timeline *t, const struct rs_rank_rows *rows)
{
    *f = (struct chrome_flows){.t = t, .rows = rows};
    f->parts = rs_zalloc((size_t)t->model->parts.n + 1, sizeof *f->parts);
    rs_fanout_ranks_init(&f->fanouts, t);
}

static void chrome_flows_free(struct chrome_flows *f)
{
    free(f->parts);
    rs_fanout_ranks_free(&f->fanouts);
    *f = (struct chrome_flows){0};
}

static struct chrome_place place_of(const struct rs_bars *b, const struct rs_nests *nests, uint32_t i, uint32_t pid,
                                    uint32_t tid)
{
    int64_t at = b->start[i], end = at + b->dur[i];
    if (at < end && rs_nests_touches(nests, b, i)) at++;
    return (struct chrome_place){at, end, pid, tid, rs_nests_holds(nests, b, i)};
}

/* Keeps where a part is: it is bar i. Operations contain no other bars. */
static void chrome_flows_part(struct chrome_flows *f, uint32_t part, const struct rs_bars *b,
                              const struct rs_nests *nests, uint32_t i, uint32_t tid)
{
    bool later = place_of(b, nests, i, 0, tid).at > b->start[i];
    f->parts[part] = tid << 1 | later;
}

/* Where it was drawn; false: nowhere. */
static bool place_of_part(const struct chrome_flows *f, uint32_t part, struct chrome_place *place)
{
    struct rs_stretch s;
    int64_t start, dur;
    if (!f->parts[part] || !rs_stretch_of(f->t, part, &s) || !rs_span_place(f->t, s.from, s.to, &start, &dur))
        return false;
    uint32_t row = f->rows->of_group[f->t->group_of_member[f->t->model->parts.member[part]]];
    *place = (struct chrome_place){start + (f->parts[part] & 1), start + dur, row + 1, f->parts[part] >> 1, false};
    return true;
}

static void flow(struct rs_json *j, const char *phase, const char *what, uint64_t id, const struct chrome_place *at,
                 int64_t when)
{
    rs_json_object(j);
    rs_json_key_str(j, "ph", phase);
    if (*phase == 'f') rs_json_key_str(j, "bp", "e");
    rs_json_key_u64(j, "id", id);
    rs_json_key_u64(j, "pid", at->pid);
    rs_json_key_u64(j, "tid", at->tid);
    rs_json_key(j, "ts");
    rs_json_thousandths(j, when);
    rs_json_key_str(j, "name", what);
    rs_json_key_str(j, "cat", what);
    rs_json_end(j);
    rs_json_newline(j);
}

/* From one slice to another, from begin to begin where that is forward in time. */
static void arrow(struct chrome_flows *f, struct rs_json *j, const char *what, const struct chrome_place *from,
                  const struct chrome_place *to)
{
    int64_t at = to->at;
    if (at < from->at) {
        if (!to->holds && to->end > from->at) {
            at = from->at;
        } else {
            const struct chrome_place *first = to;
            to = from;
            from = first;
            at = to->at;
        }
    }
    f->id++;
    flow(j, "s", what, f->id, from, from->at);
    flow(j, "f", what, f->id, to, at);
}

/* The arrows between bars of one piece; `tids` by lane; process ids count rows from 1. */
static void chrome_flows_bars(struct chrome_flows *f, struct rs_json *j, const struct rs_bars *b,
                              const struct rs_nests *nests, const uint32_t *tids)
{
    struct chrome_place from, to;
#define PLACE(bar)                                                                                                     \
    place_of(b, nests, bar, rs_rank_row_of(f->rows, &b->lanes[nests->track[bar]]) + 1, tids[nests->track[bar]])
    for (uint32_t i = 0; i < b->n; i++) {
        uint32_t parent = b->parent[i] - b->first;
        if (b->parent[i] == RS_BAR_NONE || b->parent[i] < b->first || parent >= b->n) continue;
        from = PLACE(parent);
        to = PLACE(i);
        arrow(f, j, "parent", &from, &to);
    }
    for (uint32_t i = 0; i < b->nedges; i++) {
        uint32_t source = b->edges[i].from - b->first, target = b->edges[i].to - b->first;
        if (b->edges[i].from < b->first || b->edges[i].to < b->first || source >= b->n || target >= b->n) continue;
        from = PLACE(source);
        to = PLACE(target);
        arrow(f, j, "launch", &from, &to);
    }
#undef PLACE
}

static int by_time(const void *a, const void *b)
{
    const struct chrome_place *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* A send and its receive, where both are drawn. */
static void message(struct chrome_flows *f, struct rs_json *j, uint32_t op)
{
    const struct rs_model *m = f->t->model;
    struct chrome_place from, to;
    bool has_from = false, has_to = false;
    for (uint32_t k = 0; k < m->ops.nparts[op]; k++) {
        uint32_t part = m->order[m->ops.part[op] + k];
        if (m->parts.kind[part] == RS_PART_SEND) has_from = place_of_part(f, part, &from);
        if (m->parts.kind[part] == RS_PART_RECV) has_to = place_of_part(f, part, &to);
    }
    if (has_from && has_to) arrow(f, j, "message", &from, &to);
}

/* The arrows between ranks, when all parts are known. */
static void chrome_flows_ranks(struct chrome_flows *f, struct rs_json *j)
{
    const struct rs_timeline *t = f->t;
    const struct rs_model *m = t->model;
    uint32_t most = 0;
    for (uint32_t i = 0; i < t->nops; i++)
        if (m->ops.nparts[t->ops[i]] > most) most = m->ops.nparts[t->ops[i]];
    struct chrome_place *list = rs_alloc(((size_t)most + 1) * sizeof *list);
    for (uint32_t i = 0; i < t->nops && !rs_json_failed(j); i++) {
        uint32_t op = t->ops[i], n = 0;
        if (m->ops.kind[op] == RS_OP_PAIR) {
            message(f, j, op);
            continue;
        }
        for (uint32_t k = 0; k < m->ops.nparts[op]; k++) {
            uint32_t part = m->order[m->ops.part[op] + k];
            bool counts = m->ops.kind[op] != RS_OP_FANOUT || rs_fanout_represents(&f->fanouts, part);
            if (counts && place_of_part(f, part, &list[n])) n++;
        }
        if (n < 2) continue;
        qsort(list, n, sizeof *list, by_time);
        f->id++;
        for (uint32_t k = 0; k < n; k++)
            flow(j, !k ? "s" : k + 1 < n ? "t" : "f", "operation", f->id, &list[k], list[k].at);
    }
    free(list);
}

/* ---- the trace ---- */

struct chrome {
    struct rs_json json;
    struct rs_rank_rows rows;
    struct rs_slice_args args;
    struct chrome_flows flows;
    struct rs_rank_counters counters;
    struct rs_nests nests; /* of the current piece */
    uint32_t *tids; /* by lane of the current piece */
    struct rs_lane_numbers lanes; /* of the current process: thread ids */
    struct rs_map named; /* of the current process: group, row and label -> number of lanes with this name */
    struct rs_strbuf name; /* for one name */
    uint32_t room, tid; /* the last thread id: no two rows share one */
};

/* ---- metadata ---- */

static void clock_errors(struct rs_json *j, const struct rs_timeline *t, const struct rs_rank_rows *rows)
{
    rs_json_key(j, "clock_error_ns");
    rs_json_object(j);
    for (uint32_t row = 0; row < rows->n; row++) {
        int64_t error = t->groups[rows->groups[row]].error_ns;
        char pid[16];
        snprintf(pid, sizeof pid, "%" PRIu32, row + 1);
        rs_json_key(j, pid); /* as in the events */
        if (error == RS_TIME_NONE)
            rs_json_null(j);
        else
            rs_json_i64(j, error);
    }
    rs_json_end(j);
}

static void losses(struct rs_json *j, const struct rs_timeline *t)
{
    uint64_t lost = 0, overwritten = 0, damaged = 0;
    for (uint32_t i = 0; i < t->nprocs; i++) {
        const struct rs_proc *p = &t->model->procs[t->procs[i]];
        lost += p->lost;
        overwritten += p->overwritten;
        damaged += p->damaged;
    }
    rs_json_key_u64(j, "callbacks_lost", lost);
    rs_json_key_u64(j, "callbacks_overwritten", overwritten);
    rs_json_key_u64(j, "callbacks_damaged", damaged);
}

static void head(struct rs_json *j, const struct rs_export *x, const struct rs_rank_rows *rows)
{
    const struct rs_timeline *t = x->timeline;
    char begin[24];
    snprintf(begin, sizeof begin, "%" PRId64, t->begin);
    rs_json_object(j);
    rs_json_key_str(j, "displayTimeUnit", "ns");
    rs_json_key(j, "otherData");
    rs_json_object(j);
    rs_json_key_str(j, "version", "ringscope " RS_VERSION);
    if (x->title) rs_json_key_str(j, "title", x->title);
    rs_json_key_str(j, "t0_ns", begin); /* exceeds 2^53 */
    rs_json_key_u64(j, "operations", t->totals.ops);
    rs_json_key_u64(j, "compared", t->totals.compared);
    rs_json_key_u64(j, "ties", t->totals.ties);
    rs_json_key_number_or_null(j, "compare_error_ns", t->totals.error_ns);
    clock_errors(j, t, rows);
    losses(j, t);
    rs_json_key(j, "notes");
    rs_json_array(j);
    for (uint32_t i = 0; i < t->model->nnotes; i++) rs_json_str(j, t->model->notes[i].text);
    rs_json_end(j);
    rs_json_end(j);
    rs_json_key(j, "traceEvents");
    rs_json_array(j);
    rs_json_newline(j);
}

/* ---- names ---- */

static void metadata(struct rs_json *j, const char *what, uint32_t row, uint32_t tid, const char *key)
{
    rs_json_object(j);
    rs_json_key_str(j, "ph", "M");
    rs_json_key_str(j, "name", what);
    rs_json_key_u64(j, "pid", row + 1);
    if (tid) rs_json_key_u64(j, "tid", tid);
    rs_json_key(j, "args");
    rs_json_object(j);
    rs_json_key(j, key);
}

static void end_event(struct rs_json *j)
{
    rs_json_end(j); /* args */
    rs_json_end(j);
    rs_json_newline(j);
}

static void name_rows(struct chrome *c, const struct rs_timeline *t)
{
    struct rs_json *j = &c->json;
    for (uint32_t row = 0; row < c->rows.n; row++) {
        metadata(j, "process_name", row, 0, "name");
        rs_json_str(j, rs_rank_row_name(&c->rows, t, row));
        end_event(j);
        rs_strbuf_clear(&c->name);
        rs_rank_row_label(&c->rows, t, row, &c->name);
        metadata(j, "process_labels", row, 0, "labels");
        rs_json_str(j, rs_strbuf_borrow(&c->name));
        end_event(j);
        metadata(j, "process_sort_index", row, 0, "sort_index");
        rs_json_u64(j, row);
        end_event(j);
    }
}

/* "comm 3f2a91bc tp, rank 0 of 8 · GPU channels: channel 3"; what would overlap there has further lanes: "(2)". */
static void name_lane(struct chrome *c, const struct rs_timeline *t, const struct rs_bar_lane *lane, uint32_t row)
{
    const struct rs_group *g = &t->groups[lane->group];
    struct rs_json *j = &c->json;
    uint64_t *nth;
    rs_map_at(&c->named, rs_mix(rs_mix(0, (uint64_t)lane->group << 8 | lane->row), lane->label), 0, &nth);
    ++*nth;
    c->tid++;
    rs_strbuf_clear(&c->name);
    if (g->level == RS_GROUP_COMM) rs_strbuf_printf(&c->name, "%s \xc2\xb7 ", rs_texts_at(&t->texts, g->label));
    rs_rank_lane_name(t, lane, &c->name);
    if (*nth > 1) rs_strbuf_printf(&c->name, " (%" PRIu64 ")", *nth);
    metadata(j, "thread_name", row, c->tid, "name");
    rs_json_str(j, rs_strbuf_borrow(&c->name));
    end_event(j);
    metadata(j, "thread_sort_index", row, c->tid, "sort_index");
    rs_json_u64(j, rs_rank_lane_order(t, lane, false));
    end_event(j);
}

/* ---- events ---- */

static void argument(struct rs_json *j, const struct rs_timeline *t, const struct rs_slice_arg *a)
{
    char digits[24];
    switch (a->type) {
    case RS_SLICE_INT: rs_json_i64(j, (int64_t)a->value); break;
    case RS_SLICE_UINT: rs_json_u64(j, a->value); break;
    case RS_SLICE_BOOL: rs_json_bool(j, a->value != 0); break;
    case RS_SLICE_HEX: rs_json_hex(j, a->value); break;
    case RS_SLICE_DIGITS:
        snprintf(digits, sizeof digits, "%" PRIu64, a->value);
        rs_json_str(j, digits);
        break;
    case RS_SLICE_TEXT: rs_json_str(j, rs_texts_at(&t->texts, (uint32_t)a->value)); break;
    default: rs_json_null(j); break;
    }
}

/* Names of colours that chrome://tracing knows, where the name alone should not choose one: what is wrong, and who was
 * waited for. */
static const char *colour_of(unsigned flags)
{
    if (flags & (RS_BAR_LOST | RS_BAR_MISMATCH)) return "terrible";
    if (flags & RS_BAR_NOT_RECORDED) return "grey";
    return flags & RS_BAR_LAST ? "bad" : NULL;
}

static void slice(struct chrome *c, const struct rs_timeline *t, const struct rs_bars *b, uint32_t i, uint32_t row,
                  uint32_t tid)
{
    struct rs_json *j = &c->json;
    rs_slice_args_of(&c->args, b, i, false);
    rs_json_object(j);
    rs_json_key_str(j, "ph", "X");
    rs_json_key_u64(j, "pid", row + 1);
    rs_json_key_u64(j, "tid", tid);
    rs_json_key(j, "ts");
    rs_json_thousandths(j, b->start[i]);
    rs_json_key(j, "dur");
    rs_json_thousandths(j, b->dur[i]);
    rs_json_key_str(j, "name", b->name[i] ? rs_texts_at(&t->texts, b->name[i]) : t->kinds.rows[b->kind[i]].label);
    rs_json_key_str(j, "cat", rs_slice_category(t, b, i));
    const char *colour = colour_of(b->flags[i]);
    if (colour) rs_json_key_str(j, "cname", colour);
    rs_json_key(j, "args");
    rs_json_object(j);
    for (unsigned k = 0; k < c->args.n; k++) {
        rs_json_key(j, c->args.keys[c->args.args[k].key]);
        argument(j, t, &c->args.args[k]);
    }
    end_event(j);
}

static void instant(struct rs_json *j, const struct rs_timeline *t, const struct rs_timeline_flag *flag, uint32_t row)
{
    rs_json_object(j);
    rs_json_key_str(j, "ph", "i");
    rs_json_key_str(j, "s", "p");
    rs_json_key_u64(j, "pid", row + 1);
    rs_json_key_u64(j, "tid", row + 1);
    rs_json_key(j, "ts");
    rs_json_thousandths(j, flag->at);
    rs_json_key_str(j, "name", rs_texts_at(&t->texts, flag->label));
    rs_json_key_str(j, "cat", flag->destroyed ? "destroyed" : "created");
    rs_json_end(j);
    rs_json_newline(j);
}

static void counter(void *to, uint32_t row, enum rs_rank_counter which, bool first, int64_t at, uint64_t value)
{
    struct rs_json *j = &((struct chrome *)to)->json;
    (void)first;
    rs_json_object(j);
    rs_json_key_str(j, "ph", "C");
    rs_json_key_u64(j, "pid", row + 1);
    rs_json_key(j, "ts");
    rs_json_thousandths(j, at);
    rs_json_key_str(j, "name", rs_rank_counter_texts[which].of);
    rs_json_key(j, "args");
    rs_json_object(j);
    rs_json_key_u64(j, rs_rank_counter_texts[which].series, value);
    end_event(j);
}

/* ---- the exporter ---- */

static enum rs_status begin(struct rs_export *x, struct rs_err *err)
{
    struct rs_timeline *t = x->timeline;
    struct chrome *c = rs_zalloc(1, sizeof *c);
    x->state = c;
    rs_json_to_file(&c->json, x->file, x->name);
    rs_rank_rows_init(&c->rows, t);
    RS_TRY(rs_slice_args_init(&c->args, t, err));
    chrome_flows_init(&c->flows, t, &c->rows);
    head(&c->json, x, &c->rows);
    name_rows(c, t);
    for (uint32_t i = 0; i < t->nflags; i++) {
        uint32_t row = c->rows.of_group[t->flags[i].group];
        if (row != RS_NONE) instant(&c->json, t, &t->flags[i], row);
    }
    c->tid = c->rows.n; /* a thread whose id is its process's would be its main thread */
    return RS_OK;
}

static void make_room(struct chrome *c, uint32_t n)
{
    if (n < c->room) return;
    free(c->tids);
    c->room = 0;
    c->tids = rs_alloc(((size_t)n + 1) * sizeof *c->tids);
    c->room = n + 1;
}

static void put_lane(struct chrome *c, const struct rs_timeline *t, const struct rs_bars *b, uint32_t l)
{
    const struct rs_bar_lane *lane = &b->lanes[l];
    uint32_t row = rs_rank_row_of(&c->rows, lane);
    uint64_t *tid;
    if (c->nests.from[l] == c->nests.from[l + 1]) return; /* all its bars are on other tracks */
    rs_lane_number(&c->lanes, lane, &tid);
    if (!*tid) {
        name_lane(c, t, lane, row);
        *tid = c->tid;
    }
    c->tids[l] = (uint32_t)*tid;
    for (uint32_t k = c->nests.from[l]; k < c->nests.from[l + 1]; k++) {
        uint32_t i = c->nests.order[k];
        uint32_t part = c->args.part_of_bar[i];
        if (part != RS_NONE) {
            chrome_flows_part(&c->flows, part, b, &c->nests, i, c->tids[l]);
            rs_rank_counters_add(&c->counters, b, i, row);
        }
        slice(c, t, b, i, row, c->tids[l]);
    }
}

static enum rs_status piece(struct rs_export *x, uint32_t proc, const struct rs_bars *b, struct rs_err *err)
{
    struct chrome *c = x->state;
    const struct rs_timeline *t = x->timeline;
    if (!b->piece) {
        rs_lane_numbers_clear(&c->lanes);
        rs_map_free(&c->named);
    }
    make_room(c, b->nlanes);
    rs_slice_args_piece(&c->args, proc, b);
    rs_nests_piece(&c->nests, b);
    for (uint32_t l = 0; l < b->nlanes && !rs_json_failed(&c->json); l++) put_lane(c, t, b, l);
    if (!rs_json_failed(&c->json)) {
        chrome_flows_bars(&c->flows, &c->json, b, &c->nests, c->tids);
        if (b->last) rs_rank_counters_put(&c->counters, counter, c);
    }
    rs_nests_free(&c->nests);
    rs_slice_args_done(&c->args);
    return rs_json_failed(&c->json) ? rs_json_finish(&c->json, err) : RS_OK;
}

static enum rs_status end(struct rs_export *x, struct rs_err *err)
{
    struct chrome *c = x->state;
    chrome_flows_ranks(&c->flows, &c->json);
    rs_json_end(&c->json); /* events */
    rs_json_end(&c->json);
    rs_json_newline(&c->json);
    return rs_json_finish(&c->json, err);
}

static void free_state(struct rs_export *x)
{
    struct chrome *c = x->state;
    if (!c) return;
    rs_rank_rows_free(&c->rows);
    rs_slice_args_free(&c->args);
    chrome_flows_free(&c->flows);
    rs_nests_free(&c->nests);
    rs_rank_counters_free(&c->counters);
    rs_strbuf_free(&c->name);
    rs_lane_numbers_free(&c->lanes);
    rs_map_free(&c->named);
    free(c->tids);
    free(c);
    x->state = NULL;
}

const struct rs_exporter rs_exporter_chrome = {
    .name = "chrome",
    .what = "JSON for chrome://tracing and ui.perfetto.dev",
    .suffixes = ".json",
    .titled = true,
    .output = RS_EXPORT_STREAM,
    .to_bound = true,
    .rows = (1ull << RS_ROWS) - 1,
    .begin = begin,
    .piece = piece,
    .end = end,
    .free = free_state,
};

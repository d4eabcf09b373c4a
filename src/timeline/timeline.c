#include "timeline/timeline.h"

#include <stdlib.h>

#include "base/memory.h"
#include "model/proc_rows.h"
#include "timeline/groups.h"
#include "timeline/index.h"
#include "timeline/pieces.h"
#include "timeline/span.h"

/* ---- flags ----
 * When a communicator was created or destroyed, on the group of each of its members. */

static int flags_by_time(const void *a, const void *b)
{
    const struct rs_timeline_flag *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return x->destroyed - y->destroyed;
}

static void add(struct rs_timeline *t, uint32_t member, bool destroyed)
{
    const struct rs_member *x = &t->model->members[member];
    int64_t when = destroyed ? x->destroyed : x->created, at, dur;
    const struct rs_filter *f = t->options.filter;
    if (!rs_span_place(t, when, when, &at, &dur) || (f && !rs_filter_time(f, when))) return;
    struct rs_timeline_flag *flag = &t->flags[t->nflags];
    *flag = (struct rs_timeline_flag){.at = at, .group = t->group_of_member[member], .destroyed = destroyed};
    uint8_t source = destroyed ? x->destroyed_from : x->created_from;
    rs_timeline_text(t, &flag->label, "%s %s%s", rs_texts_at(&t->texts, t->index->member_text[member]),
                     destroyed ? "destroyed" : "created", source == RS_LIFE_EVENT ? "" : " (approximately)");
    t->nflags++;
}

/* Sets flags; groups and begin are set. */
static void flags_make(struct rs_timeline *t)
{
    const struct rs_model *m = t->model;
    t->flags = rs_alloc((2 * (size_t)m->nmembers + 1) * sizeof *t->flags);
    for (uint32_t i = 0; i < m->nmembers; i++) {
        if (t->group_of_member[i] == RS_NONE || t->groups[t->group_of_member[i]].member != i) continue;
        add(t, i, false);
        add(t, i, true);
    }
    qsort(t->flags, t->nflags, sizeof *t->flags, flags_by_time);
}

/* ---- operations ---- */

struct timed {
    int64_t at;
    uint32_t op;
    bool unknown;
};

static int by_time(const void *a, const void *b)
{
    const struct timed *x = a, *y = b;
    if (x->unknown != y->unknown) return x->unknown ? 1 : -1;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

/* Whether an operation is selected; by time, whether any of it is in the span. */
static bool passes(const struct rs_timeline *t, uint32_t op)
{
    const struct rs_model *m = t->model;
    const struct rs_filter *f = t->options.filter;
    if (!f || t->options.begins) return !f || rs_filter_op(f, m, op);
    struct rs_filter timeless = *f;
    timeless.has_from = timeless.has_to = false;
    if (!rs_filter_op(&timeless, m, op)) return false;
    int64_t begin = rs_op_begin(m, op), end = m->ops.end[op];
    if (!f->has_from && !f->has_to) return true;
    if (begin == RS_TIME_NONE || (f->has_to && begin >= f->to)) return false;
    return !f->has_from || begin >= f->from || end == RS_TIME_NONE || end >= f->from;
}

static void find_ops(struct rs_timeline *t)
{
    const struct rs_model *m = t->model;
    struct timed *list = rs_alloc(((size_t)m->ops.n + 1) * sizeof *list);
    t->ops = rs_alloc(((size_t)m->ops.n + 1) * sizeof *t->ops);
    t->op_number = rs_alloc(((size_t)m->ops.n + 1) * sizeof *t->op_number);
    t->bar_of_part = rs_alloc(((size_t)m->parts.n + 1) * sizeof *t->bar_of_part);
    bool sorted = true;
    for (uint32_t i = 0; i < m->ops.n; i++) {
        t->op_number[i] = RS_NONE;
        if (m->ops.over[i] != RS_NONE || !passes(t, i)) continue;
        int64_t first = m->ops.first[i];
        struct timed row = {first == RS_TIME_NONE ? rs_op_begin(m, i) : first, i, first == RS_TIME_NONE};
        if (t->nops && by_time(&row, &list[t->nops - 1]) < 0) sorted = false;
        list[t->nops++] = row;
    }
    if (!sorted) qsort(list, t->nops, sizeof *list, by_time);
    for (uint32_t i = 0; i < t->nops; i++) {
        t->ops[i] = list[i].op;
        t->op_number[list[i].op] = i;
    }
    for (uint32_t i = 0; i < m->parts.n; i++) t->bar_of_part[i] = RS_NONE;
    free(list);
}

/* ---- all steps ---- */

static void make(struct rs_timeline *t)
{
    uint32_t empty;
    rs_texts_id(&t->texts, "", 0, &empty);
    t->index = rs_zalloc(1, sizeof *t->index);
    rs_kinds_make(&t->kinds, t->model);
    find_ops(t);
    rs_groups_make(t);
    rs_index_init(t);
    rs_span_find(t);
    static const struct rs_filter all;
    rs_totals_find(&t->totals, t->model, t->options.filter ? t->options.filter : &all);
    rs_span_focus(t);
    flags_make(t);
}

void rs_timeline_init(struct rs_timeline *t, struct rs_model *m, struct rs_inputs *in,
                      const struct rs_timeline_options *options)
{
    *t = (struct rs_timeline){.model = m, .inputs = in, .options = *options};
    if (options->beside) rs_timeline_lend(options->beside, t);
    make(t);
}

void rs_timeline_lend(struct rs_timeline *from, struct rs_timeline *to)
{
    to->texts = from->texts;
    to->kinds = from->kinds;
    from->texts = (struct rs_texts){0};
}

/* Notes what was dropped, once, after the last process. */
static enum rs_status note(struct rs_timeline *t, struct rs_err *err)
{
    struct rs_timeline_index *x = t->index;
    if (x->noted) return RS_OK;
    x->noted = true;
    if (x->out_of_range)
        RS_TRY(rs_model_note(t->model, err, "%llu events are not drawn: their times are impossible",
                             (unsigned long long)x->out_of_range));
    if (x->too_deep)
        RS_TRY(rs_model_note(t->model, err, "%llu events are not drawn: too many at the same time on one row",
                             (unsigned long long)x->too_deep));
    if (x->apart)
        RS_TRY(rs_model_note(t->model, err, "%llu events have no parent or launch: it was written long before",
                             (unsigned long long)x->apart));
    return RS_OK;
}

/* Whether it is unknown yet to which piece a part of the process belongs, or it is filtered out. */
static void forget_pieces(struct rs_collect *c)
{
    const struct rs_model *m = c->t->model;
    struct rs_proc_rows parts = rs_parts_of(m, c->proc);
    c->first_part = parts.first;
    c->piece_of_part = rs_alloc(((size_t)parts.end - parts.first + 1) * sizeof *c->piece_of_part);
    for (uint32_t i = parts.first; i < parts.end; i++) {
        uint32_t op = m->parts.op[i];
        c->piece_of_part[i - parts.first] = op < m->ops.n && c->t->op_number[op] != RS_NONE ? RS_NONE : RS_LEFT_OUT;
    }
}

/* The collectors. In pieces, operations come with their events; operations without events, and what belongs to the
 * process itself, are in the last piece. */
static enum rs_status collect(struct rs_collect *c, struct rs_err *err)
{
    struct rs_bar_pieces *p = c->pieces;
    if (!p->whole) forget_pieces(c);
    rs_collect_callers(c);
    rs_bar_pieces_begin(c, 0);
    if (p->whole) RS_TRY(rs_collect_parts(c, err));
    RS_TRY(rs_collect_events(c, err));
    rs_bar_pieces_turn(c, p->begun - 1);
    if (!p->whole) RS_TRY(rs_collect_parts(c, err));
    RS_TRY(rs_collect_activities(c, err));
    while (p->ended < p->begun) RS_TRY(rs_bar_pieces_end(c, p->ended + 1 == p->begun, err));
    return RS_OK;
}

static enum rs_status read_process(struct rs_timeline *t, uint32_t i, struct rs_bar_pieces *pieces, struct rs_err *err)
{
    struct rs_collect c = {.t = t, .proc = t->procs[i], .pieces = pieces};
    if (!rs_bar_pieces_can(t, c.proc)) pieces->whole = true;
    enum rs_status status = collect(&c, err);
    if (status == RS_OK && i + 1 == t->nprocs) status = note(t, err);
    rs_bar_pieces_free(pieces);
    rs_collect_free(&c);
    return status;
}

enum rs_status rs_timeline_pieces(struct rs_timeline *t, uint32_t i, bool whole, uint32_t *bars, rs_bars_visit visit,
                                  void *to, struct rs_err *err)
{
    struct rs_bar_pieces pieces = {.whole = whole, .bars = *bars, .visit = visit, .to = to};
    enum rs_status status = read_process(t, i, &pieces, err);
    *bars = pieces.bars;
    return status;
}

enum rs_status rs_timeline_process(struct rs_timeline *t, uint32_t i, uint32_t first_bar, struct rs_bars *bars,
                                   struct rs_err *err)
{
    struct rs_bar_pieces pieces = {.whole = true, .kept = bars, .bars = first_bar};
    return read_process(t, i, &pieces, err);
}

void rs_timeline_free(struct rs_timeline *t)
{
    rs_texts_free(&t->texts);
    rs_index_free(t->index);
    free(t->groups);
    free(t->procs);
    free(t->ops);
    free(t->op_number);
    free(t->bar_of_part);
    free(t->flags);
    free(t->group_of_member);
    *t = (struct rs_timeline){0};
}

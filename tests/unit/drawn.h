/* Timelines of inputs, read as a command does, and what must hold of every one of them: checked bar by bar. */
#ifndef RS_TESTS_DRAWN_H
#define RS_TESTS_DRAWN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "foreign/formats.h"
#include "import/import.h"
#include "join/join.h"
#include "timeline/index.h"
#include "timeline/timeline.h"

struct drawn_input {
    struct rs_inputs in;
    struct rs_model model;
};

static inline void open_input(struct drawn_input *d, char **paths, size_t n)
{
    struct rs_err err = {0};
    *d = (struct drawn_input){0};
    enum rs_status status = rs_inputs_open(&d->in, paths, n, NULL, &err);
    if (status == RS_OK) status = rs_formats_recognise(&d->in, &err);
    if (status == RS_OK) status = rs_import(&d->model, &d->in, NULL, &err);
    if (status == RS_OK) status = rs_formats_fill(&d->model, &d->in, NULL, &err);
    if (status == RS_OK) rs_model_link(&d->model);
    if (status == RS_OK) status = rs_join(&d->model, true, &err);
    if (status != RS_OK) print_message("%s: %s\n", paths[0], err.msg);
    assert_int_equal(status, RS_OK);
}

static inline void close_input(struct drawn_input *d)
{
    rs_model_free(&d->model);
    rs_inputs_close(&d->in);
}

/* What was found of a timeline. */
struct tally {
    uint64_t bars, lanes, edges, with_parent;
    uint64_t rows[RS_ROWS], kinds[RS_BAR_KINDS];
    uint64_t parts; /* that have a bar */
    uint64_t flags[8]; /* by bit */
};

static inline void check_groups(const struct rs_timeline *t)
{
    for (uint32_t i = 0; i < t->ngroups; i++) {
        const struct rs_group *g = &t->groups[i];
        assert_true(*rs_texts_at(&t->texts, g->label));
        if (g->level == RS_GROUP_HOST) {
            assert_int_equal(g->parent, RS_NONE);
            continue;
        }
        assert_true(g->parent < i);
        assert_int_equal(t->groups[g->parent].level + 1, g->level);
        assert_int_equal(t->groups[g->parent].host, g->host);
    }
    for (uint32_t i = 0; i + 1 < t->nflags; i++) assert_true(t->flags[i].at <= t->flags[i + 1].at);
    for (uint32_t i = 0; i < t->nops; i++) assert_int_equal(t->op_number[t->ops[i]], i);
    assert_true(t->focus_from >= 0 && t->focus_from < t->focus_to && t->focus_to <= t->span);
}

static inline void check_lane(const struct rs_timeline *t, const struct rs_bars *b, const struct rs_bar_lane *lane)
{
    int64_t end = 0;
    assert_true(lane->n > 0 && lane->group < t->ngroups && lane->row < RS_ROWS);
    assert_true(*rs_texts_at(&t->texts, lane->label));
    for (uint32_t i = lane->from; i < lane->from + lane->n; i++) {
        assert_true(b->start[i] >= end && b->dur[i] >= 0 && b->fade[i] >= 0);
        assert_true(b->wait[i] >= 0 && b->wait[i] <= b->dur[i]);
        end = b->start[i] + b->dur[i];
        assert_true(end + b->fade[i] <= t->span);
        assert_true(b->kind[i] < t->kinds.n && b->name[i] < t->texts.n);
        if (!(b->flags[i] & (RS_BAR_LOST | RS_BAR_NOT_RECORDED)) && b->kind[i] != RS_BAR_OTHER)
            assert_int_equal(t->kinds.rows[b->kind[i]].row, lane->row);
        assert_true(b->op[i] == RS_BAR_NONE || b->op[i] < t->nops);
        assert_true(!b->fade[i] || b->flags[i] & RS_BAR_END_BOUNDED);
        int64_t *const args[] = {b->a1, b->a2, b->a3, b->a4, b->a5, b->a6};
        for (int k = 0; k < RS_BAR_ARGS; k++) {
            const struct rs_event_arg *arg = rs_bar_arg(&t->kinds.rows[b->kind[i]], (unsigned)k);
            if (args[k][i] == RS_BAR_NO_ARG) continue;
            assert_non_null(arg->label);
            if (arg->unit == RS_UNIT_TEXT) assert_true(args[k][i] < t->texts.n);
            if (arg->unit == RS_UNIT_TIME) assert_true(args[k][i] >= 0 && args[k][i] <= t->span);
        }
    }
}

static inline void check_process(const struct rs_timeline *t, const struct rs_bars *b, uint32_t proc)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->nlanes; i++) {
        const struct rs_bar_lane *lane = &b->lanes[i], *before = i ? lane - 1 : NULL;
        assert_int_equal(lane->from, n);
        n += lane->n;
        assert_int_equal(t->groups[lane->group].proc, proc);
        if (before) assert_true(before->group <= lane->group);
        bool same = before && before->group == lane->group && before->row == lane->row;
        assert_int_equal(lane->sub, same ? before->sub + 1 : 0);
        if (before && before->group == lane->group) assert_true(before->row <= lane->row);
        check_lane(t, b, lane);
    }
    assert_int_equal(n, b->n);
    for (uint32_t i = 0; i < b->n; i++)
        assert_true(b->parent[i] == RS_BAR_NONE || (b->parent[i] < b->first + b->n && b->parent[i] != b->first + i));
    for (uint32_t i = 0; i < b->nedges; i++) {
        assert_true(b->edges[i].from >= b->first && b->edges[i].from < b->first + b->n);
        assert_true(b->edges[i].to >= b->first && b->edges[i].to < b->first + b->n);
        if (i) assert_true(b->edges[i - 1].from <= b->edges[i].from);
    }
}

static inline void count(struct tally *y, const struct rs_timeline *t, const struct rs_bars *b)
{
    y->bars += b->n;
    y->lanes += b->nlanes;
    y->edges += b->nedges;
    for (uint32_t i = 0; i < b->nlanes; i++) y->rows[b->lanes[i].row] += b->lanes[i].n;
    for (uint32_t i = 0; i < b->n; i++) {
        y->kinds[b->kind[i]]++;
        y->with_parent += b->parent[i] != RS_BAR_NONE;
        for (int bit = 0; bit < 8; bit++) y->flags[bit] += b->flags[i] >> bit & 1;
    }
    (void)t;
}

/* Parts and bars name each other. */
static inline void check_parts(struct tally *y, const struct rs_timeline *t, const struct rs_bars *b, uint32_t i)
{
    const struct rs_model *m = t->model;
    for (uint32_t part = 0; part < m->parts.n; part++) {
        uint32_t bar = t->bar_of_part[part];
        if (bar == RS_NONE || bar < b->first || bar - b->first >= b->n) continue;
        assert_int_equal(b->op[bar - b->first], t->op_number[m->parts.op[part]]);
        y->parts++;
        bool other = m->parts.start_source[part] != RS_FROM_KERNEL && t->index->by_kernel[m->parts.op[part]];
        bool start = m->parts.start[part] != RS_TIME_NONE && !other;
        assert_int_equal(!(b->flags[bar - b->first] & RS_BAR_START_UNKNOWN), start);
        if (start) assert_int_equal(b->start[bar - b->first], m->parts.start[part] - t->begin);
    }
    (void)i;
}

/* All of a timeline; every row that there is. */
static inline struct tally check_timeline(struct rs_model *m, struct rs_inputs *in, const struct rs_filter *filter)
{
    struct rs_timeline t;
    struct rs_bars bars = {0};
    struct rs_err err = {0};
    struct tally y = {0};
    struct rs_timeline_options options = {.filter = filter, .rows = UINT64_MAX};
    rs_timeline_init(&t, m, in, &options);
    check_groups(&t);
    for (uint32_t i = 0; i < t.nprocs; i++) {
        if (rs_timeline_process(&t, i, (uint32_t)y.bars, &bars, &err) != RS_OK) fail_msg("%s", err.msg);
        check_process(&t, &bars, t.procs[i]);
        check_parts(&y, &t, &bars, i);
        count(&y, &t, &bars);
    }
    rs_bars_free(&bars);
    rs_timeline_free(&t);
    return y;
}

#endif

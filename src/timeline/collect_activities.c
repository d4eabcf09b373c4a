/* What other tools recorded besides operations: kernels and copies on streams, annotations and calls on host threads. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/memory.h"
#include "timeline/collect.h"
#include "timeline/groups.h"
#include "timeline/launch_key.h"
#include "timeline/passes.h"
#include "timeline/span.h"

static const uint8_t bar_kinds[RS_ACTIVITY_KINDS] = {
    [RS_ACT_COMPUTE] = RS_BAR_COMPUTE, [RS_ACT_COMM] = RS_BAR_COMM,          [RS_ACT_COPY] = RS_BAR_COPY,
    [RS_ACT_SET] = RS_BAR_SET,         [RS_ACT_RANGE] = RS_BAR_RANGE,        [RS_ACT_GPU_RANGE] = RS_BAR_GPU_RANGE,
    [RS_ACT_STEP] = RS_BAR_STEP,       [RS_ACT_LAUNCH] = RS_BAR_HOST_LAUNCH, [RS_ACT_SYNC] = RS_BAR_SYNC,
    [RS_ACT_MEMORY] = RS_BAR_MEMORY,   [RS_ACT_CALL] = RS_BAR_CALL,
};

static void label(struct rs_timeline *t, const struct rs_lane *lane, uint32_t *text)
{
    const char *what = lane->kind == RS_LANE_STREAM ? "stream" : "thread", *name = lane->name ? lane->name : "";
    int n = (int)strnlen(name, 100);
    while (n && name[n - 1] == ' ') n--;
    bool whole = !strncmp(name, what, strlen(what)); /* some tools name it "thread 4711 (python3)" */
    if (whole) {
        rs_timeline_text(t, text, "%.*s", n, name);
        return;
    }
    rs_timeline_text(t, text, "%s %" PRId64 "%s%.*s", what, lane->id, n ? " " : "", n, name);
}

static enum rs_status add(struct rs_collect *c, uint32_t i, uint32_t *bar, struct rs_err *err)
{
    struct rs_timeline *t = c->t;
    const struct rs_activities *a = &t->model->activities;
    const struct rs_lane *from = &t->model->lanes[a->lane[i]];
    uint8_t kind = a->kind[i];
    bool on_stream = from->kind == RS_LANE_STREAM, is_new;
    uint32_t lane, op;
    *bar = RS_NONE;
    if (!rs_activity_passes(t, i, &op)) return RS_OK;
    enum rs_row row = rs_activity_row(kind);
    uint32_t group = on_stream ? rs_group_of_device(t, c->proc, from->device) : t->index->proc_group[c->proc];
    if (group == RS_NONE) return RS_OK;
    RS_TRY(rs_collect_lane(c, group, row, RS_KEY_OF_OTHERS | a->lane[i], &lane, &is_new, err));
    if (is_new) label(t, from, &c->lanes[lane].label);
    RS_TRY(rs_collect_bar(c, lane, bar_kinds[kind], a->start[i], a->end[i], bar, err));
    if (*bar == RS_NONE) return RS_OK;
    struct rs_bars *b = c->bars;
    b->op[*bar] = op;
    b->a1[*bar] = from->id;
    if (on_stream) {
        if (from->device >= 0) b->a2[*bar] = from->device;
        if (a->bytes[i] && a->bytes[i] <= INT64_MAX) b->a4[*bar] = (int64_t)a->bytes[i];
    }
    rs_index_name(t, a->name[i], &b->name[*bar]);
    return RS_OK;
}

/* What ran on a stream refers to the call that launched it, and shows when that was. `at`: among those of the process,
 * whose bars are `bars`. */
static void hang(struct rs_collect *c, uint32_t at, const uint32_t *bars)
{
    struct rs_timeline *t = c->t;
    const struct rs_activities *a = &t->model->activities;
    const struct rs_by_proc *all = &t->index->activities;
    uint32_t first = all->from[c->proc], n = all->from[c->proc + 1] - first;
    uint32_t i = rs_by_proc_row(all, first + at), launch = a->launch[i];
    int64_t when, dur;
    if (launch >= a->n) return;
    if (bars[at] != RS_NONE && rs_span_place(t, a->start[launch], a->start[launch], &when, &dur))
        c->bars->a3[bars[at]] = when;
    /* The rows of a process are in order: find the launch among them. */
    uint32_t low = 0, high = n;
    RS_BISECT(low, high, mid, rs_by_proc_row(all, first + mid) < launch);
    if (low == n || rs_by_proc_row(all, first + low) != launch || bars[low] == RS_NONE) return;
    if (bars[at] != RS_NONE) c->bars->parent[bars[at]] = bars[low];
    uint32_t part = a->part[i];
    if (a->kind[i] != RS_ACT_COMM || part >= t->model->parts.n) return;
    rs_launch_put(c, t->model->parts.member[part], a->start[launch], a->end[launch], bars[low]);
}

enum rs_status rs_collect_activities(struct rs_collect *c, struct rs_err *err)
{
    const struct rs_by_proc *all = &c->t->index->activities;
    uint32_t first = all->from[c->proc], n = all->from[c->proc + 1] - first;
    if (!n) return RS_OK;
    uint32_t *bars = rs_alloc(n * sizeof *bars);
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < n && status == RS_OK; i++) status = add(c, rs_by_proc_row(all, first + i), &bars[i], err);
    for (uint32_t i = 0; i < n && status == RS_OK; i++) hang(c, i, bars);
    free(bars);
    return status;
}

/* What is absent: lost callbacks, and time that was not recorded, on a lane of every rank. */
#include "nccl/abi.h"
#include "timeline/collect.h"
#include "timeline/span.h"

/* Draws a stretch on each rank of the process, or on the process itself if it has none. */
static enum rs_status add(struct rs_collect *c, uint8_t kind, uint8_t flag, int64_t from, int64_t to,
                          const struct rs_gap *gap, struct rs_err *err)
{
    struct rs_timeline *t = c->t;
    uint32_t group = t->index->proc_group[c->proc], end = group + 1, lane, bar, ranks = 0;
    while (end < t->ngroups && t->groups[end].proc == c->proc) ranks += t->groups[end++].level == RS_GROUP_RANK;
    if (to > t->begin + t->span) to = t->begin + t->span;
    if (from < t->begin) from = t->begin;
    if (to < from) return RS_OK;
    for (; group < end; group++) {
        bool is_new;
        if (t->groups[group].level != (ranks ? RS_GROUP_RANK : RS_GROUP_PROCESS)) continue;
        RS_TRY(rs_collect_lane(c, group, RS_ROW_OPERATIONS, 1, &lane, &is_new, err));
        if (is_new) rs_timeline_text(t, &c->lanes[lane].label, "lost or not recorded");
        RS_TRY(rs_collect_bar(c, lane, kind, from, to, &bar, err));
        if (bar == RS_NONE) continue;
        c->bars->flags[bar] = flag;
        if (!gap) continue;
        c->bars->a1[bar] = gap->colls;
        c->bars->a2[bar] = gap->p2ps;
        c->bars->a3[bar] = gap->others;
    }
    return RS_OK;
}

/* Times in which operations were not requested, and other tools' windows. A tool's end is not its last event to the ns:
 * less than a thousandth of the total is not drawn. */
static enum rs_status add_blanks(struct rs_collect *c, struct rs_err *err)
{
    const struct rs_timeline *t = c->t;
    const struct rs_proc *p = &t->model->procs[c->proc];
    bool window = rs_tool_has(p->tool, RS_CAP_WINDOW);
    if (window && p->ncovers && p->covers[0].from > t->begin &&
        rs_time_minus(p->covers[0].from, t->begin) >= t->span / 1000)
        RS_TRY(add(c, RS_BAR_BLANK, RS_BAR_NOT_RECORDED, t->begin, p->covers[0].from, NULL, err));
    for (uint32_t i = 0; i < p->ncovers; i++) {
        int64_t from = p->covers[i].from < t->begin ? t->begin : p->covers[i].from;
        int64_t to = p->covers[i].to < t->begin + t->span ? p->covers[i].to : t->begin + t->span;
        if ((p->covers[i].mask & (RS_COLL | RS_P2P)) || to <= from || to - from <= t->span / 1000 + 1) continue;
        RS_TRY(add(c, RS_BAR_BLANK, RS_BAR_NOT_RECORDED, from, to, NULL, err));
    }
    return RS_OK;
}

/* Threads lose concurrently: overlapping losses are one stretch. Losses at an unknown time span the process; they are
 * separate, so that they do not absorb the others. */
static enum rs_status add_losses(struct rs_collect *c, struct rs_err *err)
{
    const struct rs_proc *p = &c->t->model->procs[c->proc];
    for (uint32_t i = 0; i < p->ngaps;) {
        struct rs_gap all = p->gaps[i++];
        bool everywhere = all.from <= p->first && all.to >= p->last;
        for (; !everywhere && i < p->ngaps && p->gaps[i].from <= all.to; i++) {
            if (p->gaps[i].to > all.to) all.to = p->gaps[i].to;
            all.colls += p->gaps[i].colls;
            all.p2ps += p->gaps[i].p2ps;
            all.others += p->gaps[i].others;
        }
        RS_TRY(add(c, RS_BAR_LOSS, RS_BAR_LOST, all.from, all.to, &all, err));
    }
    return RS_OK;
}

enum rs_status rs_collect_gaps(struct rs_collect *c, struct rs_err *err)
{
    const struct rs_proc *p = &c->t->model->procs[c->proc];
    if (!rs_collect_wants(c, RS_ROW_OPERATIONS) || c->t->index->proc_group[c->proc] == RS_NONE) return RS_OK;
    RS_TRY(add_losses(c, err));
    RS_TRY(add_blanks(c, err));
    if (p->overwritten_until == RS_TIME_NONE) return RS_OK;
    return add(c, RS_BAR_BLANK, RS_BAR_NOT_RECORDED, p->begin, p->overwritten_until, NULL, err);
}

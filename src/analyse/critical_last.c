#include "analyse/critical_last.h"

#include "base/bisect.h"
#include "join/flow.h"
#include "join/totals.h"

/* What decides of one operation. */
struct choice {
    const struct rs_critical_trails *trails;
    const struct rs_view *view;
    uint32_t op, member; /* of the rank */
    int64_t at;
    int64_t last, second; /* the latest start; the latest of another arrival */
    uint32_t rank; /* trail of the latest */
};

static int32_t rank_of(const struct choice *c, const struct rs_arrival *a)
{
    return c->view->model->members[a->member].rank;
}

/* ---- whom it needs ---- */

/* The arrival of a rank: they are by rank. NULL: not recorded. */
static const struct rs_arrival *arrival_of(const struct choice *c, int32_t rank)
{
    uint32_t low = 0, high = c->view->narrivals;
    RS_BISECT(low, high, mid, rank_of(c, &c->view->arrivals[mid]) < rank);
    bool found = low < c->view->narrivals && rank_of(c, &c->view->arrivals[low]) == rank;
    return found ? &c->view->arrivals[low] : NULL;
}

typedef void visit_fn(struct choice *c, const struct rs_arrival *a);

static void each_needed(struct choice *c, visit_fn *visit)
{
    const struct rs_model *m = c->view->model;
    enum rs_flow flow = rs_func_flow(m, m->ops.func[c->op]);
    int32_t root = m->ops.root[c->op], own = m->members[c->member].rank;
    bool rooted = m->ops.kind[c->op] == RS_OP_COLL && root >= 0;
    if (m->ops.kind[c->op] == RS_OP_FANOUT) {
        for (uint32_t i = 0; i < m->ops.nparts[c->op]; i++) {
            uint32_t part = m->order[m->ops.part[c->op] + i];
            if (m->parts.member[part] != c->member || m->parts.peer[part] == own) continue;
            const struct rs_arrival *a = arrival_of(c, m->parts.peer[part]);
            if (a) visit(c, a);
        }
    } else if (rooted && (flow == RS_FLOW_FROM_ROOT || flow == RS_FLOW_TO_ROOT)) {
        bool all = flow == RS_FLOW_TO_ROOT && own == root, one = flow == RS_FLOW_FROM_ROOT;
        for (uint32_t i = 0; i < c->view->narrivals; i++)
            if (all || (one && rank_of(c, &c->view->arrivals[i]) == root)) visit(c, &c->view->arrivals[i]);
    } else {
        for (uint32_t i = 0; i < c->view->narrivals; i++) visit(c, &c->view->arrivals[i]);
    }
}

/* ---- who is last ---- */

static void find_last(struct choice *c, const struct rs_arrival *a)
{
    if (a->member == c->member || a->start >= c->at) return;
    uint32_t rank = c->trails->of_rank[a->rank_id];
    if (a->start > c->last) {
        c->second = c->last;
        c->last = a->start;
        c->rank = rank;
    } else if (a->start > c->second) {
        c->second = a->start;
    }
}

/* Of those that came with the last, the lowest. */
static void find_lowest(struct choice *c, const struct rs_arrival *a)
{
    uint32_t rank = c->trails->of_rank[a->rank_id];
    if (a->member == c->member || a->start >= c->at || rank >= c->rank) return;
    if (!rs_is_tie(rs_time_minus(c->last, a->start), c->view->model->ops.error[c->op])) return;
    c->rank = rank;
    c->second = a->start; /* from here on: the start of the chosen */
}

struct rs_critical_last rs_critical_last(const struct rs_critical_trails *trails, struct rs_view *v, uint32_t own,
                                         const struct rs_span *span, int64_t at)
{
    struct choice c = {.trails = trails,
                       .view = v,
                       .op = span->ref,
                       .member = v->model->parts.member[span->part],
                       .at = at,
                       .last = span->start,
                       .second = RS_TIME_NONE,
                       .rank = own};
    struct rs_critical_last none = {.rank = own, .start = span->start};
    if (!rs_view_compare(v, c.op)) return none;
    int64_t error = v->model->ops.error[c.op];
    each_needed(&c, find_last);
    struct rs_critical_last found = {.known = true, .rank = c.rank, .start = c.last};
    found.tie = c.second != RS_TIME_NONE && rs_is_tie(rs_time_minus(c.last, c.second), error);
    if (!found.tie && c.second != RS_TIME_NONE) found.lead = rs_time_minus(c.last, c.second);
    if (c.rank == own || !found.tie) return found;
    if (rs_is_tie(rs_time_minus(c.last, span->start), error)) {
        found.rank = own;
        found.start = span->start;
        return found;
    }
    c.second = c.last;
    each_needed(&c, find_lowest);
    found.rank = c.rank;
    found.start = c.second;
    return found;
}

bool rs_critical_waits(const struct rs_model *m, const struct rs_span *span, int64_t at)
{
    return rs_op_is_compared(m, span->ref) && m->ops.last[span->ref] >= at;
}

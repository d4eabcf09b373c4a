#include "export/chrome/flows.h"

#include <stdlib.h>

#include "model/model.h"
#include "timeline/span.h"
#include "timeline/stretch.h"

enum rs_status rs_chrome_flows_init(struct rs_chrome_flows *f, const struct rs_timeline *t,
                                    const struct rs_rank_rows *rows, struct rs_err *err)
{
    *f = (struct rs_chrome_flows){.t = t, .rows = rows};
    f->parts = calloc((size_t)t->model->parts.n + 1, sizeof *f->parts);
    if (!f->parts) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    return rs_fanout_ranks_init(&f->fanouts, t, err);
}

void rs_chrome_flows_free(struct rs_chrome_flows *f)
{
    free(f->parts);
    rs_fanout_ranks_free(&f->fanouts);
    *f = (struct rs_chrome_flows){0};
}

static struct rs_chrome_place place_of(const struct rs_bars *b, const struct rs_nests *nests, uint32_t i, uint32_t pid,
                                       uint32_t tid)
{
    int64_t at = b->start[i], end = at + b->dur[i];
    if (at < end && rs_nests_touches(nests, b, i)) at++;
    return (struct rs_chrome_place){at, end, pid, tid, rs_nests_holds(nests, b, i)};
}

void rs_chrome_flows_part(struct rs_chrome_flows *f, uint32_t part, const struct rs_bars *b,
                          const struct rs_nests *nests, uint32_t i, uint32_t tid)
{
    bool behind = place_of(b, nests, i, 0, tid).at > b->start[i];
    f->parts[part] = tid << 1 | behind;
}

/* Where it was drawn; false: nowhere. */
static bool place_of_part(const struct rs_chrome_flows *f, uint32_t part, struct rs_chrome_place *place)
{
    struct rs_stretch s;
    int64_t start, dur;
    if (!f->parts[part] || !rs_stretch_of(f->t, part, &s) || !rs_span_place(f->t, s.from, s.to, &start, &dur))
        return false;
    uint32_t row = f->rows->of_group[f->t->group_of_member[f->t->model->parts.member[part]]];
    *place = (struct rs_chrome_place){start + (f->parts[part] & 1), start + dur, row + 1, f->parts[part] >> 1, false};
    return true;
}

static void flow(struct rs_json *j, const char *phase, const char *what, uint64_t id, const struct rs_chrome_place *at,
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
static void arrow(struct rs_chrome_flows *f, struct rs_json *j, const char *what, const struct rs_chrome_place *from,
                  const struct rs_chrome_place *to)
{
    int64_t at = to->at;
    if (at < from->at) {
        if (!to->holds && to->end > from->at) {
            at = from->at;
        } else {
            const struct rs_chrome_place *first = to;
            to = from;
            from = first;
            at = to->at;
        }
    }
    f->id++;
    flow(j, "s", what, f->id, from, from->at);
    flow(j, "f", what, f->id, to, at);
}

void rs_chrome_flows_bars(struct rs_chrome_flows *f, struct rs_json *j, const struct rs_bars *b,
                          const struct rs_nests *nests, const uint32_t *tids)
{
    struct rs_chrome_place from, to;
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
    const struct rs_chrome_place *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->tid < y->tid ? -1 : x->tid > y->tid;
}

/* A send and its receive, where both are drawn. */
static void message(struct rs_chrome_flows *f, struct rs_json *j, uint32_t op)
{
    const struct rs_model *m = f->t->model;
    struct rs_chrome_place from, to;
    bool has_from = false, has_to = false;
    for (uint32_t k = 0; k < m->ops.nparts[op]; k++) {
        uint32_t part = m->order[m->ops.part[op] + k];
        if (m->parts.kind[part] == RS_PART_SEND) has_from = place_of_part(f, part, &from);
        if (m->parts.kind[part] == RS_PART_RECV) has_to = place_of_part(f, part, &to);
    }
    if (has_from && has_to) arrow(f, j, "message", &from, &to);
}

enum rs_status rs_chrome_flows_ranks(struct rs_chrome_flows *f, struct rs_json *j, struct rs_err *err)
{
    const struct rs_timeline *t = f->t;
    const struct rs_model *m = t->model;
    uint32_t most = 0;
    for (uint32_t i = 0; i < t->nops; i++)
        if (m->ops.nparts[t->ops[i]] > most) most = m->ops.nparts[t->ops[i]];
    struct rs_chrome_place *list = malloc(((size_t)most + 1) * sizeof *list);
    if (!list) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < t->nops && !rs_json_failed(j); i++) {
        uint32_t op = t->ops[i], n = 0;
        if (m->ops.kind[op] == RS_OP_PAIR) {
            message(f, j, op);
            continue;
        }
        for (uint32_t k = 0; k < m->ops.nparts[op]; k++) {
            uint32_t part = m->order[m->ops.part[op] + k];
            bool stands = m->ops.kind[op] != RS_OP_FANOUT || rs_fanout_stands(&f->fanouts, part);
            if (stands && place_of_part(f, part, &list[n])) n++;
        }
        if (n < 2) continue;
        qsort(list, n, sizeof *list, by_time);
        f->id++;
        for (uint32_t k = 0; k < n; k++)
            flow(j, !k ? "s" : k + 1 < n ? "t" : "f", "operation", f->id, &list[k], list[k].at);
    }
    free(list);
    return RS_OK;
}

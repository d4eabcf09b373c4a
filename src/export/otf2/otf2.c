/* OTF2, for Vampir, Scalasca, TAU and the like: an archive of the Open Trace Format 2 in a folder. */
#include "base/memory.h"
#include "export/exporter.h"
#include "export/otf2/folder.h"

#ifndef RS_NO_OTF2

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "export/otf2/kinds.h"
#include "export/otf2/places.h"
#include "export/otf2/state.h"
#include "join/op_facts.h"
#include "timeline/index.h"

/* ---- regions that nest ----
 * Regions of an OTF2 location must nest: spans that overlap without nesting go to further locations. */

struct otf2_span {
    int64_t start, end; /* ns from the begin of the timeline */
    uint32_t region, token; /* token: the caller's, for otf2_put */
    uint32_t depth; /* set here: which of the locations */
};

/* Puts attributes onto the begin of a span, or onto its end. */
typedef enum rs_status (*otf2_put)(struct rs_otf2 *o, void *with, uint32_t token, bool end, struct rs_err *err);

enum { MOST_LOCATIONS = 256, MOST_NESTED = 64 }; /* damaged input may have millions at a time */

/* Spans of one location that are open, the innermost last. */
struct stack {
    uint32_t open[MOST_NESTED];
    uint32_t n;
};

static int by_start(const void *a, const void *b)
{
    const struct otf2_span *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    if (x->end != y->end) return x->end > y->end ? -1 : 1;
    return x->token < y->token ? -1 : x->token > y->token;
}

static int by_depth(const void *a, const void *b)
{
    const struct otf2_span *x = a, *y = b;
    if (x->depth != y->depth) return x->depth < y->depth ? -1 : 1;
    return by_start(a, b);
}

/* The first location where a span is after all others, or inside the innermost open one. */
static void place(struct otf2_span *spans, uint32_t n, struct stack *stacks, uint32_t *used, uint64_t *too_deep)
{
    for (uint32_t i = 0; i < n; i++) {
        struct otf2_span *s = &spans[i];
        for (s->depth = 0; s->depth < MOST_LOCATIONS; s->depth++) {
            struct stack *k = &stacks[s->depth];
            if (s->depth == *used) k->n = 0, ++*used;
            while (k->n && spans[k->open[k->n - 1]].end <= s->start) k->n--;
            if (k->n && (k->n == MOST_NESTED || spans[k->open[k->n - 1]].end < s->end)) continue;
            k->open[k->n++] = i;
            break;
        }
        if (s->depth == MOST_LOCATIONS) ++*too_deep;
    }
}

static enum rs_status leave(struct rs_otf2 *o, OTF2_EvtWriter *w, const struct otf2_span *s, otf2_put put, void *with,
                            struct rs_err *err)
{
    struct rs_otf2_archive *a = &o->archive;
    RS_TRY(put(o, with, s->token, true, err));
    return rs_otf2_check(a, OTF2_EvtWriter_Leave(w, a->list, rs_otf2_time(o, s->end), s->region), err);
}

static enum rs_status write_location(struct rs_otf2 *o, OTF2_EvtWriter *w, const struct otf2_span *spans, uint32_t n,
                                     otf2_put put, void *with, struct rs_err *err)
{
    struct rs_otf2_archive *a = &o->archive;
    struct stack k = {.n = 0};
    for (uint32_t i = 0; i < n; i++) {
        while (k.n && spans[k.open[k.n - 1]].end <= spans[i].start)
            RS_TRY(leave(o, w, &spans[k.open[--k.n]], put, with, err));
        RS_TRY(put(o, with, spans[i].token, false, err));
        RS_OTF2_TRY(a, OTF2_EvtWriter_Enter(w, a->list, rs_otf2_time(o, spans[i].start), spans[i].region), err);
        k.open[k.n++] = i;
    }
    while (k.n) RS_TRY(leave(o, w, &spans[k.open[--k.n]], put, with, err));
    return RS_OK;
}

/* Writes the spans, which are put in order, onto as many new locations like `where` as they need. */
static enum rs_status otf2_write_spans(struct rs_otf2 *o, struct otf2_span *spans, uint32_t n,
                                       const struct rs_otf2_location *where, otf2_put put, void *with,
                                       struct rs_err *err)
{
    struct rs_otf2_archive *a = &o->archive;
    struct stack *stacks = rs_alloc(MOST_LOCATIONS * sizeof *stacks);
    uint32_t used = 0;
    if (n) qsort(spans, n, sizeof *spans, by_start);
    place(spans, n, stacks, &used, &o->plan.counts.too_deep);
    free(stacks);
    if (used > 1) qsort(spans, n, sizeof *spans, by_depth);
    for (uint32_t from = 0, to; from < n && spans[from].depth < MOST_LOCATIONS; from = to) {
        for (to = from + 1; to < n && spans[to].depth == spans[from].depth;) to++;
        struct rs_otf2_location row = *where;
        uint32_t location;
        OTF2_EvtWriter *w;
        if (spans[from].depth) {
            char name[1100];
            snprintf(name, sizeof name, "%.1000s, overlapping %u", rs_texts_at(&a->texts, where->name),
                     (unsigned)spans[from].depth);
            rs_otf2_text(a, name, &row.name);
        }
        RS_TRY(rs_otf2_location(a, &row, &location, err));
        RS_TRY(rs_otf2_begin(a, location, &w, err));
        RS_TRY(write_location(o, w, spans + from, to - from, put, with, err));
        RS_TRY(rs_otf2_end(a, location, w, err));
    }
    return RS_OK;
}

/* ---- all that is not an operation ----
 * Calls and launches, GPU channels, proxy work, activities of other tools, and losses, as OTF2 regions: one location per
 * lane of the timeline; calls nest in the group calls that they were made in. */

/* ---- attributes ---- */

static enum rs_status attribute(struct rs_otf2 *o, uint32_t *id, const char *name, const char *unit, bool text,
                                struct rs_err *err)
{
    if (*id != RS_NONE) return RS_OK;
    return rs_otf2_attribute(&o->archive, name, unit, text ? OTF2_TYPE_STRING : OTF2_TYPE_UINT64, id, err);
}

static enum rs_status put_argument(struct rs_otf2 *o, uint8_t kind, unsigned i, int64_t value, struct rs_err *err)
{
    const struct rs_event_arg *arg = rs_bar_arg(&o->t->kinds.rows[kind], i);
    if (!arg->label || value == RS_BAR_NO_ARG || value < 0) return RS_OK;
    bool text = arg->unit == RS_UNIT_TEXT, time = arg->unit == RS_UNIT_TIME;
    RS_TRY(attribute(o, &o->args[kind][i], arg->label, rs_bar_units[arg->unit], text, err));
    if (text) return rs_otf2_put_text(&o->archive, o->args[kind][i], rs_texts_at(&o->t->texts, (uint32_t)value), err);
    return rs_otf2_put_u64(&o->archive, o->args[kind][i], time ? rs_otf2_time(o, value) : (uint64_t)value, err);
}

static enum rs_status put_mark(struct rs_otf2 *o, uint8_t kind, unsigned i, uint32_t at, struct rs_err *err)
{
    const char *mark = o->t->kinds.rows[kind].marks[i];
    if (!mark || !at) return RS_OK;
    RS_TRY(attribute(o, &o->marks[kind][i], mark, "ns from the begin of the region to the begin of this state", false,
                     err));
    return rs_otf2_put_u64(&o->archive, o->marks[kind][i], at, err);
}

static enum rs_status put_flag(struct rs_otf2 *o, enum rs_otf2_fact fact, bool is, struct rs_err *err)
{
    return is ? rs_otf2_put_u64(&o->archive, o->facts[fact], 1, err) : RS_OK;
}

static enum rs_status put_bar(struct rs_otf2 *o, void *with, uint32_t i, bool end, struct rs_err *err)
{
    const struct rs_bars *b = with;
    const struct rs_timeline *t = o->t;
    if (end) {
        RS_TRY(put_flag(o, RS_OTF2_end_bounded, b->flags[i] & RS_BAR_END_BOUNDED, err));
        return put_flag(o, RS_OTF2_open, b->flags[i] & RS_BAR_OPEN, err);
    }
    if (b->op[i] != RS_BAR_NONE) {
        uint64_t id = t->model->ops.id[t->ops[b->op[i]]];
        RS_TRY(rs_otf2_put_u64(&o->archive, o->facts[RS_OTF2_operation], id, err));
    }
    RS_TRY(put_flag(o, RS_OTF2_start_unknown, b->flags[i] & RS_BAR_START_UNKNOWN, err));
    const int64_t args[RS_BAR_ARGS] = {b->a1[i], b->a2[i], b->a3[i], b->a4[i], b->a5[i], b->a6[i]};
    const uint32_t marks[RS_BAR_MARKS] = {b->m1[i], b->m2[i], b->m3[i]};
    for (unsigned k = 0; k < RS_BAR_ARGS; k++) RS_TRY(put_argument(o, b->kind[i], k, args[k], err));
    for (unsigned k = 0; k < RS_BAR_MARKS; k++) RS_TRY(put_mark(o, b->kind[i], k, marks[k], err));
    return RS_OK;
}

/* ---- lanes ---- */

static enum rs_status region_of(struct rs_otf2 *o, const struct rs_bars *b, uint32_t i, uint32_t *region,
                                struct rs_err *err)
{
    const struct rs_bar_kind *kind = &o->t->kinds.rows[b->kind[i]];
    const char *name = b->name[i] ? rs_texts_at(&o->t->texts, b->name[i]) : kind->label;
    char call[256];
    if (b->name[i] && rs_otf2_is_call(b->kind[i])) { /* "AllReduce" is the operation: tools sum regions by name */
        snprintf(call, sizeof call, "nccl%s", name);
        name = call;
    } else if (b->name[i] && b->kind[i] == RS_BAR_CE_COLL) {
        snprintf(call, sizeof call, "%s, copy engine", name);
        name = call;
    }
    return rs_otf2_region(&o->archive, (uint64_t)b->kind[i] << 32 | b->name[i], name, kind->id, kind->explain,
                          rs_otf2_role(o->t, b->kind[i]), rs_otf2_paradigm(o->t, b->kind[i]), region, err);
}

/* Lanes [from, to) are one that was split. */
static enum rs_status write_lanes(struct rs_otf2 *o, const struct rs_bars *b, uint32_t from, uint32_t to,
                                  struct rs_err *err)
{
    const struct rs_bar_lane *lane = &b->lanes[from];
    struct rs_otf2_location where;
    uint32_t n = 0, all = 0;
    for (uint32_t k = from; k < to; k++) all += b->lanes[k].n;
    struct otf2_span *spans = rs_alloc(((size_t)all + 1) * sizeof *spans);
    enum rs_status status = rs_otf2_place_row(o, lane->group, rs_otf2_is_on_gpu(lane->row),
                                              rs_texts_at(&o->t->texts, lane->label), &where, err);
    for (uint32_t k = from; k < to; k++)
        for (uint32_t i = b->lanes[k].from; i < b->lanes[k].from + b->lanes[k].n && status == RS_OK; i++) {
            spans[n] = (struct otf2_span){.start = b->start[i], .end = b->start[i] + b->dur[i], .token = i};
            status = region_of(o, b, i, &spans[n++].region, err);
        }
    struct rs_bars bars = *b; /* otf2_put takes a pointer that is not const */
    if (status == RS_OK) status = otf2_write_spans(o, spans, n, &where, put_bar, &bars, err);
    free(spans);
    return status;
}

static enum rs_status otf2_write_rows(struct rs_otf2 *o, const struct rs_bars *bars, struct rs_err *err)
{
    const struct rs_bar_lane *lanes = bars->lanes;
    for (uint32_t from = 0, to; from < bars->nlanes; from = to) {
        for (to = from + 1; to < bars->nlanes && lanes[to].group == lanes[from].group &&
                            lanes[to].row == lanes[from].row && lanes[to].label == lanes[from].label;)
            to++;
        /* Operations are written from the model; bars of ranks and processes on this row are losses. */
        if (lanes[from].row == RS_ROW_OPERATIONS && o->t->groups[lanes[from].group].level == RS_GROUP_COMM) continue;
        RS_TRY(write_lanes(o, bars, from, to, err));
    }
    return RS_OK;
}

/* ---- operations ----
 * The operations of a process as OTF2 events: one region per part, with its collective or message record inside, and
 * metrics that add up along a location. otf2/plan.h has the lanes. */

/* A part, and where it goes. */
struct item {
    int64_t start, end, fade;
    uint32_t part, location, turn, group;
    uint8_t flags, lane;
};

/* Begin or end of an item on the lane that is shared. */
struct point {
    int64_t at;
    uint32_t item;
    bool end;
};

/* A location while its events are written. */
struct stream {
    struct rs_otf2 *o;
    OTF2_EvtWriter *w;
    uint64_t sums[RS_OTF2_METRICS]; /* so far */
};

static int by_location(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->location != y->location) return x->location < y->location ? -1 : 1;
    return x->turn < y->turn ? -1 : x->turn > y->turn;
}

static int by_group(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->group != y->group) return x->group < y->group ? -1 : 1;
    return x->turn < y->turn ? -1 : x->turn > y->turn;
}

/* ---- regions and metrics ---- */

enum { OF_FUNCTION = 1, OF_FANOUT, OF_GROUP }; /* keys of regions, above those of bars */

static enum rs_status operations_region_of(struct rs_otf2 *o, uint16_t func, int what, uint32_t *region,
                                           struct rs_err *err)
{
    const char *name = what == OF_GROUP ? "grouped operations" : rs_model_text(o->t->model, func);
    const struct rs_otf2_kind *kind = what == OF_FUNCTION ? rs_otf2_kind(name) : NULL;
    const char *why = what == OF_FUNCTION ? NULL : "Overlapping operations of one group call.";
    uint64_t key = (uint64_t)what << 40 | (what == OF_GROUP ? 0 : func);
    OTF2_RegionRole role = what == OF_FUNCTION ? OTF2_REGION_ROLE_FUNCTION : OTF2_REGION_ROLE_POINT2POINT;
    return rs_otf2_region(&o->archive, key, *name ? name : "operation", name, why, kind ? kind->role : role,
                          OTF2_PARADIGM_MPI, region, err);
}

static enum rs_status metrics(struct stream *s, int64_t at, struct rs_err *err)
{
    OTF2_Type types[RS_OTF2_METRICS];
    OTF2_MetricValue values[RS_OTF2_METRICS];
    for (unsigned i = 0; i < RS_OTF2_METRICS; i++) {
        types[i] = OTF2_TYPE_UINT64;
        values[i].unsigned_int = s->sums[i];
    }
    OTF2_ErrorCode code = OTF2_EvtWriter_Metric(s->w, NULL, rs_otf2_time(s->o, at), 0, RS_OTF2_METRICS, types, values);
    return rs_otf2_check(&s->o->archive, code, err);
}

static void add_up(struct stream *s, const struct item *it)
{
    for (unsigned i = 0; i < RS_OTF2_METRICS; i++) s->sums[i] += rs_otf2_metrics[i].get(s->o, it->part);
}

/* ---- records ---- */

struct record {
    OTF2_CollectiveOp op;
    uint32_t comm, root, peer, tag;
    uint64_t sent, received, length, request;
};

/* The group of the other end of a message. */
static uint32_t other_end(const struct rs_otf2 *o, uint32_t part)
{
    const struct rs_model *m = o->t->model;
    uint32_t op = m->parts.op[part], other = m->order[m->ops.part[op]];
    if (other == part) other = m->order[m->ops.part[op] + 1];
    return o->t->group_of_member[m->parts.member[other]];
}

static struct record record_of(const struct rs_otf2 *o, const struct item *it)
{
    const struct rs_timeline *t = o->t;
    const struct rs_model *m = t->model;
    const struct rs_member *self = &m->members[t->groups[it->group].member];
    const struct rs_otf2_comm *c = &o->plan.comms[self->comm];
    uint32_t op = m->parts.op[it->part];
    uint64_t bytes = rs_size_known(m, op) ? m->ops.bytes[op] : 0;
    bool receives = m->parts.kind[it->part] == RS_PART_RECV;
    struct record r = {.comm = c->ref + rs_otf2_nth(c->lanes, it->lane),
                       .request = (uint64_t)t->op_number[op] * 2 + receives};
    if (m->ops.kind[op] == RS_OP_PAIR) {
        r.peer = (uint32_t)m->members[t->groups[other_end(o, it->part)].member].rank;
        r.tag = m->ops.index[op];
        r.length = bytes;
        return r;
    }
    const struct rs_otf2_kind *kind = rs_otf2_kind(rs_model_text(m, m->ops.func[op]));
    int32_t root = rs_otf2_root(&o->plan, op, self->comm);
    r.op = kind->op;
    r.root = root < 0 ? OTF2_COLLECTIVE_ROOT_NONE : (uint32_t)root;
    rs_otf2_sizes(kind, bytes, c->size, self->rank == root, &r.sent, &r.received);
    return r;
}

/* A part with a region of its own. */
static enum rs_status write_alone(struct stream *s, const struct item *it, bool recorded, struct rs_err *err)
{
    struct rs_otf2 *o = s->o;
    struct rs_otf2_archive *a = &o->archive;
    const struct rs_model *m = o->t->model;
    uint64_t from = rs_otf2_time(o, it->start), to = rs_otf2_time(o, it->end);
    struct record r = {0};
    uint32_t region;
    if (recorded) r = record_of(o, it);
    bool pair = m->ops.kind[m->parts.op[it->part]] == RS_OP_PAIR, sends = m->parts.kind[it->part] == RS_PART_SEND;
    RS_TRY(operations_region_of(o, rs_bar_func(m, it->part), OF_FUNCTION, &region, err));
    RS_TRY(metrics(s, it->start, err));
    RS_TRY(rs_otf2_put_begin(o, it->part, it->flags, err));
    RS_OTF2_TRY(a, OTF2_EvtWriter_Enter(s->w, a->list, from, region), err);
    if (recorded && pair && sends)
        RS_OTF2_TRY(a, OTF2_EvtWriter_MpiSend(s->w, NULL, from, r.peer, r.comm, r.tag, r.length), err);
    if (recorded && pair && !sends)
        RS_OTF2_TRY(a, OTF2_EvtWriter_MpiRecv(s->w, NULL, to, r.peer, r.comm, r.tag, r.length), err);
    if (recorded && !pair) {
        RS_OTF2_TRY(a, OTF2_EvtWriter_MpiCollectiveBegin(s->w, NULL, from), err);
        RS_OTF2_TRY(a, OTF2_EvtWriter_MpiCollectiveEnd(s->w, NULL, to, r.op, r.comm, r.root, r.sent, r.received), err);
    }
    add_up(s, it);
    RS_TRY(metrics(s, it->end, err));
    RS_TRY(rs_otf2_put_end(o, it->part, it->flags, it->end, it->fade, err));
    return rs_otf2_check(a, OTF2_EvtWriter_Leave(s->w, a->list, to, region), err);
}

/* ---- the lane that is shared ---- */

/* Begin or end of a part inside its group's region: all are non-blocking. */
static enum rs_status write_point(struct stream *s, const struct item *it, bool end, struct rs_err *err)
{
    struct rs_otf2 *o = s->o;
    struct rs_otf2_archive *a = &o->archive;
    const struct rs_model *m = o->t->model;
    struct record r = record_of(o, it);
    uint64_t at = rs_otf2_time(o, end ? it->end : it->start);
    bool pair = m->ops.kind[m->parts.op[it->part]] == RS_OP_PAIR, sends = m->parts.kind[it->part] == RS_PART_SEND;
    if (end)
        RS_TRY(rs_otf2_put_end(o, it->part, it->flags, it->end, it->fade, err));
    else
        RS_TRY(rs_otf2_put_begin(o, it->part, it->flags, err));
    OTF2_ErrorCode code;
    if (pair && sends)
        code = end ? OTF2_EvtWriter_MpiIsendComplete(s->w, a->list, at, r.request)
                   : OTF2_EvtWriter_MpiIsend(s->w, a->list, at, r.peer, r.comm, r.tag, r.length, r.request);
    else if (pair)
        code = end ? OTF2_EvtWriter_MpiIrecv(s->w, a->list, at, r.peer, r.comm, r.tag, r.length, r.request)
                   : OTF2_EvtWriter_MpiIrecvRequest(s->w, a->list, at, r.request);
    else
        code = end ? OTF2_EvtWriter_NonBlockingCollectiveComplete(s->w, a->list, at, r.op, r.comm, r.root, r.sent,
                                                                  r.received, r.request)
                   : OTF2_EvtWriter_NonBlockingCollectiveRequest(s->w, a->list, at, r.request);
    return rs_otf2_check(a, code, err);
}

static int by_time(const void *a, const void *b)
{
    const struct point *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    if (x->end != y->end) return x->end ? 1 : -1; /* an operation that begins where another ends is in the same group */
    return x->item < y->item ? -1 : x->item > y->item;
}

/* The region of overlapping operations: named by the fan-out that all belong to, if there is one. */
static enum rs_status group_region(struct rs_otf2 *o, const struct item *items, const struct point *points, uint32_t n,
                                   uint32_t *region, struct rs_err *err)
{
    const struct rs_model *m = o->t->model;
    uint32_t first = items[points[0].item].part, fanout = m->ops.fanout[m->parts.op[first]];
    if (n == 2) return operations_region_of(o, rs_bar_func(m, first), OF_FUNCTION, region, err);
    for (uint32_t i = 0; i < n && fanout != RS_NONE; i++)
        if (m->ops.fanout[m->parts.op[items[points[i].item].part]] != fanout) fanout = RS_NONE;
    if (fanout == RS_NONE) return operations_region_of(o, 0, OF_GROUP, region, err);
    return operations_region_of(o, m->ops.func[fanout], OF_FANOUT, region, err);
}

static enum rs_status write_group(struct stream *s, const struct item *items, const struct point *points, uint32_t n,
                                  struct rs_err *err)
{
    struct rs_otf2_archive *a = &s->o->archive;
    uint32_t region;
    RS_TRY(group_region(s->o, items, points, n, &region, err));
    RS_TRY(metrics(s, points[0].at, err));
    RS_OTF2_TRY(a, OTF2_EvtWriter_Enter(s->w, NULL, rs_otf2_time(s->o, points[0].at), region), err);
    for (uint32_t i = 0; i < n; i++) {
        RS_TRY(write_point(s, &items[points[i].item], points[i].end, err));
        if (points[i].end) add_up(s, &items[points[i].item]);
    }
    RS_TRY(metrics(s, points[n - 1].at, err));
    return rs_otf2_check(a, OTF2_EvtWriter_Leave(s->w, NULL, rs_otf2_time(s->o, points[n - 1].at), region), err);
}

static enum rs_status write_groups(struct stream *s, const struct item *items, uint32_t n, struct rs_err *err)
{
    struct point *points = rs_alloc(((size_t)n + 1) * 2 * sizeof *points);
    for (uint32_t i = 0; i < n; i++) {
        points[2 * i] = (struct point){items[i].start, i, false};
        points[2 * i + 1] = (struct point){items[i].end, i, true};
    }
    qsort(points, (size_t)n * 2, sizeof *points, by_time);
    enum rs_status status = RS_OK;
    for (uint32_t from = 0, to; from < 2 * n && status == RS_OK; from = to) {
        uint32_t open = 0;
        to = from;
        do {
            open = points[to].end ? open - 1 : open + 1;
        } while (++to < 2 * n && open);
        status = write_group(s, items, points + from, to - from, err);
    }
    free(points);
    return status;
}

/* ---- a process ---- */

static enum rs_status write_lane(struct rs_otf2 *o, const struct item *items, uint32_t n, struct rs_err *err)
{
    struct stream s = {.o = o};
    RS_TRY(rs_otf2_begin(&o->archive, items->location, &s.w, err));
    if (items->lane == RS_OTF2_GROUPED) RS_TRY(write_groups(&s, items, n, err));
    for (uint32_t i = 0; i < n && items->lane != RS_OTF2_GROUPED; i++)
        RS_TRY(write_alone(&s, &items[i], o->plan.record[o->t->op_number[o->t->model->parts.op[items[i].part]]], err));
    return rs_otf2_end(&o->archive, items->location, s.w, err);
}

static enum rs_status put_item(struct rs_otf2 *o, void *with, uint32_t token, bool end, struct rs_err *err)
{
    const struct item *it = (const struct item *)with + token;
    if (!end) return rs_otf2_put_begin(o, it->part, it->flags, err);
    return rs_otf2_put_end(o, it->part, it->flags, it->end, it->fade, err);
}

/* Parts of a group that overlap too deep, and have no record. */
static enum rs_status write_rest(struct rs_otf2 *o, struct item *items, uint32_t n, struct rs_err *err)
{
    struct rs_otf2_location where;
    struct otf2_span *spans = rs_alloc(((size_t)n + 1) * sizeof *spans);
    enum rs_status status = rs_otf2_place_row(o, items->group, false, "without records", &where, err);
    for (uint32_t i = 0; i < n && status == RS_OK; i++) {
        spans[i] = (struct otf2_span){.start = items[i].start, .end = items[i].end, .token = i};
        status = operations_region_of(o, rs_bar_func(o->t->model, items[i].part), OF_FUNCTION, &spans[i].region, err);
    }
    if (status == RS_OK) status = otf2_write_spans(o, spans, n, &where, put_item, items, err);
    free(spans);
    return status;
}

static void count_item(struct rs_otf2_counts *n, const struct item *it)
{
    n->parts++;
    n->start_unknown += (it->flags & RS_BAR_START_UNKNOWN) != 0;
    n->end_bounded += (it->flags & RS_BAR_END_BOUNDED) != 0;
    n->open += (it->flags & RS_BAR_OPEN) != 0;
}

/* Items of lanes go to the front, the rest to the back. */
static void take_items(struct rs_otf2 *o, uint32_t proc, struct item *items, uint32_t *n, uint32_t *nrest)
{
    const struct rs_timeline *t = o->t;
    const struct rs_by_proc *parts = &t->index->parts;
    uint32_t last = parts->from[proc + 1] - parts->from[proc];
    *n = *nrest = 0;
    for (uint32_t i = parts->from[proc]; i < parts->from[proc + 1]; i++) {
        uint32_t part = rs_by_proc_row(parts, i), number = t->op_number[t->model->parts.op[part]];
        struct rs_otf2_place place;
        if (!rs_otf2_place(t, part, &place)) {
            o->plan.counts.no_time++;
            continue;
        }
        struct item it = {.start = place.start,
                          .end = place.start + place.dur,
                          .fade = place.fade,
                          .part = part,
                          .turn = o->plan.turn[number],
                          .group = place.group,
                          .flags = place.flags,
                          .lane = o->plan.lane[number]};
        count_item(&o->plan.counts, &it);
        if (it.lane == RS_OTF2_NO_LANE) {
            items[last - ++*nrest] = it;
            continue;
        }
        it.location = o->location_of[it.group] + rs_otf2_nth(o->plan.lanes[it.group], it.lane);
        items[(*n)++] = it;
    }
}

static enum rs_status otf2_write_operations(struct rs_otf2 *o, uint32_t proc, struct rs_err *err)
{
    const struct rs_by_proc *parts = &o->t->index->parts;
    uint32_t all = parts->from[proc + 1] - parts->from[proc], n, nrest;
    struct item *items = rs_alloc(((size_t)all + 1) * sizeof *items), *rest;
    enum rs_status status = RS_OK;
    take_items(o, proc, items, &n, &nrest);
    rest = items + all - nrest;
    qsort(items, n, sizeof *items, by_location);
    for (uint32_t from = 0, to; from < n && status == RS_OK; from = to) {
        for (to = from + 1; to < n && items[to].location == items[from].location;) to++;
        status = write_lane(o, items + from, to - from, err);
    }
    if (nrest) qsort(rest, nrest, sizeof *rest, by_group);
    for (uint32_t from = 0, to; from < nrest && status == RS_OK; from = to) {
        for (to = from + 1; to < nrest && rest[to].group == rest[from].group;) to++;
        status = write_rest(o, rest + from, to - from, err);
    }
    free(items);
    return status;
}

/* ---- the exporter ---- */

/* Upper bound of the size of a group: every rank on every lane, and those that are not recorded. */
static uint64_t most_members(const struct rs_otf2_plan *p)
{
    uint64_t n = 0;
    for (uint32_t g = 0; g < p->t->ngroups; g++) n += (uint64_t)__builtin_popcount(p->lanes[g]);
    for (uint32_t i = 0; i < p->ncomms; i++) n += (uint64_t)p->comms[p->order[i]].size;
    return n;
}

static enum rs_status begin(struct rs_export *x, struct rs_err *err)
{
    struct rs_otf2 *o = x->state = rs_zalloc(1, sizeof *o);
    o->t = x->timeline;
    o->title = x->title;
    o->offset = o->t->begin > 0 ? (uint64_t)o->t->begin : 0; /* no time of an archive is below zero */
    memset(o->args, 0xff, sizeof o->args);
    memset(o->marks, 0xff, sizeof o->marks);
    rs_otf2_plan_init(&o->plan, o->t);
    RS_TRY(rs_otf2_open(&o->archive, x->path, x->name, most_members(&o->plan), err));
    RS_TRY(rs_otf2_facts_make(o, err));
    return rs_otf2_places_init(o, err);
}

static enum rs_status piece(struct rs_export *x, uint32_t proc, const struct rs_bars *bars, struct rs_err *err)
{
    struct rs_otf2 *o = x->state;
    if (o->t->options.rows >> RS_ROW_OPERATIONS & 1) RS_TRY(otf2_write_operations(o, proc, err));
    return otf2_write_rows(o, bars, err);
}

/* Readers expect a file of local definitions and one of events per location; both may be empty. */
static enum rs_status write_locals(struct rs_otf2 *o, struct rs_err *err)
{
    struct rs_otf2_archive *a = &o->archive;
    for (uint32_t i = 0; i < a->nlocations; i++) {
        OTF2_EvtWriter *w;
        if (a->locations[i].events) continue;
        RS_TRY(rs_otf2_begin(a, i, &w, err));
        RS_TRY(rs_otf2_end(a, i, w, err));
    }
    a->files_open = false;
    RS_OTF2_TRY(a, OTF2_Archive_CloseEvtFiles(a->archive), err);
    RS_OTF2_TRY(a, OTF2_Archive_OpenDefFiles(a->archive), err);
    for (uint32_t i = 0; i < a->nlocations; i++) {
        OTF2_DefWriter *w = OTF2_Archive_GetDefWriter(a->archive, i);
        if (!w) return rs_otf2_check(a, OTF2_ERROR_MEM_ALLOC_FAILED, err);
        RS_OTF2_TRY(a, OTF2_Archive_CloseDefWriter(a->archive, w), err);
    }
    return rs_otf2_check(a, OTF2_Archive_CloseDefFiles(a->archive), err);
}

static enum rs_status end(struct rs_export *x, struct rs_err *err)
{
    struct rs_otf2 *o = x->state;
    RS_TRY(rs_otf2_places_finish(o, err));
    RS_TRY(write_locals(o, err));
    RS_TRY(rs_otf2_define(o, err));
    return rs_otf2_close(&o->archive, err);
}

static void release(struct rs_export *x)
{
    struct rs_otf2 *o = x->state;
    if (!o) return;
    rs_otf2_free(&o->archive);
    rs_otf2_plan_free(&o->plan);
    rs_otf2_places_free(o);
    free(o);
    x->state = NULL;
}

#endif

const struct rs_exporter rs_exporter_otf2 = {
    .name = "otf2",
    .what = "a folder, for Vampir, Scalasca, TAU, otf2-print",
    .suffixes = ".otf2",
    .titled = true,
    .output = RS_EXPORT_FOLDER,
    .may_replace = rs_otf2_folder_is_ours,
    /* Network steps would be a location for each that is in flight at a time: hundreds a rank, two files each. */
    .to_bound = true,
    .rows = ~(1u << RS_ROW_STEPS | 1u << RS_ROW_NETWORK) & ((1u << RS_ROWS) - 1),
#ifdef RS_NO_OTF2
    .lacks = "OTF2 (Debian: libopen-trace-format2-dev when it is built)",
#else
    .begin = begin,
    .piece = piece,
    .whole = true, /* a location is written from its begin to its end */
    .end = end,
    .free = release,
#endif
};

#ifndef RS_NO_OTF2

#include "export/otf2/operations.h"

#include <stdlib.h>

#include "export/otf2/facts.h"
#include "export/otf2/kinds.h"
#include "export/otf2/places.h"
#include "export/otf2/spans.h"
#include "join/op_facts.h"
#include "timeline/index.h"

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
    uint64_t wait, bytes; /* so far */
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

static enum rs_status region_of(struct rs_otf2 *o, uint16_t func, int what, uint32_t *region, struct rs_err *err)
{
    const char *name = what == OF_GROUP ? "grouped operations" : rs_model_text(o->t->model, func);
    const struct rs_otf2_kind *kind = what == OF_FUNCTION ? rs_otf2_kind(name) : NULL;
    const char *why = what == OF_FUNCTION ? NULL : "Operations of one group call, which overlap: all are inside of it.";
    uint64_t key = (uint64_t)what << 40 | (what == OF_GROUP ? 0 : func);
    OTF2_RegionRole role = what == OF_FUNCTION ? OTF2_REGION_ROLE_FUNCTION : OTF2_REGION_ROLE_POINT2POINT;
    return rs_otf2_region(&o->archive, key, *name ? name : "operation", kind ? kind->call : name, why,
                          kind ? kind->role : role, OTF2_PARADIGM_MPI, region, err);
}

static enum rs_status metrics(struct stream *s, int64_t at, struct rs_err *err)
{
    static const OTF2_Type types[] = {OTF2_TYPE_UINT64, OTF2_TYPE_UINT64};
    const OTF2_MetricValue values[] = {{.unsigned_int = s->wait}, {.unsigned_int = s->bytes}};
    OTF2_ErrorCode code = OTF2_EvtWriter_Metric(s->w, NULL, rs_otf2_time(s->o, at), 0, 2, types, values);
    return rs_otf2_check(&s->o->archive, code, err);
}

static void add_up(struct stream *s, const struct item *it)
{
    const struct rs_model *m = s->o->t->model;
    int64_t wait = rs_stretch_wait(s->o->t, it->part); /* >= 0 */
    uint32_t op = m->parts.op[it->part];
    s->wait += (uint64_t)wait; /* may be longer than the region, whose end is only bounded then */
    if (rs_size_known(m, op)) s->bytes += m->ops.bytes[op];
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
    RS_TRY(region_of(o, rs_bar_func(m, it->part), OF_FUNCTION, &region, err));
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

/* One end of a part inside of its group's region: all are non-blocking. */
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
    if (x->end != y->end) return x->end ? 1 : -1; /* what begins where another ends is of its group */
    return x->item < y->item ? -1 : x->item > y->item;
}

/* What a stretch in which operations overlap is called: by the fan-out that they all are. */
static enum rs_status group_region(struct rs_otf2 *o, const struct item *items, const struct point *points, uint32_t n,
                                   uint32_t *region, struct rs_err *err)
{
    const struct rs_model *m = o->t->model;
    uint32_t first = items[points[0].item].part, fanout = m->ops.fanout[m->parts.op[first]];
    if (n == 2) return region_of(o, rs_bar_func(m, first), OF_FUNCTION, region, err);
    for (uint32_t i = 0; i < n && fanout != RS_NONE; i++)
        if (m->ops.fanout[m->parts.op[items[points[i].item].part]] != fanout) fanout = RS_NONE;
    if (fanout == RS_NONE) return region_of(o, 0, OF_GROUP, region, err);
    return region_of(o, m->ops.func[fanout], OF_FANOUT, region, err);
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
    struct point *points = malloc(((size_t)n + 1) * 2 * sizeof *points);
    if (!points) return rs_fail(err, RS_NO_MEMORY, "out of memory");
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
    struct rs_otf2_span *spans = malloc(((size_t)n + 1) * sizeof *spans);
    if (!spans) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    enum rs_status status = rs_otf2_place_row(o, items->group, false, "without records", &where, err);
    for (uint32_t i = 0; i < n && status == RS_OK; i++) {
        spans[i] = (struct rs_otf2_span){.start = items[i].start, .end = items[i].end, .token = i};
        status = region_of(o, rs_bar_func(o->t->model, items[i].part), OF_FUNCTION, &spans[i].region, err);
    }
    if (status == RS_OK) status = rs_otf2_write_spans(o, spans, n, &where, put_item, items, err);
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

enum rs_status rs_otf2_write_operations(struct rs_otf2 *o, uint32_t proc, struct rs_err *err)
{
    const struct rs_by_proc *parts = &o->t->index->parts;
    uint32_t all = parts->from[proc + 1] - parts->from[proc], n, nrest;
    struct item *items = malloc(((size_t)all + 1) * sizeof *items), *rest;
    if (!items) return rs_fail(err, RS_NO_MEMORY, "out of memory");
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

#endif

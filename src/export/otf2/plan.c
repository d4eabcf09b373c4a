#ifndef RS_NO_OTF2

#include "export/otf2/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
#include "base/room.h"
#include "export/otf2/kinds.h"
#include "join/overlay.h"
#include "timeline/span.h"

enum { MOST_RANKS = 1 << 17, MOST_POSITIONS = 1 << 20 }; /* of a communicator; of all: damaged input may claim any */

struct row {
    int64_t end; /* latest */
    uint32_t comm, number; /* place in t->ops */
};

struct taken {
    int64_t start, end;
    uint32_t group, part;
};

struct work {
    struct rs_otf2_plan *p;
    struct row *rows; /* by communicator, then end */
    uint32_t n;
    struct taken *parts; /* of one operation */
    uint32_t nparts, cap_parts;
    int64_t (*busy)[RS_OTF2_LANES]; /* by group */
    int64_t *last_grouped; /* by group: start of the last collective on the lane that is shared */
    uint32_t *pass, *seen; /* by group: the pass that busy is of; the stamp of what came by last */
    uint32_t passes, stamps, turns;
};

bool rs_otf2_place(const struct rs_timeline *t, uint32_t part, struct rs_otf2_place *place)
{
    uint32_t member = t->model->parts.member[part];
    struct rs_stretch s;
    place->group = t->group_of_member[member];
    if (t->options.filter && !rs_filter_rank(t->options.filter, t->model, member)) return false;
    if (place->group == RS_NONE || !rs_stretch_of(t, part, &s)) return false;
    if (!rs_span_place(t, s.from, s.to, &place->start, &place->dur) || !rs_span_asked(t, s.from, s.to)) return false;
    place->fade = s.fade < place->dur ? s.fade : place->dur;
    place->flags = s.flags;
    return true;
}

uint32_t rs_otf2_group_of(const struct rs_timeline *t, uint32_t comm, int32_t rank)
{
    uint32_t member = rs_comm_member(t->model, comm, rank);
    uint32_t group = member == RS_NONE ? RS_NONE : t->group_of_member[member];
    return group == RS_NONE || t->groups[group].member != member ? RS_NONE : group;
}

static uint32_t comm_of_group(const struct rs_timeline *t, uint32_t group)
{
    return t->model->members[t->groups[group].member].comm;
}

/* Whether a group is the one that represents its rank. */
static bool is_shown(const struct rs_timeline *t, uint32_t group)
{
    const struct rs_member *x = &t->model->members[t->groups[group].member];
    return x->rank >= 0 && rs_otf2_group_of(t, x->comm, x->rank) == group;
}

int32_t rs_otf2_root(const struct rs_otf2_plan *p, uint32_t op, uint32_t comm)
{
    const struct rs_model *m = p->t->model;
    const struct rs_otf2_kind *kind = rs_otf2_kind(rs_model_text(m, m->ops.func[op]));
    int32_t root = kind && kind->is_rooted ? m->ops.root[op] : -1;
    if (root >= 0 && m->ops.comm[op] != comm) root = rs_overlay_rank(m, m->ops.comm[op], root, comm);
    return root < p->comms[comm].size ? root : -1;
}

/* ---- communicators ---- */

static void measure_comms(struct rs_otf2_plan *p)
{
    const struct rs_timeline *t = p->t;
    const struct rs_model *m = t->model;
    int64_t positions = 0;
    for (uint32_t g = 0; g < t->ngroups; g++) {
        if (t->groups[g].level != RS_GROUP_COMM) continue;
        const struct rs_member *x = &m->members[t->groups[g].member];
        struct rs_otf2_comm *c = &p->comms[x->comm];
        p->lanes[g] = c->lanes = 1;
        if (!is_shown(t, g)) continue;
        c->shown++;
        if (x->rank < MOST_RANKS && x->rank >= c->size) c->size = x->rank + 1;
        if (x->rank >= MOST_RANKS) c->size = INT32_MAX;
    }
    for (uint32_t i = 0; i < m->ncomms; i++) {
        struct rs_otf2_comm *c = &p->comms[i];
        if (!c->lanes) continue;
        if (m->comms[i].nranks > c->size) c->size = m->comms[i].nranks;
        if (c->size > MOST_RANKS || (positions += c->size) > MOST_POSITIONS) c->size = 0;
    }
}

/* The nearest ancestor that is in the archive; RS_NONE: there is none. */
static uint32_t parent_of(const struct rs_otf2_plan *p, uint32_t comm)
{
    const struct rs_model *m = p->t->model;
    uint32_t parent = m->comms[comm].parent.comm;
    for (uint32_t hops = 0; parent < m->ncomms && hops < 64; hops++) {
        if (p->comms[parent].lanes) return parent == comm ? RS_NONE : parent;
        parent = m->comms[parent].parent.comm;
    }
    return RS_NONE;
}

/* Numbers them, parents first. A damaged input may have them in a circle. */
static void order_comms(struct rs_otf2_plan *p)
{
    const struct rs_model *m = p->t->model;
    p->order = rs_alloc(((size_t)m->ncomms + 1) * sizeof *p->order);
    uint32_t *stack = rs_alloc(((size_t)m->ncomms + 1) * sizeof *stack), ref = 0;
    bool *met = rs_zalloc((size_t)m->ncomms + 1, sizeof *met);
    for (uint32_t i = 0; i < m->ncomms; i++) {
        uint32_t n = 0;
        for (uint32_t c = i; c != RS_NONE && p->comms[c].lanes && !met[c]; c = parent_of(p, c)) {
            met[c] = true;
            stack[n++] = c;
        }
        while (n > 0) {
            p->order[p->ncomms++] = stack[--n];
            p->comms[stack[n]].ref = ref;
            ref += (uint32_t)__builtin_popcount(p->comms[stack[n]].lanes);
        }
    }
    free(stack);
    free(met);
}

/* ---- operations ---- */

/* The parts of an operation that are drawn. */
static void take_parts(struct work *w, uint32_t number)
{
    const struct rs_timeline *t = w->p->t;
    const struct rs_model *m = t->model;
    uint32_t op = t->ops[number];
    w->nparts = 0;
    for (uint32_t i = 0; i < m->ops.nparts[op]; i++) {
        uint32_t part = m->order[m->ops.part[op] + i];
        struct rs_otf2_place place;
        if (m->parts.op[part] != op || !rs_otf2_place(t, part, &place)) continue;
        RS_ROOM(w->parts, w->nparts, w->cap_parts);
        w->parts[w->nparts++] = (struct taken){place.start, place.start + place.dur, place.group, part};
    }
}

static int by_end(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->comm != y->comm) return x->comm < y->comm ? -1 : 1;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* Ranks end an operation together, whenever they began it: in the order of ends those of a rank are in order. */
static void list_operations(struct work *w)
{
    const struct rs_timeline *t = w->p->t;
    w->rows = rs_alloc(((size_t)t->nops + 1) * sizeof *w->rows);
    for (uint32_t i = 0; i < t->nops; i++) {
        w->p->lane[i] = RS_OTF2_NO_LANE;
        take_parts(w, i);
        if (!w->nparts) continue;
        struct row row = {w->parts[0].end, comm_of_group(t, w->parts[0].group), i};
        for (uint32_t k = 1; k < w->nparts; k++)
            if (w->parts[k].end > row.end) row.end = w->parts[k].end;
        w->rows[w->n++] = row;
    }
    qsort(w->rows, w->n, sizeof *w->rows, by_end);
}

/* The lowest lane on which all its parts find room; false: there is none, or a rank is in it twice. */
static bool find_lane(struct work *w, uint8_t *lane)
{
    bool twice = false;
    w->stamps++;
    for (uint32_t k = 0; k < w->nparts; k++) {
        uint32_t g = w->parts[k].group;
        if (w->pass[g] != w->passes) memset(w->busy[g], 0, sizeof w->busy[g]);
        w->pass[g] = w->passes;
        twice = twice || w->seen[g] == w->stamps;
        w->seen[g] = w->stamps;
    }
    for (uint8_t s = 0; s < RS_OTF2_LANES && !twice; s++) {
        uint32_t k = 0;
        while (k < w->nparts && w->busy[w->parts[k].group][s] <= w->parts[k].start) k++;
        if (k < w->nparts) continue;
        for (k = 0; k < w->nparts; k++) w->busy[w->parts[k].group][s] = w->parts[k].end;
        *lane = s;
        return true;
    }
    return false;
}

static bool is_pair(const struct work *w, const struct row *row)
{
    return w->p->t->model->ops.kind[w->p->t->ops[row->number]] == RS_OP_PAIR;
}

static bool is_of_one_comm(const struct work *w, uint32_t comm)
{
    for (uint32_t k = 0; k < w->nparts; k++)
        if (comm_of_group(w->p->t, w->parts[k].group) != comm) return false;
    return true;
}

/* Lanes of the operations of one communicator. *crowded: sends and receives found no room. */
static void place_comm(struct work *w, uint32_t from, uint32_t to, bool group_pairs, bool *crowded)
{
    w->passes++;
    *crowded = false;
    for (uint32_t i = from; i < to; i++) {
        uint8_t *lane = &w->p->lane[w->rows[i].number];
        bool pair = is_pair(w, &w->rows[i]);
        take_parts(w, w->rows[i].number);
        *lane = is_of_one_comm(w, w->rows[i].comm) ? RS_OTF2_GROUPED : RS_OTF2_NO_LANE;
        if (*lane == RS_OTF2_NO_LANE || (pair && group_pairs)) continue;
        bool self = pair && w->nparts == 2 && w->parts[0].group == w->parts[1].group;
        if (!find_lane(w, lane) && pair && !self) *crowded = true;
    }
}

/* ---- records ---- */

static bool is_message(const struct work *w, uint32_t size)
{
    const struct rs_timeline *t = w->p->t;
    const struct rs_model *m = t->model;
    if (w->nparts != 2 || !size) return false;
    for (int i = 0; i < 2; i++)
        if (!is_shown(t, w->parts[i].group)) return false;
    uint8_t a = m->parts.kind[w->parts[0].part], b = m->parts.kind[w->parts[1].part];
    return (a == RS_PART_SEND && b == RS_PART_RECV) || (a == RS_PART_RECV && b == RS_PART_SEND);
}

static bool is_backwards(const struct work *w)
{
    bool first = w->p->t->model->parts.kind[w->parts[0].part] == RS_PART_SEND;
    return w->parts[first ? 1 : 0].end < w->parts[first ? 0 : 1].start;
}

/* Every recorded rank is in it, once. */
static bool is_whole(struct work *w, uint32_t shown)
{
    if (w->nparts != shown) return false;
    w->stamps++;
    for (uint32_t k = 0; k < w->nparts; k++) {
        uint32_t g = w->parts[k].group;
        if (!is_shown(w->p->t, g) || w->seen[g] == w->stamps) return false;
        w->seen[g] = w->stamps;
    }
    return true;
}

/* On the lane that is shared, collectives must begin in the same order everywhere. */
static bool is_in_order(struct work *w)
{
    for (uint32_t k = 0; k < w->nparts; k++)
        if (w->parts[k].start < w->last_grouped[w->parts[k].group]) return false;
    for (uint32_t k = 0; k < w->nparts; k++) w->last_grouped[w->parts[k].group] = w->parts[k].start;
    return true;
}

static bool decide(struct work *w, const struct row *row)
{
    const struct rs_timeline *t = w->p->t;
    const struct rs_model *m = t->model;
    struct rs_otf2_counts *n = &w->p->counts;
    const struct rs_otf2_comm *c = &w->p->comms[row->comm];
    uint32_t op = t->ops[row->number];
    if (!is_of_one_comm(w, row->comm)) return n->no_record++, false;
    if (m->ops.kind[op] == RS_OP_PAIR) {
        bool message = is_message(w, (uint32_t)c->size);
        if (message) n->backwards += is_backwards(w);
        return message ? n->messages++ : n->unmatched++, message;
    }
    const struct rs_otf2_kind *kind = rs_otf2_kind(rs_model_text(m, m->ops.func[op]));
    bool no_root = kind && kind->is_rooted && rs_otf2_root(w->p, op, row->comm) < 0;
    if (!kind || !kind->is_collective || !c->size || no_root) return n->no_record++, false;
    if (!is_whole(w, c->shown)) return n->not_whole++, false;
    if (w->p->lane[row->number] == RS_OTF2_GROUPED && !is_in_order(w)) return n->out_of_order++, false;
    return n->collectives++, true;
}

static void finish_comm(struct work *w, uint32_t from, uint32_t to)
{
    struct rs_otf2_plan *p = w->p;
    for (uint32_t i = from; i < to; i++) {
        const struct row *row = &w->rows[i];
        take_parts(w, row->number);
        p->turn[row->number] = w->turns++;
        p->record[row->number] = decide(w, row);
        if (p->lane[row->number] == RS_OTF2_GROUPED && !p->record[row->number]) p->lane[row->number] = RS_OTF2_NO_LANE;
        if (p->lane[row->number] == RS_OTF2_NO_LANE) continue;
        for (uint32_t k = 0; k < w->nparts; k++) {
            uint32_t g = w->parts[k].group, bit = 1u << p->lane[row->number];
            p->lanes[g] |= bit;
            p->comms[comm_of_group(p->t, g)].lanes |= bit;
        }
    }
}

static void place_all(struct work *w)
{
    list_operations(w);
    for (uint32_t from = 0, to; from < w->n; from = to) {
        for (to = from + 1; to < w->n && w->rows[to].comm == w->rows[from].comm;) to++;
        bool crowded;
        place_comm(w, from, to, false, &crowded);
        if (crowded) place_comm(w, from, to, true, &crowded);
        finish_comm(w, from, to);
    }
}

void rs_otf2_plan_init(struct rs_otf2_plan *p, const struct rs_timeline *t)
{
    size_t groups = (size_t)t->ngroups + 1, ops = (size_t)t->nops + 1;
    struct work w = {.p = p};
    *p = (struct rs_otf2_plan){.t = t};
    p->lane = rs_alloc(ops * sizeof *p->lane);
    p->record = rs_zalloc(ops, sizeof *p->record);
    p->turn = rs_zalloc(ops, sizeof *p->turn);
    p->lanes = rs_zalloc(groups, sizeof *p->lanes);
    p->comms = rs_zalloc((size_t)t->model->ncomms + 1, sizeof *p->comms);
    w.busy = rs_zalloc(groups, sizeof *w.busy);
    w.last_grouped = rs_zalloc(groups, sizeof *w.last_grouped);
    w.pass = rs_zalloc(groups, sizeof *w.pass);
    w.seen = rs_zalloc(groups, sizeof *w.seen);
    measure_comms(p);
    place_all(&w);
    order_comms(p);
    free(w.rows);
    free(w.parts);
    free(w.busy);
    free(w.last_grouped);
    free(w.pass);
    free(w.seen);
}

void rs_otf2_plan_free(struct rs_otf2_plan *p)
{
    free(p->lane);
    free(p->record);
    free(p->turn);
    free(p->lanes);
    free(p->comms);
    free(p->order);
    *p = (struct rs_otf2_plan){0};
}

#endif

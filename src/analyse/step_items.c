#include "analyse/step_items.h"

#include <stdlib.h>
#include <string.h>

#include "base/mix.h"
#include "base/room.h"

enum {
    SCALAR = 8192, /* bytes: collectives below that are scalars... */
    SMALL = 16, /* ...if they are also below this part of the largest */
    MANY = 16, /* operations of a kind that show whether sizes come again */
};

struct call {
    int64_t at;
    struct rs_item item;
};

struct work {
    const struct rs_view *view;
    struct rs_step_items *out;
    struct rs_map classes, kinds, symbols;
    uint32_t nkinds, nsymbols;
    bool lossy; /* some process lost records: what a fan-out is called depends on what is left of it */
    uint64_t group; /* of the calls */
    struct call *calls; /* of the group at hand */
    uint32_t ncalls, cap_calls;
};

/* ---- whose ---- */

static bool is_top(const struct rs_model *m, uint32_t op)
{
    return op != RS_NONE && m->ops.over[op] == RS_NONE;
}

/* A rank that several tools saw is that of the process which leads. */
static bool is_own(const struct rs_view *v, uint32_t part, uint32_t rank_id)
{
    uint32_t member = v->model->parts.member[part];
    return v->model->members[member].rank_id == rank_id &&
           v->model->members[member].proc == v->model->ranks[rank_id].proc;
}

static bool is_lossy(const struct rs_view *v, uint32_t rank_id)
{
    const struct rs_proc *p = &v->model->procs[v->model->ranks[rank_id].proc];
    return p->lost || p->overwritten || p->damaged || p->ngaps;
}

/* The one with the most parts; rather one that nothing is lost of, if it has nearly as many. */
static enum rs_status busiest_rank(struct work *w, struct rs_err *err)
{
    const struct rs_view *v = w->view;
    uint32_t *counts = calloc(v->model->nranks + 1, sizeof *counts), best = RS_NONE, whole = RS_NONE;
    if (!counts) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < v->model->parts.n; i++) {
        uint32_t rank_id = v->model->members[v->model->parts.member[i]].rank_id;
        if (rank_id != RS_NONE) counts[rank_id] += is_top(v->model, v->model->parts.op[i]) && is_own(v, i, rank_id);
    }
    for (uint32_t i = 0; i < v->model->nranks; i++) {
        if (!counts[i]) continue;
        if (best == RS_NONE || counts[i] > counts[best]) best = i;
        if (!is_lossy(v, i) && (whole == RS_NONE || counts[i] > counts[whole])) whole = i;
    }
    bool rather = whole != RS_NONE && 10 * (uint64_t)counts[whole] >= 9 * (uint64_t)counts[best];
    w->out->rank_id = rather ? whole : best;
    free(counts);
    return RS_OK;
}

/* ---- items ---- */

static enum rs_status number(struct rs_map *map, uint64_t key, uint32_t *count, uint32_t *id, struct rs_err *err)
{
    uint64_t *found;
    RS_TRY(rs_map_at(map, key, *count, &found, err));
    *count += *found == *count;
    *id = (uint32_t)*found;
    return RS_OK;
}

/* Sizes of point to point and all-to-all change with the data (experts), and what tells sends apart is the way; those of
 * other collectives change with the model only. `rank` is that rank's in the communicator. */
static enum rs_status add(struct work *w, uint32_t op, int32_t rank, struct rs_err *err)
{
    const struct rs_model *m = w->view->model;
    const struct rs_ops *o = &m->ops;
    uint32_t comm = o->comm[op];
    bool sized = o->kind[op] != RS_OP_PAIR && o->kind[op] != RS_OP_FANOUT &&
                 strcmp(rs_model_text(m, o->func[op]), "AlltoAll") != 0;
    uint32_t func = w->lossy && o->kind[op] == RS_OP_FANOUT ? 0 : o->func[op];
    uint64_t class = m->comms[comm].class != RS_NONE ? m->comms[comm].class : UINT64_C(1) << 32 | comm, way = 0;
    if (o->kind[op] == RS_OP_PAIR) {
        int32_t other = o->root[op] == rank ? o->dst[op] : o->root[op];
        way = (uint64_t)(o->root[op] == rank) << 32 | (uint32_t)(other - rank);
    }
    struct rs_item x = {.op = op, .bytes = (float)o->bytes[op], .first = RS_TIME_NONE, .over = RS_TIME_NONE};
    uint32_t nclasses = (uint32_t)rs_map_count(&w->classes);
    RS_TRY(number(&w->classes, class, &nclasses, &x.class, err));
    uint64_t kind = rs_mix(rs_mix(rs_mix(1, class), (uint64_t)o->kind[op] << 16 | func), way);
    RS_TRY(number(&w->kinds, kind, &w->nkinds, &x.kind, err));
    RS_TRY(number(&w->symbols, rs_mix(rs_mix(kind, o->captured[op]), sized ? o->bytes[op] : 0), &w->nsymbols, &x.symbol,
                  err));
    x.scalar = sized && o->bytes[op] < SCALAR;
    x.captured = o->captured[op] != 0;
    int64_t moment = rs_op_moment(m, op);
    if (moment != RS_TIME_NONE) {
        x.first = o->first[op] != RS_TIME_NONE ? o->first[op] : moment;
        x.over = rs_op_over(m, op);
    }
    w->out->rows[w->out->n++] = x;
    return RS_OK;
}

static int by_call(const void *a, const void *b)
{
    const struct call *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->item.op < y->item.op ? -1 : x->item.op > y->item.op;
}

/* Puts the items of one group call, the last ones, into the order of their calls: NCCL sorts them by size. */
static void end_group(struct work *w)
{
    if (w->ncalls > 1) {
        struct rs_item *rows = w->out->rows + w->out->n - w->ncalls;
        for (uint32_t i = 0; i < w->ncalls; i++) w->calls[i].item = rows[i];
        qsort(w->calls, w->ncalls, sizeof *w->calls, by_call);
        for (uint32_t i = 0; i < w->ncalls; i++) {
            rows[i] = w->calls[i].item;
            rows[i].grouped = i > 0;
        }
    }
    w->ncalls = 0;
}

static enum rs_status note_call(struct work *w, uint32_t part, struct rs_err *err)
{
    uint64_t group = w->view->model->parts.group ? w->view->model->parts.group[part] : 0;
    if (!group || group != w->group) end_group(w);
    w->group = group;
    if (!group) return RS_OK;
    RS_ROOM(w->calls, w->ncalls, w->cap_calls, err);
    w->calls[w->ncalls++].at = w->view->model->parts.enqueued[part];
    return RS_OK;
}

/* In program order: parts of a process are. */
static enum rs_status collect_own(struct work *w, struct rs_err *err)
{
    const struct rs_model *m = w->view->model;
    uint8_t *seen = calloc((size_t)m->ops.n / 8 + 1, 1);
    if (!seen) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < m->parts.n && status == RS_OK; i++) {
        uint32_t op = m->parts.op[i];
        if (!is_own(w->view, i, w->out->rank_id) || !is_top(m, op)) continue;
        if (m->ops.kind[op] == RS_OP_PAIR && m->ops.fanout[op] != RS_NONE) op = m->ops.fanout[op];
        if (!is_top(m, op) || (seen[op / 8] >> op % 8 & 1)) continue;
        seen[op / 8] |= (uint8_t)(1 << op % 8);
        status = note_call(w, i, err);
        if (status == RS_OK) status = add(w, op, m->members[m->parts.member[i]].rank, err);
    }
    free(seen);
    if (status == RS_OK) end_group(w);
    return status;
}

/* By time, with what only others saw of the rank's operations. */
static enum rs_status collect_all(struct work *w, struct rs_err *err)
{
    const struct rs_view *v = w->view;
    const struct rs_model *m = v->model;
    uint32_t *member_in = malloc((m->ncomms + 1) * sizeof *member_in);
    if (!member_in) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    enum rs_status status = RS_OK;
    for (uint32_t i = 0; i < m->ncomms; i++) member_in[i] = RS_NONE;
    for (uint32_t i = 0; i < m->nmembers; i++)
        if (m->members[i].rank_id == w->out->rank_id) member_in[m->members[i].comm] = i;
    for (uint32_t i = 0; i < v->nops && status == RS_OK; i++) {
        uint32_t op = v->ops[i], member = member_in[m->ops.comm[op]];
        if (member == RS_NONE) continue;
        int32_t rank = m->members[member].rank;
        if (m->ops.kind[op] != RS_OP_PAIR || m->ops.root[op] == rank || m->ops.dst[op] == rank)
            status = add(w, op, rank, err);
    }
    free(member_in);
    return status;
}

/* ---- the whole ---- */

static void find_pauses(struct rs_step_items *s)
{
    int64_t over = RS_TIME_NONE;
    for (uint32_t i = 0; i < s->n; i++) {
        struct rs_item *x = &s->rows[i];
        int64_t pause = over != RS_TIME_NONE && x->first != RS_TIME_NONE ? rs_time_minus(x->first, over) : 0;
        x->pause = pause > 0 ? pause : 0;
        if (x->over > over) over = x->over;
    }
}

/* What is small among large ones is a scalar. A kind whose sizes depend on the data (a fifth of those in the second half
 * of its operations have not been there in the first) stands for nothing but itself. */
static enum rs_status find_weak(struct work *w, struct rs_err *err)
{
    struct rs_step_items *s = w->out;
    uint32_t *all = calloc(4 * (size_t)w->nkinds + w->nsymbols + 1, sizeof *all), *so_far = all + w->nkinds;
    uint32_t *again = so_far + w->nkinds, *symbol = again + w->nkinds, *seen = symbol + w->nkinds;
    float largest = 0;
    if (!all) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < s->n; i++) {
        all[s->rows[i].kind]++;
        if (s->rows[i].bytes > largest) largest = s->rows[i].bytes;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        const struct rs_item *x = &s->rows[i];
        if (!so_far[x->kind]) symbol[x->kind] = x->symbol;
        if (++so_far[x->kind] <= all[x->kind] / 2)
            seen[x->symbol] = 1;
        else
            again[x->kind] += seen[x->symbol];
    }
    for (uint32_t i = 0; i < s->n; i++) {
        struct rs_item *x = &s->rows[i];
        uint32_t behind = all[x->kind] - all[x->kind] / 2;
        if (x->bytes > largest / SMALL) x->scalar = false;
        if (all[x->kind] < MANY || 5 * (uint64_t)again[x->kind] >= 4 * (uint64_t)behind) continue;
        x->scalar = true;
        x->symbol = symbol[x->kind];
    }
    free(all);
    return RS_OK;
}

static enum rs_status make(struct work *w, struct rs_err *err)
{
    const struct rs_view *v = w->view;
    for (uint32_t i = 0; i < v->model->nranks; i++) w->lossy |= is_lossy(v, i);
    RS_TRY(busiest_rank(w, err));
    if (w->out->rank_id == RS_NONE) return RS_OK;
    if (!(w->out->rows = malloc(((size_t)v->nops + 1) * sizeof *w->out->rows)))
        return rs_fail(err, RS_NO_MEMORY, "out of memory");
    RS_TRY(is_lossy(v, w->out->rank_id) ? collect_all(w, err) : collect_own(w, err));
    find_pauses(w->out);
    return find_weak(w, err);
}

enum rs_status rs_step_items_init(struct rs_step_items *s, const struct rs_view *view, struct rs_err *err)
{
    struct work w = {.view = view, .out = s};
    *s = (struct rs_step_items){.rank_id = RS_NONE};
    enum rs_status status = make(&w, err);
    rs_map_free(&w.classes);
    rs_map_free(&w.kinds);
    rs_map_free(&w.symbols);
    free(w.calls);
    if (status != RS_OK) rs_step_items_free(s);
    return status;
}

void rs_step_items_free(struct rs_step_items *s)
{
    free(s->rows);
    *s = (struct rs_step_items){.rank_id = RS_NONE};
}

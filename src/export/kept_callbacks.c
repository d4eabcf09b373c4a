#include "export/kept_callbacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/room.h"
#include "nccl/abi.h"
#include "timeline/passes.h"

enum { PAGE_BITS = 15, PAGE_WORDS = (1 << PAGE_BITS) / 64 };

/* ---- the set ---- */

static uint64_t *page_of(struct rs_keep_set *s, uint64_t handle)
{
    uint64_t key = handle >> PAGE_BITS;
    if (s->npages && s->last_key == key) return s->bits + (size_t)s->last_page * PAGE_WORDS;
    const uint64_t *at = rs_map_find(&s->pages, key);
    if (!at) return NULL;
    s->last_key = key;
    s->last_page = (uint32_t)*at;
    return s->bits + (size_t)s->last_page * PAGE_WORDS;
}

static bool has(struct rs_keep_set *s, uint64_t handle)
{
    const uint64_t *page = page_of(s, handle);
    return page && (page[handle / 64 % PAGE_WORDS] >> (handle % 64) & 1);
}

static enum rs_status add(struct rs_keep_set *s, uint64_t handle, struct rs_err *err)
{
    uint64_t *page = page_of(s, handle);
    if (!page) {
        if (s->npages == s->cap) {
            uint32_t cap = s->cap ? 2 * s->cap : 16;
            uint64_t *grown = realloc(s->bits, (size_t)cap * PAGE_WORDS * sizeof *grown);
            if (!grown) return rs_fail(err, RS_NO_MEMORY, "out of memory");
            s->bits = grown;
            s->cap = cap;
        }
        memset(s->bits + (size_t)s->npages * PAGE_WORDS, 0, PAGE_WORDS * sizeof *s->bits);
        RS_TRY(rs_map_put(&s->pages, handle >> PAGE_BITS, s->npages++, err));
        page = page_of(s, handle);
    }
    page[handle / 64 % PAGE_WORDS] |= UINT64_C(1) << (handle % 64);
    return RS_OK;
}

bool rs_keep_has(struct rs_keep *k, uint64_t handle)
{
    return k->all || has(&k->set, handle);
}

void rs_keep_free(struct rs_keep *k)
{
    rs_map_free(&k->set.pages);
    free(k->set.bits);
    free(k->stale);
    *k = (struct rs_keep){0};
}

/* ---- what stands above ---- */

enum { ABOVE = RS_GROUP_API | RS_COLL_API | RS_P2P_API | RS_GROUP | RS_KERNEL_LAUNCH };

/* A call, group, plan or launch; or an operation that is kept. */
struct above {
    uint64_t handle, parent;
    uint64_t with; /* of an operation: its plan; of a plan: its launch; 0: none */
    uint64_t context;
    uint32_t number, tid;
    uint32_t type;
    bool wanted; /* an operation that is kept, or the call that is all that is told of one */
};

struct finding {
    struct rs_keep *keep;
    struct rs_timeline *t;
    const uint8_t *ops;
    struct rs_arguments args;
    struct above *rows;
    uint32_t n, cap;
    struct rs_map index; /* handle -> row */
};

static int by_number(const void *a, const void *b)
{
    const struct above *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* A plan is launched by the kernel launch that came last before it, on its thread and of its communicator. */
static enum rs_status tie_launches(struct finding *f, struct rs_err *err)
{
    struct rs_map last = {0}; /* context -> row of the launch */
    enum rs_status status = RS_OK;
    if (f->n) qsort(f->rows, f->n, sizeof *f->rows, by_number);
    for (uint32_t i = 0; i < f->n && status == RS_OK; i++) {
        struct above *x = &f->rows[i];
        status = rs_map_put(&f->index, x->handle, i, err);
        if (status == RS_OK && x->type == RS_KERNEL_LAUNCH) status = rs_map_put(&last, x->context, i, err);
        if (x->type != RS_GROUP) continue;
        const uint64_t *at = rs_map_find(&last, x->context);
        if (at && f->rows[*at].tid == x->tid) x->with = f->rows[*at].handle;
    }
    rs_map_free(&last);
    return status;
}

/* Adds what `handle` names and all above it. */
static enum rs_status climb(struct finding *f, uint64_t handle, struct rs_err *err)
{
    enum { DEPTH = 32 }; /* an operation has a plan, a call and a group above it; damaged ones might go in circles */
    uint64_t waiting[DEPTH] = {handle};
    unsigned n = 1;
    while (n) {
        uint64_t h = waiting[--n];
        if (!h || has(&f->keep->set, h)) continue;
        const uint64_t *at = rs_map_find(&f->index, h);
        if (!at) continue;
        RS_TRY(add(&f->keep->set, h, err));
        if (n + 2 > DEPTH) continue;
        waiting[n++] = f->rows[*at].parent;
        waiting[n++] = f->rows[*at].with;
    }
    return RS_OK;
}

/* ---- finding ---- */

static enum rs_status note_above(struct finding *f, const struct rs_event *e, bool wanted, struct rs_err *err)
{
    bool op = e->type & (RS_COLL | RS_P2P | RS_CE_COLL);
    RS_ROOM(f->rows, f->n, f->cap, err);
    f->rows[f->n++] = (struct above){.handle = e->handle,
                                     .parent = e->parent_handle,
                                     .with = op && e->part != RS_NONE ? f->t->model->parts.launch[e->part] : 0,
                                     .context = e->call ? e->call->context : 0,
                                     .number = e->number,
                                     .tid = e->tid,
                                     .type = (uint32_t)e->type,
                                     .wanted = wanted};
    return RS_OK;
}

/* What belongs to no operation. */
static enum rs_status passes_alone(struct finding *f, const struct rs_event *e, bool *yes, struct rs_err *err)
{
    const struct rs_filter *filter = f->t->options.filter;
    *yes = false;
    if (e->type & (ABOVE | RS_COLL | RS_P2P | RS_CE_COLL)) return RS_OK; /* of no use without their operation */
    if (e->member == RS_NONE && (filter->ncomms || filter->nfuncs || filter->nranks)) return RS_OK;
    if (!rs_filter_time(filter, e->start)) return RS_OK;
    return rs_event_passes(&f->args, f->t, e, yes, err);
}

static enum rs_status visit(void *to, const struct rs_event *e, struct rs_err *err)
{
    struct finding *f = to;
    const struct rs_model *m = f->t->model;
    bool yes = f->keep->all;
    uint32_t op = e->part == RS_NONE ? RS_NONE : m->parts.op[e->part];
    if (!yes && op < m->ops.n)
        yes = f->ops[op];
    else if (!yes)
        RS_TRY(passes_alone(f, e, &yes, err));
    if (yes && e->type == RS_KERNEL_CH && e->stale) {
        RS_ROOM(f->keep->stale, f->keep->nstale, f->keep->cap_stale, err);
        f->keep->stale[f->keep->nstale++] = e->handle;
    }
    if (f->keep->all) return RS_OK;
    bool is_op = e->type & (RS_COLL | RS_P2P | RS_CE_COLL);
    if (e->type & ABOVE || (yes && is_op)) RS_TRY(note_above(f, e, yes, err));
    /* What has parents to be found is added with them, when all are known. */
    return yes && !(e->type & ABOVE) && !is_op ? add(&f->keep->set, e->handle, err) : RS_OK;
}

static enum rs_status add_operations(struct finding *f, struct rs_err *err)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (f->rows[i].wanted) RS_TRY(climb(f, f->rows[i].handle, err));
    return RS_OK;
}

enum rs_status rs_keep_ops(uint8_t **ops, const struct rs_timeline *t, struct rs_err *err)
{
    const struct rs_ops *o = &t->model->ops;
    uint8_t *kept = *ops = calloc((size_t)o->n + 1, 1);
    if (!kept) return rs_fail(err, RS_NO_MEMORY, "out of memory");
    for (uint32_t k = 0; k < t->nops; k++) {
        kept[t->ops[k]] = 1;
        if (o->fanout[t->ops[k]] != RS_NONE) kept[o->fanout[t->ops[k]]] = 1;
    }
    for (uint32_t i = 0; i < o->n; i++)
        if (o->fanout[i] != RS_NONE && kept[o->fanout[i]]) kept[i] = 1;
    return RS_OK;
}

enum rs_status rs_keep_find(struct rs_keep *k, struct rs_timeline *t, uint32_t proc, const uint8_t *ops,
                            struct rs_err *err)
{
    *k = (struct rs_keep){.all = !t->options.filter || rs_filter_is_empty(t->options.filter)};
    struct finding f = {.keep = k, .t = t, .ops = ops};
    rs_arguments_init(&f.args);
    enum rs_status status = rs_events_read(t->model, t->inputs, proc, UINT64_MAX, NULL, visit, &f, err);
    if (status == RS_OK && !k->all) status = tie_launches(&f, err);
    if (status == RS_OK && !k->all) status = add_operations(&f, err);
    rs_arguments_free(&f.args);
    rs_map_free(&f.index);
    free(f.rows);
    return status;
}

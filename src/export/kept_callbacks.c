#include "export/kept_callbacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/memory.h"
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

static void add(struct rs_keep_set *s, uint64_t handle)
{
    uint64_t *page = page_of(s, handle);
    if (!page) {
        if (s->npages == s->cap) {
            uint32_t cap = s->cap ? 2 * s->cap : 16;
            uint64_t *grown = rs_realloc(s->bits, (size_t)cap * PAGE_WORDS * sizeof *grown);
            s->bits = grown;
            s->cap = cap;
        }
        memset(s->bits + (size_t)s->npages * PAGE_WORDS, 0, PAGE_WORDS * sizeof *s->bits);
        rs_map_put(&s->pages, handle >> PAGE_BITS, s->npages++);
        page = page_of(s, handle);
    }
    page[handle / 64 % PAGE_WORDS] |= UINT64_C(1) << (handle % 64);
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

/* ---- ancestors ---- */

enum { ABOVE = RS_GROUP_API | RS_COLL_API | RS_P2P_API | RS_GROUP | RS_KERNEL_LAUNCH };

/* A call, group, plan or launch; or an operation that is kept. */
struct above {
    uint64_t handle, parent;
    uint64_t with; /* of an operation: its plan; of a plan: its launch; 0: none */
    uint64_t context;
    uint32_t number, tid;
    uint32_t type;
    bool wanted; /* an operation that is kept, or the call if that is all that is known of one */
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
static void tie_launches(struct finding *f)
{
    struct rs_map last = {0}; /* context -> row of the launch */
    if (f->n) qsort(f->rows, f->n, sizeof *f->rows, by_number);
    for (uint32_t i = 0; i < f->n; i++) {
        struct above *x = &f->rows[i];
        rs_map_put(&f->index, x->handle, i);
        if (x->type == RS_KERNEL_LAUNCH) rs_map_put(&last, x->context, i);
        if (x->type != RS_GROUP) continue;
        const uint64_t *at = rs_map_find(&last, x->context);
        if (at && f->rows[*at].tid == x->tid) x->with = f->rows[*at].handle;
    }
    rs_map_free(&last);
}

/* Adds what `handle` names and all above it. */
static void climb(struct finding *f, uint64_t handle)
{
    enum { DEPTH = 32 }; /* an operation has a plan, a call and a group above it; damaged ones might go in circles */
    uint64_t waiting[DEPTH] = {handle};
    unsigned n = 1;
    while (n) {
        uint64_t h = waiting[--n];
        if (!h || has(&f->keep->set, h)) continue;
        const uint64_t *at = rs_map_find(&f->index, h);
        if (!at) continue;
        add(&f->keep->set, h);
        if (n + 2 > DEPTH) continue;
        waiting[n++] = f->rows[*at].parent;
        waiting[n++] = f->rows[*at].with;
    }
}

/* ---- finding ---- */

static void note_above(struct finding *f, const struct rs_event *e, bool wanted)
{
    bool op = e->type & (RS_COLL | RS_P2P | RS_CE_COLL);
    RS_ROOM(f->rows, f->n, f->cap);
    f->rows[f->n++] = (struct above){.handle = e->handle,
                                     .parent = e->parent_handle,
                                     .with = op && e->part != RS_NONE ? f->t->model->parts.launch[e->part] : 0,
                                     .context = e->call ? e->call->context : 0,
                                     .number = e->number,
                                     .tid = e->tid,
                                     .type = (uint32_t)e->type,
                                     .wanted = wanted};
}

/* What belongs to no operation. */
static void passes_alone(struct finding *f, const struct rs_event *e, bool *yes)
{
    const struct rs_filter *filter = f->t->options.filter;
    *yes = false;
    if (e->type & (ABOVE | RS_COLL | RS_P2P | RS_CE_COLL)) return; /* of no use without their operation */
    if (e->member == RS_NONE && (filter->ncomms || filter->nfuncs || filter->nranks)) return;
    if (!rs_filter_time(filter, e->start)) return;
    rs_event_passes(&f->args, f->t, e, yes);
}

static enum rs_status visit(void *to, const struct rs_event *e, struct rs_err *err)
{
    (void)err;
    struct finding *f = to;
    const struct rs_model *m = f->t->model;
    bool yes = f->keep->all;
    uint32_t op = e->part == RS_NONE ? RS_NONE : m->parts.op[e->part];
    if (!yes && op < m->ops.n)
        yes = f->ops[op];
    else if (!yes)
        passes_alone(f, e, &yes);
    if (yes && e->type == RS_KERNEL_CH && e->stale) {
        RS_ROOM(f->keep->stale, f->keep->nstale, f->keep->cap_stale);
        f->keep->stale[f->keep->nstale++] = e->handle;
    }
    if (f->keep->all) return RS_OK;
    bool is_op = e->type & (RS_COLL | RS_P2P | RS_CE_COLL);
    if (e->type & ABOVE || (yes && is_op)) note_above(f, e, yes);
    /* What has parents to be found is added with them, when all are known. */
    if (yes && !(e->type & ABOVE) && !is_op) add(&f->keep->set, e->handle);
    return RS_OK;
}

static void add_operations(struct finding *f)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (f->rows[i].wanted) climb(f, f->rows[i].handle);
}

void rs_keep_ops(uint8_t **ops, const struct rs_timeline *t)
{
    const struct rs_ops *o = &t->model->ops;
    uint8_t *kept = *ops = rs_zalloc((size_t)o->n + 1, 1);
    for (uint32_t k = 0; k < t->nops; k++) {
        kept[t->ops[k]] = 1;
        if (o->fanout[t->ops[k]] != RS_NONE) kept[o->fanout[t->ops[k]]] = 1;
    }
    for (uint32_t i = 0; i < o->n; i++)
        if (o->fanout[i] != RS_NONE && kept[o->fanout[i]]) kept[i] = 1;
}

enum rs_status rs_keep_find(struct rs_keep *k, struct rs_timeline *t, uint32_t proc, const uint8_t *ops,
                            struct rs_err *err)
{
    *k = (struct rs_keep){.all = !t->options.filter || rs_filter_is_empty(t->options.filter)};
    struct finding f = {.keep = k, .t = t, .ops = ops};
    rs_arguments_init(&f.args);
    enum rs_status status = rs_events_read(t->model, t->inputs, proc, UINT64_MAX, NULL, visit, &f, err);
    if (status == RS_OK && !k->all) tie_launches(&f);
    if (status == RS_OK && !k->all) add_operations(&f);
    rs_arguments_free(&f.args);
    rs_map_free(&f.index);
    free(f.rows);
    return status;
}

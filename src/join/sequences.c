#include "join/sequences.h"

#include <stdlib.h>

#include "base/memory.h"
#include "base/room.h"

struct item {
    uint64_t place; /* number in its sequence */
    uint32_t comm, a, b, op;
    uint8_t kind;
};

static int by_key(const struct item *x, const struct item *y)
{
    if (x->comm != y->comm) return x->comm < y->comm ? -1 : 1;
    if (x->kind != y->kind) return x->kind < y->kind ? -1 : 1;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

static int by_place(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    int key = by_key(x, y);
    if (key) return key;
    if (x->place != y->place) return x->place < y->place ? -1 : 1;
    return x->op < y->op ? -1 : x->op > y->op;
}

static struct item item_of(const struct rs_ops *o, uint32_t op)
{
    bool pair = o->kind[op] == RS_OP_PAIR;
    return (struct item){.comm = o->comm[op],
                         .kind = o->kind[op],
                         .a = pair ? (uint32_t)o->root[op] : o->func[op],
                         .b = pair ? (uint32_t)o->dst[op] : 0,
                         .place = pair ? o->index[op] : o->seq[op],
                         .op = op};
}

static void cut(struct rs_sequences *s, const struct item *items, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        s->ops[i] = items[i].op;
        if (i && !by_key(&items[i], &items[i - 1])) {
            s->all[s->n - 1].n++;
            continue;
        }
        RS_ROOM(s->all, s->n, s->cap);
        s->all[s->n++] = (struct rs_sequence){
            .comm = items[i].comm, .kind = items[i].kind, .a = items[i].a, .b = items[i].b, .first = i, .n = 1};
    }
}

void rs_sequences_init(struct rs_sequences *s, const struct rs_model *m)
{
    const struct rs_ops *o = &m->ops;
    *s = (struct rs_sequences){0};
    struct item *items = rs_alloc(((size_t)o->n + 1) * sizeof *items);
    s->ops = rs_alloc(((size_t)o->n + 1) * sizeof *s->ops);
    s->of = rs_zalloc((size_t)m->ncomms + 2, sizeof *s->of);
    uint32_t n = 0;
    for (uint32_t i = 0; i < o->n; i++)
        if (o->comm[i] < m->ncomms && o->nparts[i] && !o->captured[i]) items[n++] = item_of(o, i);
    qsort(items, n, sizeof *items, by_place);
    cut(s, items, n);
    for (uint32_t i = 0; i < s->n; i++) s->of[s->all[i].comm + 1]++;
    for (uint32_t c = 0; c < m->ncomms; c++) s->of[c + 1] += s->of[c];
    free(items);
}

void rs_sequences_free(struct rs_sequences *s)
{
    free(s->all);
    free(s->ops);
    free(s->of);
    *s = (struct rs_sequences){0};
}

const struct rs_sequence *rs_sequences_find(const struct rs_sequences *s, uint32_t comm, uint8_t kind, uint32_t a,
                                            uint32_t b)
{
    struct item want = {.comm = comm, .kind = kind, .a = a, .b = b};
    uint32_t low = s->of[comm], high = s->of[comm + 1];
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const struct rs_sequence *x = &s->all[middle];
        struct item is = {.comm = comm, .kind = x->kind, .a = x->a, .b = x->b};
        int order = by_key(&is, &want);
        if (!order) return x;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

#include "export/fanout_ranks.h"

#include <stdlib.h>

#include "base/memory.h"
#include "model/model.h"

/* When a part is drawn from. */
static int64_t begin_of(const struct rs_parts *p, uint32_t part)
{
    if (p->start[part] != RS_TIME_NONE) return p->start[part];
    return p->launched[part] != RS_TIME_NONE ? p->launched[part] : p->enqueued[part];
}

/* Parts of an operation are by rank. */
static void mark(struct rs_fanout_ranks *f, const struct rs_model *m, uint32_t op)
{
    const uint32_t *parts = m->order + m->ops.part[op];
    uint32_t n = m->ops.nparts[op];
    for (uint32_t from = 0, to; from < n; from = to) {
        uint32_t best = RS_NONE;
        int64_t at = RS_TIME_NONE;
        for (to = from; to < n && m->parts.member[parts[to]] == m->parts.member[parts[from]]; to++) {
            int64_t begin = begin_of(&m->parts, parts[to]);
            if (begin == RS_TIME_NONE || (best != RS_NONE && begin >= at)) continue;
            best = parts[to];
            at = begin;
        }
        if (best != RS_NONE) f->bits[best / 64] |= 1ull << (best % 64);
    }
}

void rs_fanout_ranks_init(struct rs_fanout_ranks *f, const struct rs_timeline *t)
{
    const struct rs_model *m = t->model;
    *f = (struct rs_fanout_ranks){0};
    for (uint32_t i = 0; i < t->nops; i++) {
        if (m->ops.kind[t->ops[i]] != RS_OP_FANOUT) continue;
        if (!f->bits) f->bits = rs_zalloc((size_t)m->parts.n / 64 + 1, sizeof *f->bits);
        mark(f, m, t->ops[i]);
    }
}

void rs_fanout_ranks_free(struct rs_fanout_ranks *f)
{
    free(f->bits);
    *f = (struct rs_fanout_ranks){0};
}

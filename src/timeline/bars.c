#include "timeline/bars.h"

void rs_bars_add(struct rs_bars *b, uint32_t *index)
{
    struct rs_bars *t = b;
    RS_COLUMNS_ADD(RS_BAR_COLUMNS, index);
    uint32_t i = *index;
    t->op[i] = t->parent[i] = RS_BAR_NONE;
    t->a1[i] = t->a2[i] = t->a3[i] = t->a4[i] = t->a5[i] = t->a6[i] = RS_BAR_NO_ARG;
}

enum rs_status rs_bars_too_many(struct rs_err *err)
{
    return rs_fail(err, RS_BAD_INPUT, "more than four billion bars; select fewer rows or ranks, or a span of time");
}

void rs_bars_clear(struct rs_bars *b)
{
    b->n = b->nlanes = b->nedges = b->nparts = 0;
}

void rs_bars_free(struct rs_bars *b)
{
    struct rs_bars *t = b;
    RS_COLUMNS_FREE(RS_BAR_COLUMNS)
    free(b->lanes);
    free(b->edges);
    free(b->parts);
    *b = (struct rs_bars){0};
}

#include "timeline/opening.h"

#include <stdlib.h>

#include "base/bisect.h"

const struct rs_row_mark *rs_opening_mark(const struct rs_opening *o, uint32_t group)
{
    uint32_t low = 0, high = o ? o->nmarks : 0;
    RS_BISECT(low, high, mid, o->marks[mid].group < group);
    return o && low < o->nmarks && o->marks[low].group == group ? &o->marks[low] : NULL;
}

void rs_opening_free(struct rs_opening *o)
{
    for (uint32_t i = 0; i < o->nmarks; i++) free(o->marks[i].text);
    free(o->marks);
    free(o->verdict);
    free(o->waits);
    free(o->figures);
    *o = (struct rs_opening){0};
}

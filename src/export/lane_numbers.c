#include "export/lane_numbers.h"

#include <stdlib.h>

#include "base/room.h"

void rs_lane_numbers_clear(struct rs_lane_numbers *x)
{
    x->n = 0;
}

void rs_lane_number(struct rs_lane_numbers *x, const struct rs_bar_lane *lane, uint64_t **number)
{
    while (x->n <= lane->id) {
        RS_ROOM(x->of, x->n, x->cap);
        x->of[x->n++] = 0;
    }
    *number = &x->of[lane->id];
}

void rs_lane_numbers_free(struct rs_lane_numbers *x)
{
    free(x->of);
    *x = (struct rs_lane_numbers){0};
}

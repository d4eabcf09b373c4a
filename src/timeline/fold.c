#include "timeline/fold.h"

enum rs_status rs_pixels_make(struct rs_pixels *s, unsigned width, struct rs_err *err)
{
    (void)err;
    *s = (struct rs_pixels){.width = width};
    return RS_OK;
}

void rs_pixels_clear(struct rs_pixels *s)
{
    (void)s;
}

void rs_pixels_free(struct rs_pixels *s)
{
    *s = (struct rs_pixels){0};
}

void rs_fold(const struct rs_bars *b, const struct rs_bar_lane *lane, double t0, double scale, struct rs_pixels *s)
{
    (void)b, (void)lane, (void)t0, (void)scale, (void)s;
}

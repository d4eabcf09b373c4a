#include "view/fold.h"

enum rs_status rs_scan_make(struct rs_scan *s, unsigned width, struct rs_err *err)
{
    (void)err;
    *s = (struct rs_scan){.width = width};
    return RS_OK;
}

void rs_scan_clear(struct rs_scan *s)
{
    (void)s;
}

void rs_scan_free(struct rs_scan *s)
{
    *s = (struct rs_scan){0};
}

void rs_fold(const struct rs_bars *b, const struct rs_bar_lane *lane, double t0, double scale, struct rs_scan *s)
{
    (void)b, (void)lane, (void)t0, (void)scale, (void)s;
}

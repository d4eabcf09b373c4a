/* The ruler of a picture: positions and labels of its ticks. Pure functions. */
#ifndef RS_PICTURE_RULER_H
#define RS_PICTURE_RULER_H

#include <stddef.h>
#include <stdint.h>

struct rs_ruler {
    int64_t from, to; /* ns from the begin of the timeline */
    int64_t step; /* 1, 2 or 5 times a power of ten */
    int64_t first; /* tick; the others follow by `step` */
    int64_t base; /* origin of the labels: 0, or the first tick if t = 0 is far away */
    int64_t unit; /* ns */
};

/* At most `ticks` of them, 1 at least. */
struct rs_ruler rs_ruler_make(int64_t from, int64_t to, unsigned ticks);
/* "1.5 ms", "+20 us" if the base is not 0. */
void rs_ruler_label(const struct rs_ruler *r, int64_t at, char *out, size_t size);
/* "t = 3.201200 s": the time of +0; "" if the base is 0. */
void rs_ruler_base(const struct rs_ruler *r, char *out, size_t size);

#endif

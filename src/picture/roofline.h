/* A picture of achieved bus bandwidth against the possible, by size: a roofline of links. Both axes are logarithmic.
 *
 * A filled mark is the bandwidth after the last rank had started, a hollow one that which the ranks saw; the line between
 * them is waiting. Lines are the reference of a series, a dotted horizontal one the nominal rate of a link. Borrows
 * everything. */
#ifndef RS_PICTURE_ROOFLINE_H
#define RS_PICTURE_ROOFLINE_H

#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

struct rs_roof_mark {
    double bytes;
    double gbs, seen_gbs; /* NAN: unknown */
    const char *text; /* tooltip */
};

struct rs_roof_point {
    double bytes, gbs;
};

/* A function on communicators of one size. */
struct rs_roof_series {
    const char *name;
    const struct rs_roof_mark *marks;
    uint32_t nmarks;
    const struct rs_roof_point *reference; /* by bytes */
    uint32_t nreference;
};

struct rs_roofline {
    const char *title;
    const struct rs_roof_series *series;
    uint32_t n;
    double link_gbs; /* NAN: none */
};

/* As SVG; `name` of the file is for messages. Fails when there is nothing to draw. */
enum rs_status rs_roofline_svg(const struct rs_roofline *r, FILE *out, const char *name, struct rs_err *err);

#endif

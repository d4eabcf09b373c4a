/* Folding: the bars of a lane onto the pixels of a row.
 *
 * A bar wider than a pixel is drawn as it is; for narrower ones, a pixel shows how much of it is covered and by which
 * kind most. The page does the same in viewer/src/timeline/fold.ts: tests/data/fold.json, written here, is checked
 * there. Owned by the caller; any thread, each with its own. */
#ifndef RS_TIMELINE_PIXELS_H
#define RS_TIMELINE_PIXELS_H

#include "timeline/bars.h"

enum rs_shade {
    RS_SHADE_WAIT = 1, /* waiting for the last rank: paler */
    RS_SHADE_FADE = 2, /* between the bounds of an end: `cover` decreases */
    RS_SHADE_LOST = 4,
    RS_SHADE_NOT_RECORDED = 8,
    RS_SHADE_EDGE = 16, /* a bar begins here */
};

struct rs_pixels {
    unsigned width;
    uint8_t *kind; /* 0: nothing; else kind + 1 */
    float *cover, *most; /* 0..1: covered; covered by the bar that determines the kind */
    uint8_t *shade; /* enum rs_shade */
};

void rs_pixels_init(struct rs_pixels *s, unsigned width);
void rs_pixels_free(struct rs_pixels *s);

/* Adds the lane's bars: pixel x covers t0 + x / scale ... (ns). */
void rs_pixels_add(const struct rs_bars *b, const struct rs_bar_lane *lane, double t0, double scale,
                   struct rs_pixels *s);

#endif

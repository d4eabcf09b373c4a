/* A picture of the timeline: SVG, PNG, or text for a terminal. The same rows and bars as on the page, for one span of
 * time.
 *
 * Each back end draws through picture/canvas.h what picture/layout.h placed. One thread at a time. */
#ifndef RS_PICTURE_PICTURE_H
#define RS_PICTURE_PICTURE_H

#include <stdio.h>

#include "timeline/timeline.h"

enum rs_picture_format { RS_PICTURE_SVG, RS_PICTURE_PNG, RS_PICTURE_TEXT };

enum rs_picture_relations { RS_RELATIONS_NONE, RS_RELATIONS_FEW, RS_RELATIONS_ALL }; /* few: as many as stay readable */

enum { RS_PICTURE_WIDEST = 10000 };

struct rs_picture_options {
    enum rs_picture_format format;
    const char *title;
    const char *const *sentences; /* the conclusion, drawn below; the caller's */
    uint32_t nsentences;
    unsigned width; /* pixels, or columns of text, RS_PICTURE_WIDEST at most; 0: the default */
    bool dark;
    bool fold; /* one row per GPU; else one per lane */
    bool colour; /* text: with escapes for a terminal */
    bool ascii; /* text: no block characters */
    bool all; /* text: all GPUs, however many; else those that waited most, or were last */
    enum rs_picture_relations relations;
    bool has_span;
    int64_t from, to; /* ns from the begin of the timeline; if not set: its focus */
};

/* Draws all processes of the timeline (no bars made yet). Names from a trace are text, whatever they contain. *bars:
 * the total, also outside the span; if 0, nothing is written. */
enum rs_status rs_picture_draw(struct rs_timeline *t, const struct rs_picture_options *options, FILE *out,
                               const char *name, uint64_t *bars, struct rs_err *err);

#endif

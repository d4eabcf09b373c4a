/* The positions of everything in a picture: headings, rows, ruler, legend and notes.
 *
 * Owned by the struct until rs_layout_free(); its texts are clean (picture/words.h). One thread at a time. */
#ifndef RS_PICTURE_LAYOUT_H
#define RS_PICTURE_LAYOUT_H

#include "picture/canvas.h"
#include "picture/picture.h"
#include "picture/rows.h"
#include "picture/ruler.h"

struct rs_layout_heading {
    uint32_t before; /* the row below it */
    uint32_t group; /* the innermost that it names */
    unsigned depth; /* of the outermost group that it names */
    double y, height;
    char text[160];
};

/* What a legend explains besides kinds. */
enum rs_legend_what {
    RS_LEGEND_KIND, /* of operations, compute... */
    RS_LEGEND_WAIT,
    RS_LEGEND_LAST,
    RS_LEGEND_FADE,
    RS_LEGEND_START_UNKNOWN,
    RS_LEGEND_OPEN,
    RS_LEGEND_LOST,
    RS_LEGEND_NOT_RECORDED,
    RS_LEGEND_MISMATCH,
    RS_LEGEND_CREATED, /* flags of communicators */
    RS_LEGEND_DESTROYED,
    RS_LEGEND_SAME_OP,
    RS_LEGEND_ARROW,
    RS_LEGEND_PARENT,
    RS_LEGEND_WHATS
};

struct rs_layout_legend {
    enum rs_legend_what what;
    uint8_t kind;
    double x, y; /* top left of the sample; its size is RS_SAMPLE_WIDTH x RS_SAMPLE_HEIGHT */
    char text[48];
};

enum { RS_SAMPLE_WIDTH = 18, RS_SAMPLE_HEIGHT = 11, RS_LAYOUT_MARGIN = 12 }; /* pixels */

struct rs_layout {
    double width, height;
    struct rs_box plot; /* rows and time */
    struct rs_ruler ruler;
    struct rs_layout_heading *headings;
    uint32_t nheadings, cap_headings;
    struct rs_layout_legend *legend;
    uint32_t nlegend, cap_legend;
    double legend_y, footer_y, conclusion_y;
    const char *const *sentences; /* of the conclusion: the caller's of the picture */
    uint32_t nsentences;
    char title[200];
    char footer[400]; /* clocks, what was omitted */
};

/* Width of the time axis in a picture of this width: known before the rows are. */
unsigned rs_layout_plot_width(const struct rs_timeline *t, const struct rs_picture_options *o);
/* Sets y and height of the rows. `relations`: bits 1 << RS_LEGEND_SAME_OP etc. of those that are drawn. */
void rs_layout_init(struct rs_layout *l, struct rs_picture_rows *rows, const struct rs_picture_options *o,
                    unsigned relations);
/* Headings, legend and footer, without positions: for text. */
void rs_layout_words(struct rs_layout *l, const struct rs_picture_rows *rows, const struct rs_picture_options *o,
                     unsigned relations);
void rs_layout_free(struct rs_layout *l);

/* Where a bar is drawn: from start to end, clipped to the plot. Waits are part of it, fades follow it. */
double rs_layout_x(const struct rs_layout *l, int64_t at);
struct rs_box rs_layout_bar(const struct rs_layout *l, const struct rs_picture_row *row,
                            const struct rs_picture_bar *bar);
/* The part of a row for operations, or for compute; all of an open row. */
struct rs_box rs_layout_strip(const struct rs_layout *l, const struct rs_picture_row *row, bool lower);

#endif

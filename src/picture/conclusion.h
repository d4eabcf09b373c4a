/* The sentences of the report below a picture, wrapped. Functions without state; any thread. */
#ifndef RS_PICTURE_CONCLUSION_H
#define RS_PICTURE_CONCLUSION_H

#include "picture/layout.h"
#include "picture/palette.h"

/* The next line of a text of at most `columns`, broken between words, clean; *text becomes the rest, behind the space.
 * False: there is no more. */
bool rs_conclusion_line(const char **text, unsigned columns, char *line, size_t size);

/* The height of all of it at a width, pixels; 0: there are no sentences. */
double rs_conclusion_height(const struct rs_picture_options *o, double width);
/* Draws it from layout.conclusion_y on. */
void rs_conclusion_paint(struct rs_canvas *c, const struct rs_layout *l, const struct rs_theme *theme);

#endif

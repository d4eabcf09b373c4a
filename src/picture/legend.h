/* The legend of a picture: only the kinds and marks that occur in it. */
#ifndef RS_PICTURE_LEGEND_H
#define RS_PICTURE_LEGEND_H

#include "picture/layout.h"

/* Fills l->legend, without positions. */
void rs_legend_make(struct rs_layout *l, const struct rs_picture_rows *rows, unsigned relations);
/* Whether a communicator's flag is visible, and on which row (folded: its GPU's; open: the first of its group). */
bool rs_legend_flag_row(const struct rs_picture_rows *rows, const struct rs_timeline_flag *flag, uint32_t *row);

#endif

/* Bars of one row that overlap share its height. Pure functions of the row's bars. */
#ifndef RS_PICTURE_SLOTS_H
#define RS_PICTURE_SLOTS_H

#include "picture/rows.h"

enum { RS_SLOTS = 6 }; /* at most, side by side in one row: what is more lies over others */

/* Puts the row's bars in order of their start. */
void rs_slots_sort(struct rs_picture_row *row);
/* Sets slot and slots of each bar, which are sorted. Operations share among themselves, and all else among itself. */
void rs_slots_share(struct rs_picture_row *row);

#endif

/* The ranks of one operation, and how far each came in it. Inner part of hang.c. */
#ifndef RS_ANALYSE_HANG_ROWS_H
#define RS_ANALYSE_HANG_ROWS_H

#include "analyse/hang_state.h"

/* Fills s->rows with all ranks of an operation, by rank; of a pair: sender, receiver. */
void rs_hang_rows_find(struct rs_hang_state *s, uint32_t op);

#endif

/* An array that grows one row at a time.
 *
 *     RS_ROOM(list->rows, list->n, list->cap);
 *     list->rows[list->n++] = row;
 *
 * Sizes double. realloc() moves pages, not bytes, once an array is large, and pages that are not touched take no
 * memory. Rows may move: pointers into the array are valid until it grows. */
#ifndef RS_BASE_ROOM_H
#define RS_BASE_ROOM_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Makes room for row `n`; *cap is the number of rows allocated. At four billion rows the program ends. */
void rs_room(void **rows, uint32_t n, uint32_t *cap, size_t bytes);

#define RS_ROOM(rows, n, cap)                                                                                          \
    do {                                                                                                               \
        if ((n) < (cap)) break;                                                                                        \
        void *room_ = (rows);                                                                                          \
        rs_room(&room_, n, &(cap), sizeof *(rows));                                                                    \
        (rows) = room_;                                                                                                \
    } while (0)

#endif

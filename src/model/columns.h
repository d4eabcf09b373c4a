/* Tables of millions of rows, one array per column: a list X(type, name) of columns declares them, adds a row, and
 * frees them. In a function that uses RS_COLUMNS_ADD() or RS_COLUMNS_FREE() the table is called `t`; it has the fields
 * n and cap. */
#ifndef RS_MODEL_COLUMNS_H
#define RS_MODEL_COLUMNS_H

#include <stdlib.h>

#include "base/room.h"

#define RS_COLUMN(type, name) type *name; /* inside a struct */

#define RS_COLUMN_GROW(type, name)                                                                                     \
    {                                                                                                                  \
        cap_ = t->cap; /* the same for all columns */                                                                  \
        RS_ROOM(t->name, t->n, cap_);                                                                                  \
    }
#define RS_COLUMN_ZERO(type, name) t->name[row_] = (type)0;
#define RS_COLUMN_FREE(type, name) free(t->name);

/* *index is a new row, zeroed. */
#define RS_COLUMNS_ADD(COLUMNS, index)                                                                                 \
    do {                                                                                                               \
        if (t->n == t->cap) {                                                                                          \
            uint32_t cap_ = t->cap;                                                                                    \
            COLUMNS(RS_COLUMN_GROW)                                                                                    \
            t->cap = cap_;                                                                                             \
        }                                                                                                              \
        uint32_t row_ = *(index) = t->n++;                                                                             \
        COLUMNS(RS_COLUMN_ZERO)                                                                                        \
    } while (0)

#define RS_COLUMNS_FREE(COLUMNS) COLUMNS(RS_COLUMN_FREE)

#endif

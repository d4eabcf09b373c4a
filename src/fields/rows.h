/* What makes the data of a table out of its file of rows: for the files fields/NAME.c alone, which say before each what
 * RS_ROW is, the struct that `r` points to, and a name for its getters.
 *
 *     #define RS_ROW struct rs_op_row
 *     #define RS_GET(id) op_##id
 *     #define FIELD RS_GETTER
 *     #include "fields/operation.inc"
 *     #undef FIELD
 *     #define FIELD RS_FIELD
 *     static const struct rs_out_field operation[] = {
 *     #include "fields/operation.inc"
 *     };
 */
#ifndef RS_FIELDS_ROWS_H
#define RS_FIELDS_ROWS_H

#include "fields/field.h"

#define RS_GETTER(id, type_, unit_, in_, value, ...)                                                                   \
    static struct rs_value RS_GET(id)(const void *row)                                                                 \
    {                                                                                                                  \
        const RS_ROW *r = row;                                                                                         \
        (void)r;                                                                                                       \
        return value;                                                                                                  \
    }
#define RS_FIELD(id, type_, unit_, in_, value, ...)                                                                    \
    {.name = #id, .type = RS_OUT_##type_, .unit = RS_OUT_##unit_, .in = in_, .get = RS_GET(id), __VA_ARGS__},

#endif

/* What makes the data of a table out of its file of rows: for the files fields/NAME.c alone, which say before each what
 * RS_ROW is, the struct that `r` points to, and a name for its getters.
 *
 *     #define RS_ROW struct rs_op_row
 *     #define RS_GET(id) op_##id
 *     #define FIELD_AS RS_GETTER
 *     #include "fields/operation.inc"
 *     #undef FIELD_AS
 *     #define FIELD_AS RS_FIELD
 *     static const struct rs_out_field operation[] = {
 *     #include "fields/operation.inc"
 *     };
 */
#ifndef RS_FIELDS_ROWS_H
#define RS_FIELDS_ROWS_H

#include "fields/field.h"

/* clang-format off */
#define RS_GETTER(id, name_, type_, unit_, in_, value, ...)                                                            \
    static struct rs_value RS_GET(id)(const void *row)                                                                 \
    {                                                                                                                  \
        const RS_ROW *r = row;                                                                                         \
        (void)r;                                                                                                       \
        return value;                                                                                                  \
    }
#define RS_FIELD(id, name_, type_, unit_, in_, value, ...)                                                             \
    {.name = name_, .name_len = sizeof name_ - 1, .type = RS_OUT_##type_, .unit = RS_OUT_##unit_, .in = in_,           \
     .get = RS_GET(id), __VA_ARGS__},
/* clang-format on */

#endif

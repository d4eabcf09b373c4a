/* Values taken out of an object that the scanner is in, whatever is there instead.
 *
 *     unsigned depth = rs_json_take_into(s, RS_T_OBJECT);
 *     while (depth && rs_json_take_key(s, depth)) {
 *         if (rs_scan_is(s, "rank")) rs_json_take_i64(s, &rank);
 *         else rs_scan_skip(s);
 *     }
 *
 * An object or a list where a plain value is expected is passed over. One thread at a time. */
#ifndef RS_FOREIGN_JSON_FIELDS_H
#define RS_FOREIGN_JSON_FIELDS_H

#include "base/scan.h"

/* Goes into the object or array that comes next and returns its depth; 0 when something else comes, which is passed
 * over. */
unsigned rs_json_take_into(struct rs_scan *s, enum rs_token wanted);
/* Whether another key of the object at `depth` comes; its value is next. */
bool rs_json_take_key(struct rs_scan *s, unsigned depth);
/* Whether another object of the array at `depth` comes; the scanner is in it. */
bool rs_json_take_object(struct rs_scan *s, unsigned depth);

/* Of numbers that are never negative: -1 when it is none. */
void rs_json_take_i64(struct rs_scan *s, int64_t *v);
void rs_json_take_fixed(struct rs_scan *s, unsigned digits, int64_t *v); /* times 10^digits */
void rs_json_take_u64(struct rs_scan *s, uint64_t *v); /* 0 when it is none; 0x too, in quotes or not */
void rs_json_take_double(struct rs_scan *s, double *v); /* "nan" in quotes, bare inf; NaN when it is none */
void rs_json_take_bool(struct rs_scan *s, bool *v); /* true or not */
void rs_json_take_text(struct rs_scan *s, char *to, size_t bytes); /* cut to fit */

#endif

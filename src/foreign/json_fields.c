#include "foreign/json_fields.h"

#include <math.h>

/* Whether the next value is a plain one; anything else is passed over. */
static bool plain(struct rs_scan *s)
{
    enum rs_token t = rs_scan_next(s);
    if (t == RS_T_OBJECT || t == RS_T_ARRAY) rs_scan_leave(s, s->depth);
    return t == RS_T_STRING || t == RS_T_NUMBER || t == RS_T_WORD;
}

unsigned rs_json_take_into(struct rs_scan *s, enum rs_token wanted)
{
    enum rs_token t = rs_scan_next(s);
    if (t == wanted) return s->depth;
    if (t == RS_T_OBJECT || t == RS_T_ARRAY) rs_scan_leave(s, s->depth);
    return 0;
}

bool rs_json_take_key(struct rs_scan *s, unsigned depth)
{
    for (;;) {
        if (s->depth < depth) return false; /* a value was missing, and its object is closed */
        enum rs_token t = rs_scan_next(s);
        if (t == RS_T_END || s->depth < depth) return false;
        if (t == RS_T_KEY && s->depth == depth) return true;
    }
}

bool rs_json_take_object(struct rs_scan *s, unsigned depth)
{
    for (;;) {
        if (s->depth < depth) return false;
        enum rs_token t = rs_scan_next(s);
        if (t == RS_T_END || s->depth < depth) return false;
        if (t == RS_T_OBJECT && s->depth == depth + 1) return true;
    }
}

void rs_json_take_fixed(struct rs_scan *s, unsigned digits, int64_t *v)
{
    if (!plain(s) || !rs_scan_fixed(s, digits, v) || *v < 0) *v = -1;
}

void rs_json_take_i64(struct rs_scan *s, int64_t *v)
{
    rs_json_take_fixed(s, 0, v);
}

void rs_json_take_u64(struct rs_scan *s, uint64_t *v)
{
    if (!plain(s) || !rs_scan_u64(s, v)) *v = 0;
}

void rs_json_take_double(struct rs_scan *s, double *v)
{
    if (!plain(s) || !rs_scan_double(s, v)) *v = NAN;
}

void rs_json_take_bool(struct rs_scan *s, bool *v)
{
    *v = plain(s) && rs_scan_is(s, "true");
}

void rs_json_take_text(struct rs_scan *s, char *to, size_t bytes)
{
    to[0] = 0;
    if (plain(s)) rs_scan_text(s, to, bytes);
}

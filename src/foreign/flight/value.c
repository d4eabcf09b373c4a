#include "foreign/flight/value.h"

#include <math.h>
#include <string.h>

enum { MOST_LEVELS = 64, MOST_ARGUMENTS = 16 /* of a tag that are looked at: a damaged one may hold millions */ };

static void *take(struct rs_value_builder *b, size_t bytes)
{
    if (bytes > b->most || b->held > b->most - bytes) return NULL;
    void *piece = rs_arena_alloc(b->arena, bytes);
    b->held += bytes;
    return piece;
}

struct rs_value *rs_value_new(struct rs_value_builder *b, enum rs_value_kind kind)
{
    struct rs_value *v = take(b, sizeof *v);
    if (v) v->kind = (uint8_t)kind;
    return v;
}

char *rs_value_chars(struct rs_value_builder *b, size_t n)
{
    return n < SIZE_MAX ? take(b, n + 1) : NULL;
}

bool rs_value_add(struct rs_value_builder *b, struct rs_value *to, struct rs_value *item)
{
    if (to->n == to->cap) {
        if (to->cap > UINT32_MAX / 2) return false;
        uint32_t cap = to->cap ? to->cap * 2 : 2;
        struct rs_value **grown = take(b, cap * sizeof *grown);
        if (!grown) return false;
        if (to->n) memcpy(grown, to->items, to->n * sizeof *grown);
        to->items = grown;
        to->cap = cap;
    }
    to->items[to->n++] = item;
    return true;
}

/* ---- from JSON ---- */

static struct rs_value *scanned_text(struct rs_value_builder *b, const struct rs_scan *s)
{
    struct rs_value *v = rs_value_new(b, RS_V_TEXT);
    char *text = v && s->n < UINT32_MAX - 8 ? rs_value_chars(b, s->n + 8)
                                            : NULL; /* an escape is never shorter than its meaning */
    if (!text) return NULL;
    v->n = (uint32_t)rs_scan_text(s, text, s->n + 8);
    v->text = text;
    return v;
}

static struct rs_value *scanned_word(struct rs_value_builder *b, const struct rs_scan *s, enum rs_token token)
{
    bool yes = rs_scan_is(s, "true");
    struct rs_value *v = rs_value_new(b, RS_V_NONE);
    if (!v || rs_scan_is(s, "null") || rs_scan_is(s, "None")) return v;
    if (token == RS_T_WORD && (yes || rs_scan_is(s, "false"))) {
        v->kind = RS_V_BOOL;
        v->i = yes;
    } else if (memchr(s->text, '.', s->n) || memchr(s->text, 'e', s->n) || !rs_scan_i64(s, &v->i)) {
        v->kind = RS_V_DOUBLE;
        if (!rs_scan_double(s, &v->d)) return scanned_text(b, s);
    } else {
        v->kind = RS_V_INT;
    }
    return v;
}

static bool scan_level(struct rs_value_builder *b, struct rs_scan *s, unsigned level, struct rs_value **value,
                       bool *end)
{
    enum rs_token token = rs_scan_next(s);
    *value = NULL;
    *end = token == RS_T_CLOSE || token == RS_T_END;
    if (*end) return true;
    if (token == RS_T_STRING || token == RS_T_KEY) return (*value = scanned_text(b, s));
    if (token == RS_T_NUMBER || token == RS_T_WORD) return (*value = scanned_word(b, s, token));
    struct rs_value *v = *value = rs_value_new(b, token == RS_T_OBJECT ? RS_V_DICT : RS_V_LIST);
    if (!v) return false;
    if (level == MOST_LEVELS) {
        rs_scan_leave(s, s->depth);
        v->kind = RS_V_NONE;
        return true;
    }
    for (bool over = false; !over;) {
        struct rs_value *item;
        if (!scan_level(b, s, level + 1, &item, &over)) return false;
        if (!over && !rs_value_add(b, v, item)) return false;
    }
    if (v->kind == RS_V_DICT) v->n -= v->n % 2;
    v->cut = s->cut;
    return true;
}

bool rs_value_scan(struct rs_value_builder *b, struct rs_scan *s, struct rs_value **value, bool *end)
{
    return scan_level(b, s, 0, value, end);
}

/* ---- what they say ---- */

/* A text that can be a number is short; many places may name one long text. */
static struct rs_scan as_number(const struct rs_value *v)
{
    bool can = v->kind == RS_V_TEXT && v->n <= 64;
    return (struct rs_scan){.text = can ? v->text : "", .n = can ? v->n : 0};
}

const struct rs_value *rs_value_plain(const struct rs_value *v)
{
    if (!v || v->kind != RS_V_TAG) return v;
    for (uint32_t i = v->n; i-- && v->n - i <= MOST_ARGUMENTS;)
        if (v->items[i]->kind == RS_V_LIST || v->items[i]->kind == RS_V_DICT) return v->items[i];
    return v;
}

bool rs_value_is_list(const struct rs_value *v)
{
    return v && (v->kind == RS_V_LIST || v->kind == RS_V_TUPLE);
}

bool rs_value_is(const struct rs_value *v, const char *text)
{
    return v && v->kind == RS_V_TEXT && strlen(text) == v->n && !memcmp(v->text, text, v->n);
}

const struct rs_value *rs_value_get(const struct rs_value *dict, const char *key)
{
    if (!dict || dict->kind != RS_V_DICT) return NULL;
    for (uint32_t i = dict->n; i >= 2; i -= 2)
        if (rs_value_is(dict->items[i - 2], key)) return rs_value_plain(dict->items[i - 1]);
    return NULL;
}

int64_t rs_value_i64(const struct rs_value *v, int64_t otherwise)
{
    int64_t i;
    if (!v) return otherwise;
    const struct rs_scan s = as_number(v);
    switch (v->kind) {
    case RS_V_BOOL:
    case RS_V_INT: return v->i;
    case RS_V_DOUBLE: return v->d > -9e18 && v->d < 9e18 ? (int64_t)llround(v->d) : otherwise;
    case RS_V_TEXT: return rs_scan_i64(&s, &i) ? i : otherwise;
    default: return otherwise;
    }
}

double rs_value_double(const struct rs_value *v, double otherwise)
{
    double d;
    if (!v) return otherwise;
    const struct rs_scan s = as_number(v);
    switch (v->kind) {
    case RS_V_BOOL:
    case RS_V_INT: return (double)v->i;
    case RS_V_DOUBLE: return v->d;
    case RS_V_TEXT: return rs_scan_double(&s, &d) ? d : otherwise;
    default: return otherwise;
    }
}

#include "foreign/flight/pickle_machine.h"

#include <string.h>

#include "base/room.h"

enum rs_status rs_pickle_bad(const struct rs_pickle_machine *m, const char *why)
{
    return rs_fail(m->err, RS_BAD_INPUT, "%s: at byte %zu: pickle: %s", m->path, m->op_at, why);
}

enum rs_status rs_pickle_too_much(const struct rs_pickle_machine *m)
{
    return rs_fail(m->err, RS_NO_MEMORY, "%s: at byte %zu: pickle: no memory for its values (at most %u MiB)", m->path,
                   m->op_at, (unsigned)(RS_PICKLE_MOST_BYTES >> 20));
}

/* ---- operands ---- */

/* The next `n` bytes, NULL when there are fewer. */
const uint8_t *rs_pickle_operand(struct rs_pickle_machine *m, uint64_t n)
{
    if (n > m->n - m->at) return NULL;
    const uint8_t *p = m->bytes + m->at;
    m->at += (size_t)n;
    return p;
}

/* A little-endian number of up to 8 bytes. */
bool rs_pickle_number(struct rs_pickle_machine *m, unsigned bytes, uint64_t *v)
{
    const uint8_t *p = rs_pickle_operand(m, bytes);
    *v = 0;
    for (unsigned i = 0; p && i < bytes; i++) *v |= (uint64_t)p[i] << (8 * i);
    return p;
}

/* A text up to the end of the line; NULL when the line does not end. */
const char *rs_pickle_line(struct rs_pickle_machine *m, size_t *n)
{
    const char *text = (const char *)m->bytes + m->at;
    const char *end = memchr(text, '\n', m->n - m->at);
    if (!end) return NULL;
    *n = (size_t)(end - text);
    m->at += *n + 1;
    if (*n && text[*n - 1] == '\r') --*n;
    return text;
}

const char rs_pickle_cut[] = "cut off here";

/* ---- the stack ---- */

enum rs_status rs_pickle_push(struct rs_pickle_machine *m, struct rs_value *v)
{
    if (!v) return rs_pickle_too_much(m);
    RS_ROOM(m->stack, m->top, m->cap, m->err);
    m->stack[m->top++] = v;
    return RS_OK;
}

/* How many values lie above the last mark. */
uint32_t rs_pickle_above(const struct rs_pickle_machine *m)
{
    return m->top - (m->n_marks ? m->marks[m->n_marks - 1] : 0);
}

/* Takes the last mark away; *from is where its values begin. */
enum rs_status rs_pickle_unmark(struct rs_pickle_machine *m, uint32_t *from)
{
    if (!m->n_marks) return rs_pickle_bad(m, "no mark");
    *from = m->marks[--m->n_marks];
    return RS_OK;
}

/* The list or dict that `v` is or stands for, made where a tag has none yet; NULL: it is neither. */
static struct rs_value *container(struct rs_pickle_machine *m, struct rs_value *v, enum rs_value_kind kind)
{
    if (v->kind != RS_V_TAG) return v->kind == kind ? v : NULL;
    for (uint32_t i = v->n; i-- && v->n - i <= 16;) /* where rs_value_plain() looks */
        if (v->items[i]->kind == kind) return v->items[i];
    struct rs_value *inner = rs_value_new(&m->build, kind);
    return inner && rs_value_add(&m->build, v, inner) ? inner : NULL;
}

/* Puts the values from `from` on into the container below them. */
enum rs_status rs_pickle_fill(struct rs_pickle_machine *m, uint32_t from, enum rs_value_kind kind)
{
    uint32_t n = m->top - from;
    if (from == 0 || (m->n_marks && m->marks[m->n_marks - 1] >= from))
        return rs_pickle_bad(m, "nothing to put values into");
    struct rs_value *to = container(m, m->stack[from - 1], kind);
    if (!to || (kind == RS_V_DICT && n % 2)) return rs_pickle_bad(m, "values do not fit what they are put into");
    for (uint32_t i = 0; i < n; i++)
        if (!rs_value_add(&m->build, to, m->stack[from + i])) return rs_pickle_too_much(m);
    m->top = from;
    return RS_OK;
}

/* Turns the values from `from` on into one. */
enum rs_status rs_pickle_gather(struct rs_pickle_machine *m, uint32_t from, enum rs_value_kind kind)
{
    struct rs_value *v = rs_value_new(&m->build, kind);
    if (kind == RS_V_DICT && (m->top - from) % 2) return rs_pickle_bad(m, "a key without a value");
    for (uint32_t i = from; i < m->top; i++)
        if (!v || !rs_value_add(&m->build, v, m->stack[i])) return rs_pickle_too_much(m);
    m->top = from;
    return rs_pickle_push(m, v);
}

/* The last `n` values and what they are given to become a tag: `first` is what would be called. */
enum rs_status rs_pickle_tag(struct rs_pickle_machine *m, uint32_t n)
{
    if (rs_pickle_above(m) < n) return rs_pickle_bad(m, "too few values");
    struct rs_value **part = m->stack + m->top - n, *v = rs_value_new(&m->build, RS_V_TAG);
    if (!v) return rs_pickle_too_much(m);
    bool named = part[0]->kind == RS_V_TAG;
    v->name = named ? part[0]->name : "";
    /* What a tag was called with before stays in front: its arguments may be given in steps. */
    for (uint32_t i = 0; i < n; i++) {
        struct rs_value *from = part[i];
        bool spread = from->kind == RS_V_TUPLE || (i == 0 && named);
        for (uint32_t j = 0; spread && j < from->n; j++)
            if (!rs_value_add(&m->build, v, from->items[j])) return rs_pickle_too_much(m);
        if (!spread && !rs_value_add(&m->build, v, from)) return rs_pickle_too_much(m);
    }
    m->top -= n;
    return rs_pickle_push(m, v);
}

enum rs_status rs_pickle_push_name(struct rs_pickle_machine *m, const char *module, size_t n, const char *name,
                                   size_t name_n)
{
    struct rs_value *v = rs_value_new(&m->build, RS_V_TAG);
    char *text = n < UINT32_MAX && name_n < UINT32_MAX ? rs_value_chars(&m->build, n + 1 + name_n) : NULL;
    if (!v || !text) return rs_pickle_too_much(m);
    memcpy(text, module, n);
    text[n] = ' ';
    memcpy(text + n + 1, name, name_n);
    v->name = text;
    return rs_pickle_push(m, v);
}

/* ---- values ---- */

enum rs_status rs_pickle_push_int(struct rs_pickle_machine *m, int64_t i)
{
    struct rs_value *v = rs_value_new(&m->build, RS_V_INT);
    if (v) v->i = i;
    return rs_pickle_push(m, v);
}

enum rs_status rs_pickle_push_double(struct rs_pickle_machine *m, double d)
{
    struct rs_value *v = rs_value_new(&m->build, RS_V_DOUBLE);
    if (v) v->d = d;
    return rs_pickle_push(m, v);
}

static enum rs_status push_text(struct rs_pickle_machine *m, const char *text, size_t n)
{
    if (n >= UINT32_MAX) return rs_pickle_bad(m, "a text of more than 4 GB");
    struct rs_value *v = rs_value_new(&m->build, RS_V_TEXT);
    if (v) {
        v->text = text;
        v->n = (uint32_t)n;
    }
    return rs_pickle_push(m, v);
}

/* A text whose length stands before it in `bytes` bytes. */
enum rs_status rs_pickle_counted_text(struct rs_pickle_machine *m, unsigned bytes)
{
    uint64_t n;
    if (!rs_pickle_number(m, bytes, &n)) return rs_pickle_bad(m, rs_pickle_cut);
    const uint8_t *text = rs_pickle_operand(m, n);
    return text ? push_text(m, (const char *)text, (size_t)n) : rs_pickle_bad(m, rs_pickle_cut);
}

/* A two's complement integer of any length, whose length stands before it. */
enum rs_status rs_pickle_counted_int(struct rs_pickle_machine *m, unsigned bytes)
{
    uint64_t n, v = 0;
    const uint8_t *p = rs_pickle_number(m, bytes, &n) ? rs_pickle_operand(m, n) : NULL;
    if (!p) return rs_pickle_bad(m, rs_pickle_cut);
    bool minus = n && p[n - 1] & 0x80;
    if (n <= 8) {
        if (minus) v = ~UINT64_C(0);
        for (uint64_t i = n; i--;) v = v << 8 | p[i];
        return rs_pickle_push_int(m, (int64_t)v);
    }
    double d = minus ? -1 : 0;
    for (uint64_t i = n; i--;) d = d * 256 + p[i];
    return rs_pickle_push_double(m, d);
}

/* Protocol 0: a number on a line. */
enum rs_status rs_pickle_line_number(struct rs_pickle_machine *m, bool real)
{
    struct rs_scan s = {0};
    double d;
    int64_t i;
    if (!(s.text = rs_pickle_line(m, &s.n))) return rs_pickle_bad(m, rs_pickle_cut);
    if (s.n && s.text[s.n - 1] == 'L') s.n--;
    if (!real && s.n == 2 && s.text[0] == '0' && (s.text[1] | 1) == '1')
        return rs_pickle_push(m, s.text[1] == '1' ? m->yes : m->no);
    if (!real && rs_scan_i64(&s, &i)) return rs_pickle_push_int(m, i);
    return rs_scan_double(&s, &d) ? rs_pickle_push_double(m, d) : rs_pickle_bad(m, "not a number");
}

/* Protocol 0: a text on a line, quoted or not. Escapes: \n and the like, \uhhhh. */
enum rs_status rs_pickle_line_text(struct rs_pickle_machine *m, bool quoted)
{
    struct rs_scan s = {0};
    if (!(s.text = rs_pickle_line(m, &s.n))) return rs_pickle_bad(m, rs_pickle_cut);
    if (quoted) {
        if (s.n < 2 || s.text[0] != s.text[s.n - 1]) return rs_pickle_bad(m, "a text without its quotes");
        s.text++;
        s.n -= 2;
    }
    if (!memchr(s.text, '\\', s.n)) return push_text(m, s.text, s.n);
    char *text = s.n < UINT32_MAX ? rs_value_chars(&m->build, s.n + 8) : NULL;
    if (!text) return rs_pickle_too_much(m);
    return push_text(m, text, rs_scan_text(&s, text, s.n + 8));
}

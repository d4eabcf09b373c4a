#include "foreign/flight/pickle.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/room.h"

/* ---- the machine ----
 * The stack of a pickle that is being read, its operands, and the values that it pushes.
 *
 * What is asked for beyond the bytes, the stack or the memory fails with a message; nothing recurses. */

enum { PICKLE_MOST_MARKS = 1000 };

struct pickle_machine {
    const uint8_t *bytes;
    size_t n, at, op_at; /* op_at: position of the current opcode */
    struct rs_value_builder build;
    struct rs_value **stack;
    uint32_t top, cap;
    uint32_t marks[PICKLE_MOST_MARKS], n_marks; /* each the height of the stack where it was set */
    struct rs_map memo; /* number -> value */
    struct rs_value *none, *yes, *no;
    const char *path;
    struct rs_err *err;
};

static enum rs_status pickle_bad(const struct pickle_machine *m, const char *why)
{
    return rs_fail(m->err, RS_BAD_INPUT, "%s: at byte %zu: pickle: %s", m->path, m->op_at, why);
}

static enum rs_status pickle_too_much(const struct pickle_machine *m)
{
    return rs_fail(m->err, RS_BAD_INPUT, "%s: at byte %zu: pickle: no memory for its values (at most %u MiB)", m->path,
                   m->op_at, (unsigned)(RS_PICKLE_MOST_BYTES >> 20));
}

/* ---- operands ---- */

/* The next `n` bytes, NULL when there are fewer. */
static const uint8_t *pickle_operand(struct pickle_machine *m, uint64_t n)
{
    if (n > m->n - m->at) return NULL;
    const uint8_t *p = m->bytes + m->at;
    m->at += (size_t)n;
    return p;
}

/* A little-endian number of up to 8 bytes. */
static bool pickle_number(struct pickle_machine *m, unsigned bytes, uint64_t *v)
{
    const uint8_t *p = pickle_operand(m, bytes);
    *v = 0;
    for (unsigned i = 0; p && i < bytes; i++) *v |= (uint64_t)p[i] << (8 * i);
    return p;
}

/* A text up to the end of the line; NULL when the line does not end. */
static const char *pickle_line(struct pickle_machine *m, size_t *n)
{
    const char *text = (const char *)m->bytes + m->at;
    const char *end = memchr(text, '\n', m->n - m->at);
    if (!end) return NULL;
    *n = (size_t)(end - text);
    m->at += *n + 1;
    if (*n && text[*n - 1] == '\r') --*n;
    return text;
}

static const char pickle_cut[] = "cut off here";

/* ---- the stack ---- */

static enum rs_status pickle_push(struct pickle_machine *m, struct rs_value *v)
{
    if (!v) return pickle_too_much(m);
    RS_ROOM(m->stack, m->top, m->cap);
    m->stack[m->top++] = v;
    return RS_OK;
}

/* How many values are above the last mark. */
static uint32_t pickle_above(const struct pickle_machine *m)
{
    return m->top - (m->n_marks ? m->marks[m->n_marks - 1] : 0);
}

/* Takes the last mark away; *from is where its values begin. */
static enum rs_status pickle_unmark(struct pickle_machine *m, uint32_t *from)
{
    if (!m->n_marks) return pickle_bad(m, "no mark");
    *from = m->marks[--m->n_marks];
    return RS_OK;
}

/* The list or dict that `v` is or wraps, made where a tag has none yet; NULL: it is neither. */
static struct rs_value *container(struct pickle_machine *m, struct rs_value *v, enum rs_value_kind kind)
{
    if (v->kind != RS_V_TAG) return v->kind == kind ? v : NULL;
    for (uint32_t i = v->n; i-- && v->n - i <= 16;) /* where rs_value_plain() looks */
        if (v->items[i]->kind == kind) return v->items[i];
    struct rs_value *inner = rs_value_new(&m->build, kind);
    return inner && rs_value_add(&m->build, v, inner) ? inner : NULL;
}

/* Puts the values from `from` on into the container below them. */
static enum rs_status pickle_fill(struct pickle_machine *m, uint32_t from, enum rs_value_kind kind)
{
    uint32_t n = m->top - from;
    if (from == 0 || (m->n_marks && m->marks[m->n_marks - 1] >= from))
        return pickle_bad(m, "nothing to put values into");
    struct rs_value *to = container(m, m->stack[from - 1], kind);
    if (!to || (kind == RS_V_DICT && n % 2)) return pickle_bad(m, "values do not fit what they are put into");
    for (uint32_t i = 0; i < n; i++)
        if (!rs_value_add(&m->build, to, m->stack[from + i])) return pickle_too_much(m);
    m->top = from;
    return RS_OK;
}

/* Turns the values from `from` on into one. */
static enum rs_status pickle_gather(struct pickle_machine *m, uint32_t from, enum rs_value_kind kind)
{
    struct rs_value *v = rs_value_new(&m->build, kind);
    if (kind == RS_V_DICT && (m->top - from) % 2) return pickle_bad(m, "a key without a value");
    for (uint32_t i = from; i < m->top; i++)
        if (!v || !rs_value_add(&m->build, v, m->stack[i])) return pickle_too_much(m);
    m->top = from;
    return pickle_push(m, v);
}

/* The last `n` values and what they are given to become a tag: `first` is what would be called. */
static enum rs_status pickle_tag(struct pickle_machine *m, uint32_t n)
{
    if (pickle_above(m) < n) return pickle_bad(m, "too few values");
    struct rs_value **part = m->stack + m->top - n, *v = rs_value_new(&m->build, RS_V_TAG);
    if (!v) return pickle_too_much(m);
    bool named = part[0]->kind == RS_V_TAG;
    v->name = named ? part[0]->name : "";
    /* What a tag was called with before stays in front: its arguments may be given in steps. */
    for (uint32_t i = 0; i < n; i++) {
        struct rs_value *from = part[i];
        bool spread = from->kind == RS_V_TUPLE || (i == 0 && named);
        for (uint32_t j = 0; spread && j < from->n; j++)
            if (!rs_value_add(&m->build, v, from->items[j])) return pickle_too_much(m);
        if (!spread && !rs_value_add(&m->build, v, from)) return pickle_too_much(m);
    }
    m->top -= n;
    return pickle_push(m, v);
}

static enum rs_status pickle_push_name(struct pickle_machine *m, const char *module, size_t n, const char *name,
                                       size_t name_n)
{
    struct rs_value *v = rs_value_new(&m->build, RS_V_TAG);
    char *text = n < UINT32_MAX && name_n < UINT32_MAX ? rs_value_chars(&m->build, n + 1 + name_n) : NULL;
    if (!v || !text) return pickle_too_much(m);
    memcpy(text, module, n);
    text[n] = ' ';
    memcpy(text + n + 1, name, name_n);
    v->name = text;
    return pickle_push(m, v);
}

/* ---- values ---- */

static enum rs_status pickle_push_int(struct pickle_machine *m, int64_t i)
{
    struct rs_value *v = rs_value_new(&m->build, RS_V_INT);
    if (v) v->i = i;
    return pickle_push(m, v);
}

static enum rs_status pickle_push_double(struct pickle_machine *m, double d)
{
    struct rs_value *v = rs_value_new(&m->build, RS_V_DOUBLE);
    if (v) v->d = d;
    return pickle_push(m, v);
}

static enum rs_status push_text(struct pickle_machine *m, const char *text, size_t n)
{
    if (n >= UINT32_MAX) return pickle_bad(m, "a text of more than 4 GB");
    struct rs_value *v = rs_value_new(&m->build, RS_V_TEXT);
    if (v) {
        v->text = text;
        v->n = (uint32_t)n;
    }
    return pickle_push(m, v);
}

/* A text whose length is before it in `bytes` bytes. */
static enum rs_status pickle_counted_text(struct pickle_machine *m, unsigned bytes)
{
    uint64_t n;
    if (!pickle_number(m, bytes, &n)) return pickle_bad(m, pickle_cut);
    const uint8_t *text = pickle_operand(m, n);
    return text ? push_text(m, (const char *)text, (size_t)n) : pickle_bad(m, pickle_cut);
}

/* A two's complement integer of any length, whose length is before it. */
static enum rs_status pickle_counted_int(struct pickle_machine *m, unsigned bytes)
{
    uint64_t n, v = 0;
    const uint8_t *p = pickle_number(m, bytes, &n) ? pickle_operand(m, n) : NULL;
    if (!p) return pickle_bad(m, pickle_cut);
    bool minus = n && p[n - 1] & 0x80;
    if (n <= 8) {
        if (minus) v = ~UINT64_C(0);
        for (uint64_t i = n; i--;) v = v << 8 | p[i];
        return pickle_push_int(m, (int64_t)v);
    }
    double d = minus ? -1 : 0;
    for (uint64_t i = n; i--;) d = d * 256 + p[i];
    return pickle_push_double(m, d);
}

/* Protocol 0: a number on a line. */
static enum rs_status pickle_line_number(struct pickle_machine *m, bool real)
{
    struct rs_scan s = {0};
    double d;
    int64_t i;
    if (!(s.text = pickle_line(m, &s.n))) return pickle_bad(m, pickle_cut);
    if (s.n && s.text[s.n - 1] == 'L') s.n--;
    if (!real && s.n == 2 && s.text[0] == '0' && (s.text[1] | 1) == '1')
        return pickle_push(m, s.text[1] == '1' ? m->yes : m->no);
    if (!real && rs_scan_i64(&s, &i)) return pickle_push_int(m, i);
    return rs_scan_double(&s, &d) ? pickle_push_double(m, d) : pickle_bad(m, "not a number");
}

/* Protocol 0: a text on a line, quoted or not. Escapes: \n and the like, \uhhhh. */
static enum rs_status pickle_line_text(struct pickle_machine *m, bool quoted)
{
    struct rs_scan s = {0};
    if (!(s.text = pickle_line(m, &s.n))) return pickle_bad(m, pickle_cut);
    if (quoted) {
        if (s.n < 2 || s.text[0] != s.text[s.n - 1]) return pickle_bad(m, "a text without its quotes");
        s.text++;
        s.n -= 2;
    }
    if (!memchr(s.text, '\\', s.n)) return push_text(m, s.text, s.n);
    char *text = s.n < UINT32_MAX ? rs_value_chars(&m->build, s.n + 8) : NULL;
    if (!text) return pickle_too_much(m);
    return push_text(m, text, rs_scan_text(&s, text, s.n + 8));
}

/* ---- the memo ---- */

static enum rs_status put(struct pickle_machine *m, uint64_t key)
{
    if (!pickle_above(m)) return pickle_bad(m, "nothing to remember");
    rs_map_put(&m->memo, key, (uint64_t)(uintptr_t)m->stack[m->top - 1]);
    return RS_OK;
}

static enum rs_status get(struct pickle_machine *m, uint64_t key)
{
    struct rs_value *v = (struct rs_value *)(uintptr_t)rs_map_get(&m->memo, key, 0); /* NOLINT: put there by put() */
    return v ? pickle_push(m, v) : pickle_bad(m, "asks for what was not remembered");
}

static enum rs_status by_line(struct pickle_machine *m, enum rs_status (*what)(struct pickle_machine *, uint64_t))
{
    struct rs_scan s = {0};
    uint64_t key;
    if (!(s.text = pickle_line(m, &s.n))) return pickle_bad(m, pickle_cut);
    return rs_scan_u64(&s, &key) ? what(m, key) : pickle_bad(m, "not a number");
}

static enum rs_status by_number(struct pickle_machine *m, unsigned bytes,
                                enum rs_status (*what)(struct pickle_machine *, uint64_t))
{
    uint64_t key;
    return pickle_number(m, bytes, &key) ? what(m, key) : pickle_bad(m, pickle_cut);
}

/* ---- opcodes ---- */

static enum rs_status tuple_of(struct pickle_machine *m, uint32_t n)
{
    return pickle_above(m) < n ? pickle_bad(m, "too few values") : pickle_gather(m, m->top - n, RS_V_TUPLE);
}

/* An opcode that ends what a mark began: `t l d e u`, POP_MARK, sets and objects. */
static enum rs_status marked(struct pickle_machine *m, uint8_t op)
{
    uint32_t from = 0;
    RS_TRY(pickle_unmark(m, &from));
    switch (op) {
    case 't': return pickle_gather(m, from, RS_V_TUPLE);
    case 'd': return pickle_gather(m, from, RS_V_DICT);
    case 'e':
    case 0x90: return pickle_fill(m, from, RS_V_LIST);
    case 'u': return pickle_fill(m, from, RS_V_DICT);
    case 'o': return m->top == from ? pickle_bad(m, "too few values") : pickle_tag(m, m->top - from);
    case '1': m->top = from; return RS_OK;
    default: return pickle_gather(m, from, RS_V_LIST); /* l, FROZENSET */
    }
}

static enum rs_status names(struct pickle_machine *m, bool instance)
{
    size_t n, name_n;
    const char *module = pickle_line(m, &n), *name = module ? pickle_line(m, &name_n) : NULL;
    uint32_t from = 0;
    if (!name) return pickle_bad(m, pickle_cut);
    if (!instance) return pickle_push_name(m, module, n, name, name_n);
    RS_TRY(pickle_unmark(m, &from)); /* INST: the arguments are there already */
    RS_TRY(pickle_gather(m, from, RS_V_TUPLE));
    struct rs_value *args = m->stack[--m->top];
    RS_TRY(pickle_push_name(m, module, n, name, name_n));
    RS_TRY(pickle_push(m, args));
    return pickle_tag(m, 2);
}

static enum rs_status stack_global(struct pickle_machine *m)
{
    if (pickle_above(m) < 2) return pickle_bad(m, "too few values");
    const struct rs_value *module = m->stack[m->top - 2], *name = m->stack[m->top - 1];
    if (module->kind != RS_V_TEXT || name->kind != RS_V_TEXT) return pickle_bad(m, "a name that is no text");
    m->top -= 2;
    return pickle_push_name(m, module->text, module->n, name->text, name->n);
}

static enum rs_status big_endian_double(struct pickle_machine *m)
{
    const uint8_t *p = pickle_operand(m, 8);
    uint64_t bits = 0;
    double d;
    if (!p) return pickle_bad(m, pickle_cut);
    for (unsigned i = 0; i < 8; i++) bits = bits << 8 | p[i];
    memcpy(&d, &bits, sizeof d);
    return pickle_push_double(m, d);
}

static enum rs_status step(struct pickle_machine *m, uint8_t op)
{
    uint64_t v;
    switch (op) {
    case 0x80:
        return pickle_operand(m, 1) ? (m->bytes[m->at - 1] <= 5 ? RS_OK : pickle_bad(m, "a newer protocol than 5"))
                                    : pickle_bad(m, pickle_cut);
    case 0x95:
        return pickle_operand(m, 8) ? RS_OK
                                    : pickle_bad(m, pickle_cut); /* FRAME: only says how many bytes to read at once */
    case '(':
        if (m->n_marks == PICKLE_MOST_MARKS) return pickle_bad(m, "nested deeper than 1000 levels");
        m->marks[m->n_marks++] = m->top;
        return RS_OK;
    case '}': return pickle_push(m, rs_value_new(&m->build, RS_V_DICT));
    case ']':
    case 0x8f: return pickle_push(m, rs_value_new(&m->build, RS_V_LIST));
    case ')': return pickle_push(m, rs_value_new(&m->build, RS_V_TUPLE));
    case 'N': return pickle_push(m, m->none);
    case 0x88: return pickle_push(m, m->yes);
    case 0x89: return pickle_push(m, m->no);
    case 'K': return pickle_number(m, 1, &v) ? pickle_push_int(m, (int64_t)v) : pickle_bad(m, pickle_cut);
    case 'M': return pickle_number(m, 2, &v) ? pickle_push_int(m, (int64_t)v) : pickle_bad(m, pickle_cut);
    case 'J': return pickle_number(m, 4, &v) ? pickle_push_int(m, (int32_t)(uint32_t)v) : pickle_bad(m, pickle_cut);
    case 0x8a: return pickle_counted_int(m, 1);
    case 0x8b: return pickle_counted_int(m, 4);
    case 'G': return big_endian_double(m);
    case 'I':
    case 'L': return pickle_line_number(m, false);
    case 'F': return pickle_line_number(m, true);
    case 'S': return pickle_line_text(m, true);
    case 'V': return pickle_line_text(m, false);
    case 0x8c:
    case 'U':
    case 'C': return pickle_counted_text(m, 1);
    case 'X':
    case 'T':
    case 'B': return pickle_counted_text(m, 4);
    case 0x8d:
    case 0x8e:
    case 0x96: return pickle_counted_text(m, 8);
    case 'p': return by_line(m, put);
    case 'q': return by_number(m, 1, put);
    case 'r': return by_number(m, 4, put);
    case 0x94: return put(m, rs_map_count(&m->memo));
    case 'g': return by_line(m, get);
    case 'h': return by_number(m, 1, get);
    case 'j': return by_number(m, 4, get);
    case 'a': return pickle_above(m) < 2 ? pickle_bad(m, "too few values") : pickle_fill(m, m->top - 1, RS_V_LIST);
    case 's': return pickle_above(m) < 3 ? pickle_bad(m, "too few values") : pickle_fill(m, m->top - 2, RS_V_DICT);
    case 0x85:
    case 0x86:
    case 0x87: return tuple_of(m, op - 0x84u);
    case 't':
    case 'l':
    case 'd':
    case 'e':
    case 'u':
    case 'o':
    case '1':
    case 0x90:
    case 0x91: return marked(m, op);
    case '0':
        if (!pickle_above(m)) return pickle_bad(m, "too few values");
        m->top--;
        return RS_OK;
    case '2': return pickle_above(m) ? pickle_push(m, m->stack[m->top - 1]) : pickle_bad(m, "too few values");
    case 'c': return names(m, false);
    case 'i': return names(m, true);
    case 0x93: return stack_global(m);
    case 'R':
    case 0x81: return pickle_tag(m, 2); /* NEWOBJ */
    case 0x92: return pickle_tag(m, 3); /* NEWOBJ_EX */
    case 'b': return pickle_tag(m, 2); /* BUILD: the state is one more argument */
    default: return pickle_bad(m, "an opcode that data does not need");
    }
}

/* Closes what is open, from the inside out: most dumps put everything into their containers at the very end. */
static const struct rs_value *salvage(struct pickle_machine *m)
{
    struct rs_err *err = m->err;
    m->err = NULL; /* what went wrong first is what counts */
    if (m->top && m->stack[m->top - 1]->kind >= RS_V_LIST) m->stack[m->top - 1]->cut = !m->stack[m->top - 1]->n;
    for (;;) {
        uint32_t from = m->n_marks ? m->marks[--m->n_marks] : 1;
        if (m->top > from && from && !(m->n_marks && m->marks[m->n_marks - 1] >= from)) {
            struct rs_value *to = m->stack[from - 1];
            enum rs_value_kind kind = to->kind == RS_V_DICT ? RS_V_DICT : RS_V_LIST;
            if (kind == RS_V_DICT) m->top -= (m->top - from) % 2;
            pickle_fill(m, from, kind);
        }
        if (m->top > from) m->top = from;
        if (m->top) m->stack[m->top - 1]->cut |= m->stack[m->top - 1]->kind >= RS_V_LIST;
        if (from <= 1 && !m->n_marks) break;
    }
    m->err = err;
    return m->top ? m->stack[0] : NULL;
}

enum rs_status rs_pickle_read(struct rs_arena *arena, const void *bytes, size_t n, const char *path,
                              const struct rs_value **root, struct rs_err *err)
{
    struct pickle_machine m = {
        .bytes = bytes, .n = n, .path = path, .err = err, .build = {arena, 0, RS_PICKLE_MOST_BYTES}};
    enum rs_status status = RS_OK;
    *root = NULL;
    m.none = rs_value_new(&m.build, RS_V_NONE);
    m.yes = rs_value_new(&m.build, RS_V_BOOL);
    m.no = rs_value_new(&m.build, RS_V_BOOL);
    if (!m.none || !m.yes || !m.no) return pickle_too_much(&m);
    m.yes->i = 1;
    while (status == RS_OK) {
        m.op_at = m.at;
        if (m.at == n) {
            status = pickle_bad(&m, pickle_cut);
        } else if (m.bytes[m.at++] != '.') {
            status = step(&m, m.bytes[m.op_at]);
        } else {
            if (!pickle_above(&m)) status = pickle_bad(&m, "ends without a value");
            break;
        }
    }
    if (status != RS_OK)
        *root = salvage(&m);
    else
        *root = m.stack[m.top - 1];
    free(m.stack);
    rs_map_free(&m.memo);
    return status;
}

bool rs_pickle_is(const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    if (n >= 3 && p[0] == 0x80) return p[1] >= 2 && p[1] <= 5 && memchr("}](\x95", p[2], 4);
    /* Protocol 0 writes (dp0, protocol 1 }q and a 0. */
    if (n >= 4 && p[0] == '(' && (p[1] == 'd' || p[1] == 'l')) return p[2] == 'p' && p[3] >= '0' && p[3] <= '9';
    return n >= 3 && (p[0] == '}' || p[0] == ']') && p[1] == 'q' && p[2] == 0;
}

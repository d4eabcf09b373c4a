#include "foreign/flight/pickle.h"

#include <stdlib.h>
#include <string.h>

#include "foreign/flight/pickle_machine.h"

/* ---- the memo ---- */

static enum rs_status put(struct rs_pickle_machine *m, uint64_t key)
{
    if (!rs_pickle_above(m)) return rs_pickle_bad(m, "nothing to remember");
    return rs_map_put(&m->memo, key, (uint64_t)(uintptr_t)m->stack[m->top - 1], m->err);
}

static enum rs_status get(struct rs_pickle_machine *m, uint64_t key)
{
    struct rs_value *v = (struct rs_value *)(uintptr_t)rs_map_get(&m->memo, key, 0); /* NOLINT: put there by put() */
    return v ? rs_pickle_push(m, v) : rs_pickle_bad(m, "asks for what was not remembered");
}

static enum rs_status by_line(struct rs_pickle_machine *m, enum rs_status (*what)(struct rs_pickle_machine *, uint64_t))
{
    struct rs_scan s = {0};
    uint64_t key;
    if (!(s.text = rs_pickle_line(m, &s.n))) return rs_pickle_bad(m, rs_pickle_cut);
    return rs_scan_u64(&s, &key) ? what(m, key) : rs_pickle_bad(m, "not a number");
}

static enum rs_status by_number(struct rs_pickle_machine *m, unsigned bytes,
                                enum rs_status (*what)(struct rs_pickle_machine *, uint64_t))
{
    uint64_t key;
    return rs_pickle_number(m, bytes, &key) ? what(m, key) : rs_pickle_bad(m, rs_pickle_cut);
}

/* ---- opcodes ---- */

static enum rs_status tuple_of(struct rs_pickle_machine *m, uint32_t n)
{
    return rs_pickle_above(m) < n ? rs_pickle_bad(m, "too few values") : rs_pickle_gather(m, m->top - n, RS_V_TUPLE);
}

/* An opcode that ends what a mark began: `t l d e u`, POP_MARK, sets and objects. */
static enum rs_status marked(struct rs_pickle_machine *m, uint8_t op)
{
    uint32_t from = 0;
    RS_TRY(rs_pickle_unmark(m, &from));
    switch (op) {
    case 't': return rs_pickle_gather(m, from, RS_V_TUPLE);
    case 'd': return rs_pickle_gather(m, from, RS_V_DICT);
    case 'e':
    case 0x90: return rs_pickle_fill(m, from, RS_V_LIST);
    case 'u': return rs_pickle_fill(m, from, RS_V_DICT);
    case 'o': return m->top == from ? rs_pickle_bad(m, "too few values") : rs_pickle_tag(m, m->top - from);
    case '1': m->top = from; return RS_OK;
    default: return rs_pickle_gather(m, from, RS_V_LIST); /* l, FROZENSET */
    }
}

static enum rs_status names(struct rs_pickle_machine *m, bool instance)
{
    size_t n, name_n;
    const char *module = rs_pickle_line(m, &n), *name = module ? rs_pickle_line(m, &name_n) : NULL;
    uint32_t from = 0;
    if (!name) return rs_pickle_bad(m, rs_pickle_cut);
    if (!instance) return rs_pickle_push_name(m, module, n, name, name_n);
    RS_TRY(rs_pickle_unmark(m, &from)); /* INST: the arguments are there already */
    RS_TRY(rs_pickle_gather(m, from, RS_V_TUPLE));
    struct rs_value *args = m->stack[--m->top];
    RS_TRY(rs_pickle_push_name(m, module, n, name, name_n));
    RS_TRY(rs_pickle_push(m, args));
    return rs_pickle_tag(m, 2);
}

static enum rs_status stack_global(struct rs_pickle_machine *m)
{
    if (rs_pickle_above(m) < 2) return rs_pickle_bad(m, "too few values");
    const struct rs_value *module = m->stack[m->top - 2], *name = m->stack[m->top - 1];
    if (module->kind != RS_V_TEXT || name->kind != RS_V_TEXT) return rs_pickle_bad(m, "a name that is no text");
    m->top -= 2;
    return rs_pickle_push_name(m, module->text, module->n, name->text, name->n);
}

static enum rs_status big_endian_double(struct rs_pickle_machine *m)
{
    const uint8_t *p = rs_pickle_operand(m, 8);
    uint64_t bits = 0;
    double d;
    if (!p) return rs_pickle_bad(m, rs_pickle_cut);
    for (unsigned i = 0; i < 8; i++) bits = bits << 8 | p[i];
    memcpy(&d, &bits, sizeof d);
    return rs_pickle_push_double(m, d);
}

static enum rs_status step(struct rs_pickle_machine *m, uint8_t op)
{
    uint64_t v;
    switch (op) {
    case 0x80:
        return rs_pickle_operand(m, 1)
                   ? (m->bytes[m->at - 1] <= 5 ? RS_OK : rs_pickle_bad(m, "a newer protocol than 5"))
                   : rs_pickle_bad(m, rs_pickle_cut);
    case 0x95:
        return rs_pickle_operand(m, 8)
                   ? RS_OK
                   : rs_pickle_bad(m, rs_pickle_cut); /* FRAME: only says how many bytes to read at once */
    case '(':
        if (m->n_marks == RS_PICKLE_MOST_MARKS) return rs_pickle_bad(m, "nested deeper than 1000 levels");
        m->marks[m->n_marks++] = m->top;
        return RS_OK;
    case '}': return rs_pickle_push(m, rs_value_new(&m->build, RS_V_DICT));
    case ']':
    case 0x8f: return rs_pickle_push(m, rs_value_new(&m->build, RS_V_LIST));
    case ')': return rs_pickle_push(m, rs_value_new(&m->build, RS_V_TUPLE));
    case 'N': return rs_pickle_push(m, m->none);
    case 0x88: return rs_pickle_push(m, m->yes);
    case 0x89: return rs_pickle_push(m, m->no);
    case 'K': return rs_pickle_number(m, 1, &v) ? rs_pickle_push_int(m, (int64_t)v) : rs_pickle_bad(m, rs_pickle_cut);
    case 'M': return rs_pickle_number(m, 2, &v) ? rs_pickle_push_int(m, (int64_t)v) : rs_pickle_bad(m, rs_pickle_cut);
    case 'J':
        return rs_pickle_number(m, 4, &v) ? rs_pickle_push_int(m, (int32_t)(uint32_t)v)
                                          : rs_pickle_bad(m, rs_pickle_cut);
    case 0x8a: return rs_pickle_counted_int(m, 1);
    case 0x8b: return rs_pickle_counted_int(m, 4);
    case 'G': return big_endian_double(m);
    case 'I':
    case 'L': return rs_pickle_line_number(m, false);
    case 'F': return rs_pickle_line_number(m, true);
    case 'S': return rs_pickle_line_text(m, true);
    case 'V': return rs_pickle_line_text(m, false);
    case 0x8c:
    case 'U':
    case 'C': return rs_pickle_counted_text(m, 1);
    case 'X':
    case 'T':
    case 'B': return rs_pickle_counted_text(m, 4);
    case 0x8d:
    case 0x8e:
    case 0x96: return rs_pickle_counted_text(m, 8);
    case 'p': return by_line(m, put);
    case 'q': return by_number(m, 1, put);
    case 'r': return by_number(m, 4, put);
    case 0x94: return put(m, rs_map_count(&m->memo));
    case 'g': return by_line(m, get);
    case 'h': return by_number(m, 1, get);
    case 'j': return by_number(m, 4, get);
    case 'a':
        return rs_pickle_above(m) < 2 ? rs_pickle_bad(m, "too few values") : rs_pickle_fill(m, m->top - 1, RS_V_LIST);
    case 's':
        return rs_pickle_above(m) < 3 ? rs_pickle_bad(m, "too few values") : rs_pickle_fill(m, m->top - 2, RS_V_DICT);
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
        if (!rs_pickle_above(m)) return rs_pickle_bad(m, "too few values");
        m->top--;
        return RS_OK;
    case '2': return rs_pickle_above(m) ? rs_pickle_push(m, m->stack[m->top - 1]) : rs_pickle_bad(m, "too few values");
    case 'c': return names(m, false);
    case 'i': return names(m, true);
    case 0x93: return stack_global(m);
    case 'R':
    case 0x81: return rs_pickle_tag(m, 2); /* NEWOBJ */
    case 0x92: return rs_pickle_tag(m, 3); /* NEWOBJ_EX */
    case 'b': return rs_pickle_tag(m, 2); /* BUILD: the state is one more argument */
    default: return rs_pickle_bad(m, "an opcode that data does not need");
    }
}

/* Closes what is open, from the inside out: most dumps put everything into their containers at the very end. */
static const struct rs_value *salvage(struct rs_pickle_machine *m)
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
            rs_pickle_fill(m, from, kind);
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
    struct rs_pickle_machine m = {
        .bytes = bytes, .n = n, .path = path, .err = err, .build = {arena, 0, RS_PICKLE_MOST_BYTES}};
    enum rs_status status = RS_OK;
    *root = NULL;
    m.none = rs_value_new(&m.build, RS_V_NONE);
    m.yes = rs_value_new(&m.build, RS_V_BOOL);
    m.no = rs_value_new(&m.build, RS_V_BOOL);
    if (!m.none || !m.yes || !m.no) return rs_pickle_too_much(&m);
    m.yes->i = 1;
    while (status == RS_OK) {
        m.op_at = m.at;
        if (m.at == n) {
            status = rs_pickle_bad(&m, rs_pickle_cut);
        } else if (m.bytes[m.at++] != '.') {
            status = step(&m, m.bytes[m.op_at]);
        } else {
            if (!rs_pickle_above(&m)) status = rs_pickle_bad(&m, "ends without a value");
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

#include "export/csv/cells.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"

void rs_csv_to_file(struct rs_csv *c, FILE *file, const char *name)
{
    c->file = file;
    c->name = name;
    c->len = 0;
    c->begun = false;
    c->err = (struct rs_err){0};
    c->list = (struct rs_strbuf){0};
}

void rs_csv_free(struct rs_csv *c)
{
    rs_strbuf_free(&c->list);
}

static void hand_on(struct rs_csv *c)
{
    if (c->len && !rs_csv_failed(c) && fwrite(c->buf, 1, c->len, c->file) != c->len)
        rs_fail_errno(&c->err, "cannot write %s", c->name);
    c->len = 0;
}

/* Room for `n` bytes, of which there are few; the caller writes them and moves c->len. */
static inline char *room(struct rs_csv *c, size_t n)
{
    if (c->len + n > RS_CSV_BUFFER) hand_on(c);
    return c->buf + c->len;
}

static void put(struct rs_csv *c, const char *bytes, size_t n)
{
    while (n > RS_CSV_BUFFER - c->len) {
        size_t k = RS_CSV_BUFFER - c->len;
        memcpy(c->buf + c->len, bytes, k);
        c->len += k;
        bytes += k;
        n -= k;
        hand_on(c);
    }
    memcpy(c->buf + c->len, bytes, n);
    c->len += n;
}

static inline void cell(struct rs_csv *c)
{
    *room(c, 1) = ',';
    c->len += c->begun;
    c->begun = true;
}

void rs_csv_line(struct rs_csv *c)
{
    put(c, "\r\n", 2);
    c->begun = false;
}

void rs_csv_empty(struct rs_csv *c)
{
    cell(c);
}

static bool is_number(const char *text, size_t n)
{
    char copy[32], *end;
    if (n >= sizeof copy) return false;
    memcpy(copy, text, n);
    copy[n] = 0;
    strtod(copy, &end);
    return end == copy + n;
}

static void put_text(struct rs_csv *c, const char *text, size_t n)
{
    cell(c);
    if (!n) return;
    bool formula = memchr("=+-@\t\r\n", text[0], 7) && !is_number(text, n), quotes = formula;
    for (size_t i = 0; i < n && !quotes; i++)
        quotes = text[i] == ',' || text[i] == '"' || text[i] == '\r' || text[i] == '\n';
    /* Blanks at the ends are part of a field, but some readers cut them off. */
    quotes |= text[0] == ' ' || text[n - 1] == ' ';
    if (!quotes) {
        put(c, text, n);
        return;
    }
    put(c, "\"'", formula ? 2 : 1);
    for (size_t at = 0, to; at < n; at = to) {
        const char *quote = memchr(text + at, '"', n - at);
        to = quote ? (size_t)(quote - text) + 1 : n;
        put(c, text + at, to - at);
        if (quote) put(c, "\"", 1);
    }
    put(c, "\"", 1);
}

/* Whether it goes into a cell as it is: most do. */
static bool is_plain(const char *text, size_t n)
{
    if (memchr("=+-@ ", text[0], 5) || text[n - 1] == ' ') return false;
    for (size_t i = 0; i < n; i++)
        if (text[i] < ' ' || text[i] == ',' || text[i] == '"') return false; /* bytes from 0x80 on are negative */
    return true;
}

void rs_csv_textn(struct rs_csv *c, const char *text, size_t n)
{
    if (n && is_plain(text, n)) {
        cell(c);
        put(c, text, n);
        return;
    }
    struct rs_strbuf room = {0};
    const char *whole = n ? rs_utf8_whole(text, &n, &room) : text;
    rs_csv_failed(c);
    put_text(c, whole, n);
    rs_strbuf_free(&room);
}

void rs_csv_text(struct rs_csv *c, const char *text)
{
    rs_csv_textn(c, text, text ? strlen(text) : 0);
}

static void digits(struct rs_csv *c, uint64_t v)
{
    char field[20], *p = field + sizeof field;
    for (; v >= 100; v /= 100) {
        *--p = (char)('0' + v % 10);
        *--p = (char)('0' + v / 10 % 10);
    }
    if (v >= 10) *--p = (char)('0' + v % 10), v /= 10;
    *--p = (char)('0' + v);
    size_t n = (size_t)(field + sizeof field - p);
    memcpy(room(c, sizeof field), p, n);
    c->len += n;
}

void rs_csv_u64(struct rs_csv *c, uint64_t v)
{
    cell(c);
    digits(c, v);
}

void rs_csv_i64(struct rs_csv *c, int64_t v)
{
    cell(c);
    if (v < 0) put(c, "-", 1);
    digits(c, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

void rs_csv_known(struct rs_csv *c, int64_t v)
{
    if (v < 0)
        rs_csv_empty(c);
    else
        rs_csv_i64(c, v);
}

void rs_csv_time(struct rs_csv *c, int64_t ns)
{
    if (ns == INT64_MIN)
        rs_csv_empty(c);
    else
        rs_csv_i64(c, ns);
}

void rs_csv_hex(struct rs_csv *c, uint64_t v)
{
    static const char hex[] = "0123456789abcdef";
    char text[18] = "0x";
    for (int i = 0; i < 16; i++) text[2 + i] = hex[v >> (60 - 4 * i) & 15];
    cell(c);
    put(c, text, sizeof text);
}

void rs_csv_hex_or_empty(struct rs_csv *c, uint64_t v)
{
    if (v)
        rs_csv_hex(c, v);
    else
        rs_csv_empty(c);
}

void rs_csv_double(struct rs_csv *c, double v)
{
    char text[32];
    cell(c);
    if (!(v >= 0 && v < 1e300)) return;
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*g", precision, v);
        double back = strtod(text, NULL);
        if (back >= v && back <= v) break;
    }
    put(c, text, strlen(text));
}

void rs_csv_bool(struct rs_csv *c, bool v)
{
    cell(c);
    put(c, v ? "true" : "false", v ? 4 : 5);
}

/* ---- fields ---- */

void rs_csv_names(struct rs_csv *c, const struct rs_out_columns *columns)
{
    for (uint32_t i = 0; i < columns->n; i++) {
        cell(c);
        put(c, columns->all[i]->name, strlen(columns->all[i]->name));
    }
}

/* "a;b" */
static void put_list(struct rs_csv *c, const struct rs_out_field *f, const void *row)
{
    struct rs_value item;
    rs_strbuf_clear(&c->list);
    for (uint32_t at = 0; f->next(row, &at, &item);) {
        if (c->list.len) rs_strbuf_putc(&c->list, ';');
        if (item.type == RS_OUT_TEXT)
            rs_strbuf_add(&c->list, item.text, item.n);
        else
            rs_strbuf_printf(&c->list, "%" PRId64, item.i);
    }
    rs_csv_failed(c);
    rs_csv_textn(c, rs_strbuf_borrow(&c->list), c->list.len);
}

void rs_csv_fields(struct rs_csv *c, const struct rs_out_columns *columns, const void *row)
{
    for (uint32_t i = 0; i < columns->n; i++) {
        const struct rs_out_field *f = columns->all[i];
        struct rs_value v = f->get(row);
        switch (v.type) {
        case RS_OUT_INT: rs_csv_i64(c, v.i); break;
        case RS_OUT_UINT: rs_csv_u64(c, v.u); break;
        case RS_OUT_DOUBLE: rs_csv_double(c, v.d); break;
        case RS_OUT_BOOL: rs_csv_bool(c, v.u); break;
        case RS_OUT_HEX: rs_csv_hex(c, v.u); break;
        case RS_OUT_TEXT: rs_csv_textn(c, v.text, v.n); break;
        case RS_OUT_ROWS: put_list(c, f, row); break;
        default: rs_csv_empty(c); break;
        }
    }
}

enum rs_status rs_csv_finish(struct rs_csv *c, struct rs_err *err)
{
    hand_on(c);
    if (!rs_csv_failed(c) && fflush(c->file) != 0) rs_fail_errno(&c->err, "cannot write %s", c->name);
    if (!rs_csv_failed(c)) return RS_OK;
    *err = c->err;
    return err->code;
}

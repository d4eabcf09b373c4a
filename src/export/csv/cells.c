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

static void write_out(struct rs_csv *c)
{
    if (c->len && !rs_csv_failed(c) && fwrite(c->buf, 1, c->len, c->file) != c->len)
        rs_fail_errno(&c->err, "cannot write %s", c->name);
    c->len = 0;
}

/* Room for a few bytes; the caller writes them and advances c->len. */
static inline char *room(struct rs_csv *c, size_t n)
{
    if (c->len + n > RS_CSV_BUFFER) write_out(c);
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
        write_out(c);
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

static bool is_number(const char *text, size_t n)
{
    char copy[32], *end;
    if (n >= sizeof copy) return false;
    memcpy(copy, text, n);
    copy[n] = 0;
    strtod(copy, &end);
    return end == copy + n;
}

static void put_quoted(struct rs_csv *c, const char *text, size_t n)
{
    if (!n) return;
    bool formula = memchr("=+-@\t\r\n", text[0], 7) && !is_number(text, n), quotes = formula;
    for (size_t i = 0; i < n && !quotes; i++)
        quotes = text[i] == ',' || text[i] == '"' || text[i] == '\r' || text[i] == '\n';
    /* Blanks at the ends are part of a cell, but some readers strip them. */
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

/* Whether it needs no quotes; true of most. */
static bool is_plain(const char *text, size_t n)
{
    if (memchr("=+-@ ", text[0], 5) || text[n - 1] == ' ') return false;
    for (size_t i = 0; i < n; i++)
        if (text[i] < ' ' || text[i] == ',' || text[i] == '"') return false; /* bytes from 0x80 on are negative */
    return true;
}

static void put_text(struct rs_csv *c, const char *text, size_t n)
{
    if (n && is_plain(text, n)) {
        put(c, text, n);
        return;
    }
    struct rs_strbuf room = {0};
    const char *whole = n ? rs_utf8_whole(text, &n, &room) : text;
    put_quoted(c, whole, n);
    rs_strbuf_free(&room);
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

static void put_i64(struct rs_csv *c, int64_t v)
{
    if (v < 0) put(c, "-", 1);
    digits(c, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

static void put_hex(struct rs_csv *c, uint64_t v)
{
    static const char hex[] = "0123456789abcdef";
    char text[18] = "0x";
    for (int i = 0; i < 16; i++) text[2 + i] = hex[v >> (60 - 4 * i) & 15];
    put(c, text, sizeof text);
}

static void put_double(struct rs_csv *c, double v)
{
    char text[32];
    if (!(v >= 0 && v < 1e300)) return;
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*g", precision, v);
        double back = strtod(text, NULL);
        if (back >= v && back <= v) break;
    }
    put(c, text, strlen(text));
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
    cell(c);
    rs_strbuf_clear(&c->list);
    for (uint32_t at = 0; f->next(row, &at, &item);) {
        if (c->list.len) rs_strbuf_putc(&c->list, ';');
        if (item.type == RS_OUT_TEXT)
            rs_strbuf_add(&c->list, item.text, item.n);
        else
            rs_strbuf_printf(&c->list, "%" PRId64, item.i);
    }
    put_text(c, rs_strbuf_borrow(&c->list), c->list.len);
}

void rs_csv_value(struct rs_csv *c, struct rs_value v)
{
    cell(c);
    switch (v.type) {
    case RS_OUT_INT: put_i64(c, v.i); break;
    case RS_OUT_UINT: digits(c, v.u); break;
    case RS_OUT_DOUBLE: put_double(c, v.d); break;
    case RS_OUT_BOOL: put(c, v.u ? "true" : "false", v.u ? 4 : 5); break;
    case RS_OUT_HEX: put_hex(c, v.u); break;
    case RS_OUT_TEXT: put_text(c, v.text, v.n); break;
    default: break;
    }
}

void rs_csv_fields(struct rs_csv *c, const struct rs_out_columns *columns, const void *row)
{
    for (uint32_t i = 0; i < columns->n; i++) {
        const struct rs_out_field *f = columns->all[i];
        struct rs_value v = f->get(row);
        if (v.type == RS_OUT_ROWS)
            put_list(c, f, row);
        else
            rs_csv_value(c, v);
    }
}

enum rs_status rs_csv_finish(struct rs_csv *c, struct rs_err *err)
{
    write_out(c);
    if (!rs_csv_failed(c) && fflush(c->file) != 0) rs_fail_errno(&c->err, "cannot write %s", c->name);
    if (!rs_csv_failed(c)) return RS_OK;
    *err = c->err;
    return err->code;
}

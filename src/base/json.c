#include "base/json.h"

#include <assert.h>
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/utf8.h"

static enum rs_status write_file(void *to, const void *bytes, size_t n, struct rs_err *err)
{
    if (fwrite(bytes, 1, n, to) == n) return RS_OK;
    return rs_fail_errno(err, "cannot write");
}

static enum rs_status flush_file(void *to, struct rs_err *err)
{
    if (fflush(to) == 0 && !ferror((FILE *)to)) return RS_OK;
    return rs_fail_errno(err, "cannot write");
}

void rs_json_to(struct rs_json *j, rs_json_write_fn write, void *to, const char *name)
{
    j->write = write;
    j->to = to;
    j->name = name;
    j->len = 0;
    j->depth = 0;
    j->is_object = 0;
    j->has_items = 0;
    j->after_key = false;
    j->err.code = RS_OK;
    j->err.msg[0] = '\0';
}

void rs_json_to_file(struct rs_json *j, FILE *file, const char *name)
{
    rs_json_to(j, write_file, file, name);
}

static enum rs_status write_text(void *to, const void *bytes, size_t n, struct rs_err *err)
{
    (void)err;
    rs_strbuf_add(to, bytes, n);
    return RS_OK;
}

void rs_json_to_text(struct rs_json *j, struct rs_strbuf *text, const char *name)
{
    rs_json_to(j, write_text, text, name);
}

void rs_json_flush(struct rs_json *j)
{
    if (j->err.code == RS_OK && j->len > 0 && j->write(j->to, j->buf, j->len, &j->err) != RS_OK)
        rs_err_wrap(&j->err, "%s", j->name);
    j->len = 0;
}

/* Room for `n` bytes (at most the buffer's size); the caller writes them and moves j->len. */
static char *room(struct rs_json *j, size_t n)
{
    if (j->len + n > sizeof(j->buf)) rs_json_flush(j);
    return j->buf + j->len;
}

static void put(struct rs_json *j, const char *bytes, size_t n)
{
    while (n > sizeof(j->buf) - j->len) {
        size_t part = sizeof(j->buf) - j->len;
        memcpy(j->buf + j->len, bytes, part);
        j->len += part;
        bytes += part;
        n -= part;
        rs_json_flush(j);
    }
    memcpy(j->buf + j->len, bytes, n);
    j->len += n;
}

static void put_char(struct rs_json *j, char c)
{
    *room(j, 1) = c;
    j->len++;
}

/* A value is about to be written: the comma in front of it, if any. */
static void before_value(struct rs_json *j)
{
    uint64_t bit = 1ull << j->depth;
    if (j->after_key) {
        j->after_key = false;
        return;
    }
    assert(!(j->is_object & bit) && "a value in an object needs a key");
    if (j->depth > 0 && (j->has_items & bit)) put_char(j, ',');
    j->has_items |= bit;
}

static void open_level(struct rs_json *j, char c, bool object)
{
    before_value(j);
    assert(j->depth + 1 < RS_JSON_MAX_DEPTH);
    put_char(j, c);
    uint64_t bit = 1ull << ++j->depth;
    j->has_items &= ~bit;
    j->is_object = object ? j->is_object | bit : j->is_object & ~bit;
}

void rs_json_object(struct rs_json *j)
{
    open_level(j, '{', true);
}

void rs_json_array(struct rs_json *j)
{
    open_level(j, '[', false);
}

void rs_json_end(struct rs_json *j)
{
    assert(j->depth > 0 && !j->after_key);
    uint64_t bit = 1ull << j->depth;
    put_char(j, j->is_object & bit ? '}' : ']');
    j->is_object &= ~bit;
    j->depth--;
}

static bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
}

static void put_escaped(struct rs_json *j, unsigned char c)
{
    static const char hex[] = "0123456789abcdef";
    char *p = room(j, 6);
    char letter = 0;
    switch (c) {
    case '"': letter = '"'; break;
    case '\\': letter = '\\'; break;
    case '\b': letter = 'b'; break;
    case '\f': letter = 'f'; break;
    case '\n': letter = 'n'; break;
    case '\r': letter = 'r'; break;
    case '\t': letter = 't'; break;
    }
    p[0] = '\\';
    if (letter != 0) {
        p[1] = letter;
        j->len += 2;
        return;
    }
    memcpy(p + 1, "u00", 3);
    p[4] = hex[c >> 4];
    p[5] = hex[c & 15];
    j->len += 6;
}

static void put_string(struct rs_json *j, const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    put_char(j, '"');
    for (size_t i = 0; i < n;) {
        size_t from = i;
        while (i < n && is_plain(s[i])) i++;
        if (i > from) put(j, text + from, i - from);
        if (i == n) break;
        if (s[i] <= 0x7f) {
            put_escaped(j, s[i++]);
            continue;
        }
        size_t len = rs_utf8_length(text + i, n - i);
        if (len == 0) {
            put(j, RS_UTF8_STAND_IN, 3);
            i++;
        } else {
            put(j, text + i, len);
            i += len;
        }
    }
    put_char(j, '"');
}

void rs_json_key(struct rs_json *j, const char *key)
{
    uint64_t bit = 1ull << j->depth;
    assert((j->is_object & bit) && !j->after_key);
    if (j->has_items & bit) put_char(j, ',');
    j->has_items |= bit;
    put_string(j, key, strlen(key));
    put_char(j, ':');
    j->after_key = true;
}

void rs_json_plain_key(struct rs_json *j, const char *key, size_t n)
{
    uint64_t bit = 1ull << j->depth;
    assert((j->is_object & bit) && !j->after_key && n + 4 < sizeof(j->buf));
    char *p = room(j, n + 4), *from = p;
    if (j->has_items & bit) *p++ = ',';
    j->has_items |= bit;
    *p++ = '"';
    memcpy(p, key, n);
    p += n;
    *p++ = '"';
    *p++ = ':';
    j->len += (size_t)(p - from);
    j->after_key = true;
}

void rs_json_strn(struct rs_json *j, const char *text, size_t n)
{
    before_value(j);
    put_string(j, text, n);
}

void rs_json_str(struct rs_json *j, const char *text)
{
    if (text == NULL) {
        rs_json_null(j);
        return;
    }
    rs_json_strn(j, text, strlen(text));
}

/* Decimal digits of `value` into the end of a field of 20; returns how many. */
static size_t digits(char field[20], uint64_t value)
{
    static const char pairs[] = "0001020304050607080910111213141516171819202122232425262728293031323334353637383940"
                                "4142434445464748495051525354555657585960616263646566676869707172737475767778798081"
                                "828384858687888990919293949596979899";
    char *p = field + 20;
    while (value >= 100) {
        p -= 2;
        memcpy(p, pairs + value % 100 * 2, 2);
        value /= 100;
    }
    if (value >= 10) {
        p -= 2;
        memcpy(p, pairs + value * 2, 2);
    } else {
        *--p = (char)('0' + value);
    }
    return (size_t)(field + 20 - p);
}

static void put_u64(struct rs_json *j, uint64_t value)
{
    char field[20];
    size_t n = digits(field, value);
    put(j, field + 20 - n, n);
}

void rs_json_u64(struct rs_json *j, uint64_t value)
{
    before_value(j);
    put_u64(j, value);
}

void rs_json_i64(struct rs_json *j, int64_t value)
{
    before_value(j);
    if (value < 0) put_char(j, '-');
    put_u64(j, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* Writes a number that is a whole count of 10^-places with at most 15 digits: such a text is exact by itself. */
static bool put_short_decimal(struct rs_json *j, double value)
{
    static const double power[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6};
    for (size_t places = 0; places < sizeof(power) / sizeof(power[0]); places++) {
        double scaled = value * power[places];
        if (!(scaled < 1e15)) return false;
        uint64_t whole = (uint64_t)(scaled + 0.5);
        /* Both operands are exact, so the quotient is the double nearest to the decimal text. */
        if ((double)whole / power[places] != value) continue;
        uint64_t unit = (uint64_t)power[places];
        put_u64(j, whole / unit);
        if (places == 0) return true;
        char field[20];
        size_t n = digits(field, whole % unit);
        put_char(j, '.');
        put(j, "000000", places - n);
        put(j, field + 20 - n, n);
        return true;
    }
    return false;
}

void rs_json_double(struct rs_json *j, double value)
{
    /* Comparisons also turn NaN away. */
    if (!(value >= -DBL_MAX && value <= DBL_MAX)) {
        rs_json_null(j);
        return;
    }
    before_value(j);
    double size = value;
    if (value < 0) {
        put_char(j, '-');
        size = -value;
    }
    if (put_short_decimal(j, size)) return;
    char text[32];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, sizeof(text), "%.*g", precision, size);
        double back = strtod(text, NULL);
        if (back >= size && back <= size) break;
    }
    put(j, text, strlen(text));
}

void rs_json_thousandths(struct rs_json *j, int64_t value)
{
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    unsigned rest = (unsigned)(size % 1000);
    before_value(j);
    if (value < 0) put_char(j, '-');
    put_u64(j, size / 1000);
    if (!rest) return;
    char text[4] = {'.', (char)('0' + rest / 100), (char)('0' + rest / 10 % 10), (char)('0' + rest % 10)};
    size_t n = rest % 10 ? 4 : rest % 100 ? 3 : 2;
    put(j, text, n);
}

void rs_json_bool(struct rs_json *j, bool value)
{
    before_value(j);
    if (value) {
        put(j, "true", 4);
    } else {
        put(j, "false", 5);
    }
}

void rs_json_null(struct rs_json *j)
{
    before_value(j);
    put(j, "null", 4);
}

void rs_json_hex(struct rs_json *j, uint64_t value)
{
    static const char hex[] = "0123456789abcdef";
    char text[20] = "\"0x";
    for (int i = 0; i < 16; i++) text[3 + i] = hex[value >> (60 - 4 * i) & 15];
    text[19] = '"';
    before_value(j);
    put(j, text, sizeof(text));
}

void rs_json_key_str(struct rs_json *j, const char *key, const char *text)
{
    rs_json_key(j, key);
    rs_json_str(j, text);
}

void rs_json_key_u64(struct rs_json *j, const char *key, uint64_t value)
{
    rs_json_key(j, key);
    rs_json_u64(j, value);
}

void rs_json_key_i64(struct rs_json *j, const char *key, int64_t value)
{
    rs_json_key(j, key);
    rs_json_i64(j, value);
}

void rs_json_key_number_or_null(struct rs_json *j, const char *key, int64_t value)
{
    if (value >= 0)
        rs_json_key_i64(j, key, value);
    else
        rs_json_key_null(j, key);
}

void rs_json_key_double(struct rs_json *j, const char *key, double value)
{
    rs_json_key(j, key);
    rs_json_double(j, value);
}

void rs_json_key_bool(struct rs_json *j, const char *key, bool value)
{
    rs_json_key(j, key);
    rs_json_bool(j, value);
}

void rs_json_key_null(struct rs_json *j, const char *key)
{
    rs_json_key(j, key);
    rs_json_null(j);
}

void rs_json_key_hex(struct rs_json *j, const char *key, uint64_t value)
{
    rs_json_key(j, key);
    rs_json_hex(j, value);
}

void rs_json_newline(struct rs_json *j)
{
    assert(!j->after_key && !(j->is_object >> j->depth & 1));
    put_char(j, '\n');
}

enum rs_status rs_json_finish(struct rs_json *j, struct rs_err *err)
{
    rs_json_flush(j);
    if (j->err.code == RS_OK && j->write == write_file && flush_file(j->to, &j->err) != RS_OK)
        rs_err_wrap(&j->err, "%s", j->name);
    if (j->err.code != RS_OK) {
        if (err != NULL) *err = j->err;
        return j->err.code;
    }
    assert(j->depth == 0 && !j->after_key);
    return RS_OK;
}

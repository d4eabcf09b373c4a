#include "base/scan.h"

#include <stdlib.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/memory.h"

/* ---- values ----
 * The value of a token, independent of where tokens come from. */

/* The digits from `i` on, all of them; `base` 10 or 16. */
static bool whole(const struct rs_scan *s, size_t i, uint64_t *v)
{
    unsigned base = 10;
    uint64_t sum = 0;
    if (s->n - i > 2 && s->text[i] == '0' && (s->text[i + 1] | 32) == 'x') {
        base = 16;
        i += 2;
    }
    if (i >= s->n) return false;
    for (; i < s->n; i++) {
        unsigned c = (unsigned char)s->text[i], digit = c - '0';
        if (digit > 9) digit = (c | 32u) - 'a' < 6 ? (c | 32u) - 'a' + 10 : 16;
        if (digit >= base || __builtin_mul_overflow(sum, base, &sum) || __builtin_add_overflow(sum, digit, &sum))
            return false;
    }
    *v = sum;
    return true;
}

static size_t sign(const struct rs_scan *s)
{
    return s->n && (s->text[0] == '-' || s->text[0] == '+');
}

static bool with_sign(const struct rs_scan *s, uint64_t size, int64_t *v)
{
    bool minus = s->text[0] == '-';
    if (size > (uint64_t)INT64_MAX + minus) return false;
    *v = minus ? (int64_t)(0 - size) : (int64_t)size;
    return true;
}

bool rs_scan_u64(const struct rs_scan *s, uint64_t *v)
{
    return whole(s, 0, v);
}

bool rs_scan_i64(const struct rs_scan *s, int64_t *v)
{
    uint64_t size;
    return whole(s, sign(s), &size) ? with_sign(s, size, v) : rs_scan_fixed(s, 0, v);
}

bool rs_scan_double(const struct rs_scan *s, double *v)
{
    char text[512], *end;
    if (!s->n || s->n >= sizeof text || (unsigned char)s->text[0] <= ' ') return false;
    memcpy(text, s->text, s->n);
    text[s->n] = 0;
    double d = strtod(text, &end);
    if (end != text + s->n) return false;
    *v = d;
    return true;
}

/* The end of the digits that begin at `i`. */
static size_t digits_end(const struct rs_scan *s, size_t i)
{
    while (i < s->n && (unsigned char)(s->text[i] - '0') < 10) i++;
    return i;
}

/* The exponent from `i` to the end; bounded, since no result has so many digits. */
static bool exponent(const struct rs_scan *s, size_t i, int64_t *e)
{
    if (i == s->n) return true;
    if ((s->text[i++] | 32) != 'e') return false;
    bool minus = i < s->n && s->text[i] == '-';
    if (i < s->n && (minus || s->text[i] == '+')) i++;
    if (i == s->n || digits_end(s, i) != s->n) return false;
    for (; i < s->n; i++)
        if (*e < INT32_MAX) *e = *e * 10 + (s->text[i] - '0');
    if (minus) *e = -*e;
    return true;
}

bool rs_scan_fixed(const struct rs_scan *s, unsigned digits, int64_t *v)
{
    size_t begin = sign(s), point = digits_end(s, begin), end = point;
    if (point < s->n && s->text[point] == '.') end = digits_end(s, point + 1);
    if (end - begin < 1 + (end > point)) return false; /* not one digit */
    int64_t e = 0;
    if (!exponent(s, end, &e)) return false;
    /* The first `keep` digits are the result; the next one rounds. */
    int64_t keep = (int64_t)(point - begin) + digits + e;
    uint64_t size = 0;
    for (size_t i = begin; i < end && keep >= 0; i++) {
        if (i == point) continue;
        unsigned digit = (unsigned)(s->text[i] - '0');
        if (keep-- == 0) {
            if (__builtin_add_overflow(size, digit >= 5, &size)) return false;
            break;
        }
        if (__builtin_mul_overflow(size, 10u, &size) || __builtin_add_overflow(size, digit, &size)) return false;
    }
    for (; keep > 0 && size; keep--)
        if (__builtin_mul_overflow(size, 10u, &size)) return false;
    return with_sign(s, size, v);
}

/* ---- text ---- */

static size_t put_utf8(char *to, uint32_t c)
{
    if (c < 0x80) {
        to[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const uint8_t mark[] = {0, 0, 0xc0, 0xe0, 0xf0};
    to[0] = (char)(mark[n] | c >> (6 * (n - 1)));
    for (size_t i = 1; i < n; i++) to[i] = (char)(0x80 | (c >> (6 * (n - 1 - i)) & 63));
    return n;
}

/* \uXXXX at `i`. */
static bool unit(const struct rs_scan *s, size_t i, uint32_t *v)
{
    if (i > s->n || s->n - i < 6 || s->text[i] != '\\' || s->text[i + 1] != 'u') return false;
    *v = 0;
    for (size_t k = i + 2; k < i + 6; k++) {
        unsigned c = (unsigned char)s->text[k], letter = (c | 32u) - 'a';
        if (c - '0' > 9 && letter > 5) return false;
        *v = *v << 4 | (c - '0' <= 9 ? c - '0' : letter + 10);
    }
    return true;
}

/* The character or escape at `i`, decoded into `to` (4 bytes); *n its length. Returns where it ends. */
static size_t character(const struct rs_scan *s, size_t i, char *to, size_t *n)
{
    static const char from[] = "\"\\/nrtbf", into[] = "\"\\/\n\r\t\b\f";
    enum { STAND_IN = 0xfffd };
    uint32_t c, low;
    const char *escape;
    *n = 1;
    if (unit(s, i, &c)) {
        i += 6;
        if (c >> 10 == 0x36 && unit(s, i, &low) && low >> 10 == 0x37) {
            c = 0x10000 + ((c & 0x3ff) << 10 | (low & 0x3ff));
            i += 6;
        }
        *n = put_utf8(to, c >> 11 == 0x1b || !c ? STAND_IN : c);
        return i;
    }
    to[0] = s->text[i++];
    if (!to[0]) *n = put_utf8(to, STAND_IN);
    if (to[0] == '\\' && i < s->n && s->text[i] && (escape = strchr(from, s->text[i]))) {
        to[0] = into[escape - from]; /* other letters: an unescaped path, left as it is */
        i++;
    }
    return i;
}

size_t rs_scan_text(const struct rs_scan *s, char *to, size_t bytes)
{
    size_t out = 0, n, i = 0;
    char c[4];
    if (!bytes) return 0;
    while (i < s->n) {
        i = character(s, i, c, &n);
        if (out + n >= bytes) {
            /* do not split a UTF-8 character */
            if ((c[0] & 0xc0) == 0x80) {
                while (out && (to[out - 1] & 0xc0) == 0x80) out--;
                if (out && (to[out - 1] & 0xc0) == 0xc0) out--;
            }
            break;
        }
        memcpy(to + out, c, n);
        out += n;
    }
    to[out] = 0;
    return out;
}

/* ---- bytes ---- */

enum { MOST_LEVELS = 1024, LONGEST_TOKEN = 1 << 26, WINDOW = 1 << 24, DOUBT_REACH = 512, MOST_BLANKS = 256 };

/* The class of a byte outside strings; BARE: in words and numbers. */
enum { BARE, GAP, COMMA, OPEN, SHUT, QUOTE, ODD };
#define GAPS_16(from) [(from)...(from) + 15] = GAP
static const uint8_t kind[256] = {
    GAPS_16(0),   GAPS_16(16),  [' '] = GAP,  [':'] = GAP,   [','] = COMMA, ['{'] = OPEN,
    ['['] = OPEN, ['}'] = SHUT, [']'] = SHUT, ['"'] = QUOTE, [0xe2] = ODD, /* a typographic quote may begin so */
};
/* What may follow a string. */
static const bool follows[256] = {[','] = 1, [':'] = 1, ['}'] = 1, [']'] = 1, ['\n'] = 1, ['\r'] = 1};

void rs_scan_bytes(struct rs_scan *s, struct rs_bytes *bytes)
{
    *s = (struct rs_scan){.bytes = bytes, .text = ""};
}

void rs_scan_memory(struct rs_scan *s, const char *text, size_t n)
{
    *s = (struct rs_scan){.start = text, .at = text, .end = text + n, .text = ""};
}

void rs_scan_free(struct rs_scan *s)
{
    free(s->buffer);
    s->buffer = NULL;
    s->start = s->at = s->end = s->plain_end = NULL;
    s->bytes = NULL;
}

/* ---- more bytes ---- */

static bool break_off(struct rs_scan *s, enum rs_status code, const char *why)
{
    rs_fail(&s->err, code, "%s: at byte %llu: %s", rs_bytes_path(s->bytes),
            (unsigned long long)(s->start_offset + (uint64_t)(s->at - s->start)), why);
    s->bytes = NULL;
    s->plain_end = s->end;
    return false;
}

/* Moves the rest to the beginning of the buffer and makes room for `n` bytes after it. */
static void make_room(struct rs_scan *s, size_t n)
{
    size_t left = (size_t)(s->end - s->at);
    if (!s->buffer) s->start = s->at = s->end = s->buffer = rs_alloc(s->cap = n);
    if (left && s->at != s->buffer) memmove(s->buffer, s->at, left);
    s->start_offset += (uint64_t)(s->at - s->start);
    s->start = s->at = s->buffer;
    s->end = s->buffer + left;
    if (left + n <= s->cap) return;
    size_t cap = left + n > 2 * s->cap ? left + n : 2 * s->cap;
    char *grown = rs_realloc(s->buffer, cap);
    s->start = s->at = s->buffer = grown;
    s->end = grown + left;
    s->cap = cap;
}

/* Appends bytes to the rest that begins at `at`, which may move. False: there are no more. */
static bool refill(struct rs_scan *s)
{
    const char *block;
    size_t n;
    if (!s->bytes) return false;
    if (s->end - s->at > LONGEST_TOKEN) return break_off(s, RS_BAD_INPUT, "a string or word of more than 64 MiB");
    if (s->end < s->plain_end) {
        rs_bytes_drop_pages(s->bytes, s->at);
        s->end += s->plain_end - s->end > WINDOW ? WINDOW : s->plain_end - s->end;
        return true;
    }
    if (rs_bytes_next(s->bytes, &block, &n, &s->err) != RS_OK || !n) {
        s->bytes = NULL;
        return false;
    }
    if (rs_bytes_packing(s->bytes) == RS_PLAIN) { /* one block, used in place */
        s->start = s->at = s->end = block;
        s->plain_end = block + n;
        return refill(s);
    }
    make_room(s, n);
    memcpy(s->buffer + (s->end - s->at), block, n);
    s->end += n;
    return true;
}

/* The byte `n` after `at`, -1 at the end of the input. `at` may move. */
static int look(struct rs_scan *s, size_t n)
{
    while ((size_t)(s->end - s->at) <= n)
        if (!refill(s)) return -1;
    return (unsigned char)s->at[n];
}

/* ---- nesting ---- */

static void at_level(struct rs_scan *s)
{
    unsigned level = s->depth - 1;
    s->object = s->depth && s->depth <= MOST_LEVELS && (s->nesting[level / 64] >> (level % 64) & 1);
    s->want_key = s->object;
    s->want_value = false;
}

static enum rs_token open_level(struct rs_scan *s, bool object)
{
    if (s->depth < MOST_LEVELS) {
        uint64_t bit = UINT64_C(1) << (s->depth % 64), *level = &s->nesting[s->depth / 64];
        *level = object ? *level | bit : *level & ~bit;
    }
    if (s->depth < UINT32_MAX) s->depth++;
    at_level(s);
    return object ? RS_T_OBJECT : RS_T_ARRAY;
}

static enum rs_token close_level(struct rs_scan *s)
{
    if (s->depth) s->depth--;
    at_level(s);
    return RS_T_CLOSE;
}

static enum rs_token end_input(struct rs_scan *s)
{
    s->cut |= s->depth > 0 || s->err.code != RS_OK;
    s->depth = 0;
    at_level(s);
    return RS_T_END;
}

/* ---- strings ---- */

static bool is_odd_quote(struct rs_scan *s, size_t n)
{
    return look(s, n) == 0xe2 && look(s, n + 1) == 0x80 && (look(s, n + 2) | 1) == 0x9d;
}

/* The first byte from *n on that is not blank; bounded, since ambiguous text is scanned again. */
static int behind_blanks(struct rs_scan *s, size_t *n)
{
    int c;
    for (size_t most = *n + MOST_BLANKS; (c = look(s, *n)) == ' ' || c == '\t'; ++*n)
        if (*n == most) return '\n'; /* treated as the end of a line */
    return c;
}

/* Whether a string can end before `n`. With `strict` a comma in an object must be followed by a key. */
static bool can_end(struct rs_scan *s, size_t n, bool strict)
{
    int c = behind_blanks(s, &n);
    if (c == ',' && strict && s->object) {
        n++;
        c = behind_blanks(s, &n);
        return c < 0 || c == '"' || c == '\n' || c == '\r' || c == '}' || is_odd_quote(s, n);
    }
    return c < 0 || follows[c];
}

/* The length of a string that is not plain: with escapes, at the end of the bytes available, or with unescaped quotes
 * inside, as in "name": "{"device": "cpu", "dtype": "half"}(12): run". After such a quote the end must be outside of
 * brackets; if the line ends first, it is the first possible end. */
static size_t hard_string(struct rs_scan *s, size_t from, bool odd, size_t *behind)
{
    size_t fit = 0, typo = 0; /* possible ends: at a quote; at a typographic one though it began with a plain one */
    bool doubt = false;
    int64_t open = 0;
    for (size_t n = from;; n++) {
        int c = look(s, n);
        if (fit && (c < 0 || c == '\n' || n - from > DOUBT_REACH)) {
            *behind = fit + 1;
            return fit - from;
        }
        if (c < 0 && !typo) {
            s->cut = true;
            *behind = (size_t)(s->end - s->at); /* the last byte may be a backslash: n is after it */
            return *behind - from;
        }
        if (c == '\\') {
            n++;
        } else if (c == '"' && can_end(s, n + 1, doubt)) {
            *behind = n + 1;
            if (!doubt || !open) return n - from;
            if (!fit) fit = n;
        } else if ((c == '"' && !odd) || c < 0) {
            if (typo) {
                *behind = typo + 3;
                return typo - from;
            }
            doubt = true;
        } else if (c == 0xe2 && is_odd_quote(s, n)) {
            *behind = n + 3;
            if (odd) return n - from;
            if (!typo && !doubt && can_end(s, n + 3, true)) typo = n;
        } else if (kind[c] == OPEN) {
            open++;
        } else if (kind[c] == SHUT) {
            open--;
        }
    }
}

static inline const char *find_quote(const char *p, const char *end)
{
#if defined(__SSE2__)
    const __m128i quote = _mm_set1_epi8('"');
    for (; end - p >= 16; p += 16) { /* names of kernels are hundreds of bytes long */
        unsigned found = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)p), quote));
        if (found) return p + __builtin_ctz(found);
    }
#elif __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    const uint64_t ones = UINT64_C(0x0101010101010101);
    for (; end - p >= 8; p += 8) { /* eight at once: the lowest byte that is 0 after the xor */
        uint64_t w;
        memcpy(&w, p, 8);
        w ^= ones * '"';
        w = (w - ones) & ~w & ones << 7;
        if (w) return p + __builtin_ctzll(w) / 8;
    }
#endif
    while (p < end && *p != '"') p++;
    return p;
}

/* The length of the string after a quote of `quote` bytes at `at`; *behind is where the token ends. */
static inline size_t string_length(struct rs_scan *s, size_t quote, size_t *behind)
{
    const char *from = s->at + quote;
    if (quote == 1) {
        const char *p = find_quote(from, s->end);
        if (s->end - p > 1 && follows[(unsigned char)p[1]] && p[-1] != '\\') {
            *behind = (size_t)(p + 1 - s->at);
            return (size_t)(p - from);
        }
    }
    return hard_string(s, quote, quote != 1, behind);
}

/* ---- tokens ---- */

static inline enum rs_token value(struct rs_scan *s, enum rs_token token)
{
    s->want_value = s->want_key;
    s->want_key = s->object && !s->want_key;
    return s->want_value ? RS_T_KEY : token;
}

static inline enum rs_token take_string(struct rs_scan *s, size_t quote)
{
    size_t behind, n = string_length(s, quote, &behind);
    s->text = s->at + quote;
    s->n = n;
    s->at += behind;
    return value(s, RS_T_STRING);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static enum rs_token take_bare(struct rs_scan *s)
{
    size_t n = 1;
    do {
        const char *p = s->at + n;
        while (p < s->end && (kind[(unsigned char)*p] == BARE || kind[(unsigned char)*p] == ODD)) p++;
        n = (size_t)(p - s->at);
    } while (s->at + n == s->end && refill(s));
    const char *t = s->text = s->at;
    s->n = n;
    s->at += n;
    bool sign = *t == '-' || *t == '+' || *t == '.';
    return value(s, is_digit(*t) || (sign && n > 1 && (is_digit(t[1]) || t[1] == '.')) ? RS_T_NUMBER : RS_T_WORD);
}

/* The first byte that is not a gap. Most gaps have one or two bytes; the others are line ends with indentation. */
static inline const char *skip_gaps(const char *p, const char *end)
{
    for (int i = 0; i < 3; i++, p++)
        if (p == end || kind[(unsigned char)*p] != GAP) return p;
#if defined(__SSE2__)
    const __m128i blank = _mm_set1_epi8(' '), colon = _mm_set1_epi8(':');
    for (; end - p >= 16; p += 16) { /* gaps are bytes up to the blank, and colons */
        __m128i x = _mm_loadu_si128((const __m128i *)p);
        __m128i gap = _mm_or_si128(_mm_cmpeq_epi8(_mm_max_epu8(x, blank), blank), _mm_cmpeq_epi8(x, colon));
        unsigned other = ~(unsigned)_mm_movemask_epi8(gap) & 0xffff;
        if (other) return p + __builtin_ctz(other);
    }
#endif
    while (p < end && kind[(unsigned char)*p] == GAP) p++;
    return p;
}

static enum rs_token next(struct rs_scan *s)
{
    for (;;) {
        const char *p = s->at = skip_gaps(s->at, s->end);
        if (p == s->end) {
            if (refill(s)) continue;
            s->cut |= s->want_value;
            s->offset = s->start_offset + (uint64_t)(s->at - s->start);
            s->text = "";
            s->n = 0;
            return end_input(s);
        }
        s->offset = s->start_offset + (uint64_t)(p - s->start);
        unsigned k = kind[(unsigned char)*p];
        if (k == QUOTE) return take_string(s, 1);
        if (k == BARE && s->offset == 0 && look(s, 0) == 0xef && look(s, 1) == 0xbb && look(s, 2) == 0xbf) {
            s->at += 3; /* a byte order mark */
            continue;
        }
        if (k == BARE) return take_bare(s);
        if (k == ODD) return is_odd_quote(s, 0) ? take_string(s, 3) : take_bare(s);
        s->text = s->at;
        s->n = 0;
        if (s->want_value && k != OPEN) return value(s, RS_T_WORD); /* a missing value */
        s->at++;
        if (k == OPEN) return open_level(s, *p == '{');
        if (k == SHUT) return close_level(s);
    }
}

enum rs_token rs_scan_next(struct rs_scan *s)
{
    return s->last = next(s);
}

/* The first byte that may be a bracket or a quote; the caller checks. */
static inline const char *find_mark(const char *p, const char *end)
{
#if defined(__SSE2__)
    const __m128i bit = _mm_set1_epi8(0x20), odd = _mm_set1_epi8((char)0xe2), quote = _mm_set1_epi8('"');
    const __m128i open = _mm_set1_epi8('{'), shut = _mm_set1_epi8('}');
    for (; end - p >= 16; p += 16) {
        __m128i x = _mm_or_si128(_mm_loadu_si128((const __m128i *)p), bit); /* [ and ] become { and } */
        __m128i brackets = _mm_or_si128(_mm_cmpeq_epi8(x, open), _mm_cmpeq_epi8(x, shut));
        __m128i quotes = _mm_or_si128(_mm_cmpeq_epi8(x, quote), _mm_cmpeq_epi8(x, odd));
        unsigned found = (unsigned)_mm_movemask_epi8(_mm_or_si128(brackets, quotes));
        if (found) return p + __builtin_ctz(found);
    }
#endif
    while (p < end && kind[(unsigned char)*p] < OPEN) p++;
    return p;
}

void rs_scan_leave(struct rs_scan *s, unsigned depth)
{
    bool in_word = false; /* a typographic quote inside a word begins no string */
    s->last = RS_T_CLOSE;
    while (s->depth >= depth && s->depth) {
        const char *p = find_mark(s->at, s->end);
        if (p > s->at) in_word = kind[(unsigned char)p[-1]] == BARE;
        s->at = p;
        if (p == s->end) {
            if (!refill(s)) end_input(s);
            continue;
        }
        unsigned k = kind[(unsigned char)*p];
        size_t behind = 1;
        if (k == QUOTE || (k == ODD && !in_word && is_odd_quote(s, 0))) {
            string_length(s, k == QUOTE ? 1 : 3, &behind);
        } else if (k == OPEN) {
            open_level(s, *p == '{');
        } else if (k == SHUT) {
            close_level(s);
        }
        in_word = k == BARE || (k == ODD && behind == 1);
        s->at += behind;
    }
    s->text = "";
    s->n = 0;
}

void rs_scan_skip(struct rs_scan *s)
{
    if (s->last == RS_T_KEY) rs_scan_next(s);
    if (s->last == RS_T_OBJECT || s->last == RS_T_ARRAY) rs_scan_leave(s, s->depth);
}

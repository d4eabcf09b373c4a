/* What a token says: the part of base/scan.h that knows nothing of where tokens come from. */
#include "base/scan.h"

#include <stdlib.h>

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

/* Where the digits stop that begin at `i`. */
static size_t digits_end(const struct rs_scan *s, size_t i)
{
    while (i < s->n && (unsigned char)(s->text[i] - '0') < 10) i++;
    return i;
}

/* The exponent from `i` to the end; bounded, as no result has so many digits. */
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
    /* The first `keep` digits are the result; the one behind them rounds. */
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

/* What stands at `i`, as it is meant, in `to` (4 bytes); *n its length. Returns where it ends. */
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
        to[0] = into[escape - from]; /* other letters: a path that nobody escaped, left as it is */
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
            /* no half of a character that stood there as UTF-8 */
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

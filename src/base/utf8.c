#include "base/utf8.h"

size_t rs_utf8_length(const char *text, size_t n)
{
    const unsigned char *s = (const unsigned char *)text;
    unsigned char lead = s[0];
    unsigned char low = 0x80, high = 0xbf; /* bounds of the second byte */
    size_t len;
    if (lead < 0x80) return 1;
    if (lead >= 0xc2 && lead <= 0xdf) {
        len = 2;
    } else if (lead >= 0xe0 && lead <= 0xef) {
        len = 3;
        if (lead == 0xe0) low = 0xa0;
        if (lead == 0xed) high = 0x9f;
    } else if (lead >= 0xf0 && lead <= 0xf4) {
        len = 4;
        if (lead == 0xf0) low = 0x90;
        if (lead == 0xf4) high = 0x8f;
    } else {
        return 0;
    }
    if (len > n || s[1] < low || s[1] > high) return 0;
    for (size_t i = 2; i < len; i++)
        if (s[i] < 0x80 || s[i] > 0xbf) return 0;
    return len;
}

/* The offset of the first invalid byte; n: none. */
static size_t first_bad(const char *s, size_t n)
{
    size_t i = 0, len;
    while (i < n && (len = (signed char)s[i] >= 0 ? 1 : rs_utf8_length(s + i, n - i)) > 0) i += len;
    return i;
}

const char *rs_utf8_whole(const char *text, size_t *n, struct rs_strbuf *room)
{
    size_t bad = first_bad(text, *n);
    if (bad == *n) return text;
    rs_strbuf_clear(room);
    for (size_t at = 0; at < *n;) {
        rs_strbuf_add(room, text + at, bad);
        at += bad;
        if (at == *n) break;
        rs_strbuf_puts(room, RS_UTF8_STAND_IN);
        at++;
        bad = first_bad(text + at, *n - at);
    }
    *n = room->len;
    return rs_strbuf_borrow(room);
}

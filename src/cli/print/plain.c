#include "cli/print/plain.h"

#include <stdbool.h>
#include <string.h>

static bool is_control(unsigned char c)
{
    return c < 0x20 || c == 0x7f;
}

/* The controls U+0080 to U+009F, which some terminals obey like an escape: their second byte in UTF-8. */
static bool is_high_control(unsigned char before, unsigned char c)
{
    return before == 0xc2 && c >= 0x80 && c < 0xa0;
}

void rs_plain(char *text)
{
    unsigned char before = 0;
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (is_control(c)) *text = '?';
        if (is_high_control(before, c)) text[-1] = text[0] = '?';
        before = c;
    }
}

void rs_plain_print(const char *text, size_t n, FILE *to)
{
    for (size_t i = 0; i < n; i++) {
        bool high = i + 1 < n && is_high_control((unsigned char)text[i], (unsigned char)text[i + 1]);
        fputc(high || is_control((unsigned char)text[i]) ? '?' : text[i], to);
        i += high;
    }
}

void rs_plain_line(const char *text, FILE *to)
{
    rs_plain_print(text, strlen(text), to);
    fputc('\n', to);
}

static bool begins(char c)
{
    return ((unsigned char)c & 0xc0) != 0x80;
}

void rs_plain_cut(char *text, size_t width)
{
    size_t n = 0;
    for (const char *p = text; *p; p++) n += begins(*p);
    if (n <= width) return;
    size_t tail = (width - 3) / 3, head = width - 3 - tail, seen = 0;
    char *cut = NULL, *end = text + strlen(text), *rest = end;
    for (char *p = text; *p; p++) {
        if (!begins(*p)) continue;
        if (seen == head) cut = p;
        if (seen == n - tail) rest = p;
        seen++;
    }
    if (!cut || rest < cut + 3) return; /* wide characters alone: as they are */
    memcpy(cut, "...", 3);
    memmove(cut + 3, rest, (size_t)(end - rest) + 1);
}

#include "cli/print/screen.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "cli/print/plain.h"

size_t rs_screen_width(void)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    size_t width = columns ? (size_t)strtoul(columns, NULL, 10) : 0;
    if (!width && !isatty(STDOUT_FILENO)) return SIZE_MAX;
    if (!width && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) width = size.ws_col;
    if (!width) width = 80; /* a terminal that does not know, as on a serial line */
    return width < RS_SCREEN_NARROW ? RS_SCREEN_NARROW : width;
}

static bool colours(void)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
    return isatty(STDOUT_FILENO) && (!no || !*no) && term && strcmp(term, "dumb") != 0;
}

const char *rs_screen_style(enum rs_style style)
{
    static const char *const on[RS_STYLES] = {"\033[0m", "\033[1m", "\033[1;31m"};
    return colours() ? on[style] : "";
}

size_t rs_screen_chars(const char *text)
{
    size_t n = 0;
    for (; *text; text++) n += ((unsigned char)*text & 0xc0) != 0x80;
    return n;
}

/* ---- paragraphs ---- */

static size_t chars(const char *text, size_t bytes)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++) n += ((unsigned char)text[i] & 0xc0) != 0x80;
    return n;
}

/* A number and its unit, "0.56 s", "[3.0 ms": the bytes of both; 0: no such text. */
static size_t amount(const char *text)
{
    enum { LONGEST_UNIT = 4 }; /* GB/s, MiB, ms, %; with what follows it (".", "]") one more */
    size_t open = strspn(text, "([<"), digits = strspn(text + open, "0123456789.,");
    const char *unit = text + open + digits;
    if (!digits || *unit++ != ' ') return 0;
    size_t n = strcspn(unit, " ");
    return n && n <= LONGEST_UNIT + 1 ? (size_t)(unit - text) + n : 0;
}

/* Bytes up to the next place where a line may be broken: a blank outside of `commands` that fit on a line. */
static size_t piece(const char *text, size_t width)
{
    size_t n = amount(text);
    if (n) return n;
    n = strcspn(text, " `");
    while (text[n] == '`') {
        const char *close = strchr(text + n + 1, '`');
        if (!close || chars(text + n, (size_t)(close - text) - n) > width) return n + strcspn(text + n, " ");
        n = (size_t)(close - text) + 1;
        n += strcspn(text + n, " `");
    }
    return n;
}

/* n bytes, each in its style. */
static void put(const char *text, const unsigned char *styles, size_t n)
{
    unsigned char now = RS_STYLE_NONE;
    for (size_t i = 0; i < n; i++) {
        if (styles && styles[i] != now) {
            if (now) fputs(rs_screen_style(RS_STYLE_NONE), stdout);
            now = styles[i];
            if (now) fputs(rs_screen_style(now), stdout);
        }
        fputc(text[i], stdout);
    }
    if (now) fputs(rs_screen_style(RS_STYLE_NONE), stdout);
}

/* Where further lines begin: behind a label and the blanks that follow it, else behind those of the line and two more. */
static size_t indent_of(const char *text, size_t width)
{
    enum { MORE = 2, LONGEST_LABEL = 12 };
    size_t begin = strspn(text, " "), word = strcspn(text + begin, " "), gap = strspn(text + begin + word, " ");
    size_t behind = begin + word + gap, indent = gap > 1 && word <= LONGEST_LABEL ? behind : begin + MORE;
    return indent < width / 2 ? indent : MORE;
}

static void put_paragraph(const char *text, const unsigned char *styles)
{
    size_t width = rs_screen_width(), begin = 0, end = 0, used = 0, room = width, indent = indent_of(text, width);
    for (size_t at = 0; text[at];) {
        size_t blanks = strspn(text + at, " "), n = piece(text + at + blanks, width - indent);
        size_t more = blanks + chars(text + at + blanks, n);
        if (end > begin + strspn(text + begin, " ") &&
            used + more > room) { /* the blanks go with the end of the line */
            put(text + begin, styles ? styles + begin : NULL, end - begin);
            printf("\n%*s", (int)indent, "");
            begin = at + blanks;
            used = more - blanks;
            room = width - indent;
        } else {
            used += more;
        }
        at += blanks + n;
        end = at;
    }
    put(text + begin, styles ? styles + begin : NULL, end - begin);
    fputc('\n', stdout);
}

/* The line that is not complete yet, and the style of each of its bytes. */
static struct rs_strbuf line, line_styles;

static void add(enum rs_style style, const char *text)
{
    rs_strbuf_puts(&line, text);
    while (line_styles.len < line.len) rs_strbuf_putc(&line_styles, (char)style);
}

static void end_line(void)
{
    if (line.len) {
        rs_plain(line.data);
        put_paragraph(line.data, (const unsigned char *)line_styles.data);
    } else {
        fputc('\n', stdout);
    }
    rs_strbuf_free(&line);
    rs_strbuf_free(&line_styles);
}

void rs_screen_print(const char *fmt, ...)
{
    va_list ap, again;
    va_start(ap, fmt);
    va_copy(again, ap);
    size_t room = (size_t)vsnprintf(NULL, 0, fmt, again) + 1;
    va_end(again);
    char *text = rs_alloc(room), *from = text;
    vsnprintf(text, room, fmt, ap);
    va_end(ap);
    for (char *end; (end = strchr(from, '\n')); from = end + 1) {
        *end = 0;
        add(RS_STYLE_NONE, from);
        end_line();
    }
    add(RS_STYLE_NONE, from);
    free(text);
}

void rs_screen_word(enum rs_style style, const char *word)
{
    add(style, word);
}

/* ---- conclusions ---- */

static bool is_culprit(long rank, const int32_t *ranks, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (ranks[i] == rank) return true;
    return false;
}

/* Marks "rank 5" and "ranks 2,5": each of the numbers behind the word. */
static void mark_ranks(const char *text, unsigned char *styles, const int32_t *ranks, size_t n)
{
    for (const char *at = text; (at = strpbrk(at, "Rr")); at++) {
        if (strncmp(at + 1, "ank", 3) != 0 || (at > text && isalnum((unsigned char)at[-1]))) continue;
        const char *word = at, *p = at + 4 + (at[4] == 's');
        if (*p++ != ' ' || !isdigit((unsigned char)*p)) continue;
        for (char *end; isdigit((unsigned char)*p); p = end + (*end == ',') + (end[0] == ',' && end[1] == ' ')) {
            if (is_culprit(strtol(p, &end, 10), ranks, n))
                memset(styles + (word - text), RS_STYLE_CULPRIT, (size_t)(end - word));
            word = end + (*end == ',') + (end[0] == ',' && end[1] == ' ');
        }
    }
}

void rs_screen_conclude(const char *const *lines, size_t n, const int32_t *ranks, size_t nranks)
{
    for (size_t i = 0; i < n; i++) {
        size_t room = strlen(lines[i]) + 1;
        char *text = rs_alloc(room);
        unsigned char *styles = rs_zalloc(room, 1);
        memcpy(text, lines[i], room);
        rs_plain(text);
        const char *first = strstr(text, ". ");
        if (!i) memset(styles, RS_STYLE_BOLD, first ? (size_t)(first - text) + 1 : room);
        mark_ranks(text, styles, ranks, nranks);
        put_paragraph(text, styles);
        free(text);
        free(styles);
    }
}

void rs_screen_conclude_named(const char *const *lines, size_t n, const struct rs_model *m, const bool *named)
{
    int32_t *ranks = rs_alloc(((size_t)m->nranks + 1) * sizeof *ranks);
    size_t nranks = 0;
    for (uint32_t i = 0; named && i < m->nranks; i++)
        if (named[i] && m->ranks[i].number >= 0) ranks[nranks++] = m->ranks[i].number;
    rs_screen_conclude(lines, n, ranks, nranks);
    free(ranks);
}

#include "picture/words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/moment.h"

/* Decodes one character; returns its bytes, 0 if not UTF-8. */
static size_t decode(const unsigned char *p, uint32_t *code)
{
    if (p[0] < 0x80) return *code = p[0], 1;
    size_t n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4) return 0;
    *code = p[0] & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0; /* also the final 0 */
        *code = *code << 6 | (p[i] & 0x3fu);
    }
    if ((n == 3 && *code < 0x800) || (n == 4 && (*code < 0x10000 || *code > 0x10ffff))) return 0;
    return n;
}

/* Controls, surrogates, what XML forbids, and what has no width on a line. */
static bool is_bad(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || (c >= 0x300 && c < 0x370) || c == 0x61c ||
           (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
           (c >= 0xd800 && c < 0xe000) || (c >= 0xfe00 && c <= 0xfe0f) || c == 0xfeff || (c & 0xfffe) == 0xfffe ||
           (c >= 0xfff0 && c <= 0xfffb) || (c >= 0xe0000 && c < 0xe1000);
}

/* Scripts of East Asia take two columns; punctuation, arrows and boxes between them one. */
static unsigned columns_of(uint32_t code)
{
    return code >= 0x1100 && !(code >= 0x2010 && code < 0x2e80) ? 2 : 1;
}

unsigned rs_words_clean(const char *text, char *out, size_t size)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t used = 0;
    unsigned columns = 0;
    while (*p && size > 0) {
        uint32_t code = 0;
        size_t n = decode(p, &code);
        bool bad = n == 0 || is_bad(code);
        if (used + (bad ? 1 : n) >= size) break;
        if (bad)
            out[used++] = '?';
        else
            memcpy(out + used, p, n), used += n;
        columns += bad ? 1 : columns_of(code);
        p += n ? n : 1;
    }
    if (size > 0) out[used] = '\0';
    return columns;
}

unsigned rs_words_fit(const char *text, unsigned columns, char *out, size_t size)
{
    unsigned have = rs_words_clean(text, out, size);
    if (have <= columns) return have;
    unsigned room = columns > 2 ? columns - 2 : columns;
    size_t cut = 0;
    unsigned n = 0;
    while (out[cut]) {
        uint32_t code = 0;
        size_t bytes = decode((const unsigned char *)out + cut, &code);
        unsigned wide = columns_of(code);
        if (n + wide > room) break;
        n += wide;
        cut += bytes;
    }
    out[cut] = '\0';
    if (columns > 2 && cut + 3 <= size) {
        memcpy(out + cut, "..", 3);
        n += 2;
    }
    return n;
}

void rs_words_duration(int64_t ns, char *out, size_t size)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double value = ns < 0 ? -(double)ns : (double)ns;
    int unit = 0;
    for (; unit < 3 && value >= 999.5; unit++) value /= 1000;
    int digits = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(out, size, "%s%.*f %s", ns < 0 ? "-" : "", digits, value, units[unit]);
}

void rs_words_bytes(int64_t bytes, char *out, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    int unit = 0;
    for (; unit < 6 && value >= 1023.5; unit++) value /= 1024;
    bool whole = unit == 0 || value >= 99.95 || value - (double)(int64_t)value < 0.05;
    snprintf(out, size, "%.*f %s", whole ? 0 : 1, value, units[unit]);
}

static const struct rs_bar_kind *kind_of(const struct rs_timeline *t, uint8_t kind)
{
    return kind < t->kinds.n ? &t->kinds.rows[kind] : NULL;
}

const char *rs_words_name(const struct rs_timeline *t, const struct rs_picture_bar *bar)
{
    const char *name = rs_texts_at(&t->texts, bar->name);
    if (*name) return name;
    const struct rs_bar_kind *kind = kind_of(t, bar->kind);
    return kind && kind->label ? kind->label : "?";
}

void rs_words_size(const struct rs_timeline *t, const struct rs_picture_bar *bar, char *out, size_t size)
{
    out[0] = '\0';
    const struct rs_bar_kind *kind = kind_of(t, bar->kind);
    for (unsigned i = 0; kind && i < RS_BAR_ARGS && kind->args[i]; i++) {
        if (rs_bar_arg(kind, i)->unit != RS_UNIT_BYTES) continue;
        if (bar->args[i] == RS_BAR_NO_ARG || bar->args[i] < 0) continue;
        rs_words_bytes(bar->args[i], out, size);
        return;
    }
}

static void argument(const struct rs_timeline *t, const struct rs_event_arg *arg, int64_t value, struct rs_strbuf *out)
{
    char text[100], label[60];
    if (arg->unit == RS_UNIT_TIME)
        rs_words_duration(value, text, sizeof(text));
    else if (arg->unit == RS_UNIT_BYTES)
        rs_words_bytes(value, text, sizeof(text));
    else if (arg->unit == RS_UNIT_TEXT)
        rs_words_clean(value >= 0 && value < UINT32_MAX ? rs_texts_at(&t->texts, (uint32_t)value) : "?", text,
                       sizeof(text));
    else if (arg->unit == RS_UNIT_HEX)
        snprintf(text, sizeof(text), "0x%" PRIx64, (uint64_t)value);
    else
        snprintf(text, sizeof(text), "%" PRId64, value);
    rs_words_clean(arg->label, label, sizeof(label));
    rs_strbuf_printf(out, "\n%s: %s", label, text);
}

void rs_words_tooltip(const struct rs_timeline *t, const struct rs_picture_bar *bar, struct rs_strbuf *out)
{
    static const struct {
        uint8_t flag;
        const char *words;
    } texts[] = {
        {RS_BAR_LOST, "callbacks were lost here"},
        {RS_BAR_NOT_RECORDED, "nothing was recorded here"},
        {RS_BAR_LAST, "the last to arrive"},
        {RS_BAR_START_UNKNOWN, "its start is unknown: drawn from its launch or call"},
        {RS_BAR_OPEN, "not ended at the end of the recording"},
        {RS_BAR_MISMATCH, "its arguments differ from the other ranks'"},
        {RS_BAR_HELPED, "another process did some of its network work"},
    };
    char text[160], more[48];
    rs_words_clean(rs_words_name(t, bar), text, sizeof(text));
    rs_strbuf_puts(out, text);
    rs_moment_text(bar->start, text, sizeof(text));
    rs_words_duration(bar->dur, more, sizeof(more));
    rs_strbuf_printf(out, "\nat %s, %s%s", text, bar->flags & RS_BAR_END_BOUNDED ? "at least " : "", more);
    if (bar->flags & RS_BAR_END_BOUNDED) {
        rs_words_duration(rs_time_plus(bar->dur, bar->fade), more, sizeof(more));
        rs_strbuf_printf(out, ", at most %s", more);
    }
    if (bar->wait > 0 && bar->flags & RS_BAR_OPEN && bar->wait >= bar->dur) {
        rs_strbuf_puts(out, ", all of it waiting: another rank did not arrive");
    } else if (bar->wait > 0) {
        rs_words_duration(bar->wait, more, sizeof(more));
        rs_strbuf_printf(out, ", of which %s waiting for the last rank", more);
    }
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (bar->flags & texts[i].flag) rs_strbuf_printf(out, "\n%s", texts[i].words);
    const struct rs_bar_kind *kind = kind_of(t, bar->kind);
    for (unsigned i = 0; kind && i < RS_BAR_ARGS && kind->args[i]; i++)
        if (bar->args[i] != RS_BAR_NO_ARG) argument(t, rs_bar_arg(kind, i), bar->args[i], out);
}

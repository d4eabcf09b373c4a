#include "analyse/words.h"

#include <inttypes.h>

#include "base/memory.h"
#include "base/moment.h"

/* Two significant digits, at most three before the unit. */
static void scaled(struct rs_strbuf *s, double value, const char *unit)
{
    rs_strbuf_printf(s, "%.*f %s", value < 1 ? 2 : value < 9.95 ? 1 : 0, value, unit);
}

void rs_words_ns(struct rs_strbuf *s, int64_t ns)
{
    double x = (double)ns;
    if (x < 0) rs_strbuf_putc(s, '-');
    if (x < 0) x = -x;
    if (x < 999.5)
        rs_strbuf_printf(s, "%.0f ns", x);
    else if (x < 999.5e3)
        scaled(s, x / 1e3, "us");
    else if (x < 500e6)
        scaled(s, x / 1e6, "ms");
    else
        scaled(s, x / 1e9, "s");
}

/* "64 MiB" */
static void words_bytes(struct rs_strbuf *s, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double x = (double)bytes;
    int unit = 0;
    for (; unit < 6 && x >= 1024; unit++) x /= 1024;
    bool whole = x - (double)(uint64_t)x < 0.05 || x >= 100;
    rs_strbuf_printf(s, "%.*f %s", whole ? 0 : 1, x, units[unit]);
}

void rs_words_moment(struct rs_strbuf *s, const struct rs_model *m, int64_t ns)
{
    char text[RS_MOMENT_ROOM];
    rs_moment_text(rs_time_minus(ns, rs_model_begin(m)), text, sizeof text);
    rs_strbuf_puts(s, text);
}

void rs_words_func(struct rs_strbuf *s, const struct rs_model *m, const struct rs_func_row *row)
{
    const char *func = rs_model_text(m, row->func);
    rs_strbuf_puts(s, *func ? func : "operation");
    rs_strbuf_puts(s, row->bytes_min != row->bytes_max ? " of about " : " of ");
    words_bytes(s, row->bytes);
}

void rs_words_sentence(char ***list, uint32_t *n, struct rs_strbuf *s)
{
    char *text = NULL;
    rs_strbuf_take(s, &text);
    rs_strbuf_free(s);
    if (*text >= 'a' && *text <= 'z') *text = (char)(*text - 'a' + 'A');
    *list = rs_realloc(*list, (*n + 1) * sizeof **list);
    (*list)[(*n)++] = text;
}

void rs_words_interval(struct rs_strbuf *s, int64_t ns, int64_t low, int64_t high)
{
    rs_words_ns(s, ns);
    if (low == RS_TIME_NONE || high == RS_TIME_NONE || low == high) return;
    rs_strbuf_puts(s, " [");
    rs_words_ns(s, low);
    rs_strbuf_puts(s, ", ");
    rs_words_ns(s, high);
    rs_strbuf_putc(s, ']');
}

void rs_words_share(struct rs_strbuf *s, double percent)
{
    rs_strbuf_printf(s, percent >= 9.5 ? " (%.0f %%)" : " (%.1f %%)", percent);
}

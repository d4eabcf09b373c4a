#include "picture/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/strbuf.h"
#include "picture/conclusion.h"
#include "picture/palette.h"
#include "picture/words.h"

enum {
    LEAST_WIDTH = 40,
    MOST_LABELS = 28,
    SUMS = 15, /* columns after the cells: how long a GPU waited, how often it was the last */
    LEAST_WIDTH_WITH_SUMS = 72,
};

struct page {
    const struct rs_picture_rows *rows;
    const struct rs_picture_options *o;
    const struct rs_layout *layout;
    unsigned width, labels; /* columns */
    char letters[256]; /* by kind; 0: none */
    struct rs_strbuf out;
    unsigned colour; /* current colour of the terminal; 0: its default */
    bool sums; /* shown after the cells */
};

static unsigned width_of(const struct rs_picture_options *o)
{
    return o->width < LEAST_WIDTH ? LEAST_WIDTH : o->width;
}

static unsigned label_columns(const struct rs_timeline *t, const struct rs_picture_options *o)
{
    unsigned most = o->fold ? 6 : 20, limit = width_of(o) / 4 < MOST_LABELS ? width_of(o) / 4 : MOST_LABELS;
    for (uint32_t i = 0; i < t->ngroups && o->fold; i++) {
        char text[120];
        if (t->groups[i].level != RS_GROUP_RANK) continue;
        unsigned columns = rs_words_clean(rs_texts_at(&t->texts, t->groups[i].label), text, sizeof(text));
        if (columns > most) most = columns;
    }
    return most < limit ? most : limit;
}

static bool has_sums(const struct rs_picture_options *o)
{
    return o->fold && width_of(o) >= LEAST_WIDTH_WITH_SUMS;
}

unsigned rs_text_cells(const struct rs_timeline *t, const struct rs_picture_options *o)
{
    return width_of(o) - label_columns(t, o) - 2 - (has_sums(o) ? SUMS : 0);
}

/* ---- letters ---- */

/* The usual ones have the same letter in every run. */
static const struct {
    const char *label;
    char letter;
} usual[] = {{"AllReduce", 'A'},     {"Send", 'S'},   {"Recv", 'R'},     {"Broadcast", 'B'}, {"AllGather", 'G'},
             {"ReduceScatter", 'E'}, {"Reduce", 'D'}, {"AlltoAll", 'T'}, {"kernel", 'K'}};

static bool is_taken(const char *letters, char letter)
{
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
        if (usual[i].letter == letter) return true;
    for (unsigned i = 0; i < 256; i++)
        if (letters[i] == letter) return true;
    return false;
}

/* The capital of its name, else another letter of it, else any; if all are in use, '*'. */
static char letter_for(const char *letters, const char *label)
{
    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
        if (!strcmp(usual[i].label, label)) return usual[i].letter;
    for (int pass = 0; pass < 2; pass++)
        for (const char *p = label; *p; p++) {
            unsigned char c = (unsigned char)*p;
            if (!(pass == 0 ? isupper(c) : isalpha(c)) || c >= 0x80) continue;
            char letter = (char)toupper(c);
            if (!is_taken(letters, letter)) return letter;
        }
    for (char letter = 'A'; letter <= 'Z'; letter++)
        if (!is_taken(letters, letter)) return letter;
    return '*';
}

/* ---- cells ---- */

static void put_colour(struct page *p, unsigned colour)
{
    if (!p->o->colour || colour == p->colour) return;
    if (colour == 0)
        rs_strbuf_puts(&p->out, "\033[0m");
    else
        rs_strbuf_printf(&p->out, "\033[38;5;%um", colour);
    p->colour = colour;
}

static unsigned colour_of(const struct page *p, const char *word, unsigned place)
{
    return rs_colour_256(rs_colour_of(word, place, p->o->dark ? &rs_theme_dark : &rs_theme_light));
}

static unsigned kind_colour(const struct page *p, uint8_t kind)
{
    const struct rs_kinds *kinds = &p->rows->timeline->kinds;
    return colour_of(p, kind < kinds->n ? kinds->rows[kind].colour : NULL, kind);
}

static void put_cell(struct page *p, const struct rs_pixels *s, unsigned x)
{
    static const char *const eighths[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    uint8_t shade = s->shade[x], kind = (uint8_t)(s->kind[x] - 1);
    if (shade & RS_SHADE_LOST) {
        put_colour(p, colour_of(p, "lost", 0));
        rs_strbuf_putc(&p->out, '!');
        return;
    }
    if (shade & RS_SHADE_NOT_RECORDED) {
        put_colour(p, colour_of(p, "not-recorded", 0));
        rs_strbuf_putc(&p->out, ':');
        return;
    }
    put_colour(p, kind_colour(p, kind));
    bool begins = x == 0 || s->kind[x - 1] != s->kind[x] || shade & RS_SHADE_EDGE;
    char letter = p->letters[kind] ? p->letters[kind] : '*';
    if (shade & RS_SHADE_FADE)
        rs_strbuf_puts(&p->out, p->o->ascii ? "~" : "▒");
    else if (p->o->ascii)
        rs_strbuf_putc(&p->out, s->cover[x] < 0.125f    ? '.'
                                : shade & RS_SHADE_WAIT ? (char)tolower((unsigned char)letter)
                                                        : letter);
    else if (!p->o->colour && begins)
        rs_strbuf_putc(&p->out, letter);
    else if (shade & RS_SHADE_WAIT)
        rs_strbuf_puts(&p->out, "░");
    else {
        int level = (int)(s->cover[x] * 8 + 0.5f) - 1;
        rs_strbuf_puts(&p->out, eighths[level < 0 ? 0 : level > 7 ? 7 : level]);
    }
}

/* Clean text in ASCII: one character for each. */
static void make_ascii(char *text)
{
    char *to = text;
    for (const char *from = text; *from; from++) {
        unsigned char c = (unsigned char)*from;
        if (c >= 0x80 && c < 0xc0) continue;
        bool dot = c == 0xc2 && (unsigned char)from[1] == 0xb7; /* in "rank 0 · GPU 0" */
        *to++ = c < 0x80 ? *from : dot ? '-' : '?';
    }
    *to = '\0';
}

static void put_label(struct page *p, const char *label)
{
    char text[160];
    unsigned columns = rs_words_fit(label, p->labels, text, sizeof(text));
    if (p->o->ascii) {
        make_ascii(text);
        columns = (unsigned)strlen(text);
    }
    rs_strbuf_printf(&p->out, "%s%*s", text, columns < p->labels ? (int)(p->labels - columns) : 0, "");
}

static void end_line(struct page *p)
{
    while (p->out.len > 0 && p->out.data[p->out.len - 1] == ' ') p->out.data[--p->out.len] = '\0';
    rs_strbuf_putc(&p->out, '\n');
}

/* After the cells of a GPU. Empty if no rank waited. */
static void put_sums(struct page *p, const struct rs_picture_row *row)
{
    char waited[32] = "-", last[16] = "-";
    if (!p->sums) return;
    if (row->wait > 0) rs_words_duration(row->wait, waited, sizeof(waited));
    if (row->last > 0) snprintf(last, sizeof(last), "%u", (unsigned)row->last);
    rs_strbuf_printf(&p->out, "%8s %5s", waited, last);
}

static void put_row(struct page *p, const struct rs_picture_row *row)
{
    char label[200];
    rs_picture_row_label(p->rows, row, label, sizeof(label));
    put_label(p, label);
    rs_strbuf_puts(&p->out, p->o->ascii ? "|" : "│");
    for (unsigned x = 0; x < p->rows->take.width; x++) {
        if (row->upper.width > 0 && row->upper.kind[x])
            put_cell(p, &row->upper, x);
        else if (row->lower.width > 0 && row->lower.kind[x])
            put_cell(p, &row->lower, x);
        else {
            put_colour(p, 0);
            rs_strbuf_putc(&p->out, ' ');
        }
    }
    put_colour(p, 0);
    rs_strbuf_putc(&p->out, row->open ? '>' : ' ');
    put_sums(p, row);
    end_line(p);
}

/* ---- header and footer ---- */

static void put_ruler(struct page *p)
{
    char line[1024], label[64];
    unsigned cells = p->rows->take.width < sizeof(line) - 1 ? p->rows->take.width : (unsigned)sizeof(line) - 1;
    struct rs_ruler r = rs_ruler_make(p->rows->take.from, p->rows->take.to, cells / 14 ? cells / 14 : 1);
    memset(line, ' ', cells);
    line[cells] = '\0';
    int64_t at = r.first;
    for (unsigned i = 0; i < 200 && at < r.to; i++) {
        double place = ((double)at - (double)r.from) / ((double)r.to - (double)r.from) * p->rows->take.width;
        unsigned x = (unsigned)place;
        rs_ruler_label(&r, at, label, sizeof(label));
        if (x < cells) line[x] = '|';
        if (x + 1 + strlen(label) <= cells) memcpy(line + x + 1, label, strlen(label));
        if (at > INT64_MAX - r.step) break;
        at += r.step;
    }
    rs_ruler_base(&r, label, sizeof(label));
    put_label(p, label);
    rs_strbuf_printf(&p->out, " %s", line);
    if (p->sums) rs_strbuf_printf(&p->out, "%*s %8s %5s", (int)(p->rows->take.width - cells), "", "waited", "last");
    end_line(p);
}

/* The legend, in as many lines as it takes. */
static void put_legend(struct page *p)
{
    static const char *const blocks[RS_LEGEND_WHATS] = {[RS_LEGEND_WAIT] = "░",
                                                        [RS_LEGEND_FADE] = "▒",
                                                        [RS_LEGEND_OPEN] = ">",
                                                        [RS_LEGEND_LOST] = "!",
                                                        [RS_LEGEND_NOT_RECORDED] = ":"};
    static const char *const plain[RS_LEGEND_WHATS] = {[RS_LEGEND_WAIT] = "abc",
                                                       [RS_LEGEND_FADE] = "~",
                                                       [RS_LEGEND_OPEN] = ">",
                                                       [RS_LEGEND_LOST] = "!",
                                                       [RS_LEGEND_NOT_RECORDED] = ":"};
    unsigned column = 0;
    for (uint32_t i = 0; i < p->layout->nlegend; i++) {
        const struct rs_layout_legend *entry = &p->layout->legend[i];
        char own[2] = {p->letters[entry->kind], '\0'}, text[60], same[8];
        const char *sample = entry->what != RS_LEGEND_KIND  ? (p->o->ascii ? plain : blocks)[entry->what]
                             : p->o->colour && !p->o->ascii ? "█"
                                                            : own;
        if (!sample || !*sample) continue;
        unsigned columns = rs_words_fit(entry->text, p->width - 6, text, sizeof(text)) + 1;
        columns += rs_words_clean(sample, same, sizeof(same));
        if (p->o->ascii) make_ascii(text);
        if (column > 0 && column + 2 + columns > p->width) {
            rs_strbuf_putc(&p->out, '\n');
            column = 0;
        }
        if (column > 0) {
            rs_strbuf_puts(&p->out, "  ");
            column += 2;
        }
        put_colour(p, entry->what == RS_LEGEND_KIND ? kind_colour(p, entry->kind) : 0);
        rs_strbuf_puts(&p->out, sample);
        put_colour(p, 0);
        rs_strbuf_printf(&p->out, " %s", text);
        column += columns;
    }
    if (column > 0) rs_strbuf_putc(&p->out, '\n');
}

static void put_line(struct page *p, const char *text)
{
    char line[600];
    if (!*text) return;
    rs_words_fit(text, p->width, line, sizeof(line));
    if (p->o->ascii) make_ascii(line);
    rs_strbuf_printf(&p->out, "%s\n", line);
}

/* The items of the footer, in as many lines as they take. */
static void put_footer(struct page *p)
{
    const char *between = p->o->ascii ? "; " : " · ", *at = p->layout->footer;
    char line[600] = "", longer[600], clean[600];
    while (*at) {
        const char *end = strstr(at, between);
        int n = end ? (int)(end - at) : (int)strlen(at);
        snprintf(longer, sizeof(longer), "%s%s%.*s", line, *line ? between : "", n, at);
        if (*line && rs_words_clean(longer, clean, sizeof(clean)) > p->width) {
            put_line(p, line);
            snprintf(longer, sizeof(longer), "%.*s", n, at);
        }
        memcpy(line, longer, sizeof(line));
        at += (size_t)n + (end ? strlen(between) : 0);
    }
    put_line(p, line);
}

/* Wrapped, with an empty line before it. */
static void put_conclusion(struct page *p)
{
    char line[4096];
    for (uint32_t i = 0; i < p->layout->nsentences; i++) {
        if (i == 0) rs_strbuf_putc(&p->out, '\n');
        for (const char *at = p->layout->sentences[i]; rs_conclusion_line(&at, p->width, line, sizeof line);)
            put_line(p, line);
    }
}

static void put_all(struct page *p)
{
    put_line(p, p->layout->title);
    put_ruler(p);
    uint32_t heading = 0;
    for (uint32_t i = 0; i < p->rows->n; i++) {
        if (heading < p->layout->nheadings && p->layout->headings[heading].before == i)
            put_line(p, p->layout->headings[heading++].text);
        put_row(p, &p->rows->rows[i]);
    }
    put_legend(p);
    put_footer(p);
    put_conclusion(p);
}

enum rs_status rs_text_draw(const struct rs_picture_rows *rows, const struct rs_picture_options *o, FILE *out,
                            const char *name, struct rs_err *err)
{
    struct rs_layout layout;
    rs_layout_words(&layout, rows, o, 0);
    enum rs_status status = RS_OK;
    struct page p = {
        .rows = rows, .o = o, .layout = &layout, .width = width_of(o), .labels = label_columns(rows->timeline, o)};
    for (uint32_t i = 0; i < layout.nlegend; i++)
        if (layout.legend[i].what == RS_LEGEND_KIND)
            p.letters[layout.legend[i].kind] = letter_for(p.letters, layout.legend[i].text);
    for (uint32_t i = 0; i < rows->n && has_sums(o); i++) p.sums |= rows->rows[i].wait > 0 || rows->rows[i].last > 0;
    put_all(&p);
    if (p.out.len && fwrite(p.out.data, 1, p.out.len, out) != p.out.len)
        status = rs_fail_errno(err, "%s: cannot write the timeline", name);
    rs_strbuf_free(&p.out);
    rs_layout_free(&layout);
    return status;
}

#include "picture/conclusion.h"

#include <string.h>

#include "picture/words.h"

enum { SIZE = 12, LINE = 17, BETWEEN = 4 }; /* pixels */
enum { MOST_COLUMNS = 1000, MOST_BYTES = 4 * MOST_COLUMNS + 1 }; /* of a line */

/* Of a character relative to the font size: wide ones, so that no line is cut off. */
#define LETTER 0.61

/* The first n bytes, clean. Returns their columns. */
static unsigned clean_piece(const char *from, size_t n, char *line, size_t size)
{
    char piece[MOST_BYTES];
    if (n >= sizeof piece) n = sizeof piece - 1;
    memcpy(piece, from, n);
    piece[n] = '\0';
    return rs_words_clean(piece, line, size);
}

bool rs_conclusion_line(const char **text, unsigned columns, char *line, size_t size)
{
    const char *from = *text;
    size_t taken = 0;
    if (!*from) return false;
    for (size_t next = 0; from[next]; next += strspn(from + next, " ")) {
        next += strcspn(from + next, " ");
        if (taken && clean_piece(from, next, line, size) > columns) break;
        taken = next;
    }
    char whole[MOST_BYTES];
    clean_piece(from, taken, whole, sizeof whole);
    rs_words_fit(whole, columns, line, size); /* a word that is longer than a line is cut */
    *text = from + taken + strspn(from + taken, " ");
    return true;
}

static unsigned columns_of(double width)
{
    double columns = (width - 2 * RS_LAYOUT_MARGIN) / (SIZE * LETTER);
    return columns < 20 ? 20 : columns > MOST_COLUMNS ? MOST_COLUMNS : (unsigned)columns;
}

double rs_conclusion_height(const struct rs_picture_options *o, double width)
{
    double height = 0;
    char line[MOST_BYTES];
    for (uint32_t i = 0; i < o->nsentences; i++) {
        height += BETWEEN;
        for (const char *at = o->sentences[i]; rs_conclusion_line(&at, columns_of(width), line, sizeof line);)
            height += LINE;
    }
    return height;
}

void rs_conclusion_paint(struct rs_canvas *c, const struct rs_layout *l, const struct rs_theme *theme)
{
    const struct rs_font font = {theme->text, SIZE, RS_ANCHOR_START, false};
    char line[MOST_BYTES];
    double y = l->conclusion_y;
    for (uint32_t i = 0; i < l->nsentences; i++) {
        y += BETWEEN;
        for (const char *at = l->sentences[i]; rs_conclusion_line(&at, columns_of(l->width), line, sizeof line);
             y += LINE)
            c->text(c, RS_LAYOUT_MARGIN, y + SIZE, line, &font);
    }
}

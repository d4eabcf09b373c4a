#include "picture/layout.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/moment.h"
#include "picture/conclusion.h"
#include "picture/legend.h"
#include "picture/words.h"

enum {
    LEAST_WIDTH = 300,
    TITLE_HEIGHT = 30,
    RULER_HEIGHT = 20,
    OPEN_LABELS = 184, /* width of the labels' column if rows are lanes */
    MOST_LABELS = 210,
    HEADING_HEIGHT = 17,
    MOST_HEIGHT = 100, /* of a row with many lanes */
    LINE = 17, /* of legend and footer */
};

/* Of a character relative to the font size: wide ones, so that entries never touch. */
#define LEGEND_WIDTH 0.61

static unsigned width_of(const struct rs_picture_options *o)
{
    return o->width < LEAST_WIDTH ? LEAST_WIDTH : o->width;
}

unsigned rs_layout_plot_width(const struct rs_timeline *t, const struct rs_picture_options *o)
{
    unsigned labels = OPEN_LABELS;
    for (uint32_t i = 0; i < t->ngroups && o->fold; i++) {
        char text[120];
        if (t->groups[i].level != RS_GROUP_RANK && t->groups[i].level != RS_GROUP_PROCESS) continue;
        if (t->groups[i].level == RS_GROUP_PROCESS && i + 1 < t->ngroups && t->groups[i + 1].parent == i) continue;
        unsigned columns = rs_words_clean(rs_texts_at(&t->texts, t->groups[i].label), text, sizeof(text));
        unsigned wide = (unsigned)(columns * 11 * RS_FONT_WIDTH) + 18;
        if (i == 0 || labels == OPEN_LABELS || wide > labels) labels = wide;
    }
    if (labels < 60) labels = 60;
    if (labels > MOST_LABELS) labels = MOST_LABELS;
    return width_of(o) - labels - 2 * RS_LAYOUT_MARGIN;
}

/* ---- headings ---- */

static void add_heading(struct rs_layout *l, const struct rs_timeline *t, uint32_t before, const uint32_t *groups,
                        unsigned n, bool ascii)
{
    RS_ROOM(l->headings, l->nheadings, l->cap_headings);
    struct rs_layout_heading *h = &l->headings[l->nheadings++];
    *h = (struct rs_layout_heading){.before = before, .group = groups[n - 1], .depth = t->groups[groups[0]].level};
    size_t used = 0;
    for (unsigned i = 0; i < n; i++) {
        char text[120];
        const char *label = rs_texts_at(&t->texts, t->groups[groups[i]].label);
        /* "pid 7" before "pid 7 (python)" is redundant. */
        if (i + 1 < n && !strncmp(label, rs_texts_at(&t->texts, t->groups[groups[i + 1]].label), strlen(label)))
            continue;
        rs_words_fit(label, 60, text, sizeof(text));
        int more = snprintf(h->text + used, sizeof(h->text) - used, "%s%s", used ? (ascii ? " > " : " › ") : "", text);
        if (more < 0 || used + (size_t)more >= sizeof(h->text)) break;
        used += (size_t)more;
    }
    h->text[used] = '\0'; /* what does not fit entirely is omitted */
}

/* The only communicator of all rows of a rank, from row i on; RS_NONE: several, or none. */
static uint32_t only_comm(const struct rs_picture_rows *r, uint32_t i, uint32_t rank)
{
    const struct rs_timeline *t = r->timeline;
    uint32_t only = RS_NONE;
    for (; i < r->n && rs_picture_group_at(t, r->rows[i].group, RS_GROUP_RANK) == rank; i++) {
        uint32_t comm = rs_picture_group_at(t, r->rows[i].group, RS_GROUP_COMM);
        if (comm == RS_NONE || comm == only) continue;
        if (only != RS_NONE) return RS_NONE;
        only = comm;
    }
    return only;
}

/* A heading names the groups that begin with a row; a rank's also its communicator, if there is only one. */
static void open_headings(struct rs_layout *l, const struct rs_picture_rows *r, bool ascii)
{
    const struct rs_timeline *t = r->timeline;
    uint32_t now[RS_GROUP_COMM + 1], alone = RS_NONE;
    memset(now, 0xff, sizeof(now)); /* RS_NONE */
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t fresh[RS_GROUP_COMM + 1];
        unsigned n = 0;
        for (int level = RS_GROUP_HOST; level <= RS_GROUP_COMM; level++) {
            uint32_t group = rs_picture_group_at(t, r->rows[i].group, (enum rs_group_level)level);
            if (level == RS_GROUP_COMM && now[RS_GROUP_RANK] != RS_NONE) {
                if (n > 0 && fresh[n - 1] == now[RS_GROUP_RANK]) alone = only_comm(r, i, now[RS_GROUP_RANK]);
                if (group == RS_NONE) group = alone;
            }
            if (group == now[level]) continue;
            now[level] = group;
            for (int below = level + 1; below <= RS_GROUP_COMM; below++) now[below] = RS_NONE;
            if (group != RS_NONE) fresh[n++] = group;
        }
        if (n > 0) add_heading(l, t, i, fresh, n, ascii);
    }
}

/* Folded: hosts, if there are several and each has more than one GPU. */
static void folded_headings(struct rs_layout *l, const struct rs_picture_rows *r, bool ascii)
{
    uint32_t hosts = 0, before = RS_NONE;
    for (int pass = 0; pass < 2; pass++, before = RS_NONE) {
        if (pass == 1 && (hosts < 2 || hosts * 2 > r->n)) return;
        for (uint32_t i = 0; i < r->n; i++) {
            uint32_t host = rs_picture_group_at(r->timeline, r->rows[i].group, RS_GROUP_HOST);
            if (host == before || host == RS_NONE) continue;
            before = host;
            if (pass == 0)
                hosts++;
            else
                add_heading(l, r->timeline, i, &host, 1, ascii);
        }
    }
}

/* ---- footer ---- */

/* Appends an item. */
static void say(struct rs_layout *l, bool ascii, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void say(struct rs_layout *l, bool ascii, const char *fmt, ...)
{
    char text[160];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    size_t used = strlen(l->footer);
    snprintf(l->footer + used, sizeof(l->footer) - used, "%s%s", used ? (ascii ? "; " : " · ") : "", text);
}

static void footer(struct rs_layout *l, const struct rs_picture_rows *r, bool ascii)
{
    const struct rs_timeline *t = r->timeline;
    bool not_comparable = false;
    uint32_t before = RS_NONE;
    for (uint32_t i = 0; i < r->n; i++) {
        uint32_t unit = r->rows[i].unit;
        if (unit == before) continue;
        before = unit;
        not_comparable |= t->groups[unit].error_ns == RS_TIME_NONE;
    }
    char text[48];
    if (rs_moment_utc(t->begin, text, sizeof(text))) say(l, ascii, "0 s is %s", text);
    if (t->totals.error_ns > 0) {
        rs_words_duration(t->totals.error_ns, text, sizeof(text));
        say(l, ascii, "clock error up to %s", text);
    } else if (t->totals.error_ns == 0) {
        say(l, ascii, "all on one clock");
    }
    if (not_comparable) say(l, ascii, "clocks of some processes cannot be compared with the others");
    if (r->left_out > 0)
        say(l, ascii, "%u of %u GPUs not shown: those shown waited most or were last", r->left_out, r->units);
    if (r->cut > 0) say(l, ascii, "%u rows not shown", r->cut);
    if (r->n == 0) say(l, ascii, "nothing in this span of time");
}

void rs_layout_words(struct rs_layout *l, const struct rs_picture_rows *rows, const struct rs_picture_options *o,
                     unsigned relations)
{
    *l = (struct rs_layout){.sentences = o->sentences, .nsentences = o->nsentences};
    rs_words_fit(o->title ? o->title : "", 150, l->title, sizeof(l->title));
    if (rows->take.fold)
        folded_headings(l, rows, o->ascii);
    else
        open_headings(l, rows, o->ascii);
    rs_legend_make(l, rows, relations);
    footer(l, rows, o->ascii);
}

/* ---- positions ---- */

/* Many similar lanes, each a thin line. */
static bool is_band(const struct rs_picture_row *row)
{
    return rs_row_kinds[row->row].many || row->lanes > 4;
}

static double row_height(const struct rs_picture_rows *r, const struct rs_picture_row *row)
{
    if (r->take.fold) return (r->n <= 16 ? 28 : r->n <= 64 ? 18 : r->n <= 128 ? 10 : 6) + (row->has_lower ? 4 : 0);
    if (r->n > 120) return 11;
    if (row->row == RS_ROW_OPERATIONS) {
        uint8_t slots = 1;
        for (uint32_t i = 0; i < row->nbars; i++) slots = row->bars[i].slots > slots ? row->bars[i].slots : slots;
        return slots == 1 ? 22 : fmin(14 * slots, 56);
    }
    return fmin(fmax((is_band(row) ? 3 : 14) * row->lanes, 16), MOST_HEIGHT);
}

static void place_rows(struct rs_layout *l, struct rs_picture_rows *r)
{
    double y = l->plot.y;
    uint32_t heading = 0;
    for (uint32_t i = 0; i < r->n; i++) {
        if (heading < l->nheadings && l->headings[heading].before == i) {
            l->headings[heading].y = y;
            l->headings[heading].height = HEADING_HEIGHT;
            y += HEADING_HEIGHT;
            heading++;
        }
        r->rows[i].y = y;
        r->rows[i].height = row_height(r, &r->rows[i]);
        y += r->rows[i].height;
    }
    l->plot.h = (y > l->plot.y ? y : y + 30) - l->plot.y;
}

static void place_legend(struct rs_layout *l)
{
    double x = RS_LAYOUT_MARGIN, y = l->legend_y;
    for (uint32_t i = 0; i < l->nlegend; i++) {
        char text[60];
        double wide = RS_SAMPLE_WIDTH + 5 + rs_words_clean(l->legend[i].text, text, sizeof(text)) * 11 * LEGEND_WIDTH;
        if (x > RS_LAYOUT_MARGIN && x + wide > l->width - RS_LAYOUT_MARGIN) {
            x = RS_LAYOUT_MARGIN;
            y += LINE;
        }
        l->legend[i].x = x;
        l->legend[i].y = y;
        x += wide + 10;
    }
    l->footer_y = l->nlegend ? y + LINE + 4 : y;
}

void rs_layout_init(struct rs_layout *l, struct rs_picture_rows *rows, const struct rs_picture_options *o,
                    unsigned relations)
{
    rs_layout_words(l, rows, o, relations);
    l->width = width_of(o);
    l->plot.w = rows->take.width;
    l->plot.x = l->width - RS_LAYOUT_MARGIN - l->plot.w;
    l->plot.y = TITLE_HEIGHT + RULER_HEIGHT;
    l->ruler = rs_ruler_make(rows->take.from, rows->take.to, rows->take.width / 90);
    place_rows(l, rows);
    l->legend_y = l->plot.y + l->plot.h + 12;
    place_legend(l);
    l->conclusion_y = l->footer_y + LINE;
    l->height = ceil(l->conclusion_y + rs_conclusion_height(o, l->width));
}

void rs_layout_free(struct rs_layout *l)
{
    free(l->headings);
    free(l->legend);
    *l = (struct rs_layout){0};
}

double rs_layout_x(const struct rs_layout *l, int64_t at)
{
    double share = ((double)at - (double)l->ruler.from) / ((double)l->ruler.to - (double)l->ruler.from);
    return l->plot.x + fmin(fmax(share, 0), 1) * l->plot.w;
}

struct rs_box rs_layout_strip(const struct rs_layout *l, const struct rs_picture_row *row, bool lower)
{
    double gap = row->height >= 14 ? 2 : row->height >= 8 ? 1 : 0.5;
    struct rs_box box = {l->plot.x, row->y + gap, l->plot.w, row->height - 2 * gap};
    if (!row->has_lower) return box;
    double share = floor(box.h * 0.66);
    if (lower) box.y += share;
    box.h = lower ? box.h - share : share;
    return box;
}

struct rs_box rs_layout_bar(const struct rs_layout *l, const struct rs_picture_row *row,
                            const struct rs_picture_bar *bar)
{
    struct rs_box box = rs_layout_strip(l, row, row->has_lower && bar->row != RS_ROW_OPERATIONS);
    double a = rs_layout_x(l, bar->start), b = rs_layout_x(l, rs_time_plus(bar->start, bar->dur));
    box.x = a;
    box.w = fmax(b - a, fmin(0.8, l->plot.x + l->plot.w - a));
    if (bar->slots > 1) {
        box.h /= bar->slots;
        box.y += bar->slot * box.h;
        box.h -= box.h > 8 ? 1 : box.h > 2 ? 0.5 : 0;
    }
    return box;
}

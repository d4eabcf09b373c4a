#include "picture/legend.h"

#include <stdio.h>

#include "base/bisect.h"
#include "picture/words.h"

/* Which kinds are drawn, and which bits 1 << enum rs_legend_what. */
struct used {
    bool kinds[256];
    unsigned whats;
};

static void use_bars(struct used *u, const struct rs_picture_row *row)
{
    static const struct {
        uint8_t flag;
        enum rs_legend_what what;
    } marks[] = {
        {RS_BAR_LAST, RS_LEGEND_LAST},         {RS_BAR_END_BOUNDED, RS_LEGEND_FADE},
        {RS_BAR_OPEN, RS_LEGEND_OPEN},         {RS_BAR_START_UNKNOWN, RS_LEGEND_START_UNKNOWN},
        {RS_BAR_LOST, RS_LEGEND_LOST},         {RS_BAR_NOT_RECORDED, RS_LEGEND_NOT_RECORDED},
        {RS_BAR_MISMATCH, RS_LEGEND_MISMATCH},
    };
    for (uint32_t i = 0; i < row->nbars; i++) {
        const struct rs_picture_bar *bar = &row->bars[i];
        if (!rs_picture_is_blank(bar)) u->kinds[bar->kind] = true;
        if (bar->wait > 0) u->whats |= 1u << RS_LEGEND_WAIT;
        for (size_t k = 0; k < sizeof(marks) / sizeof(marks[0]); k++)
            if (bar->flags & marks[k].flag) u->whats |= 1u << marks[k].what;
    }
}

static void use_pixels(struct used *u, const struct rs_pixels *p)
{
    for (unsigned x = 0; x < p->width; x++) {
        if (p->kind[x] == 0) continue;
        if (p->shade[x] & RS_SHADE_LOST)
            u->whats |= 1u << RS_LEGEND_LOST;
        else if (p->shade[x] & RS_SHADE_NOT_RECORDED)
            u->whats |= 1u << RS_LEGEND_NOT_RECORDED;
        else
            u->kinds[p->kind[x] - 1] = true;
        if (p->shade[x] & RS_SHADE_WAIT) u->whats |= 1u << RS_LEGEND_WAIT;
        if (p->shade[x] & RS_SHADE_FADE) u->whats |= 1u << RS_LEGEND_FADE;
    }
}

bool rs_legend_flag_row(const struct rs_picture_rows *rows, const struct rs_timeline_flag *flag, uint32_t *row)
{
    const struct rs_timeline *t = rows->timeline;
    if (flag->at < rows->take.from || flag->at > rows->take.to || flag->group >= t->ngroups) return false;
    uint32_t group = flag->group;
    if (rows->take.fold) group = rs_picture_group_at(t, group, RS_GROUP_RANK);
    /* Rows are in the order of their groups. */
    uint32_t low = 0, high = rows->n;
    RS_BISECT(low, high, mid, rows->rows[mid].group < group);
    *row = low;
    return low < rows->n && rows->rows[low].group == group;
}

static void add(struct rs_layout *l, enum rs_legend_what what, uint8_t kind, const char *text)
{
    RS_ROOM(l->legend, l->nlegend, l->cap_legend);
    struct rs_layout_legend *entry = &l->legend[l->nlegend++];
    *entry = (struct rs_layout_legend){.what = what, .kind = kind};
    rs_words_fit(text, 40, entry->text, sizeof(entry->text));
}

void rs_legend_make(struct rs_layout *l, const struct rs_picture_rows *rows, unsigned relations)
{
    static const char *const words[RS_LEGEND_WHATS] = {
        [RS_LEGEND_WAIT] = "waits for the last rank",
        [RS_LEGEND_LAST] = "last to arrive",
        [RS_LEGEND_FADE] = "ended somewhere here",
        [RS_LEGEND_START_UNKNOWN] = "start unknown",
        [RS_LEGEND_OPEN] = "not ended",
        [RS_LEGEND_LOST] = "callbacks lost",
        [RS_LEGEND_NOT_RECORDED] = "not recorded",
        [RS_LEGEND_MISMATCH] = "arguments differ",
        [RS_LEGEND_CREATED] = "communicator created",
        [RS_LEGEND_DESTROYED] = "communicator destroyed",
        [RS_LEGEND_SAME_OP] = "same operation",
        [RS_LEGEND_ARROW] = "send to receive",
        [RS_LEGEND_PARENT] = "caused by",
    };
    struct used used = {.whats = relations};
    for (uint32_t i = 0; i < rows->n; i++) {
        if (rows->rows[i].open) used.whats |= 1u << RS_LEGEND_OPEN;
        use_bars(&used, &rows->rows[i]);
        use_pixels(&used, &rows->rows[i].upper);
        use_pixels(&used, &rows->rows[i].lower);
    }
    const struct rs_timeline *t = rows->timeline;
    for (uint32_t i = 0; i < t->nflags && !rows->take.cells; i++) {
        uint32_t row;
        if (rs_legend_flag_row(rows, &t->flags[i], &row))
            used.whats |= 1u << (t->flags[i].destroyed ? RS_LEGEND_DESTROYED : RS_LEGEND_CREATED);
    }
    for (unsigned kind = 0; kind < t->kinds.n && kind < 256; kind++)
        if (used.kinds[kind]) add(l, RS_LEGEND_KIND, (uint8_t)kind, t->kinds.rows[kind].label);
    for (unsigned what = RS_LEGEND_KIND + 1; what < RS_LEGEND_WHATS; what++)
        if (used.whats & 1u << what)
            add(l, (enum rs_legend_what)what, 0,
                what == RS_LEGEND_WAIT && t->opening.waits ? "waits for another rank" : words[what]);
}

#include "timeline/pieces.h"

#include <stdlib.h>

#include "base/memory.h"
#include "timeline/arrange.h"

bool rs_bar_pieces_can(const struct rs_timeline *t, uint32_t proc)
{
    const struct rs_timeline_index *x = t->index;
    bool alone = !x->joined[proc] && x->activities.from[proc] == x->activities.from[proc + 1];
    return t->inputs && proc < t->inputs->n && alone;
}

void rs_bar_pieces_begin(struct rs_collect *c, uint32_t first_event)
{
    struct rs_bar_pieces *p = c->pieces;
    struct rs_bar_piece *piece = &p->ring[p->begun % RS_EVENT_PIECES];
    struct rs_bars *bars = p->kept ? p->kept : p->spare ? p->spare : rs_zalloc(1, sizeof *bars);
    p->spare = NULL;
    rs_bars_clear(bars);
    *piece = (struct rs_bar_piece){.bars = bars, .number = p->begun, .first_event = first_event};
    rs_bar_pieces_turn(c, p->begun++);
}

void rs_bar_pieces_turn(struct rs_collect *c, uint32_t piece)
{
    c->piece = &c->pieces->ring[piece % RS_EVENT_PIECES];
    c->bars = c->piece->bars;
}

enum rs_status rs_bar_pieces_end(struct rs_collect *c, bool last, struct rs_err *err)
{
    struct rs_bar_pieces *p = c->pieces;
    struct rs_bars *bars = p->ring[p->ended % RS_EVENT_PIECES].bars;
    rs_bar_pieces_turn(c, p->ended);
    RS_TRY(rs_collect_launches(c, err));
    if (last) rs_map_free(&c->launches);
    if (last) RS_TRY(rs_collect_gaps(c, err));
    rs_collect_threads(c);
    bars->first = p->bars;
    bars->piece = p->ended;
    bars->last = last;
    rs_arrange(c);
    if (bars->n > UINT32_MAX - 1 - p->bars) return rs_bars_too_many(err);
    if (!p->kept) RS_TRY(p->visit(p->to, bars, err));
    p->bars += bars->n;
    c->piece->bars = c->bars = NULL;
    p->ended++;
    if (p->kept) return RS_OK;
    if (p->spare) {
        rs_bars_free(p->spare);
        free(p->spare);
    }
    p->spare = bars;
    return RS_OK;
}

void rs_bar_pieces_free(struct rs_bar_pieces *p)
{
    for (; p->ended != p->begun; p->ended++) {
        struct rs_bar_piece *piece = &p->ring[p->ended % RS_EVENT_PIECES];
        if (piece->bars && !p->kept) rs_bars_free(piece->bars);
        if (!p->kept) free(piece->bars);
        rs_bar_piece_free(piece);
    }
    if (p->spare) rs_bars_free(p->spare);
    free(p->spare);
    p->spare = NULL;
}

/* A process in pieces, or as one: bars that hang on each other are collected together, put in order and handed out as soon as
 * nothing more can come to them, so that memory does not grow with the process.
 *
 * Which events are of one piece is told by the second reading (struct rs_event_pieces); an operation is where its events
 * are. Pieces are begun, and handed out, one after the other; in between bars are added to any that is not handed out.
 * Part of struct rs_collect; one thread at a time. */
#ifndef RS_TIMELINE_PIECES_H
#define RS_TIMELINE_PIECES_H

#include "timeline/collect.h"

/* Whether the process can be in pieces: it is a recording, and no other tool saw it. */
bool rs_bar_pieces_can(const struct rs_timeline *t, uint32_t proc);

/* A new piece, with events from this number on; it is at hand then. */
void rs_bar_pieces_begin(struct rs_collect *c, uint32_t first_event);
/* Takes one in hand that is not handed out. */
void rs_bar_pieces_turn(struct rs_collect *c, uint32_t piece);
/* Hands the oldest one out, whatever is at hand; `last`: there are no others. */
enum rs_status rs_bar_pieces_end(struct rs_collect *c, bool last, struct rs_err *err);
void rs_bar_pieces_free(struct rs_bar_pieces *p);

#endif

/* A process in pieces, or as one: bars that depend on each other are collected together, sorted and delivered as soon
 * as they are complete, so that memory does not grow with the process.
 *
 * The second reading assigns events to pieces (struct rs_event_pieces); an operation is in the piece of its events.
 * Pieces are begun and delivered one after the other; in between bars are added to any open one. Part of struct
 * rs_collect; one thread at a time. */
#ifndef RS_TIMELINE_PIECES_H
#define RS_TIMELINE_PIECES_H

#include "timeline/collect.h"

/* Whether the process can be cut: it is a recording, and no other tool recorded it. */
bool rs_bar_pieces_can(const struct rs_timeline *t, uint32_t proc);

/* Begins a new piece, with events from this number on, and makes it current. */
void rs_bar_pieces_begin(struct rs_collect *c, uint32_t first_event);
/* Makes an open piece current. */
void rs_bar_pieces_turn(struct rs_collect *c, uint32_t piece);
/* Delivers the oldest one, whichever is current; `last`: there are no others. */
enum rs_status rs_bar_pieces_end(struct rs_collect *c, bool last, struct rs_err *err);
void rs_bar_pieces_free(struct rs_bar_pieces *p);

#endif

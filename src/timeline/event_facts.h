/* What the bar of an event tells: its states as marks, and its arguments as timeline/kinds.c names them. */
#ifndef RS_TIMELINE_EVENT_FACTS_H
#define RS_TIMELINE_EVENT_FACTS_H

#include "timeline/arguments.h"
#include "timeline/collect.h"

void rs_event_marks(struct rs_bars *b, uint32_t bar, const struct rs_event *e);
enum rs_status rs_event_arguments(struct rs_collect *c, struct rs_arguments *args, const struct rs_event *e,
                                  uint32_t bar, uint8_t kind, struct rs_err *err);

#endif

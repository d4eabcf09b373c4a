/* What is common of the arguments of starts and states, taken out of the words of their records into an event.
 *
 * One table of fields for the reading of one process; plain data. */
#ifndef RS_EVENTS_ARGUMENTS_H
#define RS_EVENTS_ARGUMENTS_H

#include "events/events.h"

enum { RS_EVENT_PEER, RS_EVENT_FUNC, RS_EVENT_LENGTH, RS_EVENT_FIELDS };

/* Where kinds of starts have them; NULL: they do not. */
struct rs_event_fields {
    const struct rs_field *of[RS_K_START_END - RS_K_START][RS_EVENT_FIELDS];
};

void rs_event_fields_find(struct rs_event_fields *fields);

/* Of a start; type, part and process of the event are set, and all that is taken is -1. */
void rs_event_take_start(struct rs_event *event, const struct rs_event_fields *fields, const struct rs_model *m,
                         const struct rs_callback *start);
/* Of a state: how much a step moved. */
void rs_event_take_state(struct rs_event *event, const struct rs_callback *state);
/* Of the event above, while that is in flight. */
void rs_event_take_parent(struct rs_event *event, const struct rs_event *parent);

#endif

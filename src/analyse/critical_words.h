/* The conclusion of a critical path, in sentences. */
#ifndef RS_ANALYSE_CRITICAL_WORDS_H
#define RS_ANALYSE_CRITICAL_WORDS_H

#include "analyse/critical.h"

/* Fills c->conclusion from the rest of it. */
void rs_critical_conclude(struct rs_critical *c, const struct rs_view *view);

#endif

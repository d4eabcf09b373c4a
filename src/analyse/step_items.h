/* The operations of the rank that took part in the most, as items of a sequence (analyse/repeats.h).
 *
 * In program order, as its process told of them: starts on several streams overtake each other. Where records of that
 * process were lost, what the others saw of its operations is there too, all by time. Owned until
 * rs_step_items_free(). */
#ifndef RS_ANALYSE_STEP_ITEMS_H
#define RS_ANALYSE_STEP_ITEMS_H

#include "analyse/repeats.h"
#include "analyse/view.h"

struct rs_step_items {
    struct rs_item *rows;
    uint32_t n;
    uint32_t rank_id; /* RS_NONE: there is none */
};

enum rs_status rs_step_items_init(struct rs_step_items *s, const struct rs_view *view, struct rs_err *err);
void rs_step_items_free(struct rs_step_items *s);

#endif

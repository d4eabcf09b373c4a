/* The anchors of a repeating unit in a sequence of symbols; see analyse/repeats.h. Linear in the length of the
 * sequence. Pure functions. */
#ifndef RS_ANALYSE_PERIOD_H
#define RS_ANALYSE_PERIOD_H

#include "analyse/repeats.h"
#include "base/mix.h"

/* Contribution of a symbol to a sum that identifies the contents of a stretch, in any order. */
static inline uint64_t rs_weight_of(uint32_t symbol)
{
    return rs_mix(0x9e3779b97f4a7c15, symbol);
}

/* A unit found in a list of items. */
struct rs_period {
    uint32_t *anchors; /* positions in the list, ascending: one in each unit. Owned until rs_period_free() */
    uint32_t n; /* 0: nothing repeats */
    uint32_t length; /* of the usual unit */
    uint32_t usual; /* index of an anchor with a usual unit */
};

/* `list` are numbers of items, ascending. */
void rs_period_find(struct rs_period *p, const struct rs_item *items, const uint32_t *list, uint32_t n);
void rs_period_free(struct rs_period *p);

#endif

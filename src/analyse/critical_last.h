/* Whom a rank's end of an operation had to wait for: the step of a critical path from one rank to another. */
#ifndef RS_ANALYSE_CRITICAL_LAST_H
#define RS_ANALYSE_CRITICAL_LAST_H

#include "analyse/critical_trails.h"

struct rs_critical_last {
    bool known; /* else the starts cannot be compared */
    bool tie; /* others came as late, as far as clocks can tell */
    uint32_t rank; /* index into trails->ranks, chosen; RS_NONE: one that has no trail */
    int64_t start; /* of the chosen */
    int64_t lead; /* ns that it came behind the next to last; 0: a tie, or not known */
};

/* The last of those that `span` (an operation, on the trail `own`) needed, of those that had come before `at`. Needed
 * are: all ranks; of a broadcast the root; of a reduce all for the root and nobody for others; of sends and receives
 * the other ends. Within a tie it is `own`, if that is one of them, else the lowest. */
struct rs_critical_last rs_critical_last(const struct rs_critical_trails *trails, struct rs_view *view, uint32_t own,
                                         const struct rs_span *span, int64_t at);
/* Whether others are still to come at a moment: the rank waits. */
bool rs_critical_waits(const struct rs_model *m, const struct rs_span *span, int64_t at);

#endif

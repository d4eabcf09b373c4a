/* What a reader is to see first: the window that shows the cause, marks at the rows of ranks to blame, and figures of
 * each rank.
 *
 * Found by whoever analysed the run, drawn by the page and by pictures. Owned until rs_opening_free(); freeing a zeroed
 * struct is allowed. */
#ifndef RS_TIMELINE_OPENING_H
#define RS_TIMELINE_OPENING_H

#include <stdbool.h>
#include <stdint.h>

/* A rank that is to blame for a hang. */
struct rs_row_mark {
    uint32_t group; /* of the rank */
    uint32_t culprit; /* number of the cause, as in `hang --json`; UINT32_MAX: the verdict names no rank */
    char *text; /* "did not join AllReduce 84 of default_pg:0" */
    int64_t from; /* ns from the begin of the timeline: its last sign; it stays so until the end */
};

/* Of a rank in the whole run, without the start-up. */
struct rs_row_figures {
    int64_t late; /* ns: what its own lateness cost the others, `cost_ns` of `report` */
    int64_t waited; /* ns: for the last rank */
    uint32_t last; /* operations in which it was the last */
    bool known; /* its starts were compared with others' */
};

struct rs_opening {
    int64_t from, to; /* the window, ns from the begin; to <= from: none is better than all operations */
    char *verdict; /* of a hang, in one line; NULL: the run does not hang */
    struct rs_row_mark *marks; /* by group */
    uint32_t nmarks, cap_marks;
    uint8_t *waits; /* by part of the model, 1: pending at the end because others did not come; NULL: none */
    struct rs_row_figures *figures; /* by group, set for ranks; NULL: unknown */
};

/* The mark of a rank's group; NULL: none. */
const struct rs_row_mark *rs_opening_mark(const struct rs_opening *o, uint32_t group);
void rs_opening_free(struct rs_opening *o);

#endif

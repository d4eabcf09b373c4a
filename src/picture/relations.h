/* The relations that a picture shows: one operation across ranks, a send and its receive, a child and its parent.
 *
 * Selected among the bars that are drawn individually; those with the longest waits and the widest first. Owned by the
 * struct until rs_relations_free(). */
#ifndef RS_PICTURE_RELATIONS_H
#define RS_PICTURE_RELATIONS_H

#include "picture/layout.h"

struct rs_relation_end {
    uint32_t row, bar; /* index of the row, and of the bar in it */
};

struct rs_relation {
    enum rs_legend_what what; /* RS_LEGEND_SAME_OP, _ARROW (from send to receive), _PARENT (from child to parent) */
    uint32_t end, n; /* its ends: [end, end + n); of an operation by row, else two */
    double weight;
};

struct rs_relations {
    struct rs_relation *list; /* by what, then by weight */
    uint32_t n, cap;
    struct rs_relation_end *ends;
    uint32_t nends, cap_ends;
};

/* Of complete rows (rs_picture_rows_end()). */
void rs_relations_init(struct rs_relations *x, const struct rs_picture_rows *rows, enum rs_picture_relations wanted);
/* Bits 1 << what, of those that exist. */
unsigned rs_relations_whats(const struct rs_relations *x);
void rs_relations_free(struct rs_relations *x);

#endif

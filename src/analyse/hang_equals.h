/* Equal ranks as witnesses: those with the same role in other groups of the same shape.
 *
 * In a group of two, nothing inside the group shows which of the two differs from the program; ranks of equal groups do.
 * Groups are equal if their communicators are of one class, and operations if their functions and numbers are the same
 * there. Each question reads all parts once, and is asked of few operations. Inner part of hang.c. */
#ifndef RS_ANALYSE_HANG_EQUALS_H
#define RS_ANALYSE_HANG_EQUALS_H

#include "analyse/hang_state.h"

/* Of two operations: how many ranks called the first, or its equal, before the second, and how many after it. A rank
 * that called one of the two only has called that one first. `stray`: a part of the second; of sends and receives only
 * those in the role of its rank count. */
struct rs_hang_votes {
    uint32_t before, after;
    uint32_t one_before, one_after; /* one rank of each; RS_NONE: none */
};
void rs_hang_orders(const struct rs_hang_state *s, uint32_t first, uint32_t second, uint32_t stray,
                    struct rs_hang_votes *v);

/* How many ranks of other groups called the equal of a collective. */
uint32_t rs_hang_equal_calls(const struct rs_hang_state *s, uint32_t op);

/* A part with the arguments that most equal ranks gave, of a collective in other groups, of a send or receive at other
 * times too; RS_NONE: there are none, or they do not agree. */
uint32_t rs_hang_usual_call(const struct rs_hang_state *s, uint32_t op);
/* Whether two calls of one operation have the same function and arguments. */
bool rs_hang_same_call(const struct rs_model *m, uint32_t a, uint32_t b);

/* Whether what is pending on a rank (row of model.ranks) that has not called the operation of s->rows cannot be what
 * keeps it from that: a rank in the operation called it while the equals of all that were pending there. */
bool rs_hang_is_passed(const struct rs_hang_state *s, uint32_t rank);

#endif

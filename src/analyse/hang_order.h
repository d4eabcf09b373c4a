/* Two operations that all ranks called, and not all in one order: each may wait for the other.
 *
 * Asked of dumps, which tell that an operation was called and often not whether its kernel has started. Inner part of
 * hang.c. */
#ifndef RS_ANALYSE_HANG_ORDER_H
#define RS_ANALYSE_HANG_ORDER_H

#include "analyse/hang_ladder.h"

/* `op` is the one whose rows are at hand, and are kept as the evidence already. Looks through the other operations in
 * which everybody is; where one was called in both orders, the fewer ranks are to blame. */
enum rs_status rs_hang_look_order(struct rs_hang_work *w, uint32_t op, bool *found, struct rs_err *err);

#endif

/* Which rank waited for which: when the ranks of an operation started, which was last, and by how much.
 *
 * Nothing is reported below the clock error: a lead smaller than twice the error is a tie. A rank is the last of the
 * recorded ranks: RS_OP_WHOLE says whether others are absent. Runs on the joined and aligned model; the functions below
 * only read it. */
#ifndef RS_JOIN_WAITS_H
#define RS_JOIN_WAITS_H

#include "model/model.h"

/* Error between two times on one clock: GPU timers tick in steps of up to 1 us, and tools convert them to host time. */
enum { RS_ONE_CLOCK_NS = 1000 };

/* Sets first, last, end, error, last_part and the flags WHOLE, COMPLETE, CLOCKED, TIE and VIOLATION of all operations. */
void rs_waits_find(struct rs_model *m);

/* Whether a lead is too small to call a rank the last: below twice the clock error. */
static inline bool rs_is_tie(int64_t lead, int64_t error_ns)
{
    return lead <= 0 || error_ns < 0 || lead / 2 < error_ns;
}
/* The better of two known starts of a rank: a kernel's rather than a proxy operation's, which is posted ahead of its
 * turn; else the earlier one. */
bool rs_start_is_better(const struct rs_model *m, uint32_t a, uint32_t b);
/* Whether ranks are absent (missing or not recorded), and may be later than all that are present. No for old
 * interfaces, which do not report the number of ranks. */
bool rs_op_has_absent_ranks(const struct rs_model *m, uint32_t op);
/* A send whose receive started later, and whose own end is unknown: small ones do not wait for their receive. */
bool rs_part_may_have_left(const struct rs_model *m, uint32_t part);
/* How long a part waited for the last of its operation (of a send or receive: of its pair); if it ended before the last
 * arrived, for those it needs (of a broadcast: the root). RS_TIME_NONE: unknown, or the operation was not compared
 * (join/totals.h), or ranks are absent and it is not known to have ended. If it ended although ranks were not recorded:
 * for the last recorded one. 0 on a communicator of one rank. */
int64_t rs_part_wait(const struct rs_model *m, uint32_t part);
/* Whether part b ended before part a began, by more than the clock errors. */
bool rs_ends_before(const struct rs_model *m, uint32_t b, uint32_t a);
/* The part that was last, by more than the clock error; RS_NONE: unknown (an absent rank may have been later), or a
 * tie. */
uint32_t rs_op_last_part(const struct rs_model *m, uint32_t op);
/* The least difference of two of its times that is significant: twice the error of comparing its starts; 0 if waits
 * come from durations alone. */
static inline int64_t rs_op_least(const struct rs_model *m, uint32_t op)
{
    int64_t error = m->ops.flags[op] & RS_OP_CLOCKED ? m->ops.error[op] : 0;
    return error <= 0 ? 0 : error > INT64_MAX / 2 ? INT64_MAX : 2 * error;
}
/* From the last start to the last end; RS_TIME_NONE: unknown, also if below rs_op_least(). */
int64_t rs_op_transfer(const struct rs_model *m, uint32_t op);
/* The same, however small: wait and transfer may not be separable. */
int64_t rs_op_behind_last(const struct rs_model *m, uint32_t op);
/* busbw / algbw, as in nccl-tests; 1 also for gathers and scatters, whose bytes are counted differently here. */
double rs_op_busbw_factor(const char *func, int32_t nranks);

#endif

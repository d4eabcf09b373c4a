/* Who waited for whom: when an operation's ranks came, who was the last, and what that is worth.
 *
 * Nothing is told below the clocks' error: a lead that is smaller than twice the error is a tie. A rank is the last of
 * those that are here: whether others are missing is said by RS_OP_WHOLE. Runs on the joined and aligned model; the
 * functions below only read it. */
#ifndef RS_JOIN_WAITS_H
#define RS_JOIN_WAITS_H

#include "model/model.h"

/* What two times on one clock may be off by: GPUs' timers tick in steps of up to 1 us, and tools convert them to host time. */
enum { RS_ONE_CLOCK_NS = 1000 };

/* Sets first, last, end, error, last_part and the flags WHOLE, COMPLETE, CLOCKED, TIE and VIOLATION of all
 * operations. */
void rs_waits_find(struct rs_model *m);

/* Whether a lead is too small to call anybody last: below twice the clock error. */
static inline bool rs_is_tie(int64_t lead, int64_t error_ns)
{
    return lead <= 0 || error_ns < 0 || lead / 2 < error_ns;
}
/* Which of two starts of a rank says more: a kernel's rather than a proxy operation's, which is posted ahead of its
 * turn; else the earlier one. Both are known. */
bool rs_start_is_better(const struct rs_model *m, uint32_t a, uint32_t b);
/* Whether ranks of it are absent: they did not come, or were not recorded, and may be later than all that are here. Of
 * old interfaces, which do not tell how many there are: no. */
bool rs_op_lacks_ranks(const struct rs_model *m, uint32_t op);
/* A send whose receive started later, and whose own end is not known: small ones do not wait for their receive. */
bool rs_part_may_have_left(const struct rs_model *m, uint32_t part);
/* How long a part waited for the last of its operation (of a send or receive: of its pair); one that was over before
 * the last came, for those it needs (of a broadcast: the root). RS_TIME_NONE: not known, or the operation was not
 * compared (join/totals.h), or ranks are absent and it is not known to have ended. Where it ended although ranks were not
 * recorded: for the last that was. On a communicator of one rank nobody waits. */
int64_t rs_part_wait(const struct rs_model *m, uint32_t part);
/* Whether part b ended before part a began, by more than the errors of their clocks. */
bool rs_ends_before(const struct rs_model *m, uint32_t b, uint32_t a);
/* The part that came last of all, by more than the clock error; RS_NONE: not known (a rank that is missing or was not
 * recorded may have been later), or a tie. */
uint32_t rs_op_last_part(const struct rs_model *m, uint32_t op);
/* What two of its times have to be apart before that says anything: twice the error of comparing its starts; 0 where waits are
 * known by durations alone. */
static inline int64_t rs_op_least(const struct rs_model *m, uint32_t op)
{
    int64_t error = m->ops.flags[op] & RS_OP_CLOCKED ? m->ops.error[op] : 0;
    return error <= 0 ? 0 : error > INT64_MAX / 2 ? INT64_MAX : 2 * error;
}
/* From the last start to the last end; RS_TIME_NONE: not known, also where that is below rs_op_least(). */
int64_t rs_op_transfer(const struct rs_model *m, uint32_t op);
/* The same, however small: what is wait in it and what is transfer may not be known. */
int64_t rs_op_behind_last(const struct rs_model *m, uint32_t op);
/* busbw / algbw, as nccl-tests has it; 1 also of gathers and scatters, whose bytes are counted in another way here. */
double rs_op_busbw_factor(const char *func, int32_t nranks);

#endif

/* Hangs from dumps that say of every operation how far it came, and not when: PyTorch's Flight Recorder.
 *
 * A dump is a picture of one moment that it does not tell. So how long an operation has been pending is not asked;
 * whether a rank called it is told by the group's own count. The results have the names that PyTorch's own analyser
 * gives them: FULLY_MATCHED, COLLECTIVE_TYPE_MISMATCH, SIZE_OR_SYNTAX_MISMATCH, COLLECTIVE_STATE_MISMATCH,
 * COLLECTIVE_DTYPE_MISMATCH, UNDECIDED. Unlike there no rank is taken to be right: most of them are. Inner part of
 * hang.c. */
#ifndef RS_ANALYSE_HANG_FLIGHT_H
#define RS_ANALYSE_HANG_FLIGHT_H

#include "analyse/hang_ladder.h"
#include "base/strbuf.h"

/* What the functions below need in the state: who asked for which number, and how far each communicator came. */
void rs_hang_flight_make(struct rs_hang_state *s);
/* How far a part came. One that is told to be complete, though a rank that it needs never came, was aborted. */
enum rs_stage rs_hang_flight_part(const struct rs_hang_state *s, uint32_t part);
/* Whether the others are through with what a member never asked for, as its dump says: it is older than theirs. */
bool rs_hang_is_older(const struct rs_hang_state *s, uint32_t member);
/* Whether the operation of a rank that has no part in it is absent, or only not in the dump. */
enum rs_stage rs_hang_flight_stage(const struct rs_hang_state *s, uint32_t op, uint32_t member);

/* Ranks that called another function under the same number. *op becomes the one that most called. */
void rs_hang_look_types(struct rs_hang_work *w, uint32_t *op, bool *found);
/* Everybody is in it, as far as there are dumps. */
void rs_hang_look_flight(struct rs_hang_work *w, uint32_t op);

/* Nothing is pending: whether ranks gave different arguments to an operation all the same. */
void rs_hang_look_results(struct rs_hang_work *w, uint32_t *op, bool *found);

/* The name of what differs between two parts of one operation. */
const char *rs_hang_rule(const struct rs_model *m, uint32_t a, uint32_t b);
/* Of an all-to-all: what all ranks give, and what they take. False: not told, or equal. */
bool rs_hang_sums(const struct rs_model *m, uint32_t op, uint64_t *in, uint64_t *out);
/* Of ranks that did not come: how far they and the others were. */
void rs_hang_flight_absent(struct rs_strbuf *detail, const struct rs_hang *h, const struct rs_model *m);

#endif

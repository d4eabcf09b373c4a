/* Hangs from dumps that record of every operation how far it came, and not when: PyTorch's Flight Recorder.
 *
 * A dump is a picture of one moment that it does not name. So how long an operation has been pending is not asked;
 * whether a rank called it, and whether it ended there, is known by the group's own numbers. The results have the names
 * that PyTorch's own analyser gives them: FULLY_MATCHED, COLLECTIVE_TYPE_MISMATCH, SIZE_OR_SYNTAX_MISMATCH,
 * COLLECTIVE_STATE_MISMATCH, COLLECTIVE_DTYPE_MISMATCH, UNDECIDED. Unlike there no rank is taken to be right: most of
 * them are. Inner part of hang.c. */
#ifndef RS_ANALYSE_HANG_FLIGHT_H
#define RS_ANALYSE_HANG_FLIGHT_H

#include "analyse/hang_causes.h"
#include "base/strbuf.h"

/* What the functions below need in the state: who called which number, and how far each communicator came. */
void rs_hang_flight_make(struct rs_hang_state *s);
/* The first collective of a number of a member, whatever its function; RS_NONE: none. */
uint32_t rs_hang_at_number(const struct rs_hang_state *s, uint32_t member, uint64_t seq);
/* How far a part came. A part recorded as complete, though a rank that it needs never came, was aborted. A part
 * recorded as pending, though its peers have ended it, is over. */
enum rs_stage rs_hang_flight_part(const struct rs_hang_state *s, uint32_t part);
/* Whether the others have completed what a member never called: then its dump is older than theirs. */
bool rs_hang_is_older(const struct rs_hang_state *s, uint32_t member);
/* Whether the operation of a rank that has no part in it is absent, has ended, or is only not in the dump. */
enum rs_stage rs_hang_flight_stage(const struct rs_hang_state *s, uint32_t op, uint32_t member);
/* The same of one end of a pair, where the dump of its rank lists pending operations only or sees no completions: what
 * is not listed was not called. False: the join knows better. */
bool rs_hang_flight_pair(const struct rs_hang_state *s, struct rs_hang_rank *row);

/* Ranks that called another function under the same number. *op becomes the one that most called. */
bool rs_hang_look_types(struct rs_hang_work *w, uint32_t *op);
/* Every rank is in it, as far as there are dumps. Ranks without one are suspected. `wanted`: ranks of other operations
 * wait for ranks that are in this one. */
void rs_hang_look_flight(struct rs_hang_work *w, uint32_t op, bool wanted);
/* A process whose dump calls pending what its peers have completed with it. */
bool rs_hang_look_stale(struct rs_hang_work *w, uint32_t proc, uint32_t *op);
/* Nothing is pending: whether ranks gave different arguments to an operation all the same. */
bool rs_hang_look_results(struct rs_hang_work *w, uint32_t *op);

/* The name of what differs between two parts of one operation. */
const char *rs_hang_rule(const struct rs_model *m, uint32_t a, uint32_t b);
/* Of an all-to-all: what all ranks give, and what they take. False: not known, or equal. */
bool rs_hang_sums(const struct rs_model *m, uint32_t op, uint64_t *in, uint64_t *out);
/* Of the guilty of work->now that did not come: how far they and the others were. */
void rs_hang_flight_absent(struct rs_strbuf *detail, const struct rs_hang_work *w);
/* Of the guilty of work->now: completions that they do not see; nothing if they see all. */
void rs_hang_flight_stale(struct rs_strbuf *said, struct rs_strbuf *act, const struct rs_hang_work *w);

#endif

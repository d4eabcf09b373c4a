/* Which receive a send belongs to, as far as one can tell from the two alone.
 *
 * The ends of a send and its receive nearly coincide; those of its neighbours are as far away as the program's rhythm. A
 * pair is clear when each is by far the nearest to the other: nearer than anything else by a factor, with the clocks'
 * error and the usual distance of ends (of pairs that are certain) as the least that counts. Besides, a send and its
 * receive lie between the same collectives of their communicator, and where one side lost nothing between two of them
 * and both have equally many there, order decides.
 * All memory is the caller's. One thread. */
#ifndef RS_JOIN_EVIDENCE_H
#define RS_JOIN_EVIDENCE_H

#include "join/p2p_streams.h"

/* Whether a send and a receive can be the same at all: size, collectives around, and no effect before its cause. */
bool rs_evidence_fits(const struct rs_item *send, const struct rs_item *recv);

/* What the ends of pairs that are certain differ by (nine in ten of them by less). */
struct rs_usual {
    int64_t ns; /* RS_TIME_NONE: not known */
    bool own; /* those of the same stream: the error of the two clocks is in it */
};

/* Sets `vote` of the sends' items. */
void rs_evidence_find(struct rs_p2p_stream *sends, struct rs_p2p_stream *recvs, struct rs_usual usual);
/* The same for what a rank sends to itself: it has no times, but both sides are in one group call. */
void rs_evidence_of_calls(const struct rs_model *m, struct rs_p2p_stream *sends, const struct rs_p2p_stream *recvs);

#endif

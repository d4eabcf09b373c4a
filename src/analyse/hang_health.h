/* Hangs as a health service saw them: NCCL's RAS, which was asked once or several times while the job ran.
 *
 * It counts per communicator and function the collectives that each rank has launched, and knows which processes
 * answer. A rank with fewer than another keeps it waiting; one that keeps others waiting and waits for nobody itself is
 * a cause. Counts differ for moments in a running job too: communicators whose counts changed between two answers are
 * left alone, and what one answer says is said to be of one moment. Sends, receives and collectives in CUDA graphs are
 * not counted, and whether a collective ended is unknown: equal counts answer nothing. Inner part of hang.c. */
#ifndef RS_ANALYSE_HANG_HEALTH_H
#define RS_ANALYSE_HANG_HEALTH_H

#include "analyse/hang_causes.h"

/* After the search in recordings and dumps. Adds to its findings what the service says of the same ranks, names among
 * suspects those that it shows to be behind, and where there are no findings makes its own. `unsure`: the others cannot
 * say whether something hangs. */
void rs_hang_look_health(struct rs_hang_work *w, bool unsure);

#endif

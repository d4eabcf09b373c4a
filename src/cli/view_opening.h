/* What `view` and `serve` show first: fills in the opening of a timeline (timeline/opening.h). */
#ifndef RS_CLI_VIEW_OPENING_H
#define RS_CLI_VIEW_OPENING_H

#include "analyse/hang.h"
#include "conclude/report.h"
#include "timeline/timeline.h"

/* Of a hang: the end of the run, the verdict, marks at the ranks to blame, and what waits for them. Nothing if the run
 * does not hang. */
void rs_opening_hang(struct rs_timeline *t, const struct rs_hang *h);
/* Of any run: figures of each rank; and, if it does not hang, three typical steps. */
void rs_opening_report(struct rs_timeline *t, const struct rs_report *r);

#endif

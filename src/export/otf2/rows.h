/* All that is not an operation as OTF2 regions: calls and launches, GPU channels, proxy work, what other tools saw, and
 * what was lost. A location a lane of the timeline; calls nest in the group calls that they were made in. */
#ifndef RS_EXPORT_OTF2_ROWS_H
#define RS_EXPORT_OTF2_ROWS_H

#include "export/otf2/state.h"

enum rs_status rs_otf2_write_rows(struct rs_otf2 *o, const struct rs_bars *bars, struct rs_err *err);

#endif

/* The control file: changes the events requested from NCCL while the job runs.
 *
 * A file `control` in the recording's folder with a line `events=ops|net|all|off|MASK`, or
 * `detail=WINDOW:PERIOD|always` (detail.h), or both, applies to every process that
 * records there (masks.h says when a mask changes). Only a regular file of the same user counts: others may be able to
 * write to the folder. */
#ifndef RS_PLUGIN_CONTROL_H
#define RS_PLUGIN_CONTROL_H

#include <stdbool.h>

/* By the background thread, about once a second. A file that exists at the `first` call is an earlier job's and is
 * ignored until it changes. When the file is removed the environment's setting applies again. */
void rs_control_look(const char *dir, bool first);
/* In a forked child. */
void rs_control_reset(void);

#endif

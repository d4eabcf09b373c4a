/* The control file: which events NCCL is asked for, changed while the job runs.
 *
 * A file `control` in the recording's folder with a line `events=ops|net|all|off|MASK` orders that of every process that
 * records there (masks.h says when a mask changes). Only a regular file of our own user is obeyed: others may be able to
 * write to the folder. */
#ifndef RS_PLUGIN_CONTROL_H
#define RS_PLUGIN_CONTROL_H

#include <stdbool.h>

/* The background thread, about once a second. A file that is there at the `first` look is an earlier job's: it means nothing
 * until it changes. When the file goes away the environment's setting is back. */
void rs_control_look(const char *dir, bool first);
/* In a forked child. */
void rs_control_reset(void);

#endif

/* Faults that come from outside of the driver: functions for the table. */
#ifndef RS_CAMPAIGN_FAULTS_OUTSIDE_H
#define RS_CAMPAIGN_FAULTS_OUTSIDE_H

#include "run.h"

#define OUTSIDE(NAME) void NAME(struct run *r, const struct planned *p)

OUTSIDE(place_tmpfs);
OUTSIDE(place_tiny); /* a tmpfs that is full before it begins, or soon */
OUTSIDE(place_ramfs); /* neither a tmpfs nor able to reserve space, as a network file system */
OUTSIDE(place_loop); /* an ext4 of one's own */

OUTSIDE(out_no_proc);

OUTSIDE(out_stop);
OUTSIDE(out_control);
OUTSIDE(out_control_garbage);
OUTSIDE(out_control_link);
OUTSIDE(out_read); /* while it runs */
OUTSIDE(out_gather);
OUTSIDE(
    out_gather_stopped); /* from another pid namespace, while the process is stopped for longer than a heartbeat lives */
OUTSIDE(out_copy);
OUTSIDE(out_freeze);
OUTSIDE(out_freeze_long);
OUTSIDE(out_fill);
OUTSIDE(out_fill_shm);
OUTSIDE(out_rename);
OUTSIDE(out_delete);
OUTSIDE(out_truncate);

OUTSIDE(after_cut);
OUTSIDE(after_flip);

OUTSIDE(end_kill_in_exit);

#endif

/* What dead processes left in /dev/shm: live files of this user whose lock is free.
 *
 * Shared memory is small in containers and NCCL needs it, so each process that opens a recording cleans up after killed
 * ones: their live files are moved next to their recordings, as by `ringscope gather`, or removed if the recording is
 * gone. This runs in a separate thread for two seconds at most: those recordings may be on a file system that does not
 * answer. */
#ifndef RS_PLUGIN_STALE_H
#define RS_PLUGIN_STALE_H

#include <stdbool.h>

/* From the background thread, whose descriptor table the other shares. Does nothing if that is the program's table. */
void rs_stale_start(void);
/* Waits until it is done, up to `ms`. Returns whether there was anything to wait for. */
bool rs_stale_wait(unsigned ms);
/* In a forked child: there is no thread here. */
void rs_stale_forget(void);

#endif

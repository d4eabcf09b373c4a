/* What dead processes left in /dev/shm: live files of this user whose lock can be had.
 *
 * Shared memory is small in containers and NCCL needs it, so each process that opens a recording clears up after those that
 * were killed: their live files go beside their recordings, as `ringscope gather` puts them, and are removed where the
 * recording is gone. It runs in a thread of its own for two seconds at most: those recordings may be on a file system that
 * does not answer. */
#ifndef RS_PLUGIN_STALE_H
#define RS_PLUGIN_STALE_H

#include <stdbool.h>

/* From the background thread, whose descriptor table the other shares. Without a table of its own it does nothing. */
void rs_stale_start(void);
/* Waits until that is done, up to `ms`. Whether there was anything to wait for. */
bool rs_stale_wait(unsigned ms);
/* In a forked child: there is no thread here. */
void rs_stale_forget(void);

#endif

/* Where the buffers of a process are.
 *
 * A store of a callback must not wait for a file system, and should outlive the process. The order:
 *
 *   1. the recording's folder, if that is on a tmpfs
 *   2. /dev/shm, with limits: NCCL needs it too
 *   3. private memory: a kill loses what was not sealed, so buffers are sealed every 50 ms
 *
 * RINGSCOPE_BUFFERS=disk tries the folder's disk first, if it is local, can reserve space and passes a test in time: a
 * kill loses nothing, but a store waits when the disk does. Files have their space reserved, so that a full file system
 * is a counted loss and not a SIGBUS, and are locked as long as they are mapped: the lock proves that the process is
 * alive. Used by the background thread. */
#ifndef RS_PLUGIN_PLACES_H
#define RS_PLUGIN_PLACES_H

#include "plugin/files.h"

#define RS_SHM "/dev/shm"
#define RS_SHM_PREFIX "ringscope-"

/* Creates the buffers of the recording f->path, whose descriptor is open, in the first place that works: fills in live,
 * live_bytes, live_path and the header's live_place and live_name. `why`: why earlier places did not work, else "".
 * false: errno says why; EEXIST: the name next to the recording is taken. */
bool rs_places_take(struct rs_files *f, const struct rs_config *config, const char *name, char *why, size_t why_bytes);

#endif

/* Where the buffers of a process live.
 *
 * A store of a callback must not wait for a file system, and should outlive the process. The order:
 *
 *   1. the recording's folder, where that is a tmpfs
 *   2. /dev/shm, within bounds: NCCL needs it too
 *   3. private memory: a kill loses what was not sealed, so that is done every 50 ms
 *
 * RINGSCOPE_BUFFERS=disk puts the folder's disk in front, where it is local, can reserve space and has answered a test in
 * time: a kill loses nothing, but a store waits when the disk does. Files have their space reserved, so that a full file
 * system is a counted loss and not a SIGBUS, and are locked for as long as they are mapped: the lock is the proof that the
 * process lives. Used by the background thread. */
#ifndef RS_PLUGIN_PLACES_H
#define RS_PLUGIN_PLACES_H

#include "plugin/files.h"

#define RS_SHM "/dev/shm"
#define RS_SHM_PREFIX "ringscope-"

/* Takes the first place that will have the buffers of the recording f->path, whose descriptor is open: fills in live,
 * live_bytes, live_path and the header's live_place and live_name. `why`: what was against the places before it, else "".
 * false: errno says why; EEXIST: the name beside the recording is taken. */
bool rs_output_take(struct rs_files *f, const struct rs_config *config, const char *name, char *why, size_t why_bytes);

#endif

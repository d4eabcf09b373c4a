/* Moves live files that killed processes left in /dev/shm of this host next to their recordings, and makes those that are
 * there already small: a process reserves room for all buffers that it may ever need, and what is in them and in no chunk
 * of the recording is little.
 *
 * Only files of the same user, and only with proof that their process ended: the lock that it held, or a pid that is
 * gone on this host and in this pid namespace. An old heartbeat proves nothing: a process may be stopped. Nothing is
 * deleted before its copy is complete. */
#ifndef RS_TRACE_GATHER_H
#define RS_TRACE_GATHER_H

#include "trace/recording.h"

struct rs_gather_result {
    size_t recordings; /* checked */
    size_t brought; /* live files copied to the folder */
    size_t shrunk; /* live files in the folder made smaller */
    uint64_t bytes_before, bytes_after; /* of these */
    size_t running; /* left alone: their process is running */
    size_t unproven; /* left alone: no proof that their process ended, or another user's */
    size_t missing; /* needed, but not on this host */
};

/* Whether this host has any live file that is not next to its recording: a cheap check. */
bool rs_gather_needed(void);

enum rs_status rs_gather_dir(const char *dir, struct rs_gather_result *result, struct rs_err *err);

#endif

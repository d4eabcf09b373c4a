/* Collecting what a kill left on local storage: live files in /dev/shm of this host -> beside their recordings.
 *
 * Only files of the same user, and only with the proof that their process ended: the lock that it held, or a pid that is
 * gone on this host and in this pid namespace. An old heartbeat proves nothing: a process may be stopped. Nothing is
 * deleted before its copy is whole. */
#ifndef RS_TRACE_GATHER_H
#define RS_TRACE_GATHER_H

#include "trace/recording.h"

struct rs_gather_result {
    size_t recordings; /* looked at */
    size_t brought; /* live files copied to the folder */
    size_t running; /* left alone: their process runs */
    size_t unproven; /* left alone: nothing proves that their process ended, or they are another user's */
    size_t missing; /* needed, but on no storage of this host */
};

/* Whether this host holds any live file that is not beside its recording: a cheap look. */
bool rs_gather_needed(void);

enum rs_status rs_gather_dir(const char *dir, struct rs_gather_result *result, struct rs_err *err);

#endif

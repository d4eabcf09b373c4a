/* Bringing home what a kill left on local storage: live files in /dev/shm of this host -> beside their recordings.
 *
 * Files of processes that still run are left alone. Nothing is deleted before its copy is whole. */
#ifndef RS_TRACE_GATHER_H
#define RS_TRACE_GATHER_H

#include "trace/recording.h"

struct rs_gather_result {
    size_t recordings; /* looked at */
    size_t brought; /* live files copied to the folder */
    size_t running; /* left alone: their process lives */
    size_t missing; /* needed, but on no storage of this host */
};

/* Whether this host holds any live file that is not beside its recording: a cheap look. */
bool rs_gather_needed(void);

enum rs_status rs_gather_dir(const char *dir, struct rs_gather_result *result, struct rs_err *err);

#endif

/* Whether the process that made a recording is still running.
 *
 * The lock that it holds on its mapped live file (layout.h: `locked`) proves it, in any container. Without a lock, its
 * host's boot id, its pid and its start time do, on the same host and in the same pid namespace. Otherwise only the
 * heartbeat is left, and that proves nothing. */
#ifndef RS_TRACE_ALIVE_H
#define RS_TRACE_ALIVE_H

#include <stdbool.h>

#include "format/layout.h"

enum rs_alive {
    RS_ALIVE_NO, /* proven: it ended */
    RS_ALIVE_REPLACED, /* proven: it called execve, and the new program is still running */
    RS_ALIVE_YES, /* proven */
    RS_ALIVE_PERHAPS, /* not proven: its heartbeat, in its host's wall time, is less than 10 s old */
    RS_ALIVE_HARDLY, /* not proven: its heartbeat is older */
};

/* `live`: its live file, open, or -1; `locked`: from the live header. */
enum rs_alive rs_process_alive(const struct rs_file_header *header, int live, uint32_t locked);

static inline bool rs_may_run(enum rs_alive alive)
{
    return alive == RS_ALIVE_YES || alive == RS_ALIVE_PERHAPS;
}

#endif

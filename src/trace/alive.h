/* Whether the process that made a recording still runs.
 *
 * The proof is the lock that it holds on its live file for as long as it maps it (layout.h: `locked`), in any container.
 * Without one its host's boot id, its pid and its start time tell; a pid of another namespace (a container) means nothing
 * here, nor does one of another host: then only the heartbeat is left, and that proves nothing. */
#ifndef RS_TRACE_ALIVE_H
#define RS_TRACE_ALIVE_H

#include <stdbool.h>

#include "format/layout.h"

enum rs_alive {
    RS_ALIVE_NO, /* proven: it ended */
    RS_ALIVE_REPLACED, /* proven: it called execve, and the program that it became still runs */
    RS_ALIVE_YES, /* proven */
    RS_ALIVE_PERHAPS, /* not proven: its heartbeat, in its host's wall time, is of the last 10 s */
    RS_ALIVE_HARDLY, /* not proven: its heartbeat is older */
};

/* `live`: its live file, open, or -1; `locked`: what that says of itself. */
enum rs_alive rs_process_alive(const struct rs_file_header *header, int live, uint32_t locked);

static inline bool rs_may_run(enum rs_alive alive)
{
    return alive == RS_ALIVE_YES || alive == RS_ALIVE_PERHAPS;
}

#endif

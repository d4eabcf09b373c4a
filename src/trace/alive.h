/* Whether the process that made a recording still runs: told by its host's boot id, its pid and its start time. A pid of
 * another namespace (a container) means nothing here; then only the heartbeat tells. */
#ifndef RS_TRACE_ALIVE_H
#define RS_TRACE_ALIVE_H

#include <stdbool.h>

#include "format/layout.h"

enum rs_alive {
    RS_ALIVE_NO,
    RS_ALIVE_YES,
    RS_ALIVE_ELSEWHERE /* on another host, in another pid namespace, or before this boot */
};

enum rs_alive rs_process_alive(const struct rs_file_header *header);
/* As far as can be told: alive here, or somewhere else with a heartbeat (in its host's wall time) of the last 10 s. */
bool rs_process_may_run(const struct rs_file_header *header);

#endif

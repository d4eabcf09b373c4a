/* Whether the process that made a recording still runs: told by its host's boot id, its pid and its start time. */
#ifndef RS_TRACE_ALIVE_H
#define RS_TRACE_ALIVE_H

#include "format/layout.h"

enum rs_alive { RS_ALIVE_NO, RS_ALIVE_YES, RS_ALIVE_ELSEWHERE /* on another host, or before this boot */ };

enum rs_alive rs_process_alive(const struct rs_file_header *header);

#endif

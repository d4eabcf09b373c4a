#include "events/events.h"

#include "events/dumped.h"
#include "events/recorded.h"

enum rs_status rs_events_read(struct rs_model *m, struct rs_inputs *in, uint32_t proc, uint64_t types,
                              struct rs_event_pieces *pieces, rs_event_visit visit, void *to, struct rs_err *err)
{
    if (proc < in->n) /* processes of recordings are first, in the order of their sources */
        return rs_events_recorded(m, &in->sources[proc], proc, types, pieces, visit, to, err);
    return rs_tool_has(m->procs[proc].tool, RS_CAP_EVENTS) ? rs_events_dumped(m, in, proc, types, visit, to, err)
                                                           : RS_OK;
}

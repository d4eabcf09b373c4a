#include "events/events.h"

enum rs_status rs_events_read(struct rs_model *m, struct rs_inputs *in, uint32_t proc, uint64_t types,
                              rs_event_visit visit, void *to, struct rs_err *err)
{
    (void)m, (void)in, (void)proc, (void)types, (void)visit, (void)to, (void)err;
    return RS_OK;
}

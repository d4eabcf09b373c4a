/* The operations of a process as OTF2 events: a region a part, with its collective or message record inside, and wait
 * and bytes as metrics that add up along a location. See otf2/plan.h for which goes where. */
#ifndef RS_EXPORT_OTF2_OPERATIONS_H
#define RS_EXPORT_OTF2_OPERATIONS_H

#include "export/otf2/state.h"

enum rs_status rs_otf2_write_operations(struct rs_otf2 *o, uint32_t proc, struct rs_err *err);

#endif

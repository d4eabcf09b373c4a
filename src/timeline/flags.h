/* Flags: moments at which a communicator was created or destroyed, on the group of each of its members. */
#ifndef RS_TIMELINE_FLAGS_H
#define RS_TIMELINE_FLAGS_H

#include "timeline/timeline.h"

/* Sets flags; groups and begin are there. */
enum rs_status rs_flags_make(struct rs_timeline *t, struct rs_err *err);

#endif

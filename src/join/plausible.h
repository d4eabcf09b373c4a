/* Times that cannot be: damaged recordings, GPU timers of nowhere. They are dropped, so that what comes later need not
 * fear them: whatever is known of a part lies within a day of its process's recording, and it takes less than a day. */
#ifndef RS_JOIN_PLAUSIBLE_H
#define RS_JOIN_PLAUSIBLE_H

#include "model/model.h"

/* Called when times are on the common axis; without alignment only lengths are checked. Dropped times are noted. */
enum rs_status rs_plausible_check(struct rs_model *m, struct rs_err *err);

#endif

/* Finding the launch of a part: the model tells when a rank's kernel was launched, to the ns, and a launch is known
 * by that. */
#ifndef RS_TIMELINE_LAUNCH_KEY_H
#define RS_TIMELINE_LAUNCH_KEY_H

#include "base/mix.h"
#include "model/model.h"

static inline uint64_t rs_launch_key(uint32_t member, int64_t at)
{
    return rs_mix(member, (uint64_t)at);
}

/* Of some only the return is told: both ends name it. `to` may be RS_TIME_NONE. */
static inline enum rs_status rs_launch_put(struct rs_map *launches, uint32_t member, int64_t from, int64_t to,
                                           uint32_t bar, struct rs_err *err)
{
    RS_TRY(rs_map_put(launches, rs_launch_key(member, from), bar, err));
    return to == RS_TIME_NONE ? RS_OK : rs_map_put(launches, rs_launch_key(member, to), bar, err);
}

#endif

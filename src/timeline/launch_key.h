/* Finding the launch of a part: a launch is identified by its time, which the model has to the ns. */
#ifndef RS_TIMELINE_LAUNCH_KEY_H
#define RS_TIMELINE_LAUNCH_KEY_H

#include "base/mix.h"
#include "timeline/collect.h"

static inline uint64_t rs_launch_key(uint32_t member, int64_t at)
{
    return rs_mix(rs_mix(0, member), (uint64_t)at);
}

/* A launch is identified by its begin, or by its return if only that is known (RS_PART_LAUNCH_END). */
static inline void rs_launch_put(struct rs_collect *c, uint32_t member, int64_t from, int64_t to, uint32_t bar)
{
    uint64_t key = rs_launch_key(member, from != RS_TIME_NONE ? from : to);
    rs_map_put(&c->launches, key, (uint64_t)c->piece->number << 32 | bar);
}

#endif

/* What the preloaded shim does to the recorder's system calls. The driver finds `campaign_shim` by name and may change
 * it at any time; its own calls go past the shim. */
#ifndef RS_CAMPAIGN_SHIM_H
#define RS_CAMPAIGN_SHIM_H

#include <stdatomic.h>
#include <stdint.h>

struct campaign_shim {
    _Atomic uint32_t fail_percent; /* of writes: EINTR, EIO, ENOSPC, short */
    _Atomic uint32_t delay_us; /* before writes, at most */
    _Atomic int64_t realtime_ns; /* added to CLOCK_REALTIME */
};

#endif

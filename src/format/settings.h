/* The syntax of settings, in the environment (recorder) and on the command line (reader). */
#ifndef RS_FORMAT_SETTINGS_H
#define RS_FORMAT_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nccl/abi.h"

#define RS_MEMORY_LEAST (UINT64_C(4) << 20)
#define RS_MEMORY_MOST (UINT64_C(1) << 30)
#define RS_LIMIT_LEAST (UINT64_C(1) << 20)

/* Always requested, so that the recorder knows when a mask may change (plugin/masks.h): API v5 and newer; before v5. */
enum { RS_MASK_ALWAYS = RS_GROUP_API | RS_KERNEL_LAUNCH, RS_MASK_ALWAYS_V1 = RS_GROUP };

/* What windows of detail switch on and off: GPU times and the network. The other events are always requested. */
enum { RS_MASK_DETAIL = RS_KERNEL_CH | RS_KERNEL_PHASE | RS_PROXY_OP | RS_PROXY_STEP | RS_PROXY_CTRL | RS_NET_PLUGIN };
enum { RS_DETAIL_TRIGGERS = 20 }; /* per hour, unless the setting says another number */

/* The named sets of event types, in the order of --help; NULL after the last. */
struct rs_event_set {
    const char *name; /* "ops" */
    int mask;
    const char *what; /* one line of --help */
};
const struct rs_event_set *rs_event_set_at(size_t index);

/* The name of a set in any case, or a number (decimal, 0x...) -> mask of event types. */
bool rs_setting_mask(const char *text, int *mask);
/* The name of a mask, or NULL if it has none. */
const char *rs_setting_mask_name(int mask);
/* Detail in windows: `window_ns` of each `period_ns`; period 0: all the time. */
struct rs_detail {
    uint64_t window_ns, period_ns;
};
/* "200ms:10s" (us, ms, s, min, h), or "always". A window has 1 ms or more, a period a day or less. */
bool rs_setting_detail(const char *text, struct rs_detail *detail);
/* The window of the period that contains the time `ns` (CLOCK_REALTIME) is [*from, *to). Where it lies in its period is
 * a hash of the period's number: the same for all who ask, and not in step with what a job repeats. */
void rs_detail_window(const struct rs_detail *detail, uint64_t ns, uint64_t *from, uint64_t *to);
/* A number of bytes, followed by k, M, G or T (powers of 1024; an `i` and a `B` may follow). */
bool rs_setting_bytes(const char *text, uint64_t *bytes);

#endif

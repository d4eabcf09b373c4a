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
/* A number of bytes, followed by k, M, G or T (powers of 1024; an `i` and a `B` may follow). */
bool rs_setting_bytes(const char *text, uint64_t *bytes);

#endif

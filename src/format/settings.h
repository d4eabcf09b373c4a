/* How settings are written: by users in the environment and on the command line, read alike by the recorder and the tool. */
#ifndef RS_FORMAT_SETTINGS_H
#define RS_FORMAT_SETTINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "nccl/abi.h"

#define RS_MEMORY_LEAST (UINT64_C(4) << 20)
#define RS_MEMORY_MOST (UINT64_C(1) << 30)
#define RS_LIMIT_LEAST (UINT64_C(1) << 20)

/* Asked for in any case, by which the recorder knows when a mask may change (plugin/masks.h): of API v5 and newer; before. */
enum { RS_MASK_ALWAYS = RS_GROUP_API | RS_KERNEL_LAUNCH, RS_MASK_ALWAYS_V1 = RS_GROUP };

/* The sets of event types that have a name, in the order of --help; NULL behind the last. */
struct rs_event_set {
    const char *name; /* "ops" */
    int mask;
    const char *what; /* one line of --help */
};
const struct rs_event_set *rs_event_set_at(size_t index);

/* The name of a set in any case, or a number (decimal, 0x...) -> mask of event types. */
bool rs_setting_mask(const char *text, int *mask);
/* The word for a mask that NCCL was asked for, or NULL when it has none. */
const char *rs_setting_mask_name(int mask);
/* A number of bytes with k, M, G or T behind it (powers of 1024; an `i` and a `B` may follow). */
bool rs_setting_bytes(const char *text, uint64_t *bytes);

#endif

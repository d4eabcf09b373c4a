#include "cli/event_sets.h"

#include <stdio.h>

#include "format/settings.h"
#include "nccl/abi.h"
#include "nccl/names.h"

void rs_event_sets_list(void)
{
    printf("\nsets of event types (--events):\n");
    for (size_t i = 0; rs_event_set_at(i); i++)
        printf("  %-4s  %#-6x  %s\n", rs_event_set_at(i)->name, (unsigned)rs_event_set_at(i)->mask,
               rs_event_set_at(i)->what);
    printf("\nevent types, as a mask adds them up:\n");
    enum { ACROSS = 4, WIDTH = 14 };
    for (unsigned i = 0; i < RS_NCCL_TYPE_BITS; i++) {
        bool last = i % ACROSS == ACROSS - 1 || i + 1 == RS_NCCL_TYPE_BITS;
        printf("  %#-6x %-*s%s", 1u << i, last ? 0 : WIDTH, rs_nccl_type_name(1u << i), last ? "\n" : "");
    }
}

int rs_event_sets_check(const struct rs_command *cmd, const char *events)
{
    int mask;
    char sets[64];
    size_t n = 0;
    if (!events || rs_setting_mask(events, &mask)) return -1;
    for (size_t i = 0; rs_event_set_at(i) && n < sizeof sets; i++)
        n += (size_t)snprintf(sets + n, sizeof sets - n, "%s%s", i ? ", " : "", rs_event_set_at(i)->name);
    return rs_opt_usage(cmd, "--events %s: expected %s or a mask such as 0x1fff", events, sets);
}

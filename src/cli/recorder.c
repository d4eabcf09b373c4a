#include "cli/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "format/settings.h"
#include "nccl/abi.h"
#include "nccl/names.h"

/* ---- the plugin ---- */

static const char plugin_file[] = "libnccl-profiler-ringscope.so";

enum rs_status rs_plugin_path(char path[PATH_MAX], struct rs_err *err)
{
    static const char *const places[] = {"", "../lib/", "../lib64/"};
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    if (n < 0) return rs_fail_errno(err, "cannot find the path of ringscope");
    exe[n] = '\0';
    char *slash = strrchr(exe, '/');
    if (slash != NULL) slash[1] = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        struct rs_strbuf s = {0};
        rs_strbuf_printf(&s, "%s%s%s", exe, places[i], plugin_file);
        bool found = realpath(s.data, path) != NULL;
        rs_strbuf_free(&s);
        if (found) return RS_OK;
    }
    return rs_fail(err, RS_NOT_FOUND, "%s is neither in %s nor in the lib folder beside it; name it with --plugin",
                   plugin_file, exe);
}

/* ---- --events ---- */

void rs_event_sets_list(void)
{
    printf("\nsets of event types (--events):\n");
    for (size_t i = 0; rs_event_set_at(i); i++)
        printf("  %-4s  %#-6x  %s\n", rs_event_set_at(i)->name, (unsigned)rs_event_set_at(i)->mask,
               rs_event_set_at(i)->what);
    printf("\nevent types, whose values add up to a mask:\n");
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

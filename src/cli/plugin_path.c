#include "cli/plugin_path.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strbuf.h"

static const char plugin_file[] = "libnccl-profiler-ringscope.so";

enum rs_status rs_plugin_path(char path[PATH_MAX], struct rs_err *err)
{
    static const char *const places[] = {"", "../lib/", "../lib64/"};
    char exe[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
    if (n < 0) return rs_fail_errno(err, "cannot find out where ringscope lies");
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

#include "cli/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/strbuf.h"
#include "cli/print/output.h"
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

/* ---- the environment ---- */

static const char *borrow_env(const char *name)
{
    const char *value = getenv(name);
    return value == NULL || *value == '\0' ? NULL : value;
}

static enum rs_status set_env(const char *name, const char *value, struct rs_err *err)
{
    return setenv(name, value, 1) == 0 ? RS_OK : rs_fail_errno(err, "cannot set %s", name);
}

/* A relative path means something else in a program that changes its folder, and on another host. */
static enum rs_status set_absolute(const char *name, const char *path, struct rs_err *err)
{
    if (path[0] == '/') return set_env(name, path, err);
    char *here = getcwd(NULL, 0);
    if (here == NULL) return rs_fail_errno(err, "cannot find the current folder");
    struct rs_strbuf s = {0};
    rs_strbuf_printf(&s, "%s/%s", strcmp(here, "/") == 0 ? "" : here, strncmp(path, "./", 2) == 0 ? path + 2 : path);
    free(here);
    enum rs_status status = RS_OK;
    status = set_env(name, s.data, err);
    rs_strbuf_free(&s);
    return status;
}

static enum rs_status set_plugin(const char *command, const struct rs_recorder_settings *set, struct rs_err *err)
{
    char found[PATH_MAX];
    const char *old = borrow_env("NCCL_PROFILER_PLUGIN");
    char *before = old == NULL ? NULL : rs_strdup(old);
    enum rs_status status;
    if (set->plugin != NULL) {
        /* A bare name is looked up by the loader. */
        bool bare = strchr(set->plugin, '/') == NULL;
        bool resolve = !bare && !set->elsewhere;
        if (resolve && realpath(set->plugin, found) == NULL) {
            status = rs_fail_errno(err, "--plugin %s", set->plugin);
        } else {
            status = set_env("NCCL_PROFILER_PLUGIN", resolve ? found : set->plugin, err);
        }
    } else {
        status = rs_plugin_path(found, err);
        if (status == RS_OK) status = set_env("NCCL_PROFILER_PLUGIN", found, err);
    }
    if (status == RS_OK && before != NULL && strcmp(before, borrow_env("NCCL_PROFILER_PLUGIN")) != 0)
        rs_warn(command, "NCCL_PROFILER_PLUGIN=%s is replaced: NCCL loads one profiler only", before);
    free(before);
    return status;
}

static enum rs_status set_dir(const struct rs_recorder_settings *set, struct rs_err *err)
{
    const char *dir = set->dir != NULL ? set->dir : borrow_env("RINGSCOPE_DIR");
    const char *job = borrow_env("SLURM_JOB_ID");
    if (dir != NULL) return set_absolute("RINGSCOPE_DIR", dir, err);
    if (job == NULL) return set_absolute("RINGSCOPE_DIR", "ringscope-run", err);
    char name[128];
    snprintf(name, sizeof(name), "ringscope-%s", job);
    return set_absolute("RINGSCOPE_DIR", name, err);
}

enum rs_status rs_recorder_set(const char *command, const struct rs_recorder_settings *set, struct rs_err *err)
{
    RS_TRY(set_plugin(command, set, err));
    RS_TRY(set_dir(set, err));
    if (set->events != NULL) RS_TRY(set_env("RINGSCOPE_EVENTS", set->events, err));
    if (set->detail != NULL) RS_TRY(set_env("RINGSCOPE_DETAIL", set->detail, err));
    if (set->memory != NULL) RS_TRY(set_env("RINGSCOPE_MEMORY", set->memory, err));
    if (set->limit != NULL) RS_TRY(set_env("RINGSCOPE_LIMIT", set->limit, err));
    if (set->keep != NULL) RS_TRY(set_env("RINGSCOPE_KEEP", set->keep, err));
    if (set->buffers != NULL) RS_TRY(set_env("RINGSCOPE_BUFFERS", set->buffers, err));
    return RS_OK;
}

/* ---- --detail ---- */

int rs_detail_check(const struct rs_command *cmd, const char *detail)
{
    struct rs_detail parsed;
    if (!detail || rs_setting_detail(detail, &parsed)) return -1;
    return rs_opt_usage(
        cmd,
        "--detail %s: expected always or WINDOW:PERIOD such as 200ms:10s (us, ms, s, min, h; a window of "
        "1 ms or more, a longer period of a day or less)",
        detail);
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

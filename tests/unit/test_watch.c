/* Why nothing was recorded, from what was seen of processes; versions of NCCL in files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/nccl_library.h"
#include "cli/watch.h"

#define PLUGIN "/opt/rs/lib/libnccl-profiler-ringscope.so"

static void versions_and_interfaces(void **state)
{
    (void)state;
    /* tags of NCCL's repository, and the newest symbol that their sources look for */
    static const struct {
        int version, api;
    } known[] = {{2708, 0},  {22105, 0}, {22204, 0}, {22304, 1}, {22403, 2}, {22501, 2}, {22602, 3},
                 {22706, 4}, {22803, 5}, {22809, 5}, {22902, 6}, {23007, 6}, {23102, 7}, {23301, 7}};
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        assert_int_equal(rs_nccl_profiler_api(known[i].version), known[i].api);
    assert_string_equal(rs_nccl_version_text(22809).s, "2.28.9");
    assert_string_equal(rs_nccl_version_text(2708).s, "2.7.8");
    assert_string_equal(rs_nccl_version_text(0).s, "of unknown version");
    assert_true(rs_nccl_refuses_paths(22703));
    assert_false(rs_nccl_refuses_paths(22705));
    assert_false(rs_nccl_refuses_paths(22605));
}

static int version_in(const char *bytes, size_t n)
{
    int fd = memfd_create("library", 0);
    assert_int_equal(write(fd, bytes, n), n);
    int version = rs_nccl_version_in(fd, "library");
    close(fd);
    return version;
}

static void version_text_in_files(void **state)
{
    (void)state;
    static const char real[] =
        "\177ELF\0...NCCL version %d.%d\0NCCL version 2.28.9+cuda13.0\0NCCL version 2.28.9 compiled";
    assert_int_equal(version_in(real, sizeof real), 22809);
    assert_int_equal(version_in("NCCL version 2.7.8+cuda11.0", 28), 2708);
    assert_int_equal(version_in("NCCL version 2.", 15), 0);
    assert_int_equal(version_in("NCCL version ", 13), 0);
    assert_int_equal(version_in("RCCL version 2.21.5", 19), 0);
    assert_int_equal(version_in("", 0), 0);
    /* Tables that a damaged header puts outside of the file. */
    char damaged[128] = "\177ELF\2\1\1";
    memset(damaged + 16, 0xff, sizeof damaged - 16);
    assert_int_equal(version_in(damaged, sizeof damaged), 0);
}

/* ---- reasons ---- */

static char *said(struct rs_watched *procs, uint32_t n, int version)
{
    struct rs_watched_nccl nccl = {.path = "/lib/libnccl.so.2", .version = version};
    struct rs_watch w = {
        .plugin = PLUGIN, .procs = procs, .nprocs = n, .nccls = &nccl, .nnccls = 1, .looks = 9, .end_ms = 1000};
    size_t count;
    char **reasons = rs_watch_reasons(&w, &count), *all = calloc(1, 4096);
    for (size_t i = 0; i < count; i++) {
        strcat(strcat(all, reasons[i]), "\n");
        free(reasons[i]);
    }
    free(reasons);
    return all;
}

static void one(struct rs_watched p, int version, const char *expected)
{
    p.pid = 4242;
    strcpy(p.name, "python");
    char *text = said(&p, 1, version);
    if (strstr(text, expected) == NULL || strchr(text, '\n')[1] != 0) fail_msg("'%s' is not: %s", text, expected);
    free(text);
}

static void each_reason(void **state)
{
    (void)state;
    char own[] = PLUGIN, foreign[] = "inspector", path[] = "/x/libnccl-profiler-inspector.so";
    struct rs_watched p = {.setting = own, .environment_known = true};
    one(p, 22105, "pid 4242 (python) loaded libnccl 2.21.5: too old for profiler plugins");
    one(p, 22809, "pid 4242 (python) loaded libnccl 2.28.9, but not the plugin: it created no communicator");
    one(p, 22703, "refuses plugins that are named by a path");
    one(p, 0, "loaded libnccl of unknown version, but not the plugin");
    p.file_missing = true;
    one(p, 22809, "but " PLUGIN " does not exist in its container");
    p = (struct rs_watched){.setting = foreign, .environment_known = true};
    one(p, 22809, "but NCCL_PROFILER_PLUGIN was overwritten by 'inspector'");
    one(p, 22105, "too old"); /* whatever else is wrong */
    p = (struct rs_watched){.environment_known = true};
    one(p, 22809, "was started without NCCL_PROFILER_PLUGIN");
    p = (struct rs_watched){0}; /* /proc/PID/environ could not be read: nothing is said about it */
    one(p, 22809, "but not the plugin");
    p = (struct rs_watched){.setting = own, .environment_known = true, .other = path};
    one(p, 22809, "another profiler plugin, /x/libnccl-profiler-inspector.so");
    p = (struct rs_watched){.setting = own, .environment_known = true, .recorder = true};
    one(p, 22809, "and the recorder, which wrote nothing");
    p = (struct rs_watched){.nccl = -1};
    one(p, 22809, "no process loaded libnccl, and none has it linked in (1 process watched)");
}

static void processes_with_one_reason(void **state)
{
    (void)state;
    enum { MANY = 4000 };
    char own[] = PLUGIN, foreign[] = "x";
    struct rs_watched *procs = calloc(MANY, sizeof *procs);
    for (int i = 0; i < MANY; i++)
        procs[i] = (struct rs_watched){.pid = 100 + i,
                                       .name = "w",
                                       .setting = i == 7 ? foreign : own,
                                       .environment_known = true,
                                       .nccl = i % 2 ? 0 : -1};
    char *text = said(procs, MANY, 22809);
    assert_non_null(strstr(text, "pid 101 (w) and 1998 others loaded libnccl 2.28.9, but not the plugin"));
    assert_non_null(strstr(text, "pid 107 (w) loaded libnccl 2.28.9, but NCCL_PROFILER_PLUGIN was overwritten by 'x'"));
    free(text);
    free(procs);
}

static void launchers(void **state)
{
    (void)state;
    struct rs_watched p = {.pid = 5, .name = "mpirun", .nccl = -1};
    char *text = said(&p, 1, 0);
    assert_non_null(strstr(text, "pid 5 (mpirun) starts processes that cannot be watched from here"));
    free(text);
}

/* What was not seen is not denied. */
static void little_was_seen(void **state)
{
    (void)state;
    struct rs_watched p = {.pid = 5, .name = "x", .nccl = -1};
    const struct {
        struct rs_watch w;
        const char *expected;
    } cases[] = {
        {{.looks = 0}, "the command ended before its processes could be watched"},
        {{.looks = 3, .end_ms = 1000}, "the processes of the command could not be watched: /proc does not show them"},
        {{.looks = 1, .end_ms = 11, .procs = &p, .nprocs = 1},
         "the command ended after 11 ms: no process loaded libnccl until then"},
        {{.looks = 9, .end_ms = 1000, .procs = &p, .nprocs = 1, .unread = 2},
         "no process loaded libnccl (1 process watched; 2 of their files could not be read)"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t n;
        char **reasons = rs_watch_reasons(&cases[i].w, &n);
        assert_int_equal(n, 1);
        assert_string_equal(reasons[0], cases[i].expected);
        free(reasons[0]);
        free(reasons);
    }
}

/* ---- real processes ---- */

/* A process, and a child of it with another environment: both are found. */
static void descendants(void **state)
{
    (void)state;
    int ready[2], hold[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    assert_int_equal(pipe(hold), 0);
    setenv("NCCL_PROFILER_PLUGIN", PLUGIN, 1);
    pid_t child = fork();
    if (child == 0) {
        dup2(hold[0], 0);
        dup2(ready[1], 1);
        execl("/bin/sh", "sh", "-c", "NCCL_PROFILER_PLUGIN=mine sh -c 'echo x; read line; :'; :", (char *)NULL);
        _exit(1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    struct rs_watch w;
    rs_watch_init(&w, PLUGIN, false);
    assert_true(rs_watch_look(&w, child) > 0);
    assert_int_equal(w.nprocs, 2);
    for (int i = 0; i < 2; i++) {
        const struct rs_watched *p = &w.procs[i];
        assert_string_equal(p->name, "sh");
        assert_true(p->environment_known);
        assert_string_equal(p->setting, p->pid == child ? PLUGIN : "mine");
        assert_int_equal(p->nccl, -1);
    }
    assert_true(w.nfiles > 0); /* the shell and its libraries */
    rs_watch_free(&w);
    assert_int_equal(write(hold[1], "\n", 1), 1);
    assert_int_equal(waitpid(child, NULL, 0), child);
    for (int i = 0; i < 2; i++) {
        close(ready[i]);
        close(hold[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_and_interfaces),
        cmocka_unit_test(version_text_in_files),
        cmocka_unit_test(each_reason),
        cmocka_unit_test(processes_with_one_reason),
        cmocka_unit_test(launchers),
        cmocka_unit_test(little_was_seen),
        cmocka_unit_test(descendants),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ringscope doctor: is this host set up to record, and which NCCL does a command load? One line per check. Whatever loads
 * foreign libraries runs in a process of its own, which has TRY_SECONDS. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

#include "base/err.h"
#include "base/file.h"
#include "base/memory.h"
#include "base/strbuf.h"
#include "base/units.h"
#include "cli/commands.h"
#include "cli/launch.h"
#include "cli/nccl_library.h"
#include "cli/options/common.h"
#include "cli/print/output.h"
#include "cli/recorder.h"
#include "trace/gather.h"

enum {
    TRY_SECONDS = 20, /* for a foreign library, or for Python, to load */
    SHM_LEAST_MIB = 256, /* with less the recorder leaves GPU times out (plugin/masks.c) */
    SPACE_LEAST_MIB = 16, /* a recording of a minute may need that */
    SPACE_FEW_MIB = 1024,
    FILES_FEW = 256,
    MEMORY_FEW_MIB = 256, /* the buffers are 64 MiB per process by default */
};

/* ---- the results ---- */

enum level { FINE, WARNING, PROBLEM };
static const char *const level_names[] = {"ok", "warning", "problem"};

struct check {
    const char *name;
    enum level level;
    char *text;
    char *advice; /* NULL: none */
};

/* What was seen of a process of the command that has NCCL. */
struct seen {
    pid_t pid;
    char name[32];
    char *path; /* of NCCL */
    int version; /* 0: unknown */
    char *setting; /* NCCL_PROFILER_PLUGIN; NULL: none, or unknown */
    bool recorder;
    char *reason; /* NULL: none */
};

struct report {
    struct check *checks;
    size_t n;
    enum level worst;
    bool ran; /* a command; the rest is about it */
    struct seen *seen;
    size_t nseen, recorded;
};

/* `advice`: what to do about it, NULL where nothing has to be done. */
static __attribute__((format(printf, 5, 6))) void add(struct report *r, const char *name, enum level level,
                                                      const char *advice, const char *fmt, ...)
{
    r->checks = rs_realloc(r->checks, (r->n + 1) * sizeof *r->checks);
    struct check *c = &r->checks[r->n++];
    *c = (struct check){.name = name, .level = level, .advice = advice == NULL ? NULL : rs_strdup(advice)};
    va_list args;
    va_start(args, fmt);
    if (vasprintf(&c->text, fmt, args) < 0) rs_memory_out();
    va_end(args);
    if (level > r->worst) r->worst = level;
}

static void free_report(struct report *r)
{
    for (size_t i = 0; i < r->n; i++) {
        free(r->checks[i].text);
        free(r->checks[i].advice);
    }
    for (size_t i = 0; i < r->nseen; i++) {
        free(r->seen[i].path);
        free(r->seen[i].setting);
        free(r->seen[i].reason);
    }
    free(r->checks);
    free(r->seen);
}

/* ---- trying in a process of its own ---- */

/* Calls `what` in a child, whose standard output is a pipe; `said` gets what it wrote there. False: it failed, crashed or took
 * too long. */
static bool try(void (*what)(const char *with), const char *with, struct rs_strbuf *said)
{
    int out[2];
    rs_strbuf_clear(said);
    if (pipe2(out, O_CLOEXEC) != 0) return false;
    pid_t child = fork();
    if (child == 0) {
        struct rlimit none = {0};
        setrlimit(RLIMIT_CORE, &none);
        rs_output_restore_signals();
        alarm(TRY_SECONDS);
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (null >= 0) {
            dup2(null, STDIN_FILENO);
            dup2(null, STDERR_FILENO);
        }
        dup2(out[1], STDOUT_FILENO);
        what(with);
        _exit(0);
    }
    close(out[1]);
    char some[4096];
    for (ssize_t n; child > 0 && ((n = read(out[0], some, sizeof some)) > 0 || (n < 0 && errno == EINTR));)
        if (n > 0) rs_strbuf_add(said, some, (size_t)n);
    close(out[0]);
    int status = -1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* In the child, where the library stays loaded: its path, or why it cannot be loaded, after an "!". */
static void load(const char *name)
{
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    struct link_map *map;
    if (library == NULL) {
        dprintf(STDOUT_FILENO, "!%s", dlerror());
        _exit(0);
    }
    if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name != NULL) {
        char path[PATH_MAX];
        dprintf(STDOUT_FILENO, "%s", realpath(map->l_name, path) != NULL ? path : map->l_name);
    }
}

/* The interface versions of a profiler plugin, behind its path. */
static void load_plugin(const char *name)
{
    load(name);
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    for (int v = 1; v <= 99; v++) {
        char symbol[32];
        snprintf(symbol, sizeof symbol, "ncclProfiler_v%d", v);
        if (dlsym(library, symbol) != NULL) dprintf(STDOUT_FILENO, "\n%d", v);
    }
}

static void ask_version(const char *path)
{
    void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    int (*get)(int *), version = 0;
    if (library == NULL) _exit(1);
    *(void **)&get = dlsym(library, "ncclGetVersion");
    if (get == NULL || get(&version) != 0) _exit(1);
    dprintf(STDOUT_FILENO, "%d", version);
}

/* Packages of PyPI have their libraries in folders that the loader does not search: PyTorch names them when it is
 * imported. Prints the path of each library. */
static void ask_python(const char *unused)
{
    static const char program[] = "import glob, importlib.util\n"
                                  "for name in 'nccl', 'cuda_cupti':\n"
                                  "    try: spec = importlib.util.find_spec('nvidia.' + name)\n"
                                  "    except ImportError: continue\n"
                                  "    for folder in (spec.submodule_search_locations if spec else []):\n"
                                  "        for path in sorted(glob.glob(folder + '/lib/lib*.so*')): print(path)\n";
    (void)unused;
    execlp("python3", "python3", "-c", program, (char *)NULL);
    _exit(1);
}

/* The first line that names a library beginning with `prefix`, to be freed; NULL: none. */
static char *library_in(const struct rs_strbuf *lines, const char *prefix)
{
    const char *line = rs_strbuf_borrow(lines);
    while (*line != '\0') {
        size_t n = strcspn(line, "\n"), name = n;
        while (name > 0 && line[name - 1] != '/') name--;
        if (n - name >= strlen(prefix) && strncmp(line + name, prefix, strlen(prefix)) == 0) return rs_strndup(line, n);
        line += n + (line[n] == '\n');
    }
    return NULL;
}

/* ---- the checks ---- */

/* Returns the newest interface version that the plugin has; 0: it cannot be used. */
static int check_plugin(struct report *r)
{
    const char *plugin = getenv("NCCL_PROFILER_PLUGIN");
    struct rs_strbuf said = {0};
    int newest = 0;
    if (!try(load_plugin, plugin, &said) || said.len == 0 || said.data[0] == '!') {
        add(r, "plugin", PROBLEM, "reinstall ringscope for this machine, or name a plugin with --plugin",
            "%s cannot be loaded: %s", plugin, said.len > 1 ? said.data + 1 : "the process that tried it crashed");
    } else {
        char *save = NULL;
        const char *path = strtok_r(said.data, "\n", &save), *first = NULL, *v;
        while ((v = strtok_r(NULL, "\n", &save)) != NULL) {
            if (first == NULL) first = v;
            newest = atoi(v);
        }
        if (first == NULL) {
            add(r, "plugin", PROBLEM, "name ringscope's plugin with --plugin, or none", "%s is no NCCL profiler plugin",
                path);
        } else {
            add(r, "plugin", FINE, NULL, "%s loads; interface versions %s to %d", path, first, newest);
        }
    }
    rs_strbuf_free(&said);
    return newest;
}

static int version_of(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int version = fd < 0 ? 0 : rs_nccl_version_in(fd, path);
    if (fd >= 0) close(fd);
    struct rs_strbuf said = {0};
    if (version == 0 && try(ask_version, path, &said) && said.len > 0) version = atoi(said.data);
    rs_strbuf_free(&said);
    return version;
}

/* One NCCL that was found; `by` says how. */
static void check_version(struct report *r, const char *path, const char *by, int plugin_newest)
{
    int version = version_of(path), api = rs_nccl_profiler_api(version);
    struct rs_text text = rs_nccl_version_text(version);
    if (version == 0) {
        add(r, "nccl", WARNING, "ringscope doctor -- CMD shows whether it loads the plugin", "%s, %s: version unknown",
            path, by);
    } else if (api == 0) {
        add(r, "nccl", PROBLEM, "use NCCL 2.23 or newer", "NCCL %s, %s (%s): too old for profiler plugins", text.s, by,
            path);
    } else if (rs_nccl_refuses_paths(version)) {
        add(r, "nccl", PROBLEM,
            "use NCCL 2.27.5 or newer, or --plugin libnccl-profiler-ringscope.so and LD_LIBRARY_PATH",
            "NCCL %s, %s (%s) refuses plugins that are named by a path", text.s, by, path);
    } else if (plugin_newest > 0) {
        add(r, "nccl", FINE, NULL, "NCCL %s, %s (%s), will use ncclProfiler_v%d", text.s, by, path,
            api < plugin_newest ? api : plugin_newest);
    } else {
        add(r, "nccl", FINE, NULL, "NCCL %s, %s (%s)", text.s, by, path);
    }
}

static void check_nccl(struct report *r, const struct rs_strbuf *python, int plugin_newest)
{
    struct rs_strbuf said = {0};
    char *by_loader = NULL;
    if (try(load, "libnccl.so.2", &said) && said.len > 0 && said.data[0] != '!') {
        by_loader = rs_strdup(said.data);
        check_version(r, by_loader, "found by the loader", plugin_newest);
    }
    char *by_python = library_in(python, "libnccl.so");
    if (by_python != NULL && (by_loader == NULL || !rs_same_file(by_loader, by_python)))
        check_version(r, by_python, "of python3 (nvidia-nccl)", plugin_newest);
    if (by_loader == NULL && by_python == NULL)
        add(r, "nccl", WARNING, "a program may have its own: ringscope doctor -- CMD finds out",
            "neither the loader nor python3 finds a libnccl.so.2");
    free(by_loader);
    free(by_python);
    rs_strbuf_free(&said);
}

/* The folder, or the nearest that exists above it. */
static char *existing(const char *path)
{
    char *at = rs_strdup(path);
    while (access(at, F_OK) != 0) {
        char *slash = strrchr(at, '/');
        if (slash == NULL || slash == at) {
            strcpy(at, "/");
            break;
        }
        *slash = '\0';
    }
    return at;
}

static void check_folder(struct report *r)
{
    const char *dir = getenv("RINGSCOPE_DIR");
    char *there = existing(dir), *name;
    struct statvfs space;
    struct stat st;
    rs_asprintf(&name, "%s/.ringscope-doctor.XXXXXX", there);
    int fd = stat(there, &st) == 0 && S_ISDIR(st.st_mode) ? mkostemp(name, O_CLOEXEC) : (errno = ENOTDIR, -1);
    if (fd < 0) {
        add(r, "folder", PROBLEM, "choose another with -o DIR", "%s: cannot create files: %s", there, strerror(errno));
    } else {
        static const char zeros[4096];
        bool written = write(fd, zeros, sizeof zeros) == (ssize_t)sizeof zeros && fsync(fd) == 0;
        int why = errno;
        unlink(name);
        close(fd);
        uint64_t mib = 0;
        if (statvfs(there, &space) == 0) mib = (uint64_t)space.f_bavail * space.f_frsize >> 20;
        struct rs_text left = rs_text_bytes(mib << 20);
        if (!written) {
            add(r, "folder", PROBLEM, "choose another with -o DIR", "%s: cannot write: %s", there, strerror(why));
        } else if (mib < SPACE_LEAST_MIB) {
            add(r, "folder", PROBLEM, "free some, or choose another with -o DIR", "%s: only %s free", there, left.s);
        } else if (mib < SPACE_FEW_MIB) {
            add(r, "folder", WARNING, "limit each process with ringscope run --limit",
                "%s is writable, with only %s free", dir, left.s);
        } else {
            add(r, "folder", FINE, NULL, "%s %s, %s free", dir,
                strcmp(dir, there) == 0 ? "is writable" : "can be created", left.s);
        }
    }
    free(name);
    free(there);
}

static void check_shm(struct report *r)
{
    static const char larger[] = "give the container a larger one (docker: --shm-size=1g or --ipc=host)";
    struct statvfs shm;
    if (statvfs("/dev/shm", &shm) != 0 || access("/dev/shm", W_OK) != 0) {
        add(r, "shm", WARNING, "mount a writable tmpfs there",
            "/dev/shm cannot be used: a killed process loses its last 50 ms, and NCCL itself may need it");
        return;
    }
    uint64_t free_bytes = (uint64_t)shm.f_bavail * shm.f_frsize;
    struct rs_text size = rs_text_bytes((uint64_t)shm.f_blocks * shm.f_frsize), left = rs_text_bytes(free_bytes);
    if (free_bytes >> 20 < SHM_LEAST_MIB) {
        add(r, "shm", WARNING, larger, "/dev/shm has %s, %s free: GPU times are not recorded below %d MiB", size.s,
            left.s, SHM_LEAST_MIB);
    } else {
        add(r, "shm", FINE, NULL, "/dev/shm has %s, %s free", size.s, left.s);
    }
}

/* As the recorder chooses its clock (plugin/tick.c). */
static void check_clock(struct report *r)
{
    char source[32] = "";
    int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t n = read(fd, source, sizeof source - 1);
        source[n > 0 ? n : 0] = '\0';
        source[strcspn(source, "\n")] = '\0';
        close(fd);
    }
#if defined(__x86_64__)
    unsigned a, b, c, d = 0;
    int mode = PR_TSC_ENABLE;
    bool invariant = __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1u << 8) != 0;
    bool allowed = prctl(PR_GET_TSC, &mode) != 0 || mode == PR_TSC_ENABLE;
    bool trusted = strcmp(source, "hpet") != 0 && strcmp(source, "acpi_pm") != 0;
    if (invariant && allowed && trusted) {
        add(r, "clock", FINE, NULL, "invariant TSC%s%s", *source ? "; the kernel uses " : "", source);
    } else {
        add(r, "clock", WARNING, NULL, "%s: callbacks read CLOCK_MONOTONIC_RAW instead, which costs more",
            !invariant ? "the TSC is not invariant (a virtual machine?)"
            : !allowed ? "the TSC is disabled for this process"
                       : "the kernel does not trust the TSC");
    }
#elif defined(__aarch64__)
    add(r, "clock", FINE, NULL, "cntvct_el0%s%s", *source ? "; the kernel uses " : "", source);
#else
    add(r, "clock", WARNING, NULL, "callbacks read CLOCK_MONOTONIC_RAW");
#endif
}

static void check_cupti(struct report *r, const struct rs_strbuf *python)
{
    struct rs_strbuf said = {0};
    static const char *const names[] = {"libcupti.so", "libcupti.so.13", "libcupti.so.12"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (!try(load, names[i], &said) || said.len == 0 || said.data[0] == '!') continue;
        add(r, "cupti", FINE, NULL, "%s, found by the loader", said.data);
        rs_strbuf_free(&said);
        return;
    }
    char *by_python = library_in(python, "libcupti.so");
    if (by_python != NULL) {
        add(r, "cupti", FINE, NULL, "%s, of python3 (nvidia-cuda-cupti)", by_python);
    } else {
        add(r, "cupti", FINE, NULL,
            "not found: ringscope does not need it, but without it PyTorch's profiler records no kernels");
    }
    free(by_python);
    rs_strbuf_free(&said);
}

/* As the background thread of the recorder gets a descriptor table of its own (plugin/table.c). */
static void own_table(const char *unused)
{
    (void)unused;
#ifdef SYS_close_range
    if (syscall(SYS_close_range, 100u, ~0u, 2u /* CLOSE_RANGE_UNSHARE */) == 0) return;
#endif
    if (unshare(CLONE_FILES) != 0) _exit(1);
}

/* A number in a file of /sys; -1: none. */
static int64_t number_in(const char *path)
{
    FILE *f = fopen(path, "re");
    long long n = -1;
    if (f != NULL && fscanf(f, "%lld", &n) != 1) n = -1;
    if (f != NULL) fclose(f);
    return n;
}

static void check_limits(struct report *r)
{
    size_t n = r->n;
    struct rlimit files = {0}, size = {0};
    getrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_FSIZE, &size);
    if (files.rlim_cur < FILES_FEW)
        add(r, "limits", WARNING, "raise it: ulimit -n", "only %llu open files are allowed",
            (unsigned long long)files.rlim_cur);
    if (size.rlim_cur != RLIM_INFINITY)
        add(r, "limits", size.rlim_cur >> 20 < SPACE_LEAST_MIB ? PROBLEM : WARNING, "raise it: ulimit -f unlimited",
            "files may have at most %llu bytes", (unsigned long long)size.rlim_cur);
    struct rs_strbuf said = {0};
    if (!try(own_table, "", &said))
        add(r, "limits", WARNING, NULL,
            "the container refuses unshare(CLONE_FILES): the recorder shares its descriptors with the program, and "
            "checks them "
            "before each write");
    rs_strbuf_free(&said);
    int64_t most = number_in("/sys/fs/cgroup/memory.max"), used = number_in("/sys/fs/cgroup/memory.current");
    if (most > 0 && used >= 0 && (most - used) >> 20 < MEMORY_FEW_MIB)
        add(r, "limits", WARNING, "raise it, or use ringscope run --memory",
            "the container has only %lld MiB of memory left", (long long)((most - used) >> 20));
    if (r->n == n)
        add(r, "limits", FINE, NULL, "%llu open files, a descriptor table of its own, no limit on file sizes",
            (unsigned long long)files.rlim_cur);
}

static void check_environment(struct report *r, const char *plugin_before)
{
    if (plugin_before == NULL || *plugin_before == '\0' || strcmp(plugin_before, getenv("NCCL_PROFILER_PLUGIN")) == 0)
        return;
    add(r, "environment", WARNING, "unset it where jobs are started without ringscope run",
        "NCCL_PROFILER_PLUGIN=%s is set: ringscope run replaces it", plugin_before);
}

/* ---- the command ---- */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    remove(path);
    return 0;
}

/* One check for each process with NCCL, and one for what was recorded. */
static void check_processes(struct report *r, const struct rs_watch *w, size_t recorded)
{
    r->seen = rs_zalloc(w->nprocs + 1, sizeof *r->seen);
    r->recorded = recorded;
    for (uint32_t i = 0; i < w->nprocs; i++) {
        const struct rs_watched *p = &w->procs[i];
        if (p->nccl < 0) continue;
        const struct rs_watched_nccl *l = &w->nccls[p->nccl];
        struct seen *seen = &r->seen[r->nseen++];
        *seen = (struct seen){.pid = p->pid, .version = l->version, .recorder = p->recorder};
        memcpy(seen->name, p->name, sizeof seen->name);
        seen->path = rs_strdup(l->path);
        seen->setting = p->setting == NULL ? NULL : rs_strdup(p->setting);
        seen->reason = p->recorder && recorded > 0 ? NULL : rs_watched_reason(w, p);
        if (seen->reason == NULL) {
            add(r, "process", FINE, NULL, "pid %d (%s) loaded libnccl %s (%s) and the recorder", (int)p->pid, p->name,
                rs_nccl_version_text(l->version).s, l->path);
        } else {
            add(r, "process", recorded > 0 ? WARNING : PROBLEM, NULL, "pid %d (%s) %s", (int)p->pid, p->name,
                seen->reason);
        }
    }
    if (recorded > 0) {
        add(r, "recording", FINE, NULL, "%zu process%s recorded", recorded, recorded == 1 ? " was" : "es were");
    } else if (r->nseen > 0) {
        add(r, "recording", PROBLEM, NULL, "nothing was recorded");
    } else {
        size_t n;
        char **reasons = rs_watch_reasons(w, &n);
        for (size_t i = 0; i < n; i++) {
            add(r, "recording", PROBLEM, NULL, "nothing was recorded: %s", reasons[i]);
            free(reasons[i]);
        }
        free(reasons);
    }
}

/* With --json, standard output is for the object alone: the command writes to standard error instead. */
static enum rs_status launch(char **argv, struct rs_watch *watch, bool json, struct rs_launch_end *end,
                             struct rs_err *err)
{
    int out = json ? fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : -1;
    if (out >= 0) dup2(STDERR_FILENO, STDOUT_FILENO);
    enum rs_status status = rs_launch(argv, watch, end, err);
    if (out >= 0) {
        dup2(out, STDOUT_FILENO);
        close(out);
    }
    return status;
}

static int run_command(struct report *r, char **argv, bool temporary, bool json)
{
    const char *dir = getenv("RINGSCOPE_DIR");
    struct rs_err err;
    struct rs_launch_end end;
    struct rs_watch watch;
    struct rs_dir before = {0}, after = {0};
    if (rs_dir_make(dir, &err) != RS_OK || rs_dir_list(&before, dir, ".rsc", &err) != RS_OK)
        return rs_print_err("doctor", &err);
    rs_watch_init(&watch, getenv("NCCL_PROFILER_PLUGIN"), false);
    int status = RS_EXIT_FINE;
    if (launch(argv, &watch, json, &end, &err) != RS_OK) {
        status = rs_print_err("doctor", &err);
    } else {
        struct rs_gather_result brought;
        struct rs_err ignored;
        if (rs_gather_needed()) rs_gather_dir(dir, &brought, &ignored);
        if (end.status != 0)
            add(r, "command", WARNING, NULL, "%s ended with %s %d", argv[0], end.signal ? "signal" : "status",
                end.signal ? end.signal : end.status);
        r->ran = true;
        rs_watch_finish(&watch);
        if (rs_dir_list(&after, dir, ".rsc", &err) != RS_OK) {
            status = rs_print_err("doctor", &err);
        } else {
            check_processes(r, &watch, after.count > before.count ? after.count - before.count : 0);
        }
    }
    rs_watch_free(&watch);
    rs_dir_free(&before);
    rs_dir_free(&after);
    if (temporary) nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return status;
}

/* ---- output ---- */

static void print_text(const struct report *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct check *c = &r->checks[i];
        printf("%-7s  %-11s  %s%s%s\n", level_names[c->level], c->name, c->text, c->advice == NULL ? "" : ": ",
               c->advice == NULL ? "" : c->advice);
    }
}

static enum rs_status print_json(const struct report *r, struct rs_err *err)
{
    struct rs_json *j = rs_output_json();
    rs_json_object(j);
    rs_json_key_str(j, "verdict", level_names[r->worst]);
    rs_json_key(j, "checks");
    rs_json_array(j);
    for (size_t i = 0; i < r->n; i++) {
        rs_json_object(j);
        rs_json_key_str(j, "check", r->checks[i].name);
        rs_json_key_str(j, "status", level_names[r->checks[i].level]);
        rs_json_key_str(j, "text", r->checks[i].text);
        rs_json_key_str(j, "advice", r->checks[i].advice);
        rs_json_end(j);
    }
    rs_json_end(j);
    if (r->ran) {
        rs_json_key_u64(j, "recorded", r->recorded);
        rs_json_key(j, "processes");
        rs_json_array(j);
        for (size_t i = 0; i < r->nseen; i++) {
            const struct seen *p = &r->seen[i];
            rs_json_object(j);
            rs_json_key_i64(j, "pid", p->pid);
            rs_json_key_str(j, "name", p->name);
            rs_json_key_str(j, "nccl_version", p->version == 0 ? NULL : rs_nccl_version_text(p->version).s);
            rs_json_key_str(j, "nccl_path", p->path);
            rs_json_key_str(j, "plugin_setting", p->setting);
            rs_json_key_bool(j, "recorder", p->recorder);
            rs_json_key_str(j, "reason", p->reason);
            rs_json_end(j);
        }
        rs_json_end(j);
    }
    rs_json_end(j);
    rs_json_newline(j);
    return rs_json_finish(j, err);
}

static int run(const struct rs_command *self, int argc, char **argv)
{
    struct rs_recorder_settings set = {0};
    struct rs_common common;
    const struct rs_opt opts[] = {
        {RS_OPT_STRING, 'o', "output", &set.dir, "DIR", "the folder to check; with CMD, where the recording stays"},
        {RS_OPT_STRING, 0, "plugin", &set.plugin, "FILE", "check this plugin, not the one that came with ringscope"},
        {0},
    };
    int n, done = rs_common_parse(self, &common, opts, argc, argv, &n);
    if (done >= 0) return done;
    if (set.dir != NULL && *set.dir == '\0') return rs_opt_usage(self, "-o needs the name of a folder");
    struct rs_err err;
    const char *before = getenv("NCCL_PROFILER_PLUGIN");
    char *plugin_before = before == NULL ? NULL : rs_strdup(before);
    unsetenv("NCCL_PROFILER_PLUGIN"); /* the check says that it is replaced */
    struct report r = {0};
    int status = RS_EXIT_FINE;
    if (rs_recorder_set(self->name, &set, &err) != RS_OK) {
        status = rs_print_err(self->name, &err);
    } else {
        struct rs_strbuf python = {0};
        if (!try(ask_python, "", &python)) rs_strbuf_clear(&python);
        check_nccl(&r, &python, check_plugin(&r));
        check_folder(&r);
        check_shm(&r);
        check_clock(&r);
        check_cupti(&r, &python);
        check_limits(&r);
        check_environment(&r, plugin_before);
        rs_strbuf_free(&python);
    }
    char *temporary = NULL;
    if (status == RS_EXIT_FINE && n > 0) {
        if (set.dir == NULL) {
            const char *tmp = getenv("TMPDIR");
            rs_asprintf(&temporary, "%s/ringscope-doctor.XXXXXX", tmp == NULL || *tmp == '\0' ? "/tmp" : tmp);
            if (mkdtemp(temporary) == NULL || setenv("RINGSCOPE_DIR", temporary, 1) != 0) {
                rs_fail_errno(&err, "%s: cannot create a folder", temporary);
                status = rs_print_err(self->name, &err);
            }
        }
        argv[1 + n] = NULL;
        if (status == RS_EXIT_FINE) status = run_command(&r, argv + 1, temporary != NULL, common.json);
    }
    if (status == RS_EXIT_FINE && common.json) {
        if (print_json(&r, &err) != RS_OK) status = rs_print_err(self->name, &err);
    } else if (r.n > 0) {
        print_text(&r);
    }
    if (status == RS_EXIT_FINE && r.worst == PROBLEM) status = RS_EXIT_FAILURE;
    free_report(&r);
    free(temporary);
    free(plugin_before);
    return status;
}

const struct rs_command rs_cmd_doctor = {
    .name = "doctor",
    .summary = "check whether this host can record, and which NCCL a command loads",
    .usage = "[options] [-- CMD [ARG...]]",
    .text = "Checks the plugin, NCCL, the folder, /dev/shm, the clock, CUPTI and limits: one line each, with what to "
            "do. With\n"
            "CMD it also runs the command with the recorder, watches which NCCL each of its processes loads, and says "
            "what\n"
            "prevented a recording. Exit status 0: nothing prevents it; 1: something does.",
    .json = "one JSON object",
    .examples = "ringscope doctor\n"
                "srun -N 16 --ntasks-per-node=1 ringscope doctor              # every node\n"
                "ringscope doctor -- python train.py --steps 2",
    .run = run,
    .operands_last = true,
};

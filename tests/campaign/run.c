#include "run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "faults.h"
#include "judge.h"
#include "watch.h"

#define PROGRAM_BYTES (UINT64_C(3) << 30)
enum { LOOK_MS = 10, PROGRAM_MS = 300000, MOST_HELPERS = PLAN_FAULTS };

uint64_t clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void sleep_ms(uint32_t ms)
{
    struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};
    while (nanosleep(&t, &t) && errno == EINTR) continue;
}

/* ---- files ---- */

bool run_copy_file(const char *from, const char *to)
{
    int in = open(from, O_RDONLY | O_CLOEXEC), out = -1;
    if (in >= 0) out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    bool good = out >= 0;
    for (ssize_t n = 1; good && n > 0;) good = (n = sendfile(out, in, NULL, 1 << 20)) >= 0;
    if (in >= 0) close(in);
    if (out >= 0) close(out);
    return good;
}

void run_copy(const char *from, const char *to, uint64_t seed, uint32_t pause_ms)
{
    struct dirent **list = NULL;
    mkdir(to, 0700);
    int n = scandir(from, &list, NULL, seed % 2 ? alphasort : NULL);
    for (int i = 0; i < n; i++) {
        int k = seed % 3 ? i : n - 1 - i;
        char a[800], b[900];
        snprintf(a, sizeof a, "%s/%s", from, list[k]->d_name);
        snprintf(b, sizeof b, "%s/%s", to, list[k]->d_name);
        struct stat st;
        if (lstat(a, &st) || !S_ISREG(st.st_mode)) continue;
        run_copy_file(a, b);
        if (pause_ms) sleep_ms(pause_ms);
    }
    for (int i = 0; i < n; i++) free(list[i]);
    free(list);
}

void run_copy_name(struct run *r, const char *what, uint32_t number, char *path, size_t bytes)
{
    snprintf(path, bytes, "%s/%s.%u", r->folder, what, number);
}

/* ---- programs ---- */

static uint64_t bytes_in(const char *folder)
{
    uint64_t bytes = 0;
    DIR *list = opendir(folder);
    const struct dirent *e;
    struct stat st;
    while (list && (e = readdir(list)))
        if (!fstatat(dirfd(list), e->d_name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode))
            bytes += (uint64_t)st.st_size;
    if (list) closedir(list);
    return bytes;
}

bool run_signal(const struct run *r, int number)
{
    return !syscall(SYS_pidfd_send_signal, r->handle, number, NULL, 0);
}

int run_program(struct run *r, const char *name, const char *const argv[])
{
    pid_t pid = fork();
    if (!pid) {
        char path[700];
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (int i = 1; i <= 2; i++) {
            snprintf(path, sizeof path, "%s/%s.%s", r->folder, name, i == 1 ? "out" : "err");
            int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
            if (fd < 0 || dup2(fd, i) < 0) _exit(94);
        }
        /* Who wants more than this, and the recordings mapped, has lost its way, and must not take the machine along. */
        uint64_t most = PROGRAM_BYTES + 2 * bytes_in(r->dir);
        struct rlimit memory = {most, most};
        const char *sanitized = getenv("SAN"); /* sanitizers reserve terabytes */
        if (!sanitized || !*sanitized) setrlimit(RLIMIT_AS, &memory);
        execv(argv[0], (char *const *)(uintptr_t)argv);
        _exit(93);
    }
    int status = -1;
    uint64_t until = clock_ms() + PROGRAM_MS;
    while (pid > 0 && waitpid(pid, &status, WNOHANG) == 0) {
        if (clock_ms() > until) {
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            return -1;
        }
        sleep_ms(2);
    }
    return status;
}

static void set_environment(const struct run *r)
{
    const struct plan *p = &r->plan;
    char text[64];
    clearenv();
    setenv("PATH", "/usr/bin:/bin", 1);
    setenv("RINGSCOPE_DIR", r->dir, 1);
    if (p->memory_mib) {
        snprintf(text, sizeof text, "%uM", p->memory_mib);
        setenv("RINGSCOPE_MEMORY", text, 1);
    }
    if (p->limit_kib) {
        snprintf(text, sizeof text, "%uk", p->limit_kib);
        setenv("RINGSCOPE_LIMIT", text, 1);
    }
    if (p->keep_last) setenv("RINGSCOPE_KEEP", "last", 1);
    if (p->events[0]) setenv("RINGSCOPE_EVENTS", p->events, 1);
    if (p->detail[0]) setenv("RINGSCOPE_DETAIL", p->detail, 1);
    if (p->buffers[0]) setenv("RINGSCOPE_BUFFERS", p->buffers, 1);
    if (p->flags & SHIMMED) {
        char path[600];
        snprintf(path, sizeof path, "%s/shim0.so", r->folder);
        setenv("LD_PRELOAD", path, 1);
    }
}

static void call_outside(struct run *r, enum when when)
{
    for (int i = 0; i < r->plan.nfaults; i++) {
        const struct fault *f = &faults[r->plan.faults[i].fault];
        if (f->when == when && f->outside) f->outside(r, &r->plan.faults[i]);
    }
}

static pid_t start_driver(struct run *r)
{
    pid_t pid = fork();
    if (pid) return pid;
    char path[600];
    snprintf(path, sizeof path, "%s/driver.err", r->folder);
    int null = open("/dev/null", O_RDWR), err = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (null < 0 || err < 0 || dup2(null, 0) || dup2(null, 1) < 0 || dup2(err, 2) < 0) _exit(92);
    close(null);
    close(err);
    umask(022);
    call_outside(r, WHEN_SETUP);
    set_environment(r);
    execl(r->tools->self, "campaign", "--drive", r->folder, (char *)NULL);
    _exit(91);
}

/* ---- the folder ---- */

static bool prepare(struct run *r)
{
    const struct tools *t = r->tools;
    char path[700], from[700];
    static const struct {
        const char *library, *name;
        int copies;
    } files[] = {{"campaign_nccl.so", "nccl", PLAN_NCCLS},
                 {"campaign_constructor.so", "constructor", 1},
                 {"campaign_shim.so", "shim", 1},
                 {NULL, "plugin", PLAN_COPIES}};
    for (unsigned i = 0; i < sizeof files / sizeof *files; i++)
        for (int k = 0; k < files[i].copies; k++) { /* each a file of its own: each is loaded for itself */
            snprintf(from, sizeof from, "%s/%s", t->libraries, files[i].library ? files[i].library : "");
            snprintf(path, sizeof path, "%s/%s%d.so", r->folder, files[i].name, k);
            if (!run_copy_file(files[i].library ? from : t->plugin, path)) return false;
        }
    snprintf(path, sizeof path, "%s/self", r->folder);
    if (symlink(t->self, path)) return false;
    snprintf(path, sizeof path, "%s/plan", r->folder);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    bool good = fd >= 0 && write(fd, &r->plan, sizeof r->plan) == (ssize_t)sizeof r->plan;
    if (fd >= 0) close(fd);
    snprintf(path, sizeof path, "%s/plan.txt", r->folder);
    FILE *f = fopen(path, "w");
    if (f) plan_print(&r->plan, f), fclose(f);
    snprintf(path, sizeof path, "%s/truth", r->folder);
    r->truth = truth_map(path, true);
    snprintf(r->place, sizeof r->place, "%s/place", r->folder);
    snprintf(r->dir, sizeof r->dir, "%s/rec", r->place);
    return good && r->truth && !mkdir(r->place, 0755);
}

static bool write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0) close(fd);
    return good;
}

bool run_namespace(void)
{
    char users[64], groups[64];
    snprintf(users, sizeof users, "0 %u 1", geteuid());
    snprintf(groups, sizeof groups, "0 %u 1", getegid());
    if (unshare(CLONE_NEWNS) && (unshare(CLONE_NEWUSER | CLONE_NEWNS) || !write_text("/proc/self/setgroups", "deny") ||
                                 !write_text("/proc/self/uid_map", users) || !write_text("/proc/self/gid_map", groups)))
        return false;
    return !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

static void make_namespace(struct run *r)
{
    if (!(r->tools->needs & NEED_MOUNT) || !run_namespace()) return;
    char options[64];
    snprintf(options, sizeof options, "mode=1777,size=%um", r->plan.shm_mib);
    r->own_shm = !mount("tmpfs", "/dev/shm", "tmpfs", 0, options);
}

/* ---- the run ---- */

struct helper {
    pid_t pid;
    bool started;
};

static void start_helpers(struct run *r, struct helper *helpers, uint64_t ready_ms)
{
    for (int i = 0; i < r->plan.nfaults; i++) {
        const struct planned *p = &r->plan.faults[i];
        const struct fault *f = &faults[p->fault];
        bool due = f->when == WHEN_ENDING || (f->when == WHEN_OUTSIDE && clock_ms() >= ready_ms + p->at_ms);
        if (!due || helpers[i].started || !f->outside) continue;
        helpers[i].started = true;
        helpers[i].pid = fork();
        if (helpers[i].pid) continue;
        f->outside(r, p);
        _exit(0);
    }
}

static void watch_driver(struct run *r, struct watch *w)
{
    struct helper helpers[MOST_HELPERS] = {0};
    uint64_t ready_ms = 0;
    char path[600];
    while (waitpid(r->driver, &r->status, WNOHANG) == 0) {
        if (!ready_ms && atomic_load(&r->truth->ready)) ready_ms = clock_ms();
        if (ready_ms) start_helpers(r, helpers, ready_ms);
        if (!watch_look(w, r->truth, r->driver, clock_ms())) {
            bool ready = atomic_load(&r->truth->ready);
            truth_wrong(r->truth, ready ? "the process does not end" : "the process does not begin: it hangs");
            snprintf(path, sizeof path, "%s/threads", r->folder);
            watch_dump(r->driver, path);
            run_signal(r, SIGKILL);
            waitpid(r->driver, NULL, 0);
            r->hung = true;
            break;
        }
        sleep_ms(LOOK_MS);
    }
    for (int i = 0; i < MOST_HELPERS; i++)
        if (helpers[i].pid > 0) waitpid(helpers[i].pid, NULL, 0);
}

/* Children of the driver that outlive it. */
static void wait_for_children(struct run *r)
{
    for (uint64_t until = clock_ms() + 60000; clock_ms() < until; sleep_ms(5)) {
        pid_t pid;
        while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) continue;
        if (pid < 0) return;
    }
    truth_wrong(r->truth, "a forked child does not end");
}

/* What lies on file systems that go with this process. */
static void keep(struct run *r)
{
    char path[600];
    snprintf(path, sizeof path, "%s/kept.rec", r->folder);
    run_copy(r->dir, path, 0, 0);
    snprintf(path, sizeof path, "%s/kept.shm", r->folder);
    if (r->own_shm) run_copy("/dev/shm", path, 0, 0);
    snprintf(path, sizeof path, "%s/wrong.txt", r->folder);
    FILE *f = fopen(path, "w");
    for (uint32_t i = 0; f && i < WRONGS && i < atomic_load(&r->truth->nwrong); i++)
        fprintf(f, "%s\n", r->truth->wrong[i]);
    if (f) fclose(f);
}

static void discard(const char *folder)
{
    pid_t pid = fork();
    if (!pid) {
        execlp("rm", "rm", "-rf", "--", folder, (char *)NULL);
        _exit(1);
    }
    if (pid > 0) waitpid(pid, NULL, 0);
}

void run_one(const struct tools *tools, const struct plan *plan, struct outcome *outcome)
{
    static struct run r;
    static struct watch w;
    r = (struct run){.tools = tools, .plan = *plan};
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    snprintf(r.folder, sizeof r.folder, "%s/%llu", tools->base, (unsigned long long)plan->seed);
    make_namespace(&r);
    discard(r.folder); /* of an earlier campaign */
    if (mkdir(r.folder, 0700) || !prepare(&r)) {
        outcome->nwrong = 1;
        snprintf(outcome->wrong[0], WRONG_BYTES, "its folder cannot be made: %s", strerror(errno));
        outcome->done = 1;
        return;
    }
    call_outside(&r, WHEN_PLACE);
    r.driver = start_driver(&r);
    r.handle = (int)syscall(SYS_pidfd_open, r.driver, 0);
    w.may_wait = !strcmp(plan->buffers, "disk");
    watch_driver(&r, &w);
    wait_for_children(&r);
    judge_end(&r);
    uint32_t n = atomic_load(&r.truth->nwrong);
    for (uint32_t i = 0; i < n && i < 4; i++) memcpy(outcome->wrong[i], r.truth->wrong[i], WRONG_BYTES);
    outcome->nwrong = n;
    if (n) keep(&r);
    umount2(r.place, MNT_DETACH);
    close(r.handle);
    if (!n) discard(r.folder);
    outcome->done = 1;
}

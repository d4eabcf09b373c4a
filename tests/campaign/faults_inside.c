#include "faults_inside.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim.h"

#ifndef SYS_close_range
#define SYS_close_range 436
#endif

/* ---- set-ups ---- */

void in_seccomp(struct driver *d, const struct planned *p)
{
    static const int calls[] = {SYS_close_range, SYS_unshare,   SYS_membarrier, SYS_fallocate, SYS_madvise,
                                SYS_flock,       SYS_getrandom, SYS_statfs,     SYS_prctl};
    struct sock_filter filter[2 + 2 * sizeof calls / sizeof *calls];
    unsigned short n = 0;
    unsigned error = p->arg & 1 ? EPERM : ENOSYS;
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < sizeof calls / sizeof *calls; i++) {
        if (!(p->arg >> (i + 1) & 1)) continue;
        filter[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)calls[i], 0, 1);
        filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
    }
    filter[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {n, filter};
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        truth_wrong(d->truth, "the driver cannot have a seccomp filter: %s", strerror(errno));
}

static struct campaign_shim *shim(struct driver *d)
{
    static struct campaign_shim nothing;
    struct campaign_shim *s = dlsym(RTLD_DEFAULT, "campaign_shim");
    if (!s) truth_wrong(d->truth, "the driver has no shim");
    return s ? s : &nothing;
}

void in_failing_writes(struct driver *d, const struct planned *p)
{
    atomic_store(&shim(d)->fail_percent, 5 + p->arg % 40);
}

void in_slow_writes(struct driver *d, const struct planned *p)
{
    atomic_store(&shim(d)->delay_us, 1000 + p->arg % 30000);
}

static void limit(struct driver *d, int which, rlim_t value)
{
    struct rlimit l = {value, value};
    if (setrlimit((__rlimit_resource_t)which, &l)) truth_wrong(d->truth, "setrlimit: %s", strerror(errno));
}

void in_few_descriptors(struct driver *d, const struct planned *p)
{
    limit(d, RLIMIT_NOFILE, 12 + p->arg % 40);
}

void in_small_files(struct driver *d, const struct planned *p)
{
    signal(SIGXFSZ, SIG_IGN); /* the driver's own writes are small; ours must not be killed by it either way */
    if (p->arg & 1) signal(SIGXFSZ, SIG_DFL);
    limit(d, RLIMIT_FSIZE, 65536 + p->arg % 3000000);
}

static void *load_constructor(void *arg)
{
    struct driver *d = arg;
    char path[600];
    snprintf(path, sizeof path, "%s/constructor0.so", d->folder);
    void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (lib)
        dlclose(lib);
    else
        truth_wrong(d->truth, "the driver cannot load %s: %s", path, dlerror());
    return NULL;
}

static void *load_when_begun(void *arg)
{
    struct driver *d = arg;
    while (!d->copies[PLAN_COPIES - 1]) usleep(50);
    usleep((useconds_t)(d->plan.seed % 8) * 300);
    return load_constructor(arg);
}

void in_first_in_constructor(struct driver *d, const struct planned *p)
{
    (void)p;
    pthread_t t;
    if (pthread_create(&t, NULL, load_when_begun, d)) _exit(90);
    pthread_detach(t);
}

/* ---- at a time ---- */

/* A child must not wait for anything that is not there in it. */
static void reap(struct driver *d, pid_t pid, const char *what)
{
    int status;
    if (pid < 0) {
        truth_wrong(d->truth, "%s: %s", what, strerror(errno));
        return;
    }
    for (int asleep = 0; waitpid(pid, &status, WNOHANG) == 0; usleep(5000))
        if (++asleep > 12000) { /* a minute at least: it hangs */
            truth_wrong(d->truth, "%s: the child hangs", what);
            kill(pid, SIGKILL);
            waitpid(pid, &status, 0);
            return;
        }
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        truth_wrong(d->truth, "%s: the child ended with status 0x%x", what, (unsigned)status);
}

/* Calls that nobody counts: the recording that they would belong to is the parent's. */
static void call_silently(struct driver *d)
{
    for (int i = 0; i < 100; i++) {
        void *handle = plugin_start_step(&d->main.plugin, (void *)(uintptr_t)1, NULL, 0, i);
        plugin_stop(&d->main.plugin, handle);
    }
}

void in_fork_silent(struct driver *d, const struct planned *p)
{
    pid_t pid = fork();
    if (!pid) {
        call_silently(d);
        if (p->arg & 1) exit(0);
        _exit(0);
    }
    reap(d, pid, "fork");
}

void in_fork_recording(struct driver *d, const struct planned *p)
{
    pid_t pid = fork();
    if (!pid) {
        struct caller c = {0};
        caller_make(d, &c, &d->plan.threads[0]);
        caller_begin(&c);
        for (int i = 0; i < 3000; i++) caller_operation(&c, false);
        if (p->arg & 1) caller_end(&c);
        exit(0);
    }
    reap(d, pid, "fork of a child that records");
}

static pid_t fork_without_handlers(void)
{
#if __GLIBC_PREREQ(2, 34)
    return _Fork();
#else
    return fork();
#endif
}

void in_fork_raw(struct driver *d, const struct planned *p)
{
    (void)p;
    pid_t pid = fork_without_handlers();
    if (!pid) _exit(0); /* no handler of fork ran: whoever calls anything else in here has undefined behaviour */
    reap(d, pid, "_Fork");
}

void in_vfork(struct driver *d, const struct planned *p)
{
    (void)p;
    for (int i = 0; i < 5; i++) {
        pid_t pid = vfork();
        if (!pid) {
            execl("/bin/true", "true", (char *)NULL);
            _exit(1);
        }
        reap(d, pid, "vfork");
    }
}

void in_close_all(struct driver *d, const struct planned *p)
{
    enum { FILES = 60, ROUNDS = 25 };
    char path[600], text[64];
    int fds[FILES];
    snprintf(path, sizeof path, "%s/own", d->folder);
    mkdir(path, 0700);
    for (int round = 0; round < ROUNDS; round++) {
        if (syscall(SYS_close_range, 3, ~0u, 0))
            for (int fd = 3; fd < 1024; fd++) close(fd);
        for (int i = 0; i < FILES; i++) {
            snprintf(path, sizeof path, "%s/own/%d", d->folder, i);
            fds[i] = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
            int n = snprintf(text, sizeof text, "own file %d of round %d\n", i, round);
            if (fds[i] >= 0 && syscall(SYS_pwrite64, fds[i], text, (size_t)n, (off_t)0) != n) fds[i] = -1;
        }
        usleep(200 + p->arg % 3000);
        for (int i = 0; i < FILES; i++) {
            char now[128] = "";
            int n = snprintf(text, sizeof text, "own file %d of round %d\n", i, round);
            if (fds[i] < 0) continue; /* few are allowed */
            struct stat st;
            if (fstat(fds[i], &st))
                truth_wrong(d->truth, "a descriptor of the driver was closed: %s", strerror(errno));
            else if (st.st_size != n || syscall(SYS_pread64, fds[i], now, sizeof now, (off_t)0) != n ||
                     memcmp(now, text, (size_t)n) != 0)
                truth_wrong(d->truth, "a file of the driver was written into: %lld bytes", (long long)st.st_size);
        }
    }
    for (int i = 0; i < FILES && p->arg & 1; i++)
        if (fds[i] >= 0) close(fds[i]);
}

struct short_life {
    struct caller caller;
    _Atomic bool runs;
    bool plain;
};

static void *live_shortly(void *arg)
{
    struct short_life *s = arg;
    atomic_store(&s->caller.cell->tid, (int32_t)syscall(SYS_gettid));
    for (int i = 0; i < 20; i++) caller_operation(&s->caller, s->plain);
    return NULL;
}

void in_churn(struct driver *d, const struct planned *p)
{
    enum { AT_ONCE = 8 };
    static struct short_life lives[AT_ONCE];
    for (int i = 0; i < AT_ONCE; i++) {
        caller_make(d, &lives[i].caller, &d->plan.threads[0]);
        caller_begin(&lives[i].caller);
    }
    for (uint32_t round = 0; round < 5 + p->arg % 20; round++) {
        for (int i = 0; i < AT_ONCE; i++)
            if (pthread_create(&lives[i].caller.thread, NULL, live_shortly, &lives[i])) _exit(89);
        for (int i = 0; i < AT_ONCE; i++) pthread_join(lives[i].caller.thread, NULL);
    }
    for (int i = 0; i < AT_ONCE; i++) {
        atomic_store(&lives[i].caller.cell->tid, (int32_t)syscall(SYS_gettid));
        caller_end(&lives[i].caller);
    }
}

static void *live_until_cancelled(void *arg)
{
    struct short_life *s = arg;
    atomic_store(&s->caller.cell->tid, (int32_t)syscall(SYS_gettid));
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    atomic_store(&s->runs, true);
    for (;;) caller_operation(&s->caller, true);
    return NULL;
}

void in_cancel(struct driver *d, const struct planned *p)
{
    static struct short_life s;
    caller_make(d, &s.caller, &d->plan.threads[0]);
    caller_begin(&s.caller);
    struct cell *c = s.caller.cell;
    for (uint32_t round = 0; round < 30; round++) {
        atomic_store(&s.runs, false);
        if (pthread_create(&s.caller.thread, NULL, live_until_cancelled, &s)) _exit(88);
        while (!atomic_load(&s.runs)) usleep(100);
        usleep(p->arg % 500);
        pthread_cancel(s.caller.thread);
        pthread_join(s.caller.thread, NULL);
        if (atomic_exchange(&c->phase, PHASE_NONE) != PHASE_NONE) atomic_fetch_add(&c->unsure, 1);
    }
    atomic_store(&c->tid, (int32_t)syscall(SYS_gettid));
    caller_end(&s.caller);
}

void in_signals(struct driver *d, const struct planned *p)
{
    (void)d;
    suseconds_t every = 1000 + (suseconds_t)(p->arg % 3000);
    struct itimerval timer = {{0, every}, {0, every}};
    setitimer(ITIMER_PROF, &timer, NULL);
}

/* A thread that is kept from running in the middle of a callback: by a handler that sleeps, which needs no busy machine. */
static _Atomic uint32_t held_us;

static void hold(int number)
{
    (void)number;
    int saved = errno;
    usleep(atomic_load(&held_us));
    errno = saved;
}

static void *hold_workers(void *arg)
{
    struct driver *d = arg;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    for (int i = 0; !atomic_load(&d->stop); i++) {
        pthread_kill(d->workers[i % d->plan.nthreads].thread, SIGUSR1);
        usleep(700 + 2 * atomic_load(&held_us)); /* or one would never get on */
    }
    return NULL;
}

void in_hold(struct driver *d, const struct planned *p)
{
    pthread_t t;
    struct sigaction action = {.sa_handler = hold, .sa_flags = SA_RESTART};
    atomic_store(&held_us, 2000 + p->arg % 15000);
    sigaction(SIGUSR1, &action, NULL);
    if (pthread_create(&t, NULL, hold_workers, d)) _exit(85);
    d->holder = t;
}

void in_constructor(struct driver *d, const struct planned *p)
{
    (void)p;
    load_constructor(d);
}

void in_clock_step(struct driver *d, const struct planned *p)
{
    int64_t seconds = (int64_t)(p->arg % 200000) - 100000;
    atomic_store(&shim(d)->realtime_ns, seconds * 1000000000);
}

void in_communicators(struct driver *d, const struct planned *p)
{
    for (uint32_t i = 0; i < 20 + p->arg % 100; i++) {
        caller_begin(&d->main);
        caller_operation(&d->main, false);
        caller_end(&d->main);
    }
}

/* ---- endings ---- */

static void quiet(struct driver *d)
{
    atomic_store(&d->stop, true);
    if (d->holder) pthread_join(d->holder, NULL); /* before those that it sends signals to */
    driver_join(d);
    struct itimerval none = {0};
    setitimer(ITIMER_PROF, &none, NULL);
}

static void ends(struct driver *d)
{
    atomic_store(&d->truth->ending, 1);
}

void end_exit(struct driver *d, const struct planned *p)
{
    (void)p;
    quiet(d);
    driver_exits(d);
    exit(0);
}

void end_exit_calling(struct driver *d, const struct planned *p)
{
    (void)p;
    driver_exits(d);
    exit(0);
}

static void *exit_here(void *arg)
{
    struct driver *d = arg;
    atomic_store(&d->main.cell->tid, (int32_t)syscall(SYS_gettid));
    driver_exits(d);
    exit(0);
}

void end_exit_elsewhere(struct driver *d, const struct planned *p)
{
    (void)p;
    pthread_t t;
    if (pthread_create(&t, NULL, exit_here, d)) _exit(87);
    for (;;) pause();
}

void end_quick(struct driver *d, const struct planned *p)
{
    (void)p;
    quiet(d);
    ends(d);
    _exit(0);
}

void end_quick_calling(struct driver *d, const struct planned *p)
{
    (void)p;
    ends(d);
    _exit(0);
}

void end_abort(struct driver *d, const struct planned *p)
{
    (void)p;
    limit(d, RLIMIT_CORE, 0);
    ends(d);
    abort();
}

void end_kill(struct driver *d, const struct planned *p)
{
    (void)p;
    quiet(d);
    ends(d);
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

void end_kill_calling(struct driver *d, const struct planned *p)
{
    (void)p;
    ends(d);
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

void end_execve_calling(struct driver *d, const struct planned *p)
{
    (void)p;
    char self[600];
    snprintf(self, sizeof self, "%s/self", d->folder);
    struct itimerval none = {0};
    setitimer(ITIMER_PROF, &none, NULL); /* it would live on, without a handler */
    signal(SIGPROF, SIG_IGN);
    ends(d);
    execl(self, "campaign", "--drive-again", d->folder, (char *)NULL);
    truth_wrong(d->truth, "execve: %s", strerror(errno));
    _exit(86);
}

void end_execve(struct driver *d, const struct planned *p)
{
    quiet(d);
    end_execve_calling(d, p);
}

void end_pthread_exit(struct driver *d, const struct planned *p)
{
    (void)p;
    atomic_store(&d->stop, true);
    ends(d);
    pthread_exit(NULL);
}

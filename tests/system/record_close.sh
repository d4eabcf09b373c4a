#!/bin/bash
# Endings that leave no callback in between, by a program that knows how many it made: exit while threads call and do not get
# on inside a callback (a signal handler holds them), with and without membarrier; a kill inside exit while what is past
# RINGSCOPE_LIMIT is discarded; callbacks from signal handlers that interrupt callbacks.
set -u
cd "${TMP:?}" || exit 1
bad=0
cat >last.c <<'END'
/* Loaded behind the plugin, so that its destructor runs after the plugin's: stops the threads, and says how often they
 * called. */
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>
volatile int stop;
int running;
uint64_t made;
void say_made(void)
{
    FILE *f = fopen("made", "w");
    if (f) fprintf(f, "%llu\n", (unsigned long long)made), fclose(f);
}
__attribute__((destructor)) static void last(void)
{
    stop = 1;
    while (__atomic_load_n(&running, __ATOMIC_ACQUIRE)) usleep(1000);
    say_made();
}
END
cat >ending.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>
#include "nccl/abi.h"
static volatile int *stop_at;
static int *running_at;
static uint64_t *made_at;
#define stop (*stop_at)
#define running (*running_at)
#define made (*made_at)
static const struct rs_nccl_profiler_v5 *plugin;
static void *context;

static uint64_t row(void)
{
    struct rs_nccl_descr_v5 d = {.type = RS_PROXY_OP};
    void *op, *step;
    plugin->startEvent(context, &op, &d);
    d = (struct rs_nccl_descr_v5){.type = RS_PROXY_STEP, .parentObj = op};
    for (int i = 0; i < 4; i++) {
        plugin->startEvent(context, &step, &d);
        plugin->recordEventState(step, 10, NULL);
        plugin->stopEvent(step);
    }
    plugin->stopEvent(op);
    return 14;
}
static void *calls(void *unused)
{
    uint64_t n = 0;
    while (!stop) n += row();
    __atomic_fetch_add(&made, n, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&running, 1, __ATOMIC_RELEASE);
    pause();
    return unused;
}
static volatile int held, go_on;
static void hold(int signal)
{
    (void)signal;
    __atomic_fetch_add(&held, 1, __ATOMIC_RELAXED);
    while (!go_on) usleep(1000);
}
static void *lets_go(void *unused)
{
    usleep(400000);
    go_on = 1;
    return unused;
}
static volatile uint64_t in_handlers;
static void handler(int signal)
{
    (void)signal;
    in_handlers += row();
}
static int at_limit(void) /* of 1 MiB, or so near that a raw chunk of 64 KiB is refused */
{
    glob_t g;
    struct stat st = {0};
    if (!glob("r/*.rsc", 0, NULL, &g)) stat(g.gl_pathv[0], &st);
    return st.st_size > 980000;
}
static void refuse_membarrier(void)
{
    struct sock_filter f[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                              BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
                              BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                              BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog p = {sizeof f / sizeof *f, f};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p)) _exit(77);
}
int main(int argc, char **argv)
{
    int mask, told[2], many = argc > 2 ? atoi(argv[2]) : 0;
    if (!strcmp(argv[1], "refused")) refuse_membarrier();
    if (pipe(told)) return 2;
    pid_t self = getpid();
    if (!strcmp(argv[1], "kill") && !fork()) { /* kills us `many` us after exit began */
        char c;
        close(told[1]);
        if (read(told[0], &c, 1) == 1) {
            if (many) usleep((useconds_t)many);
            kill(self, SIGKILL);
        }
        _exit(0);
    }
    void *lib = dlopen(getenv("PLUGIN"), RTLD_NOW | RTLD_LOCAL);
    if (!lib || !(plugin = dlsym(lib, "ncclProfiler_v5"))) return 2;
    void *last = dlopen("./liblast.so", RTLD_NOW);
    if (!last) return 2;
    stop_at = dlsym(last, "stop");
    running_at = dlsym(last, "running");
    made_at = dlsym(last, "made");
    void (*say_made)(void) = (void (*)(void))dlsym(last, "say_made");
    plugin->init(&context, 1, &mask, "c", 1, 1, 0, NULL);
    made = 1;
    if (!strcmp(argv[1], "kill")) {
        while (!at_limit())
            for (int i = 0; i < 10000; i++) made += row();
        for (int i = 0; i < 100000; i++) made += row(); /* which stay in memory */
        say_made();
        if (write(told[1], "", 1) != 1) return 2;
    } else if (!strcmp(argv[1], "signals")) {
        struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
        signal(SIGPROF, handler);
        setitimer(ITIMER_PROF, &often, NULL);
        for (int i = 0; i < 300000; i++) made += row();
        setitimer(ITIMER_PROF, &never, NULL);
        made += in_handlers;
        if (!in_handlers) return 77;
    } else {
        pthread_t threads[64], other;
        running = many;
        signal(SIGUSR1, hold);
        for (int i = 0; i < many; i++) pthread_create(&threads[i], NULL, calls, NULL);
        usleep(2000);
        for (int i = 0; i < many; i++) pthread_kill(threads[i], SIGUSR1);
        while (held < many) usleep(1000);
        pthread_create(&other, NULL, lets_go, NULL);
    }
    exit(0);
}
END
root=$OLDPWD
"${CC:-cc}" -w -O1 -shared -fPIC -o liblast.so last.c &&
    "${CC:-cc}" -w -O1 -I"$root/src" -o ending ending.c -ldl -lpthread || exit 77
export RINGSCOPE_DIR=$TMP/r RINGSCOPE_MEMORY=64M

# exact WHAT EMITTED: what the recording says was emitted; all of it must be known
exact() {
    local got
    got=$("$RINGSCOPE" info --json r | jq -c '[.emitted, .damaged]')
    [ "$got" = "[$2,0]" ] || { echo "$1: $2 callbacks were made, the recording says $got"; bad=1; }
    rm -rf r made
}
for how in threads threads refused; do
    ./ending $how 8 || { echo "$how: $?"; bad=1; }
    exact "exit while 8 threads call ($how)" "$(cat made)"
done

for after in 0 3000 5000 7000 10000; do
    RINGSCOPE_LIMIT=1M ./ending kill $after
    exact "kill $after us into exit" "$(cat made)"
done
./ending signals || { echo "signals: $?"; bad=1; }
exact "signal handlers" "$(cat made)"
exit $bad

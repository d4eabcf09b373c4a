#include "trace/alive.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void read_text(const char *path, char *to, size_t bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, to, bytes - 1);
    if (fd >= 0) close(fd);
    to[n > 0 ? n : 0] = 0;
}

/* By its pid: RS_ALIVE_HARDLY if that is of another host or namespace. */
static enum rs_alive by_pid(const struct rs_file_header *h)
{
    char boot[40], path[64], text[1024];
    read_text("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    boot[strcspn(boot, "\n")] = 0;
    if (!boot[0] || strcmp(boot, h->boot_id)) return RS_ALIVE_HARDLY;
    struct stat ns;
    if (!h->pid_namespace || stat("/proc/self/ns/pid", &ns) || ns.st_ino != h->pid_namespace) return RS_ALIVE_HARDLY;
    snprintf(path, sizeof path, "/proc/%u/stat", h->pid);
    read_text(path, text, sizeof text);
    const char *p = strrchr(text, ')'); /* the command before it may contain anything */
    if (!p && (!kill((pid_t)h->pid, 0) || errno != ESRCH)) return RS_ALIVE_HARDLY; /* hidden (hidepid) */
    if (!p || p[1] != ' ' || p[2] == 'X') return RS_ALIVE_NO;
    /* A main thread that ended before the others stays as a zombie. */
    struct stat tasks;
    snprintf(path, sizeof path, "/proc/%u/task", h->pid);
    bool zombie = p[2] == 'Z',
         threads = zombie && !stat(path, &tasks) && tasks.st_nlink > 3; /* 2, and one per thread */
    if (zombie && !threads) return RS_ALIVE_NO;
    for (int field = 2; p && field < 22; field++) p = strchr(p + 1, ' ');
    long hz = sysconf(_SC_CLK_TCK);
    char *rest = NULL;
    bool same = p && hz > 0 && strtoull(p, &rest, 10) * (1000000000u / (uint64_t)hz) == h->process_start_ns;
    /* Pids are reused. A process without memory is exiting. */
    return same && (threads || strtoull(rest, NULL, 10)) ? RS_ALIVE_YES : RS_ALIVE_NO;
}

/* Gets the lock, or -1: it is held; -2: unknown. */
static int try_lock(int fd)
{
    int failed;
    while ((failed = flock(fd, LOCK_SH | LOCK_NB)) && errno == EINTR) {
    }
    if (!failed) return flock(fd, LOCK_UN);
    return errno == EWOULDBLOCK ? -1 : -2;
}

enum rs_alive rs_process_alive(const struct rs_file_header *h, int live, uint32_t locked)
{
    struct stat st;
    /* The lock of a copy says nothing about the process. */
    bool original = live >= 0 && locked == 1 && !fstat(live, &st) && h->live_inode && st.st_ino == h->live_inode;
    int lock = locked == 2 ? 0 : original ? try_lock(live) : -2;
    enum rs_alive alive = by_pid(h);
    if (lock == 0) return alive == RS_ALIVE_YES ? RS_ALIVE_REPLACED : RS_ALIVE_NO;
    if (alive != RS_ALIVE_HARDLY) return alive;
    if (lock == -1) return RS_ALIVE_YES;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t age = (int64_t)now.tv_sec - (int64_t)(h->status.heartbeat_ns / 1000000000u);
    return age >= -10 && age <= 10 ? RS_ALIVE_PERHAPS : RS_ALIVE_HARDLY;
}

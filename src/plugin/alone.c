#include "plugin/alone.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "plugin/buffers.h"
#include "plugin/table.h"

enum {
    MOST_THREADS = 16, /* that could all be ours: two or three per copy of the recorder */
    QUIET_S = 5,
};

static const char *const names[RS_THREADS] = {"ringscope", "ringscope-log", "ringscope-tidy"};
static struct {
    _Atomic pid_t tid; /* 0 = not running */
    _Atomic bool unnamed; /* prctl() is refused */
} ours[RS_THREADS];
static struct {
    time_t since; /* CLOCK_MONOTONIC; 0 = not yet */
    uint64_t calls;
} quiet;
static bool list_seen; /* the main thread has a list of robust mutexes: glibc's always has */

static bool main_has_list(void)
{
    void *head = NULL;
    size_t bytes;
    return !syscall(SYS_get_robust_list, getpid(), &head, &bytes) && head;
}

void rs_alone_start(void)
{
    list_seen = main_has_list();
    quiet.since = 0;
}

/* The kernel drops a thread's list of robust mutexes when the thread ends. An ended main thread stays as a zombie. */
static bool main_is_gone(void)
{
    if (list_seen) return !main_has_list();
    char text[512];
    rs_table_read_line("/proc/self/stat", text, sizeof text);
    const char *p = strrchr(text, ')');
    return p && p[1] == ' ' && p[2] == 'Z';
}

void rs_alone_begin(enum rs_thread which)
{
    atomic_store(&ours[which].unnamed, pthread_setname_np(pthread_self(), names[which]) != 0);
    atomic_store(&ours[which].tid, (pid_t)syscall(SYS_gettid));
}

void rs_alone_end(enum rs_thread which)
{
    atomic_store(&ours[which].tid, 0);
}

void rs_alone_forget(void)
{
    for (int i = 0; i < RS_THREADS; i++) rs_alone_end((enum rs_thread)i);
}

/* If prctl() is refused, names are set through /proc, and only after main has ended: while the descriptor table is
 * shared, the program could reuse the number for a file of its own at any moment. */
static void give_names(void)
{
    for (int i = 0; i < RS_THREADS; i++) {
        pid_t tid = atomic_load(&ours[i].tid);
        if (!tid || !atomic_exchange(&ours[i].unnamed, false)) continue;
        char path[64];
        struct stat named, opened;
        snprintf(path, sizeof path, "/proc/self/task/%d/comm", tid);
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0) continue;
        bool same = !stat(path, &named) && !fstat(fd, &opened) && named.st_dev == opened.st_dev &&
                    named.st_ino == opened.st_ino;
        if (same && write(fd, names[i], strlen(names[i])) < 0) atomic_store(&ours[i].unnamed, true);
        close(fd);
    }
}

/* By name as well: the thread may belong to another copy of the recorder. */
static bool is_ours(const char *tid)
{
    char path[320], name[32];
    if (atoi(tid) == getpid()) return true; /* main */
    for (int i = 0; i < RS_THREADS; i++)
        if (atoi(tid) == atomic_load(&ours[i].tid)) return true;
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", tid);
    rs_table_read_line(path, name, sizeof name);
    for (int i = 0; i < RS_THREADS; i++)
        if (!strcmp(name, names[i])) return true;
    return !name[0]; /* it has ended meanwhile */
}

/* Changes with every callback. */
static uint64_t calls_of(const struct rs_slot *s)
{
    uint32_t buffer = __atomic_load_n(&s->buffer, __ATOMIC_ACQUIRE);
    uint64_t calls = (uint64_t)__atomic_load_n(&s->generation, __ATOMIC_RELAXED) * RS_BUFFER_BYTES;
    if (buffer) calls += (uint32_t)__atomic_load_n(&rs_pool.buffers[buffer - 1].commit, __ATOMIC_RELAXED);
    for (int c = 0; c < RS_LOST_COUNTS; c++) calls += __atomic_load_n(&s->lost[c], __ATOMIC_RELAXED);
    return calls;
}

/* A guess, without /proc. Ending a recording too early loses callbacks, which are counted; never ending it keeps the
 * process forever. */
static bool seems_over(bool idle)
{
    uint32_t made = atomic_load(&rs_pool.slots_made);
    uint64_t calls = 0;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    for (uint32_t i = 0; i < made && i < rs_pool.nslots; i++) {
        calls += calls_of(&rs_pool.slots[i]);
        if (__atomic_load_n(&rs_pool.slots[i].tid, __ATOMIC_RELAXED)) return quiet.since = 0, false;
    }
    if (!quiet.since || calls != quiet.calls) quiet.since = now.tv_sec;
    quiet.calls = calls;
    return idle || now.tv_sec - quiet.since > QUIET_S;
}

bool rs_is_alone(bool idle)
{
    if (!main_is_gone()) return false;
    give_names();
    struct stat tasks;
    if (stat("/proc/self/task", &tasks)) return seems_over(idle);
    if (tasks.st_nlink > 2 + MOST_THREADS) return false; /* 2, and one per thread */
    DIR *list = opendir("/proc/self/task");
    if (!list) return seems_over(idle);
    bool alone = true;
    const struct dirent *e;
    while (alone && (e = readdir(list))) alone = e->d_name[0] == '.' || is_ours(e->d_name);
    closedir(list);
    return alone;
}

#include "plugin/alone.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "plugin/buffers.h"
#include "plugin/table.h"

enum { MOST_THREADS = 16 }; /* of which all could be ours: two or three a copy of the recorder */

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

/* By name: the other threads may be those of another copy of the recorder, which this one knows nothing of. */
static bool is_ours(const char *tid)
{
    static const char *const names[] = {"ringscope", "ringscope-log", "ringscope-tidy"};
    char path[320], name[32];
    if (atoi(tid) == getpid()) return true; /* main */
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", tid);
    rs_table_read_line(path, name, sizeof name);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) return true;
    return !name[0]; /* it has ended meanwhile */
}

static bool nobody_calls(void)
{
    uint32_t made = atomic_load(&rs_pool.slots_made);
    for (uint32_t i = 0; i < made && i < rs_pool.nslots; i++)
        if (__atomic_load_n(&rs_pool.slots[i].tid, __ATOMIC_RELAXED)) return false;
    return true;
}

bool rs_is_alone(bool idle)
{
    if (!main_is_gone()) return false;
    struct stat tasks;
    if (stat("/proc/self/task", &tasks)) return idle && nobody_calls();
    if (tasks.st_nlink > 2 + MOST_THREADS) return false; /* 2 and one a thread */
    DIR *list = opendir("/proc/self/task");
    if (!list) return idle && nobody_calls();
    bool alone = true;
    const struct dirent *e;
    while (alone && (e = readdir(list))) alone = e->d_name[0] == '.' || is_ours(e->d_name);
    closedir(list);
    return alone;
}

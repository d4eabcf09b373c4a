#include "plugin/table.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef CLOSE_RANGE_UNSHARE
#define CLOSE_RANGE_UNSHARE 2
#endif

enum {
    OWN_LOWEST = 512, /* other code in this thread uses lower numbers */
    SHARED_HIGHEST = 16384, /* a larger table costs memory */
    SHARED_FEW = 64, /* below the highest: for other copies of the recorder */
    MOST_CLOSED = 1 << 20,
};

static atomic_bool own;

/* Closes the copies that unshare() made, which would keep the program's pipes open. */
static void close_all(void)
{
    DIR *list = opendir("/proc/thread-self/fd");
    if (list) {
        const struct dirent *e;
        while ((e = readdir(list))) {
            int fd = atoi(e->d_name);
            if (e->d_name[0] != '.' && fd != dirfd(list)) close(fd);
        }
        closedir(list);
        return;
    }
    struct rlimit most;
    rlim_t n = getrlimit(RLIMIT_NOFILE, &most) || most.rlim_max > MOST_CLOSED ? MOST_CLOSED : most.rlim_max;
    for (int fd = 0; fd < (int)n; fd++) close(fd);
}

bool rs_table_take(void)
{
    bool done = !syscall(SYS_close_range, 0u, ~0u, CLOSE_RANGE_UNSHARE); /* Linux 5.9 */
    if (!done && !unshare(CLONE_FILES)) {
        close_all();
        done = true;
    }
    /* What a library writes to a standard stream is dropped, and does not go into a file of ours. */
    for (int fd = 0; done && fd <= STDERR_FILENO; fd++)
        if (open("/dev/null", O_RDWR | O_CLOEXEC) < 0) break;
    atomic_store(&own, done);
    return done;
}

bool rs_table_is_own(void)
{
    return atomic_load(&own);
}

void rs_table_forget(void)
{
    atomic_store(&own, false);
}

static int lowest(void)
{
    struct rlimit most;
    if (rs_table_is_own() || getrlimit(RLIMIT_NOFILE, &most)) return OWN_LOWEST;
    int highest = most.rlim_cur > SHARED_HIGHEST ? SHARED_HIGHEST : (int)most.rlim_cur;
    return highest > 2 * SHARED_FEW ? highest - SHARED_FEW : highest / 2;
}

int rs_table_open(const char *path, int flags)
{
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600), low = lowest();
    if (fd < 0 || fd >= low) return fd;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, low);
    if (high < 0) return fd; /* the limit is low: keep the low number */
    close(fd);
    return high;
}

void rs_table_read_line(const char *path, char *to, size_t bytes)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, to, bytes - 1);
    if (fd >= 0) close(fd);
    to[n > 0 ? n : 0] = 0;
    to[strcspn(to, "\n")] = 0;
}
